"""Names of technologies: one canonical spelling each, the aliases people write, and what each is built on.

A caller names technologies freely ("reactjs", "Postgres", "k8s"); records use canonical names. Both sides are reduced
to the same key here, so that a filter never fails on spelling.
"""

from __future__ import annotations

import re
from functools import cache

# canonical name: (aliases, technologies whose guidance holds for it as well)
_TABLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Alembic": ((), ("SQLAlchemy", "Python")),
    "ARIA": (("WAI-ARIA", "aria attributes"), ("HTML", "WCAG")),
    "asyncio": ((), ("Python",)),
    "AWS": (("Amazon Web Services",), ()),
    "Bash": (("sh", "shell", "zsh"), ()),
    "Celery": ((), ("Python",)),
    "CSS": (("css3", "Cascading Style Sheets"), ()),
    "Django": ((), ("Python",)),
    "Docker": (("Dockerfile", "docker engine", "buildkit"), ()),
    "Docker Compose": (("docker-compose", "compose"), ("Docker",)),
    "ECMAScript": (("ES",), ()),
    "ESLint": ((), ("JavaScript",)),
    "Express": (("express.js", "expressjs"), ("Node.js", "JavaScript", "HTTP")),
    "FastAPI": ((), ("Starlette", "Pydantic", "Python", "HTTP")),
    "Flask": ((), ("Python", "HTTP")),
    "Git": (("gitscm",), ()),
    "GitHub Actions": (("gha", "github workflows", "github action"), ()),
    "Go": (("golang",), ()),
    "GraphQL": (("gql",), ("HTTP",)),
    "gRPC": (("grpc-go", "grpcio"), ()),
    "HTML": (("html5",), ()),
    "HTTP": (("REST", "HTTP API", "REST API", "HTTPS", "web api", "RESTful"), ()),
    "HTTPX": ((), ("Python", "HTTP")),
    "Hypothesis": ((), ("Python",)),
    "Java": ((), ()),
    "JavaScript": (("js", "vanilla js"), ("ECMAScript",)),
    "Jest": ((), ("JavaScript",)),
    "JWT": (("json web token", "json web tokens", "jwts"), ()),
    "Kubernetes": (("k8s", "kube", "kubectl"), ()),
    "logging": (("logs", "structured logging"), ()),
    "MCP": (("model context protocol",), ()),
    "MySQL": (("mariadb",), ("SQL",)),
    "NestJS": (("nest",), ("Node.js", "TypeScript", "HTTP")),
    "Next.js": (("next",), ("React", "JavaScript", "Node.js")),
    "nginx": ((), ("HTTP",)),
    "Node.js": (("node", "nodejs"), ("JavaScript",)),
    "npm": (("package-lock", "npmjs"), ()),
    "OAuth 2.0": (("oauth", "oauth2", "OpenID Connect", "oidc"), ()),
    "OpenTelemetry": (("otel", "otlp"), ()),
    "OWASP": ((), ()),
    "pip": ((), ("Python",)),
    "Playwright": (("playwright test",), ()),
    "pnpm": ((), ()),
    "PostgreSQL": (("postgres", "psql", "pg", "pgsql"), ("SQL",)),
    "Prometheus": (("promql",), ()),
    "psycopg": (("psycopg3", "psycopg2"), ("PostgreSQL", "Python")),
    "Pydantic": ((), ("Python",)),
    "pytest": (("py.test",), ("Python",)),
    "Python": (("cpython", "py", "python3"), ()),
    "React": (("react-dom",), ("JavaScript",)),
    "Redis": (("valkey",), ()),
    "Redux": (("redux toolkit", "rtk"), ("React",)),
    "Rust": ((), ()),
    "SQL": ((), ()),
    "SQLAlchemy": (("sqla",), ("Python", "SQL")),
    "Starlette": ((), ("Python", "HTTP")),
    "TanStack Query": (("react-query", "react query"), ("React",)),
    "Terraform": (("opentofu", "tf"), ()),
    "Testing Library": (("react testing library", "rtl", "@testing-library/react", "user-event"), ("JavaScript",)),
    "TypeScript": (("ts", "tsc"), ("JavaScript",)),
    "unittest.mock": (("mock", "unittest"), ("Python",)),
    "uv": ((), ("Python",)),
    "uvicorn": ((), ("Python", "HTTP")),
    "Vite": (("vitejs",), ("JavaScript",)),
    "Vitest": ((), ("JavaScript",)),
    "Vue": (("vue3",), ("JavaScript",)),
    "WCAG": (("web content accessibility guidelines", "a11y"), ("HTML",)),
    "Zod": ((), ("TypeScript",)),
}

# "js" is taken off longer names only: what is left of a shorter one would not be a name.
_SHORTEST_WITH_SUFFIX = 5
_PUNCTUATION = re.compile(r"[\s._\-/@]+")


def technology_key(name: str) -> str:
    """Return the comparison key of a technology as anyone may write it.

    >>> technology_key("React.js") == technology_key("reactjs") == technology_key("React")
    True
    """
    key = _fold(name)
    return _aliases().get(key) or _aliases().get(_without_suffix(key), key)


def canonical_name(name: str) -> str | None:
    """Return the canonical spelling of a known technology, or None for an unknown one."""
    return _names().get(technology_key(name))


def foundations(key: str) -> frozenset[str]:
    """Return the keys of everything the technology is built on, transitively, without itself."""
    return _foundations(key)


def known_key(name: str) -> str | None:
    """Return the key of a known technology, or None for a name we do not know."""
    key = technology_key(name)
    return key if key in _names() else None


def _fold(name: str) -> str:
    return _PUNCTUATION.sub("", name.casefold())


def _without_suffix(key: str) -> str:
    """Drop the "js" that people add to names ("reactjs"), where the rest is long enough to be a name."""
    return key[:-2] if key.endswith("js") and len(key) >= _SHORTEST_WITH_SUFFIX else key


@cache
def _aliases() -> dict[str, str]:
    return {_fold(spelling): _fold(name) for name, (aliases, _) in _TABLE.items() for spelling in (name, *aliases)}


@cache
def _names() -> dict[str, str]:
    return {_fold(name): name for name in _TABLE}


@cache
def _foundations(key: str) -> frozenset[str]:
    name = _names().get(key)
    direct = [_fold(base) for base in _TABLE[name][1]] if name else []
    return frozenset(direct).union(*(_foundations(base) for base in direct))
