"""Another embedding model takes over while agents ask, and the old one is there to go back to."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.indexing import embedding_texts
from app.lexical import query_terms
from app.ports import CandidateRequest
from app.recordfile import read_record
from app.store.catalogue import PostgresCatalogue
from tests.acceptance.backup_commands import blocks, paste
from tests.acceptance.conftest import CHOSEN, ROOT, Program, run_program
from tests.acceptance.embedding_load import Answer, Balancer, ask_all, gold, recall
from tests.acceptance.embedding_service import Service, embedding_service
from tests.databases import Database, DatabaseServer
from tests.fakes import HashingEmbedder

QUESTION = "list rows keep the wrong state after reordering"
PHASE_SECONDS = 2.0
RATE = 50
GO_BACK_SECONDS = 1.0
OLD, NEW = "small", "large"
BUILD, LOOK, DROP = blocks("Change the embedding model")
DIMS = {OLD: 384, NEW: 768}


@dataclass
class Site:
    """One database, and the programs that an owner runs on it with one setting of the model or the other."""

    database: Database
    service: Service
    home: Path

    def environ(self, model: str) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database.app_url,
            "CHATCTX_OWNER_DATABASE_URL": self.database.owner_url,
            "CHATCTX_GUEST_DAILY_QUOTA": "1000000",
            # Whether a model is published must not depend on how busy the machine is that runs the tests.
            "CHATCTX_EMBEDDING_TIMEOUT_MS": "5000",
            "CHATCTX_CALL_TIMEOUT_MS": "10000",
            # An answer says whether the question's vector was at hand; here all are to be alike.
            "CHATCTX_EMBEDDING_CACHE": "0",
            **self.service.settings(model),
        }

    def serve(self, model: str) -> AbstractContextManager[Program]:
        return run_program(self.environ(model), self.home, command="serve")

    def run(self, model: str, block: str, **named: str) -> str:
        return paste(block, {"CHATCTX_HOME": str(self.home), **self.environ(model), **named})

    def models(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = json.loads(self.run(OLD, f"{LOOK.strip()} --json"))
        return listed


@dataclass
class Change:
    """What agents got while one model took over from the other.

    Attributes:
        alone: by model, each question's answer while nobody else was asking that server.
        model_of: which model the server at an address is set to.
        went_back: seconds from the decision to go back until the last call of the new model's servers had ended.
        restarted: seconds that a server with the old setting takes from its start to its first answer.
        left: models whose vectors are stored at the end.
    """

    alone: dict[str, dict[str, Answer]] = field(default_factory=dict)
    model_of: dict[str, str] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    seconds: float = 0.0
    went_back: float = 0.0
    restarted: float = 0.0
    left: list[str] = field(default_factory=list)

    def of(self, answer: Answer, model: str | None = None) -> Answer:
        """Return what a model alone answers to the same question; by default the one that answered."""
        return self.alone[model or self.model_of[answer.base]][answer.question.id]


def change_models(site: Site) -> Change:
    """Do what docs/operations.md says, with agents asking from beginning to end."""
    change, questions = Change(), gold()
    load = Balancer(questions, RATE)
    with ExitStack() as stack:

        def start(model: str) -> Program:
            program = stack.enter_context(site.serve(model))
            change.model_of[program.base] = model
            return program

        site.run(OLD, BUILD)
        first, second = start(OLD), start(OLD)
        change.alone[OLD] = ask_all(first, questions)
        load.use(first, second)
        begun = time.monotonic()
        with load.asking():
            site.run(NEW, BUILD)
            third = start(NEW)
            change.alone[NEW] = ask_all(third, questions)
            # Servers of both settings side by side, as in any rolling restart.
            load.use(second, third)
            load.drain(first)
            first.stop()
            time.sleep(PHASE_SECONDS)
            fourth = start(NEW)
            load.use(third, fourth)
            time.sleep(PHASE_SECONDS)
            decided = time.monotonic()
            load.use(second)
            load.drain(third)
            load.drain(fourth)
            change.went_back = time.monotonic() - decided
            time.sleep(PHASE_SECONDS)
            decided = time.monotonic()
            again = start(OLD)
            ask_all(again, questions[:1])
            change.restarted = time.monotonic() - decided
            load.use(third, fourth)
            for old in (second, again):
                load.drain(old)
                old.stop()
            revision = next(kept["model"]["revision"] for kept in site.models() if kept["model"]["model_id"] == OLD)
            site.run(NEW, DROP, REVISION=revision)
            time.sleep(PHASE_SECONDS)
        change.seconds = time.monotonic() - begun
    change.answers = load.answers
    change.left = [kept["model"]["model_id"] for kept in site.models()]
    return change


@pytest.fixture(scope="module")
def change(database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Change:
    models = {name: HashingEmbedder(dims, revision=name) for name, dims in DIMS.items()}
    with embedding_service(**models) as service, database_server.clone() as database:
        return change_models(Site(database, service, tmp_path_factory.mktemp("home")))


def test_t42_models_change_without_a_failed_or_degraded_search(
    change: Change, record_property: Callable[[str, object], None]
) -> None:
    """From the first step of a change of models to the last, under load, no search fails and none is degraded."""
    assert Counter(answer.status for answer in change.answers) == {200: len(change.answers)}
    degraded = Counter(answer.found["retrieval"].get("degraded_reason") for answer in change.answers)
    assert set(degraded) == {None}
    assert {change.model_of[answer.base] for answer in change.answers} == {OLD, NEW}
    assert change.left == [NEW]
    rate = len(change.answers) / change.seconds
    record_property("figure", f"384 to 768 dimensions, {len(change.answers)} searches at {rate:.0f} a second, 0 failed")


def test_t42_no_answer_mixes_two_models(change: Change, record_property: Callable[[str, object], None]) -> None:
    """During a change of models every answer is, to the last character, the one that its server's model gives alone."""
    mixed = [answer for answer in change.answers if answer.text != change.of(answer).text]
    assert mixed == []
    told = {key for key in change.alone[OLD] if change.alone[OLD][key].text != change.alone[NEW][key].text}
    # Else it would show nothing: the models must disagree.
    assert len(told) >= len(change.alone[OLD]) / 4
    telling = sum(answer.question.id in told for answer in change.answers)
    record_property(
        "figure", f"{len(change.answers)} answers, {telling} to questions that tell the models apart, 0 mixed"
    )


def test_t42_answers_stay_as_good_as_either_model_gives(
    change: Change, record_property: Callable[[str, object], None]
) -> None:
    """During a change of models, recall on questions with known answers never falls below that of the lesser model."""
    whole = [recall(list(change.alone[model].values())) for model in (OLD, NEW)]
    for start in range(0, len(change.answers) - RATE, RATE):
        window = change.answers[start : start + RATE]
        assert recall(window) >= min(recall([change.of(answer, model) for answer in window]) for model in (OLD, NEW))
    found = recall(change.answers)
    record_property("figure", f"recall at 5: old {whole[0]:.2f}, new {whole[1]:.2f}, during the change {found:.2f}")


def test_t42_going_back_takes_no_longer_than_a_call(
    change: Change, record_property: Callable[[str, object], None]
) -> None:
    """Going back to the old model takes less than a second while one of its servers runs: nothing is embedded again.

    The balancer is the test's own, which stops sending to some servers and lets their calls end.
    """
    assert change.went_back < GO_BACK_SECONDS
    record_property(
        "figure", f"{change.went_back * 1000:.0f} ms; {change.restarted:.1f} s if a server has to be started for it"
    )


@pytest.mark.parametrize("dims", [768, 384], ids=["other length", "same length"])
def test_t42_questions_are_compared_with_vectors_of_their_own_model(
    database: Database, dims: int, record_property: Callable[[str, object], None]
) -> None:
    """With vectors of two models in the database, each similarity is one to a vector of the question's own model.

    Also where both have the same length, so that the database itself would compare them without complaint.
    """
    models = [HashingEmbedder(384, revision="a"), HashingEmbedder(dims, revision="b")]
    records = [read_record(ROOT / "records" / f"{name}.md").record for name in CHOSEN]
    for embedder in models:
        database.publish(*records, embedder=embedder)
    catalogue, compared = PostgresCatalogue(database.server), 0
    for embedder in models:
        embedding = embedder.question(QUESTION)
        request = CandidateRequest(query_terms(QUESTION), QUESTION, embedding, frozenset())
        for candidate in catalogue.find_candidates(request).candidates:
            record = next(record for record in records if record.slug == candidate.slug)
            rows = embedder.embed(list(embedding_texts(record).values()))
            nearest = np.sort(rows @ embedding.vector)[-3:]
            assert candidate.cosine == pytest.approx(float(nearest.mean()), abs=2e-3)
            compared += 1
    assert compared == len(models) * len(records)
    record_property("figure", f"{compared} similarities, each the one to its own model's vectors")
