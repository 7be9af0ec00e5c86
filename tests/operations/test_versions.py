"""Versions through the public operation: whatever form they come in, and where records for other versions stand."""

from __future__ import annotations

from typing import Any

import pytest

from app.operations import Services, call
from app.recordfile import read_record, record_paths
from bench.corpus import ROOT

ALL = {record.slug: record for record in (read_record(path).record for path in record_paths(ROOT / "records"))}
SCOPED = {slug: record for slug, record in ALL.items() if any(entry.version_constraint for entry in record.applies_to)}
TECHNOLOGIES = sorted({entry.name for record in SCOPED.values() for entry in record.applies_to if entry.scheme})

KEYS = "use-stable-keys-for-dynamic-react-lists"
EFFECTS = "clean-up-effects-so-remounting-is-harmless"
ERASABLE = "enable-erasablesyntaxonly-for-typescript-run-by-node"
INDEXED = "check-indexed-access-with-nouncheckedindexedaccess"
PROPS = "pass-destructured-vue-props-as-getters"
LAZY = "prevent-implicit-loads-in-async-sqlalchemy-sessions"
PING = "pre-ping-pooled-database-connections"
GROUP = "use-taskgroup-for-work-that-fails-together"
FIELDS = "give-optional-pydantic-v2-fields-a-default"
NULLS = "make-unique-constraints-treat-nulls-as-equal"
TTL = "state-the-ttl-on-every-redis-set"
MOVED = "rename-terraform-resources-with-moved-blocks"

Versions = dict[str, str]
# Where versions were read, as they stand there, by hand, and what follows for which record.
STACKS: list[tuple[str, Versions, Versions, dict[tuple[str, str], str]]] = [
    (
        "package-lock.json",
        {
            "node_modules/react": "17.0.2",
            "node_modules/react-dom": "17.0.2",
            "node_modules/@types/react": "18.2.64",
            "node_modules/typescript": "5.4.5",
            "node_modules/vue": "3.4.21",
            "node_modules/scheduler": "0.20.2",
        },
        {"React": "17.0", "TypeScript": "5.4", "Vue": "3.4"},
        {
            (KEYS, "React"): "applies",
            (EFFECTS, "React"): "does_not_apply",
            (ERASABLE, "TypeScript"): "does_not_apply",
            (INDEXED, "TypeScript"): "applies",
            (PROPS, "Vue"): "does_not_apply",
        },
    ),
    (
        "package.json",
        {
            "react": "^18.2.0",
            "react-dom": "^18.2.0",
            "typescript": "~5.8.2",
            "vue": "^3.0.0",
            "engines.node": ">=18",
            "pg": "^8.11.3",
            "redis": "^4.6.13",
            "@types/node": "^20.11.0",
        },
        {"React": "18", "TypeScript": "5.8", "Vue": "3", "Node.js": "18 or later", "PostgreSQL": "", "Redis": ""},
        {
            (EFFECTS, "React"): "applies",
            (ERASABLE, "TypeScript"): "applies",
            (ERASABLE, "Node.js"): "version_unknown",
            (PROPS, "Vue"): "version_unknown",
            (NULLS, "PostgreSQL"): "version_unknown",
            (TTL, "Redis"): "version_unknown",
        },
    ),
    (
        "pnpm-lock.yaml",
        {
            "react": "18.2.0",
            "react-dom": "18.2.0(react@18.2.0)",
            "@tanstack/react-query": "5.28.0(react@18.2.0)",
            "typescript": "5.8.3",
            "vue": "3.5.13(typescript@5.8.3)",
        },
        {"React": "18.2", "TanStack Query": "5", "TypeScript": "5.8", "Vue": "3.5"},
        {(EFFECTS, "React"): "applies", (ERASABLE, "TypeScript"): "applies", (PROPS, "Vue"): "applies"},
    ),
    (
        "yarn.lock",
        {"react@npm:^16.0.0": "16.4.2", "react-dom@npm:^16.0.0": "npm:16.4.2", '"typescript@^5.0.0"': "5.0.4"},
        {"React": "16.4", "TypeScript": "5.0"},
        {(KEYS, "React"): "does_not_apply", (INDEXED, "TypeScript"): "applies"},
    ),
    (
        "poetry.lock and uv.lock",
        {
            "sqlalchemy": "1.4.54",
            "pydantic": "1.10.14",
            "pydantic-core": "2.16.3",
            "psycopg2-binary": "2.9.9",
            "requires-python": ">=3.11",
            "py": "1.11.0",
            "redis": "5.0.1",
        },
        {"SQLAlchemy": "1.4", "Pydantic": "1", "psycopg": "2.9", "Python": "3.11+", "Redis": ""},
        {
            (LAZY, "SQLAlchemy"): "does_not_apply",
            (FIELDS, "Pydantic"): "does_not_apply",
            (GROUP, "Python"): "applies",
            (TTL, "Redis"): "version_unknown",
        },
    ),
    (
        "requirements.txt",
        {
            "SQLAlchemy[asyncio]": "==2.0.29",
            "pydantic": "==2.6.4 ; python_version >= '3.8'",
            "psycopg[binary]": "~=3.1.18",
            "python": "3.10.14",
        },
        {"SQLAlchemy": "2.0.29", "Pydantic": "2.6", "psycopg": "3.1", "Python": "3.10"},
        {
            (LAZY, "SQLAlchemy"): "applies",
            (PING, "SQLAlchemy"): "applies",
            (FIELDS, "Pydantic"): "applies",
            (GROUP, "Python"): "does_not_apply",
        },
    ),
    (
        "compose.yaml",
        {"postgres:14-alpine": "", "redis:7.2.4": "", "python:3.12-slim": "", "hashicorp/terraform": "1.0.11"},
        {"PostgreSQL": "14", "Redis": "7.2", "Python": "3.12"},
        {
            (NULLS, "PostgreSQL"): "does_not_apply",
            (TTL, "Redis"): "applies",
            (GROUP, "Python"): "applies",
        },
    ),
    (
        "go.mod",
        {"go": "1.22", "github.com/redis/go-redis/v9": "v9.5.1", "github.com/jackc/pgx/v5": "v5.5.5"},
        {"Go": "1.22"},
        {},
    ),
    (
        "what programs say of themselves",
        {
            "PostgreSQL": "PostgreSQL 16.3 (Debian 16.3-1.pgdg120+1)",
            "Terraform": "Terraform v1.0.11",
            "Node.js": "v22.20.0",
            "TypeScript": "Version 5.8.3",
            "Python": "Python 3.12.1",
        },
        {"PostgreSQL": "16", "Terraform": "1.0", "Node.js": "22.20", "TypeScript": "5.8", "Python": "3.12"},
        {
            (NULLS, "PostgreSQL"): "applies",
            (MOVED, "Terraform"): "does_not_apply",
            (ERASABLE, "Node.js"): "applies",
            (ERASABLE, "TypeScript"): "applies",
            (GROUP, "Python"): "applies",
        },
    ),
]


def verdicts(answer: dict[str, Any], slug: str) -> dict[str, str]:
    """Return the verdicts on each technology that a record found is given."""
    card = next(result for result in answer["results"] if result["slug"] == slug)
    return {finding["technology"]: finding["verdict"] for finding in card["applicability"]}


@pytest.mark.parametrize(
    ("versions", "by_hand", "expected"), [row[1:] for row in STACKS], ids=[row[0] for row in STACKS]
)
def test_lockfile_gets_the_verdicts_of_what_a_hand_would_write(
    ask: Any, versions: Versions, by_hand: Versions, expected: dict[tuple[str, str], str]
) -> None:
    """Names and versions may be copied from where they stand."""
    for (slug, technology), verdict in expected.items():
        copied = ask(ALL[slug].title, versions=versions, max_results=10)
        written = ask(ALL[slug].title, versions=by_hand, max_results=10)
        assert verdicts(copied, slug)[technology] == verdict == verdicts(written, slug)[technology], slug


def test_go_mod_names_go_and_nothing_it_does_not(ask: Any) -> None:
    """A module whose path has another technology's name is not that technology."""
    answer = ask("goroutine leaks when the caller goes away", versions=dict(STACKS[7][1]))
    assert answer["query_summary"].endswith("Go")


def test_version_in_a_name_is_judged_like_one_in_versions(ask: Any) -> None:
    """`technologies: ["React 15"]` is `versions: {"React": "15"}`."""
    question = ALL[KEYS].title
    assert verdicts(ask(question, technologies=["React 15"]), KEYS) == {"React": "does_not_apply"}
    assert verdicts(ask(question, technologies=["React 15"], versions={"React": "18.2"}), KEYS) == {"React": "applies"}
    assert ask(question, technologies=["react@18.2.0"])["query_summary"].endswith("React")


@pytest.mark.parametrize("high", range(0, len(TECHNOLOGIES), 4))
@pytest.mark.parametrize("budget", [200, 700, 5000])
def test_record_for_other_versions_says_so_and_never_comes_before_one_that_applies(
    services: Services, high: int, budget: int
) -> None:
    """Every constraint shipped is a lower bound: a high version meets it, a low one does not."""
    versions = {name: "9999.0.0" if place < high else "0.0.1" for place, name in enumerate(TECHNOLOGIES)}
    low = {name for name, version in versions.items() if version == "0.0.1"}
    for record in SCOPED.values():
        answer = call(
            services,
            "search_knowledge",
            {"query": record.title, "versions": versions, "max_results": 10, "token_budget": budget},
        )
        outside = [is_outside(result["slug"], low) for result in answer["results"]]
        said = ["does_not_apply" in str(result.get("applicability")) for result in answer["results"]]
        assert outside == said == sorted(said)


def is_outside(slug: str, low: set[str]) -> bool:
    """Tell whether a record asks for more of a technology than these, which stand at 0.0.1."""
    return any(entry.name in low and entry.version_constraint for entry in ALL[slug].applies_to)


@pytest.mark.parametrize(
    "version", ["", "latest", "workspace:*", "9" * 100, "\u0661\u0668", "((((", "^" * 100, "||", "1.2.3-" + "a" * 90]
)
def test_no_version_is_refused_for_what_it_says(ask: Any, version: str) -> None:
    """A version that says nothing leaves the record found, and its constraint said."""
    assert verdicts(ask(ALL[KEYS].title, versions={"React": version}), KEYS)["React"] in (
        "version_unknown",
        "does_not_apply",
    )
