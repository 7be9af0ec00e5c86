"""The desk on a full screen: on the left what waits, on the right all there is to know about one of it."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, OptionList, Static, Tab, Tabs
from textual.widgets.option_list import Option

from app.contract import Detail
from app.errors import AppError
from review.bench import Shelf
from review.decisions import warned
from review.desk.dialogs import Help, Reason
from review.desk.dossier import Dossier
from review.desk.office import Office, decides_on_records
from review.desk.panes import (
    PANES,
    diff_pane,
    gates_pane,
    item_pane,
    json_pane,
    near_pane,
    questions_pane,
    row,
    sources_pane,
    text_pane,
)
from review.desk.queue import Item, Kind
from review.gates import Level
from review.trial import Placed

_TITLES = dict(zip(PANES, ("Text", "JSON", "Diff", "Gates", "Sources", "Near", "Questions", "Why"), strict=True))
_DETAILS = list(Detail)
_FROM_OUTSIDE = (Kind.FEEDBACK, Kind.STALE, Kind.GAP)
# Columns from which queue and record stand side by side.
WIDE = 110

Trial = Callable[[Shelf, str], list[Placed]]


class Desk(App[None]):
    """The owner's desk.

    One thing is decided at a time, by one key; every decision is a line on disk before the screen says so.
    """

    CSS_PATH = "desk.tcss"
    TITLE = "chatctx review"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - as textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", "Approve"),
        Binding("r", "reject", "Reject"),
        Binding("d", "defer", "Defer"),
        Binding("e", "edit", "Edit"),
        Binding("f", "settle", "Fixed", show=False),
        Binding("u", "undo", "Undo"),
        Binding("v", "detail", "Detail"),
        Binding("g", "reload", "Reload", show=False),
        Binding("question_mark", "help", "Keys"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("pagedown,space", "scroll(1)", "Down", show=False, priority=True),
        Binding("pageup", "scroll(-1)", "Up", show=False, priority=True),
        *(Binding(str(place), f"pane('{name}')", name, show=False) for place, name in enumerate(PANES, start=1)),
    ]

    def __init__(
        self,
        office: Office,
        *,
        prepare: Callable[[Office, Shelf], None],
        trial: Trial,
        listen: Callable[[Office], None] = lambda _office: None,
    ) -> None:
        """Keep what is needed; nothing is read yet.

        Args:
            prepare: gives the office the nearness of records in meaning, which may take a while.
            trial: asks the questions about a record, which may take a while.
            listen: opens the mailbox, which may take a while.
        """
        super().__init__()
        self._office = office
        self._prepare = prepare
        self._trial = trial
        self._listen_to = listen
        self._shelf: Shelf | None = None
        self._items: list[Item] = []
        self._studied: Dossier | None = None
        self._placed: dict[str, list[Placed]] = {}
        self._detail = Detail.BRIEF
        self._problem = ""
        self._approving = ""

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static("chatctx review · reading the records ...", id="status", markup=False)
        with Horizontal(id="desk"):
            yield OptionList(id="queue", markup=False)
            with Vertical(id="record"):
                yield Tabs(
                    *(Tab(f"{n} {name}", id=pane) for n, (pane, name) in enumerate(_TITLES.items(), 1)), id="panes"
                )
                with VerticalScroll(id="scroll", can_focus=False):
                    yield Static("", id="body", markup=False)
        yield Static("", id="told", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show what waits, and learn in the background how near records are to each other."""
        self.query_one(OptionList).focus()
        self.action_reload()
        self._learn()
        self._listen()

    @property
    def item(self) -> Item | None:
        """The thing that is shown."""
        place = self.query_one(OptionList).highlighted
        return self._items[place] if place is not None and place < len(self._items) else None

    # What is shown.

    def action_reload(self) -> None:
        """Read the folder again and stay where the owner was, as far as that is still there."""
        before = self.item
        place = self.query_one(OptionList).highlighted or 0
        try:
            self._shelf, self._items = self._office.look()
        except AppError as error:
            self._say(f"{error.code}: {error.message}")
            return
        keys = [item.key for item in self._items]
        kept = keys.index(before.key) if before and before.key in keys else min(place, max(0, len(keys) - 1))
        queue = self.query_one(OptionList)
        queue.clear_options()
        queue.add_options([Option(row(item)) for item in self._items])
        queue.highlighted = kept if self._items else None
        self._say("")
        self._study()

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        """Look at another thing: a record first as an agent gets it, anything else as what it is about."""
        item = self.item
        if item is not None and (item.kind in _FROM_OUTSIDE) != (self.query_one(Tabs).active == "why"):
            self.query_one(Tabs).active = "why" if item.kind in _FROM_OUTSIDE else "text"
        self._study()

    def on_tabs_tab_activated(self, _: Tabs.TabActivated) -> None:
        """Show another side of it."""
        self._show(scroll=True)

    def action_pane(self, name: str) -> None:
        """Show one side of it."""
        self.query_one(Tabs).active = name

    def action_detail(self) -> None:
        """Show the text at the next detail."""
        self._detail = _DETAILS[(_DETAILS.index(self._detail) + 1) % len(_DETAILS)]
        self._show(scroll=True)

    def action_scroll(self, pages: int) -> None:
        """Scroll what is shown."""
        scroll = self.query_one("#scroll", VerticalScroll)
        scroll.scroll_relative(y=pages * max(1, scroll.size.height - 1), animate=False)

    def action_help(self) -> None:
        """Say which key does what."""
        self.push_screen(Help())

    # What is decided.

    def action_approve(self) -> None:
        """Approve what is shown, with a note."""
        item, studied = self.item, self._studied
        if item is None or not decides_on_records(item):
            self._warn("There is nothing here to approve.")
        elif studied is None:
            # Asked as soon as there is something to decide about.
            self._approving = "" if self._problem else item.key
            self._warn(self._problem or "Still reading ...")
        elif errors := studied.verdict.findings(Level.ERROR):
            self._warn(f"Refused by {', '.join(dict.fromkeys(gate for gate, _ in errors))}: see Gates (4).")
        else:
            gates = warned(studied.verdict)
            hint = f"A reason is needed: {', '.join(gates)}." if gates else "A note may be left out."
            question = f"Approve {item.slug} as version {studied.version + 1} ({studied.file.sha256[:12]})?"
            self._as_owner(lambda: self._ask(item, question, hint, lambda note: self._approve(item, studied, note)))

    def action_reject(self) -> None:
        """Reject what is shown, with a reason."""
        item = self.item
        if item is not None:
            self._ask(
                item, f"Reject {item.slug or item.key} as it stands?", "Say why.", lambda why: self._reject(item, why)
            )

    def action_defer(self) -> None:
        """Set it aside for some days."""
        item = self.item
        if item is not None:
            self._do(lambda: f"deferred until {self._office.defer(item)}: {item.slug or item.key}")

    def action_settle(self) -> None:
        """Note that the approved version settles this feedback."""
        item = self.item
        if item is not None:
            self._do(lambda: f"noted: {self._office.settle(item)}")

    def action_undo(self) -> None:
        """Take back what was decided last."""
        self._as_owner(lambda: self._do(lambda: f"taken back: {self._office.undo()}"))

    def action_edit(self) -> None:
        """Let the owner edit the file, and read it again."""
        path = self._path()
        if path is None:
            self._warn("There is no file to edit.")
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            with self.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 - the owner's own editor
        except (SuspendNotSupported, OSError, ValueError) as error:
            self._warn(f"{editor} cannot be started ({type(error).__name__}): set $EDITOR.")
        self.action_reload()

    @work(thread=True, group="approve")
    def _approve(self, item: Item, studied: Dossier, note: str) -> None:
        """Behind the screen, because checks may have to be run first."""
        self.call_from_thread(self._say, f"approving {item.slug}: checks that have not passed on this text are run ...")
        try:
            entry = self._office.approve(item, studied, note)
        except AppError as error:
            self.call_from_thread(self._warn, error.message)
            return
        self.call_from_thread(self._decided, f"approved: {entry.slug}; served from the next publish on")

    def _reject(self, item: Item, reason: str) -> None:
        def act() -> str:
            self._office.reject(item, reason)
            return f"rejected until it is edited: {item.slug or item.key}"

        self._do(act)

    def _as_owner(self, then: Callable[[], None]) -> None:
        """Ask for the owner's passphrase where one is wanted, and go on."""
        try:
            locked = self._office.is_locked
        except AppError as error:
            self._warn(error.message)
            return
        if not locked:
            then()
            return

        def given(text: str | None) -> None:
            if text:
                self._unlock(text, then)

        self.push_screen(Reason("The owner's passphrase:", "It is asked for once a sitting.", "", hidden=True), given)

    @work(thread=True, group="unlock", exclusive=True)
    def _unlock(self, text: str, then: Callable[[], None]) -> None:
        try:
            self._office.unlock(text)
        except AppError as error:
            self.call_from_thread(self._warn, error.message)
        else:
            self.call_from_thread(then)

    def _ask(self, item: Item, question: str, hint: str, then: Callable[[str], object]) -> None:
        def answered(text: str | None) -> None:
            if text is not None:
                then(text)

        draft = self._office.draft(item.key)
        keep = partial(self._office.keep_draft, item.key)
        self.push_screen(Reason(question, hint, draft, keep), answered)

    def _do(self, act: Callable[[], str]) -> None:
        try:
            words = act()
        except AppError as error:
            self._warn(error.message)
            return
        self._decided(words)

    def _decided(self, words: str) -> None:
        self.action_reload()
        self._say(words)

    # What goes on behind the screen.

    @work(thread=True, group="learn", exclusive=True)
    def _learn(self) -> None:
        if self._shelf is not None:
            self._prepare(self._office, self._shelf)
            self.call_from_thread(self._study)

    @work(thread=True, group="listen", exclusive=True)
    def _listen(self) -> None:
        try:
            self._listen_to(self._office)
        except AppError as error:
            self.call_from_thread(self._say, f"feedback and gaps cannot be read: {error.message}")
            return
        if self._office.mailbox is not None:
            self.call_from_thread(self.action_reload)

    @work(thread=True, group="study", exclusive=True)
    def _read(self, shelf: Shelf, item: Item) -> None:
        try:
            studied, problem = self._office.study(shelf, str(item.slug)), ""
        except AppError as error:
            studied, problem = None, error.message
        self.call_from_thread(self._learned, item, studied, problem)

    @work(thread=True, group="trial", exclusive=True)
    def _try(self, shelf: Shelf, item: Item) -> None:
        try:
            placed = self._trial(shelf, str(item.slug))
        except AppError as error:
            self.call_from_thread(self._say, f"the questions cannot be asked: {error.message}")
            return
        self.call_from_thread(self._tried, item, placed)

    def _study(self) -> None:
        self._studied, self._problem = None, ""
        item = self.item
        if item is None or item.key != self._approving:
            self._approving = ""
        if item is not None and item.slug is not None and self._shelf is not None:
            self._read(self._shelf, item)
        self._show(scroll=True)

    def _learned(self, item: Item, studied: Dossier | None, problem: str) -> None:
        if self.item is not None and self.item.key == item.key:
            self._studied, self._problem = studied, problem
            self._show(scroll=False)
            if self._approving == item.key:
                self.action_approve()
            self._approving = ""

    def _tried(self, item: Item, placed: list[Placed]) -> None:
        self._placed[item.form] = placed
        self._show(scroll=False)

    def _show(self, *, scroll: bool) -> None:
        self.query_one("#body", Static).update(self._body())
        if scroll:
            self.query_one("#scroll", VerticalScroll).scroll_home(animate=False)

    def _body(self) -> RenderableType:
        item, studied = self.item, self._studied
        if item is None:
            return Text("Nothing waits." if self._shelf else "", style="dim")
        pane = self.query_one(Tabs).active
        if pane == "why" or item.slug is None or (studied is None and self._problem):
            return item_pane(item)
        if studied is None:
            return Text("reading ...", style="dim")
        if pane == "questions":
            return self._questions(item, studied)
        plain: dict[str, Callable[[Dossier], RenderableType]] = {
            "diff": diff_pane, "gates": gates_pane, "sources": sources_pane, "near": near_pane,
        }  # fmt: skip
        if pane in plain:
            return plain[pane](studied)
        return json_pane(studied, self._detail) if pane == "json" else text_pane(studied, self._detail)

    def _questions(self, item: Item, studied: Dossier) -> Text:
        placed = self._placed.get(item.form)
        if placed is None and self._shelf is not None:
            self._try(self._shelf, item)
            return Text("asking the labelled questions ...", style="dim")
        return questions_pane(placed or [], studied.file.record.slug)

    def _path(self) -> Any:
        item = self.item
        if item is None or item.slug is None or self._shelf is None:
            return None
        if item.slug in self._shelf.files:
            return self._shelf.files[item.slug].path
        found = sorted(self._shelf.folder.glob(f"*/{item.slug}.md"))
        return found[0] if found else None

    def _say(self, words: str) -> None:
        waiting = f"{len(self._items)} wait" if len(self._items) != 1 else "1 waits"
        self.query_one("#status", Static).update(Text(f"chatctx review · {waiting} · as {self._office.by}"))
        told = self.query_one("#told", Static)
        told.update(Text(words))
        told.display = bool(words)

    def _warn(self, words: str) -> None:
        self._say(words)
        self.bell()
