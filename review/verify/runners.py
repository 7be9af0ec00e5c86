"""What executes a check: Python and Node, with packages of their own or without, PostgreSQL, and the shell."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.record import Check, Needed, Runner
from review.verify.confinement import Ended, Program, run_confined
from review.verify.locks import Pins
from review.verify.packages import Packages
from review.verify.postgres import postgres_tools
from review.verify.programs import Found, ask_version, base_programs, find_program
from review.verify.tools import Missing, Start, Tool

NODE_MINIMUM = 18
_WITH_MODULES = 'ln -s "$1" node_modules && shift && exec "$@"'
# Only what was asked for is found: a script that uses more would fail elsewhere, and nobody would know why.
_SHELL_SCRIPT = """\
name=$1 count=$2; shift 2
mkdir .bin || exit
while [ "$count" -gt 0 ]; do ln -s "${1#*=}" ".bin/${1%%=*}"; shift; count=$((count - 1)); done
ln -s "$@" .bin/
PATH=$PWD/.bin exec /bin/sh -eu "./$name"
"""


def tools_for(check: Check, private: tuple[Path, ...], packages: Packages) -> tuple[Tool | Missing, ...]:
    """Return what a check runs on, each once, in the order it names them.

    Args:
        private: folders and files that it does not get to see.
        packages: where environments of pinned packages are kept.
    """

    def start(program: Program) -> Ended:
        return run_confined(replace(program, private=private))

    if check.runner is Runner.SQL:
        return tuple(postgres_tools(start))
    if check.runner is Runner.SHELL:
        return (_shell(check, start),)
    one = _python if check.runner is Runner.PYTHON else _node
    return tuple(one(check, pins, packages, start) for pins in check.packages or ("",))


def _python(_check: Check, text: str, packages: Packages, start: Start) -> Tool:
    pins = Pins(Runner.PYTHON, text)

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        prefix = str(packages.ready(pins)) if text else sys.prefix
        program = str(Path(prefix, "bin", "python")) if text else sys.executable
        argv = (program, "-I", "-B", "-X", "utf8", name)
        return start(Program(argv, files, keep=(prefix, sys.base_prefix)))

    return Tool("python", platform.python_version(), run, text, pins.versions())


def _node(check: Check, text: str, packages: Packages, start: Start) -> Tool | Missing:
    path = shutil.which("node")
    if path is None:
        return Missing("node", "node is not on the PATH", text)
    node = str(Path(path).resolve())
    version = ask_version(node)
    if version is None or int(version.split(".")[0]) < NODE_MINIMUM:
        return Missing("node", f"node {version or 'of unknown version'} is older than {NODE_MINIMUM}", text)
    found = _programs(check.needs)
    if isinstance(found, Missing):
        return replace(found, pinned=text)
    pins = Pins(Runner.NODE, text)

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        argv: tuple[str, ...] = (node, "--max-old-space-size=512", name)
        keep = [str(Path(node).parent.parent), sys.prefix]
        if text:
            tree = packages.ready(pins)
            keep.append(str(tree))
            argv = ("/bin/sh", "-c", _WITH_MODULES, "check", str(tree / "node_modules"), *argv)
        env = {needed.value.upper(): program.path for needed, program in found.items()}
        return start(Program(argv, files, env, tuple(keep), data_limited=True))

    return Tool("node", version, run, text, {**pins.versions(), **_versions(found)})


def _shell(check: Check, start: Start) -> Tool | Missing:
    found = _programs(check.needs)
    if isinstance(found, Missing):
        return found

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        named = [f"{needed.value}={program.path}" for needed, program in found.items()]
        argv = ("/bin/sh", "-c", _SHELL_SCRIPT, "check", name, str(len(named)), *named, *base_programs())
        return start(Program(argv, files, keep=(sys.prefix, sys.base_prefix), data_limited=True))

    told = ", ".join(f"{name} {version}" for name, version in _versions(found).items())
    return Tool("shell", told or "POSIX", run, packages=_versions(found))


def _programs(needs: Sequence[Needed]) -> dict[Needed, Found] | Missing:
    """Return the programs that a check asks for, or the first that is not there."""
    found = {}
    for needed in needs:
        program = find_program(needed)
        if program is None:
            return Missing(needed.value, f"{needed.value} is not installed here")
        found[needed] = program
    return found


def _versions(found: Mapping[Needed, Found]) -> dict[str, str]:
    return {needed.value: program.version for needed, program in found.items()}
