"""Generated blocks of a document: what stands between `<!-- KIND:NAME -->` and `<!-- /KIND:NAME -->`.

replace_block(document, name, content) -> document   pure
write_block(name, content, path)                     the same on a file
"""

from __future__ import annotations

from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/retrieval.md"


class BlockNotFound(ValueError):
    """The document has no such block, has it twice, or its marks are in the wrong order."""


def replace_block(document: str, name: str, content: str, kind: str = "retrieval") -> str:
    """Return the document with what stands between the marks of the block replaced; the marks stay.

    Args:
        document: Markdown, with each mark on a line of its own.
        name: name of the block, as in its marks.
        content: Markdown; blank lines around it are made here.
        kind: the first word of the marks.

    Raises:
        BlockNotFound: the marks are not there exactly once, opening before closing.
    """
    opening, closing = f"<!-- {kind}:{name} -->\n", f"<!-- /{kind}:{name} -->"
    if document.count(opening) != 1 or document.count(closing) != 1:
        raise BlockNotFound(f"the document must hold {opening.strip()} and {closing} exactly once")
    before, _, rest = document.partition(opening)
    _, found, after = rest.partition(closing)
    if not found:
        raise BlockNotFound(f"{closing} stands before {opening.strip()}")
    return f"{before}{opening}\n{content.strip()}\n\n{closing}{after}"


def write_block(name: str, content: str, path: Path = DOCUMENT, *, kind: str = "retrieval") -> None:
    """Replace a block in a file, which is left alone when nothing differs. Raises BlockNotFound, OSError."""
    document = path.read_text("utf-8")
    changed = replace_block(document, name, content, kind)
    if changed != document:
        path.write_text(changed, "utf-8", newline="\n")
