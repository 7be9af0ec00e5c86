"""First schema: records, what finds them, keys and quotas, what the owner learns.

Revises: nothing
"""

from __future__ import annotations

import pgvector.sqlalchemy
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = (
    "retrieval_event", "feedback", "daily_salt", "quota_use", "api_key", "publication", "term_posting",
    "record_embedding", "embedding_model", "record_version", "record_source", "record_applicability", "record",
)  # fmt: skip

_SEARCH_TEXT = """
    setweight(to_tsvector('english'::regconfig, title), 'A'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'symptoms', '["string"]'::jsonb), 'B'::"char")
    || setweight(
        to_tsvector('english'::regconfig, (body ->> 'summary') || ' ' || (body ->> 'recommendation')), 'B'::"char"
    )
    || setweight(
        to_tsvector('english'::regconfig, (body ->> 'rationale') || ' ' || COALESCE(body ->> 'examples', '')),
        'C'::"char"
    )
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'conditions', '["string"]'::jsonb), 'D'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'exceptions', '["string"]'::jsonb), 'D'::"char")
    || setweight(jsonb_to_tsvector('english'::regconfig, body -> 'pitfalls', '["string"]'::jsonb), 'D'::"char")
    || setweight(
        jsonb_to_tsvector('english'::regconfig, body -> 'verification_checks', '["string"]'::jsonb), 'D'::"char"
    )
"""

# The server reads records through the view alone: what is not approved does not exist for it.
_VIEW = """
CREATE VIEW chatctx.published_record AS
SELECT
    record_no, record_id, slug, topic, title, content_version, content_hash, body, approved_at,
    technologies, applies_to, task_types, search_text
FROM chatctx.record
WHERE status = 'approved'
"""

_APPEND_ONLY = """
CREATE FUNCTION chatctx.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'chatctx.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
REVOKE ALL ON FUNCTION chatctx.refuse_change() FROM PUBLIC;
CREATE TRIGGER record_version_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chatctx.record_version
FOR EACH STATEMENT EXECUTE FUNCTION chatctx.refuse_change()
"""

_GRANTS = """
GRANT USAGE ON SCHEMA chatctx TO chatctx_server;
GRANT SELECT ON chatctx.published_record, chatctx.record_embedding, chatctx.embedding_model, chatctx.term_posting,
    chatctx.publication, chatctx.alembic_version TO chatctx_server;
GRANT SELECT (key_id, mac, pepper_id, daily_quota, revoked_at, last_used_on), UPDATE (mac, pepper_id, last_used_on)
    ON chatctx.api_key TO chatctx_server;
GRANT SELECT, INSERT, UPDATE (used), DELETE ON chatctx.quota_use TO chatctx_server;
GRANT SELECT, INSERT, DELETE ON chatctx.daily_salt TO chatctx_server;
GRANT SELECT (received_on, fingerprint, repeats), UPDATE (repeats),
    INSERT (feedback_id, received_on, category, record, source, comment, redactions, fingerprint)
    ON chatctx.feedback TO chatctx_server;
GRANT INSERT ON chatctx.retrieval_event TO chatctx_server
"""


def upgrade() -> None:
    """Make room for everything."""
    _records()
    _search()
    _access()
    _signals()
    op.execute(_VIEW)
    op.execute(_APPEND_ONLY)
    op.execute(_GRANTS)


def downgrade() -> None:
    """Remove everything of ours; the schema stays, with Alembic's own table in it."""
    op.execute("REVOKE ALL ON chatctx.alembic_version FROM chatctx_server")
    op.execute("REVOKE ALL ON SCHEMA chatctx FROM chatctx_server")
    op.execute("DROP VIEW chatctx.published_record")
    for table in _TABLES:
        op.drop_table(table, schema="chatctx")
    op.execute("DROP FUNCTION chatctx.refuse_change()")


def _records() -> None:
    """Create the records with what stands in them, and everything that was ever served."""
    op.create_table(
        "record",
        sa.Column("record_no", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("record_id", sa.UUID(), nullable=False),
        sa.Column("slug", sa.Text(collation="C"), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content_version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column(
            "body",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Canonical form of the record: what its content_hash is over.",
        ),
        sa.Column("confidence", sa.Text(), nullable=False),
        sa.Column("updated", sa.Date(), nullable=False),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_by", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column(
            "technologies",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            comment="Keys of record_applicability, at hand for narrowing a search.",
        ),
        sa.Column(
            "applies_to",
            postgresql.JSONB(astext_type=sa.Text()),
            sa.Computed("body -> 'applies_to'", persisted=True),
            nullable=False,
        ),
        sa.Column(
            "task_types",
            postgresql.JSONB(astext_type=sa.Text()),
            sa.Computed("body -> 'task_types'", persisted=True),
            nullable=False,
        ),
        sa.Column("search_text", postgresql.TSVECTOR(), sa.Computed(_SEARCH_TEXT, persisted=True), nullable=False),
        sa.CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", name=op.f("ck_record_content_hash")),
        sa.CheckConstraint("jsonb_typeof(body) = 'object'", name=op.f("ck_record_body")),
        sa.CheckConstraint("status IN ('approved', 'deprecated')", name=op.f("ck_record_status")),
        sa.CheckConstraint("content_version >= 1", name=op.f("ck_record_content_version")),
        sa.PrimaryKeyConstraint("record_no", name=op.f("pk_record")),
        sa.UniqueConstraint("record_id", name=op.f("uq_record_record_id")),
        sa.UniqueConstraint("slug", name=op.f("uq_record_slug")),
        schema="chatctx",
    )
    op.create_index(
        "ix_record_search_text", "record", ["search_text"], unique=False, schema="chatctx", postgresql_using="gin"
    )
    op.create_table(
        "record_applicability",
        sa.Column("record_no", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("technology_key", sa.Text(), nullable=False),
        sa.Column("version_constraint", sa.Text(), nullable=True),
        sa.Column("scheme", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(version_constraint IS NULL) = (scheme IS NULL)", name=op.f("ck_record_applicability_scheme")
        ),
        sa.ForeignKeyConstraint(
            ["record_no"],
            ["chatctx.record.record_no"],
            name=op.f("fk_record_applicability_record_no"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("record_no", "position", name=op.f("pk_record_applicability")),
        sa.UniqueConstraint(
            "record_no", "technology_key", name=op.f("uq_record_applicability_record_no_technology_key")
        ),
        schema="chatctx",
    )
    op.create_index(
        op.f("ix_record_applicability_technology_key"),
        "record_applicability",
        ["technology_key"],
        unique=False,
        schema="chatctx",
    )
    op.create_table(
        "record_source",
        sa.Column("record_no", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("publisher", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("authority", sa.Text(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("retrieved", sa.Date(), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_no"], ["chatctx.record.record_no"], name=op.f("fk_record_source_record_no"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("record_no", "position", name=op.f("pk_record_source")),
        schema="chatctx",
    )
    op.create_index(op.f("ix_record_source_url"), "record_source", ["url"], unique=False, schema="chatctx")
    op.create_table(
        "record_version",
        sa.Column("record_id", sa.UUID(), nullable=False),
        sa.Column("content_version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_by", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", name=op.f("ck_record_version_content_hash")),
        sa.CheckConstraint("content_version >= 1", name=op.f("ck_record_version_content_version")),
        sa.ForeignKeyConstraint(["record_id"], ["chatctx.record.record_id"], name=op.f("fk_record_version_record_id")),
        sa.PrimaryKeyConstraint("record_id", "content_version", name=op.f("pk_record_version")),
        schema="chatctx",
        comment="Everything that was ever served. Append-only: a trigger refuses changes.",
    )


def _search() -> None:
    """Create what a search goes by: vectors, words, and the state they are of."""
    op.create_table(
        "embedding_model",
        sa.Column("model_no", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("dims", sa.Integer(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column(
            "covered",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Served records that have its vectors.",
        ),
        sa.Column(
            "indexed",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="An HNSW index is kept for it.",
        ),
        sa.CheckConstraint("dims BETWEEN 1 AND 4000", name=op.f("ck_embedding_model_dims")),
        sa.PrimaryKeyConstraint("model_no", name=op.f("pk_embedding_model")),
        sa.UniqueConstraint("model_id", "revision", "dims", name=op.f("uq_embedding_model_model_id_revision_dims")),
        sa.UniqueConstraint("model_no", "dims", name=op.f("uq_embedding_model_model_no_dims")),
        schema="chatctx",
    )
    op.create_table(
        "record_embedding",
        sa.Column("record_no", sa.Integer(), nullable=False),
        sa.Column("model_no", sa.Integer(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("dims", sa.Integer(), nullable=False),
        sa.Column("content_version", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of the text the vector stands for."),
        sa.Column("vector", pgvector.sqlalchemy.HALFVEC(), nullable=False),
        sa.CheckConstraint("octet_length(text_hash) = 32", name=op.f("ck_record_embedding_text_hash")),
        sa.CheckConstraint("vector_dims(vector) = dims", name=op.f("ck_record_embedding_dims")),
        sa.ForeignKeyConstraint(
            ["model_no", "dims"],
            ["chatctx.embedding_model.model_no", "chatctx.embedding_model.dims"],
            name=op.f("fk_record_embedding_model_no_dims"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["record_no"], ["chatctx.record.record_no"], name=op.f("fk_record_embedding_record_no"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("model_no", "record_no", "part", name=op.f("pk_record_embedding")),
        schema="chatctx",
        comment="A vector is of its model: nothing compares vectors of two models, so the column has no fixed length.",
    )
    op.create_index(
        op.f("ix_record_embedding_record_no"), "record_embedding", ["record_no"], unique=False, schema="chatctx"
    )
    op.create_table(
        "term_posting",
        sa.Column("term", sa.Text(collation="C"), nullable=False),
        sa.Column("document_frequency", sa.Integer(), nullable=False),
        sa.Column("records", postgresql.ARRAY(sa.Integer()), nullable=False, comment="record_no, by falling impact."),
        sa.Column(
            "impacts",
            postgresql.ARRAY(sa.REAL()),
            nullable=False,
            comment="app.indexing.impact of the term in each of the records.",
        ),
        sa.CheckConstraint(
            "cardinality(records) = document_frequency AND cardinality(impacts) = document_frequency",
            name=op.f("ck_term_posting_same_length"),
        ),
        sa.CheckConstraint("document_frequency > 0", name=op.f("ck_term_posting_document_frequency")),
        sa.PrimaryKeyConstraint("term", name=op.f("pk_term_posting")),
        schema="chatctx",
    )
    op.create_table(
        "publication",
        sa.Column("single", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column(
            "generation", sa.Integer(), nullable=False, comment="Grows with every publish that changed something."
        ),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ledger_head", sa.Text(), nullable=True),
        sa.Column("demo", sa.Boolean(), nullable=False),
        sa.Column("document_count", sa.Integer(), nullable=False),
        sa.Column("average_length", sa.Float(precision=53), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.CheckConstraint("average_length >= 0", name=op.f("ck_publication_average_length")),
        sa.CheckConstraint("document_count >= 0", name=op.f("ck_publication_document_count")),
        sa.CheckConstraint("single", name=op.f("ck_publication_single")),
        sa.PrimaryKeyConstraint("single", name=op.f("pk_publication")),
        schema="chatctx",
    )


def _access() -> None:
    """Create keys, and the counts that quotas go by."""
    op.create_table(
        "api_key",
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sa.Column("pepper_id", sa.Text(), nullable=False),
        sa.Column("daily_quota", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_on", sa.Date(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("daily_quota >= 0", name=op.f("ck_api_key_daily_quota")),
        sa.CheckConstraint("octet_length(mac) = 32", name=op.f("ck_api_key_mac")),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_api_key")),
        schema="chatctx",
    )
    op.create_table(
        "quota_use",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("subject", sa.LargeBinary(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.CheckConstraint("used >= 0", name=op.f("ck_quota_use_used")),
        sa.PrimaryKeyConstraint("day", "subject", name=op.f("pk_quota_use")),
        schema="chatctx",
        postgresql_with={"fillfactor": 70},
    )
    op.create_table(
        "daily_salt",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("octet_length(salt) = 32", name=op.f("ck_daily_salt_salt")),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_daily_salt")),
        schema="chatctx",
    )


def _signals() -> None:
    """Create what the owner learns from use."""
    op.create_table(
        "feedback",
        sa.Column("feedback_id", sa.UUID(), nullable=False),
        sa.Column(
            "received_on", sa.Date(), nullable=False, comment="A day, never a time: times would tie it to a caller."
        ),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("redactions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("repeats", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("resolved_on", sa.Date(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.CheckConstraint("(resolved_on IS NULL) = (outcome IS NULL)", name=op.f("ck_feedback_outcome")),
        sa.PrimaryKeyConstraint("feedback_id", name=op.f("pk_feedback")),
        sa.UniqueConstraint("received_on", "fingerprint", name=op.f("uq_feedback_received_on_fingerprint")),
        schema="chatctx",
    )
    op.create_table(
        "retrieval_event",
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("query_hash", sa.LargeBinary(), nullable=False),
        sa.Column("topics", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("technologies", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("result_count", sa.Integer(), nullable=False),
        sa.Column("degraded_reason", sa.Text(), nullable=True),
        sa.CheckConstraint("octet_length(query_hash) = 8", name=op.f("ck_retrieval_event_query_hash")),
        schema="chatctx",
    )
    op.create_index(op.f("ix_retrieval_event_hour"), "retrieval_event", ["hour"], unique=False, schema="chatctx")
