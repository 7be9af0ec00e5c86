"""The questions the desk asks before a decision is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

Keep = Callable[[str], None]


def _forget(_text: str) -> None:
    """Keep nothing."""


KEYS = (
    ("up, down", "choose what to look at"),
    ("1 to 8", "text, JSON, diff, gates, sources, near, questions, why"),
    ("page up, page down", "scroll what is shown"),
    ("v", "another detail: brief, standard, full"),
    ("e", "edit the file in $VISUAL or $EDITOR"),
    ("a", "approve exactly this text, with a note"),
    ("r", "reject it with a reason; decline feedback"),
    ("f", "feedback: the approved version settles it"),
    ("d", "defer it for seven days"),
    ("u", "take back what was decided last"),
    ("g", "read the folder again"),
    ("q", "leave; nothing has to be saved"),
)


class Reason(ModalScreen[str | None]):
    """Asks for a line of text; gives it back, or None when nothing is to be done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Leave")]

    def __init__(self, question: str, hint: str, draft: str, keep: Keep = _forget, *, hidden: bool = False) -> None:
        super().__init__()
        self._question = question
        self._hint = hint
        self._draft = draft
        self._keep = keep
        self._hidden = hidden

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False, classes="question")
            yield Input(value=self._draft, password=self._hidden)
            yield Static(f"{self._hint}  Enter: do it. Escape: leave it.", markup=False, classes="hint")

    def on_mount(self) -> None:
        """Let the owner write at once."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep what is written: a crash must not lose it."""
        self._keep(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the text back."""
        self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        """Decide nothing."""
        self.dismiss(None)


class Help(ModalScreen[None]):
    """Says which key does what."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Back")]

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with VerticalScroll(classes="dialog"):
            yield Static("Keys", classes="question")
            yield Static("\n".join(f"{key:<19} {meaning}" for key, meaning in KEYS), markup=False)
            yield Static(
                "Each key decides about the one thing that is shown, and the line is on disk at once.", classes="hint"
            )
