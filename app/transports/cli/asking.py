"""Asking for the owner's passphrase: at the terminal the command was started from, and nowhere else.

Not from an argument, which others see in the list of processes, nor from the environment, a file or a pipe, where an
agent with a shell could have put it.
"""

from __future__ import annotations

import getpass
import os
import time
import warnings
from collections.abc import Callable

from app.errors import PassphraseError
from app.passphrase import Lock
from app.settings import Settings

_TERMINAL = "/dev/tty"
_PROMPT = "Owner's passphrase: "
_NO_TERMINAL = (
    "The owner's passphrase is asked for on a terminal, and there is none here. No option, pipe or variable stands for "
    "it: run this at a terminal."
)


def expect_owner(settings: Settings) -> None:
    """Refuse at once what `confirm_owner` could not ask for later.

    Raises:
        PassphraseError: a passphrase is set and there is no terminal, or its file cannot be used.
    """
    if Lock(settings).is_set:
        _need_terminal()


def confirm_owner(settings: Settings) -> Lock:
    """Return the lock once the passphrase has been typed, or at once when none is set.

    Raises:
        PassphraseError: there is no terminal, it was wrong three times or not typed, or its file cannot be used.
    """
    lock = Lock(settings)
    if lock.is_set:
        ask_until(lock, _PROMPT, lock.verify)
    return lock


def ask_until(lock: Lock, prompt: str, right: Callable[[str], bool]) -> str:
    """Ask until the passphrase is right and return it. Raises PassphraseError as `confirm_owner`."""
    while lock.pause is not None:
        text = ask_hidden(prompt)
        if right(text):
            return text
        if lock.pause:
            tell(f"That is not it. Wait {lock.pause} s.")
            time.sleep(lock.pause)
    raise PassphraseError("That was not the owner's passphrase: nothing was done.")


def ask_hidden(prompt: str) -> str:
    """Ask for a line on the terminal without showing it.

    Raises:
        PassphraseError: there is no terminal, it cannot hide what is typed, or nothing was typed.
    """
    _need_terminal()
    with warnings.catch_warnings():
        # Where it cannot hide the line, the library would warn, and read what is piped in.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt)
        except getpass.GetPassWarning:
            raise PassphraseError("This terminal cannot hide what is typed: use another.") from None
        except UnicodeDecodeError:
            raise PassphraseError("What was typed is not in this terminal's encoding: nothing was done.") from None
        except (EOFError, KeyboardInterrupt):
            tell("")
            raise PassphraseError("No passphrase was given: nothing was done.") from None


def tell(text: str) -> None:
    """Say something where the question was asked, whatever the output goes to."""
    with open(_TERMINAL, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - a device, not a path
        terminal.write(f"{text}\n")


def _need_terminal() -> None:
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        raise PassphraseError(_NO_TERMINAL) from None
