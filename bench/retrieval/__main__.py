"""How well the right document is found.

    .venv/bin/python -m bench.retrieval [--set scifact|docsmcp|own ...] [--data FOLDER] [--write]

Each set is published into a scratch database and searched by the product's own code, and by what one would use
instead. Prints a table per set. The first run embeds every document, which takes about forty minutes on one core; the
vectors are kept in `.cache/bench/`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.blocks import write_block
from bench.corpus import ROOT
from bench.retrieval.report import Report, as_markdown
from bench.retrieval.runs import RUNS
from bench.retrieval.sets import MissingData

DATA = ROOT.parent / "shared/data"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--write` put it into docs/retrieval.md; return the exit status."""
    chosen = _parser().parse_args(arguments)
    reports: list[Report] = []
    for name in chosen.sets or RUNS:
        try:
            measured = RUNS[name](chosen.data)
        except MissingData as missing:
            sys.stderr.write(f"{missing}\n")
            return 1
        for report in measured:
            print(f"### {report.collection.name}\n\n{as_markdown(report)}\n", flush=True)
        reports += measured
    if chosen.write:
        _write(reports)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", dest="sets", action="append", choices=list(RUNS), help="default: all; may be repeated")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public sets, default: %(default)s")
    parser.add_argument(
        "--write", action="store_true", help="renew docs/retrieval.md, and its plot if all was measured"
    )
    return parser


def _write(reports: Sequence[Report]) -> None:
    for report in reports:
        write_block(report.block, as_markdown(report))
    if len({report.collection.name.partition("-")[0] for report in reports}) == len(RUNS):
        from bench.retrieval.plot import draw  # noqa: PLC0415 - matplotlib is needed for nothing else

        draw(reports)
    else:
        sys.stderr.write("docs/retrieval/ranking.svg shows all sets, and was left as it is.\n")


if __name__ == "__main__":
    sys.exit(main())
