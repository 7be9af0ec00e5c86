"""The composition root: the only place that knows everyone. It puts the program together and starts it."""

from __future__ import annotations

import os
from pathlib import Path

from app.runtime import LocalRuntime
from app.transports.cli import create_cli

# Relative settings such as CHATCTX_HOME start from the checkout or image, wherever the command was called from.
BASE = Path(__file__).resolve().parents[1]


def main() -> None:
    """Run the `chatctx` command."""
    create_cli(LocalRuntime(os.environ, BASE))(prog_name="chatctx")


if __name__ == "__main__":
    main()
