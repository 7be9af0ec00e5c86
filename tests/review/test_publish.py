"""Publishing: exactly what is approved is served, in one transaction, and twice changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from app.errors import EmbeddingFailure, LedgerError
from app.ports import EmbeddingModel
from app.settings import read_settings
from app.store.served import publication, published_hashes
from review.bench import open_shelf
from review.publish import Choices, publish
from tests.fakes import HashingEmbedder

SLUG = "store-money-as-numeric"
OTHER = "keep-instants-with-their-zone"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def two(published_bench):
    """Return a bench with two approved records."""
    published_bench.write_two(SLUG, OTHER)
    published_bench.approve(SLUG)
    published_bench.approve(OTHER)
    return published_bench


def served(database) -> set[str]:
    """Return the slugs that are served."""
    return set(published_hashes(database.owner))


def test_the_whole_way_from_a_new_record_to_a_served_one(published_bench, database):
    """new, check, approve, publish: as a user does it."""
    published_bench.run("new", f"data/{SLUG}")
    published_bench.run("check", SLUG, code=1)
    published_bench.write(SLUG)
    published_bench.run("check", SLUG)
    published_bench.run("publish", "--dry-run")
    assert served(database) == set()
    published_bench.approve(SLUG)
    plan = published_bench.json("publish", "--dry-run")
    assert plan["added"] == [SLUG]
    assert served(database) == set()
    assert published_bench.json("publish")["added"] == [SLUG]
    assert served(database) == {SLUG}


def test_publishing_twice_changes_nothing(two, database):
    """Nor does it move the time of publication."""
    two.run("publish")
    first = publication(database.owner)
    again = two.json("publish")
    assert again["added"] == again["changed"] == again["deprecated"] == []
    assert publication(database.owner) == first


def test_a_record_edited_by_one_character_stops_being_served_at_the_next_publish(two, database):
    """And is served again, as the next version, once it is approved again."""
    two.run("publish")
    two.edit(two.records / "data" / f"{SLUG}.md", "off by 0.01", "off by 0.02")
    printed = two.run("publish", "--dry-run").output
    assert f"withheld: {SLUG} (changed since approval)" in printed
    assert "deprecate" not in printed
    done = two.json("publish")
    assert done["deprecated"] == []
    assert done["withheld"] == {SLUG: "changed since approval"}
    assert served(database) == {OTHER}
    two.approve(SLUG)
    two.run("publish")
    assert served(database) == {SLUG, OTHER}


def test_a_deprecated_record_is_withdrawn(two, database):
    """At the next publish."""
    two.run("publish")
    two.run("deprecate", SLUG, "--reason", "there is a better one", "--yes")
    assert two.json("publish")["deprecated"] == [SLUG]
    assert served(database) == {OTHER}


def test_a_record_that_cannot_be_read_or_is_gone_is_withheld_and_named(two):
    """A broken file is never served in its last good form by accident."""
    (two.records / "data" / f"{SLUG}.md").write_text("no record")
    (two.records / "data" / f"{OTHER}.md").unlink()
    two.write("use-numeric-for-prices")
    two.approve("use-numeric-for-prices")
    assert two.json("publish")["withheld"] == {SLUG: "cannot be read", OTHER: "its file is gone"}


def test_a_served_record_whose_file_is_gone_is_deprecated_and_from_then_on_withheld(two, database):
    """One word for it at a time: what this publish does, or what stays as it is."""
    two.run("publish")
    (two.records / "data" / f"{OTHER}.md").unlink()
    done = two.json("publish")
    assert (done["deprecated"], done["withheld"]) == ([OTHER], {})
    assert served(database) == {SLUG}
    assert f"withheld: {OTHER} (its file is gone)" in two.run("publish").output


def test_a_record_that_was_never_approved_is_named(two):
    """Also one that cannot be read; of many, the first and their number."""
    two.write("a-candidate")
    (two.records / "data" / "a-broken-file.md").write_text("no record")
    assert two.json("publish", "--dry-run")["not_approved"] == ["a-broken-file", "a-candidate"]
    assert "not approved: a-broken-file\nnot approved: a-candidate\n" in two.run("publish").output
    for number in range(12):
        two.write(f"candidate-{number:02}")
    assert "not approved: candidate-09\nnot approved: 2 more\n" in two.run("publish").output


def test_an_unapproved_record_never_reaches_the_database(two, database):
    """Not even its text."""
    two.write("a-candidate", title="Frobnicate the zibble before use", subject="Zibble")
    two.run("publish")
    with database.owner.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM chatctx.record WHERE slug = 'a-candidate'")) == 0


def test_withdrawing_everything_has_to_be_said(two, database):
    """An emptied ledger must not empty the service by accident."""
    two.run("publish")
    for slug in (SLUG, OTHER):
        two.run("deprecate", slug, "--reason", "there is a better one", "--yes")
    assert "withdraw all 2" in two.run("publish", code=1).stderr
    assert served(database) == {SLUG, OTHER}
    two.run("publish", "--allow-empty")
    assert served(database) == set()


def test_a_ledger_with_its_last_lines_cut_off_is_refused(two, database):
    """The database remembers where the ledger ended; the chain alone cannot tell."""
    two.run("publish")
    ledger = two.records / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    assert two.run("publish", code=1).stderr.startswith("invalid_ledger: The database was published from a ledger")
    assert served(database) == {SLUG, OTHER}
    two.run("publish", "--new-ledger")
    assert served(database) == {SLUG}


def test_a_demonstration_set_is_refused_in_production(published_bench, database):
    """Unless it is allowed; the publication says what it is."""
    published_bench.write(SLUG)
    published_bench.approve(SLUG, by="demo")
    refused = published_bench.run("publish", code=1, CHATCTX_ENV="production")
    assert "demonstration set" in refused.stderr
    assert served(database) == set()
    published_bench.run("publish", CHATCTX_ENV="production", CHATCTX_ALLOW_DEMO_RECORDS="true")
    assert publication(database.owner).demo


def test_one_owner_signed_set_is_no_demonstration(two, database):
    """In production it is published without being asked for more."""
    two.run("publish", CHATCTX_ENV="production")
    assert not publication(database.owner).demo


def test_a_database_that_cannot_be_reached_is_exit_code_3(two):
    """With one line, and nothing of the address in it."""
    result = two.run(
        "publish", code=3, DATABASE_URL="postgresql://u:secret@127.0.0.1:1/x", CHATCTX_OWNER_DATABASE_URL=""
    )
    assert result.stderr.startswith("unavailable: ")
    assert "secret" not in result.output


class FailingEmbedder(HashingEmbedder):
    """Fails at the second record."""

    def __init__(self) -> None:
        super().__init__()
        self._left = 1

    def embed(self, texts):
        """Return vectors once."""
        self._left -= 1
        if self._left < 0:
            raise EmbeddingFailure("embedding_error", "The model gave nothing.")
        return super().embed(texts)


def test_a_failure_on_the_way_leaves_what_is_served_as_it_was(two, database):
    """Whether the model fails or the transaction does."""
    shelf = open_shelf(two.records)
    settings = read_settings(two.environ, base=ROOT)
    with pytest.raises(EmbeddingFailure):
        publish(shelf, database.owner, FailingEmbedder(), settings)
    assert served(database) == set()

    def fail_late(step: str, done: int, total: int) -> None:
        if step == "words":
            raise RuntimeError("pulled the plug")

    with pytest.raises(RuntimeError):
        publish(shelf, database.owner, HashingEmbedder(), settings, progress=fail_late)
    assert served(database) == set()


def test_only_records_without_vectors_are_embedded(two, database):
    """A second publish with the same model embeds nothing; another model embeds all."""
    shelf, settings = open_shelf(two.records), read_settings(two.environ, base=ROOT)
    assert publish(shelf, database.owner, HashingEmbedder(), settings).plan.to_embed == (OTHER, SLUG)
    assert publish(shelf, database.owner, HashingEmbedder(), settings, Choices(dry_run=True)).plan.to_embed == ()
    other = HashingEmbedder(revision="2")
    assert other.model == EmbeddingModel("hashing", "2", 64)
    assert publish(shelf, database.owner, other, settings, Choices(dry_run=True)).plan.to_embed == (OTHER, SLUG)


def test_a_served_body_that_was_altered_in_the_database_is_reported(two, database):
    """Publishing looks at what is served, not only at what it wrote."""
    two.run("publish")
    with database.owner.begin() as connection:
        connection.execute(text("ALTER TABLE chatctx.record DISABLE TRIGGER USER"))
        connection.execute(
            text("UPDATE chatctx.record SET body = jsonb_set(body, '{title}', '\"Altered\"') WHERE slug = :slug"),
            {"slug": SLUG},
        )
    settings = read_settings(two.environ, base=ROOT)
    with pytest.raises(LedgerError, match=SLUG):
        publish(open_shelf(two.records), database.owner, None, settings)


def test_the_whole_way_works_in_a_process_of_its_own(published_bench, database):
    """The installed command, with nothing of the tests around it."""
    published_bench.write(SLUG)
    environ = {**os.environ, **published_bench.environ}

    def chatctx(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "app.main", "review", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)

    assert chatctx("check").returncode == 0
    assert chatctx("approve", SLUG, "--by", "ada", "--yes").returncode == 0
    done = chatctx("publish")
    assert (done.returncode, done.stderr) == (0, "")
    assert "serving 1 record\n" in done.stdout
    assert served(database) == {SLUG}


def test_a_slower_publish_does_not_undo_a_quicker_one(two, database):
    """While one makes vectors, another owner decides and publishes: the first is refused, and nothing comes back."""
    two.run("publish")
    settings = read_settings(two.environ, base=two.records.parent)
    before = open_shelf(two.records)

    class Slow(HashingEmbedder):
        def embed(self, texts):
            if SLUG in served(database):
                two.run("deprecate", SLUG, "--reason", "found wrong meanwhile", "--yes")
                two.run("publish")
            return super().embed(texts)

    with pytest.raises(LedgerError, match="with lines that this one lacks"):
        publish(before, database.owner, Slow(), settings)
    assert served(database) == {OTHER}
