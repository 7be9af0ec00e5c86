"""What the desk does, without a screen: it reads the folder, takes decisions, and can take them back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from threading import RLock

from app.errors import PassphraseError
from app.passphrase import Lock
from app.recordfile import read_record
from app.settings import Settings
from app.wholefile import replace_file
from review.bench import Shelf, Similarity, judge, open_shelf
from review.decisions import approve, clean_note, login_name, refuse_errors, take_back, warned
from review.desk.dossier import Dossier, dossier
from review.desk.mailbox import Mailbox
from review.desk.queue import Item, Kind, queue, stale_items
from review.errors import Refused
from review.journal import JOURNAL, Aside, Remark, keep, latest, read_journal
from review.ledger import Entry
from review.proving import prove
from review.screen import now, today

DEFER_DAYS = 7
# A sitting asks for the owner's passphrase again after so long without a decision.
UNLOCKED_SECONDS = 900.0
WRONG_SECONDS = 2.0
_DRAFTS = "review/drafts.json"

Extra = Callable[[Shelf], list[Item]]


@dataclass(frozen=True)
class Done:
    """Something that was done here and can be taken back.

    Attributes:
        entry: the ledger's line, None for what was only set aside.
    """

    item: Item
    words: str
    entry: Entry | None = None


@dataclass
class Office:
    """The folder and what was done with it in this sitting. Safe to share between threads.

    Attributes:
        by: in whose name decisions are taken.
        extra: what waits besides records and mail: what is due.
        mailbox: feedback and gaps, once the database is open.
    """

    settings: Settings
    by: str = field(default_factory=login_name)
    extra: tuple[Extra, ...] = (stale_items,)
    similarity: Similarity | None = None
    mailbox: Mailbox | None = None
    _unlocked: float | None = None
    _key: Lock | None = None
    _done: list[Done] = field(default_factory=list)
    _lock: RLock = field(default_factory=RLock)

    def look(self) -> tuple[Shelf, list[Item]]:
        """Read the folder, and return it with what waits. Raises RecordError, LedgerError, Unavailable."""
        shelf = open_shelf(self.settings.records)
        remarks = latest(read_journal(self.settings.records / JOURNAL))
        more = [item for source in self.extra for item in source(shelf)]
        if self.mailbox is not None:
            more += self.mailbox.items(shelf)
        return shelf, queue(shelf, remarks, today(), more)

    def study(self, shelf: Shelf, slug: str) -> Dossier:
        """Gather what there is about a record. Raises RecordError, LedgerError."""
        verdict = judge(shelf, [slug], today=today(), similarity=self.similarity)[0]
        return dossier(shelf, verdict, self.similarity)

    @property
    def is_locked(self) -> bool:
        """Whether the owner's passphrase is wanted before a decision. Raises PassphraseError when it cannot be used."""
        recently = self._unlocked is not None and time.monotonic() - self._unlocked < UNLOCKED_SECONDS
        return not recently and Lock(self.settings).is_set

    def unlock(self, text: str) -> None:
        """Let decisions be taken for a while, if a text is the owner's passphrase.

        Raises:
            PassphraseError: it is not, after a pause; or what is stored of it cannot be used.
        """
        lock = Lock(self.settings)
        if not lock.verify(text):
            time.sleep(WRONG_SECONDS)
            raise PassphraseError("That was not the owner's passphrase: nothing was done.")
        self._unlocked, self._key = time.monotonic(), lock

    def approve(self, item: Item, studied: Dossier, note: str) -> Entry:
        """Approve what was studied, and nothing else.

        Raises:
            Refused: a gate finds an error, a warning has no reason, a check fails, or the file is not what was studied
                any more.
            PassphraseError: the owner's passphrase is set and was not given to `unlock`.
            InvalidDecision, LedgerError, SettingsError: as `review.decisions.approve`.
        """
        refuse_errors(studied.verdict)
        gates = warned(studied.verdict)
        if gates and not note:
            raise Refused(f"Warnings ask for a reason: {', '.join(gates)}.")
        prove(self.settings, studied.file)
        with self._lock:
            if read_record(studied.file.path).sha256 != studied.file.sha256:
                raise Refused("The file was changed while you read it: look at it again.")
            self._refuse_if_locked()
            cleaned = clean_note(note) if note else None
            entry = approve(self.settings, studied.file, by=self.by, note=cleaned, lock=self._key)
            self._done.append(Done(item, f"approval of {entry.slug}", entry))
            self.keep_draft(item.key, "")
        return entry

    def reject(self, item: Item, reason: str) -> None:
        """Set something aside until it is edited, or decline feedback. Raises InvalidDecision for what is no reason."""
        cleaned = clean_note(reason)
        if item.kind is Kind.FEEDBACK and self.mailbox is not None:
            self.mailbox.decline(item, cleaned)
            self.keep_draft(item.key, "")
        else:
            self._set_aside(item, Aside.REJECT, cleaned, None)

    def settle(self, item: Item) -> str:
        """Note that the approved version of its record settles feedback; return the note. Raises Refused."""
        if item.kind is not Kind.FEEDBACK or self.mailbox is None:
            raise Refused("Only feedback is settled by a version.")
        return self.mailbox.settle(item, open_shelf(self.settings.records))

    def defer(self, item: Item, days: int = DEFER_DAYS) -> date:
        """Set something aside until it is edited, or for some days; return the day it comes up again."""
        until = today() + timedelta(days=days)
        self._set_aside(item, Aside.DEFER, None, until)
        return until

    def reopen(self, slug: str) -> Item:
        """Let a record wait again that was set aside or taken out of service; return it.

        Raises:
            InvalidInput, RecordError: there is no such record, or it cannot be read.
            Refused: it is approved as it stands.
        """
        file = open_shelf(self.settings.records).file(slug)
        item = Item(Kind.NEW, f"record/{slug}", slug, file.record.title, "opened again", file.sha256)
        self._remark(item, Aside.REOPEN, None, None)
        _, items = self.look()
        waiting = next((found for found in items if found.key == item.key), None)
        if waiting is None:
            raise Refused(f"{slug} is approved as it stands: there is nothing to decide.")
        return waiting

    def undo(self) -> str:
        """Take back what was done last in this sitting, and say what that was.

        Raises:
            Refused: nothing was done, or somebody decided about it since.
        """
        with self._lock:
            if not self._done:
                raise Refused("Nothing was decided in this sitting that could be taken back.")
            done = self._done[-1]
            if done.entry is not None:
                self._refuse_if_locked()
                take_back(self.settings, done.entry, by=self.by, lock=self._key)
            self._remark(done.item, Aside.REOPEN, None, None)
            self._done.pop()
        return done.words

    def draft(self, key: str) -> str:
        """Return what was written about something and not decided."""
        return self._drafts().get(key, "")

    def keep_draft(self, key: str, text: str) -> None:
        """Keep what is being written, so that a crash does not lose it."""
        with self._lock:
            drafts = self._drafts() | {key: text}
            path = self._drafts_path()
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, json.dumps({name: kept for name, kept in drafts.items() if kept}).encode(), 0o600)

    def _refuse_if_locked(self) -> None:
        if self.is_locked:
            raise PassphraseError("The owner's passphrase is wanted for this.")
        if self._unlocked is not None:
            self._unlocked = time.monotonic()

    def _set_aside(self, item: Item, action: Aside, note: str | None, until: date | None) -> None:
        with self._lock:
            self._remark(item, action, note, until)
            self._done.append(Done(item, f"{action.value} of {item.slug or item.key}"))
            self.keep_draft(item.key, "")

    def _remark(self, item: Item, action: Aside, note: str | None, until: date | None) -> None:
        at = now().replace(microsecond=0)
        path = self.settings.records / JOURNAL
        keep(path, Remark(item.key, item.form, action, at, self.by, note, until))

    def _drafts_path(self) -> Path:
        return self.settings.home / _DRAFTS

    def _drafts(self) -> dict[str, str]:
        try:
            drafts = json.loads(self._drafts_path().read_bytes())
            return {str(key): str(text) for key, text in drafts.items()}
        except (OSError, ValueError, AttributeError):
            return {}


def decides_on_records(item: Item) -> bool:
    """Tell whether approving means anything for it."""
    return item.kind in (Kind.NEW, Kind.CHANGED)
