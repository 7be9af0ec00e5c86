"""A records folder of each test's own, and the bench as its owner uses it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.runtime import LocalRuntime
from app.transports.cli import create_cli
from tests.databases import Database
from tests.review.recordtexts import record_text


@dataclass
class Bench:
    """The bench on a folder of records."""

    records: Path
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, code: int = 0, stdin: str | None = None, **environ: str) -> Result:
        """Run `chatctx review ...` and expect an exit code."""
        runtime = LocalRuntime({**self.environ, **environ}, self.records.parent)
        result = CliRunner().invoke(create_cli(runtime), ["review", *arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, f"exit {result.exit_code}\n{result.output}"
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a command with `--json` and return what it printed."""
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def write(self, slug: str, topic: str = "data", **changes: Any) -> Path:
        """Write a record that passes every gate, with some changes."""
        path = self.records / topic / f"{slug}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record_text(**changes), "utf-8")
        return path

    def write_two(self, slug: str, other: str) -> None:
        """Write two records that pass every gate, also beside each other."""
        self.write(slug)
        self.write(
            other,
            title="Keep instants in a column with time zone",
            subject="Instants, zones and numeric amounts",
            recommendation="Choose `timestamptz` for moments, and convert at the border of the program. "
            "Avoid `timestamp`.",
        )

    def approve(self, slug: str, by: str = "ada") -> None:
        """Approve a record."""
        self.run("approve", slug, "--by", by, "--yes", "--note", "read the source again")

    def edit(self, path: Path, old: str, new: str) -> None:
        """Change a text in a record file."""
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Return a bench on an empty folder; likeness is judged by words, so that no model is loaded."""
    (tmp_path / "records").mkdir()
    environ = {
        "CHATCTX_RECORDS": str(tmp_path / "records"),
        "CHATCTX_HOME": str(tmp_path / "home"),
        "CHATCTX_EMBEDDER": "none",
    }
    return Bench(tmp_path / "records", environ)


@pytest.fixture
def published_bench(bench: Bench, database: Database) -> Bench:
    """Return a bench with a database of its own."""
    bench.environ |= {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    return bench
