"""The schema, as SQLAlchemy Core tables. `migrations/` brings a database to it; a test compares the two.

Constraints are named by convention, so that a migration can name what it changes. Words and vectors that are derived
from the records stand beside them: publishing keeps them in step within one transaction.
"""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Date,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL, TSVECTOR, UUID

from app.store.searchtext import SEARCH_TEXT

SCHEMA = "chatctx"
SERVER_ROLE = "chatctx_server"

NAMING = {
    "pk": "pk_%(table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}

# Tables whose rows end with their day, so that no backup keeps them.
TRANSIENT = ("quota_use", "daily_salt")

metadata = MetaData(schema=SCHEMA, naming_convention=NAMING)

# Compared byte by byte, so that the order of an answer is the same in every database.
_BYTEWISE = Text(collation="C")

record = Table(
    "record",
    metadata,
    Column("record_no", Integer, Identity(always=True), primary_key=True),
    Column("record_id", UUID(as_uuid=True), nullable=False, unique=True),
    Column("slug", _BYTEWISE, nullable=False, unique=True),
    Column("topic", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("content_version", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("body", JSONB, nullable=False, comment="Canonical form of the record: what its content_hash is over."),
    Column("confidence", Text, nullable=False),
    Column("updated", Date, nullable=False),
    Column("approved_at", DateTime(timezone=True), nullable=False),
    Column("approved_by", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column(
        "technologies",
        ARRAY(Text),
        nullable=False,
        comment="Keys of record_applicability, at hand for narrowing a search.",
    ),
    # What a candidate is judged by, apart from the body, which is large and lies compressed elsewhere.
    Column("applies_to", JSONB, Computed("body -> 'applies_to'", persisted=True), nullable=False),
    Column("task_types", JSONB, Computed("body -> 'task_types'", persisted=True), nullable=False),
    Column("search_text", TSVECTOR, Computed(SEARCH_TEXT, persisted=True), nullable=False),
    Column("verified_on", Date, comment="Day on which every check of this very text passed; null until then."),
    CheckConstraint("content_version >= 1", "content_version"),
    CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", "content_hash"),
    CheckConstraint("status IN ('approved', 'deprecated')", "status"),
    CheckConstraint("jsonb_typeof(body) = 'object'", "body"),
    Index("ix_record_search_text", "search_text", postgresql_using="gin"),
)

record_applicability = Table(
    "record_applicability",
    metadata,
    Column("record_no", Integer, ForeignKey(record.c.record_no, ondelete="CASCADE"), nullable=False),
    Column("position", SmallInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("technology_key", Text, nullable=False),
    Column("version_constraint", Text),
    Column("scheme", Text),
    PrimaryKeyConstraint("record_no", "position"),
    UniqueConstraint("record_no", "technology_key"),
    CheckConstraint("(version_constraint IS NULL) = (scheme IS NULL)", "scheme"),
    Index(None, "technology_key"),
)

record_source = Table(
    "record_source",
    metadata,
    Column("record_no", Integer, ForeignKey(record.c.record_no, ondelete="CASCADE"), nullable=False),
    Column("position", SmallInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("publisher", Text, nullable=False),
    Column("licence", Text, nullable=False),
    Column("authority", Text, nullable=False),
    Column("relation", Text, nullable=False),
    Column("retrieved", Date, nullable=False),
    PrimaryKeyConstraint("record_no", "position"),
    Index(None, "url"),
)

record_version = Table(
    "record_version",
    metadata,
    Column("record_id", UUID(as_uuid=True), ForeignKey(record.c.record_id), nullable=False),
    Column("content_version", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("body", JSONB, nullable=False),
    Column("approved_at", DateTime(timezone=True), nullable=False),
    Column("approved_by", Text, nullable=False),
    Column("note", Text),
    PrimaryKeyConstraint("record_id", "content_version"),
    CheckConstraint("content_version >= 1", "content_version"),
    CheckConstraint("content_hash ~ '^[0-9a-f]{64}$'", "content_hash"),
    comment="Everything that was ever served. Append-only: a trigger refuses changes.",
)

ledger_line = Table(
    "ledger_line",
    metadata,
    Column("hash", _BYTEWISE, primary_key=True),
    Column("prev", _BYTEWISE, nullable=False),
    Column("line", Text, nullable=False, comment="A line of records/ledger.jsonl, byte for byte."),
    comment="Every decision that was published from. Append-only: a trigger refuses changes.",
)

embedding_model = Table(
    "embedding_model",
    metadata,
    Column("model_no", Integer, Identity(always=True), primary_key=True),
    Column("model_id", Text, nullable=False),
    Column("revision", Text, nullable=False),
    Column("dims", Integer, nullable=False),
    Column("active", Boolean, nullable=False),
    Column(
        "covered", Integer, nullable=False, server_default=text("0"), comment="Served records that have its vectors."
    ),
    Column("indexed", Boolean, nullable=False, server_default=text("false"), comment="An HNSW index is kept for it."),
    UniqueConstraint("model_id", "revision", "dims"),
    UniqueConstraint("model_no", "dims"),
    # halfvec holds no more dimensions in an HNSW index.
    CheckConstraint("dims BETWEEN 1 AND 4000", "dims"),
)

record_embedding = Table(
    "record_embedding",
    metadata,
    Column("record_no", Integer, ForeignKey(record.c.record_no, ondelete="CASCADE"), nullable=False),
    Column("model_no", Integer, nullable=False),
    Column("part", Text, nullable=False),
    Column("dims", Integer, nullable=False),
    Column("content_version", Integer, nullable=False),
    Column("text_hash", LargeBinary, nullable=False, comment="SHA-256 of the text the vector stands for."),
    Column("vector", HALFVEC(), nullable=False),
    PrimaryKeyConstraint("model_no", "record_no", "part"),
    ForeignKeyConstraint(
        ["model_no", "dims"], [embedding_model.c.model_no, embedding_model.c.dims], ondelete="CASCADE"
    ),
    CheckConstraint("vector_dims(vector) = dims", "dims"),
    CheckConstraint("octet_length(text_hash) = 32", "text_hash"),
    Index(None, "record_no"),
    comment="A vector is of its model: nothing compares vectors of two models, so the column has no fixed length.",
)

term_posting = Table(
    "term_posting",
    metadata,
    Column("term", _BYTEWISE, primary_key=True),
    Column("document_frequency", Integer, nullable=False),
    Column("records", ARRAY(Integer), nullable=False, comment="record_no, by falling impact."),
    Column("impacts", ARRAY(REAL), nullable=False, comment="app.indexing.impact of the term in each of the records."),
    CheckConstraint("document_frequency > 0", "document_frequency"),
    CheckConstraint(
        "cardinality(records) = document_frequency AND cardinality(impacts) = document_frequency", "same_length"
    ),
)

publication = Table(
    "publication",
    metadata,
    Column("single", Boolean, primary_key=True, server_default=text("true")),
    Column("generation", Integer, nullable=False, comment="Grows with every publish that changed something."),
    Column("published_at", DateTime(timezone=True), nullable=False),
    Column("ledger_head", Text),
    Column("demo", Boolean, nullable=False),
    Column("document_count", Integer, nullable=False),
    Column("average_length", Float(53), nullable=False),
    Column("facts", JSONB, nullable=False),
    CheckConstraint("single", "single"),
    CheckConstraint("document_count >= 0", "document_count"),
    CheckConstraint("average_length >= 0", "average_length"),
)

api_key = Table(
    "api_key",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("mac", LargeBinary, nullable=False),
    Column("pepper_id", Text, nullable=False),
    Column("daily_quota", Integer),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("last_used_on", Date),
    Column("revoked_at", DateTime(timezone=True)),
    Column(
        "former_pepper_ids",
        ARRAY(Text),
        nullable=False,
        server_default=text("'{}'::text[]"),
        comment="Peppers it was under before; it is moved to none of them again.",
    ),
    CheckConstraint("octet_length(mac) = 32", "mac"),
    CheckConstraint("daily_quota >= 0", "daily_quota"),
)

quota_use = Table(
    "quota_use",
    metadata,
    Column("day", Date, nullable=False),
    Column("subject", LargeBinary, nullable=False),
    Column("used", Integer, nullable=False),
    PrimaryKeyConstraint("day", "subject"),
    CheckConstraint("used >= 0", "used"),
    # Room on each page for the next version of a row that is updated with every call.
    postgresql_with={"fillfactor": 70},
)

daily_salt = Table(
    "daily_salt",
    metadata,
    Column("day", Date, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    CheckConstraint("octet_length(salt) = 32", "salt"),
)

# No constraint reads the comment: PostgreSQL logs the failing row, or the key, of a violated one.
feedback = Table(
    "feedback",
    metadata,
    Column("feedback_id", UUID(as_uuid=True), primary_key=True),
    Column("received_on", Date, nullable=False, comment="A day, never a time: times would tie it to a caller."),
    Column("category", Text, nullable=False),
    Column("record", Text),
    Column("source", Text, nullable=False),
    Column("comment", Text),
    Column("redactions", JSONB, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("repeats", Integer, nullable=False, server_default=text("0")),
    Column("resolved_on", Date),
    Column("outcome", Text),
    Column("resolution", Text),
    Column("caller_outcome", Text, comment="What came of following the guidance; `outcome` is what the owner did."),
    Column("caller_versions", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    UniqueConstraint("received_on", "fingerprint"),
    CheckConstraint("(resolved_on IS NULL) = (outcome IS NULL)", "outcome"),
    CheckConstraint("caller_outcome IN ('worked_as_written', 'worked_with_changes', 'did_not_work')", "caller_outcome"),
)

owner_action = Table(
    "owner_action",
    metadata,
    Column("action_no", BigInteger, Identity(always=True), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("login", Text, nullable=False, server_default=text("SESSION_USER")),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column(
        "detail", JSONB, nullable=False, comment="What changed: name of each column, with its value before and after."
    ),
    comment="What owners do to keys, publication and feedback. Append-only: a trigger refuses changes.",
)

# No key: nothing refers to an event, and a number would tell the order within the hour.
retrieval_event = Table(
    "retrieval_event",
    metadata,
    Column("hour", DateTime(timezone=True), nullable=False),
    Column("query_hash", LargeBinary, nullable=False),
    Column("topics", ARRAY(Text), nullable=False),
    Column("technologies", ARRAY(Text), nullable=False),
    Column("mode", Text, nullable=False),
    Column("result_count", Integer, nullable=False),
    Column("degraded_reason", Text),
    Column("near", ARRAY(Text), nullable=False, server_default=text("'{}'::text[]"), comment="Slugs that came close."),
    CheckConstraint("octet_length(query_hash) = 8", "query_hash"),
    Index(None, "hour"),
)
