"""A folder with a model, inspected before any library looks at it: only data may be in it.

Libraries that load model folders have run Python found in them, or fetched it, although told not to trust the folder
(huggingface/sentence-transformers#3801, CVE-2026-4372), and pickled weights are programs. So the folder is refused unless
every file is of a kind that holds data only and no configuration file asks for code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
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
        sha256: of the names and hashes of all its files: one changed byte anywhere is another folder.
    """

    path: Path
    sha256: str


def find_model_folder(name: str) -> Path:
    """Return the folder that a setting means: a folder's path, or an installed package with one model folder in it.

    Raises:
        EmbeddingFailure: there is neither, or the package holds no or several models.
    """
    if Path(name).is_dir():
        return Path(name)
    package = package_folder(name)
    if package is None:
        raise unusable(f"CHATCTX_EMBEDDING_MODEL: there is no folder and no installed package {name!r}. Models are never downloaded.")
    found = sorted(path.parent for path in package.rglob("modules.json"))
    if len(found) != 1:
        raise unusable(f"The package {name!r} holds {len(found)} model folders where one is expected; name the folder instead.")
    return found[0]


def inspect_model_folder(path: Path) -> ModelFolder:
    """Check a model folder and take its fingerprint. Nothing in it is run.

    Raises:
        EmbeddingFailure: a file may hold or ask for code, or cannot be read; the message names the file and the remedy.
    """
    try:
        files = sorted(_files(path))
        for file in files:
            _check(file, path)
        if not any(file.suffix == ".safetensors" for file in files):
            raise unusable(f"{path} holds no .safetensors file. Convert the model's weights to safetensors.")
        return ModelFolder(path, _hash_all(path, files))
    except OSError as error:
        raise unusable(f"The model folder {path} cannot be read ({error.strerror}).") from error


def _files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder. A link is refused: what it leads to can change after the check."""
    for entry in folder.iterdir():
        if entry.is_symlink():
            raise unusable(f"{entry} is a symbolic link. Copy the model's files themselves (cp -rL).")
        if entry.is_dir():
            yield from _files(entry)
        else:
            yield entry


def _check(file: Path, folder: Path) -> None:
    if file.name in _FOREIGN_NAMES or (file.suffix not in _DATA_SUFFIXES and file.name not in _DATA_NAMES):
        raise unusable(
            f"{file} may hold code. A model folder may hold {', '.join(sorted(_DATA_SUFFIXES))} only: remove the file if the model "
            "does not need it, convert pickled weights to safetensors, or choose another model."
        )
    if file.suffix == ".json":
        _check_configuration(file, folder)


def _check_configuration(file: Path, folder: Path) -> None:
    content = _read_json(file)
    for key, value in _entries(content):
        if key in _CODE_KEYS or _names_a_kernel(key, value):
            raise unusable(f"{file} asks for code from outside ({key}). Choose a model that the library knows by itself.")
    if file.name == "modules.json":
        _check_modules(file, content, folder)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise unusable(f"{file} is not JSON. Restore the model's original file.") from None


def _entries(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key and value at any depth. A stack instead of recursion: tokenizers are large, and depth is the file's choice."""
    waiting = [content]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from node.items()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _names_a_kernel(key: str, value: Any) -> bool:
    """Tell whether an entry like `_attn_implementation_internal` names anything but the library's own implementations."""
    return "_implementation" in key and isinstance(value, str) and value not in _PLAIN_IMPLEMENTATIONS


def _check_modules(file: Path, content: Any, folder: Path) -> None:
    modules = content if isinstance(content, list) else [content]
    for module in modules:
        kind, place = (module.get("type"), module.get("path")) if isinstance(module, dict) else (None, None)
        if not isinstance(kind, str) or not _MODULE_CLASS.fullmatch(kind):
            raise unusable(f"{file} names a class that is not one of sentence-transformers' own. Choose another model.")
        if not isinstance(place, str) or _leaves(place, folder):
            raise unusable(f"{file} names a path outside the model folder. Restore the model's original file.")


def _leaves(place: str, folder: Path) -> bool:
    return ".." in PurePosixPath(place).parts or not (folder / place).resolve().is_relative_to(folder.resolve())


def _hash_all(folder: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()
