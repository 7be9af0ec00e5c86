"""What a source's licence does not allow us to print is not printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.record import EvidenceKind, Record, Source
from review.gates import Context, Finding, Gate, error, warning
from review.publishers import publisher_of

# Text under these may be quoted with attribution.
_QUOTABLE_LIST = """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 CC-BY-3.0 CC-BY-4.0 ISC MIT MIT-0 MPL-2.0 OGL-UK-3.0
    PostgreSQL PSF-2.0 Python-2.0 Unicode-3.0 Unlicense LicenseRef-Public-Domain LicenseRef-US-Public-Domain
"""
# Text under these may be cited and told in our own words, never quoted: share-alike, no-derivatives, own terms.
_PARAPHRASE_ONLY_LIST = """
    CC-BY-ND-4.0 CC-BY-SA-2.5 CC-BY-SA-3.0 CC-BY-SA-4.0 GFDL-1.3-only GPL-2.0-only GPL-3.0-only LGPL-2.1-only
    LGPL-3.0-only LGPL-3.0-or-later IETF-Trust LicenseRef-Ecma LicenseRef-GitHub-Terms LicenseRef-HashiCorp
    LicenseRef-IETF-Trust LicenseRef-Nodejs-Learn LicenseRef-Redis-Docs LicenseRef-W3C-Document
    LicenseRef-W3C-Software-and-Document W3C W3C-19990505 W3C-20150513
"""
QUOTABLE = frozenset(_QUOTABLE_LIST.split())
PARAPHRASE_ONLY = frozenset(_PARAPHRASE_ONLY_LIST.split())
_QUOTE_LIMIT = 300
_QUOTABLE = frozenset(name.casefold() for name in QUOTABLE)
_ALLOWED = _QUOTABLE | frozenset(name.casefold() for name in PARAPHRASE_ONLY)


def check(record: Record, context: Context) -> Iterator[Finding]:
    """Every source has a licence on the list, and a quote only comes from one that may be quoted."""
    for place, source in enumerate(record.sources, start=1):
        names = frozenset(name.casefold() for name in re.split(r" (?:OR|AND) ", source.licence))
        yield from _licence_findings(place, source, names)
        yield from _disagreement(place, source, names, context)


def _licence_findings(place: int, source: Source, names: frozenset[str]) -> Iterator[Finding]:
    # "MIT AND X" binds us to both; "MIT OR X" lets us take the one that allows more.
    enough = any if " OR " in source.licence else all
    if not enough(name in _ALLOWED for name in names):
        yield error(
            f"source {place}: licence {source.licence} is not on the list",
            "look the licence up; add it to review/gates/license.py if it allows citing, else choose another source",
            at=f"source {place} licence",
        )
    elif source.evidence_kind is EvidenceKind.QUOTE and not enough(name in _QUOTABLE for name in names):
        yield error(
            f"source {place}: {source.licence} does not let us print a quote",
            "state it in your own words: paraphrase",
            at=f"source {place} evidence_kind",
        )
    if source.evidence_kind is EvidenceKind.QUOTE and len(source.evidence_excerpt) > _QUOTE_LIMIT:
        yield error(
            f"source {place}: the quote is longer than {_QUOTE_LIMIT} characters",
            "quote less, or paraphrase",
            at=f"source {place} evidence_excerpt",
        )


def _disagreement(place: int, source: Source, names: frozenset[str], context: Context) -> Iterator[Finding]:
    publisher = publisher_of(source.url, context.publishers)
    known = {name.casefold() for name in publisher.licences} if publisher else set()
    if publisher and known and names.isdisjoint(known):
        offered = ", ".join(sorted(publisher.licences))
        yield warning(
            f"source {place}: {publisher.name} offers this text under {offered}, the record says {source.licence}",
            "correct the licence, or the list in review/publishers.py",
            at=f"source {place} licence",
        )


GATE = Gate("license", "Every source's licence is known and allows what is printed from it.", check)
