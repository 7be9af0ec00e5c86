"""What answers cost those who read them, by what was asked for and by tokenizer.

    .venv/bin/python -m bench.tokens [--questions FILE ...] [--tokenizer NAME=FILE ...] [--write]

Asks the development questions under `tests/retrieval/questions` over the shipped records as an agent would, with their
technologies named and everything else left at its default, and prints Markdown. `--tokenizer` adds a column for a
`tokenizer.json`. With `--write` the tables of docs/retrieval.md are renewed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import UUID

import anyio
import mcp_types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.contract import count_tokens, serialise
from app.operations import OPERATIONS, Services, call
from app.ports import FeedbackEntry, QueryEmbedding, RetrievalEvent
from app.transports.jsonrpc import Kind, Message
from app.transports.mcp import SERVED_VERSIONS, Dialect, McpServer
from bench.blocks import write_block
from bench.corpus import ROOT, Corpus, shipped_corpus
from bench.tokenizers import Tokenizer, from_file, real_tokenizers

OWN_QUESTIONS = ROOT / "tests/retrieval/questions"
COUNTED = Tokenizer("counted", count_tokens)
# Measured elsewhere with o200k_base: what one answer takes, and what the list of tools does.
PEERS = (
    ("docs-mcp-server", "930", "1,778"),
    ("mcp-server-qdrant", "1,527", "102"),
    ("basic-memory", "290, ids only: a read for each is to be added", "17,159"),
)
BRIEF = "search_knowledge, brief"


@dataclass(frozen=True)
class Question:
    """What an agent would ask."""

    text: str
    technologies: tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """Implements `app.ports.QueryEmbedder` without a deadline."""

    corpus: Corpus
    provider: str = "onnx"

    def embed_query(self, query: str) -> QueryEmbedding:
        return self.corpus.embed(query)


class Forgetting:
    """Implements `app.ports.Signals`: nothing is kept of a measurement."""

    def record_retrieval(self, event: RetrievalEvent) -> None:
        pass

    def record_feedback(self, entry: FeedbackEntry, daily_cap: int) -> UUID:
        raise NotImplementedError


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=Path, nargs="+", default=default_files())
    parser.add_argument("--tokenizer", nargs="+", default=[], metavar="NAME=FILE")
    parser.add_argument("--write", action="store_true", help="renew docs/retrieval.md")
    chosen = parser.parse_args()
    named = [value.partition("=") for value in chosen.tokenizer]
    found = table(chosen.questions, [from_file(name, Path(file)) for name, _, file in named])
    print(found)
    if chosen.write:
        write_block("tokens", found)


def default_files() -> list[Path]:
    """Return the files of the development questions."""
    return sorted(OWN_QUESTIONS.glob("dev-*.jsonl"))


def table(files: Sequence[Path] | None = None, extra: Sequence[Tokenizer] = ()) -> str:
    """Measure; return two Markdown tables: by answer, and beside what peers take."""
    tokenizers = [*real_tokenizers(), *extra, COUNTED]
    questions = read_questions(files or default_files())
    with shipped_corpus() as corpus:
        answers = measured(corpus, questions)
    rows = [row(name, texts, tokenizers) for name, texts in answers.items() if texts]
    return "\n".join([*header(tokenizers), *rows, "", *beside_peers(answers)])


def read_questions(files: Sequence[Path]) -> list[Question]:
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
    entries = [json.loads(line) for line in lines]
    return [Question(entry["question"], tuple(entry.get("technologies", ()))[:10]) for entry in entries]


def measured(corpus: Corpus, questions: Sequence[Question]) -> dict[str, list[str]]:
    """Return the texts that are sent, by what was asked for."""
    services = services_over(corpus)
    brief = [search(services, question, "brief") for question in questions]
    standard = [search(services, question, "standard") for question in questions]
    nothing = [answer for answer in brief if not answer["results"]]
    return {
        BRIEF: [serialise(answer) for answer in brief if answer["results"]],
        "search_knowledge, standard": [serialise(answer) for answer in standard if answer["results"]],
        "get_guidance, full, one record": list(whole_records(services, corpus)),
        "no_match": [serialise(answer) for answer in nothing if "near_misses" not in answer["retrieval"]],
        "no_match with near misses": [serialise(answer) for answer in nothing if "near_misses" in answer["retrieval"]],
    } | {f"tools/list, {version}": [tools_list(version)] for version in SERVED_VERSIONS[:2]}


def services_over(corpus: Corpus) -> Services:
    def no_hash(_text: str) -> bytes:
        return b""

    return Services(corpus.catalogue, Asking(corpus), Forgetting(), no_hash, no_hash, feedback_daily_cap=0)


def search(services: Services, question: Question, detail: str) -> dict[str, Any]:
    arguments = {"query": question.text, "technologies": list(question.technologies), "detail": detail}
    return call(services, "search_knowledge", arguments)


def whole_records(services: Services, corpus: Corpus) -> Iterator[str]:
    for file in corpus.records:
        yield serialise(call(services, "get_guidance", {"ids": [file.record.slug]}))


def tools_list(version: str) -> str:
    """Return the result of tools/list in a version of the protocol, as compact JSON."""
    modern = version in MODERN_PROTOCOL_VERSIONS
    client: tuple[Any, Any] = ({"name": "bench", "version": "1"}, {}) if modern else (None, None)
    names = (
        mcp_types.PROTOCOL_VERSION_META_KEY,
        mcp_types.CLIENT_INFO_META_KEY,
        mcp_types.CLIENT_CAPABILITIES_META_KEY,
    )
    params = {"_meta": dict(zip(names, (version, *client), strict=True))} if modern else {}
    message, dialect = Message(Kind.REQUEST, 1, "tools/list", params), Dialect(version, modern, client)
    return serialise(anyio.run(McpServer(OPERATIONS, "").answer, message, dialect, _no_tool))


async def _no_tool(_name: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    raise NotImplementedError


def header(tokenizers: Sequence[Tokenizer]) -> list[str]:
    columns = [f"{tokenizer.name} mean | 95 % below" for tokenizer in tokenizers]
    return [f"| answer | number | {' | '.join(columns)} |", "|---|---:" + "|---:|---:" * len(columns) + "|"]


def row(name: str, texts: Sequence[str], tokenizers: Sequence[Tokenizer]) -> str:
    cells = []
    for tokenizer in tokenizers:
        counts = sorted(tokenizer.count(text) for text in texts)
        cells += [f"{mean(counts):,.0f}", f"{counts[math.ceil(0.95 * len(counts)) - 1]:,}"]
    return f"| {name} | {len(texts)} | {' | '.join(cells)} |"


def beside_peers(answers: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what one answer and the list of tools take, ours and peers'."""
    real = real_tokenizers()[0]
    brief = mean(real.count(text) for text in answers[BRIEF])
    tools = max(real.count(tools_list(version)) for version in SERVED_VERSIONS)
    lines = [("chatctx", f"{brief:,.0f}", f"{tools:,}"), *PEERS]
    return [
        f"| {real.name} | one answer | tools/list |",
        "|---|---|---|",
        *[f"| {' | '.join(line)} |" for line in lines],
    ]


if __name__ == "__main__":
    main()
