"""What commands need of the program around them; `app.main` provides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from app.operations import Services
from app.publicfiles import Site
from app.settings import Settings


@dataclass(frozen=True)
class Diagnosis:
    """One line of `chatctx doctor`: what was looked at, how it is, what was found and how to mend it."""

    name: str
    state: Literal["ok", "warning", "broken"]
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class KeyLine:
    """A key as an owner may see it: everything but the secret.

    Attributes:
        pepper_id: the line of the pepper file without which the key does not work.
    """

    key_id: str
    label: str
    pepper_id: str
    daily_quota: int | None
    created_on: str
    last_used_on: str | None
    revoked: bool


class KeyAdministration(Protocol):
    """What an owner does with keys."""

    def create(self, label: str, daily_quota: int | None) -> str:
        """Mint a key and return its full text; it is never to be had again."""

    def listing(self) -> Sequence[KeyLine]:
        """Return all keys, oldest first."""

    def revoke(self, key_id: str) -> bool:
        """Revoke a key at once; False when there is none with this id that still works."""

    def set_quota(self, key_id: str, daily_quota: int | None) -> bool:
        """Set a key's calls per day, None for the server's default; False when there is no such key."""


class Runtime(Protocol):
    """The program behind the commands. Every method that reaches the database raises AppError when it cannot."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment settings are read from."""

    def settings(self) -> Settings:
        """Read and check the settings."""

    def services(self) -> AbstractContextManager[Services]:
        """Open the database and the embedding model for operations."""

    def explain(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a search and return how each candidate was judged."""

    def key_administration(self) -> AbstractContextManager[KeyAdministration]:
        """Open the database for work on keys."""

    def back_up(self, path: Path) -> int:
        """Write the database into a new file and return its size in bytes."""

    def restore(self, path: Path) -> int:
        """Fill an empty database from a file and return how many records are served."""

    def migrate(self) -> str:
        """Bring the database's schema to the newest revision and return its id."""

    def diagnose(self) -> Sequence[Diagnosis]:
        """Look at everything the server needs."""

    def site(self) -> Site:
        """Return the facts the public files state, without opening the database."""

    def serve(self) -> int:
        """Serve until told to stop; return the exit code."""
