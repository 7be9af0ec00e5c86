"""What commands that decide are given alike: who, why, and whether to ask."""

from __future__ import annotations

from collections.abc import Callable

import click

from review.decisions import clean_name, clean_note
from review.errors import InvalidDecision


class _Checked(click.ParamType[str]):
    """A text that a decision can carry; another is asked for again on a terminal, and wrong usage elsewhere."""

    name = "text"

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return it as it is kept."""
        try:
            return self._clean(value)
        except InvalidDecision as error:
            self.fail(error.message, param, ctx)


REASON = _Checked(clean_note)
by_option = click.option(
    "--by", type=_Checked(clean_name), help="Who decides. Default: your login. `demo` marks a demonstration set."
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal.")
