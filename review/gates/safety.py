"""A record is read by a machine that acts: nothing in it may steer that machine past its user."""

from __future__ import annotations

from collections.abc import Iterator

from app.record import Record
from review.dangers import CREDENTIAL_PLACES, DESTRUCTIVE, MACHINE
from review.gates import Context, Finding, Gate, error, warning
from review.hidden import confusable_words, hidden_characters, unread_script
from review.injection import ORDERS
from review.installs import dubious_installs
from review.language import foreign_passages
from review.leaks import leaks
from review.links import URL, addresses_in_prose, defanged, is_placeholder, link_problems
from review.markup import markup
from review.opaque import opaque_run
from review.prose import ServedText, all_texts, code_pieces, guidance_texts, without_code
from review.traps import caught, caught_in_disguise, spelled_apart

# What a record tells an agent to do; pitfalls and exceptions may name a danger to warn of it.
_ADVICE = ("title", "summary", "recommendation", "examples", "verification_checks")


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """Nothing hidden, nothing addressed to the agent, no links but sources, no dangerous step without its limits."""
    for piece in all_texts(record):
        yield from text_findings(piece)
    for piece in guidance_texts(record):
        yield from _markup_findings(piece)
    yield from _credential_findings(record)
    yield from _code_link_findings(record)
    for place, source in enumerate(record.sources, start=1):
        yield from _unicode_findings(ServedText(f"source {place} url", source.url))
        for problem in link_problems(source.url):
            yield error(
                f"source {place}: the address {problem}",
                "cite the page at its own https address",
                at=f"source {place} url",
            )
    if not record.exceptions:
        yield from _destructive_findings(record)


def text_findings(piece: ServedText) -> Iterator[Finding]:
    """Yield what is held against any text, wherever it stands: hidden characters, orders, steps that do harm."""
    yield from _unicode_findings(piece)
    yield from _trap_findings(piece)
    yield from _machine_findings(piece)


def _unicode_findings(piece: ServedText) -> Iterator[Finding]:
    for description in hidden_characters(piece.text):
        yield error(
            f"{piece.field}: {description}", "type the text again in plain characters", waivable=False, at=piece.field
        )
    for description in confusable_words(piece.text):
        yield error(
            f"{piece.field}: {description}", "write the word in plain Latin letters", waivable=False, at=piece.field
        )
    script = unread_script(piece.text)
    if script:
        yield error(
            f"{piece.field}: a passage in {script} letters, which no gate reads", "write it in English", at=piece.field
        )
    for language, words in foreign_passages(without_code(piece.text)):
        yield error(
            f"{piece.field}: a passage in another language ({language}: {words!r})",
            "write it in English",
            at=piece.field,
        )


def _trap_findings(piece: ServedText) -> Iterator[Finding]:
    spaced = spelled_apart(piece.text)
    if spaced:
        yield error(
            f"{piece.field}: letters with gaps ({spaced!r})", "write words as words", waivable=False, at=piece.field
        )
    for trap, words in caught_in_disguise(piece.text, ORDERS):
        yield error(
            f"{piece.field}: {trap.name} ({words!r})",
            "state the engineering fact; a record never addresses its reader's tools",
            at=piece.field,
        )


def _machine_findings(piece: ServedText) -> Iterator[Finding]:
    harm = [(trap.name, words) for trap, words in caught(piece.text, MACHINE)]
    harm += dubious_installs(piece.text)
    harm += [("local data sent away", words) for words in leaks(piece.text)]
    for name, words in harm:
        yield error(
            f"{piece.field}: {name} ({words!r})",
            "name the package or file and let the reader fetch and inspect it",
            at=piece.field,
        )
    opaque = opaque_run(piece.text)
    if opaque:
        yield error(
            f"{piece.field}: a long run of characters that nobody can read ({opaque!r})", "leave it out", at=piece.field
        )


def _markup_findings(piece: ServedText) -> Iterator[Finding]:
    prose = without_code(piece.text)
    found = markup(prose)
    if found:
        yield error(
            f"{piece.field}: link, image or HTML in prose ({found!r})",
            "put code in backticks and links in sources",
            at=piece.field,
        )
    for address, what in addresses_in_prose(prose):
        yield error(
            f"{piece.field}: {what} ({address!r})",
            "links belong in sources; an example address goes in backticks",
            at=piece.field,
        )
    hidden = defanged(prose, piece.text)
    if hidden:
        yield error(
            f"{piece.field}: an address in disguise ({hidden!r})",
            "links belong in sources as they are",
            waivable=False,
            at=piece.field,
        )


def _credential_findings(record: Record) -> Iterator[Finding]:
    """Report all mentions as one: a record about protecting a place names it more than once."""
    found = {words: piece.field for piece in all_texts(record) for _, words in caught(piece.text, (CREDENTIAL_PLACES,))}
    if found:
        places = ", ".join(f"{words!r} in {field}" for words, field in found.items())
        yield warning(
            f"names a place where credentials lie: {places}",
            "keep it only if the advice is about protecting it",
            at=next(iter(found.values())),
        )


def _code_link_findings(record: Record) -> Iterator[Finding]:
    found: dict[str, str] = {}
    places: list[str] = []
    for piece in guidance_texts(record):
        for url in (url for code in code_pieces(piece.text) for url in URL.findall(code)):
            if not is_placeholder(url):
                found.setdefault(url[:50], "; ".join(link_problems(url)) or "leads to a real site")
                places.append(piece.field)
    if found:
        listed = ", ".join(f"{url!r} {problem}" for url, problem in found.items())
        remedy = "use example.com or localhost, unless the address is the point"
        yield warning(f"addresses in code: {listed}", remedy, at=places[0])


def _destructive_findings(record: Record) -> Iterator[Finding]:
    for piece in guidance_texts(record):
        if piece.field.startswith(_ADVICE):
            for trap, words in caught(piece.text, (DESTRUCTIVE,)):
                yield error(
                    f"{piece.field}: {trap.name} ({words!r})",
                    "say under Exceptions when not to, and check before and after",
                    at=piece.field,
                )


GATE = Gate(
    "safety",
    "Nothing hidden, nothing addressed to the agent, no link but the sources, no danger without limits.",
    check,
)
