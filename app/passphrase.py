"""The owner's passphrase: whether one is asked for, whether a text is it, and how it is replaced.

Lock(settings).is_set         whether a decision asks for it
Lock(settings).verify(text)   whether a text is it; opens the lock if so
Lock(settings).require()      refuse while it is shut: what decides is given a lock that somebody has opened

What is stored is in `app.passphrasefile`; whose passphrase decides about records is named beside them, in `app.owners`.
On a terminal `app.transports.cli.asking.confirm_owner` does all of it.
"""

from __future__ import annotations

import getpass
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import PassphraseError
from app.owners import add_owner, line_for, read_owners, remove_owner
from app.passphrasefile import FILE, Stored, changing, parse_stored, read_stored, write_stored
from app.settings import Settings

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_CHARACTERS = 12
# What a terminal takes as one line is less than 4,096 bytes.
MAX_CHARACTERS = 1000
# Seconds to wait after the first and the second wrong passphrase; the third ends it.
PAUSES_SECONDS = (1, 3)


@dataclass(frozen=True)
class Standing:
    """How the passphrase stands.

    Attributes:
        stored: None while none is set here.
        line: what names it beside the records; None while none is set.
        named: it is named there.
        owners: how many are named there.
    """

    stored: Stored | None
    line: str | None
    named: bool
    owners: int


class Lock:
    """The owner's passphrase over a home and a records folder. Nothing is read before it is asked for.

    A lock counts its wrong passphrases; make a new one for each question.
    """

    def __init__(self, settings: Settings) -> None:
        self._home = settings.home
        self._records = settings.records
        self._wrong = 0
        self._opened = False

    @property
    def is_set(self) -> bool:
        """Whether the passphrase is to be asked for.

        Raises:
            PassphraseError: the file cannot be used, or the records name owners and the passphrase here is none of
                theirs.
        """
        return self._required() is not None

    @property
    def pause(self) -> int | None:
        """Seconds to wait before the next try; None when there is none left."""
        waits = (0, *PAUSES_SECONDS)
        return waits[self._wrong] if self._wrong < len(waits) else None

    def require(self) -> None:
        """Return when none is set or this lock was opened with it. Raises PassphraseError, also as `is_set`."""
        if self._required() is not None and not self._opened:
            raise PassphraseError("This asks for the owner's passphrase, and it was not given: nothing was done.")

    def verify(self, text: str) -> bool:
        """Tell whether a text is the passphrase, and open the lock if so. Takes a moment, and 64 MiB.

        What was hashed with other parameters than today's is hashed anew.

        Raises:
            PassphraseError: as `is_set`, or none is set, or there is too little memory.
        """
        stored = self._required()
        if stored is None:
            raise PassphraseError("No passphrase is set: `chatctx owner set-passphrase` sets one.")
        if not self.matches(stored, text):
            return False
        self._opened = True
        if _hasher().check_needs_rehash(stored.encoded):
            # It was right all the same where it cannot be written, or has just been changed.
            with suppress(PassphraseError):
                self.replace(stored, text)
        return True

    def matches(self, stored: Stored, text: str) -> bool:
        """Tell whether a text is what is stored, whoever decides about the records. Raises PassphraseError."""
        from argon2.exceptions import Argon2Error, InvalidHashError, VerifyMismatchError  # noqa: PLC0415 - see _hasher

        try:
            if len(text) <= MAX_CHARACTERS and _hasher().verify(stored.encoded, normalised(text)):
                return True
        except (VerifyMismatchError, UnicodeEncodeError):
            pass
        except (Argon2Error, InvalidHashError) as error:
            raise _uncomputable(error) from error
        self._wrong += 1
        return False

    def standing(self) -> Standing:
        """Return how it stands. Raises PassphraseError when the file or the list of owners cannot be used."""
        stored, owners = read_stored(self._home), read_owners(self._records)
        if stored is None:
            return Standing(None, None, named=False, owners=len(owners))
        line = line_for(stored.fingerprint, _name())
        return Standing(stored, line, stored.fingerprint in owners, len(owners))

    def before_change(self) -> Stored | None:
        """Return what is stored now, for `replace`. Raises PassphraseError also where none can be stored safely."""
        read_owners(self._records)
        return read_stored(self._home, place=True)

    def replace(self, before: Stored | None, text: str) -> None:
        """Store a passphrase in place of what `before_change` returned, and name it beside the records where that was.

        Records that name nobody name this one, if they can be written.

        Raises:
            PassphraseError: another command has replaced it since, or it cannot be written; nothing was changed.
        """
        after = _hash(text)
        try:
            with changing(self._home):
                if read_stored(self._home, place=True) != before:
                    raise PassphraseError("Another command has changed the passphrase meanwhile: nothing was changed.")
                self._swap(before, after)
        except OSError as error:
            raise PassphraseError(
                f"{self._home / FILE} cannot be written: {error.strerror}. Nothing was changed."
            ) from error

    def _required(self) -> Stored | None:
        stored, owners = read_stored(self._home), read_owners(self._records)
        if owners and stored is None:
            raise PassphraseError(
                "These records are decided about with a passphrase (owners.txt names whose), and CHATCTX_HOME holds "
                "none: set it to the folder that holds yours, or see docs/approving.md."
            )
        if owners and stored is not None and stored.fingerprint not in owners:
            raise PassphraseError(
                "The passphrase in CHATCTX_HOME is not one that decides about these records: owners.txt beside them "
                "does not name it. `chatctx owner status` shows the line that an owner has to add."
            )
        return stored

    def _swap(self, before: Stored | None, after: Stored) -> None:
        """Write the file and the list of owners in such an order that after a crash what is stored is named."""
        owners = read_owners(self._records)
        named = before is not None and before.fingerprint in owners
        if named and not add_owner(self._records, after.fingerprint, _name()):
            raise PassphraseError("owners.txt beside the records cannot be written. Nothing was changed.")
        try:
            write_stored(self._home, after)
        except BaseException:
            if named:
                remove_owner(self._records, after.fingerprint)
            raise
        if before is not None and named:
            remove_owner(self._records, before.fingerprint)
        elif not owners and self._records.is_dir():
            add_owner(self._records, after.fingerprint, _name())


def normalised(text: str) -> str:
    """Return a passphrase in Unicode normal form NFKC, so that keyboards that compose letters differently agree."""
    return unicodedata.normalize("NFKC", text)


def refuse_weak(text: str) -> None:
    """Raise PassphraseError, with what is wanted, when a text is not to be a passphrase."""
    text = normalised(text)
    if not text.isprintable():
        raise PassphraseError("It holds a character that cannot be seen, from an arrow key perhaps: type it again.")
    if len(text) < MIN_CHARACTERS:
        raise PassphraseError(f"It is too short: take at least {MIN_CHARACTERS} characters, such as five random words.")
    if len(text) > MAX_CHARACTERS:
        raise PassphraseError(f"It is too long: take at most {MAX_CHARACTERS} characters.")


def _hasher() -> PasswordHasher:
    # Nothing that serves may so much as load a slow hash: whoever can call it can stop the server with it.
    from argon2 import PasswordHasher  # noqa: PLC0415
    from argon2.profiles import RFC_9106_LOW_MEMORY  # noqa: PLC0415

    return PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


def _hash(text: str) -> Stored:
    from argon2.exceptions import Argon2Error  # noqa: PLC0415 - see _hasher

    try:
        stored = parse_stored(_hasher().hash(normalised(text)))
    except Argon2Error as error:
        raise _uncomputable(error) from error
    assert stored is not None  # noqa: S101 - just made
    return stored


def _uncomputable(error: Exception) -> PassphraseError:
    return PassphraseError(
        f"The passphrase cannot be checked here ({type(error).__name__}): 64 MiB of memory are needed, and a file as "
        "`chatctx owner set-passphrase` writes it."
    )


def _name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "owner"
