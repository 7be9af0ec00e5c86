"""Words that cannot occur by chance, one for each way into the server, and the search for them in what is left."""

from __future__ import annotations

import base64
import json
import re
import secrets
import string
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Where callers say they come from; documentation's own, so that no real address is like it.
ADDRESSES = ("198.51.100.", "2001:db8:7e57:")
_HIDDEN_CHARACTERS = 12


@dataclass
class Canaries:
    """Hands out words and remembers for which way in each is. All of a run share their beginning.

    Attributes:
        paths: the way in (what is sent, and what fails meanwhile) by word.
    """

    beginning: str = field(
        default_factory=lambda: "zq" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(10))
    )
    paths: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def word(self, path: str) -> str:
        """Return a new word for a way in."""
        with self._lock:
            word = f"{self.beginning}{len(self.paths):04d}x"
            self.paths[word] = path
        return word

    def address(self, word: str) -> str:
        """Return the address that the caller with this word has."""
        number = int(word.removeprefix(self.beginning)[:4])
        return f"{ADDRESSES[0]}{number % 250 + 1}" if number % 2 else f"{ADDRESSES[1]}{number:x}::1"

    def found_in(self, content: bytes) -> set[str]:
        """Return the ways in whose words are there, as they are or encoded; callers' addresses count too."""
        found = {f"address {address}" for address in ADDRESSES if address.encode() in content}
        for name, pattern in self._patterns.items():
            for match in pattern.finditer(content):
                word = self.beginning + match[1].decode("ascii", "replace") if match.lastindex else ""
                found.add(self.paths.get(word + "x", f"{name}: {match[0]!r}"))
        return found

    @property
    def _patterns(self) -> Mapping[str, re.Pattern[bytes]]:
        plain = self.beginning.encode()
        encodings = {
            "hex": plain.hex().encode(),
            "percent": "".join(f"%{byte:02x}" for byte in plain).encode(),
            "utf-16": self.beginning.encode("utf-16-le"),
            "escaped": "".join(f"\\u{byte:04x}" for byte in plain).encode(),
        }
        patterns = {name: re.compile(re.escape(form), re.IGNORECASE) for name, form in encodings.items()}
        patterns |= {f"base64+{shift}": re.compile(re.escape(_base64(plain, shift))) for shift in range(3)}
        return patterns | {"plain": re.compile(re.escape(plain) + rb"(\d{4})?", re.IGNORECASE)}

    def encoded(self, word: str) -> Iterator[bytes]:
        """Yield a word in every form that is looked for: a search that finds none of these finds nothing."""
        plain = word.encode()
        yield plain
        yield word.upper().encode()
        yield plain.hex().encode()
        yield "".join(f"%{byte:02X}" for byte in plain).encode()
        yield word.encode("utf-16-le")
        yield "".join(f"\\u{byte:04x}" for byte in plain).encode()
        yield from (base64.b64encode(b"-" * shift + plain) for shift in range(3))
        yield json.dumps({"query": word}).encode()


@dataclass
class Sinks:
    """Everything that could have kept or shown a word: what is searched, by the name of where it was found."""

    contents: dict[str, list[bytes]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, content: str | bytes) -> None:
        """Add to what is searched under a name."""
        piece = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        with self._lock:
            self.contents.setdefault(name, []).append(piece)

    def add_folder(self, name: str, folder: Path) -> None:
        """Add every file below a folder, whatever it is, and its name."""
        self.add(name, str(folder))
        for path in sorted(folder.rglob("*")):
            self.add(name, f"{path}")
            if path.is_file():
                self.add(name, path.read_bytes())

    def text(self, name: str) -> bytes:
        """Return all that is searched under a name."""
        return b"\n".join(self.contents.get(name, []))

    def leaks(self, canaries: Canaries) -> dict[str, set[str]]:
        """Return the ways in whose words are in a sink, by sink."""
        found = {name: canaries.found_in(self.text(name)) for name in self.contents}
        return {name: leaked for name, leaked in found.items() if leaked}


def _base64(plain: bytes, shift: int) -> bytes:
    """Return what base64 makes of the words' beginning behind `shift` other bytes, without what depends on these."""
    encoded = base64.b64encode(b"\0" * shift + plain[: _HIDDEN_CHARACTERS - shift])
    return encoded[-(-shift * 8 // 6) + (1 if shift else 0) : len(encoded) - 4]
