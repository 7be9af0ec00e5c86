"""What the gate that every record must pass refuses, and what it lets through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from bench.safety import BENIGN, FOLDERS, Tally, classes, decoded, half_of, lines_of, measure, shipped_errors
from review.hidden import hidden_characters

Measured = dict[str, dict[str, Tally]]
Record = Callable[[str, object], None]

# The classes as a reader thinks of them, of the files in tests/gates/safety.
CLASSES = {
    "hidden characters": ("hidden",),
    "look-alike letters and hosts": ("lookalike",),
    "role and protocol markers": ("markers",),
    "links": ("links",),
    "HTML and Markdown": ("markup",),
    "instructions": ("addressed", "behaviour", "languages", "orders", "override", "reported", "secrecy"),
    "tool-call bait": ("permission", "toolbait"),
    "install and run": ("download", "encoded", "install", "installrun"),
    "secrets and data": ("exfiltration", "secrets"),
    "opaque runs": ("opaque",),
    "destruction": ("danger", "ruin"),
}
BY_FORM = tuple(CLASSES)[:5]
LEAST_BY_WORDING = 0.95
MOST_FALSE_ALARMS = 0.02
# Refused when the work on the gate ended. Not thresholds of anybody's choice: a lower number is a step back.
HELD_OUT = {
    "test": {
        "danger": 19, "hidden": 25, "installrun": 28, "links": 32, "lookalike": 32, "markers": 26, "markup": 39,
        "opaque": 30, "orders": 29, "secrets": 24, "toolbait": 30,
    },
    "after": {"installrun": 4, "orders": 1, "secrets": 3, "toolbait": 4},
}  # fmt: skip
MADE_TO_EVADE = {"reworded": 95, "later": 58}


@pytest.fixture(scope="module")
def measured() -> Measured:
    """Every line of every set, asked once."""
    return {name: measure(name) for name in FOLDERS}


def refused_of(measured: Measured, kinds: tuple[str, ...], *names: str) -> tuple[int, int]:
    """Return how many lines of some classes were refused, of how many, over some sets."""
    tallies = [measured[name][kind] for name in names for kind in kinds if kind in measured[name]]
    return sum(len(found.refused) for found in tallies), sum(found.lines for found in tallies)


def as_figure(counts: dict[str, tuple[int, int]]) -> str:
    """Return counts for a reader: `links 46 of 46, ...`."""
    return ", ".join(f"{name} {refused} of {lines}" for name, (refused, lines) in counts.items())


def test_t38_attacks_known_while_the_gate_was_made_are_refused(measured: Measured, record_property: Record):
    """A record with an attack the gate was made with is refused: each with a form of its own, 95 % by wording.

    Shows that nothing is lost again. What happens to an attack nobody has seen, the next test shows.
    """
    counts = {name: refused_of(measured, kinds, "known", "dev") for name, kinds in CLASSES.items()}
    record_property("figure", as_figure(counts))
    for name, (refused, lines) in counts.items():
        least = 1 if name in BY_FORM else LEAST_BY_WORDING
        assert refused / lines >= least, name


def test_t38_attacks_kept_apart_are_refused_as_often_as_was_published(measured: Measured, record_property: Record):
    """Of attacks the gate was not made with, as many are refused as docs/gates.md says; no share is promised.

    `test` is the other half of the collection the gate was improved on, by the same author; `after` was written
    when that was done; `reworded` and `later` were made to get past the patterns of their day.
    """
    halves = {name: refused_of(measured, kinds, "test") for name, kinds in CLASSES.items()}
    after = {f"{kind} written afterwards": refused_of(measured, (kind,), "after") for kind in HELD_OUT["after"]}
    evading = {f"{kind} to evade": refused_of(measured, (kind,), "known") for kind in MADE_TO_EVADE}
    record_property("figure", as_figure({name: count for name, count in halves.items() if count[1]} | after | evading))
    floors = [(name, *one) for name, kinds in HELD_OUT.items() for one in kinds.items()]
    for name, kind, least in (*floors, *(("known", *one) for one in MADE_TO_EVADE.items())):
        assert len(measured[name][kind].refused) >= least, (name, kind)


def test_t38_ordinary_documentation_is_let_through(measured: Measured, record_property: Record):
    """Of ordinary documentation, also on secrets, agents and deletion, at most 2 % is refused, none as hidden."""
    refused, lines = refused_of(measured, (BENIGN,), *FOLDERS)
    record_property("figure", f"{refused} of {lines} sentences refused")
    sentences = [decoded(line) for name in FOLDERS for line in lines_of(classes(name)[BENIGN])]
    assert not [text for text in sentences if list(hidden_characters(text))]
    assert refused / lines <= MOST_FALSE_ALARMS


def test_t38_no_shipped_record_is_refused(record_property: Record):
    """Every record that is shipped passes the safety gate without an error."""
    refused = shipped_errors()
    record_property("figure", f"{len(refused)} refused")
    assert refused == []


def test_t38_the_collection_is_large_enough_and_fairly_halved(measured: Measured, record_property: Record):
    """The gate is measured on at least 300 attacks, 30 in each of 11 classes, and 500 sentences of documentation."""
    sizes = {name: refused_of(measured, kinds, *FOLDERS)[1] for name, kinds in CLASSES.items()}
    benign = refused_of(measured, (BENIGN,), *FOLDERS)[1]
    record_property(
        "figure", f"{sum(sizes.values())} attacks, at least {min(sizes.values())} a class, {benign} sentences"
    )
    assert min(sizes.values()) >= 30
    assert sum(sizes.values()) >= 300
    assert benign >= 500
    written = Counter(line for name in FOLDERS for path in classes(name).values() for line in lines_of(path))
    assert max(written.values()) == 1
    for name in ("dev", "test"):
        assert all(half_of(line) == name for path in classes(name).values() for line in lines_of(path))
