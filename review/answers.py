"""What is said of a record before it is written, read and checked at once. Each reader raises InvalidAnswer."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from pydantic import ValidationError

from app.errors import AppError
from app.record import SLUG_MAX_CHARACTERS, AppliesTo, Kind, is_slug
from app.technologies import canonical_name
from app.versions import Scheme
from review.gates.version_scope import fitting_schemes
from review.links import link_problems
from review.skeleton import TITLE_CHARACTERS

_TITLE_FROM = 10
_SLUG_FROM = 3
_URL = re.compile(r"https://[^\s@]{4,292}")
_SYMPTOM = (10, 160)
# Of the schemes that fit a technology, the one that is written most.
_USUAL = (Scheme.NPM, Scheme.PEP440, Scheme.GENERIC, Scheme.GO, Scheme.MAVEN, Scheme.SEMVER)


class InvalidAnswer(AppError):
    """An answer that a record cannot hold; the message says what is wanted."""

    code = "invalid_answer"


def slug_of(title: str) -> str:
    """Return the slug that a title proposes: lower-case words of its letters and digits, as many as fit."""
    letters = unicodedata.normalize("NFKD", title.replace("'", "")).encode("ascii", "ignore").decode().lower()
    slug = ""
    for word in re.findall(r"[a-z0-9]+", letters):
        longer = f"{slug}-{word}" if slug else word[:SLUG_MAX_CHARACTERS]
        if len(longer) > SLUG_MAX_CHARACTERS:
            break
        slug = longer
    return slug


def read_title(text: str) -> str:
    """Return a title on one line."""
    return _on_one_line(text, _TITLE_FROM, TITLE_CHARACTERS, "say what to do")


def read_symptom(text: str) -> str:
    """Return a symptom on one line."""
    return _on_one_line(text, *_SYMPTOM, "say it as somebody who has the problem")


def read_slug(text: str) -> str:
    """Return a slug."""
    if not is_slug(text) or not _SLUG_FROM <= len(text) <= SLUG_MAX_CHARACTERS:
        raise InvalidAnswer(f"a slug is lower-case words joined by hyphens, {_SLUG_FROM} to {SLUG_MAX_CHARACTERS}")
    return text


def read_url(text: str) -> str:
    """Return the address of a source."""
    url = text.strip()
    if not _URL.fullmatch(url):
        raise InvalidAnswer("give the page's own https address, up to 300 characters")
    problems = list(link_problems(url))
    if problems:
        raise InvalidAnswer(f"the address {'; '.join(problems)}: cite the page at its own https address")
    return url


def read_technology(text: str) -> AppliesTo:
    """Read `KIND:NAME` or `KIND:NAME:CONSTRAINT`, with `:SCHEME` where the technology leaves a choice of schemes."""
    kind, name, constraint, scheme = (*(part.strip() for part in text.split(":", 3)), "", "", "")[:4]
    if kind not in set(Kind):
        raise InvalidAnswer(f"write KIND:NAME, KIND:NAME:CONSTRAINT or ...:SCHEME; kinds are {', '.join(Kind)}")
    known = canonical_name(name)
    if known is None:
        raise InvalidAnswer("unknown technology: write its usual name, or add it to app/technologytable.py")
    fields: dict[str, Any] = {"kind": Kind(kind), "name": known}
    if constraint:
        fields |= {"version_constraint": constraint, "scheme": _scheme(known, scheme)}
    try:
        return AppliesTo(**fields)
    except ValidationError as error:
        raise InvalidAnswer(error.errors(include_url=False, include_input=False)[0]["msg"]) from None


def _scheme(name: str, given: str) -> Scheme:
    fitting = fitting_schemes(name) or frozenset(Scheme)
    if given:
        if given not in fitting:
            raise InvalidAnswer(f"versions of {name} are written in {' or '.join(sorted(fitting))}")
        return Scheme(given)
    if fitting == frozenset(Scheme):
        raise InvalidAnswer(f"add the scheme behind the constraint: {', '.join(Scheme)}")
    return next(one for one in _USUAL if one in fitting)


def _on_one_line(text: str, low: int, high: int, wanted: str) -> str:
    line = " ".join(text.split())
    if not low <= len(line) <= high or not line.isprintable():
        raise InvalidAnswer(f"{wanted}, in {low} to {high} characters")
    return line
