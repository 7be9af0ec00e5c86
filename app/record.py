"""A record: one approved engineering decision with its scope, its limits and its evidence."""

from __future__ import annotations

import hashlib
import re
import uuid
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Self

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from app.technologies import canonical_name
from app.versions import InvalidConstraint, Scheme, check_constraint

# Fixed for ever: a record's id is derived from its slug, so that it is the same in every database.
_NAMESPACE = uuid.UUID("7a3ce6a8-6c3c-5e0f-9d8e-2f1b9f5d1c70")
_HASH_DOMAIN = b"chatctx-record-v1\0"

SLUG_PATTERN = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
CHECK_FILE_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,60}\.(?:py|sql|mjs|js|sh)$"
# Exact versions only, parted by single spaces: nothing in it can be taken for an option or a path.
_PYTHON_PIN = r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!_-]*"
_NPM_PIN = r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@[0-9]+\.[0-9]+\.[0-9]+(?:-[A-Za-z0-9.-]+)?"


class Topic(StrEnum):
    """What kind of decision a record is about; also its folder."""

    ARCHITECTURE = "architecture"
    IMPLEMENTATION = "implementation"
    SECURITY = "security"
    ACCESSIBILITY = "accessibility"
    UX = "ux"
    RELIABILITY = "reliability"
    TESTING = "testing"
    PERFORMANCE = "performance"
    DATA = "data"
    OBSERVABILITY = "observability"
    TOOLING = "tooling"


class TaskType(StrEnum):
    """What the agent is doing when it asks."""

    BUILD = "build"
    ARCHITECTURE = "architecture"
    DEBUG = "debug"
    SECURITY = "security"
    ACCESSIBILITY = "accessibility"
    PERFORMANCE = "performance"
    TESTING = "testing"
    REVIEW = "review"
    OTHER = "other"


class Confidence(StrEnum):
    """How sure the owner is that the advice is right within its conditions."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Kind(StrEnum):
    """What sort of thing a record applies to."""

    LANGUAGE = "language"
    FRAMEWORK = "framework"
    LIBRARY = "library"
    TOOL = "tool"
    PLATFORM = "platform"
    STANDARD = "standard"


class Authority(StrEnum):
    """Whose word a source is: the vendor's or standard's own, or somebody else's."""

    PRIMARY = "primary"
    SECONDARY = "secondary"


class Relation(StrEnum):
    """What a source does for the recommendation."""

    SUPPORTS = "supports"
    DEFINES = "defines"
    QUALIFIES = "qualifies"
    CONTRADICTS = "contradicts"


class EvidenceKind(StrEnum):
    """Whether an excerpt is our statement of what the source says, or its own words."""

    PARAPHRASE = "paraphrase"
    QUOTE = "quote"


class Runner(StrEnum):
    """What executes a check."""

    PYTHON = "python"
    NODE = "node"
    SQL = "sql"
    SHELL = "shell"


class Needed(StrEnum):
    """A program that a check may ask for besides what executes it."""

    CHROMIUM = "chromium"
    CURL = "curl"
    GIT = "git"
    HADOLINT = "hadolint"
    NGINX = "nginx"
    NODE = "node"
    OPENSSL = "openssl"
    PYTHON3 = "python3"
    SHELLCHECK = "shellcheck"


_PINS = {Runner.PYTHON: _PYTHON_PIN, Runner.NODE: _NPM_PIN}
_NEWER = frozenset(("packages", "needs"))


def _text(low: int, high: int, pattern: str | None = None) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=low, max_length=high, pattern=pattern)


# Short enough that a record can be named, with its first words, inside the smallest token budget.
SLUG_MAX_CHARACTERS = 64
Slug = Annotated[str, _text(3, SLUG_MAX_CHARACTERS, SLUG_PATTERN)]
Bullet = Annotated[str, _text(20, 240)]
ScopeBullet = Annotated[str, _text(15, 200)]
CheckFile = Annotated[str, _text(4, 64, CHECK_FILE_PATTERN)]
Pins = Annotated[str, _text(5, 200)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AppliesTo(_Frozen):
    """A technology the record is about, and the versions for which it holds."""

    kind: Kind
    name: Annotated[str, _text(1, 80)]
    version_constraint: Annotated[str, _text(1, 80)] | None = None
    scheme: Scheme | None = None

    @field_validator("name")
    @classmethod
    def _is_canonical(cls, name: str) -> str:
        known = canonical_name(name)
        if known is None:
            raise ValueError("unknown technology: add it to app/technologies.py or use its canonical name")
        if known != name:
            raise ValueError(f"write the canonical name {known!r}")
        return name

    @model_validator(mode="after")
    def _constraint_has_scheme(self) -> Self:
        if (self.version_constraint is None) != (self.scheme is None):
            raise ValueError("version_constraint and scheme are given together or not at all")
        if self.version_constraint and self.scheme:
            try:
                check_constraint(self.version_constraint, self.scheme)
            except InvalidConstraint as error:
                raise ValueError(f"version_constraint is {error}") from error
        return self


class Source(_Frozen):
    """Where the claim can be read, and what it says there."""

    title: Annotated[str, _text(3, 160)]
    url: Annotated[str, _text(12, 300, r"^https://[^\s@]+$")]
    publisher: Annotated[str, _text(2, 80)]
    licence: Annotated[str, _text(2, 60, r"^[A-Za-z0-9][A-Za-z0-9.+-]*(?: (?:OR|AND) [A-Za-z0-9.+-]+)*$")]
    authority: Authority
    relation: Relation
    locator: Annotated[str, _text(1, 160)]
    retrieved: date
    evidence_kind: EvidenceKind
    evidence_excerpt: Annotated[str, _text(20, 300)]


class Check(_Frozen):
    """A runnable proof: `right` must succeed; `wrong`, where given, must fail and show what the record warns of.

    Attributes:
        packages: sets of packages that it is run with, one set after the other; each is pins parted by spaces,
            `name==version` for Python and `name@version` for Node.
        needs: programs that it asks for, for `shell` and `node`.
    """

    id: Slug
    claim: Annotated[str, _text(10, 200)]
    runner: Runner
    right: CheckFile
    wrong: CheckFile | None = None
    wrong_shows: Annotated[str, _text(3, 200)] | None = None
    packages: Annotated[tuple[Pins, ...], Field(max_length=4)] = ()
    needs: Annotated[tuple[Needed, ...], Field(max_length=5)] = ()

    @model_validator(mode="after")
    def _wrong_is_whole(self) -> Self:
        if (self.wrong is None) != (self.wrong_shows is None):
            raise ValueError("wrong and wrong_shows are given together or not at all")
        return self

    @model_validator(mode="after")
    def _asks_for_what_there_is(self) -> Self:
        pin = _PINS.get(self.runner)
        if self.packages and pin is None:
            raise ValueError("packages are for the runners python and node")
        if any(not re.fullmatch(f"{pin}(?: {pin})*", pins) for pins in self.packages):
            raise ValueError("packages are exact versions parted by a space: name==1.2 for python, name@1.2.3 for node")
        if self.needs and self.runner not in (Runner.SHELL, Runner.NODE):
            raise ValueError("needs is for the runners shell and node")
        _refuse_repeats("packages", list(self.packages))
        _refuse_repeats("needs", list(self.needs))
        return self


class Record(_Frozen):
    """One engineering decision, as its file states it. Approval is not part of it: see `review.ledger`."""

    slug: Slug
    topic: Topic
    title: Annotated[str, _text(10, 90, r"^[^\n]+$")]
    summary: Annotated[str, _text(40, 300)]
    recommendation: Annotated[str, _text(40, 500)]
    rationale: Annotated[str, _text(60, 900)]
    applies_to: Annotated[tuple[AppliesTo, ...], Field(max_length=6)] = ()
    conditions: Annotated[tuple[ScopeBullet, ...], Field(max_length=4)] = ()
    exceptions: Annotated[tuple[ScopeBullet, ...], Field(max_length=4)] = ()
    pitfalls: Annotated[tuple[Bullet, ...], Field(min_length=1, max_length=4)]
    verification_checks: Annotated[tuple[Bullet, ...], Field(min_length=1, max_length=4)]
    examples: Annotated[str, _text(0, 1500)] | None = None
    symptoms: Annotated[tuple[Annotated[str, _text(10, 160)], ...], Field(min_length=3, max_length=8)]
    task_types: Annotated[tuple[TaskType, ...], Field(max_length=9)] = ()
    confidence: Confidence
    updated: date
    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=5)]
    checks: Annotated[tuple[Check, ...], Field(max_length=6)] = ()
    supersedes: Annotated[tuple[Slug, ...], Field(max_length=5)] = ()
    conflicts_with: Annotated[tuple[Slug, ...], Field(max_length=5)] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        _refuse_repeats("applies_to", [entry.name for entry in self.applies_to])
        _refuse_repeats("checks", [check.id for check in self.checks])
        _refuse_repeats("sources", [f"{source.url} {source.locator}" for source in self.sources])
        if self.slug in (*self.supersedes, *self.conflicts_with):
            raise ValueError("a record cannot supersede or conflict with itself")
        return self


def _refuse_repeats(field: str, values: list[str]) -> None:
    if len(set(values)) != len(values):
        raise ValueError(f"{field} names the same thing twice")


def record_id(slug: str) -> uuid.UUID:
    """Return the record's id: uuid5 of its slug, the same wherever it is published."""
    return uuid.uuid5(_NAMESPACE, slug)


def canonical_form(record: Record, fixtures: dict[str, bytes] | None = None) -> bytes:
    """Return the record as RFC 8785 JSON: what an approval is given for.

    Args:
        record: the parsed record. Layout and comments of its file are not part of it.
        fixtures: content of each check file by name, so that changing a proof un-approves the record too.
    """
    body: dict[str, Any] = record.model_dump(mode="json")
    # Approvals from before these fields are given for a form without them.
    body["checks"] = [
        {key: value for key, value in check.items() if value or key not in _NEWER} for check in body["checks"]
    ]
    body["fixtures"] = {name: hashlib.sha256(content).hexdigest() for name, content in (fixtures or {}).items()}
    return rfc8785.dumps(body)


def content_hash(record: Record, fixtures: dict[str, bytes] | None = None) -> str:
    """Return the lower-case hexadecimal SHA-256 of the canonical form, under a domain prefix of its own."""
    return canonical_hash(canonical_form(record, fixtures))


def canonical_hash(canonical: bytes) -> str:
    """Return the hash of a canonical form, lower-case hexadecimal."""
    return hashlib.sha256(_HASH_DOMAIN + canonical).hexdigest()


def is_slug(text: str) -> bool:
    """Tell whether text has the form of a slug."""
    return re.fullmatch(SLUG_PATTERN, text) is not None
