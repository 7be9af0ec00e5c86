"""Make .venv hold exactly what the lock says, and do nothing when it already does.

A stamp in .venv says what was installed. It is removed before any change and written after the last, so that an
interrupted installation is begun again; a lock file lets two that start at once wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMP = VENV / "installed.json"
PYTHON = VENV / "bin" / "python"
# They would send the packages elsewhere than into .venv.
HARMFUL = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV")


def main() -> None:
    dev = "--dev" in sys.argv[1:]
    if is_current(dev):
        return
    try:
        with (ROOT / ".venv.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_current(dev):
                install(dev)
    except OSError as error:
        sys.exit(f"{VENV} cannot be prepared: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def is_current(dev: bool) -> bool:
    return is_usable() and wanted(dev).items() <= read_stamp().items()


def is_usable() -> bool:
    """Tell whether its Python is still there: an upgrade of the system may have taken it away."""
    return os.access(PYTHON, os.X_OK)


def wanted(dev: bool) -> dict[str, str]:
    """Return what the stamp has to say. Development's packages include those for running."""
    files = {"runtime": "requirements.lock", "project": "pyproject.toml"}
    if dev:
        files["dev"] = "requirements-dev.lock"
    digests = {key: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for key, name in files.items()}
    return {**place(), **digests}


def place() -> dict[str, str]:
    """Return what a virtual environment cannot survive a change of: its path, and the Python's version and machine."""
    return {"root": str(ROOT), "abi": str(sysconfig.get_config_var("SOABI"))}


def read_stamp() -> dict[str, str]:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def install(dev: bool) -> None:
    stamp = read_stamp()
    # What was installed for tests stays up to date when only the server is started.
    dev = dev or "dev" in stamp
    keep = is_usable() and place().items() <= stamp.items()
    STAMP.unlink(missing_ok=True)
    if not keep:
        make_venv()
    print("Installing the packages of the lock into .venv (once; about 120 MB to fetch)", file=sys.stderr, flush=True)
    lock = ROOT / ("requirements-dev.lock" if dev else "requirements.lock")
    pip("--require-hashes", "--only-binary", ":all:", "--no-deps", "--requirement", str(lock))
    pip("--no-deps", "--no-build-isolation", "--no-index", "--editable", str(ROOT))
    partial = STAMP.with_suffix(".partial")
    partial.write_text(json.dumps(wanted(dev), indent=1), encoding="utf-8")
    partial.rename(STAMP)


def make_venv() -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    run([base, "-m", "venv", "--clear", str(VENV)], "The virtual environment could not be made.")


def pip(*arguments: str) -> None:
    run(
        [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *arguments],
        "The packages could not be installed: see above. Run the same again to retry.",
    )


def run(command: list[str], failure: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in HARMFUL}
    environment["PIP_USER"] = "0"
    if subprocess.run(command, check=False, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL).returncode != 0:
        sys.exit(failure)


if __name__ == "__main__":
    main()
