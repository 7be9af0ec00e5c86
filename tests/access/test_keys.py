"""API keys: their form, their checksum, and what is refused without asking anyone."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from app.access.keys import BASE62, SCANNER_PATTERN, checksum, mint_key, parse_key


def test_a_new_key_is_read_back():
    for kind in ("live", "test"):
        key = mint_key(kind)
        assert parse_key(key.text) == key
        assert len(key.text) == 70
        assert re.fullmatch(r"kb_(live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}", key.text)


def test_keys_do_not_repeat():
    assert len({mint_key().key_id for _ in range(1000)}) == 1000


def test_a_key_does_not_show_itself():
    key = mint_key()
    assert key.text not in repr(key)


def test_scanners_find_keys_in_text():
    keys = [mint_key().text for _ in range(100)]
    found = [match[0] for match in re.finditer(SCANNER_PATTERN, "x=" + " ; ".join(keys) + "\n")]
    assert found == keys


@given(st.integers(min_value=3, max_value=69), st.sampled_from(BASE62))
def test_a_typing_error_is_seen_by_the_checksum(position, character):
    """CRC-32 sees every single changed character."""
    text = mint_key().text
    mistyped = text[:position] + character + text[position + 1 :]
    assert (parse_key(mistyped) is not None) == (mistyped == text)


@given(st.text() | st.from_regex(r"kb_(live|test)_\w{12}_\w{49}", fullmatch=True))
def test_whatever_is_not_a_key_is_refused_quietly(text):
    """The parser never raises, and what it accepts it gives back unchanged."""
    key = parse_key(text)
    assert key is None or (key.text == text and text.isascii() and text.endswith(checksum(text[:-6])))


def test_a_line_end_does_not_belong_to_a_key():
    assert parse_key(mint_key().text + "\n") is None
