"""Names of technologies as people, manifests and lockfiles write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lexical import technologies_in
from app.rivals import GROUPS
from app.technologies import canonical_name, foundations, known_key, read_name, technology_key, version_under
from app.technologytable import TECHNOLOGIES

NAMES = [
    ("React", ("react", "React.js", "reactjs", "ReactJS", "react-dom", "React (frontend)", "React latest")),
    ("PostgreSQL", ("Postgres", "postgres", "pg", "psql", "pgsql", "postgresql-client", "pg8000", "Postgre SQL")),
    ("Kubernetes", ("k8s", "K8s", "kube", "kubectl")),
    ("TypeScript", ("TS", "ts", "typescript", "tsc")),
    ("Node.js", ("Node", "node", "nodejs", "node.js", "NodeJS", "Node JS", ".nvmrc", "engines.node", "Node.js LTS")),
    ("Python", ("py", "python", "python3", "cpython", "CPython", "requires-python")),
    ("Go", ("golang", "go", "Go lang")),
    ("GitHub Actions", ("gh actions", "GH Actions", "gha", "github-actions", "GitHub Action", "GitHub workflows")),
    ("psycopg", ("psycopg2", "psycopg3", "psycopg2-binary", "psycopg-binary", "psycopg[binary]", "psycopg[c,pool]")),
    ("SQLAlchemy", ("sqlalchemy", "sqla", "sqlalchemy[asyncio]", "SQLAlchemy")),
    ("TanStack Query", ("@tanstack/react-query", "react-query", "React Query")),
    ("Playwright", ("@playwright/test", "playwright", "playwright-core")),
    ("NestJS", ("@nestjs/core", "@nestjs/common", "nest", "Nest.js")),
    ("Next.js", ("next", "nextjs", "Next.JS")),
    ("Vue", ("vue", "Vue.js", "vuejs", "vue3")),
    ("Express", ("express", "Express.js", "expressjs")),
    ("Testing Library", ("@testing-library/react", "@testing-library/dom", "@testing-library/user-event", "RTL")),
    ("Redux", ("redux", "@reduxjs/toolkit", "react-redux", "Redux Toolkit")),
    ("MySQL", ("mysql", "mysql2", "MariaDB", "pymysql")),
    ("Redis", ("redis", "ioredis", "valkey", "redis[hiredis]")),
    ("gRPC", ("grpcio", "google.golang.org/grpc", "@grpc/grpc-js")),
    ("Docker Compose", ("docker-compose", "compose", "Docker Compose")),
    ("ECMAScript", ("ES", "ecmascript")),
    ("React", ("node_modules/react", "node_modules/a/node_modules/react", '"react"')),
]

UNKNOWN_NAMES = [
    ("@prisma/client", "nothing we know"),
    ("@types/node", "types are released apart from what they describe"),
    ("@types/react", "types are released apart from what they describe"),
    ("pydantic-core", "another package"),
    ("es6-promise", "another package"),
    ("vue3-apexcharts", "another package"),
    ("python-dateutil", "another package"),
    ("types-redis", "another package"),
    ("tf2", "TensorFlow as often as Terraform"),
    ("actions/checkout@v4", "one action"),
    ("github.com/gin-gonic/gin", "a module"),
    ("https://react.dev", "an address"),
    ("minio:7", "nothing we know"),
    ("s3", "nothing we know"),
    ("d3", "nothing we know"),
    ("18.2.0", "a version alone"),
    ("latest", "a version alone"),
    ("Zig", "nothing we know"),
    ("@", "no name"),
    ("", "no name"),
]

WITH_VERSION = [
    ("Python 3.11", "Python", "3.11"),
    ("Python 3.11+", "Python", "3.11+"),
    ("python3.12", "Python", "3.12"),
    ("py312", "Python", "3.12"),
    ("python3", "Python", "3"),
    ("node.js 20", "Node.js", "20"),
    ("Node 20 LTS", "Node.js", "20 LTS"),
    ("nodejs20.x", "Node.js", "20.x"),
    ("node:20-alpine", "Node.js", "20-alpine"),
    ("postgres:16", "PostgreSQL", "16"),
    ("docker.io/library/postgres:16-alpine", "PostgreSQL", "16-alpine"),
    ("PostgreSQL 15", "PostgreSQL", "15"),
    ("postgresql-16", "PostgreSQL", "16"),
    ("pg15", "PostgreSQL", "15"),
    ("react@18.2.0", "React", "18.2.0"),
    ("react@^18.2.0", "React", "^18.2.0"),
    ("react@npm:^18.2.0", "React", "^18.2.0"),
    ("npm:react@18.2.0", "React", "18.2.0"),
    ("/react@18.2.0", "React", "18.2.0"),
    ("React v18", "React", "18"),
    ("React (18)", "React", "18"),
    ("React version 18", "React", "18"),
    ("react@latest", "React", "latest"),
    ("@tanstack/react-query@5.28.0", "TanStack Query", "5.28.0"),
    ("Django>=4.2,<5", "Django", ">=4.2,<5"),
    ("psycopg[binary]==3.1.18", "psycopg", "==3.1.18"),
    ("psycopg2", "psycopg", "2"),
    ("Terraform ~> 1.5", "Terraform", "~>1.5"),
    ("k8s 1.29", "Kubernetes", "1.29"),
    ("Go 1.22", "Go", "1.22"),
    ("go1.22", "Go", "1.22"),
    ("ES2022", "ECMAScript", "2022"),
    ("ES6", "ECMAScript", "2015"),
    ("Java 1.8", "Java", "8"),
    ("OAuth 2.1", "OAuth 2.0", "2.1"),
    ("WCAG 2.2", "WCAG", "2.2"),
    ("HTTP/2", "HTTP", "2"),
    ("vue3", "Vue", "3"),
    ("Docker Compose v2.24", "Docker Compose", "2.24"),
    ("redis:7.2.4", "Redis", "7.2.4"),
    ("mysql2", "MySQL", None),
    ("pg8000", "PostgreSQL", None),
    ("psycopg2-binary", "psycopg", None),
    ("MariaDB 10.11", "MySQL", None),
    ("valkey:8", "Redis", None),
    ("pg@8.11.3", "PostgreSQL", None),
    ("redis==5.0.1", "Redis", None),
    ("REST API v2", "HTTP", None),
    ("react@npm:@preact/compat@17", "React", None),
]

UNDER = [
    ("React", "18.2.0", "18.2.0", "as given"),
    ("React", "React 19", "19", "the name again"),
    ("react", "npm:react@18.2.0", "18.2.0", "an alias of itself"),
    ("react", "npm:@preact/compat@17.1.0", None, "another package under React's name"),
    ("React", "Vue 3", None, "another technology's version"),
    ("Node.js", "npm 10", None, "another technology's version"),
    ("Docker", "Docker Compose version v2.24.5", None, "another technology's version"),
    ("React", "next", None, "a tag, not Next.js"),
    ("react@17", "18.2.0", "18.2.0", "what is said apart from the name holds"),
    ("react@17", "", "17", "nothing else is said"),
    ("PostgreSQL", "PostgreSQL 16.3 (Debian 16.3-1)", "16.3 (Debian 16.3-1)", "the name again"),
    ("Python", "py312", "3.12", "a linter's setting"),
    ("ECMAScript", "ES6", "2015", "an edition by its number"),
    ("JavaScript", "ES2022", None, "ECMAScript's edition"),
    ("Java", "1.8.0_392", "8", "Java before 9"),
    ("MySQL", "10.11.6-MariaDB", None, "a fork"),
    ("psycopg2", "2.9.9", "2.9.9", "psycopg before 3"),
    ("psycopg2-binary", "2.9.9", "2.9.9", "psycopg before 3"),
    ("pg", "^8.11.3", None, "npm's client for PostgreSQL"),
    ("pg", "16", "16", "no client has come so far"),
    ("postgres", "^3.4.4", None, "npm's client for PostgreSQL"),
    ("mysql", "2.18.1", None, "npm's client for MySQL"),
    ("mysql", "8.0.36", "8.0.36", "no client has come so far"),
    ("mysql2", "3.9.2", None, "npm's client for MySQL"),
    ("redis", "5.0.1", None, "a client of PyPI and npm, or the server"),
    ("redis", "^4.6.13", None, "npm's client"),
    ("redis", "7", "7", "written by hand"),
    ("Redis", "7.2.4", "7.2.4", "no package is written with a capital"),
    ("kubernetes", "29.0.0", None, "PyPI's client"),
    ("kubernetes", "1.29", "1.29", "no client's number"),
    ("docker", "7.0.0", None, "PyPI's client"),
    ("docker", "24.0.7", "24.0.7", "no client has come so far"),
    ("py", "1.11.0", None, "a package that pytest used to need"),
    ("mock", "5.1.0", None, "PyPI's copy of unittest.mock"),
    ("@reduxjs/toolkit", "2.2.1", None, "numbered apart from Redux"),
    ("@prisma/client", "5.1.0", "5.1.0", "unknown, and judged by nothing"),
]


@pytest.mark.parametrize(("name", "spelling"), [(name, spelling) for name, row in NAMES for spelling in row])
def test_spelling_names_its_technology(name: str, spelling: str) -> None:
    """Aliases, packages and their places in a lockfile are the technology."""
    assert canonical_name(spelling) == name


@pytest.mark.parametrize(
    ("name", "technology"),
    [("React Native 0.73", "React"), ("SQL Server 2022", "PostgreSQL"), ("asyncpg", "psycopg"), ("mongo:7", "MySQL")],
)
def test_technology_beside_another_is_one_of_its_own(name: str, technology: str) -> None:
    """What is near a technology by name or by use has its own name, and so its own versions."""
    assert canonical_name(name) not in (None, technology)


@pytest.mark.parametrize(("name", "because"), UNKNOWN_NAMES)
def test_likeness_of_a_name_is_not_the_technology(name: str, because: str) -> None:
    """A package whose name begins with a technology's is another thing."""
    assert canonical_name(name) is None, because


@pytest.mark.parametrize(("text", "name", "version"), WITH_VERSION)
def test_name_gives_the_version_written_in_it(text: str, name: str, version: str | None) -> None:
    """The version is the technology's own: that of a fork or a client is none."""
    assert (canonical_name(text), read_name(text).version) == (name, version)


@pytest.mark.parametrize(("name", "version", "meant", "because"), UNDER)
def test_version_counts_when_it_is_the_technology_s(name: str, version: str, meant: str | None, because: str) -> None:
    """A version under a name is taken unless it is of something else."""
    assert version_under(name, version) == meant, because


def test_every_canonical_name_is_read_as_itself() -> None:
    """Records name technologies by these."""
    assert {name: canonical_name(name) for name in TECHNOLOGIES} == {name: name for name in TECHNOLOGIES}


def test_prose_does_not_name_packages() -> None:
    """Words of running text are compared with names and aliases, not with what stands in lockfiles."""
    assert (known_key("reactjs"), known_key("ioredis"), known_key("python3.12"), known_key("react 18")) == (
        "react",
        None,
        None,
        None,
    )


def test_what_a_technology_is_built_on_is_found_under_any_spelling() -> None:
    """Next.js 14 is built on React."""
    assert "react" in foundations(technology_key("next@14.1.0"))


PIECES = st.lists(st.sampled_from(["react", "@", ":", "(", ")", "v", "18", "-", "/", "npm:", "==", "[", " "]))


@given(st.one_of(st.text(max_size=120), PIECES.map("".join)))
@settings(deadline=None)
def test_any_text_is_a_name_of_something(text: str) -> None:
    """No name and no version makes an error, and no version is longer than what it was read from."""
    assert technology_key(text) == read_name(text).key
    for name in (text, "React"):
        assert len(version_under(name, text) or "") <= len(text) + len("2015")


def test_every_rival_is_a_technology_that_is_known() -> None:
    """What one uses instead of something has to be recognised where it is named."""
    assert [name for group in GROUPS for name in group if canonical_name(name) is None] == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Oracle: add a NOT NULL column", {"oracle"}),
        ("our Spring Boot service on SQL Server", {"springboot", "sqlserver", "sql"}),
        ("spring cleaning of the server room", set()),
        ("the express lane, and go on", set()),
        ("EKS and react-query", {"kubernetes", "tanstackquery"}),
    ],
)
def test_text_mentions_technologies(text: str, keys: set[str]) -> None:
    """Names of one word and of two are seen, ordinary words are not."""
    assert set(technologies_in(text)) == keys
