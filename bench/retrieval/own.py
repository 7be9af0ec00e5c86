"""The records of this repository, and the questions written for them."""

from __future__ import annotations

from app.recordfile import read_record, record_paths
from bench.corpus import ROOT
from bench.questions import Question, Split, read_questions
from bench.retrieval.collection import Collection, Document, Query
from bench.retrieval.sets import MissingData

ANSWER, ALSO = 2, 1


def read_own(split: Split) -> Collection:
    """Return the shipped records with the questions of a split: an answer has grade 2, what is fine beside it 1.

    Raises:
        MissingData: the split has no question with an answer.
        RecordError: a record file cannot be read.
    """
    questions = read_questions(split)
    queries = tuple(_query(question) for question in questions if question.answers)
    if not queries:
        raise MissingData(f"No question with an answer in tests/retrieval/questions/{split}-*.jsonl.")
    files = (read_record(path) for path in record_paths(ROOT / "records"))
    documents = tuple(
        Document(file.record.slug, file.record.title, file.path.read_text("utf-8"), record=file.record)
        for file in files
    )
    return Collection(f"own-{split}", documents, queries, len(questions) - len(queries))


def _query(question: Question) -> Query:
    relevant = dict.fromkeys(question.also, ALSO) | dict.fromkeys(question.answers, ANSWER)
    return Query(question.id, question.text, relevant, question.technologies, question.versions)
