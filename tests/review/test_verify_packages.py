"""Checks with packages of their own: pinned, locked, built once, found altered, and never passed when not at hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import RecordError
from app.record import Runner
from app.recordfile import read_record
from review.verify.execution import Outcome
from review.verify.locks import Pins, read_lock
from review.verify.needs import NotAtHand
from tests.review.checking import SLUG, record_with, results
from tests.review.registries import NpmRegistry, make_wheels, npm_registry, write_lock

BOTH = ["widget==1.0", "widget==2.0"]
SAYS_VERSION = "import widget, gadget\nprint(widget.VERSION)\nraise SystemExit(widget.VERSION != '1.0')"
NEEDS_NPM = pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
NEEDS_UV = pytest.mark.skipif(shutil.which("uv") is None, reason="no uv here")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let pip and uv know no index but a folder of wheels."""
    folder = tmp_path / "wheels"
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def locked(bench, wheels) -> Path:
    """Write wheels and the locks of both sets; return the folder of wheels."""
    hashes = make_wheels(wheels)
    for pins in BOTH:
        write_lock(bench.records, pins, hashes)
    return wheels


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRegistry]:
    """Let npm know no registry but the tests' own, and no cache of anybody's."""
    with npm_registry() as served:
        monkeypatch.setenv("npm_config_registry", served.url)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        yield served


def environments(bench) -> list[Path]:
    """Return what lies in the cache that `results` uses, less its locks."""
    return [path for path in (bench.records.parent / "packages").iterdir() if path.suffix != ".lock"]


def test_each_set_of_packages_gets_a_result_of_its_own(bench, locked):
    """In the order they are named, with what was pinned, on the screen and in the book."""
    record_with(bench, "python", SAYS_VERSION, packages=BOTH)
    rows = bench.json("verify", code=1)
    told = [(row["pinned"], row["packages"], row["outcome"]) for row in rows]
    assert told == [("widget==1.0", {"widget": "1.0"}, "passed"), ("widget==2.0", {"widget": "2.0"}, "failed")]
    assert rows[1]["output"] == "2.0"
    book = [json.loads(line) for line in (bench.records / "verifications.jsonl").read_text().splitlines()]
    assert [(line["pinned"], line["outcome"]) for line in book] == [
        ("widget==1.0", "passed"),
        ("widget==2.0", "failed"),
    ]
    screen = bench.run("verify", code=1).output
    assert f"failed: {SLUG}: the-check on python {sys.version.split()[0]} with widget==2.0: " in screen


def test_a_set_holds_what_its_lock_names_and_nothing_of_the_projects(bench, locked):
    """A module it lacks is the check's mistake."""
    [result] = results(record_with(bench, "python", "import gadget\nimport sqlalchemy", packages=["widget==1.0"]))
    assert result.outcome is Outcome.FAILED
    assert "No module named 'sqlalchemy'" in result.output


def test_a_version_that_the_check_names_is_run_though_the_record_is_about_another(bench, locked):
    """It may show how an earlier one differs."""
    path = record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"])
    bench.edit(path, "name: PostgreSQL", "name: SQLAlchemy\n    version_constraint: '<1'\n    scheme: pep440")
    assert [result.outcome for result in results(path)] == [Outcome.PASSED]


@NEEDS_UV
def test_a_lock_is_made_once_with_all_that_the_set_needs(bench, wheels):
    """For every platform, with hashes; afterwards a newer release changes nothing."""
    make_wheels(wheels)
    path = record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"])
    assert [result.outcome for result in results(path)] == [Outcome.PASSED]
    [lock] = (bench.records / "locks").iterdir()
    content = lock.read_text()
    assert lock.name.startswith("widget-1.0-")
    assert ("gadget==1.5" in content, content.count("--hash=sha256:")) == (True, 2)
    shutil.rmtree(wheels)
    assert [result.outcome for result in results(path)] == [Outcome.PASSED]
    assert lock.read_text() == content


@NEEDS_UV
def test_a_set_that_nobody_has_is_unavailable_and_leaves_no_lock(bench, wheels):
    """The installer's own word is the reason."""
    make_wheels(wheels)
    record_with(bench, "python", "assert True", packages=["widget==3.0"])
    [row] = bench.json("verify", code=3)
    assert (row["outcome"], row["version"].count(".")) == ("unavailable", 2)
    assert row["reason"].startswith("widget==3.0 cannot be installed here: ")
    assert not (bench.records / "locks").exists()


def test_without_uv_a_set_without_a_lock_is_unavailable(bench, wheels, monkeypatch):
    """It says what to install."""
    monkeypatch.setenv("PATH", "/nowhere")
    [result] = results(record_with(bench, "python", "assert True", packages=["widget==1.0"]))
    assert (result.outcome, result.reason) == (
        Outcome.UNAVAILABLE, "widget==1.0 has no lock yet, and making one needs uv: pip install uv",
    )  # fmt: skip


def test_a_file_that_is_not_the_locked_one_is_not_installed(bench, locked):
    """The same name and version with other content is refused, and nothing is left in the cache."""
    wheel = locked / "widget-1.0-py3-none-any.whl"
    wheel.write_bytes((locked / "gadget-1.5-py3-none-any.whl").read_bytes())
    [result] = results(record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"]))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "cannot be installed here" in result.reason
    assert environments(bench) == []


def test_a_lock_without_hashes_installs_nothing(bench, locked):
    """Whoever can write beside the records cannot have anything else fetched by leaving them out."""
    lock = bench.records / "locks" / Pins(Runner.PYTHON, "widget==1.0").lock_name()
    lock.write_text("widget==1.0\ngadget==1.5\n")
    [result] = results(record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"]))
    assert (result.outcome, environments(bench)) == (Outcome.UNAVAILABLE, [])


def test_without_an_index_what_is_in_the_cache_runs_and_the_rest_is_unavailable(bench, locked):
    """Never passed."""
    path = record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"])
    assert [result.outcome for result in results(path)] == [Outcome.PASSED]
    shutil.rmtree(locked)
    path = record_with(bench, "python", SAYS_VERSION, packages=BOTH)
    assert [result.outcome for result in results(path)] == [Outcome.PASSED, Outcome.UNAVAILABLE]


@pytest.mark.parametrize("change", ["edited", "added", "removed", "linked"])
def test_a_poisoned_cache_is_not_used_but_built_anew(bench, locked, change):
    """Whatever was changed in it; and where it cannot be built anew, the check is unavailable."""
    path = record_with(bench, "python", SAYS_VERSION, packages=["widget==2.0"])
    assert [result.outcome for result in results(path)] == [Outcome.FAILED]
    [module] = (bench.records.parent / "packages").glob("*/tree/lib/*/site-packages/widget.py")
    _poison(module, change)
    assert [(result.outcome, result.output) for result in results(path)] == [(Outcome.FAILED, "2.0")]
    _poison(module, change)
    shutil.rmtree(locked)
    [result] = results(path)
    assert result.outcome is Outcome.UNAVAILABLE


def _poison(module: Path, change: str) -> None:
    """Make the module say that it is another version."""
    lie = "VERSION = '1.0'\n"
    if change == "edited":
        module.write_text(lie)
    elif change == "removed":
        module.unlink()
    elif change == "added":
        (module.parent / "sneaky.pth").write_text(f"import sys; exec({lie!r})\n")
    else:
        module.rename(module.with_name("other.py"))
        module.symlink_to("other.py")


def test_an_environment_can_be_read_whatever_the_mask_of_who_built_it(bench, locked):
    """A check of root runs as a user of its own."""
    before = os.umask(0o077)
    try:
        path = record_with(bench, "python", SAYS_VERSION, packages=["widget==1.0"])
        assert [result.outcome for result in results(path)] == [Outcome.PASSED]
    finally:
        os.umask(before)


def test_four_jobs_give_the_results_of_one_in_the_same_order(bench, locked):
    """Also while several want the same environment, and none is there yet."""
    record_with(bench, "python", SAYS_VERSION, packages=BOTH)
    other = bench.write(
        "page-by-key-of-the-last-row", check={"runner": "python", "right": "right.py", "packages": BOTH}
    )
    shutil.copytree(bench.records / "data" / f"{SLUG}.checks", other.with_suffix(".checks"))
    four = bench.json("verify", "--no-record", "--jobs", "4", code=1)
    one = bench.json("verify", "--no-record", "--jobs", "1", code=1)
    assert four == one
    assert [(row["slug"][:4], row["outcome"]) for row in one] == [
        ("page", "passed"), ("page", "failed"), ("stor", "passed"), ("stor", "failed"),
    ]  # fmt: skip


def test_a_build_that_is_killed_leaves_no_half_environment(bench, tmp_path):
    """What the killed one left is swept, and the next build is whole."""
    tools = tmp_path / "tools"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text("#!/bin/sh\nmkdir node_modules\necho half > node_modules/half\nsleep 60\n")
    npm.chmod(0o755)
    (bench.records / "locks").mkdir()
    (bench.records / "locks" / Pins(Runner.NODE, "widget@1.0.0").lock_name()).write_text("{}")
    cache = tmp_path / "packages"
    builder = subprocess.Popen(
        [sys.executable, "-c", _BUILD, str(cache), str(bench.records)],
        env={**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}, cwd=ROOT, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 20
    while not list(cache.glob("*/tree/node_modules/half")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(builder.pid, signal.SIGKILL)
    builder.wait()
    [half] = [path for path in cache.iterdir() if path.is_dir()]
    assert half.name.startswith("partial-")
    npm.write_text("#!/bin/sh\nmkdir node_modules\necho whole > node_modules/whole\n")
    subprocess.run(
        [sys.executable, "-c", _BUILD, str(cache), str(bench.records)],
        env={**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}, cwd=ROOT, check=True,
    )  # fmt: skip
    [whole] = [path for path in cache.iterdir() if path.is_dir()]
    assert not whole.name.startswith("partial-")
    assert [path.name for path in (whole / "tree/node_modules").iterdir()] == ["whole"]


_BUILD = """\
import sys
from pathlib import Path
from app.record import Runner
from review.verify.locks import Pins
from review.verify.packages import Packages
Packages(Path(sys.argv[1]), Path(sys.argv[2])).ready(Pins(Runner.NODE, "widget@1.0.0"))
"""


@NEEDS_NPM
def test_npm_packages_are_locked_fetched_once_and_run_nothing_of_their_own(bench, registry):
    """What they would execute while they are installed is not executed."""
    right = (
        "import widget from 'widget'; import fs from 'node:fs';\n"
        "if (fs.existsSync(fs.realpathSync('node_modules') + '/widget/ran-at-install')) throw new Error('it ran');\n"
        "if (widget.VERSION !== '1.0.0') throw new Error(widget.VERSION);\n"
    )
    path = record_with(bench, "node", right, packages=["widget@1.0.0", "widget@2.0.0"])
    found = results(path)
    assert [(result.pinned, result.outcome) for result in found] == [
        ("widget@1.0.0", Outcome.PASSED), ("widget@2.0.0", Outcome.FAILED),
    ]  # fmt: skip
    assert "Error: 2.0.0" in found[1].output
    assert len(list((bench.records / "locks").iterdir())) == 2
    asked = len(registry.asked)
    assert [result.outcome for result in results(path)] == [Outcome.PASSED, Outcome.FAILED]
    assert len(registry.asked) == asked


@NEEDS_NPM
@pytest.mark.parametrize(
    ("lock", "reason"),
    [
        ('{"packages": {"": {}, "node_modules/widget": {"version": "1.0.0"}}}', "no hash for 1 of"),
        ("[", "cannot be read"),
    ],
)
def test_an_npm_lock_without_hashes_installs_nothing(bench, registry, lock, reason):
    """Npm itself would take it."""
    path = record_with(bench, "node", "", packages=["widget@1.0.0"])
    (bench.records / "locks").mkdir()
    (bench.records / "locks" / Pins(Runner.NODE, "widget@1.0.0").lock_name()).write_text(lock)
    [result] = results(path)
    assert (result.outcome, reason in result.reason) == (Outcome.UNAVAILABLE, True)
    assert (registry.asked, environments(bench)) == ([], [])


@NEEDS_NPM
def test_an_npm_set_that_nobody_has_is_unavailable(bench, registry):
    """And leaves neither lock nor environment."""
    [result] = results(record_with(bench, "node", "", packages=["widget@3.0.0"]))
    assert result.outcome is Outcome.UNAVAILABLE
    assert result.reason.startswith("widget@3.0.0 cannot be installed here: ")
    assert not (bench.records / "locks").exists()


def test_without_npm_a_set_that_is_not_in_the_cache_is_unavailable(tmp_path, monkeypatch):
    """It says so."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotAtHand, match="npm, which would fetch it, is not on the PATH"):
        read_lock(tmp_path, Pins(Runner.NODE, "widget@1.0.0"))


@pytest.mark.parametrize(
    ("runner", "asked", "refusal"),
    [
        ("python", {"packages": ["widget>=1.0"]}, "packages are exact versions"),
        ("python", {"packages": ["--index-url=https://example.org widget==1.0"]}, "packages are exact versions"),
        ("python", {"packages": ["widget==1.0 -r/etc/passwd"]}, "packages are exact versions"),
        ("python", {"packages": ["widget==1.0\nother==1.0"]}, "packages are exact versions"),
        ("python", {"packages": ["widget @ file:///tmp/x"]}, "packages are exact versions"),
        ("python", {"packages": ["widget@1.0.0"]}, "packages are exact versions"),
        ("node", {"packages": ["widget@latest"]}, "packages are exact versions"),
        ("node", {"packages": ["widget@^1.0.0"]}, "packages are exact versions"),
        ("node", {"packages": ["../widget@1.0.0"]}, "packages are exact versions"),
        ("python", {"packages": ["widget==1.0", "widget==1.0"]}, "packages names the same thing twice"),
        ("sql", {"packages": ["widget==1.0"]}, "packages are for the runners python and node"),
        ("python", {"needs": ["git"]}, "needs is for the runners shell and node"),
        ("shell", {"needs": ["rm"]}, "should be 'chromium'"),
    ],
)
def test_a_check_asks_only_for_exact_versions_and_known_programs(bench, runner, asked, refusal):
    """Nothing in it can be an option, a path or an address."""
    with pytest.raises(RecordError, match=refusal):
        read_record(record_with(bench, runner, "", **asked))


def test_scoped_npm_packages_can_be_pinned(bench):
    """With the version behind the last sign."""
    path = record_with(bench, "node", "", packages=["@testing-library/dom@10.4.0 react@18.3.1"])
    [check] = read_record(path).record.checks
    assert Pins(Runner.NODE, check.packages[0]).versions() == {"@testing-library/dom": "10.4.0", "react": "18.3.1"}
