"""Confinement: what a check can reach, how long it may run, and what is said of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from review.verify.confinement import Ended, Program, run_confined

ROOT = Path(__file__).parents[2]
PASSWD = Path("/etc/passwd")


def python(code: str, *, seconds: float = 20, namespaces: bool = True, private: tuple[Path, ...] = ()) -> Ended:
    """Run Python code in confinement; where something is private, the project around it is not."""
    keep = (sys.prefix, sys.base_prefix, *([str(ROOT)] if private else []))
    program = Program((sys.executable, "-I", "check.py"), {"check.py": code.encode()}, keep=keep, private=private)
    return run_confined(program, seconds=seconds, namespaces=namespaces)


@pytest.fixture(scope="session")
def walled() -> None:
    """Skip where the system permits no namespaces: those walls are promised only where it does."""
    if "files" not in python("pass").confined:
        pytest.skip("no namespaces here")


def test_output_and_exit_status_come_back():
    """Of both streams, and of a signal as 128 and its number."""
    ended = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended.code, sorted(ended.output.split())) == (3, ["err", "out"])
    assert python("import os; os.kill(os.getpid(), 15)").code == 143


def test_what_a_terminal_obeys_is_not_in_the_output():
    """Colours, titles, cursor moves, bells and reversed text; new lines and tabs stay."""
    said = "\x1b[31mred\x1b[0m\x1b]0;title\x07 \x9b2J\x9d0;t\x9c\x1bPq\x1b\\\x1bc\x00\x07\x7f\x85\r\u202e\ta\n"
    said += "\x1b]0;open\nb\x1b"
    assert python(f"import sys\nsys.stdout.buffer.write({said.encode()!r})").output == "red \ta\n\nb"


def test_a_program_that_cannot_be_started_is_told_from_one_that_says_so():
    """What it writes, and to whichever descriptor, is not believed."""
    lie = (
        "import os, sys\n"
        "print('launch: the program cannot be started as the unprivileged user')\n"
        "for descriptor in range(256):\n"
        "    try:\n"
        "        os.write(descriptor, b'\\n\"no such thing\"\\n')\n"
        "    except OSError:\n"
        "        pass\n"
        "sys.exit(1)\n"
    )
    lied = python(lie)
    assert (lied.code, lied.not_started) == (1, "")
    missing = run_confined(Program(("/not/there",), {}))
    assert (missing.not_started.rpartition(": ")[2], missing.output) == ("No such file or directory", "")


def test_the_working_folder_is_its_home_and_is_gone_afterwards():
    """It may write there and nothing of it stays."""
    ended = python(
        "import os, pathlib; pathlib.Path.home().joinpath('x').write_text('1'); print(os.getcwd(), os.listdir())"
    )
    assert ended.code == 0
    folder = ended.output.split()[0]
    assert "'x'" in ended.output
    assert not Path(folder).exists()


def test_the_environment_is_made_from_nothing(monkeypatch):
    """No secret of the caller's environment gets in."""
    monkeypatch.setenv("CHATCTX_CANARY", "tweet")
    assert "tweet" not in python("import os; print(dict(os.environ))").output


def test_a_check_that_does_not_end_is_killed_with_all_its_children():
    """Also those that left its session."""
    marker = f"sleeper-{os.getpid()}"
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(60)', '{marker}'])\n"
        "time.sleep(60)\n"
    )
    ended = python(code, seconds=2)
    assert ended.timed_out
    if "namespaces" in ended.confined:
        assert marker not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("code", "shows"),
    [
        ("x = bytearray(3 << 30)", "MemoryError"),
        ("open('big', 'wb').write(bytes(80 << 20))", "File too large"),
        ("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))", "Error"),
    ],
    ids=["memory", "file size", "raising a limit"],
)
def test_a_limit_holds(code, shows):
    """Memory and size of files; a limit cannot be raised again."""
    ended = python(code)
    assert ended.code != 0
    assert shows in ended.output


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives each check a user of its own")
def test_a_check_of_root_runs_as_nobody_and_cannot_multiply_without_end():
    """The limit on processes counts only its own."""
    assert int(python("import os; print(os.getuid())").output) > 60_000
    fork = (
        "import os, time\n"
        "n = 0\n"
        "try:\n"
        "    while True:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(5)\n"
        "            os._exit(0)\n"
        "        n += 1\n"
        "except OSError:\n"
        "    print(n)\n"
    )
    assert int(python(fork).output) < 200


@pytest.mark.usefixtures("walled")
def test_nothing_is_reached_but_the_loopback_of_its_own():
    """Neither the world nor a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = (
            "import socket\n"
            "own = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(own.getsockname())\n"
            f"for address in (('127.0.0.1', {port}), ('192.0.2.1', 80)):\n"
            "    try:\n"
            "        socket.create_connection(address, 2)\n"
            "        print('reached')\n"
            "    except OSError as error:\n"
            "        print(type(error).__name__)\n"
        )
        ended = python(code)
    assert ended.code == 0
    assert "reached" not in ended.output


@pytest.mark.usefixtures("walled")
def test_files_outside_cannot_be_written_and_homes_cannot_be_read(tmp_path):
    """The project is read-only; temporary and home folders of others are not there."""
    secret = tmp_path / "secret"
    secret.write_text("tweet")
    target = ROOT / "written-by-a-check"
    code = (
        "import pathlib\n"
        f"for path in ({str(target)!r}, '/etc/written-by-a-check'):\n"
        "    try:\n"
        "        pathlib.Path(path).write_text('x')\n"
        "        print('written')\n"
        "    except OSError:\n"
        "        pass\n"
        f"print(pathlib.Path({str(secret)!r}).exists(), pathlib.Path({str(Path.home() / '.ssh')!r}).exists())\n"
    )
    assert python(code).output.split() == ["False", "False"]
    assert not target.exists()


@pytest.mark.usefixtures("walled")
def test_what_is_private_is_not_seen_wherever_it_lies():
    """A folder as it is named, a file with all that lies beside it, though the project around them stays visible."""
    files = [str(ROOT / name) for name in ("README.md", "tests/conftest.py", "docs/gates.md", "docs/proofs.md")]
    code = f"import os\nprint(*map(os.path.exists, {files!r}))"
    ended = python(code, private=(ROOT / "tests", ROOT / "docs" / "gates.md", ROOT / "not-there"))
    assert ended.output.split() == ["True", "False", "False", "False"]
    assert "files" in ended.confined


@pytest.mark.usefixtures("walled")
def test_a_private_file_in_a_folder_of_the_system_is_covered_alone():
    """Programs need the rest of that folder."""
    ended = python("import os\nprint(open('/etc/passwd').read(), len(os.listdir('/etc')) > 1)", private=(PASSWD,))
    assert ended.output.split() == ["True"]
    assert "files" in ended.confined


@pytest.mark.usefixtures("walled")
@pytest.mark.parametrize("folder", ["/", "/etc", "/usr/lib"])
def test_where_a_private_folder_is_the_systems_files_are_not_said_to_be_walled(folder):
    """It cannot be covered, since programs need it."""
    ended = python("pass", private=(Path(folder),))
    assert ended.code == 0
    assert "files" not in ended.confined


@pytest.mark.usefixtures("walled")
def test_sockets_and_terminals_of_others_are_not_there():
    """A read-only file system does not keep anyone from writing to those."""
    assert python("import os\nprint(os.listdir('/run'), os.listdir('/dev/pts'))").output == "[] []\n"


@pytest.mark.usefixtures("walled")
@pytest.mark.parametrize(
    ("content", "most"), [("bytes(1 << 20)", 128), ("b''", 16_384)], ids=["by size", "by number of files"]
)
def test_what_it_writes_has_an_end(content, most):
    """All files together, not only each."""
    code = (
        "import errno, itertools, pathlib\n"
        "try:\n"
        "    for n in itertools.count():\n"
        f"        pathlib.Path(str(n)).write_bytes({content})\n"
        "except OSError as error:\n"
        "    print(errno.errorcode[error.errno], n)\n"
    )
    ended = python(code)
    assert "disk" in ended.confined
    error, count = ended.output.split()
    assert error == "ENOSPC"
    assert most * 0.9 < int(count) <= most


@pytest.mark.usefixtures("walled")
def test_a_program_whose_files_do_not_fit_was_not_started(monkeypatch):
    """Where the confinement cannot be set up nothing is run, and nothing said about the program."""
    monkeypatch.setattr("review.verify.confinement._WORK_BYTES", 4096)
    ended = python("print('started')" + "\n" * 10_000)
    assert ended.not_started == "its confinement could not be set up"
    assert "started" not in ended.output.split()


@pytest.mark.usefixtures("walled")
def test_only_its_own_folder_takes_files():
    """Not the empty folders that cover those of others, and not the ones around what stays visible in them."""
    covered = {"/tmp", "/var/tmp", "/home"}  # noqa: S108 - to see that nothing can be written there
    places = covered | {str(Path.home()), str(ROOT), str(Path(sys.prefix).parent), sys.prefix}
    code = (
        "import pathlib\n"
        f"for place in {sorted(places - {'/'})!r}:\n"
        "    try:\n"
        "        pathlib.Path(place, 'written-by-a-check').write_text('x')\n"
        "        print(place)\n"
        "    except OSError:\n"
        "        pass\n"
        "pathlib.Path('own').write_text('x')\n"
    )
    ended = python(code)
    assert (ended.code, ended.output) == (0, "")


@pytest.mark.usefixtures("walled")
def test_processes_outside_are_not_seen():
    """Not even by their number."""
    assert python(
        f"import os\ntry:\n    os.kill({os.getpid()}, 0)\n    print('seen')\nexcept OSError:\n    print('not seen')"
    ).output.split() == ["not", "seen"]


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None or not Path("/usr/bin/python3").exists(),
    reason="needs root and a system Python",
)
@pytest.mark.usefixtures("walled")
def test_an_ordinary_user_has_the_same_walls_where_user_namespaces_are_permitted(tmp_path):
    """Root's own tests must not be the only proof, and root's private files are closed to others anyway."""
    code = f"import os\nprint(len(os.listdir({str(ROOT / 'tests')!r})) + os.stat('/etc/passwd').st_size)"
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from review.verify.confinement import Program, run_confined\n"
        "from pathlib import Path\n"
        f"code = {code.encode()!r}\n"
        f"program = Program(('/usr/bin/python3', '-I', 'a.py'), {{'a.py': code}}, keep=({str(ROOT)!r},),\n"
        f"    private=(Path({str(ROOT / 'tests')!r}), Path('/etc/passwd')))\n"
        "ended = run_confined(program)\n"
        "print(ended.code, ended.output.strip(), *sorted(ended.confined))\n"
    )
    command = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", "/usr/bin/python3", "-c", program]
    done = subprocess.run(command, env={"HOME": "/"}, cwd="/", capture_output=True, text=True, check=False)
    if "namespaces" not in done.stdout:
        pytest.skip(f"no user namespaces here: {done.stdout}{done.stderr}")
    assert done.stdout.split() == ["0", "0", "disk", "files", "namespaces", "network", "user"]


def test_without_namespaces_the_rest_still_holds():
    """Limits, time and the change of user need nothing of Linux."""
    ended = python("print(1)", namespaces=False)
    assert "network" not in ended.confined
    # As root, an interpreter that others cannot reach is said to be out of reach, not run as root.
    assert ended.not_started or (ended.code, ended.output) == (0, "1\n")
