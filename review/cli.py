"""`chatctx review`: what an owner does with records."""

from __future__ import annotations

import click

from review.commands.checking import check_command


@click.group()
def review() -> None:
    """Check, approve and publish records.

    Exit codes: 0 done, 1 findings or refused, 2 wrong usage, 3 something needed cannot be reached.
    """


for _command in (check_command,):
    review.add_command(_command)
