"""`chatctx review`: what an owner does with records."""

from __future__ import annotations

import click

from review.commands.acting import actions_command
from review.commands.aging import stale_command
from review.commands.checking import check_command
from review.commands.deciding import approve_command, deprecate_command, history_command
from review.commands.gaps import gaps_command
from review.commands.importing import import_command
from review.commands.linting import lint_command
from review.commands.listening import feedback_command
from review.commands.models import drop_model_command, models_command
from review.commands.publishing import publish_command
from review.commands.sitting import defer_command, queue_command, reject_command, reopen_command, sit_down
from review.commands.starting import new_command
from review.commands.verifying import verify_command
from review.commands.writing import diff_command, show_command

_COMMANDS = (
    queue_command,
    check_command,
    new_command,
    import_command,
    lint_command,
    show_command,
    diff_command,
    approve_command,
    reject_command,
    defer_command,
    reopen_command,
    deprecate_command,
    history_command,
    publish_command,
    models_command,
    drop_model_command,
    verify_command,
    stale_command,
    feedback_command,
    gaps_command,
    actions_command,
)


@click.group(invoke_without_command=True)
@click.pass_context
def review(context: click.Context) -> None:
    """Check, approve and publish records. Without a command: the desk, a full screen over what waits for a decision.

    Exit codes: 0 done, 1 findings or refused, 2 wrong usage, 3 something needed cannot be reached.
    """
    if context.invoked_subcommand is None:
        sit_down(context)


for _command in _COMMANDS:
    review.add_command(_command)
