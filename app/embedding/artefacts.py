"""Files and libraries a model consists of: found without running them, checked before use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.contract import DegradedReason
from app.errors import EmbeddingFailure

_BLOCK_BYTES = 1 << 20


def import_library(name: str, remedy: str) -> Any:
    """Import a library when it is first needed.

    Raises:
        EmbeddingFailure: it is not installed or cannot be loaded; the message ends with the remedy.
    """
    try:
        return import_module(name)
    except (ImportError, OSError) as error:
        raise unusable(f"The library {name} cannot be loaded. {remedy}") from error


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, or None. The package's own code is not run."""
    try:
        spec = find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def read_pinned(path: Path, sha256: str, remedy: str) -> bytes:
    """Return a file's bytes if they are the expected ones.

    Use these bytes and not the path, so that what was checked is what runs.

    Raises:
        EmbeddingFailure: the file cannot be read or is another one; the message ends with the remedy.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unusable(f"{path} cannot be read ({error.strerror}). {remedy}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise unusable(f"{path} is not the tested file: its sha256 is not {sha256}. {remedy}")
    return content


def sha256_of(path: Path) -> str:
    """Return the hex sha256 of a file of any size. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def fingerprint(facts: Mapping[str, object]) -> str:
    """Return 12 hex digits that stand for everything that decides a model's vectors."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def failed(error: Exception) -> EmbeddingFailure:
    """Return the failure of a model that raised while it embedded.

    Raise it `from None`: the library's own message may repeat the text.
    """
    message = f"The embedding model failed ({type(error).__name__})."
    return EmbeddingFailure(DegradedReason.EMBEDDING_ERROR, message)


def unusable(message: str) -> EmbeddingFailure:
    """Return the failure of a model that cannot be loaded."""
    return EmbeddingFailure(DegradedReason.EMBEDDING_ERROR, message)
