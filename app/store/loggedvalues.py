"""Whether the database's own log holds what callers ask: it does when it logs statements with their values."""

from __future__ import annotations

from sqlalchemy import Connection

from app.store.engine import sql
from app.store.tables import SERVER_ROLE

REMEDY = (
    "have an administrator of the database run: "
    f"GRANT SET ON PARAMETER log_parameter_max_length TO {SERVER_ROLE}; then restart the server. "
    "What auto_explain and pgaudit log is switched off by their own settings"
)
_LONGEST_VALUE = "log_parameter_max_length"
# Values at which nothing of ours is logged: "mod" logs feedback, which is cleaned before it gets there.
_SILENT = {
    "log_statement": {"none", "ddl", "mod"},
    "log_min_duration_statement": {"-1"},
    "log_min_duration_sample": {"-1"},
    "log_transaction_sample_rate": {"0"},
}
# Extensions that name the values that were searched for, whatever is said about parameters.
_EXTENSIONS = {"auto_explain.log_min_duration": {"-1"}, "pgaudit.log_parameter": {"off", "false", "no", "0"}}


def logged_values(connection: Connection) -> list[str]:
    """Return the settings, as `name=value`, by which the log gets to hold what callers of this connection ask.

    Args:
        connection: one of the server's engine, because logins may have settings of their own.
    """
    telling = _SILENT | _EXTENSIONS
    rows = connection.execute(sql("log_settings"), {"names": [_LONGEST_VALUE, *telling]})
    found = {row.name: row.setting for row in rows}
    if found[_LONGEST_VALUE] == "0":
        telling = _EXTENSIONS
    return [f"{name}={found[name]}" for name, silent in telling.items() if name in found and found[name] not in silent]
