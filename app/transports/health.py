"""/livez: the event loop turns. /readyz: what the server needs is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import ClassVar

from app.errors import Unavailable
from app.transports import eventlog
from app.transports.replies import RETRY_SECONDS, Reply, json_reply
from app.transports.slots import Slots

FRESH_SECONDS = 1.0
_LONGEST_CHECK = 2.0


class Health:
    """Answers the two health paths.

    Liveness asks nobody: a server must not be restarted because its database is away.
    """

    PATHS: ClassVar[frozenset[str]] = frozenset({"/livez", "/readyz"})

    def __init__(self, ready: Callable[[], Mapping[str, bool]], stop: asyncio.Event) -> None:
        self._ready = ready
        self._stop = stop
        self._slots = Slots("ready", 1, longest_work=_LONGEST_CHECK, longest_wait=_LONGEST_CHECK)
        self._last: tuple[float, Mapping[str, bool]] | None = None

    def close(self) -> None:
        """Let the worker thread go."""
        self._slots.close()

    async def answer(self, path: str) -> Reply:
        """Return 200 or, when not ready, 503 with what is missing."""
        if path == "/livez":
            return json_reply(200, {"alive": True})
        checks = {"serving": False} if self._stop.is_set() else await self._checked()
        if all(checks.values()):
            return json_reply(200, {"ready": True, "checks": dict(checks)})
        return json_reply(503, {"ready": False, "checks": dict(checks)}).plus(
            [(b"retry-after", str(RETRY_SECONDS).encode())]
        )

    async def _checked(self) -> Mapping[str, bool]:
        loop = asyncio.get_running_loop()
        try:
            with await self._slots.take("ready", 1) as slot:
                # Looked at behind the slot: whoever waited finds what the one before has learnt.
                if self._last is None or loop.time() - self._last[0] > FRESH_SECONDS:
                    self._last = (loop.time(), await slot.run(self._ready))
                return self._last[1]
        except Unavailable:
            return {"checked": False}
        except Exception as error:  # noqa: BLE001 - whatever it is, the server is not ready
            eventlog.write_defect(error)
            return {"checked": False}
