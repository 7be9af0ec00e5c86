"""The official conformance suite, both revisions. The baselines list what this server does not offer, and no more."""

from __future__ import annotations

import pytest

from tests.clients.installing import HERE

# The first one installs the clients.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

SUITE = "@modelcontextprotocol/conformance/dist/index.js"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_official_suite_finds_nothing_but_what_is_not_offered(edge, run_node, tmp_path, revision):
    done = run_node(
        SUITE,
        "server",
        "--url",
        f"http://localhost:{edge.port}/mcp",
        "--requirements",
        revision,
        "--expected-failures",
        str(HERE / f"baseline-{revision}.yml"),
        "-o",
        str(tmp_path / "results"),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "Total:" in done.stdout
