"""How well ranking and the relevance gate do on the development questions.

    .venv/bin/python -m bench.calibrate [--questions FILE]

The questions are real needs in the words people used in public issues, with questions about other subjects as
negatives; they are not part of this repository. `bench/needs.json` says which record answers which need. Near-topic
negatives are made by taking a question's own records out of what was found: whatever still passes the gate is a false
answer about a neighbouring subject.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from app.applicability import read_stack
from app.lexical import query_terms
from app.ports import CandidatePool, CandidateRequest, EmbeddingModel, QueryEmbedding
from app.ranking import Need, Ranked, Weights, choose_answers, rank
from bench.corpus import ROOT, Corpus, shipped_corpus

QUESTIONS = ROOT.parent / "shared/data/questions/questions-dev.jsonl"
SHARES = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 1.0)


@dataclass(frozen=True)
class Question:
    """A labelled question; `answers` is empty for one that no record answers."""

    text: str
    technologies: tuple[str, ...]
    answers: frozenset[str]
    embedding: QueryEmbedding


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    path = parser.parse_args().questions
    if not path.is_file():
        parser.exit(1, f"{path} does not exist: name a file of labelled questions with --questions.\n")
    with shipped_corpus() as corpus:
        questions = read_questions(path, corpus)
        print_ranking(corpus, questions)
        print_gate(corpus, questions)


def read_questions(path: Path, corpus: Corpus) -> list[Question]:
    needs = json.loads((ROOT / "bench/needs.json").read_text("utf-8"))
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    known = {file.record.slug for file in corpus.records}
    questions = []
    for entry in entries:
        answers = frozenset(needs.get(entry.get("need"), ()))
        if entry["kind"] == "in_corpus" and not answers & known:
            continue
        vector = corpus.embed(entry["question"])
        questions.append(Question(entry["question"], tuple(entry["technologies"]), answers, vector))
    return questions


def print_ranking(corpus: Corpus, questions: Sequence[Question]) -> None:
    answerable = [question for question in questions if question.answers]
    print(f"{len(corpus.records)} records, {len(answerable)} answerable questions\n")
    print("share of meaning | technologies | hit@1 | hit@3 | MRR")
    for share in SHARES:
        for named in (False, True):
            places = [_place(corpus, question, named=named, share=share) for question in answerable]
            hits = (mean(place <= 1 for place in places), mean(place <= 3 for place in places))
            label = "named" if named else "not named"
            print(
                f"{share:16} | {label:12} | {hits[0]:5.3f} | {hits[1]:5.3f} | {mean(1 / place for place in places):.3f}"
            )


def print_gate(corpus: Corpus, questions: Sequence[Question]) -> None:
    answerable = [question for question in questions if question.answers]
    others = [question for question in questions if not question.answers]
    for named in (False, True):
        answers = [choose_answers(_ranked(corpus, question, named=named), 5) for question in answerable]
        kept = [any(e.candidate.slug in q.answers for e in a) for a, q in zip(answers, answerable, strict=True)]
        label = "named" if named else "not named"
        print(f"\nanswers, technologies {label}: {mean(map(len, answers)):.2f} records on average, ", end="")
        print(f"the right one among them for {mean(kept):.3f}", end="")
    print()
    rows: list[tuple[str, Sequence[Question], Callable[[Ranked, Question], bool]]] = [
        ("right record passes", answerable, lambda entry, question: entry.candidate.slug in question.answers),
        (
            "other record passes, its own taken out",
            answerable,
            lambda entry, question: entry.candidate.slug not in question.answers,
        ),
        ("false answer to another subject", others, lambda _, __: True),
    ]
    print("\nrelevance gate | technologies | share of questions")
    for label, asked, counts in rows:
        for named in (False, True) if asked is answerable else (False,):
            passed = [
                any(entry.relevant and counts(entry, question) for entry in _ranked(corpus, question, named=named))
                for question in asked
            ]
            print(f"{label} | {'named' if named else 'not named'} | {mean(passed):.3f} of {len(asked)}")


def _place(corpus: Corpus, question: Question, *, named: bool, share: float) -> int:
    ranked = _ranked(corpus, question, named=named, weights=replace(Weights(), meaning=share))
    return next((p for p, e in enumerate(ranked, start=1) if e.candidate.slug in question.answers), 1000)


def _ranked(corpus: Corpus, question: Question, *, named: bool, weights: Weights | None = None) -> list[Ranked]:
    stack = read_stack(question.technologies if named else (), {})
    pool = find(corpus, question, stack.reach)
    return rank(pool, Need(stack), model=_model(question), weights=weights)


def find(corpus: Corpus, question: Question, technologies: frozenset[str]) -> CandidatePool:
    request = CandidateRequest(query_terms(question.text), question.text, question.embedding, technologies)
    return corpus.catalogue.find_candidates(request)


def _model(question: Question) -> EmbeddingModel:
    return question.embedding.model


if __name__ == "__main__":
    main()
