"""An explanation as tables: on a terminal several that fit its width, in a pipe one wide one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

import click
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from app.transports.cli.printing import console, print_table, wrapped

_OUTCOMES = {
    "answered": "answered",
    "shrunk": "answered, shrunk",
    "dropped_by_budget": "dropped by budget",
    "withdrawn": "withdrawn",
    "below_gate": "below gate",
    "behind_surest": "behind surest",
    "other_technologies": "other technologies",
    "beyond_max_results": "beyond max results",
}
_WORDS_SHOWN = 12
# Columns of a terminal that leave room for what 80 do not.
_ROOMY = 96

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Column:
    """A column of a table.

    Attributes:
        name: in a pipe.
        title: on a terminal; may have two lines.
        text: makes a cell of a row.
        number: aligned right, and never folded.
        extra: only where there is room for it.
    """

    name: str
    title: str
    text: Callable[[Row], str]
    number: bool = True
    extra: bool = False


def print_explanation(explanation: Row, candidates: Sequence[Row]) -> None:
    """Print an explanation with some of its candidates."""
    if sys.stdout.isatty():
        _print_for_people(explanation, candidates)
        return
    print_table(("what", "found"), _facts(explanation))
    click.echo()
    print_table([column.name for column in _TERM], _cells(_TERM, explanation["terms"]))
    click.echo()
    columns = list(dict.fromkeys((*_FATE, *_SCORE, *_GATE, *_SCOPE)))
    print_table([column.name for column in columns], _cells(columns, candidates))


def _print_for_people(explanation: Row, candidates: Sequence[Row]) -> None:
    for what, found in _facts(explanation):
        click.echo(f"{what:<15}" + wrapped(found, 15).lstrip())
    known = [term for term in explanation["terms"] if term["records"]]
    _print("Words of the question that a record holds, as they are searched for", _TERM, known[:_WORDS_SHOWN])
    if len(known) > _WORDS_SHOWN:
        click.echo(f"and {len(known) - _WORDS_SHOWN} that say less")
    _print("Candidates", _FATE, candidates)
    _print("Score: shares of words and meaning, and bonuses", _SCORE, candidates)
    _print(_gate_title(explanation, candidates), _GATE, candidates)
    scoped = [row for row in candidates if row["findings"] or row["findings_in_text"]]
    _print("Technologies (in brackets: from the question's text)", _SCOPE, scoped)


def _gate_title(explanation: Row, candidates: Sequence[Row]) -> str:
    intercept = candidates[0]["intercept"] if candidates else 0.0
    return f"Gate in logits: {intercept:+.2f} and these make the margin; {explanation['least_margin']:+.2f} is needed"


def _print(title: str, columns: Sequence[_Column], rows: Sequence[Row]) -> None:
    """Print a table without the columns that say nothing, and nothing where none does."""
    roomy = console().width >= _ROOMY
    texts = {column: [column.text(row) for row in rows] for column in columns if roomy or not column.extra}
    said = {column: cells for column, cells in texts.items() if set(cells) - {"", "0"}}
    if said:
        click.echo("\n" + wrapped(title, 0))
        console().print(_grid(said, [bool(row.get("tokens")) for row in rows]))


def _grid(said: Mapping[_Column, Sequence[str]], answered: Sequence[bool]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in said:
        justify: Literal["left", "right"] = "right" if column.number else "left"
        table.add_column(column.title, justify=justify, no_wrap=column.number)
    for stands_out, *texts in zip(answered, *said.values(), strict=True):
        cells = (text if column.number else _Folded(text) for column, text in zip(said, texts, strict=True))
        table.add_row(*cells, style="bold" if stands_out else None)
    return table


@dataclass(frozen=True)
class _Folded:
    """Text that is folded between words and at hyphens, so that a slug stays legible."""

    text: str

    def __rich_measure__(self, _console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, len(self.text))).with_maximum(options.max_width)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("\n".join(wrap(self.text, options.max_width)))


def _cells(columns: Sequence[_Column], rows: Sequence[Row]) -> list[list[str]]:
    return [[column.text(row) for column in columns] for row in rows]


def _facts(explanation: Row) -> list[tuple[str, str]]:
    facts = {
        "answer": _answer(explanation),
        "degraded": explanation["degraded_reason"] or "",
        "tokens": "{tokens_used} of {room}, {token_budget} asked for".format_map(explanation),
        "near misses": ", ".join(explanation["near_misses"]),
        "suggestions": " ".join(explanation["suggestions"]),
        "domain": _domain(explanation["domain"]),
        "technologies": ", ".join(explanation["technologies"]),
        "in the text": ", ".join(explanation["technologies_in_text"]),
        "unknown words": _unknown(explanation["unknown_terms"]),
        "milliseconds": ", ".join(f"{stage} {spent}" for stage, spent in explanation["timing_ms"].items()),
    }
    return [(what, found) for what, found in facts.items() if found]


def _answer(explanation: Row) -> str:
    found = "{mode}: {results} of {total_candidates} candidates from {documents} records".format_map(explanation)
    return found + (", nothing relevant about the technologies named" if explanation["widened"] else "")


def _unknown(terms: Sequence[str]) -> str:
    more = f" and {len(terms) - _WORDS_SHOWN} more" if len(terms) > _WORDS_SHOWN else ""
    return " ".join(terms[:_WORDS_SHOWN]) + more


def _domain(log_odds: float | None) -> str:
    return "" if log_odds is None else f"{log_odds:+.2f} log-odds that the question is about software engineering"


def _number(digits: int, *path: str, signed: bool = False) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        value: Any = row
        for key in path:
            value = value and value[key]
        if value is None:
            return ""
        return f"{value:{'+' if signed else ''}.{digits}f}" if value else "0"

    return text


def _outcome(row: Row) -> str:
    weakest = f": {row['weakest']}" if row["weakest"] else ""
    return f"{_OUTCOMES[row['outcome']]}{weakest}"


def _tokens(row: Row) -> str:
    return "" if row["tokens_whole"] is None else f"{row['tokens'] or 0}/{row['tokens_whole']}"


def _scope(row: Row) -> str:
    said = [_finding(finding) for finding in row["findings"]]
    in_text = [f"[{_finding(finding)}]" for finding in row["findings_in_text"]]
    rival = ["for what is used instead"] if row["rival"] else []
    return "; ".join((*said, *in_text, *rival))


def _finding(finding: Row) -> str:
    named = " ".join(part for part in (finding["technology"], finding["version"]) if part)
    constraint = f" ({finding['constraint']})" if finding["constraint"] else ""
    return f"{named}: {finding['verdict'].replace('_', ' ')}{constraint}"


def _of_gate(signal: str, title: str) -> _Column:
    return _Column(f"gate_{signal}", title, _number(2, "contributions", signal, signed=True))


def _part(name: str, title: str) -> _Column:
    return _Column(f"score_{name}", title, _number(3, "parts", name))


_PLACE = _Column("place", "#", _number(0, "place"))
_MARGIN = _Column("margin", "margin", _number(2, "margin", signed=True))
_TERM = (
    _Column("term", "word", lambda term: str(term["term"]), number=False),
    _Column("records", "records", _number(0, "records")),
    _Column("idf", "idf", _number(2, "idf")),
)
_FATE = (
    _PLACE,
    _Column("outcome", "what became of it", _outcome, number=False),
    _Column("tokens", "tokens", _tokens),
    _Column("record", "record", lambda row: str(row["slug"]), number=False),
)
_SCORE = (
    _PLACE,
    _Column("bm25", "words\nBM25", _number(2, "words", "bm25")),
    _Column("words_rank", "rank", _number(0, "words", "rank")),
    _Column("words_scaled", "scaled", _number(3, "words", "scaled"), extra=True),
    _part("words", "share"),
    _Column("cosine", "meaning\ncosine", _number(3, "meaning", "cosine")),
    _Column("meaning_rank", "rank", _number(0, "meaning", "rank")),
    _Column("meaning_scaled", "scaled", _number(3, "meaning", "scaled"), extra=True),
    _part("meaning", "share"),
    _part("technology", "bonus\ntech"),
    _part("topic", "topic"),
    _part("task", "task"),
    _part("phrase", "phrase"),
    _Column("score", "score", _number(3, "score")),
)
_GATE = (
    _PLACE,
    _of_gate("cosine", "cosine"),
    _of_gate("coverage", "coverage"),
    _of_gate("domain", "domain"),
    _of_gate("about", "about"),
    _of_gate("elsewhere", "elsewhere"),
    _of_gate("rival", "rival"),
    _Column("gate_intercept", "intercept", _number(2, "intercept", signed=True), extra=True),
    _MARGIN,
    _Column("words_held", "words held", lambda row: str(len(row["matched"]))),
)
_SCOPE = (
    _PLACE,
    _Column("technologies", "what was found", _scope, number=False),
)
