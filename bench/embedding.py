"""What the embedding providers cost, and how far their vectors agree.

    .venv/bin/python -m bench.embedding [--rounds N] [--provider NAME]

Embeds twenty questions and the texts of the shipped records with each provider that is installed, in turn, so that a
busy moment of the machine meets all alike. CPU time (user and system, all threads) is printed, because wall time on a
shared machine says more about the neighbours. With the sentence-transformers extra installed, the cosine between both
providers' vectors of the same text is printed too.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

from app.embedding.onnx import OnnxEmbedder
from app.embedding.sentencetransformer import DEFAULT_PACKAGE, SentenceTransformersEmbedder
from app.indexing import embedding_texts
from app.ports import Vector
from app.recordfile import read_record, record_paths

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "Why does my React list lose input focus when I reorder its items?",
    "retry a failed HTTP request without hammering the server",
    "useEffect runs twice in development",
    "Postgres query got slow after adding an OR condition",
    "how to store refresh tokens in a single page app",
    "add a not null column to a big table without downtime",
    "asyncio task disappears before it finishes",
    "docker image is huge because of build tools",
    "pod is OOMKilled although the node has memory left",
    "GitHub Actions workflow can be attacked through a pull request title",
    "pytest fixture runs once per test but the database is slow to create",
    "screen reader does not announce the error under my form field",
    "TypeError: Cannot read properties of undefined (reading 'map')",
    "SQLAlchemy session is used from two threads",
    "which cache header should a page with personal data send",
    "terraform wants to destroy and recreate my database after a rename",
    "Redis lock is released by another worker",
    "how do I name spans and attributes in OpenTelemetry",
    "git bisect with a broken build in the middle",
    "JWT verified with the wrong algorithm",
)

Provider = OnnxEmbedder | SentenceTransformersEmbedder


@dataclass
class Measured:
    """What one provider did. Times are CPU milliseconds."""

    embedder: Provider
    load_ms: float
    question_ms: list[float] = field(default_factory=list)
    record_ms: float = 0.0
    vectors: list[Vector] = field(default_factory=list)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="times each question is embedded")
    parser.add_argument("--provider", help="measure only this one, which makes its memory its own")
    chosen = parser.parse_args()
    records = record_texts()
    print_setting(records)
    measured = [load(embedder) for embedder in installed() if chosen.provider in (None, embedder.provider)]
    ask(measured, chosen.rounds)
    for one in measured:
        embed_records(one, records)
        print_cost(one, records)
    if len(measured) == 2:
        print_agreement(*measured)


def installed() -> list[Provider]:
    """Return the providers whose libraries and weights are here, the default first."""
    extra = find_spec("sentence_transformers") is not None and find_spec(DEFAULT_PACKAGE) is not None
    return [OnnxEmbedder(), SentenceTransformersEmbedder()] if extra else [OnnxEmbedder()]


def record_texts() -> list[str]:
    """Return every text that stands for a shipped record in vector space."""
    records = (read_record(path).record for path in record_paths(ROOT / "records"))
    return [text for record in records for text in embedding_texts(record).values()]


def load(embedder: Provider) -> Measured:
    """Load a model and embed once, which is what the first question waits for."""
    return Measured(embedder, cpu_ms(lambda: embedder.embed(QUESTIONS[:1])))


def ask(measured: Sequence[Measured], rounds: int) -> None:
    """Embed each question alone, provider after provider."""
    for _ in range(rounds):
        for question in QUESTIONS:
            for one in measured:
                one.question_ms.append(cpu_ms(lambda one=one, question=question: one.embedder.embed([question])))  # type: ignore[misc]


def embed_records(one: Measured, records: Sequence[str]) -> None:
    """Embed all texts in one call, as publishing does."""
    one.record_ms = cpu_ms(lambda: one.vectors.append(one.embedder.embed(records)))
    one.vectors.append(one.embedder.embed(QUESTIONS))


def cpu_ms(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds that this process spent on it."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def print_setting(records: Sequence[str]) -> None:
    """Print where and on what it was measured."""
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(
        f"{len(QUESTIONS)} questions of about {median(map(len, QUESTIONS)):.0f} characters, {len(records)} record texts"
    )


def print_cost(one: Measured, records: Sequence[str]) -> None:
    """Print what a provider cost. Memory is the process's: the providers share one."""
    model = one.embedder.model
    cut = [tokens for tokens in one.embedder.tokens_cut(records) if tokens]
    seconds = one.record_ms / 1000
    print(f"\n{one.embedder.provider}: {model.model_id}, revision {model.revision}, {model.dims} dimensions")
    print(f"  load and first question   {one.load_ms:8.0f} CPU ms")
    print(f"  a question, median        {median(one.question_ms):8.1f} CPU ms")
    print(f"  a question, 95 % below    {np.percentile(one.question_ms, 95):8.1f} CPU ms")
    print(f"  all record texts          {seconds:8.1f} CPU s, {len(records) / seconds:.1f} texts a CPU second")
    print(f"  record texts over limit   {len(cut):8d}, {sum(cut)} tokens not seen")
    print(f"  memory of the process     {peak_megabytes():8.0f} MB at its peak so far")


def print_agreement(first: Measured, second: Measured) -> None:
    """Print the cosine between both providers' vectors of the same text."""
    cosines = np.concatenate([(a * b).sum(axis=1) for a, b in zip(first.vectors, second.vectors, strict=True)])
    print(f"\nagreement of {first.embedder.provider} and {second.embedder.provider} on {len(cosines)} texts")
    print(f"  cosine, least             {cosines.min():8.5f}")
    print(f"  cosine, mean              {cosines.mean():8.5f}")


def peak_megabytes() -> float:
    """Return the most memory the process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if platform.system() == "Darwin" else 1024)


if __name__ == "__main__":
    main()
