"""`review lint`: what is mechanical is repaired, and what a record says stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import RecordError
from app.record import Record, canonical_form
from app.recordfile import parse_record, read_record, record_paths
from review.lint import lint
from tests.review.recordtexts import record_text

SLUG = "store-money-as-numeric"
PATH = Path(f"data/{SLUG}.md")
SHIPPED = Path(__file__).parents[2] / "records"
SOUND = record_text().replace(
    "    name: PostgreSQL\n", '    name: PostgreSQL\n    version_constraint: ">=15"\n    scheme: generic\n'
)
STRAIGHT = str.maketrans({"“": '\\"', "”": '\\"', "’": "'", "‘": "'"})  # noqa: RUF001 - what it is about


def read(text: str) -> Record:
    """Return the record that a text is."""
    return parse_record(text, PATH)


def straight(record: Record) -> str:
    """Return what a record says, quotes apart."""
    return canonical_form(record).decode().translate(STRAIGHT).replace('"\\"', '"').replace('\\""', '"')


DAMAGE = {
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "no last line end": lambda text: text.rstrip("\n"),
    "spaces behind lines": lambda text: text.replace("\n", "   \n"),
    "a version without quotes": lambda text: text.replace('">=15"', ">=15"),
    "a version in curly quotes": lambda text: text.replace('">=15"', "“>=15”"),
    "a date with slashes": lambda text: text.replace("2026-11-30", "2026/11/30"),
    "an alias": lambda text: text.replace("name: PostgreSQL", "name: postgres"),
    "stars as bullets": lambda text: text.replace("\n- ", "\n* "),
    "numbers as bullets": lambda text: text.replace("\n- ", "\n1. "),
    "an unusual heading": lambda text: text.replace("## Verification checks", "##  verification Checks:"),
    "sections out of order": lambda text: text.replace("## Summary\n", "## SUMMARY\n").replace(
        "## Rationale\n", "## Placeholder\n"
    ).replace("## Pitfalls\n", "## Rationale\n").replace("## Placeholder\n", "## Pitfalls\n"),
    "fields out of order": lambda text: text.replace("confidence: high\n", "", 1).replace(
        "symptoms:", "confidence: high\nsymptoms:", 1
    ),
    "keys of a source out of order": lambda text: text.replace(
        '  - title: "Numeric Types"\n    url: "https', '  - url: "https'
    ).replace('    publisher: "PostgreSQL"\n', '    publisher: "PostgreSQL"\n    title: "Numeric Types"\n'),
    "wrapped prose": lambda text: text.replace("Floats are binary: ", "Floats are binary:\n"),
    "wrapped bullets": lambda text: text.replace("- Sum ten rows ", "- Sum ten rows\n  "),
    "empty lines": lambda text: text.replace("\n## ", "\n\n\n## ").replace("## Summary\n", "## Summary\n\n"),
}  # fmt: skip
SWAPS = ("sections out of order",)


@pytest.mark.parametrize("damage", [name for name in DAMAGE if name not in SWAPS])
def test_each_damage_is_repaired_into_the_sound_text(damage):
    """To the letter, so that what is in order is left as it is."""
    damaged = DAMAGE[damage](SOUND)
    assert damaged != SOUND
    assert lint(damaged, PATH).text == lint(SOUND, PATH).text == SOUND


def test_sections_are_put_in_order_with_their_text():
    """Each keeps what stands below it."""
    start, summary = SOUND.index("## Summary"), SOUND.index("## Recommendation")
    moved = SOUND[:start] + SOUND[summary:] + "\n" + SOUND[start:summary]
    with pytest.raises(RecordError):
        read(moved)
    assert lint(moved, PATH).text == SOUND


@pytest.mark.parametrize(
    "text",
    [
        SOUND.replace("## Summary", "## Sumary"),
        SOUND.replace("## Exceptions", "## Pitfalls"),
        SOUND.replace("confidence: high", "confidence: high\nconfidence: low"),
        SOUND.replace("name: PostgreSQL", "name: PostgreSQL 15"),
        SOUND.replace("2026-11-30", "2026/02/31"),
        SOUND.replace("2026-11-30", "11/12/2026"),
        SOUND.replace("- Sum ten", "Sum ten"),
    ],
    ids=["unknown section", "section twice", "key twice", "version in a name", "no day", "which month", "no bullet"],
)  # fmt: skip
def test_what_is_not_mechanical_is_left_to_the_author(text):
    """A guess would change what it says."""
    assert lint(text, PATH).text == text


def test_code_is_never_touched():
    """Neither spaces, nor quotes, nor what looks like a heading or a bullet in it."""
    code = "\n## Examples\n```\n# one  \n## two\n* “three”\n\n\n```\n\nProse   stays  \n* as it is\n"
    text = SOUND.replace("0.01", "`“0.01”`") + code
    assert lint(text, PATH).text == text


def test_a_repair_that_would_change_what_a_record_says_is_left_out():
    """Spaces behind a line of a literal text are part of it; what else is to be repaired still is."""
    literal = "  - |\n    invoice total  \n    is off by one cent"
    text = SOUND.replace('  - "invoice total is off by one cent"', literal).replace(
        "Floats are binary: ", "Floats are binary:\n"
    )
    once = lint(text, PATH)
    assert once.repairs == ("wrapped lines",)
    assert read(once.text).symptoms[0] == "invoice total  \nis off by one cent"


def test_comments_stay_with_their_fields():
    """And those at the head stay there."""
    text = SOUND.replace("confidence: high\n", "").replace(
        "symptoms:", "# how sure\nconfidence: high\n# what is seen\nsymptoms:"
    )
    text = text.replace("---\nupdated", "---\n# the schema\nupdated", 1)
    assert lint(text, PATH).text == SOUND.replace(
        "confidence: high\n", "# the schema\n# how sure\nconfidence: high\n"
    ).replace("symptoms:", "# what is seen\nsymptoms:")


def test_curly_quotes_become_straight_and_nothing_else_changes():
    """In prose, in quoted and in plain values."""
    text = SOUND.replace("Floats are binary", "Floats aren\u2019t “exact”").replace(
        '- "invoice total is off by one cent"', "- “the invoice\u2019s total is off”"
    ).replace("should I use float", "should I use “float”")  # fmt: skip
    record = read(lint(text, PATH).text)
    assert record.rationale.startswith('Floats aren\'t "exact": 0.1')
    assert record.symptoms[0] == "the invoice's total is off"
    assert record.symptoms[2].startswith('should I use "float"')


@pytest.mark.parametrize("path", record_paths(SHIPPED), ids=lambda path: path.stem)
def test_every_shipped_record_is_in_order(path):
    """Which shows too that what authors write is not repaired for its own sake."""
    text = path.read_text("utf-8")
    assert lint(text, path).text == text


_PIECES = st.sampled_from(
    [
        *("\n", "\r", "  ", "“", "\u2019", "- ", "* ", "# ", "## ", "## Summary\n", "```\n", "---\n"),
        *("name: ", "x: [", "\u0308", "'", '"', ": "),
    ]
)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """Yield sound texts that were damaged in ways we know, and then in ways we do not."""
    text = SOUND
    for name in draw(st.lists(st.sampled_from(sorted(DAMAGE)), max_size=6)):
        text = DAMAGE[name](text)
    for piece, where in draw(st.lists(st.tuples(_PIECES, st.floats(0, 1)), max_size=4)):
        place = int(where * len(text))
        text = text[:place] + piece + text[place:]
    if draw(st.booleans()):
        lines = text.split("\n")
        text = "\n".join(draw(st.permutations(lines)))
    return text


@given(_texts())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_second_run_repairs_nothing_and_a_record_says_the_same_after_the_first(text):
    """Curly quotes apart."""
    once = lint(text, PATH)
    assert lint(once.text, PATH).text == once.text
    assert (once.text == text) == (not once.repairs)
    try:
        before = read(text)
    except RecordError:
        return
    assert straight(read(once.text)) == straight(before)


def test_without_fix_it_says_what_is_to_be_repaired_and_writes_nothing(bench):
    """Exit code 1; a dry run shows the difference."""
    path = bench.write(SLUG)
    bench.edit(path, "\n- Sum", "\n* Sum")
    before = path.read_bytes()
    assert f"to repair: data/{SLUG}.md: list markers" in bench.run("lint", code=1).output
    shown = bench.run("lint", "--fix", "--dry-run", code=1).output
    assert "  -* Sum ten rows" in shown
    assert "  +- Sum ten rows" in shown
    assert path.read_bytes() == before
    bench.run("lint", "--fix")
    assert bench.run("lint").output == "all in order\n"
    read_record(path)


def test_an_approval_outlives_repairs_that_the_record_does_not_show(bench):
    """Layout is no part of what was approved."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    bench.edit(path, "Floats are binary: ", "Floats are binary:\n")
    bench.run("lint", "--fix")
    assert bench.json("check")["records"][0]["state"] == "approved"


def test_an_approved_text_is_changed_only_where_that_is_said(bench):
    """The approval is lost then, and it says so."""
    path = bench.write(SLUG, pitfall="Totals are off by 0.01 although the row\u2019s print is as expected.")
    bench.approve(SLUG)
    before = path.read_bytes()
    refused = bench.run("lint", "--fix", code=1)
    assert "its approval would be lost, so that --fix leaves it alone without --approved" in refused.output
    assert path.read_bytes() == before
    assert bench.json("lint", code=1)[0]["loses_approval"] is True
    assert "its approval is lost" in bench.run("lint", "--fix", "--approved").output
    assert bench.json("check")["records"][0]["state"] == "changed"


def test_what_is_no_record_is_left_alone(bench, tmp_path):
    """Links, other encodings, files that are too large; unknown names are refused."""
    outside = tmp_path / "outside.md"
    outside.write_text("* mine\r\n")
    folder = bench.records / "data"
    folder.mkdir()
    (folder / "a-link.md").symlink_to(outside)
    (folder / "in-latin.md").write_bytes(b"* caf\xe9\r\n")
    (folder / "too-large.md").write_text("* x\r\n" * 10_000)
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    bench.run("lint", "--fix")
    assert {path: path.read_bytes() for path in folder.iterdir()} == kept
    bench.run("lint", "no-such-record", code=1)
