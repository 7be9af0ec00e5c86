"""What a database holds, as it can be compared with another."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, text

from app.store.guard import verify_published
from app.store.served import publication, published_hashes
from app.store.tables import metadata

SHORT_LIVED = ["daily_salt", "quota_use"]
KEPT = sorted({table.name for table in metadata.tables.values()} - {*SHORT_LIVED})


@dataclass(frozen=True)
class State:
    """All that is in it.

    Attributes:
        content: by table, how many rows it has and a hash over all that is in them.
    """

    content: dict[str, tuple[int, str | None]]
    hashes: dict[str, str]
    ledger_head: str | None
    unsound: list[str]

    def rows(self, tables: list[str]) -> int:
        return sum(self.content[table][0] for table in tables)


def state_of(engine: Engine) -> State:
    # Without what PostgreSQL computes itself from the rest: versions of it stem words differently.
    row = "CAST(to_jsonb(r) - 'search_text' AS text)"
    statement = f"SELECT count(*), md5(string_agg({row}, '|' ORDER BY {row} COLLATE \"C\")) FROM {{}} AS r"  # noqa: S608
    content = {}
    with engine.connect() as connection:
        for table in (*KEPT, *SHORT_LIVED):
            count, digest = connection.execute(text(statement.format(f"chatctx.{table}"))).one()
            content[table] = (count, digest)
    return State(content, published_hashes(engine), publication(engine).ledger_head, verify_published(engine))
