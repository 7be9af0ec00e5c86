"""Keys are moved to another pepper by a function alone, and what is done to keys is noted whoever does it.

Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# It runs with its owner's rights, so that the server needs none to write hashes wherever it likes. A key goes only to a
# pepper it never had: so nobody exchanges the hash under a pepper by going away and back, and two servers that hold the
# same peppers in another order do not move a key to and fro.
_REKEY = """
CREATE FUNCTION chatctx.rekey(moved_key text, old_pepper text, new_mac bytea, new_pepper text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE chatctx.api_key
    SET mac = new_mac, pepper_id = new_pepper, former_pepper_ids = former_pepper_ids || pepper_id
    WHERE key_id = moved_key AND pepper_id = old_pepper AND revoked_at IS NULL
        AND new_pepper ~ '^[0-9A-Za-z_-]{1,32}$' AND new_pepper <> ALL (former_pepper_ids || pepper_id)
        AND cardinality(former_pepper_ids) < 100
$$;
REVOKE ALL ON FUNCTION chatctx.rekey(text, text, bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION chatctx.rekey(text, text, bytea, text) TO chatctx_server;
REVOKE UPDATE (mac, pepper_id) ON chatctx.api_key FROM chatctx_server
"""

_NOTES = """
CREATE TRIGGER note_key_rekeyed AFTER UPDATE ON chatctx.api_key FOR EACH ROW
WHEN ((OLD.mac, OLD.pepper_id, OLD.former_pepper_ids) IS DISTINCT FROM (NEW.mac, NEW.pepper_id, NEW.former_pepper_ids))
EXECUTE FUNCTION chatctx.note_action('key_rekeyed', 'key_id', 'pepper_id');
CREATE TRIGGER note_feedback_deleted AFTER DELETE ON chatctx.feedback
FOR EACH ROW EXECUTE FUNCTION chatctx.note_action('feedback_deleted', 'feedback_id', 'outcome');
CREATE TRIGGER note_unpublished AFTER DELETE ON chatctx.publication FOR EACH ROW
EXECUTE FUNCTION chatctx.note_action('unpublished', 'generation', 'ledger_head', 'document_count', 'demo');

CREATE FUNCTION chatctx.note_emptied() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO chatctx.owner_action (action, subject, detail) VALUES ('emptied', TG_TABLE_NAME, '{}');
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION chatctx.note_emptied() FROM PUBLIC;

CREATE FUNCTION chatctx.sign_note() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- At depth one nobody but a statement has called.
    IF pg_trigger_depth() < 2 THEN
        RAISE EXCEPTION 'chatctx.owner_action is written by triggers alone' USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := now();
    NEW.login := session_user;
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION chatctx.sign_note() FROM PUBLIC;
CREATE TRIGGER sign_note BEFORE INSERT ON chatctx.owner_action
FOR EACH ROW EXECUTE FUNCTION chatctx.sign_note()
"""
_EMPTIED = ("api_key", "feedback", "publication", "record")
_NOTED = (
    ("api_key", "note_key_rekeyed"), ("feedback", "note_feedback_deleted"), ("publication", "note_unpublished"),
    ("owner_action", "sign_note"),
)  # fmt: skip


def upgrade() -> None:
    """Exchange a right for a function.

    Servers of the release before go on and answer, but move no key to another pepper: they log that they may not.
    """
    op.add_column(
        "api_key",
        sa.Column(
            "former_pepper_ids",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            server_default=sa.text("'{}'::text[]"),
            comment="Peppers it was under before; it is moved to none of them again.",
        ),
        schema="chatctx",
    )
    op.execute(_REKEY)
    op.execute(_NOTES)
    for table in _EMPTIED:
        op.execute(
            f"CREATE TRIGGER note_emptied AFTER TRUNCATE ON chatctx.{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION chatctx.note_emptied()"
        )


def downgrade() -> None:
    """Give the right back; what was noted stays."""
    op.execute("GRANT UPDATE (mac, pepper_id) ON chatctx.api_key TO chatctx_server")
    op.execute("DROP FUNCTION chatctx.rekey(text, text, bytea, text)")
    for table in _EMPTIED:
        op.execute(f"DROP TRIGGER note_emptied ON chatctx.{table}")
    for table, trigger in _NOTED:
        op.execute(f"DROP TRIGGER {trigger} ON chatctx.{table}")
    for function in ("note_emptied", "sign_note"):
        op.execute(f"DROP FUNCTION chatctx.{function}()")
    op.drop_column("api_key", "former_pepper_ids", schema="chatctx")
