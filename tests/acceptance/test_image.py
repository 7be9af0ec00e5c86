"""The image: what is in it, as whom it runs, and that its steps work, though no container engine is here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.deploy.dockerfile import ROOT, environment, last, stages

_HADOLINT = Path(sys.executable).with_name("hadolint")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the server's account may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="chatctx-image-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not _HADOLINT.exists(), reason="hadolint has no wheel for this machine")
def test_t49_the_dockerfile_has_no_known_mistake() -> None:
    """A linter of container files finds nothing in ours."""
    done = subprocess.run([_HADOLINT, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_t49_the_image_runs_as_a_numbered_user_and_receives_signals() -> None:
    """The image runs as a numbered user that is not root, with no shell between it and signals."""
    final = stages()[-1]
    uid, gid = last(final, "USER").text.split(":")
    assert int(uid) >= 10000
    assert uid == gid
    assert f"useradd --uid {uid} " in last(final, "RUN").text
    assert last(final, "ENTRYPOINT").text.startswith("[")
    assert last(final, "CMD").text.startswith("[")


def test_t49_the_final_stage_has_no_installer_and_no_secret() -> None:
    """The final image has no installer, no compiler and no secret."""
    final = stages()[-1]
    assert "pip uninstall" in last(final, "RUN").text
    assert not any(word in step.text for step in final for word in ("apt-get", "gcc", "PASSWORD", "SECRET", "API_KEY"))
    assert {step.word for step in final} & {"ARG", "ADD"} == set()


def test_t49_every_stage_names_the_version_of_its_base() -> None:
    """Every stage names the version of its base image.

    By tag: a digest is what a registry would have to be asked for.
    """
    for stage in stages():
        base = stage[0].text.split()[0]
        assert base.startswith("python:3.")
        assert base.endswith("-slim-bookworm")


def test_t49_only_what_the_server_needs_enters_the_image() -> None:
    """Only listed files enter the image; keys and compiled leftovers stay out of it."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {"**/__pycache__", "**/.env*", "**/*.pem"} <= set(rules)
    for rule in rules:
        if rule.startswith("!"):
            assert (ROOT / rule[1:]).exists(), rule


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_t49_the_steps_build_a_server_that_runs_on_a_read_only_system(
    place: Path, record_property: Callable[[str, object], None]
) -> None:
    """What the image's steps build serves as an ordinary user, without capabilities, where only /data can be written.

    No container engine is here: the build's steps run in a clean environment, then the entry point in a mount namespace
    with a read-only root, as far as this machine allows either.
    """
    build, final = stages()
    places = {"/opt/chatctx": str(place / "venv"), "/app": str(place / "app")}
    _copy_context(place / "app")
    for step in build:
        if step.word == "RUN":
            _run_step(_placed(step.text, places), place / "app")
    data = place / "data"
    data.mkdir()
    walls = _confined(data, last(final, "USER").text)
    variables = environment(final) | {"CHATCTX_HOME": str(data), "CHATCTX_PORT": "0", "PATH": os.environ["PATH"]}
    entry = [_placed(word, places) for word in last(final, "ENTRYPOINT").words() + last(final, "CMD").words()]
    assert _installed(place / "venv").isdisjoint({"pip", "torch", "nvidia"})
    with subprocess.Popen(
        [*walls, *entry], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=place / "app", env=variables,
    ) as server:  # fmt: skip
        try:
            port = _port_of(server)
            healthcheck = last(final, "HEALTHCHECK").text.split("CMD ", 1)[1]
            words = [_placed(word, places) for word in type(last(final, "CMD"))("CMD", healthcheck).words()]
            assert subprocess.run(words, check=False, env=variables | {"CHATCTX_PORT": port}).returncode == 0
            assert _status(port, "/readyz") == 200
        finally:
            server.terminate()
            server.communicate(timeout=60)
    assert server.returncode == 0
    record_property("figure", "read-only root, no capability" if walls else "neither is permitted on this machine")


def _copy_context(destination: Path) -> None:
    """Copy what .dockerignore lets through."""
    destination.mkdir()
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not line.startswith("!"):
            continue
        source = ROOT / line[1:]
        if source.is_dir():
            shutil.copytree(source, destination / source.name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, destination)


def _placed(text: str, places: dict[str, str]) -> str:
    for inside, outside in places.items():
        text = text.replace(inside, outside)
    return text


def _run_step(text: str, folder: Path) -> None:
    # The base image's python is this one's, with the pip that the environment got from it.
    (folder.parent / "bin").mkdir(exist_ok=True)
    link = folder.parent / "bin" / "python"
    if not link.exists():
        link.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        link.chmod(0o755)
    variables = os.environ | {"PATH": f"{link.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-ec", text], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def _installed(venv: Path) -> set[str]:
    return {path.name.split("-")[0].lower() for path in venv.glob("lib/python*/site-packages/*")}


def _confined(data: Path, user: str) -> list[str]:
    """Return the words that run a program as the image does, as far as this machine allows; else none.

    Read-only root, the image's user, no capability, no way to one.
    """
    uid, gid = user.split(":")
    # The image has made its user; here it exists for what runs in the namespace only.
    accounts = data.parent / "passwd"
    accounts.write_text(f"{Path('/etc/passwd').read_text()}chatctx:x:{uid}:{gid}::/data:/bin/false\n")
    mounts = f'mount --bind "$0" "$0" && mount --bind {accounts} /etc/passwd && mount -o remount,bind,ro /'
    script = f'{mounts} && exec "$@"'
    drop = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--bounding-set=-all", "--no-new-privs"]
    words = ["unshare", "--mount", "/bin/sh", "-c", script, str(data), *drop]
    possible = os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv")
    if not possible or subprocess.run([*words, "true"], check=False, capture_output=True).returncode != 0:
        return []
    os.chown(data, int(uid), int(gid))
    return words


def _port_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    said = ""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (line := server.stdout.readline()):
        said += line
        if "http://" in line:
            return line.split("http://", 1)[1].split(":")[1].split("/")[0]
    pytest.fail(f"the server said no address:\n{said}")


def _status(port: str, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status
