"""The server's own log: one JSON object a line, of listed fields only: no question, address or key gets in."""

from __future__ import annotations

import json
import logging
import traceback

LOGGER = "chatctx"
# Anything else is a mistake in this program: a new field must be weighed for what it could tell about a caller.
FIELDS = frozenset(
    {"event", "http", "method", "status", "ms", "tool", "mode", "era", "reason", "error", "place", "port", "streams"}
)
_LONGEST_VALUE = 120
# Their messages can carry request text inside exceptions and tracebacks.
_FOREIGN = ("mcp", "mcp_types", "uvicorn", "asyncio", "anyio", "concurrent")


def write(event: str, *, level: int = logging.INFO, **fields: str | int | float | None) -> None:
    """Write a line. Fields without a value are left out.

    Raises:
        ValueError: a field is not on the list.
    """
    logger = logging.getLogger(LOGGER)
    unknown = fields.keys() - FIELDS
    if unknown:
        raise ValueError(f"not fields of the log: {sorted(unknown)}")
    if logger.isEnabledFor(level):
        kept = {name: _short(value) for name, value in fields.items() if value is not None}
        logger.log(level, json.dumps({"event": event, **kept}))


def write_defect(error: BaseException) -> None:
    """Write that something of ours failed: the kind of error and where, never its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else "unknown"
    write("defect", level=logging.ERROR, error=type(error).__name__, place=place)


class WithoutTraceback(logging.Filter):
    """Lets a foreign line pass without the exception it carries, and without what was filled into it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Strip the record."""
        if record.exc_info is not None and record.exc_info[0] is not None:
            record.msg, record.args = (
                "%s (%s)",
                (str(record.msg).strip().split("\n", 1)[0], record.exc_info[0].__name__),
            )
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def strip_foreign_loggers() -> None:
    """Make the libraries' loggers keep exceptions' texts to themselves."""
    # One by one, because a logger's filter does not see what its children log.
    for name in [*_FOREIGN, *(known for known in logging.root.manager.loggerDict if known.split(".")[0] in _FOREIGN)]:
        logger = logging.getLogger(name)
        if not any(isinstance(present, WithoutTraceback) for present in logger.filters):
            logger.addFilter(WithoutTraceback())


def _short(value: str | int | float | None) -> str | int | float | None:
    return value[:_LONGEST_VALUE] if isinstance(value, str) else value
