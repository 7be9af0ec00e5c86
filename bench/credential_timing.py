"""Whether the time a refusal takes tells an unknown key from a known one of a wrong secret.

    .venv/bin/python -m bench.credential_timing [--pairs 20000] [--stored 200]

Asks the product's own check, on a scratch PostgreSQL, for as many keys of each kind, one of each in a random order, and
prints how far the two medians are apart and how likely two samples of one distribution would differ as much (two-sample
Kolmogorov-Smirnov). Every key is presented once, so that none is answered from memory.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.access import Access, PepperRing, new_key
from app.access.keys import CHECKSUM_LENGTH, ApiKey, checksum, mint_key, parse_key
from app.errors import Unauthorized
from app.runtime import SystemClock
from app.settings import Settings
from app.store.access import KeyRing, PostgresAccessStore
from bench.corpus import scratch_engines

KINDS = ("unknown", "wrong secret")
# Connections and caches are warm before anything is timed.
_WARM_UP = 500
_TERMS = 100

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """How two samples of times, in seconds, compare.

    Attributes:
        medians: of the one and of the other.
        distance: largest difference between their cumulative distributions.
        p: how likely it would be as large if both were of one distribution.
    """

    medians: tuple[float, float]
    distance: float
    p: float

    @property
    def difference(self) -> float:
        """Return how far the medians are apart, as a share of the first."""
        return abs(self.medians[1] - self.medians[0]) / self.medians[0]


def compare(one: Times, other: Times) -> Comparison:
    """Compare two samples."""
    distance = _distance(np.sort(one), np.sort(other))
    effective = one.size * other.size / (one.size + other.size)
    return Comparison((float(np.median(one)), float(np.median(other))), distance, _likelihood(distance, effective))


def measure(access: Access, stored: list[str], pairs: int) -> tuple[Times, Times]:
    """Time refusals of both kinds, in pairs whose order is drawn.

    Args:
        stored: ids of keys that exist, to be presented with other secrets.
    """
    order = random.Random(0)  # noqa: S311 - repeatable, and nobody's secret
    times = np.empty((len(KINDS), pairs))
    # What is collected in the middle of one call would be counted against it.
    gc.collect()
    gc.disable()
    try:
        for pair in range(-_WARM_UP, pairs):
            keys = (mint_key(), _impostor(stored[pair % len(stored)]))
            for kind in order.sample(range(len(KINDS)), len(KINDS)):
                seconds = _refuse(access, keys[kind])
                if pair >= 0:
                    times[kind, pair] = seconds
    finally:
        gc.enable()
    return times[0], times[1]


@contextmanager
def a_desk(number: int) -> Iterator[tuple[Access, list[str]]]:
    """Lend the product's check over a database of its own, and the ids of the keys that are stored there."""
    peppers = PepperRing({"p1": secrets.token_bytes(32)})
    with scratch_engines() as (owner, server):
        keys = [new_key(peppers) for _ in range(number)]
        for key in keys:
            KeyRing(owner).add(key.key_id, key.mac, key.pepper_id, "stored", None)
        access = Access(PostgresAccessStore(server), peppers, Settings(home=Path("unused")), SystemClock())
        yield access, [key.key_id for key in keys]


def _impostor(key_id: str) -> ApiKey:
    """Return a well-formed key with an id that exists and a secret that is not its own."""
    body = f"kb_live_{key_id}_{mint_key().text.rsplit('_', 1)[1][:-CHECKSUM_LENGTH]}"
    key = parse_key(body + checksum(body))
    assert key is not None
    return key


def _refuse(access: Access, key: ApiKey) -> float:
    started = time.perf_counter()
    try:
        access.identify(key, "192.0.2.1")
    except Unauthorized:
        return time.perf_counter() - started
    raise AssertionError("a bad key was let in")


def _distance(one: Times, other: Times) -> float:
    every = np.concatenate([one, other])
    shares = [np.searchsorted(sample, every, side="right") / sample.size for sample in (one, other)]
    return float(np.max(np.abs(shares[0] - shares[1])))


def _likelihood(distance: float, effective: float) -> float:
    """Return the chance of a distance as large, by Kolmogorov's limit distribution."""
    scaled = (math.sqrt(effective) + 0.12 + 0.11 / math.sqrt(effective)) * distance
    signs = (1 if term % 2 else -1 for term in range(1, _TERMS))
    terms = (math.exp(-2 * (term * scaled) ** 2) for term in range(1, _TERMS))
    return min(max(2 * sum(sign * value for sign, value in zip(signs, terms, strict=True)), 0.0), 1.0)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--pairs", type=int, default=20_000)
    options.add_argument("--stored", type=int, default=200)
    given = options.parse_args()
    with a_desk(given.stored) as (access, stored):
        found = compare(*measure(access, stored, given.pairs))
    for kind, median in zip(KINDS, found.medians, strict=True):
        print(f"{kind}: median {median * 1e6:.1f} microseconds")
    print(f"medians differ by {found.difference:.2%}")
    print(f"Kolmogorov-Smirnov: distance {found.distance:.4f}, p = {found.p:.3f}, of {given.pairs} each")


if __name__ == "__main__":
    main()
