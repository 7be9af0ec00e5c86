"""Words of technical English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical import MAX_TERM_CHARACTERS, analyse, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("useEffect", {"useeffect", "effect"}),
        ("If-None-Match", {"if-none-match", "none", "match"}),
        ("node.js", {"nodejs"}),
        ("C++", {"c++"}),
        (".cursorrules", {".cursorrules"}),
        ("snake_case", {"snake_case", "snake", "case"}),
        ("@media", {"@media", "media"}),
        ("k8s", {"kubernetes"}),
        ("Postgres", {"postgresql"}),
        ("pool_pre_ping=True", {"pool_pre_ping", "pool", "ping"}),
        ("prefers-reduced-motion", {"prefers-reduced-motion", "motion"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("v18.2", {"v18.2"}),
    ],
)
def test_identifier_is_found_whole_and_by_its_parts(text: str, terms: set[str]) -> None:
    """An identifier keeps its whole form, and camelCase, dotted and hyphenated parts are terms of their own."""
    assert terms <= set(analyse(text))


@pytest.mark.parametrize(
    ("first", "second"), [("reordering", "reordered"), ("k8s", "Kubernetes"), ("reactjs", "React"), ("locks", "lock")]
)
def test_spellings_of_one_thing_share_a_term(first: str, second: str) -> None:
    """Inflections and aliases of technologies meet in the same term."""
    assert set(analyse(first)) & set(analyse(second))


def test_function_words_say_nothing() -> None:
    """A question made of function words has no terms."""
    assert analyse("what should I do about it, and why isn't that the same for you?") == []


def test_ordinary_word_is_not_taken_for_a_technology() -> None:
    """The rest of a sentence is not about REST, and next is not Next.js."""
    assert not {"http", "nextjs"} & set(analyse("the rest goes next"))


@given(st.text(max_size=400))
def test_any_text_gives_bounded_terms(text: str) -> None:
    """No string breaks the analyser, and no term is longer than the store holds."""
    assert all(0 < len(term) <= MAX_TERM_CHARACTERS + 8 for term in analyse(text))


@given(st.text(max_size=200))
def test_question_terms_are_distinct_and_repeatable(text: str) -> None:
    """The same question gives the same distinct terms in the same order."""
    terms = query_terms(text)
    assert len(set(terms)) == len(terms)
    assert query_terms(text) == terms
