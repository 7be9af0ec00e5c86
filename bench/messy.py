"""How well pasted questions are answered: stack traces, code, rambling, typos, other languages.

    .venv/bin/python -m bench.messy [--write]

Prints three tables: the labelled questions of these kinds, on both halves; development questions made 2000 characters
long by what people paste around them, as the server reads them and cut at 512 tokens; and the CPU time of a question's
vector. `--write` puts the first two into docs/retrieval.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from app.embedding.onnx import OnnxEmbedder
from app.embedding.query import normal_form
from app.ports import QueryEmbedding
from bench.blocks import write_block
from bench.corpus import ROOT, Corpus, shipped_corpus
from bench.evaluation import Condition, Evaluation, Outcome
from bench.noise import PLACES, lengthen
from bench.questions import MESSY, SPLITS, Question, read_questions

BLOCK = "messy"
_WAYS: dict[Condition, str] = {"plain": "no technology", "named": "technologies"}
_HEAD = ("right record first", "among three", "in the answer", "answered at all")
_COSTLY = {
    "a sentence": "Why does my React list lose input focus when I reorder its items?",
    "2000 characters of English": (ROOT / "docs/gates.md").read_text("utf-8")[3000:5000],
    "2000 characters of code": (ROOT / "app/search.py").read_text("utf-8")[3000:5000],
    "2000 punctuation marks": "!" * 2000,
    "2000 ideographs": "的" * 2000,
    "1984 characters of Korean": ("각" * 30 + " ") * 64,
}
_ROUNDS = 10

Row = Sequence[str]


@dataclass(frozen=True)
class CutCorpus(Corpus):
    """Embeds a question as a record is embedded: the first 512 tokens of it."""

    def embed(self, question: str) -> QueryEmbedding:
        """Return the vector of the question's beginning."""
        return QueryEmbedding(self.embedder.embed([question])[0], self.embedder.model, "miss")


def main() -> None:
    """Measure, print, and write if told to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the first two tables into docs/retrieval.md")
    chosen = parser.parse_args()
    with shipped_corpus() as corpus:
        tables = "\n\n".join((by_kind(corpus), lengthened(corpus)))
    print(tables, cost(), sep="\n\n")
    if chosen.write:
        write_block(BLOCK, tables)


def by_kind(corpus: Corpus) -> str:
    """Return the table of the labelled questions: each kind on each half, in two ways of asking."""
    evaluation = Evaluation(corpus)
    rows = [
        (kind, split, _WAYS[way], *_shares(evaluation.ask(asked, way)))
        for kind in MESSY
        for split in SPLITS
        for asked in [[question for question in read_questions(split) if question.kind == kind]]
        for way in _WAYS
    ]
    return _table(("kind", "half", "named", "questions", *_HEAD), rows)


def lengthened(corpus: Corpus) -> str:
    """Return the table of the development questions with noise before, around or behind them, technologies named."""
    questions = lengthen(read_questions("dev"))
    readings = {"as it is": corpus, "cut at 512 tokens": CutCorpus(corpus.catalogue, corpus.embedder, corpus.records)}
    rows = [row for name, reading in readings.items() for row in _places(name, Evaluation(reading), questions)]
    return _table(("noise", "read", "questions", *_HEAD), rows)


def _places(name: str, evaluation: Evaluation, questions: Sequence[Question]) -> Iterator[Row]:
    outcomes = evaluation.ask(questions, "named")
    for place in PLACES:
        yield (place, name, *_shares([outcome for outcome in outcomes if outcome.question.kind == place]))
    yield ("anywhere", name, *_shares(outcomes))


def _shares(outcomes: Sequence[Outcome]) -> Row:
    """Return how many there are, and the shares that `_HEAD` names."""
    places = [outcome.place or 1000 for outcome in outcomes]
    shares = (
        mean(place == 1 for place in places),
        mean(place <= 3 for place in places),
        mean(outcome.right for outcome in outcomes),
        mean(outcome.answered for outcome in outcomes),
    )
    return (str(len(outcomes)), *(f"{share:.3f}" for share in shares))


def cost() -> str:
    """Return the table of CPU times: a question's vector as it is read, and of its first 512 tokens."""
    embedder = OnnxEmbedder()
    rows = []
    for name, question in _COSTLY.items():
        text = normal_form(question, fold_case=True)
        read, cut = (
            _milliseconds(embed, text) for embed in (embedder.embed_question, lambda one: embedder.embed([one]))
        )
        rows.append((name, f"{read:.0f}", f"{cut:.0f}"))
    return _table(("question", "CPU ms", "CPU ms, cut at 512 tokens"), rows)


def _milliseconds(embed: Callable[[str], object], text: str) -> float:
    embed(text)
    times = []
    for _ in range(_ROUNDS):
        start = time.thread_time()
        embed(text)
        times.append(1000 * (time.thread_time() - start))
    return median(times)


def _table(head: Row, rows: Sequence[Row]) -> str:
    numbers = len(rows[0]) - next(place for place, cell in enumerate(rows[0]) if cell[:1].isdigit())
    rule = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


if __name__ == "__main__":
    main()
