"""source_authority: at least one source is the maker's own text, at an address known to be theirs."""

from __future__ import annotations

import pytest

from review.publishers import PUBLISHERS, imitated, publisher_of
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


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://www.postgresq1.org/docs", "www.postgresql.org"),
        ("https://docs.pythom.org/3/", "docs.python.org"),
        ("https://docs.nprnjs.com/cli", "docs.npmjs.com"),
        ("https://www.postgresql.org.evil.example/docs", "www.postgresql.org"),
        ("https://wiki.postgresql.org/wiki/Main_Page", None),
        ("https://www.postgresql.org/docs", None),
        ("https://web.dev/learn", None),
        ("https://www.postgresql\uff0eorg/docs", "www.postgresql.org"),
    ],
)
def test_a_host_that_is_mistaken_for_a_known_one_is_told(url, known):
    """By a letter, by a shape, by carrying the name; a host of the same domain and a short name are others."""
    assert imitated(url, PUBLISHERS) == known


def test_a_secondary_source_may_not_borrow_the_name_of_a_publisher():
    """Whoever reads a record takes the name for the source."""
    named = {**BLOG, "publisher": "PostgreSQL documentation"}
    found = messages(findings("source_authority", make_record(sources=[make_source(), named])))
    assert "error: source 2: PostgreSQL documentation is not known to publish at this address" in found


def test_an_address_that_cannot_be_read_is_nobodys():
    """Letters that fold into the marks of an address are no reason to stop."""
    assert publisher_of("https://www\uff0epostgresql\uff0eorg\uff0fdocs", PUBLISHERS) is None
