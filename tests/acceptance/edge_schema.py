"""Values that a published JSON Schema forbids, each with a word that must not come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

Drawn = st.SearchStrategy[tuple[Any, str]]

# No rule, name or word of ours holds any of it.
CANARIES = st.from_regex(r"zq[a-z0-9]{10}", fullmatch=True)
NUMBERS = st.integers(10**9, 10**15)


class ValuesBeside:
    """Draws values that do not fit a schema in the subset that tools publish."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    def strategy(self) -> Drawn:
        """Return a strategy for pairs of such a value and what must not be repeated of it."""
        return st.one_of(*self._of(self._schema))

    def _of(self, schema: Mapping[str, Any]) -> list[Drawn]:
        kind = {"string": self._strings, "integer": self._integers, "array": self._arrays, "object": self._objects}
        return [*self._wrong_kinds(schema), *kind[schema["type"]](schema)]

    def _wrong_kinds(self, schema: Mapping[str, Any]) -> list[Drawn]:
        # A list of one may stand for a text and a text for a list of one, so neither is a wrong kind of the other.
        other = [
            NUMBERS.map(lambda number: (number + 0.5, str(number))),
            CANARIES.map(lambda word: ([{word: word}], word)),
            CANARIES.map(lambda word: ([[word]], word)),
            CANARIES.map(lambda word: ({word: {word: [word]}}, word)),
        ]
        if schema["type"] != "integer":
            other.append(NUMBERS.map(lambda number: (number, str(number))))
        return other

    def _strings(self, schema: Mapping[str, Any]) -> list[Drawn]:
        bad = [
            CANARIES.map(lambda word: (f"{word}\0", word)),
            CANARIES.map(lambda word: (f"{word}\ud800", word)),
        ]
        if "enum" in schema:
            bad.append(CANARIES.map(lambda word: (word, word)))
        if "maxLength" in schema:
            longest = schema["maxLength"]
            bad.append(CANARIES.map(lambda word: (word * (longest // len(word) + 1), word)))
        if schema.get("minLength", 0) > 1:
            bad.append(st.just(("\u2603", "\\u2603")))
        return bad

    def _integers(self, schema: Mapping[str, Any]) -> list[Drawn]:
        return [
            NUMBERS.map(lambda number: (number + schema["maximum"], str(number + schema["maximum"]))),
            NUMBERS.map(lambda number: (-number, str(number))),
            NUMBERS.map(lambda number: (10**40 + number, str(number))),
            NUMBERS.map(lambda number: (str(number), str(number))),
            CANARIES.map(lambda word: (word, word)),
        ]

    def _arrays(self, schema: Mapping[str, Any]) -> list[Drawn]:
        inside = [
            drawn.map(lambda pair: ([pair[0]], pair[1])) for drawn in self._of({"type": "string", **schema["items"]})
        ]
        too_many = CANARIES.map(lambda word: ([word] * (schema["maxItems"] + 1), word))
        return [*inside, too_many]

    def _objects(self, schema: Mapping[str, Any]) -> list[Drawn]:
        return [
            NUMBERS.map(lambda number: ({"React": number}, str(number))),
            CANARIES.map(lambda word: ({word: [word]}, word)),
            CANARIES.map(lambda word: ({f"{word}\0": "1"}, word)),
            CANARIES.map(lambda word: ({f"{word}{n}": "1" for n in range(schema["maxProperties"] + 1)}, word)),
            CANARIES.map(lambda word: ([word], word)),
            CANARIES.map(lambda word: (word, word)),
        ]
