"""A thread that brings a crashed server back."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from app.errors import ClusterError

_LOG = logging.getLogger("chatctx.cluster")
_PERIOD = 0.25
# Whoever makes room on a full disk should not have to wait for us as well; a failed start takes half a second of work.
_LONGEST_PAUSE = 2.0


class Watch:
    """Looks after the server until told to stop. A failed attempt is reported and tried again."""

    def __init__(self, is_well: Callable[[], bool], revive: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            is_well: tells, cheaply, whether the server runs.
            revive: brings it back; raises ClusterError when that fails.
        """
        self._is_well = is_well
        self._revive = revive
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._over.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        pause = _PERIOD
        while not self._over.wait(pause):
            pause = self._look(pause)

    def _look(self, pause: float) -> float:
        """Look once; return how long to wait before the next look."""
        try:
            if self._is_well():
                return _PERIOD
            _LOG.warning("PostgreSQL is gone: starting it again")
            self._revive()
        except (ClusterError, OSError) as error:
            _LOG.error("PostgreSQL could not be started again: %s", error)
            return min(pause * 2, _LONGEST_PAUSE)
        _LOG.warning("PostgreSQL runs again")
        return _PERIOD
