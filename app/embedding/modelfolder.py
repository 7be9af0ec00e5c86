"""A folder with a model, inspected before any library looks at it: only data may be in it.

Libraries that load model folders have run Python found in them, or fetched it, although told not to
(huggingface/sentence-transformers#3801, CVE-2026-4372), and pickled weights are programs. So a folder
is refused unless every file is of a kind that holds data only and no configuration asks for code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.embedding.artefacts import package_folder, sha256_of, unusable

_DATA_SUFFIXES = frozenset({".safetensors", ".onnx", ".json", ".txt", ".md"})
_DATA_NAMES = frozenset({".gitattributes", "LICENSE", "NOTICE"})
# Points to another model, whose files would be loaded without having been looked at.
_FOREIGN_NAMES = frozenset({"adapter_config.json"})
_CODE_KEYS = frozenset({"auto_map", "trust_remote_code"})
_PLAIN_IMPLEMENTATIONS = frozenset({"eager", "sdpa"})
_MODULE_CLASS = re.compile(r"sentence_transformers(\.[a-z_]+)*\.(Transformer|Pooling|Normalize|Dense|LayerNorm)")


@dataclass(frozen=True)
class ModelFolder:
    """A folder that passed.

    Attributes:
        sha256: of the names and hashes of all its files: a changed byte anywhere changes it.
    """

    path: Path
    sha256: str


def find_model_folder(name: str) -> Path:
    """Return the folder a setting means: its path, or the package that has one model folder in it.

    Raises:
        EmbeddingFailure: there is neither, or the package holds no or several models.
    """
    if name and Path(name).is_dir():
        return Path(name)
    package = package_folder(name)
    if package is None:
        raise unusable(
            f"CHATCTX_EMBEDDING_MODEL: {name!r} is no folder and no installed package. "
            "Models are never downloaded: get the folder yourself and name its path."
        )
    found = sorted(path.parent for path in package.rglob("modules.json"))
    if len(found) != 1:
        raise unusable(f"The package {name!r} holds {len(found)} model folders, not one. Name the folder's path.")
    return found[0]


def inspect_model_folder(path: Path) -> ModelFolder:
    """Check a model folder and take its fingerprint. Nothing in it is run.

    Raises:
        EmbeddingFailure: a file may hold or ask for code, or cannot be read; the message names the
            file and the remedy.
    """
    try:
        files = sorted(_files(path))
        for file in files:
            _check(file, path)
        if not any(file.suffix == ".safetensors" for file in files):
            raise unusable(f"{path} holds no .safetensors file. Convert the weights to safetensors.")
        return ModelFolder(path, _hash_all(path, files))
    except OSError as error:
        raise unusable(f"The model folder {path} cannot be read ({error.strerror}).") from error


def _files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder. A link is refused: its target can change after the check."""
    for entry in folder.iterdir():
        if entry.is_symlink():
            raise unusable(f"{entry} is a symbolic link. Copy the files themselves (cp -rL).")
        if entry.is_dir():
            yield from _files(entry)
        else:
            yield entry


def _check(file: Path, folder: Path) -> None:
    if not _is_data(file):
        raise unusable(
            f"{file} may hold or fetch code. A model folder holds {', '.join(sorted(_DATA_SUFFIXES))} "
            "only: remove the file if the model does not need it, convert pickled weights to "
            "safetensors, or choose another model."
        )
    if file.suffix == ".json":
        _check_configuration(file, folder)


def _is_data(file: Path) -> bool:
    if file.name in _FOREIGN_NAMES:
        return False
    return file.suffix in _DATA_SUFFIXES or file.name in _DATA_NAMES


def _check_configuration(file: Path, folder: Path) -> None:
    content = _read_json(file)
    for key, value in _entries(content):
        if key in _CODE_KEYS or _names_a_kernel(key, value):
            raise unusable(f"{file} asks for code from outside ({key}). Choose a model without code of its own.")
    if file.name == "modules.json":
        _check_modules(file, content, folder)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise unusable(f"{file} is not JSON. Restore the model's original file.") from None


def _entries(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key and value at any depth."""
    waiting = [content]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from node.items()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _names_a_kernel(key: str, value: Any) -> bool:
    """Tell whether an entry like `_attn_implementation_internal` names code from elsewhere."""
    if "_implementation" not in key or not isinstance(value, str):
        return False
    return value not in _PLAIN_IMPLEMENTATIONS


def _check_modules(file: Path, content: Any, folder: Path) -> None:
    for module in content if isinstance(content, list) else [content]:
        entry = module if isinstance(module, dict) else {}
        if not _MODULE_CLASS.fullmatch(str(entry.get("type"))):
            raise unusable(f"{file} names a class that is not sentence-transformers' own. Choose another model.")
        if not _is_inside(str(entry.get("path")), folder):
            raise unusable(f"{file} names a path outside the folder. Restore the original file.")


def _is_inside(place: str, folder: Path) -> bool:
    return (folder / place).resolve().is_relative_to(folder.resolve())


def _hash_all(folder: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()
