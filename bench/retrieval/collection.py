"""What is measured: a collection of documents with judged queries, and systems that rank its documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.record import Record

Asked = Literal["not named", "named"]
UNNAMED: Asked = "not named"
NAMED: Asked = "named"


@dataclass(frozen=True)
class Document:
    """What can be found.

    Attributes:
        text: all of it, as somebody would search it with grep.
        technologies: canonical names of what it is about.
        record: the record it is, where it is one of ours.
    """

    id: str
    title: str
    text: str
    technologies: tuple[str, ...] = ()
    record: Record | None = None


@dataclass(frozen=True)
class Query:
    """A question and what answers it.

    Attributes:
        relevant: grade by document id, above 0; a document that is not named has grade 0.
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    technologies: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def without_technologies(self) -> Query:
        """Return the same question from somebody who does not say what he works with."""
        return replace(self, technologies=(), versions={})


@dataclass(frozen=True)
class Collection:
    """Documents and the questions that some of them answer.

    Attributes:
        queries: those with at least one relevant document; the others have no place in a ranking metric.
        unanswered: how many queries have none and were left out.
    """

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    unanswered: int = 0

    @property
    def names_technologies(self) -> bool:
        """Whether any query says what its asker works with."""
        return any(query.technologies or query.versions for query in self.queries)

    def asked(self, asked: Asked) -> Collection:
        """Return the collection with its queries as they are, or with no technology named in any."""
        if asked == NAMED:
            return self
        return replace(self, queries=tuple(query.without_technologies() for query in self.queries))


@dataclass(frozen=True)
class System:
    """Something that ranks.

    Attributes:
        rank: returns document ids, best first; what it did not find is not among them.
        asked: how it is asked: with the technologies a query names, without them, or both ways.
    """

    name: str
    rank: Callable[[Query], list[str]]
    asked: tuple[Asked, ...] = (UNNAMED,)
