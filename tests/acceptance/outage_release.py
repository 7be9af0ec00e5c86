"""The release after this one: a copy of the program with one revision more, run as its own commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.store.migrating import head_revision
from tests.acceptance.conftest import ROOT
from tests.databases import Database

NEXT = "next"
_MOVED_BY_ITSELF = """-- Move a key to a newer pepper unless somebody else has.
-- No parameter may be null.
UPDATE api_key SET mac = CAST(:mac AS bytea), pepper_id = :pepper_id
WHERE key_id = :key_id AND pepper_id = :old_pepper_id
"""
_REVISION = '''"""What the release after this one adds.

Revises: {head}
"""

from alembic import op
{imports}
revision = "{next}"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    {upgrade}


def downgrade() -> None:
    {downgrade}
'''


@dataclass(frozen=True)
class NextRelease:
    """A checkout of it.

    Attributes:
        folder: where it lies.
        home: folder of its settings.
    """

    folder: Path
    home: Path

    def start(self, database: Database, command: str = "migrate", **environ: str) -> subprocess.Popen[str]:
        """Start a command of it on a database."""
        settings = {
            "DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
            "CHATCTX_HOME": str(self.home), "CHATCTX_EMBEDDER": "none", "CHATCTX_PORT": "0",
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "app.main", command], cwd=self.folder, env={**os.environ, **settings, **environ},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, database: Database, command: str) -> tuple[int, str]:
        """Run a command of it to the end; return exit code and output."""
        running = self.start(database, command)
        output, _ = running.communicate(timeout=110)
        return running.returncode, output

    def migrate(self, database: Database) -> tuple[int, str]:
        """Run its `migrate` to the end."""
        return self.run(database, "migrate")


def next_release(folder: Path, upgrade: str, downgrade: str = "pass", imports: str = "") -> NextRelease:
    """Make it; `upgrade` and `downgrade` are what its revision does."""
    _copy(folder)
    text = _REVISION.format(head=head_revision(), next=NEXT, upgrade=upgrade, downgrade=downgrade, imports=imports)
    (folder / "migrations/versions/next.py").write_text(text, "utf-8")
    return NextRelease(folder, folder / "home")


def release_before(folder: Path) -> Path:
    """Make a checkout of a release that wrote hashes of keys itself, and return where it lies."""
    _copy(folder)
    (folder / "app/store/sql/rekey.sql").write_text(_MOVED_BY_ITSELF, "utf-8")
    return folder


def _copy(folder: Path) -> None:
    for part in ("app", "migrations"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
