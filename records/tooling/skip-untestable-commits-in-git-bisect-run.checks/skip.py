"""Exit code 125 for a broken build: Git tries a neighbour and finds the real culprit."""
import os
import pathlib
import subprocess
import sys

here = pathlib.Path.cwd()
repository = here / "repository"
repository.mkdir()
names = {"NAME": "Check", "EMAIL": "check@example.invalid"}
env = {**os.environ, "HOME": str(here), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
env |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in names.items()}


def git(*args):
    return subprocess.run(
        ["git", *args], cwd=repository, env=env, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


git("init", "-q")
history = ["start", "a", "b", "break the build", "repair the build", "bring the bug", "c"]
for number, title in enumerate(history, start=1):
    built = "no" if number == 4 else "yes"
    answer = "wrong" if number >= 6 else "right"
    (repository / "state").write_text(f"{number} {built} {answer}\n")
    git("add", "state")
    git("commit", "-q", "-m", f"{number} {title}")

script = here / "check.py"  # outside the work tree, as a checkout would change it
script.write_text(
    "import pathlib, sys\n"
    "_, built, answer = pathlib.Path('state').read_text().split()\n"
    "if built == 'no':\n"
    "    sys.exit(125)\n"
    "sys.exit(answer == 'wrong')\n"
)
git("bisect", "start", "HEAD", "HEAD~6", "--")
git("bisect", "run", sys.executable, str(script))
found = git("log", "-1", "--format=%s", "refs/bisect/bad").strip()
print(f"blamed: {found}")
assert found == "6 bring the bug", found
