"""Looking for any part of any key in whatever is left after keys were made and used."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

# So many characters of a secret in a row occur nowhere by chance: 62 ** 16 is above 2 ** 95.
TELLING = 16


def traces(key: str) -> Iterator[str]:
    """Yield what any part of a key's secret looks like, as it is and in the encodings that logs and dumps use."""
    secret = key.rsplit("_", 1)[1]
    for place in range(len(secret) - TELLING + 1):
        yield secret[place : place + TELLING]
    yield secret[:TELLING].encode().hex()
    for shift in range(3):
        encoded = base64.b64encode(secret[shift : TELLING + shift].encode()).decode()
        yield encoded[: TELLING * 4 // 3 - 1]


def files_with_a_trace(keys: Sequence[str], places: Sequence[Path], scratch: Path) -> list[str]:
    """Return the files, below the places, that hold a part of a secret; by grep, which reads whatever they are."""
    patterns = scratch / "patterns"
    patterns.write_text("\n".join(trace for key in keys for trace in traces(key)), "ascii")
    command = ["grep", "-r", "-l", "-a", "-F", "-f", str(patterns), *map(str, places)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    assert found.returncode in (0, 1), found.stderr
    return found.stdout.splitlines()


def size_of(places: Sequence[Path]) -> int:
    """Return how many bytes all files below the places hold."""
    return sum(path.stat().st_size for place in places for path in [place, *place.rglob("*")] if path.is_file())
