"""What came of following guidance, what came close where nothing was found, and when checks last passed.

Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# New columns of a view stand at its end: so it is replaced, and what was granted on it stays.
_VIEW = """
CREATE OR REPLACE VIEW chatctx.published_record AS
SELECT
    record_no, record_id, slug, topic, title, content_version, content_hash, body, approved_at,
    technologies, applies_to, task_types, search_text, verified_on
FROM chatctx.record
WHERE status = 'approved'
"""

# A column cannot be taken out of a view: who had a right to it gets it again.
_VIEW_BEFORE = """
DO $$
DECLARE
    held aclitem[] := (SELECT relacl FROM pg_class WHERE oid = 'chatctx.published_record'::regclass);
    given record;
BEGIN
    DROP VIEW chatctx.published_record;
    CREATE VIEW chatctx.published_record AS
    SELECT
        record_no, record_id, slug, topic, title, content_version, content_hash, body, approved_at,
        technologies, applies_to, task_types, search_text
    FROM chatctx.record
    WHERE status = 'approved';
    FOR given IN SELECT * FROM aclexplode(held) LOOP
        EXECUTE format(
            'GRANT %s ON chatctx.published_record TO %s', given.privilege_type,
            CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END
        );
    END LOOP;
END $$
"""


def upgrade() -> None:
    """Add columns that nobody has to fill; the release before does not see them."""
    op.add_column(
        "feedback",
        sa.Column(
            "caller_outcome",
            sa.Text(),
            nullable=True,
            comment="What came of following the guidance; `outcome` is what the owner did.",
        ),
        schema="chatctx",
    )
    op.add_column(
        "feedback",
        sa.Column(
            "caller_versions",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            server_default=sa.text("'{}'::jsonb"),
        ),
        schema="chatctx",
    )
    # Where every row has null there is nothing to check, so that it need not be checked apart.
    op.create_check_constraint(
        op.f("ck_feedback_caller_outcome"),
        "feedback",
        "caller_outcome IN ('worked_as_written', 'worked_with_changes', 'did_not_work')",
        schema="chatctx",
    )
    op.add_column(
        "retrieval_event",
        sa.Column(
            "near",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            server_default=sa.text("'{}'::text[]"),
            comment="Slugs that came close.",
        ),
        schema="chatctx",
    )
    op.add_column(
        "record",
        sa.Column(
            "verified_on",
            sa.Date(),
            nullable=True,
            comment="Day on which every check of this very text passed; null until then.",
        ),
        schema="chatctx",
    )
    op.execute(_VIEW)
    op.execute("GRANT INSERT (caller_outcome, caller_versions) ON chatctx.feedback TO chatctx_server")


def downgrade() -> None:
    """Take the columns away, with what callers told in them."""
    op.execute(_VIEW_BEFORE)
    op.drop_column("record", "verified_on", schema="chatctx")
    op.drop_column("retrieval_event", "near", schema="chatctx")
    op.drop_column("feedback", "caller_versions", schema="chatctx")
    op.drop_column("feedback", "caller_outcome", schema="chatctx")
