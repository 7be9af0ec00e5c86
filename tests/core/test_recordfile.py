"""The record file: what is read, and how each refusal names file, line and remedy."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import RecordError
from app.recordfile import read_record, record_paths, stray_paths

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "records/implementation/use-stable-keys-for-dynamic-react-lists.md"
WITH_CHECK = ROOT / "records/data/store-money-as-numeric.md"
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str) -> Path:
        path = tmp_path / "implementation" / SOURCE.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return put


def changed(old: str, new: str) -> str:
    text = SOURCE.read_text("utf-8")
    assert old in text
    return text.replace(old, new, 1)


def refusal(path: Path) -> RecordError:
    with pytest.raises(RecordError) as refused:
        read_record(path)
    return refused.value


@pytest.mark.parametrize("path", record_paths(ROOT / "records"), ids=lambda path: path.stem)
def test_shipped_record_is_read(path: Path) -> None:
    """Every record in the repository has the format."""
    assert read_record(path).record.slug == path.stem


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("confidence: high", "confidense: high", 2, "did you mean `confidence`"),
        ("confidence: high", "confidence: sure", 2, "high"),
        ("confidence: high", "confidence: high\nconfidence: low", 3, "twice"),
        ("updated: 2026-11-30", "updated: 2026-02-31", 2, "date that does not exist"),
        ("updated: 2026-11-30", "updated: 30.11.2026", 3, "updated"),
        ('version_constraint: ">=16.8"', "version_constraint: 16.8", 8, "quotes"),
        ('version_constraint: ">=16.8"', 'version_constraint: "from 16"', 6, "version_constraint"),
        ("scheme: npm", "scheme: nmp", 9, "scheme"),
        ("name: React", "name: Reactt", 7, "unknown technology"),
        ("name: React", "name: reactjs", 7, "canonical name 'React'"),
        ("confidence: high", "confidence: !!str high", 2, "tags"),
        ("confidence: high", "confidence: &c high", 2, "anchors"),
        ("confidence: high", "x: " + "[" * 3000 + "]" * 3000, 2, "nested"),
        ("confidence: high", "x: " + "{a: " * 3000 + "1" + "}" * 3000, 2, "nested"),
        ("confidence: high", "confidence: [high", 3, "not YAML"),
        ("## Summary", "## Sumary", 0, "did you mean `## Summary`"),
        ("## Summary", "## Pitfalls\n- " + "x" * 30 + "\n\n## Summary", 0, "out of order"),
        ("# Key dynamic", "# Another title\n\n# Key dynamic", 0, "second title"),
        ("- Rows hold local state", "Rows hold local state", 0, "only `- ` bullets"),
        ("\n```\n", "\n", 0, "not closed"),
    ],
)
def test_refusal_names_file_line_and_remedy(write: Write, old: str, new: str, line: int, words: str) -> None:
    """The person who writes is told where it is and what to do; line 0 stands for any in the body."""
    error = refusal(write(changed(old, new)))
    assert error.message.startswith(f"implementation/{SOURCE.name}:")
    assert words in error.message
    if line:
        assert error.details["line"] == line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SOURCE.read_bytes().replace(b"\n", b"\r\n"), "LF alone"),
        (b"\xef\xbb\xbf" + SOURCE.read_bytes(), "byte order mark"),
        (SOURCE.read_text("utf-8").encode("utf-16"), "UTF-8"),
        (SOURCE.read_bytes() + b"\xff", "UTF-8"),
        (b"", "front matter"),
        (b"---\n", "not closed"),
        (b"x" * 40_000, "larger than"),
    ],
)
def test_file_that_is_not_text_of_the_right_kind_is_refused(write: Write, content: bytes, words: str) -> None:
    """Encodings, line ends and sizes each have their own remedy."""
    path = write("")
    path.write_bytes(content)
    assert words in refusal(path).message


def test_record_that_is_a_link_is_refused(write: Write, tmp_path: Path) -> None:
    """A link could show any file of the reader's."""
    path = write("")
    path.unlink()
    path.symlink_to(SOURCE)
    assert "is a link" in refusal(path).message


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "linked folder"])
def test_check_file_that_is_no_plain_file_is_refused_and_not_opened(tmp_path: Path, kind: str) -> None:
    """A contributed check cannot reach outside its folder, nor hang the reader."""
    path = tmp_path / "data" / WITH_CHECK.name
    path.parent.mkdir()
    path.write_text(WITH_CHECK.read_text("utf-8"), "utf-8")
    folder, original = path.with_suffix(".checks"), WITH_CHECK.with_suffix(".checks")
    secret = tmp_path / "pepper"
    secret.write_text("p1 c0ffee")
    if kind == "linked folder":
        folder.symlink_to(original)
    else:
        folder.mkdir()
        for place, file in enumerate(sorted(original.iterdir())):
            target = folder / file.name
            if place:
                target.write_bytes(file.read_bytes())
            elif kind == "link":
                target.symlink_to(secret)
            elif kind == "pipe":
                os.mkfifo(target)
            else:
                target.mkdir()
    assert "c0ffee" not in refusal(path).message


def test_files_where_no_record_is_read_are_strays(tmp_path: Path) -> None:
    """A record in the wrong place, or with another ending, is not silently ignored."""
    for name in ("x.md", "testing/sub/y.md", "testing/z.MD", "testing/right.md", "testing/w.markdown"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [path.name for path in record_paths(tmp_path)] == ["right.md"]
    assert {path.name for path in stray_paths(tmp_path)} == {"x.md", "y.md", "z.MD", "w.markdown"}
