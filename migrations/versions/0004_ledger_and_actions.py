"""The ledger's lines beside the records they approve, and a log of what owners do in the database.

Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Written by triggers, so that no way of doing a thing leaves it out, and it is written with the thing or not at all.
_NOTE_ACTION = """
CREATE FUNCTION chatctx.note_action() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Arguments: the action, the column that names its subject, the columns whose change is told.
    before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    told text;
    detail jsonb := '{}';
BEGIN
    FOREACH told IN ARRAY TG_ARGV[2:] LOOP
        detail := detail || jsonb_build_object(told, jsonb_build_array(before -> told, after -> told));
    END LOOP;
    INSERT INTO chatctx.owner_action (action, subject, detail)
    VALUES (TG_ARGV[0], COALESCE(after, before) ->> TG_ARGV[1], detail);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION chatctx.note_action() FROM PUBLIC;

CREATE TRIGGER note_key_added AFTER INSERT ON chatctx.api_key
FOR EACH ROW EXECUTE FUNCTION chatctx.note_action('key_added', 'key_id', 'label', 'daily_quota');
CREATE TRIGGER note_key_changed AFTER UPDATE ON chatctx.api_key FOR EACH ROW
WHEN ((OLD.label, OLD.daily_quota, OLD.revoked_at) IS DISTINCT FROM (NEW.label, NEW.daily_quota, NEW.revoked_at))
EXECUTE FUNCTION chatctx.note_action('key_changed', 'key_id', 'label', 'daily_quota', 'revoked_at');
CREATE TRIGGER note_key_deleted AFTER DELETE ON chatctx.api_key
FOR EACH ROW EXECUTE FUNCTION chatctx.note_action('key_deleted', 'key_id', 'label');
CREATE TRIGGER note_published AFTER INSERT OR UPDATE ON chatctx.publication FOR EACH ROW
EXECUTE FUNCTION chatctx.note_action('published', 'generation', 'ledger_head', 'document_count', 'demo');
CREATE TRIGGER note_feedback_resolved AFTER UPDATE ON chatctx.feedback FOR EACH ROW
WHEN ((OLD.outcome, OLD.resolved_on) IS DISTINCT FROM (NEW.outcome, NEW.resolved_on))
EXECUTE FUNCTION chatctx.note_action('feedback_resolved', 'feedback_id', 'outcome')
"""

_NOTED = (
    ("api_key", "note_key_added"), ("api_key", "note_key_changed"), ("api_key", "note_key_deleted"),
    ("publication", "note_published"), ("feedback", "note_feedback_resolved"),
)  # fmt: skip


def upgrade() -> None:
    """Add both tables. What is published is served again once it has been published with its ledger."""
    op.create_table(
        "ledger_line",
        sa.Column("hash", sa.Text(collation="C"), nullable=False),
        sa.Column("prev", sa.Text(collation="C"), nullable=False),
        sa.Column("line", sa.Text(), nullable=False, comment="A line of records/ledger.jsonl, byte for byte."),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_ledger_line")),
        schema="chatctx",
        comment="Every decision that was published from. Append-only: a trigger refuses changes.",
    )
    op.create_table(
        "owner_action",
        sa.Column("action_no", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("login", sa.Text(), server_default=sa.text("SESSION_USER"), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column(
            "detail",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="What changed: name of each column, with its value before and after.",
        ),
        sa.PrimaryKeyConstraint("action_no", name=op.f("pk_owner_action")),
        schema="chatctx",
        comment="What owners do to keys, publication and feedback. Append-only: a trigger refuses changes.",
    )
    op.execute(_NOTE_ACTION)
    for table in ("ledger_line", "owner_action"):
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chatctx.{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION chatctx.refuse_change()"
        )
    op.execute("GRANT SELECT ON chatctx.ledger_line TO chatctx_server")


def downgrade() -> None:
    """Remove both tables with what is in them; the ledger itself is a file."""
    for table, trigger in _NOTED:
        op.execute(f"DROP TRIGGER {trigger} ON chatctx.{table}")
    op.execute("DROP FUNCTION chatctx.note_action()")
    op.drop_table("owner_action", schema="chatctx")
    op.drop_table("ledger_line", schema="chatctx")
