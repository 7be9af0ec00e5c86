"""The public contract, written once: every limit, every shape, every tool.

Tool schemas, `api.json`, `llms-full.txt` and the documentation are rendered from this module or tested against it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticKnownError

from app.record import TaskType, Topic

SERVER_NAME = "chatctx-knowledge"
SERVER_TITLE = "chatctx engineering guidance"
SERVER_VERSION = "0.1.0"

QUERY_MIN_CHARACTERS = 2
QUERY_MAX_CHARACTERS = 2000
TECHNOLOGIES_MAX = 10
TECHNOLOGY_MAX_CHARACTERS = 80
VERSIONS_MAX = 20
# The contract leaves a version's length open; this keeps one from carrying a document.
VERSION_MAX_CHARACTERS = 100
TOPICS_MAX = 3
RESULTS_MAX = 10
RESULTS_DEFAULT = 5
TOKEN_BUDGET_MIN = 200
TOKEN_BUDGET_MAX = 5000
TOKEN_BUDGET_DEFAULT = 2500
IDS_MAX = 10
ID_MAX_CHARACTERS = 120
COMMENT_MAX_CHARACTERS = 1000
GUEST_DAILY_QUOTA = 250
BODY_MAX_BYTES = 65_536
# What a brief answer keeps to unless more than the default is asked for, by results or by budget: three records' worth.
BRIEF_ANSWER_TOKENS = 1050
# Bytes of compact UTF-8 JSON that a token is taken to be. Real tokenizers take 3.4 to 4.3 bytes a token on this shape.
BYTES_PER_TOKEN = 3


class Detail(StrEnum):
    """How much of a record an answer carries."""

    BRIEF = "brief"
    STANDARD = "standard"
    FULL = "full"


class Mode(StrEnum):
    """How a search was answered."""

    HYBRID = "hybrid"
    KEYWORD_FALLBACK = "keyword_fallback"
    NO_MATCH = "no_match"


class DegradedReason(StrEnum):
    """Why a search saw less than it should have. A closed list; never an exception's text."""

    EMBEDDING_DISABLED = "embedding_disabled"
    EMBEDDING_ERROR = "embedding_error"
    EMBEDDING_TIMEOUT = "embedding_timeout"
    EMBEDDING_CIRCUIT_OPEN = "embedding_circuit_open"
    EMBEDDING_INVALID = "embedding_invalid"
    EMBEDDING_BUSY = "embedding_busy"
    QUESTION_TRUNCATED = "question_truncated"
    EMBEDDING_MODEL_NOT_PUBLISHED = "embedding_model_not_published"
    PARTIAL_EMBEDDINGS = "partial_embeddings"
    TEXT_SEARCH_ERROR = "text_search_error"
    VECTOR_SEARCH_ERROR = "vector_search_error"


class FeedbackCategory(StrEnum):
    """What a piece of feedback says."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "not_helpful"
    INCORRECT = "incorrect"
    OUTDATED = "outdated"
    MISSING = "missing"
    OTHER = "other"


class FeedbackOutcome(StrEnum):
    """What came of following guidance, as its caller tells it."""

    WORKED_AS_WRITTEN = "worked_as_written"
    WORKED_WITH_CHANGES = "worked_with_changes"
    DID_NOT_WORK = "did_not_work"


class FeedbackSource(StrEnum):
    """Which tool's answer the feedback is about."""

    SEARCH = "search_knowledge"
    GET = "get_guidance"
    OTHER = "other"


class Applicability(StrEnum):
    """Whether a record holds for a technology and version that was named."""

    APPLIES = "applies"
    DOES_NOT_APPLY = "does_not_apply"
    VERSION_UNKNOWN = "version_unknown"
    TECHNOLOGY_AGNOSTIC = "technology_agnostic"
    BUILT_ON = "built_on"
    NOT_ABOUT = "not_about"


def _clean_text(value: object, longest: int) -> object:
    """Normalise text to NFC and strip it; refuse what no store or model can hold, and what is too long as it came."""
    if not isinstance(value, str):
        return value
    if len(value) > longest:
        raise PydanticKnownError("string_too_long", {"max_length": longest})
    if "\0" in value:
        raise ValueError("must not contain NUL characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("must not contain lone surrogates") from None
    return unicodedata.normalize("NFC", value).strip()


def _unpack_json(value: object) -> object:
    """Parse a list or object that a client sent as a JSON string; leave everything else to validation."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _as_list(value: object) -> object:
    unpacked = _unpack_json(value)
    return [unpacked] if isinstance(unpacked, str) else unpacked


def _clean(longest: int) -> BeforeValidator:
    return BeforeValidator(partial(_clean_text, longest=longest))


def _length(low: int, high: int) -> StringConstraints:
    # What is left of the text after cleaning: stripping makes it shorter, NFC can make it longer.
    return StringConstraints(min_length=low, max_length=high)


Query = Annotated[str, _length(QUERY_MIN_CHARACTERS, QUERY_MAX_CHARACTERS), _clean(QUERY_MAX_CHARACTERS)]
TechnologyName = Annotated[str, _length(1, TECHNOLOGY_MAX_CHARACTERS), _clean(TECHNOLOGY_MAX_CHARACTERS)]
VersionText = Annotated[str, _length(0, VERSION_MAX_CHARACTERS), _clean(VERSION_MAX_CHARACTERS)]
Identifier = Annotated[str, _length(1, ID_MAX_CHARACTERS), _clean(ID_MAX_CHARACTERS)]
Comment = Annotated[str, _length(1, COMMENT_MAX_CHARACTERS), _clean(COMMENT_MAX_CHARACTERS)]


class Request(BaseModel):
    """Arguments of a tool. Unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchRequest(Request):
    """Arguments of search_knowledge."""

    query: Annotated[
        Query,
        Field(description="The decision you face or the symptom you see, in a sentence. No source code or secrets."),
    ]
    technologies: Annotated[
        list[TechnologyName],
        BeforeValidator(_as_list),
        Field(max_length=TECHNOLOGIES_MAX, description='What you work with, e.g. ["React", "PostgreSQL"].'),
    ] = []
    versions: Annotated[
        dict[TechnologyName, VersionText],
        BeforeValidator(_unpack_json),
        Field(max_length=VERSIONS_MAX, description='Versions by technology, e.g. {"React": "18.2"}.'),
    ] = {}
    topic: Annotated[
        list[Topic],
        BeforeValidator(_as_list),
        Field(max_length=TOPICS_MAX, description=f"Topic of the decision; an array of up to {TOPICS_MAX} also works."),
    ] = []
    task_type: TaskType | None = None
    max_results: Annotated[int, Field(ge=1, le=RESULTS_MAX, strict=True)] = RESULTS_DEFAULT
    detail: Annotated[
        Literal[Detail.BRIEF, Detail.STANDARD],
        Field(description="brief: what to do and when; standard: also why, exceptions, pitfalls, checks."),
    ] = Detail.BRIEF
    token_budget: Annotated[
        int,
        Field(ge=TOKEN_BUDGET_MIN, le=TOKEN_BUDGET_MAX, strict=True, description="Most tokens the answer may take."),
    ] = TOKEN_BUDGET_DEFAULT

    @property
    def room(self) -> int:
        """Most tokens of the answer: the budget, or less for a brief answer of the default size."""
        wants_more = self.max_results > RESULTS_DEFAULT or self.token_budget > TOKEN_BUDGET_DEFAULT
        if self.detail is not Detail.BRIEF or wants_more:
            return self.token_budget
        return min(self.token_budget, BRIEF_ANSWER_TOKENS)


class GetRequest(Request):
    """Arguments of get_guidance."""

    ids: Annotated[
        list[Identifier],
        BeforeValidator(_as_list),
        Field(min_length=1, max_length=IDS_MAX, description="Slugs or ids from search_knowledge."),
    ]
    detail: Annotated[Literal[Detail.BRIEF, Detail.FULL], Field(description="full: the whole record.")] = Detail.FULL


class FeedbackRequest(Request):
    """Arguments of submit_feedback."""

    category: FeedbackCategory
    record: Annotated[Identifier | None, Field(description="Slug or id it is about.")] = None
    source: FeedbackSource = FeedbackSource.OTHER
    comment: Annotated[
        Comment | None,
        Field(description="What is wrong or missing. No code, secrets, customer or personal data."),
    ] = None
    outcome: FeedbackOutcome | None = None
    versions: Annotated[
        dict[TechnologyName, VersionText],
        BeforeValidator(_unpack_json),
        Field(max_length=VERSIONS_MAX, description="Versions used."),
    ] = {}


# Each match is what a tokenizer takes for one token or, in words of a language, seldom for more. Alternatives are tried
# in this order.
_PIECE = re.compile(
    r"""
    ["\]}]*[,:]["\[{]*                                        # what stands between two values of JSON
    | \\[^u]                                                 # an escape
    | (?:[ ]|(?<![A-Za-z0-9]))[A-Z]?[a-z]{1,6}+(?![0-9])     # a word's beginning
    | (?<=[a-z]{12})[a-z]{1,2} | (?<=[a-z]{2})[a-z]{1,6}     # its continuation; longer than words are, it is none
    | (?:[ ]|(?<![A-Za-z0-9])|(?<=[A-Z]{2}))[A-Z]{1,2}       # a word in capitals
    | [A-Z]?[a-z]                                            # behind a digit or another case: no word, but code
    | [0-9]{1,3}
    | [ ]?[!-/:-@\[-`{-~]
    | [ ]+(?=[ ]) | .
    """,
    re.VERBOSE | re.DOTALL,
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def count_tokens(text: str) -> int:
    """Return how many tokens a serialised answer is taken to cost, which is no less than real tokenizers make of it.

    A third of its UTF-8 bytes, or its pieces where they are more: keys, hashes, numbers, symbols and code. Outside
    ASCII each byte is a piece, which holds for any script, and for prose is four to eight times too much.
    `tests/core/test_budget_tokenizers.py` holds it against o200k_base and DeepSeek's tokenizer on records,
    documentation, code, base64, UUIDs, ideographs and emoji. Only words of random letters beat it, by 1.7 at most.
    """
    size = len(text.encode("utf-8"))
    beyond_ascii = size - len(text.encode("ascii", "ignore"))
    pieces = len(_PIECE.findall(_BEYOND_ASCII.sub(" ", text)))
    return max(-(-size // BYTES_PER_TOKEN), pieces + beyond_ascii)


def serialise(answer: Mapping[str, Any]) -> str:
    """Return an answer as the compact JSON text that is sent and that the budget is counted on."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), default=str)
