"""The public judged sets, as they lie in the data folder: `corpus.jsonl.gz`, `queries.jsonl`, `qrels.tsv` each."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from app.technologies import canonical_name
from bench.retrieval.collection import Collection, Document, Query

FILES = ("corpus.jsonl.gz", "queries.jsonl", "qrels.tsv")


class MissingData(Exception):
    """A file of a set is not there; the message says which, and where it belongs."""


def read_set(name: str, data: Path) -> Collection:
    """Return a public set.

    Args:
        name: its folder in `data`.
        data: folder of all sets.

    Raises:
        MissingData: a file of the set is not there.
    """
    folder = data / name
    missing = [file for file in FILES if not (folder / file).is_file()]
    if missing:
        raise MissingData(
            f"The set {name} needs {', '.join(missing)} in {folder}: put the files there, or name the folder that "
            f"holds {name}/ with --data. docs/retrieval.md says what the set is made of."
        )
    relevant = _read_judgements(folder / "qrels.tsv")
    entries = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    queries = [_query(entry, relevant[entry["id"]]) for entry in entries]
    answerable = tuple(query for query in queries if query.relevant)
    return Collection(name, _read_documents(folder / "corpus.jsonl.gz"), answerable, len(queries) - len(answerable))


def _read_judgements(path: Path) -> defaultdict[str, dict[str, int]]:
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                found[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return found


def _read_documents(path: Path) -> tuple[Document, ...]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return tuple(_document(json.loads(line)) for line in file)


def _document(entry: dict[str, Any]) -> Document:
    return Document(entry["id"], entry["title"], entry["text"], _technologies(entry))


def _query(entry: dict[str, Any], relevant: dict[str, int]) -> Query:
    return Query(entry["id"], entry["text"], relevant, _technologies(entry))


def _technologies(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the canonical name of the library a page belongs to, or a query asks about."""
    name = canonical_name(entry.get("meta", {}).get("library", ""))
    return (name,) if name else ()
