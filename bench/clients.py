"""The table of docs/clients.md: `python -m bench.clients [--write]` lets every client connect, ask and be refused.

Clients that are not installed yet are fetched first, the large agents among them: about 600 MB. Without --write the
table is printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from bench.blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests/clients/test_matrix.py"
DOCUMENT = ROOT / "docs/clients.md"
COLUMNS = {
    "speaks": "speaks",
    "requests": "requests to connect, list the tools and make three calls",
    "at 401": "shows for a revoked key",
    "at 429": "shows when the day's calls are used up",
}


def measure() -> tuple[int, dict[str, dict[str, str]]]:
    """Run the tests; return pytest's exit code and what each client recorded, in the order of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            str(TESTS),
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",
        ]
        done = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "CI": "true"})  # noqa: S603 - our own tests
        return done.returncode, recorded(ET.parse(report).iter("testcase"))  # noqa: S314 - pytest wrote it a moment ago


def recorded(cases: Iterable[ET.Element]) -> dict[str, dict[str, str]]:
    """Return what the tests recorded, by client; a client of which nothing is known is left out."""
    clients: dict[str, dict[str, str]] = {}
    for case in cases:
        told = {entry.get("name", ""): entry.get("value", "") for entry in case.iter("property")}
        if "client" in told:
            clients.setdefault(told.pop("client"), {}).update(told)
    return clients


def table(clients: Mapping[str, Mapping[str, str]]) -> str:
    """Return the clients as a Markdown table."""
    rows = [
        f"| {name} | " + " | ".join(told.get(key, "not run") for key in COLUMNS) + " |"
        for name, told in clients.items()
    ]
    return "\n".join(["| client | " + " | ".join(COLUMNS.values()) + " |", "|---" * (len(COLUMNS) + 1) + "|", *rows])


def main() -> int:
    """Measure, and print or write the table; the exit code is pytest's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/clients.md")
    options = parser.parse_args()
    code, clients = measure()
    if options.write and code == 0:
        write_block("matrix", table(clients), DOCUMENT, kind="clients")
    else:
        print(table(clients))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
