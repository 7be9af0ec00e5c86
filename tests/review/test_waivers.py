"""Waivers: exceptions with a reason and an end, which must still be true."""

from __future__ import annotations

import pytest

OLD = "2025-11-01"


@pytest.fixture
def stale(bench):
    """Return a bench whose only record has a source that was last read long ago, by 2026."""
    bench.write("store-money-as-numeric", retrieved="2020-01-01")
    return bench


def waive(bench, gate: str = "freshness", slug: str = "store-money-as-numeric", until: str = "2099-01-01") -> None:
    """Write one waiver."""
    (bench.records / "waivers.yaml").write_text(
        f"- gate: {gate}\n  slug: {slug}\n  reason: the text has not changed in years\n  until: {until}\n"
    )


def found(bench, code: int) -> list[tuple[str, str]]:
    """Return the gates and messages of all findings."""
    report = bench.json("check", code=code)
    return [(entry["gate"], entry["message"]) for record in report["records"] for entry in record["findings"]]


def test_a_waived_finding_does_not_refuse_approval(stale):
    """The finding is shown as waived, with the reason."""
    assert [gate for gate, _ in found(stale, 1)] == ["freshness"]
    waive(stale)
    report = stale.json("check")
    assert report["records"][0]["findings"] == []
    assert report["records"][0]["waived"][0]["reason"] == "the text has not changed in years"
    stale.approve("store-money-as-numeric")


def test_a_waiver_that_waives_nothing_is_an_error(bench):
    """Exceptions must still be true."""
    bench.write("store-money-as-numeric")
    waive(bench)
    assert found(bench, 1) == [("waivers", "the waiver of freshness waives nothing")]


def test_a_waiver_past_its_day_is_an_error_beside_what_it_waived(stale):
    """The finding is back."""
    waive(stale, until=OLD)
    assert [gate for gate, _ in found(stale, 1)] == ["freshness", "waivers"]


@pytest.mark.parametrize(("gate", "slug"), [("spelling", "store-money-as-numeric"), ("freshness", "gone-record")])
def test_a_waiver_of_an_unknown_gate_or_record_is_an_error(bench, gate, slug):
    """A typing error must not look like a waiver."""
    bench.write("store-money-as-numeric")
    waive(bench, gate=gate, slug=slug)
    bench.run("check", code=1)


def test_hidden_characters_cannot_be_waived(bench):
    """No reason excuses what nobody can see, and the waiver that tries waives nothing."""
    bench.write("store-money-as-numeric", pitfall="Totals are off by\u200b one cent in the report.")
    waive(bench, gate="safety")
    assert [gate for gate, _ in found(bench, 1)] == ["safety", "waivers"]


@pytest.mark.parametrize(
    "text",
    [
        "gate: freshness\n",
        "- gate: freshness\n",
        "- [1, 2\n",
        "- gate: x\n  slug: y\n  reason: too short\n  until: 2027-01-01\n",
    ],
)
def test_a_file_that_is_no_list_of_waivers_is_refused(bench, text):
    """With one line that names the entry."""
    (bench.records / "waivers.yaml").write_text(text)
    assert bench.run("check", code=1).stderr.startswith("invalid_record: waivers.yaml")
