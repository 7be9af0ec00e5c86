"""Progress: what is being done in plain words, and a number only once there is one."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_bar_counts_only_once_it_knows_how_much_there_is():
    """No question mark before; the name of a step takes the place of the title."""
    code = (
        "import time\n"
        "from review.screen import progress_bar\n"
        "with progress_bar('checking') as bar:\n"
        "    time.sleep(0.3)\n"
        "    bar(2, 9)\n"
        "    time.sleep(0.3)\n"
        "    bar.step('records', 3, 9)\n"
        "    time.sleep(0.3)\n"
    )
    leader, follower = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stderr=follower, cwd=ROOT, env={"TERM": "xterm"}) as process:
        os.close(follower)
        output = b""
        # The kernel reports the other end's leaving as an error.
        with contextlib.suppress(OSError):
            while block := os.read(leader, 4096):
                output += block
        assert process.wait(30) == 0
    os.close(leader)
    assert b"checking" in output
    assert b"2/9" in output
    assert b"records" in output
    assert b"3/9" in output
    assert b"?" not in output.replace(b"\x1b[?25l", b"").replace(b"\x1b[?25h", b"")
