"""A publish in a process of its own, killed at a step: `python -m tests.acceptance.outage_publish OWNER_URL [STEP]`."""

from __future__ import annotations

import os
import signal
import sys

from app.store.engine import owner_engine
from app.store.publishing import replace_published
from bench.ledgers import ledger_for
from tests.core.records import make_record
from tests.databases import approved
from tests.fakes import HashingEmbedder

STEPS = ("records", "vectors", "index", "words")
SLUGS = ("first-record", "second-record")


def main() -> None:
    owner, step = owner_engine(sys.argv[1]), (sys.argv[2] if len(sys.argv) > 2 else None)
    embedder = HashingEmbedder()
    inputs = [approved(make_record(slug), embedder=embedder) for slug in SLUGS]

    def die(name: str, _done: int, _total: int) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    replace_published(
        owner,
        inputs,
        model=embedder.model,
        ledger=ledger_for(owner, inputs),
        demo=True,
        progress=die,
        index_from_rows=1,
    )


if __name__ == "__main__":
    main()
