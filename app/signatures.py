"""SSH signatures of decisions, as `ssh-keygen -Y sign` makes them, against a file of allowed signers.

The file has OpenSSH's format (ssh-keygen(1), ALLOWED SIGNERS): principals, options, key. It lies outside the database,
so that whoever can write there still cannot approve anything. Keys are Ed25519 or RSA; certificates are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from fnmatch import fnmatchcase
from pathlib import Path

from sshsig import InvalidSignature, PublicKey, check_signature
from sshsig.allowed_signers import AllowedSigner

from app.errors import SettingsError
from app.ledger import Entry

# A signature for another purpose, of the same key, is none here.
NAMESPACE = "chatctx-approval-v1"
_ARMOUR = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----")
_BLANKS = " \t\r"
# What OpenSSH does not take for a blank, and others do.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f]")
_TIME = re.compile(r"(\d{8})(\d{4}(?:\d{2})?)?(Z?)", re.ASCII)


@dataclass(frozen=True)
class Signer:
    """A line of the file: who may sign with which key, for what and when.

    Attributes:
        principals: patterns of the names the key may sign in; one that begins with `!` excludes.
        namespaces: patterns of purposes; empty for any.
        after, before: the key's life, either may be open.
    """

    principals: tuple[str, ...]
    key: PublicKey
    namespaces: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None

    def admits(self, name: str, key: PublicKey, at: datetime) -> bool:
        """Tell whether this line lets a key sign a decision in a name at a time."""
        alive = (self.after is None or at >= self.after) and (self.before is None or at < self.before)
        for_us = not self.namespaces or _matches(NAMESPACE, self.namespaces)
        return (
            alive
            and for_us
            and self.key == key
            and _matches(_plain(name.encode("utf-8", "surrogatepass")), self.principals)
        )


@dataclass(frozen=True)
class Signers:
    """The allowed signers, as their file said when `read_signers` read it."""

    signers: tuple[Signer, ...]

    def accepts(self, entry: Entry, at: datetime) -> bool:
        """Tell whether a decision is signed by somebody who may, in the name it was taken in.

        Args:
            at: when it was taken, as far as the lines before it allow: a date set back must not revive a key.
        """
        key = key_of(entry)
        return key is not None and any(signer.admits(entry.by, key, at) for signer in self.signers)


def key_of(entry: Entry) -> PublicKey | None:
    """Return the key a decision is signed with, None when it is not, not for this purpose, or with no key we read."""
    if entry.sig is None:
        return None
    armoured = "\n".join((_ARMOUR[0], entry.sig, _ARMOUR[1]))
    try:
        return check_signature(entry.statement(), armoured, NAMESPACE)
    # What is stored may be anything, and the library lets its parsers' errors through.
    except (InvalidSignature, NotImplementedError, ValueError, EOFError, AssertionError, TypeError):
        return None


def read_signers(path: Path) -> Signers:
    """Read a file of allowed signers.

    Raises:
        SettingsError: it cannot be read, a line is not in the format, or it allows nobody.
    """
    try:
        lines = _plain(path.read_bytes()).split("\n")
    except OSError as error:
        raise SettingsError(f"The file of allowed signers cannot be read ({type(error).__name__}): {path}") from error
    told = [(line.strip(_BLANKS), number) for number, line in enumerate(lines, 1)]
    signers = [_signer(line, number) for line, number in told if line and not line.startswith("#")]
    if not signers:
        raise SettingsError(f"The file of allowed signers names nobody: {path}")
    return Signers(tuple(signers))


def without_armour(armoured: str) -> str:
    """Return the base64 of a signature as ssh-keygen prints it. Raises ValueError when it is none."""
    lines = armoured.strip().splitlines()
    if len(lines) < len(_ARMOUR) + 1 or (lines[0], lines[-1]) != _ARMOUR:
        raise ValueError("not an SSH signature")
    return "".join(lines[1:-1])


def _signer(line: str, number: int) -> Signer:
    try:
        parsed = AllowedSigner.parse(line)
        key = PublicKey.from_openssh_str(f"{parsed.key_type} {parsed.base64_key}")
        options = dict(parsed.options or {})
        life = _time(options.get("valid-after")), _time(options.get("valid-before"))
    except (ValueError, NotImplementedError, IndexError, EOFError) as error:
        raise _bad_line(number) from error
    if "cert-authority" in options or _CONTROL.search(line):
        raise _bad_line(number)
    return Signer(tuple(_listed(parsed.principals)), key, tuple(_listed(options.get("namespaces", ""))), *life)


def _plain(content: bytes) -> str:
    """Return text with a character for each byte, as OpenSSH reads: beyond ASCII there is no blank and no line end."""
    return content.decode("ascii", "surrogateescape")


def _bad_line(number: int) -> SettingsError:
    return SettingsError(
        f"Line {number} of the allowed signers is not `NAME [OPTIONS] KEYTYPE KEY` with an Ed25519 or RSA key."
    )


def _listed(value: str) -> Iterator[str]:
    return (part.strip() for part in value.split(",") if part.strip())


def _time(text: str | None) -> datetime | None:
    """Read OpenSSH's YYYYMMDD[HHMM[SS]][Z]; without Z it is this machine's local time."""
    if text is None:
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("not a time")
    day, clock, utc = match[1], (match[2] or "").ljust(6, "0"), match[3]
    zone: tzinfo | None = UTC if utc else None
    moment = datetime.strptime(day + clock, "%Y%m%d%H%M%S").replace(tzinfo=zone)
    return moment.astimezone(UTC)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Match as OpenSSH's pattern lists do: one that excludes beats any that includes."""
    # Brackets are no pattern there.
    listed = [pattern.replace("[", "[[]") for pattern in patterns]
    if any(fnmatchcase(name, pattern[1:]) for pattern in listed if pattern.startswith("!")):
        return False
    return any(fnmatchcase(name, pattern) for pattern in listed if not pattern.startswith("!"))
