"""Checks in the shell and in a browser: what they may use, what they cannot reach, and what is not at hand."""

from __future__ import annotations

import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.record import Needed
from app.recordfile import read_record
from review.verify.execution import Outcome, run_checks
from review.verify.packages import Packages
from review.verify.programs import find_program
from tests.review.checking import SLUG, needs, record_with, results
from tests.review.test_confinement import walled

__all__ = ["walled"]

NGINX = """\
cat >nginx.conf <<END
daemon off; pid $PWD/nginx.pid; events {}
http {
  access_log off; client_body_temp_path $PWD/1; proxy_temp_path $PWD/2;
  fastcgi_temp_path $PWD/3; uwsgi_temp_path $PWD/4; scgi_temp_path $PWD/5;
  server { listen 127.0.0.1:8080; location / { return 200 "hello"; } }
}
END
nginx -e stderr -p "$PWD" -c "$PWD/nginx.conf" &
curl -sS --retry 20 --retry-connrefused --retry-max-time 5 http://127.0.0.1:8080/ >said
grep hello said
"""


@pytest.fixture
def outside() -> Iterator[str]:
    """Serve `tweet` outside of the confinement, on this machine's loopback."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"tweet")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [
        ("echo 1 >a; grep 1 a", "echo boom >&2; exit 1", Outcome.PASSED),
        ("false\ntrue", None, Outcome.FAILED),
        ("echo $unset", None, Outcome.FAILED),
        ("true", "echo boom", Outcome.FAILED),
    ],
    ids=["both as said", "the first failure ends it", "an unset name ends it", "wrong succeeds"],
)
def test_a_shell_check_ends_at_its_first_failure(bench, right, wrong, outcome):
    """By `/bin/sh -eu`."""
    [result] = results(record_with(bench, "shell", right, wrong))
    assert (result.tool, result.outcome) == ("shell", outcome)


@needs(Needed.GIT)
def test_a_shell_check_has_the_programs_it_asks_for_and_their_versions_are_kept(bench):
    """They stand where a result says what it was run on."""
    script = "git init -q .\ngit -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one\ngit log"
    [result] = results(record_with(bench, "shell", script, needs=["git"]))
    assert result.outcome is Outcome.PASSED
    assert result.version == f"git {result.packages['git']}"


@needs(Needed.GIT)
def test_a_program_that_was_not_asked_for_is_not_found(bench):
    """Though it is installed: elsewhere it may not be."""
    [result] = results(record_with(bench, "shell", "git --version"))
    assert result.outcome is Outcome.FAILED
    assert "git: not found" in result.output


def test_without_a_program_it_asks_for_a_check_is_unavailable_and_never_passed(bench, monkeypatch):
    """It says which."""
    monkeypatch.setattr("review.verify.programs._FOLDERS", ("/nowhere",))
    record_with(bench, "shell", "true", needs=["git"])
    [row] = bench.json("verify", code=3)
    assert (row["outcome"], row["reason"]) == ("unavailable", "git is not installed here")


def test_the_callers_path_has_no_say(bench, monkeypatch, tmp_path):
    """A program of the same name in it is not the one that is run."""
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 99.0\n")
    (tmp_path / "git").chmod(0o755)
    before = find_program(Needed.GIT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program(Needed.GIT) == before


def test_a_record_about_another_version_of_a_program_is_not_proved_by_this_one(bench):
    """As with PostgreSQL and Python."""
    if find_program(Needed.GIT) is None:
        pytest.skip("no git here")
    path = record_with(bench, "shell", "true", needs=["git"])
    bench.edit(path, "name: PostgreSQL", "name: Git\n    version_constraint: '>=99'\n    scheme: generic")
    [result] = results(path)
    assert (result.outcome, result.reason.startswith("needs Git >=99; here is ")) == (Outcome.UNAVAILABLE, True)


@needs(Needed.HADOLINT)
def test_a_dockerfile_is_linted(bench):
    """By the linter that the project brings."""
    right = "printf 'FROM debian:12\\nWORKDIR /srv\\n' >Dockerfile\nhadolint Dockerfile"
    wrong = "printf 'FROM debian:12\\nRUN cd /srv\\n' >Dockerfile\nhadolint Dockerfile"
    [result] = results(record_with(bench, "shell", right, wrong, shows="DL3003", needs=["hadolint"]))
    assert (result.outcome, result.reason) == (Outcome.PASSED, "")


@needs(Needed.NGINX, Needed.CURL)
def test_a_server_is_started_and_asked_over_the_loopback(bench):
    """A real nginx, as an ordinary user."""
    [result] = results(record_with(bench, "shell", NGINX, needs=["nginx", "curl"]))
    assert (result.outcome, result.output) == (Outcome.PASSED, "")


@needs(Needed.CURL)
@pytest.mark.usefixtures("walled")
def test_a_shell_check_reaches_no_server_outside(bench, outside):
    """Neither on this machine nor elsewhere."""
    script = f"for url in {outside} http://192.0.2.1/; do if curl -sS --max-time 3 $url; then exit 1; fi; done"
    [result] = results(record_with(bench, "shell", script, needs=["curl"]))
    assert (result.outcome, result.output) == (Outcome.PASSED, "")


@pytest.mark.usefixtures("walled")
@pytest.mark.parametrize("runner", ["shell", "node"])
def test_home_pepper_records_and_other_environments_are_not_read(bench, tmp_path, runner):
    """Though the check's own environment lies in that home."""
    if runner == "node" and shutil.which("node") is None:
        pytest.skip("no node here")
    home = tmp_path / "home"
    secrets = [home / "pepper", home / "check-packages" / "another" / "tree" / "secret", tmp_path / "elsewhere"]
    for secret in secrets:
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text("tweet")
    code = {
        "shell": f"for f in {' '.join(map(str, secrets))}; do ! cat $f || exit 1; done",
        "node": f"import fs from 'node:fs'; for (const f of {[str(one) for one in secrets]}) "
        "if (fs.existsSync(f)) throw new Error(f);",
    }[runner]
    path = record_with(bench, runner, code)
    packages = Packages(home / "check-packages", bench.records)
    [result] = run_checks([read_record(path)], private=[home, bench.records], packages=packages)
    assert (result.outcome, result.output) == (Outcome.PASSED, "")
    assert {"files", "network", "user"} <= result.walls


def test_the_limits_hold_in_the_shell_too(bench):
    """Size of files and memory; what it leaves in its folder is gone with it."""
    script = (
        "if head -c 80000000 /dev/zero >big; then exit 1; fi\n"
        "if awk 'BEGIN { s = \"x\"; while (1) s = s s }'; then exit 1; fi\n"
    )
    [result] = results(record_with(bench, "shell", script))
    assert (result.outcome, result.output) == (Outcome.PASSED, "")


@needs(Needed.CHROMIUM)
@pytest.mark.usefixtures("walled")
def test_a_browser_shows_what_a_style_sheet_does_and_reaches_nothing(bench, outside):
    """Headless, and confined like any other program."""
    page = (
        "cat >page.html <<'END'\n"
        "<style>p { color: rgb(1, 2, 3) }</style><p id=p>text</p><script>\n"
        "p.title = getComputedStyle(p).color;\n"
        f"const asked = new XMLHttpRequest(); asked.open('GET', '{outside}', false);\n"
        "try { asked.send(); p.lang = 'reached'; } catch { p.lang = 'cut-off'; }\n"
        "</script>\nEND\n"
        'chromium --headless --no-sandbox --disable-dev-shm-usage --disable-web-security --user-data-dir="$PWD/profile"'
        ' --dump-dom "file://$PWD/page.html" >dom 2>errors || { cat errors; exit 1; }\n'
        "cat dom; grep 'title=\"rgb(1, 2, 3)\"' dom; grep 'lang=\"cut-off\"' dom\n"
    )
    [result] = results(record_with(bench, "shell", page, needs=["chromium"]))
    assert (result.outcome, result.output) == (Outcome.PASSED, "")


def test_node_is_told_where_the_programs_it_asks_for_lie(bench):
    """In its environment, by their names."""
    if shutil.which("node") is None or find_program(Needed.GIT) is None:
        pytest.skip("no node or git here")
    code = (
        "import { execFileSync } from 'node:child_process';\n"
        "if (!String(execFileSync(process.env.GIT, ['--version'])).startsWith('git version')) throw new Error();\n"
    )
    [result] = results(record_with(bench, "node", code, needs=["git"]))
    assert (result.outcome, set(result.packages)) == (Outcome.PASSED, {"git"})


def test_a_file_of_a_shell_check_is_part_of_what_is_approved(bench):
    """Like any other."""
    path = record_with(bench, "shell", "true")
    before = read_record(path).sha256
    (Path(path.with_suffix(".checks")) / "right.sh").write_text("false")
    assert read_record(path).sha256 != before
    assert SLUG in path.name
