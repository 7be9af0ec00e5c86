"""source_authority: at least one source is the maker's own text, at an address known to be theirs."""

from __future__ import annotations

import pytest

from review.publishers import PUBLISHERS, publisher_of
from tests.gates.records import findings, make_record, make_source, messages

BLOG = make_source(url="https://blog.example.org/money", publisher="Somebody", authority="secondary")


@pytest.mark.parametrize(
    "sources",
    [
        [make_source()],
        [BLOG, make_source()],
        [make_source(url="https://www.w3.org/TR/WCAG22/", publisher="W3C WAI")],
        [make_source(url="https://docs.python.org/3.14/library/decimal.html", publisher="Python")],
    ],
)
def test_the_makers_own_text_passes(sources):
    """A secondary source is welcome beside a primary one."""
    assert findings("source_authority", make_record(sources=sources)) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([BLOG], "error: every source is secondary"),
        ([make_source(relation="qualifies"), BLOG], "error: no primary source supports or defines"),
        ([{**BLOG, "authority": "primary"}], "error: source 1: Somebody is not known to speak for itself"),
        (
            [make_source(url="https://www.postgresql.org.evil.example/docs/x")],
            "error: source 1: PostgreSQL is not known",
        ),
        ([make_source(url="https://github.com/somebody/blog/post.md")], "error: source 1"),
        ([make_source(publisher="Oracle")], "warning: source 1: published at an address of PostgreSQL, not of Oracle"),
    ],
)
def test_a_source_that_only_claims_authority_does_not_pass(sources, expected):
    """Primary is what is known to be the maker's address, whatever the record says."""
    assert expected in messages(findings("source_authority", make_record(sources=sources)))


def test_an_address_belongs_to_its_longest_known_prefix():
    """A host that carries many voices is told apart by path; a similar path is another voice."""
    found = publisher_of("https://github.com/Kludex/starlette/blob/main/docs/x.md", PUBLISHERS)
    assert found is not None
    assert found.name == "Starlette"
    assert publisher_of("https://github.com/Kludex/starlette-fork/x", PUBLISHERS) is None
    assert publisher_of("https://user@www.postgresql.org.evil/", PUBLISHERS) is None
