"""Does a record hold for the technologies and versions the caller works with, and which constraint decided?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.contract import Applicability
from app.record import AppliesTo
from app.rivals import rivals
from app.technologies import canonical_name, foundations, technology_key, version_under
from app.versions import Verdict, judge_version, shown_version

_BY_VERDICT = {
    Verdict.SATISFIED: Applicability.APPLIES,
    Verdict.VIOLATED: Applicability.DOES_NOT_APPLY,
    Verdict.UNKNOWN: Applicability.VERSION_UNKNOWN,
}


@dataclass(frozen=True)
class Stack:
    """What the caller works with: each technology's key, in the order named, with its version where one was given."""

    versions: Mapping[str, str | None]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the technologies named."""
        return frozenset(self.versions)

    @cached_property
    def reach(self) -> frozenset[str]:
        """Keys of the technologies named and of everything they are built on: whose guidance can hold."""
        return self.keys.union(*(foundations(key) for key in self.versions))

    @property
    def names(self) -> tuple[str, ...]:
        """Canonical names of the technologies we know; what a caller invented is not repeated."""
        return tuple(name for key in self.versions if (name := canonical_name(key)))


@dataclass(frozen=True)
class Finding:
    """What is known about one technology the caller named."""

    technology: str
    version: str | None
    verdict: Applicability
    constraint: str | None


@dataclass(frozen=True)
class Judgement:
    """All findings about one record.

    Attributes:
        rival: the record is about what one uses instead of a technology the caller named.
    """

    findings: tuple[Finding, ...]
    rival: bool = False

    @property
    def violated(self) -> bool:
        """A version the caller named is known not to satisfy the record's constraint."""
        return any(finding.verdict is Applicability.DOES_NOT_APPLY for finding in self.findings)

    @property
    def elsewhere(self) -> bool:
        """The record is about technologies, and about none of those that the caller named, whatever the version."""
        return bool(self.findings) and all(finding.verdict is Applicability.NOT_ABOUT for finding in self.findings)

    def best(self) -> Applicability | None:
        """Return the most favourable verdict, None when the caller named no technology."""
        return min((finding.verdict for finding in self.findings), key=_FAVOUR.index, default=None)


_FAVOUR = (
    Applicability.APPLIES,
    Applicability.VERSION_UNKNOWN,
    Applicability.BUILT_ON,
    Applicability.TECHNOLOGY_AGNOSTIC,
    Applicability.NOT_ABOUT,
    Applicability.DOES_NOT_APPLY,
)


def read_stack(technologies: Sequence[str], versions: Mapping[str, str]) -> Stack:
    """Reduce what the caller wrote to keys; naming a version names the technology too.

    A version that stands in a name ("Python 3.11") holds where `versions` gives none.
    """
    named, given = _gather((name, "") for name in technologies), _gather(versions.items())
    said = named | {key: found or named.get(key, {}) for key, found in given.items()}
    # One technology under several names has all of their versions: what is true of each is certain.
    return Stack({key: " || ".join(found) or None for key, found in said.items() if key})


def _gather(named: Iterable[tuple[str, str]]) -> dict[str, dict[str, None]]:
    """Return the distinct versions of each technology by its key, in the order named."""
    found: dict[str, dict[str, None]] = {}
    for name, version in named:
        meant = found.setdefault(technology_key(name), {})
        if own := version_under(name, version):
            meant[own] = None
    return found


def join_stacks(named: Stack, mentioned: Sequence[str]) -> Stack:
    """Return a stack with the technologies that a question mentions besides those the caller named."""
    return Stack({**dict.fromkeys(mentioned), **named.versions})


def judge_applicability(applies_to: Sequence[AppliesTo], stack: Stack) -> Judgement:
    """Judge a record's scope against the caller's stack, technology by technology."""
    findings = (_judge_one(applies_to, key, version, stack) for key, version in stack.versions.items())
    about = frozenset(technology_key(entry.name) for entry in applies_to)
    rival = any(rivals(key) & stack.reach for key in about.union(*map(foundations, about)))
    # Technologies we do not know all look alike, and once is enough.
    return Judgement(tuple(dict.fromkeys(findings)), rival)


def _judge_one(applies_to: Sequence[AppliesTo], key: str, version: str | None, stack: Stack) -> Finding:
    entries = {technology_key(entry.name): entry for entry in applies_to}
    if key in entries:
        return _judge_named(entries[key], version)
    name = canonical_name(key) or "other technology"
    base = next((entry for of, entry in entries.items() if of in foundations(key) and of not in stack.versions), None)
    if base is not None:
        return Finding(name, None, Applicability.BUILT_ON, base.version_constraint)
    if any(of in foundations(key) for of in entries):
        return Finding(name, None, Applicability.BUILT_ON, None)
    verdict = Applicability.NOT_ABOUT if entries else Applicability.TECHNOLOGY_AGNOSTIC
    return Finding(name, None, verdict, None)


def _judge_named(entry: AppliesTo, version: str | None) -> Finding:
    if entry.version_constraint is None or entry.scheme is None:
        return Finding(entry.name, None, Applicability.APPLIES, None)
    if version is None:
        return Finding(entry.name, None, Applicability.VERSION_UNKNOWN, entry.version_constraint)
    verdict = _BY_VERDICT[judge_version(version, entry.version_constraint, entry.scheme)]
    shown = shown_version(version) if verdict is not Applicability.VERSION_UNKNOWN else None
    return Finding(entry.name, shown, verdict, entry.version_constraint)
