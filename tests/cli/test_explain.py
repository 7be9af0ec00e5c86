"""`chatctx search --explain` over the shipped records: what is explained is what was computed."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from app.answers import SearchResponse
from app.embedding.onnx import OnnxEmbedder
from app.explanation import USUAL
from app.explanation import explain as explain_search
from app.operations import Services
from app.ports import PublishedRecord, QueryEmbedding
from app.runtime import LocalRuntime
from app.store.catalogue import PostgresCatalogue
from app.store.signals import PostgresSignals
from app.transports.cli import create_cli
from bench.corpus import Corpus
from bench.evaluation import Evaluation
from bench.questions import ANSWERED, read_questions
from tests.databases import Database
from tests.fakes import HashingEmbedder

ROOT = Path(__file__).resolve().parents[2]
KEYS = "use-stable-keys-for-dynamic-react-lists"
GOOD = ("list rows keep the wrong state after sorting", "-t", "React==18.2", "--topic", "implementation")
# Two of its answers take the room of a brief answer.
LONG = ("our postgres deploys hang when we rename a column used by the old release", "-t", "PostgreSQL")
NONSENSE = "best sourdough hydration for a rye loaf"

Run = Callable[..., Result]
Explain = Callable[..., dict[str, Any]]


@pytest.fixture
def environ(shipped: Database, tmp_path: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": shipped.app_url,
        "CHATCTX_OWNER_DATABASE_URL": shipped.owner_url,
        "CHATCTX_HOME": str(tmp_path / "home"),
        # Nothing here is about a busy machine.
        "CHATCTX_EMBEDDING_TIMEOUT_MS": "2000",
    }


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Run:
    """Run `chatctx search`; keyword arguments are added to the environment."""

    def invoke(*arguments: str, **changes: str) -> Result:
        cli = create_cli(LocalRuntime({**environ, **changes}, tmp_path))
        return CliRunner().invoke(cli, ["search", *arguments], prog_name="chatctx")

    return invoke


@pytest.fixture
def explain(run: Run) -> Explain:
    """Return the explanation of a search with every candidate."""
    return lambda *arguments, **changes: json.loads(run("--explain-all", "--json", *arguments, **changes).stdout)


def by_slug(explanation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["slug"]: row for row in explanation["candidates"]}


def with_outcome(explanation: dict[str, Any], *outcomes: str) -> list[str]:
    return [row["slug"] for row in explanation["candidates"] if row["outcome"] in outcomes]


@pytest.mark.parametrize("embedder", ["onnx", "none"])
def test_what_is_explained_adds_up(explain: Explain, embedder: str) -> None:
    """Shares and bonuses make the score, contributions and intercept the margin, and both decide what they should."""
    explanation = explain(*GOOD, "--task", "debug", CHATCTX_EMBEDDER=embedder)
    rows = explanation["candidates"]
    assert len(rows) == explanation["total_candidates"] > 10
    for row in rows:
        assert sum(row["parts"].values()) == pytest.approx(row["score"], abs=1e-5)
        assert row["intercept"] + sum(row["contributions"].values()) == pytest.approx(row["margin"], abs=1e-5)
        assert (row["margin"] < 0) == (row["outcome"] == "below_gate") == (row["weakest"] is not None)
        assert (row["meaning"] is None) == (embedder == "none")
    assert [row["place"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert explanation["degraded_reason"] == (None if embedder == "onnx" else "embedding_disabled")


def test_bonuses_are_named(explain: Explain) -> None:
    """Which bonus a record got can be read: for its technology, its topic, its task and the question's phrase."""
    parts = by_slug(explain(*GOOD, "--task", "debug"))[KEYS]["parts"]
    assert all(parts[bonus] > 0 for bonus in ("technology", "topic", "task", "phrase"))


def test_ranks_in_a_leg_follow_its_scores(explain: Explain) -> None:
    """The best of a leg is first with all that is as good, and no leg ranks what it did not find."""
    rows = explain(*GOOD)["candidates"]
    for leg, score in (("words", "bm25"), ("meaning", "cosine")):
        found = sorted((row[leg] for row in rows if row[leg]), key=lambda place: place["rank"])
        assert [place[score] for place in found] == sorted((place[score] for place in found), reverse=True)
        assert (found[0]["rank"], found[0]["scaled"]) == (1, 1.0)
        assert found[-1]["rank"] <= len(found)


def test_explanation_and_answer_agree(run: Run, explain: Explain) -> None:
    """The records that are explained as answered are those of the answer, with the tokens that their cards take."""
    for arguments in (GOOD, LONG, (*LONG, "--budget", "300", "--detail", "standard"), (*LONG, "-n", "1")):
        answer = json.loads(run(*arguments, "--json").stdout)
        explanation = explain(*arguments)
        assert with_outcome(explanation, "answered", "shrunk") == [card["slug"] for card in answer["results"]]
        assert explanation["results"] == len(answer["results"])
        assert explanation["tokens_used"] == answer["retrieval"]["tokens_used"]
        assert sum(row["tokens"] or 0 for row in explanation["candidates"]) < explanation["tokens_used"]


def test_what_the_budget_dropped_or_shrank_is_named(explain: Explain) -> None:
    """A record without room is told from one that was not chosen, with what its card would have taken."""
    explanation = explain(*LONG, "--budget", "400")
    dropped = with_outcome(explanation, "dropped_by_budget")
    assert dropped
    assert dropped == explanation["dropped"]
    assert all(by_slug(explanation)[slug]["tokens_whole"] > 100 for slug in dropped)
    shrunk = by_slug(explain(*GOOD, "--budget", "250"))[KEYS]
    assert (shrunk["outcome"], shrunk["tokens"] < shrunk["tokens_whole"]) == ("shrunk", True)


def test_what_is_left_out_for_a_surer_record_is_named(explain: Explain) -> None:
    """Below the gate, behind the surest, over the number of results: each is another reason."""
    explanation = explain(*LONG, "-n", "1")
    rows = by_slug(explanation)
    least = explanation["least_margin"]
    assert len(with_outcome(explanation, "answered")) == 1
    assert all(rows[slug]["margin"] >= least for slug in with_outcome(explanation, "beyond_max_results"))
    assert with_outcome(explanation, "beyond_max_results")
    assert all(0 <= rows[slug]["margin"] < least for slug in with_outcome(explanation, "behind_surest"))
    assert with_outcome(explanation, "behind_surest")


def test_question_without_an_answer_is_explained(run: Run, explain: Explain) -> None:
    """Nothing passed the gate: the question's domain and the words that no record holds say why; the exit code is 1."""
    explanation = explain(NONSENSE)
    assert (explanation["mode"], explanation["results"]) == ("no_match", 0)
    assert with_outcome(explanation, "below_gate") == [row["slug"] for row in explanation["candidates"]]
    assert explanation["domain"] < 0
    assert {"sourdough", "rye", "loaf"} <= set(explanation["unknown_terms"])
    assert {row["weakest"] for row in explanation["candidates"]} <= {"domain", "coverage", "cosine"}
    shown = run(NONSENSE, "--explain")
    assert shown.exit_code == run(NONSENSE).exit_code == 1
    assert "below gate: domain" in shown.stdout
    assert run(*GOOD, "--explain").exit_code == 0


def test_words_of_the_question_have_their_rarity(explain: Explain) -> None:
    """Each word has the records that hold it, and the rarest is first."""
    explanation = explain("useEffect loses my sourdough", "-t", "React")
    terms = explanation["terms"]
    assert terms[0] == {"term": "sourdough", "records": 0, "idf": terms[0]["idf"]}
    assert [term["idf"] for term in terms] == sorted((term["idf"] for term in terms), reverse=True)
    assert all(0 <= term["records"] <= explanation["documents"] for term in terms)


def test_long_question_does_not_bury_its_explanation(environ: dict[str, str], run: Run) -> None:
    """On a terminal a few of many words stand for all; a pipe has every one."""
    words = [f"{first}{second}{third}q" for first in "bcdf" for second in "ghjk" for third in "lmnp"]
    question = f"React list rows keep the wrong state after sorting {' '.join(words)}"
    output = on_terminal(environ, 80, "search", question, "--explain")
    assert "and 52 more" in " ".join(output.split())
    assert "\nreact " in output
    assert len(set(words) & set(output.split())) == 12
    assert set(words) <= set(run(question, "--explain").stdout.replace("\n", "\t").split("\t"))


def test_verdicts_on_technologies_are_explained(explain: Explain) -> None:
    """Each technology named has its finding, a mentioned one apart; what is for a rival is marked."""
    finding = by_slug(explain("list rows keep the wrong state", "-t", "React==15.0"))[KEYS]["findings"]
    assert finding == [{"technology": "React", "version": "15.0", "verdict": "does_not_apply", "constraint": ">=16.8"}]
    explanation = explain("list rows in React keep the wrong state after sorting", "-t", "Angular")
    assert (explanation["technologies"], explanation["technologies_in_text"]) == (["Angular"], ["React"])
    row = by_slug(explanation)[KEYS]
    assert row["rival"]
    assert [finding["verdict"] for finding in row["findings"]] == ["not_about"]
    assert [finding["technology"] for finding in row["findings_in_text"]] == ["React"]
    assert row["verdict"] == "version_unknown"
    rival = by_slug(explain("what I typed moves to another row of the list", "-t", "Angular"))[KEYS]
    assert (rival["contributions"]["rival"] < 0, rival["weakest"]) == (True, "rival")


def test_best_candidates_are_shown_and_those_that_were_chosen(run: Run) -> None:
    """Ten, unless all are asked for; the option may stand before the question."""
    some = json.loads(run("--explain", *GOOD, "--json").stdout)["candidates"]
    assert [row["place"] for row in some] == list(range(1, 11))
    # A record for another version comes last, and is shown because it is answered.
    arguments = ("key of each row in a list", "-t", "React==15.0", "-n", "10", "--json")
    shown = json.loads(run("--explain", *arguments).stdout)["candidates"]
    cards = json.loads(run(*arguments).stdout)["results"]
    assert {card["slug"] for card in cards} <= {row["slug"] for row in shown}


def test_answer_of_an_agent_has_nothing_of_it(run: Run) -> None:
    """search_knowledge says what the contract says, whatever an explanation shows."""
    answer = json.loads(run(NONSENSE, "--json").stdout)
    SearchResponse.model_validate(answer)
    said = json.dumps(answer)
    for key in ("terms", "idf", "margin", "contributions", "parts", "timing", "sourdough"):
        assert key not in said


def test_looking_into_a_search_is_not_counted(run: Run, shipped: Database) -> None:
    """What agents ask is counted; what the owner looks into is not."""

    def counted() -> int:
        with shipped.owner.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM retrieval_event")).scalar_one())

    before = counted()
    run(*GOOD, "--explain")
    assert counted() == before
    run(*GOOD)
    assert counted() == before + 1


class Withdrawn(PostgresCatalogue):
    """A catalogue whose records are withdrawn between finding and fetching."""

    def fetch(self, identifiers: Sequence[str]) -> dict[str, PublishedRecord]:  # noqa: ARG002 - the port names it
        return {}


def test_record_withdrawn_meanwhile_is_named_and_stages_are_timed(shipped: Database, hashing: HashingEmbedder) -> None:
    """What was found and is not served any more is no card; each stage has its time by the clock that was given."""

    class Questions:
        provider = "none"

        def embed_query(self, query: str) -> QueryEmbedding:
            return hashing.question(query)

    signals = PostgresSignals(shipped.server)
    services = Services(
        Withdrawn(shipped.server), Questions(), signals, lambda _: b"", lambda _: b"", feedback_daily_cap=1
    )
    ticks = itertools.count()
    question = "list rows keep the wrong state after reordering: which key for each row of a dynamic React list"
    explanation = explain_search(services, {"query": question}, lambda: float(next(ticks)))
    assert with_outcome(explanation, "withdrawn")[0] == KEYS
    assert (explanation["results"], explanation["degraded_reason"]) == (0, "embedding_model_not_published")
    assert explanation["timing_ms"] == {"embedding": 1000, "database": 2000, "ranking": 1000, "answer": 1000}


def test_pipe_gets_rows_with_tabs(run: Run) -> None:
    """Facts, words and candidates are three tables, each with a head and as many cells in every row."""
    tables = run(*GOOD, "--explain").stdout.split("\n\n")
    assert len(tables) == 3
    for table in tables:
        assert len({line.count("\t") for line in table.splitlines()}) == 1
    head, first, *_ = [line.split("\t") for line in tables[2].splitlines()]
    row = dict(zip(head, first, strict=True))
    assert (row["place"], row["outcome"], row["record"]) == ("1", "answered", KEYS)
    assert float(row["margin"]) > 0


@pytest.mark.parametrize("columns", [80, 100])
def test_terminal_is_wide_enough(environ: dict[str, str], explain: Explain, columns: int) -> None:
    """No line is longer than the terminal, and every score and margin stands there whole."""
    arguments = (*GOOD, "--task", "debug")
    output = on_terminal(environ, columns, "search", *arguments, "--explain")
    assert max(map(len, output.splitlines())) <= columns
    for row in explain(*arguments)["candidates"][:10]:
        score, margin = f"{row['score']:.3f}", re.escape(f"{row['margin']:+.2f}")
        assert re.search(rf"^ *{row['place']} .* {score}$", output, re.MULTILINE)
        assert re.search(rf"^ *{row['place']} .* {margin} ", output, re.MULTILINE)
    assert "…" not in output


def on_terminal(environ: dict[str, str], columns: int, *arguments: str) -> str:
    """Return what a command prints on a terminal, without colours and spaces at the end."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", *arguments],
        cwd=ROOT,
        env={**os.environ, **environ, "COLUMNS": str(columns), "TERM": "xterm-256color"},
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    output = b""
    try:
        while chunk := os.read(master, 4096):
            output += chunk
    except OSError:  # the terminal closes with its last writer
        pass
    os.close(master)
    assert process.wait() in (0, 1), output
    lines = re.sub(r"\x1b\[[0-9;]*m", "", output.decode()).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def test_documentation_names_every_key(explain: Explain) -> None:
    """What the JSON holds is documented, and nothing else is."""
    section = (ROOT / "docs/retrieval.md").read_text("utf-8").partition("## Why this answer")[2].partition("\n## ")[0]
    documented = {
        name for cell in re.findall(r"^\| (`.+?) \|", section, re.MULTILINE) for name in cell.split("`")[1::2]
    }
    explanation = explain(*GOOD)
    assert documented == {*explanation, *explanation["candidates"][0]}


def test_usual_signals_are_those_of_records_that_answer(shipped: Database, model: OnnxEmbedder) -> None:
    """The weakest signal is told against what right records really bring, by the development questions."""
    evaluation = Evaluation(Corpus(PostgresCatalogue(shipped.server), model, ()))
    questions = [question for question in read_questions("dev") if question.kind in ANSWERED]
    ranked = (outcome.ranked[outcome.place - 1] for outcome in evaluation.ask(questions, "named") if outcome.place)
    signals = [entry.signals for entry in ranked]
    assert statistics.median(s.cosine or 0.0 for s in signals) == pytest.approx(USUAL.cosine, abs=0.03)
    assert statistics.median(s.coverage for s in signals) == pytest.approx(USUAL.coverage, abs=0.03)
    assert statistics.median(s.domain or 0.0 for s in signals) == pytest.approx(USUAL.domain, abs=0.3)
