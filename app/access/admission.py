"""Who may call, and how often: a key or a guest, each with a daily allowance."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from urllib.parse import parse_qsl

from app.access.keys import ApiKey, KeyKind, mint_key, parse_key
from app.access.memory import Refusals
from app.access.pepper import PepperRing, keyed_hash
from app.access.quota import Charge, GuestQuotas, Quotas
from app.errors import FeedbackClosed, QuotaExhausted, Unauthorized, Unavailable
from app.ports import AccessStore, Clock, KeyRow
from app.settings import Environment, Settings

QUERY_HASH_BYTES = 8
# A key that was just refused is refused again without asking the database.
_REFUSED_KEY_SECONDS = 5
_SEND_A_KEY = "Send one that starts with kb_live_ as a bearer token"


class NoCredentials(Unauthorized):
    """Nothing is presented where guests are not served."""


@dataclass(frozen=True)
class Caller:
    """Who calls.

    Attributes:
        address: the client, as `client_address` spells it.
        key_id: public part of the key, None for a guest.
        daily_quota: the key's own allowance, None for the server's default.
    """

    address: str
    key_id: str | None = None
    daily_quota: int | None = None

    @property
    def is_guest(self) -> bool:
        """Whether no key was presented."""
        return self.key_id is None


@dataclass(frozen=True, repr=False)
class NewKey:
    """A key just made: `text` is to be shown once, the rest to be stored."""

    text: str
    key_id: str
    mac: bytes
    pepper_id: str


def new_key(peppers: PepperRing, kind: KeyKind = "live") -> NewKey:
    """Mint a key under the newest pepper. Does no I/O."""
    key = mint_key(kind)
    return NewKey(key.text, key.key_id, peppers.key_mac(key.text, peppers.newest), peppers.newest)


class Access:
    """Decides who a caller is and takes units of his allowance. Blocking, except where it says otherwise."""

    def __init__(self, store: AccessStore, peppers: PepperRing, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._peppers = peppers
        self._settings = settings
        self._clock = clock
        self._quotas = Quotas(store, clock)
        self._guests = GuestQuotas(self._quotas, store, peppers)
        self._refused_keys: Refusals[bool] = Refusals()
        self._touched: dict[str, date] = {}
        # Compared with when there is no row, so that an unknown key costs what a wrong one does. Nobody can know it.
        self._dummy = secrets.token_bytes(32)

    def read_key(self, authorization: Sequence[bytes], query_string: bytes = b"") -> ApiKey | None:
        """Return the key a request presents, None for a guest. Does no I/O.

        Raises:
            Unauthorized: something is presented and it is not a key.
            NoCredentials: nothing is, and guests are not served.
        """
        if _names_a_token(query_string):
            raise self._unauthorized()
        if not authorization:
            if self._settings.guest_access:
                return None
            raise NoCredentials(f"This server answers only callers with an API key. {_SEND_A_KEY}.")
        key = _bearer(authorization[0]) if len(authorization) == 1 else None
        if key is None or (key.kind == "test" and self._settings.env is Environment.PRODUCTION):
            raise self._unauthorized()
        return key

    def identify(self, key: ApiKey, address: str) -> Caller:
        """Return the caller that a key stands for.

        Raises:
            Unauthorized: the key is unknown or revoked.
            Unavailable: the database does not answer in time.
        """
        fingerprint = self._peppers.key_mac(key.text, self._peppers.newest)
        if self._refused_keys.get(fingerprint, self._clock.monotonic()):
            raise self._unauthorized()
        row = self._store.find_key(key.key_id)
        if not self._matches(key, row) or row is None or row.revoked_at is not None:
            self._refused_keys.add(fingerprint, self._clock.monotonic() + _REFUSED_KEY_SECONDS, fact=True)
            raise self._unauthorized()
        self._note_use(row, fingerprint)
        return Caller(address, row.key_id, row.daily_quota)

    def charge(self, caller: Caller) -> Charge:
        """Take one tool call from the caller's allowance.

        Raises:
            QuotaExhausted: it is used up.
            Unavailable: the database does not answer in time.
        """
        if caller.key_id is None:
            return self._guests.take(caller.address, "call", self._settings.guest_daily_quota)
        limit = self._settings.key_daily_quota if caller.daily_quota is None else caller.daily_quota
        return self._quotas.take(f"key:{caller.key_id}".encode(), limit)

    def charge_feedback(self, caller: Caller) -> None:
        """Take one feedback entry from a guest's allowance; keys answer for themselves with their calls.

        Raises:
            FeedbackClosed: it is used up.
            Unavailable: the database does not answer in time.
        """
        if not caller.is_guest:
            return
        try:
            self._guests.take(caller.address, "feedback", self._settings.feedback_guest_quota)
        except QuotaExhausted:
            raise FeedbackClosed(
                "Today's feedback from this address has been received. More is taken after 00:00 UTC."
            ) from None

    def forget_days(self) -> None:
        """Delete what is left of guests of days that are over. Raises Unavailable."""
        self._store.forget_days()

    def query_hash(self, question: str) -> bytes:
        """Return the keyed hash of a normalised question, comparable within a month. Does no I/O."""
        month = self._clock.now().strftime("%Y-%m").encode()
        return keyed_hash(self._peppers.subkey("query", salt=month), question)[:QUERY_HASH_BYTES]

    def feedback_hash(self, feedback: str) -> bytes:
        """Return the keyed hash that recognises the same feedback within a day. Does no I/O."""
        day = self._clock.now().date().isoformat().encode()
        return keyed_hash(self._peppers.subkey("feedback", salt=day), feedback)

    def _unauthorized(self) -> Unauthorized:
        """Return the one refusal for every credential that is not valid, whatever is wrong with it."""
        guest = ", or no credentials to call as a guest" if self._settings.guest_access else ""
        return Unauthorized(f"The API key is missing, malformed or revoked. {_SEND_A_KEY}{guest}.")

    def _matches(self, key: ApiKey, row: KeyRow | None) -> bool:
        known = row is not None and row.pepper_id in self._peppers.peppers
        stored, pepper_id = (
            (row.mac, row.pepper_id) if row is not None and known else (self._dummy, self._peppers.newest)
        )
        return hmac.compare_digest(self._peppers.key_mac(key.text, pepper_id), stored)

    def _note_use(self, row: KeyRow, newest_mac: bytes) -> None:
        """Move the key to the newest pepper and note the day it was used; a call does not fail over either."""
        with suppress(Unavailable):
            if row.pepper_id != self._peppers.newest:
                self._store.rekey(row.key_id, row.pepper_id, newest_mac, self._peppers.newest)
            today = self._clock.now().date()
            if self._touched.get(row.key_id) != today:
                self._store.touch_key(row.key_id)
                self._touched[row.key_id] = today


def _bearer(value: bytes) -> ApiKey | None:
    scheme, separator, token = value.decode("latin-1").partition(" ")
    return parse_key(token) if separator and scheme.lower() == "bearer" else None


def _names_a_token(query_string: bytes) -> bool:
    """Tell whether a request carries a token in its address, where every proxy would log it (RFC 6750)."""
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True) if query_string else []
    return any(name.lower() == "access_token" for name, _ in pairs)
