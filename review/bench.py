"""The records folder as the bench sees it: files, ledger, waivers, and the verdict on each record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from pathlib import Path

from app.errors import InvalidInput, RecordError
from app.record import Record
from app.recordfile import RecordFile, read_record, record_paths, stray_paths
from review.gates import Context, Failure, Finding, Level, Outcome, discover, error, run
from review.ledger import Ledger, State, read_ledger
from review.publishers import PUBLISHERS
from review.snapshots import snapshot_hashes
from review.waivers import Waived, Waiver, apply_waivers, read_waivers, stray_waivers

Similarity = Mapping[tuple[str, str], float]
FORMAT_GATE = "format"


def _silence(_slug: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Shelf:
    """Everything in the records folder, read once.

    Attributes:
        files: records that could be read, by slug.
        broken: records that could not, by slug, with the reason.
    """

    folder: Path
    files: Mapping[str, RecordFile]
    broken: Mapping[str, RecordError]
    ledger: Ledger
    waivers: tuple[Waiver, ...] = ()

    def state(self, slug: str) -> State:
        """Return where a record that could be read stands."""
        return self.ledger.state(slug, self.files[slug].sha256)

    def file(self, slug: str) -> RecordFile:
        """Return a record by slug. Raises RecordError when it cannot be read, InvalidInput when there is none."""
        if slug in self.broken:
            raise self.broken[slug]
        if slug not in self.files:
            near = get_close_matches(slug, (*self.files, *self.broken), n=1)
            hint = f"did you mean {near[0]}?" if near else "its name is that of the file, without .md."
            raise InvalidInput(f"There is no record {slug} in {self.folder.name}/: {hint}", details={"slug": slug})
        return self.files[slug]

    def corpus(self) -> dict[str, Record]:
        """Return the records that are or may come to be served: all but the deprecated ones."""
        return {slug: file.record for slug, file in self.files.items() if self.state(slug) is not State.DEPRECATED}

    def missing(self) -> tuple[str, ...]:
        """Return approved records whose file is gone."""
        return tuple(sorted(self.ledger.approved_slugs() - self.files.keys() - self.broken.keys()))


@dataclass(frozen=True)
class Verdict:
    """What the gates say about one record, waivers applied. `state` is None for a file that cannot be read."""

    slug: str
    state: State | None
    outcomes: tuple[Outcome, ...]
    waived: tuple[Waived, ...] = ()

    def findings(self, level: Level | None = None) -> list[tuple[str, Finding]]:
        """Return (gate, finding) pairs, of one level or of all."""
        pairs = [(outcome.gate, finding) for outcome in self.outcomes for finding in outcome.findings]
        return [pair for pair in pairs if level is None or pair[1].level is level]


@dataclass(frozen=True)
class Report:
    """A check of records: a verdict on each, and what concerns the folder as a whole.

    Attributes:
        notes: facts the owner should know that refuse nothing.
        strays: findings about waivers that belong to no record.
    """

    verdicts: tuple[Verdict, ...]
    strays: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def has_errors(self) -> bool:
        """Whether anything refuses approval."""
        return bool(self.strays) or any(verdict.findings(Level.ERROR) for verdict in self.verdicts)


def open_shelf(folder: Path) -> Shelf:
    """Read the records folder. Raises LedgerError or RecordError when folder, ledger or waivers cannot be used."""
    if not folder.is_dir():
        raise RecordError(f"{folder} is no folder: CHATCTX_RECORDS must name the one that holds the records.")
    files: dict[str, RecordFile] = {}
    broken: dict[str, RecordError] = {}
    for path in record_paths(folder):
        try:
            files[path.stem] = _read_unique(path, files)
        except RecordError as failure:
            broken[path.stem] = failure
            files.pop(path.stem, None)
    for path in stray_paths(folder):
        where = str(path.relative_to(folder))
        name = path.stem if path.stem not in files and path.stem not in broken else where
        broken[name] = RecordError(
            f"{where}: no record is read from here: move it to <topic>/<slug>.md, or out of the folder",
            details={"file": where, "line": 1},
        )
    return Shelf(folder, files, broken, read_ledger(folder / "ledger.jsonl"), read_waivers(folder / "waivers.yaml"))


def _read_unique(path: Path, files: Mapping[str, RecordFile]) -> RecordFile:
    if path.stem in files:
        other = files[path.stem].path.parent.name
        raise RecordError.at(path, 1, f"the slug is taken by {other}/{path.name}: rename one")
    return read_record(path)


def judge(
    shelf: Shelf,
    slugs: Iterable[str],
    *,
    today: date,
    similarity: Similarity | None,
    progress: Callable[[str], None] = _silence,
) -> tuple[Verdict, ...]:
    """Run every gate over the named records and apply the waivers."""
    context = Context(today, shelf.corpus(), PUBLISHERS, similarity)
    gates = discover()
    verdicts = []
    for slug in slugs:
        progress(slug)
        if slug in shelf.broken:
            verdicts.append(Verdict(slug, None, (_unreadable(shelf.broken[slug]),)))
            continue
        outcomes = run(shelf.file(slug).record, context, gates)
        left, waived = apply_waivers(slug, outcomes, shelf.waivers, today)
        verdicts.append(Verdict(slug, shelf.state(slug), left, waived))
    return tuple(verdicts)


def check(
    shelf: Shelf,
    slugs: Iterable[str],
    *,
    today: date,
    similarity: Similarity | None,
    progress: Callable[[str], None] = _silence,
) -> Report:
    """Judge the named records, or all when none is named, and say what concerns the whole folder."""
    named = tuple(slugs)
    everything = sorted({*shelf.files, *shelf.broken})
    verdicts = judge(shelf, named or everything, today=today, similarity=similarity, progress=progress)
    strays = () if named else stray_waivers(shelf.waivers, everything, [gate.id for gate in discover()])
    return Report(verdicts, strays, tuple(_notes(shelf, similarity)))


def _unreadable(failure: RecordError) -> Failure:
    return Failure(FORMAT_GATE, (error(failure.message, "see docs/writing-records.md", waivable=False),))


def _notes(shelf: Shelf, similarity: Similarity | None) -> Iterable[str]:
    if similarity is None:
        yield "duplicates and conflicts were judged by words only: no embedding model is at hand"
    if shelf.ledger.torn is not None:
        yield (
            "the ledger ends in a torn line, left by an interrupted decision: "
            "the next decision sets it aside in ledger.jsonl.torn"
        )
    for slug in shelf.missing():
        yield f"{slug} is approved but its file is gone: it will not be served at the next publish"
    orphans = snapshot_hashes(shelf.folder) - {entry.sha256 for entry in shelf.ledger.entries}
    for sha256 in sorted(orphans):
        yield (
            f"the approved copy {sha256[:12]}... has no line in the ledger: "
            "an approval was interrupted, or lines were cut off"
        )
