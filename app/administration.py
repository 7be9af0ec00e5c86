"""Keys from the owner's side: minting with the pepper, storing, listing, revoking."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.access import PepperRing, new_key
from app.access.keys import KeyKind
from app.errors import InvalidInput
from app.store.access import KeyListing, KeyRing
from app.store.engine import Engine
from app.transports.cli.runtime import KeyLine


class StoredKeys:
    """Implements the command line's `KeyAdministration`."""

    def __init__(self, engine: Engine, peppers: PepperRing, kind: KeyKind = "live") -> None:
        self._ring = KeyRing(engine)
        self._peppers = peppers
        self._kind: KeyKind = kind

    def create(self, label: str, daily_quota: int | None) -> str:
        """Mint a key, store its hash, and return its full text. Raises Unavailable."""
        key = new_key(self._peppers, self._kind)
        self._ring.add(key.key_id, key.mac, key.pepper_id, label, daily_quota)
        return key.text

    def listing(self) -> Sequence[KeyLine]:
        """Return all keys, oldest first. Raises Unavailable."""
        return [_line(key) for key in self._ring.all()]

    def revoke(self, key_id: str) -> bool:
        """Revoke a key; False when no key has this id. Raises Unavailable."""
        return self._done(lambda: self._ring.revoke(key_id))

    def set_quota(self, key_id: str, daily_quota: int | None) -> bool:
        """Set a key's calls per day; False when no key has this id. Raises Unavailable."""
        return self._done(lambda: self._ring.set_quota(key_id, daily_quota))

    def _done(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except InvalidInput:
            return False
        return True


def _line(key: KeyListing) -> KeyLine:
    return KeyLine(
        key_id=key.key_id,
        label=key.label,
        pepper_id=key.pepper_id,
        daily_quota=key.daily_quota,
        created_on=key.created_at.date().isoformat(),
        last_used_on=key.last_used_on.isoformat() if key.last_used_on else None,
        revoked=key.revoked_at is not None,
    )
