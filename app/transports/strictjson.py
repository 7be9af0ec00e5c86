"""JSON that has one meaning only. Whatever two parsers could read differently is refused, not repaired."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_DEPTH = 24
_INTEGERS = range(-(2**63), 2**63)
# Between the two an integer in a tool's arguments is for the tool to refuse by name; turning more digits than this into
# a number is slow.
_MOST_DIGITS = 1000
_MAYBE_TOO_LARGE = re.compile(r"\d{19}")
_UNUSABLE_TEXT = re.compile("[\0\ud800-\udfff]")
# Only an escape can bring either in: bare, the one is no JSON and the other no UTF-8.
_UNUSABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH}"


class NotStrict(ValueError):
    """The text is not JSON, or not JSON with one meaning; the message says why and holds nothing of the text."""


def parse(body: bytes) -> Any:
    """Return the value a body holds.

    Raises:
        NotStrict: it is not UTF-8 without a byte-order mark, not JSON, nested deeper than MAX_DEPTH, holds a name
            twice in an object, a number that is not finite or has more than _MOST_DIGITS digits, or, outside a tool's
            arguments, NUL, a lone surrogate or an integer of more than 64 bits.
    """
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_unique_names,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_finite,
        )
    except NotStrict:
        raise
    except UnicodeDecodeError as error:
        raise NotStrict("it is not UTF-8") from error
    except RecursionError as error:
        raise NotStrict(_TOO_DEEP) from error
    except ValueError as error:
        raise NotStrict("it is not JSON") from error
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_deep(value, 1)
    if _UNUSABLE_ESCAPE.search(text) or _MAYBE_TOO_LARGE.search(text):
        _refuse_unusable(_around_arguments(value))
    return value


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise NotStrict("an object has a name twice")
    return names


def _refuse_constant(_: str) -> NoReturn:
    raise NotStrict("a number is not finite")


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise NotStrict(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotStrict("a number is not finite")
    return value


def _refuse_deep(node: Any, depth: int) -> None:
    if isinstance(node, (dict, list)):
        if depth > MAX_DEPTH:
            raise NotStrict(_TOO_DEEP)
        for child in node.values() if isinstance(node, dict) else node:
            _refuse_deep(child, depth + 1)


def _refuse_unusable(value: Any) -> None:
    for leaf in _leaves(value):
        if isinstance(leaf, str) and _UNUSABLE_TEXT.search(leaf):
            raise NotStrict("a string holds NUL or half of a surrogate pair")
        if isinstance(leaf, int) and leaf not in _INTEGERS:
            raise NotStrict("an integer has more than 64 bits")


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _leaves(child)
    else:
        yield node


def _around_arguments(message: Any) -> Any:
    """Return the message without its tool's arguments: those are judged by the tool, which can name the field."""
    if not isinstance(message, dict) or not isinstance(params := message.get("params"), dict):
        return message
    return {**message, "params": {name: value for name, value in params.items() if name != "arguments"}}
