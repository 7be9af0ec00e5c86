"""What a check needs and this machine lacks, so that it could not be run: neither passed nor failed.

A version the record is about, a module or an extension that is not installed, and a standard library that is older
than the check. All but the first are read from a check that did not do what it should: a fixture cannot say so itself.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from app.record import Record, Runner
from app.versions import Verdict, judge_version
from review.verify.confinement import Ended

# The technology that a runner's own version is a version of.
SUBJECT = {Runner.PYTHON: "Python", Runner.NODE: "Node.js", Runner.SQL: "PostgreSQL"}

_REMEDY = "not installed here; `make venv` installs what the shipped checks need"
_EXCEPTION = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception)\b.*$", re.MULTILINE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<module>\w+)")
_NO_NAME = (
    re.compile(r"AttributeError: module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"ImportError: cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
)
_NO_EXTENSION = re.compile(r'ERROR:  extension "(?P<name>[\w-]+)" is not available')
_IMPORT_IN_TEXT = re.compile(
    r"^[ \t]*(?:import[ \t]+(?P<whole>[A-Za-z_]\w*)(?:\.\w+)*(?:[ \t]+as[ \t]+\w+)?[ \t]*(?:[,;#]|$)"
    r"|from[ \t]+(?P<part>[A-Za-z_]\w*)(?:\.\w+)*[ \t]+import\b)",
    re.MULTILINE,
)


class NotAtHand(Exception):
    """What a check is to be run on cannot be had here and now. Its text is the reason."""


def needed_version(record: Record, versions: Mapping[str, str]) -> str:
    """Return which constraint of a record the versions at hand do not meet, empty when there is none.

    Args:
        versions: of the tool and the installed packages, by the technology's canonical name.
    """
    for entry in record.applies_to:
        version = versions.get(entry.name)
        if version is None or entry.version_constraint is None or entry.scheme is None:
            continue
        if judge_version(version, entry.version_constraint, entry.scheme) is Verdict.VIOLATED:
            return f"needs {entry.name} {entry.version_constraint}; here is {version}"
    return ""


def needed_module(source: bytes, ended: Ended) -> str:
    """Return the module a Python check could not be run for, empty when it lacks none.

    What it said comes first, then what it imports: a program that it starts may have failed in its place.
    """
    said = _NO_MODULE.search(_last_exception(ended.output))
    named = [said["module"]] if said else []
    missing = [name for name in (*named, *_imports(source)) if not _is_installed(name) and not _writes(source, name)]
    return f"needs {missing[0]}, {_REMEDY}" if missing else ""


def needed_library(ended: Ended) -> str:
    """Return the name that this Python's standard library lacks, empty when the check did not end for one."""
    last = _last_exception(ended.output)
    for pattern in _NO_NAME:
        match = pattern.search(last)
        if match and match["module"].partition(".")[0] in sys.stdlib_module_names:
            return f"needs a Python whose {match['module']} has {match['name']}"
    return ""


def needed_extension(ended: Ended) -> str:
    """Return the extension that this PostgreSQL has not, empty when the check did not end for one."""
    match = _NO_EXTENSION.search(ended.output)
    return f"needs the extension {match['name']}, which is not installed for this PostgreSQL" if match else ""


def _last_exception(output: str) -> str:
    found = _EXCEPTION.findall(output)
    return found[-1] if found else ""


def _imports(source: bytes) -> list[str]:
    """Return the modules a file imports, also in programs it holds as text."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return list(dict.fromkeys(name.partition(".")[0] for name in _imported(tree)))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            yield from (match["whole"] or match["part"] for match in _IMPORT_IN_TEXT.finditer(node.value))


def _writes(source: bytes, name: str) -> bool:
    return f"{name}.py".encode() in source


def _is_installed(name: str) -> bool:
    try:
        return name in sys.builtin_module_names or find_spec(name) is not None
    except (ImportError, ValueError):
        return False
