"""The server's own log: one JSON object a line, of listed fields only: no question, address or key gets in."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Mapping

LOGGER = "chatctx"
UNFIT = "unfit"
_LONGEST_NOTE = 2000
_WORD = re.compile(r"[a-z][a-z_]{0,39}")
# What each field may hold: text of a form, or a number up to a limit. Anything else is a mistake in this program: a new
# field must be weighed for what it could tell about a caller.
FIELDS: Mapping[str, re.Pattern[str] | int] = {
    "event": _WORD,
    "http": re.compile(r"[A-Z-]{1,20}"),
    "method": re.compile(r"[a-zA-Z/]{1,40}"),
    "status": 599,
    "ms": 86_400_000,
    "tool": _WORD,
    "mode": _WORD,
    "era": re.compile(r"\d{4}-\d\d-\d\d|other"),
    "reason": re.compile(r"[a-z][a-z_]{0,39}|rpc-?\d{1,6}"),
    "error": re.compile(r"[A-Za-z_]\w{0,79}", re.ASCII),
    "place": re.compile(r"[\w.<>-]{1,80}:\d{1,6}|unknown", re.ASCII),
    "port": 65_535,
    "level": _WORD,
    "source": re.compile(r"[\w.-]{1,80}", re.ASCII),
    # Words of ours, and of libraries without what they fill into them.
    "text": re.compile(rf".{{0,{_LONGEST_NOTE}}}", re.DOTALL),
}
_OURS = ("app", LOGGER)
# Their messages can carry request text inside exceptions and tracebacks.
_FOREIGN = ("mcp", "mcp_types", "uvicorn", "asyncio", "anyio", "concurrent")


def write(event: str, *, level: int = logging.INFO, **fields: str | int | float | None) -> None:
    """Write a line. Fields without a value are left out; a value that its field may not hold is called unfit.

    Raises:
        ValueError: a field is not on the list.
    """
    logger = logging.getLogger(LOGGER)
    line = _line({"event": event, **fields})
    if logger.isEnabledFor(level):
        logger.log(level, line)


def write_defect(error: BaseException) -> None:
    """Write that something of ours failed: the kind of error and where, never its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else "unknown"
    write("defect", level=logging.ERROR, error=type(error).__name__, place=place)


class LineFormatter(logging.Formatter):
    """Makes every record one line of the same form, whoever wrote it.

    What is not an event becomes a note. Line ends and escape sequences in it are escaped by JSON, tracebacks are left
    out, and so is whatever a library filled into its words: that may come from a caller.
    """

    def __init__(self) -> None:
        super().__init__()
        self._second = (0, "")

    def format(self, record: logging.LogRecord) -> str:
        """Return the moment and a JSON object."""
        return f"{self._moment(record)} {record.getMessage() if record.name == LOGGER else self._note(record)}"

    def _moment(self, record: logging.LogRecord) -> str:
        """Return what formatTime does; it spells the date once a second, not once a line."""
        second, text = self._second
        if second != int(record.created):
            second, text = self._second = int(record.created), self.formatTime(record, self.default_time_format)
        return f"{text},{int(record.msecs):03d}"

    @staticmethod
    def _note(record: logging.LogRecord) -> str:
        ours = record.name.split(".")[0] in _OURS
        failure = record.exc_info[0] if record.exc_info else None
        return _line(
            {
                "event": "note",
                "level": record.levelname.lower(),
                "source": record.name,
                "text": (record.getMessage() if ours else str(record.msg))[:_LONGEST_NOTE],
                "error": failure.__name__ if failure else None,
            }
        )


class WithoutTraceback(logging.Filter):
    """Lets a foreign line pass without the exception it carries, and without what was filled into it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Strip the record."""
        words = str(record.msg).strip().split("\n", 1)[0]
        failure = record.exc_info[0] if record.exc_info else None
        record.msg, record.args = (f"{words} ({failure.__name__})" if failure else words), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def start(level: str) -> None:
    """Log to stderr from now on, so that what a person is told stays readable; of libraries, only what is wrong."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(LineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[lines])
    logging.getLogger(LOGGER).setLevel(level.upper())
    # No line tells any of this, and finding it out takes longer than writing the line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001 - the switch that Python's own documentation names for it


def strip_foreign_loggers() -> None:
    """Make the libraries' loggers keep exceptions' texts to themselves."""
    # One by one, because a logger's filter does not see what its children log.
    for name in [*_FOREIGN, *(known for known in logging.root.manager.loggerDict if known.split(".")[0] in _FOREIGN)]:
        logger = logging.getLogger(name)
        if not any(isinstance(present, WithoutTraceback) for present in logger.filters):
            logger.addFilter(WithoutTraceback())


def _line(fields: Mapping[str, str | int | float | None]) -> str:
    unknown = fields.keys() - FIELDS.keys()
    if unknown:
        raise ValueError(f"not fields of the log: {sorted(unknown)}")
    return json.dumps({name: _fit(name, value) for name, value in fields.items() if value is not None})


def _fit(name: str, value: str | int | float) -> str | int | float:
    shape = FIELDS[name]
    if isinstance(shape, int):
        return value if not isinstance(value, str) and 0 <= value <= shape else UNFIT
    return value if isinstance(value, str) and shape.fullmatch(value) else UNFIT
