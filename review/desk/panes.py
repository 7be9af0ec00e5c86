"""What each pane shows, as text: pure. Nothing of a record is taken for markup or obeyed by the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from app.contract import Detail
from review.desk.dossier import Dossier, Neighbour, advice_of
from review.desk.queue import Item, Kind
from review.gates import Finding, Level
from review.trial import Placed

PANES = ("text", "json", "diff", "gates", "sources", "near", "questions", "why")
_PROSE = ("summary", "recommendation", "rationale")
_LISTS = ("conditions", "exceptions", "pitfalls", "verification_checks")
# Light enough to be read where colours become greys.
_RED = "#ff8080"
_LEVEL_STYLE = {Level.ERROR: f"bold {_RED}", Level.WARNING: "yellow"}


def text_pane(studied: Dossier, detail: Detail) -> Text:
    """Return the record for reading, at one detail, with what every detail costs."""
    shown = studied.cards[detail]
    out = Text()
    _line(out, shown["title"], "bold")
    costs = "   ".join(f"{level.value} {count}" for level, count in studied.tokens.items())
    _line(out, f"{shown['topic']} · confidence {shown['confidence']} · {studied.state.value}{_version(studied)}", "dim")
    _line(out, f"shown: {detail.value} · tokens: {costs}", "dim")
    for name in _PROSE:
        if name in shown:
            _section(out, name, [shown[name]])
    _section(out, "applies_to", [_applies(entry) for entry in shown["applies_to"]])
    for name in _LISTS:
        _section(out, name, [f"- {entry}" for entry in shown[name]])
    if shown.get("examples"):
        _section(out, "examples", [shown["examples"]])
    if shown.get("omitted"):
        _section(out, "left out at this detail", [", ".join(shown["omitted"])])
    return out


def json_pane(studied: Dossier, detail: Detail) -> Text:
    """Return the very values an agent gets."""
    return _plain(json.dumps(studied.cards[detail], indent=1, ensure_ascii=False))


def diff_pane(studied: Dossier) -> Text:
    """Return what differs from the approved form."""
    if not studied.diff:
        return Text("As approved: nothing differs.", style="dim")
    out = Text()
    styles = {"+": "green", "-": _RED, "@": "cyan"}
    for line in studied.diff:
        _line(out, line, styles.get(line[:1], ""))
    return out


def gates_pane(studied: Dossier) -> Text:
    """Return every finding with its remedy, what is waived, and how the checks stand."""
    out = Text()
    findings = studied.verdict.findings()
    if not findings:
        _line(out, f"All {len(studied.verdict.outcomes)} gates are satisfied.", "green")
    for gate, finding in findings:
        _finding(out, gate, finding)
    for entry in studied.verdict.waived:
        _line(out, f"waived   {entry.waiver.gate} until {entry.waiver.until}: {entry.waiver.reason}", "dim")
    _section(out, "executed checks", list(_checks(studied)))
    return out


def sources_pane(studied: Dossier) -> Text:
    """Return each source with its authority and what it says."""
    out = Text()
    for source in studied.file.record.sources:
        _line(out, source.title, "bold")
        _line(out, source.url, "cyan")
        facts = (source.publisher, source.licence, source.authority.value, source.relation.value)
        _line(out, f"{' · '.join(facts)} · read {source.retrieved}", "dim")
        mark = "quote" if source.evidence_kind.value == "quote" else "in our words"
        _line(out, f"at {source.locator} ({mark}):", "dim")
        _line(out, source.evidence_excerpt)
        _line(out, "")
    return out


def near_pane(studied: Dossier) -> RenderableType:
    """Return the records it may repeat or contradict: related ones first, then the nearest, the first side by side."""
    if not studied.neighbours:
        return Text("There is no other record.", style="dim")
    return Group(_near_list(studied), *(_side_by_side(studied, near) for near in _compared(studied)))


def _compared(studied: Dossier) -> list[Neighbour]:
    related = [near for near in studied.neighbours if near.relation]
    return related or list(studied.neighbours[:1])


def _side_by_side(studied: Dossier, near: Neighbour) -> Table:
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    record = studied.file.record
    for name in (record.slug, near.slug):
        table.add_column(_plain(name), ratio=1, overflow="fold")
    table.add_row(_plain(advice_of(record)), _plain(near.advice))
    return table


def _near_list(studied: Dossier) -> Text:
    out = Text()
    meaning = "meaning" if studied.neighbours[0].cosine is not None else "no model"
    _line(out, f"{meaning:>8}  words  record", "dim")
    for near in studied.neighbours:
        cosine = "-" if near.cosine is None else f"{near.cosine:.2f}"
        relation = f"  [{near.relation}]" if near.relation else ""
        _line(out, f"{cosine:>8}  {near.overlap:5.2f}  {near.slug}{relation}", "bold" if relation else "")
        _line(out, f"{'':17}{near.title}", "dim")
    return out


def questions_pane(placed: Sequence[Placed], slug: str) -> Text:
    """Return how the questions labelled with this record fare with the folder as it is."""
    if not placed:
        return Text("No labelled question is answered by this record.", style="dim")
    out = Text()
    hits = sum(entry.hit for entry in placed)
    _line(out, f"{hits} of {len(placed)} questions get it, or another that answers them", "bold")
    for entry in placed:
        place = "not found" if entry.place is None else f"place {entry.place}"
        _line(
            out,
            f"{'hit ' if entry.hit else 'miss'}  {place:<9}  {_first_line(entry.question.text)}",
            "" if entry.hit else _RED,
        )
        others = [name for name in entry.answered if name != slug][:3]
        if others:
            _line(out, f"{'':17}answers with {', '.join(others)}", "dim")
    return out


def item_pane(item: Item) -> Text:
    """Return what there is to say of something that is no readable record."""
    out = Text()
    _line(out, item.title, "bold")
    _line(out, item.why)
    for line in item.details:
        _line(out, line)
    return out


def row(item: Item) -> Text:
    """Return a thing of the queue on one line."""
    urgent = item.kind in (Kind.BROKEN, Kind.CHANGED)
    out = Text().append(f"{item.kind.value:<8} ", style="bold yellow" if urgent else "dim")
    return out.append_text(_plain(item.title))


def _checks(studied: Dossier) -> Iterable[str]:
    for proof in studied.proofs:
        yield f"{proof['outcome']:<8} {proof['check']} on {proof['tool']} {proof['version']}, {proof['date']}"
    for name in studied.unproved:
        yield f"not run  {name} (chatctx review verify {studied.file.record.slug})"
    if not studied.file.record.checks:
        yield "it has none"


def _finding(out: Text, gate: str, finding: Finding) -> None:
    _line(out, f"{finding.level.value:<8} {gate}", _LEVEL_STYLE[finding.level])
    _line(out, f"  {finding.message}")
    _line(out, f"  -> {finding.remedy}", "cyan")


def _section(out: Text, name: str, lines: Sequence[str]) -> None:
    if lines:
        _line(out, "")
        _line(out, name.replace("_", " ").capitalize(), "bold underline")
        for line in lines:
            _line(out, line)


def _applies(entry: Mapping[str, Any]) -> str:
    return f"- {entry['name']} {entry.get('version_constraint', '(any version)')}"


def _version(studied: Dossier) -> str:
    return f", version {studied.version}" if studied.version else ""


def _first_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _line(out: Text, text: str, style: str = "") -> None:
    out.append_text(_plain(text, style)).append("\n")


def _plain(text: str, style: str = "") -> Text:
    return Text(
        "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text),
        style=style,
    )
