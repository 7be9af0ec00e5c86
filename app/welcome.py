"""What is said at the start: to the agent when it connects, and to the person at the terminal."""

from __future__ import annotations

import sys

from app.ports import Publication
from app.publicfiles import Site
from app.settings import Settings


def site_of(settings: Settings, served: Publication | None) -> Site:
    """Return what the public files say of this server."""
    base = settings.public_url or f"http://{_reachable(settings.host)}:{settings.port}"
    return Site(
        base=base,
        demo=served.demo if served else True,
        records=served.records if served else None,
        guest_daily_quota=settings.guest_daily_quota,
    )


def _reachable(host: str) -> str:
    """Return an address to call where the server listens on all of them."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def instructions(site: Site) -> str:
    """Return what an agent is told when it connects."""
    return (
        "Ask search_knowledge before you choose a framework practice, build a security control or accessibility "
        "pattern, or decide how to test or survive failure. Name technologies and versions. Check applicability, "
        "conditions and exceptions; fetch the whole record with get_guidance before acting on it. no_match means that "
        f"the knowledge base has no answer: do not invent one. {site.standing}"
    )


def _warning(withheld: int) -> list[str]:
    if not withheld:
        return []
    return [f"{withheld} records are withheld, the log says why: see docs/approving.md, or chatctx review publish"]


def announce(settings: Settings, site: Site, withheld: int) -> None:
    """Print where the server is, how to add it to a client, and how to ask from the shell.

    Args:
        withheld: records that are published and not served.
    """
    count = f"{site.records} records" if site.records else "no records (chatctx review publish)"
    lines = [
        "",
        f"chatctx serves {count} at {site.endpoint}",
        *_warning(withheld),
        site.standing,
        "",
        "Add it to a client:",
        f"  Claude Code   claude mcp add --transport http chatctx {site.endpoint}",
        f"  Codex         codex mcp add chatctx --url {site.endpoint}",
        f"  Gemini        gemini mcp add --transport http chatctx {site.endpoint}",
        f'  Cursor        in .cursor/mcp.json: {{"mcpServers": {{"chatctx": {{"url": "{site.endpoint}"}}}}}}',
        "",
        "Ask from the shell:",
        '  .venv/bin/chatctx search "list rows keep the wrong state after sorting" -t React==18.2',
        "",
        f"{'The pepper' if settings.database_url else 'Data'} is in {settings.home}. Stop with Ctrl-C.",
        "",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
