"""How labelled questions fare with the records as they lie in the folder, approved or not.

They are searched by the product's own code, in a scratch PostgreSQL that is gone afterwards. Only the development half
is asked: whoever writes a record must not fit it to the half that measures.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from app.cluster import scratch_cluster
from app.cluster.address import APP
from app.contract import DegradedReason, SearchRequest
from app.embedding.query import normal_form
from app.embedding.windows import embed_question
from app.errors import EmbeddingFailure
from app.indexing import embedding_texts
from app.ledger import Decision, Entry, Ledger, draft
from app.ports import Embedder, FeedbackEntry, QueryEmbedding, RetrievalEvent
from app.ranking import Weights
from app.recordfile import RecordFile
from app.search import run_search
from app.store.catalogue import PostgresCatalogue
from app.store.engine import owner_engine, server_engine
from app.store.migrating import upgrade
from app.store.publishing import PublishInput, replace_published
from review.bench import Shelf
from review.likeness import VectorCache, embedded
from review.screen import PROJECT

QUESTIONS = PROJECT / "tests/retrieval/questions"
"""Where the labelled questions lie in the project; an installation without its tests has none."""


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Attributes:
        answers: slugs of the records that answer it.
    """

    text: str
    technologies: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Placed:
    """Where a record came out.

    Attributes:
        place: of the first record that answers it among all candidates, 1 for the best; None when it was not found.
        answered: slugs that are answered with, best first.
    """

    question: Question
    place: int | None
    answered: tuple[str, ...]

    @property
    def hit(self) -> bool:
        """A record that answers it is in the answer."""
        return not self.question.answers.isdisjoint(self.answered)


Ask = Callable[[Question], Placed]


class Silent:
    """Keeps nothing of a search."""

    def record_retrieval(self, event: RetrievalEvent) -> None:
        """Forget it."""

    def record_feedback(self, entry: FeedbackEntry, daily_cap: int) -> UUID:
        """Refuse it: nobody gives feedback in a trial."""
        raise NotImplementedError


def questions_about(slug: str, folder: Path = QUESTIONS) -> list[Question]:
    """Return the development questions that a record answers."""
    lines = (line for path in sorted(folder.glob("dev-*.jsonl")) for line in path.read_text("utf-8").splitlines())
    entries = (json.loads(line) for line in lines if slug in line)
    return [_question(entry) for entry in entries if slug in entry.get("answers", ())]


@contextmanager
def trial(shelf: Shelf, embedder: Embedder | None, cache: VectorCache | None) -> Iterator[Ask]:
    """Publish every record that is not out of service into a scratch database, and lend what asks it.

    Raises:
        EmbeddingFailure, ClusterError, Unavailable: model or database cannot be had.
    """
    files = [shelf.files[slug] for slug in shelf.corpus()]
    with tempfile.TemporaryDirectory() as folder, scratch_cluster(Path(folder)) as cluster:
        owner, server = owner_engine(cluster.address.owner_url), server_engine(cluster.address.app_url)
        try:
            upgrade(owner, server_login=APP)
            inputs = _inputs(files, embedder, cache)
            model = embedder.model if embedder else None
            replace_published(owner, inputs, model=model, ledger=_ledger(inputs), demo=True)
            yield partial(_ask, _Search(PostgresCatalogue(server), _Embedding(embedder)))
        finally:
            server.dispose()
            owner.dispose()


@dataclass(frozen=True)
class _Embedding:
    """Embeds a question without deadline and cache."""

    model: Embedder | None
    provider: str = "review"

    def embed_query(self, query: str) -> QueryEmbedding:
        if self.model is None:
            raise EmbeddingFailure(DegradedReason.EMBEDDING_DISABLED, "Search by meaning is switched off.")
        vector, truncated = embed_question(self.model, normal_form(query, fold_case=True))
        return QueryEmbedding(vector, self.model.model, "miss", truncated)


@dataclass(frozen=True)
class _Search:
    """What a search needs, and nobody to tell of it."""

    catalogue: PostgresCatalogue
    embedder: _Embedding
    signals: Silent = field(default_factory=Silent)
    weights: Weights = field(default_factory=Weights)

    def query_hash(self, _question: str) -> bytes:
        return b""


def _ask(services: _Search, question: Question) -> Placed:
    request = SearchRequest(
        query=question.text, technologies=list(question.technologies), versions=dict(question.versions)
    )
    found = run_search(services, request)
    ranked = [entry.candidate.slug for entry in found.ranked]
    places = [place for place, slug in enumerate(ranked, start=1) if slug in question.answers]
    answered = tuple(entry.candidate.slug for entry in found.answers)
    return Placed(question, min(places, default=None), answered)


def _question(entry: Mapping[str, Any]) -> Question:
    return Question(
        entry["question"],
        tuple(entry.get("technologies", ())),
        dict(entry.get("versions", {})),
        frozenset(entry["answers"]),
    )


def _inputs(files: Sequence[RecordFile], embedder: Embedder | None, cache: VectorCache | None) -> list[PublishInput]:
    texts = {file.record.slug: embedding_texts(file.record) for file in files}
    wanted = sorted({text for named in texts.values() for text in named.values()})
    vectors = embedded(wanted, embedder, cache) if embedder else {}
    at = datetime.now(UTC).replace(microsecond=0)
    return [
        PublishInput(
            record=file.record, content_hash=file.sha256, content_version=1, approved_at=at, approved_by="trial",
            fixtures=file.fixtures,
            vectors={name: vectors[text] for name, text in texts[file.record.slug].items()} if embedder else None,
        )
        for file in files
    ]  # fmt: skip


def _ledger(inputs: Sequence[PublishInput]) -> Ledger:
    """Return the approvals there would have been, because what nobody approved is not even served in a trial."""
    ledger = Ledger()
    entries: list[Entry] = []
    for given in inputs:
        entry = draft(
            Ledger((entries[-1],)) if entries else ledger, slug=given.record.slug, sha256=given.content_hash,
            decision=Decision.APPROVE, by=given.approved_by, note=None, at=given.approved_at,
        ).sealed()  # fmt: skip
        entries.append(entry)
    return Ledger(tuple(entries))
