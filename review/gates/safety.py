"""A record is read by a machine that acts: nothing in it may steer that machine past its user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.record import Record
from review.gates import Context, Finding, Gate, error, warning
from review.hidden import confusable_words, hidden_characters
from review.injection import CREDENTIAL_PLACES, DESTRUCTIVE, MACHINE, ORDERS, caught
from review.links import ACTIVE_SCHEME, URL, is_placeholder, link_problems
from review.prose import ServedText, all_texts, code_pieces, guidance_texts, sentences, without_code

_MARKUP = re.compile(
    r"!\[|<!--|</?[a-zA-Z][^<>]*>|\[[^\]\n]+\]\([^)\n]+\)|\[[^\]\n]+\]\[[^\]\n]*\]|^\[[^\]]+\]:", re.MULTILINE
)
_NEGATED = re.compile(
    r"\b(?:never|not|don't|no|avoid|without|instead of|rather than|refuse|forbid|reject|prevent|stop|remove"
    r"|unsafe|loses?)\b",
    re.IGNORECASE,
)
# What a record tells an agent to do; pitfalls and exceptions may name a danger to warn of it.
_ADVICE = ("title", "summary", "recommendation", "examples", "verification_checks")


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """Nothing hidden, nothing addressed to the agent, no links but sources, no dangerous step without its limits."""
    for piece in all_texts(record):
        yield from _unicode_findings(piece)
        yield from _trap_findings(piece)
    for piece in guidance_texts(record):
        yield from _markup_findings(piece)
    yield from _credential_findings(record)
    yield from _code_link_findings(record)
    for place, source in enumerate(record.sources, start=1):
        yield from _unicode_findings(ServedText(f"source {place} url", source.url))
        for problem in link_problems(source.url):
            yield error(f"source {place}: the address {problem}", "cite the page at its own https address")
    if not record.exceptions:
        yield from _destructive_findings(record)


def _unicode_findings(piece: ServedText) -> Iterator[Finding]:
    for description in hidden_characters(piece.text):
        yield error(f"{piece.field}: {description}", "type the text again in plain characters", waivable=False)
    for description in confusable_words(piece.text):
        yield error(f"{piece.field}: {description}", "write the word in plain Latin letters", waivable=False)


def _trap_findings(piece: ServedText) -> Iterator[Finding]:
    for trap, words in caught(piece.text, ORDERS):
        yield error(
            f"{piece.field}: {trap.name} ({words!r})",
            "state the engineering fact; a record never addresses its reader's tools",
        )
    for trap, words in caught(piece.text, MACHINE):
        yield error(
            f"{piece.field}: {trap.name} ({words!r})",
            "name the package or file and let the reader fetch and inspect it",
        )


def _markup_findings(piece: ServedText) -> Iterator[Finding]:
    prose = without_code(piece.text)
    markup = _MARKUP.search(prose)
    if markup:
        yield error(
            f"{piece.field}: link, image or HTML in prose ({markup[0][:40]!r})",
            "put code in backticks and links in sources",
        )
    if URL.search(prose):
        yield error(
            f"{piece.field}: a web address in prose", "links belong in sources; an example address goes in backticks"
        )
    if ACTIVE_SCHEME.search(prose):
        yield error(f"{piece.field}: a javascript: or data: address", "describe it in words")


def _credential_findings(record: Record) -> Iterator[Finding]:
    """Report all mentions as one: a record about protecting a place names it more than once."""
    found = {words: piece.field for piece in all_texts(record) for _, words in caught(piece.text, (CREDENTIAL_PLACES,))}
    if found:
        places = ", ".join(f"{words!r} in {field}" for words, field in found.items())
        yield warning(
            f"names a place where credentials lie: {places}", "keep it only if the advice is about protecting it"
        )


def _code_link_findings(record: Record) -> Iterator[Finding]:
    found: dict[str, str] = {}
    for piece in guidance_texts(record):
        for url in (url for code in code_pieces(piece.text) for url in URL.findall(code)):
            if not is_placeholder(url):
                found.setdefault(url[:50], "; ".join(link_problems(url)) or "leads to a real site")
    if found:
        listed = ", ".join(f"{url!r} {problem}" for url, problem in found.items())
        yield warning(f"addresses in code: {listed}", "use example.com or localhost, unless the address is the point")


def _destructive_findings(record: Record) -> Iterator[Finding]:
    for piece in guidance_texts(record):
        if not piece.field.startswith(_ADVICE):
            continue
        for sentence in sentences(piece.text):
            for trap, words in caught(sentence, (DESTRUCTIVE,)):
                before = sentence[: sentence.find(words.split(" ")[0])]
                if not _NEGATED.search(before):
                    yield error(
                        f"{piece.field}: {trap.name} ({words!r})",
                        "say under Exceptions when not to, and check before and after",
                    )


GATE = Gate(
    "safety",
    "Nothing hidden, nothing addressed to the agent, no link but the sources, no danger without limits.",
    check,
)
