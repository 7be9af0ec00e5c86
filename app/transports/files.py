"""The public files: a few texts in memory, with what caches and browsers need to know about them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.transports.gate import Headers
from app.transports.replies import Header, Reply

_INLINE = re.compile(rb"<(style|script)>(.*?)</\1>", re.DOTALL)
_LINKS = b'</llms.txt>; rel="describedby"; type="text/plain", </docs.md>; rel="alternate"; type="text/markdown"'


@dataclass(frozen=True)
class PublicFile:
    """A file ready to be sent."""

    reply: Reply
    etag: str


def prepare_files(files: Mapping[str, tuple[str, bytes]]) -> dict[str, PublicFile]:
    """Return the files by path, with their headers worked out."""
    return {path: _prepare(media_type, body) for path, (media_type, body) in files.items()}


def answer_file(file: PublicFile, headers: Headers) -> Reply:
    """Return the file, or 304 if the client has it."""
    held = {tag.strip().removeprefix("W/") for value in headers.every("if-none-match") for tag in value.split(",")}
    if file.etag in held or "*" in held:
        return Reply(304, headers=file.reply.headers)
    return file.reply


def _prepare(media_type: str, body: bytes) -> PublicFile:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers: list[Header] = [
        (b"etag", etag.encode()),
        (b"cache-control", b"public, max-age=300"),
        (b"link", _LINKS),
        (b"referrer-policy", b"no-referrer"),
    ]
    if media_type.startswith("text/html"):
        headers.append((b"content-security-policy", _policy(body).encode()))
    return PublicFile(Reply(200, body, media_type.encode(), tuple(headers)), etag)


def _policy(page: bytes) -> str:
    """Return a policy under which the page's own inline blocks work, named by their hashes, and nothing else does."""
    sources: dict[str, list[str]] = {"style": [], "script": []}
    for kind, content in _INLINE.findall(page):
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        sources[kind.decode()].append(f"'sha256-{digest}'")
    inline = [f"{kind}-src {' '.join(hashes)}" for kind, hashes in sources.items() if hashes]
    return "; ".join(
        [
            "default-src 'none'",
            *inline,
            "img-src 'self' data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )
