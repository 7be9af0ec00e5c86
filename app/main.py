"""The composition root: the only place that knows everyone. It puts the program together and starts it."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

# Relative settings such as CHATCTX_HOME start from the checkout or image, wherever the command was called from.
BASE = Path(__file__).resolve().parents[1]
_INTERRUPTED = 130
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def main() -> None:
    """Run the `chatctx` command."""
    try:
        # Here, because loading takes long enough for somebody to press Ctrl-C.
        from app.runtime import LocalRuntime  # noqa: PLC0415
        from app.transports.cli import create_cli  # noqa: PLC0415

        create_cli(LocalRuntime(os.environ, BASE))(prog_name="chatctx")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        sys.stderr.write(f"cannot write the output: {error.strerror}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
