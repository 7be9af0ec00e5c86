"""Links, images, HTML and templates in prose, written out or encoded."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

_MARKUP = re.compile(
    r"!\[|<!|<\?|<%|</?[a-zA-Z][^<>]*>|\[[^\]\n]+\]\([^)\n]+\)|\[[^\]\n]+\]\[[^\]\n]*\]|^\[[^\]]+\]:"
    # A tag that is never closed is one to a browser, too.
    r"|<[a-zA-Z][\w-]*\s+[\w:-]+\s*=|\{\{.*?\}\}|\{%.*?%\}",
    re.MULTILINE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(?:u00|x)([0-9a-f]{2})", re.IGNORECASE)


def markup(prose: str) -> str | None:
    """Return the first markup in a text without its code, or None: as it stands, as an entity, or once decoded."""
    found = _MARKUP.search(prose) or _ENTITY.search(prose) or _MARKUP.search(_decoded(prose))
    return found[0][:40] if found else None


def _decoded(prose: str) -> str:
    return html.unescape(unquote(_ESCAPED.sub(lambda code: chr(int(code[1], 16)), prose)))
