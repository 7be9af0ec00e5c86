"""What owners did in the database, as its own triggers noted it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select

from app.store.engine import connected
from app.store.tables import owner_action


@dataclass(frozen=True)
class OwnerAction:
    """One thing that was done.

    Attributes:
        login: the database login it was done with.
        action: key_added, key_changed, key_deleted, key_rekeyed (by a server too), published, unpublished,
            feedback_resolved, feedback_deleted, emptied.
        subject: id of the key or feedback, generation of the publication, name of the table that was emptied.
        detail: by column, its value before and after.
    """

    at: datetime
    login: str
    action: str
    subject: str
    detail: dict[str, Any]


def owner_actions(engine: Engine, limit: int) -> Sequence[OwnerAction]:
    """Return what was done last, newest first, on the owner's engine. Raises Unavailable."""
    column = owner_action.c
    shown = (column.at, column.login, column.action, column.subject, column.detail)
    with connected(engine) as connection:
        rows = connection.execute(select(*shown).order_by(column.action_no.desc()).limit(limit))
        return [OwnerAction(*row) for row in rows]
