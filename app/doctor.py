"""Looks at everything the server needs, one thing at a time, and says how to mend what is broken."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from app.database import Database, open_database, policy_of
from app.embedding.factory import create_embedder
from app.errors import AppError, Unavailable
from app.settings import Environment, Settings
from app.store.engine import connected
from app.store.guard import listed, verify_published
from app.store.loggedvalues import REMEDY, logged_values
from app.store.migrating import current_revision, head_revision, is_later, missing_columns
from app.store.preparing import check_pgvector, check_postgres
from app.store.served import publication
from app.transports.cli.runtime import Diagnosis


def examine(settings: Settings, pepper: Path) -> list[Diagnosis]:
    """Return a diagnosis of every part; a broken one does not keep the others from being looked at."""
    return [
        *_guarded("pepper", lambda: _pepper(pepper)),
        *_guarded("embedding model", lambda: _model(settings)),
        *_database(settings),
    ]


def _database(settings: Settings) -> Iterator[Diagnosis]:
    remedy = (
        "check DATABASE_URL"
        if settings.database_url
        else "see the message; the embedded server's log is in CHATCTX_HOME"
    )
    try:
        with open_database(settings) as database:
            for name, check in _CHECKS.items():
                found = _guarded(name, partial(check, database, settings))
                yield from found
                if name in ("database", "schema") and found[0].state == "broken":
                    # Without it there is nothing behind it to look at.
                    return
    except AppError as error:
        yield Diagnosis("database", "broken", _said(error), remedy)


def _guarded(name: str, check: Callable[[], Diagnosis]) -> list[Diagnosis]:
    try:
        return [check()]
    except AppError as error:
        return [Diagnosis(name, "broken", _said(error))]
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one part, the others are still looked at
        return [Diagnosis(name, "broken", f"could not be examined ({type(error).__name__})")]


def _said(error: AppError) -> str:
    """Return what an operator should read: why, where the caller is only told that it may work later."""
    return error.hint if isinstance(error, Unavailable) and error.hint else error.message


def _reachable(database: Database, _: Settings) -> Diagnosis:
    with connected(database.server) as connection:
        major = check_postgres(connection)
    where = "embedded" if database.embedded else "named by DATABASE_URL"
    return Diagnosis("database", "ok", f"PostgreSQL {major}, {where}")


def _pgvector(database: Database, _: Settings) -> Diagnosis:
    with connected(database.owner) as connection:
        version = check_pgvector(connection)
    if version is None:
        return Diagnosis("pgvector", "warning", "not installed in this database yet", "run chatctx migrate")
    return Diagnosis("pgvector", "ok", f"version {version}")


def _log(database: Database, _: Settings) -> Diagnosis:
    with connected(database.server) as connection:
        telling = logged_values(connection)
    if telling:
        return Diagnosis("database log", "warning", f"PostgreSQL logs what callers ask: {', '.join(telling)}", REMEDY)
    return Diagnosis("database log", "ok", "PostgreSQL does not log what callers ask")


def _schema(database: Database, _: Settings) -> Diagnosis:
    current, head = current_revision(database.owner), head_revision()
    if current == head:
        return Diagnosis("schema", "ok", f"at revision {head}")
    if is_later(current):
        missing = missing_columns(database.owner)
        found = f"at revision {current}, a later release's; this program's is {head}"
        if not missing:
            return Diagnosis("schema", "ok", found)
        return Diagnosis("schema", "broken", f"{found}, and needs {', '.join(missing)}", "run the later release")
    return Diagnosis(
        "schema", "broken", f"at revision {current or 'none'}, this program needs {head}", "run chatctx migrate"
    )


def _records(database: Database, settings: Settings) -> Diagnosis:
    served = publication(database.server)
    if not served.records:
        return Diagnosis("records", "broken", "none are published", "run chatctx review publish")
    unsound = verify_published(database.server, policy_of(settings))
    if unsound:
        found = f"withheld, not what was approved: {listed(unsound)}"
        return Diagnosis("records", "broken", found, "run chatctx review publish; see docs/approving.md")
    found = f"{served.records} published and verified" + (", a demonstration set" if served.demo else "")
    if served.demo and settings.env is Environment.PRODUCTION and not settings.allow_demo_records:
        return Diagnosis("records", "broken", found, "production refuses them: publish records an owner approved")
    return Diagnosis("records", "ok", found)


def _embeddings(database: Database, settings: Settings) -> Diagnosis:
    embedder = create_embedder(settings)
    models = publication(database.server).models
    if embedder is None:
        return Diagnosis("vectors", "warning", "embeddings are switched off: words alone are searched")
    if embedder.model in models:
        kept = f"; {len(models) - 1} more kept: chatctx review models" if len(models) > 1 else ""
        return Diagnosis("vectors", "ok", f"published for {embedder.model.model_id} {embedder.model.revision}{kept}")
    return Diagnosis(
        "vectors", "warning", "none for the model in use: words alone are searched", "run chatctx review publish"
    )


def _model(settings: Settings) -> Diagnosis:
    embedder = create_embedder(settings)
    if embedder is None:
        return Diagnosis("embedding model", "warning", "switched off", "set CHATCTX_EMBEDDER=onnx")
    model = embedder.model
    dims = embedder.embed(["a question"]).shape[1]
    return Diagnosis(
        "embedding model", "ok", f"{embedder.provider}: {model.model_id} {model.revision}, {dims} dimensions"
    )


def _pepper(path: Path) -> Diagnosis:
    if not path.exists():
        return Diagnosis("pepper", "warning", f"{path} does not exist yet", "it is made when the server first starts")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXO | stat.S_IWGRP):
        return Diagnosis("pepper", "broken", f"{path} has mode {mode:04o}", f"chmod 600 {path}")
    return Diagnosis("pepper", "ok", f"{path}, mode {mode:04o}")


_CHECKS: dict[str, Callable[[Database, Settings], Diagnosis]] = {
    "database": _reachable,
    "pgvector": _pgvector,
    "database log": _log,
    "schema": _schema,
    "records": _records,
    "vectors": _embeddings,
}
