"""What is done to keys is noted whoever does it: a key under another pepper, and a table that is emptied.

Revises: 0004
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# The server moves a key to a newer pepper when it is used. It may write nowhere else, so the note is written with the
# rights of whoever made the function; `login` still says who it was.
_NOTES = """
CREATE FUNCTION chatctx.note_rekeyed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO chatctx.owner_action (action, subject, detail)
    VALUES ('key_rekeyed', NEW.key_id,
        pg_catalog.jsonb_build_object('pepper_id', pg_catalog.jsonb_build_array(OLD.pepper_id, NEW.pepper_id)));
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION chatctx.note_rekeyed() FROM PUBLIC;
CREATE TRIGGER note_key_rekeyed AFTER UPDATE ON chatctx.api_key FOR EACH ROW
WHEN ((OLD.mac, OLD.pepper_id) IS DISTINCT FROM (NEW.mac, NEW.pepper_id))
EXECUTE FUNCTION chatctx.note_rekeyed();

CREATE FUNCTION chatctx.refuse_new_mac() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'a key gets another MAC only with another pepper' USING ERRCODE = 'insufficient_privilege';
END $$;
REVOKE ALL ON FUNCTION chatctx.refuse_new_mac() FROM PUBLIC;
CREATE TRIGGER refuse_new_mac BEFORE UPDATE ON chatctx.api_key FOR EACH ROW
WHEN (OLD.mac IS DISTINCT FROM NEW.mac AND OLD.pepper_id = NEW.pepper_id)
EXECUTE FUNCTION chatctx.refuse_new_mac();

CREATE FUNCTION chatctx.note_emptied() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO chatctx.owner_action (action, subject, detail) VALUES ('emptied', TG_TABLE_NAME, '{}');
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION chatctx.note_emptied() FROM PUBLIC
"""
_EMPTIED = ("api_key", "feedback", "publication", "record")


def upgrade() -> None:
    """Add the triggers. A server of the release before goes on: what it does to keys passes them."""
    op.execute(_NOTES)
    for table in _EMPTIED:
        op.execute(
            f"CREATE TRIGGER note_emptied AFTER TRUNCATE ON chatctx.{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION chatctx.note_emptied()"
        )


def downgrade() -> None:
    """Remove the triggers; what was noted stays."""
    for table in _EMPTIED:
        op.execute(f"DROP TRIGGER note_emptied ON chatctx.{table}")
    for name, table in (("note_key_rekeyed", "api_key"), ("refuse_new_mac", "api_key")):
        op.execute(f"DROP TRIGGER {name} ON chatctx.{table}")
    for function in ("note_rekeyed", "refuse_new_mac", "note_emptied"):
        op.execute(f"DROP FUNCTION chatctx.{function}()")
