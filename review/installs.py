"""Installations: of a package nobody here knows, from a place no registry vouches for, or giving the host away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from app.technologies import canonical_name
from review.prose import code_pieces, without_code
from review.traps import NEGATED, first, trap

_HOSTS = r"(?:github\.com|gitlab\.com|codeberg\.org|git\.kernel\.org|git\.postgresql\.org|localhost|127\.0\.0\.1)"
_REGISTRIES = r"(?:docker\.io|ghcr\.io|quay\.io|registry\.k8s\.io|public\.ecr\.aws|registry-1\.docker\.io|localhost)"
_CLIENT = (
    r"(?:psql|mysql|sqlite3|mongosh?|redis-cli|kubectl\s+apply|docker\s+load|crontab|patch|git\s+(?:am"
    r"|apply)|tclsh|lua|deno|bun|osascript|cmd)"
)
PLACES = trap(
    "an installation from a place that no registry vouches for",
    r"\b(?:curl|wget)\b(?![^\n|]*(?:localhost|127\.0\.0\.1))[^\n|]*https?://[^\n|]*\|\s*(?:sudo\s+)?" + _CLIENT + r"\b",
    r"\b(?:perl|ruby|php|lua|node|bun|deno|python[\d.]*)\s+(?:-\S+\s+)*-{0,2}(?:[erc]"
    r"|eval)\s*[\"'](?=[^\n]*https?://)[^\n]*\b(?:eval|exec|require"
    r"|include|loadstring|Function|import)\b",
    r"\bdeno\s+run\s+[^\n`]*https?://|\b(?:python[\d.]*|node|ruby|perl)\s+(?:-\S+\s+)*<\(",
    r"\bgit\s+clone\s+(?:-\S+\s+)*(?:https?://|ssh://|git@|git://)?(?!" + _HOSTS
    + r")[\w-]+(?:\.[\w-]+)+\S*[^\n`]*?(?:&&|;)[^\n`]*"
    r"(?:\bmake\b|\./|/\S+\.sh\b|\b(?:ba)?sh\s|\bnpm\s|\bpip\s|\bpython|\bcargo\s)",
    r"\b(?:pip[\dx.]*|npm|pnpm|yarn|uv|poetry|gem|conda)\s+config\s+(?:set\s+|add\s+|--\w+\s+)*\S*(?:index-url"
    r"|registry|index|channels?|source)\S*[\s=]+"
    r"[\"']?https?://(?!(?:pypi\.org|registry\.npmjs\.org|localhost|127\.))",
    r"\[\s*(?:[\w-]+=\S+\s+)*trusted\s*=\s*yes|\bsigned-by\s*=\s*/tmp|\bgpgcheck\s*=\s*0|--nogpgcheck\b"
    r"|--allow-untrusted\b",
    r"\bbrew\s+(?:install|tap)\s+(?:-\S+\s+)*(?!homebrew/)[\w.-]+/[\w.-]+(?:/[\w@.-]+)?|\beasy_install\s",
    r"\bhelm\s+(?:install|upgrade|pull|repo\s+add)\b[^\n`]*\s(?:oci://(?!" + _REGISTRIES + r")|https?://(?!" + _HOSTS
    + r"))\S+",
    r"\bdocker\s+(?:run|create)\b[^\n`]*(?:docker\.sock|--privileged\b[^\n`]*(?:-v|--mount|--pid)|--pid[= ]host\b"
    r"|-v\s*/:/)",
    r"\b(?:code|cursor|codium|windsurf)\s+--install-extension\s+(?!(?:ms-[\w-]+|dbaeumer|esbenp|github|redhat"
    r"|golang|rust-lang|charliermarsh|vitest)\.)\S+",
    r"\bdocker\s+(?:run|create|pull)\s+(?:-\S+\s+)*(?!" + _REGISTRIES + r"|" + _HOSTS
    + r")[\w-]+(?:\.[\w-]+)+(?::\d+)?/\S",
    r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?tee\s+(?:-a\s+)?/(?:etc|usr|root|opt)/",
    r"\b(?:curl|wget)\b[^\n`]*(?:;|&&)[^\n`]*\b(?:make\s+install|\./configure|setup\.py)\b",
    r"[\"'](?:pre|post)?install[\"']\s*:\s*[\"'][^\"'\n]*(?:https?://|\bcurl\b|\bwget\b|\beval\b|base64)",
    r"\b(?:curl|wget)\b[^\n]*\.git/hooks|\.git/hooks/\S+[^\n]*\b(?:curl|wget)\b|\b(?:curl|wget)\b[^\n]*\b(?:in|to"
    r"|into)\s+`?\S*(?:\.git/hooks|\.\w*rc\b|\.profile)",
    pardon=NEGATED,
)  # fmt: skip
_INSTALL = re.compile(
    r"\b(?P<tool>(?:uv\s+)?pip[\dx.]*\s+install|uv\s+(?:add|tool\s+install)|uvx|pipx\s+(?:run|install)"
    r"|poetry\s+add|(?:npm|pnpm|bun)\s+(?:install|i|add)"
    r"|yarn\s+(?:global\s+)?add|npx|bunx|gem\s+install|cargo\s+(?:b?install|binstall)|(?:brew|snap)\s+install"
    r"|npm\s+(?:exec|create|init)|conda\s+install)\b(?P<rest>[^\n`|;&)\"]*)"
)
_VALUED = re.compile(
    r"\s(?:-r|-c|-e|-i|-f|-t|-w|--requirement|--constraint|--(?:extra-)?index-url|--find-links|--prefix|--target"
    r"|--filter|--from|-p|--package|-v"
    r"|--version|--registry|--python|--features|--workspace|--channel)[\s=]\S+"
)
# The name, without its range or extras.
_NAME = re.compile(r"(?P<name>@[\w.-]+/[\w.-]+|[A-Za-z][\w.-]*[\w])(?:\[[\w,-]+\])?(?:@[\w^~.*<>=-]*|[=<>~!^].*)?$")
# In prose, "npm install fails" names no package; a word with such a mark in it may.
_MARKED = re.compile(r"[-_@\d]")
_QUOTES = "'\"`"
# In prose, behind the last name.
_STOPS = ".,:!?"
# The words behind the name are for the program.
_RUNNERS = ("npx", "bunx", "uvx", "pipx run", "npm exec", "npm create", "npm init")
_MADE_UP = re.compile(
    r"^(?:your|my|some|the|example|foo|bar|baz|package|pkg|name|left-pad|x|demo)\b|example|placeholder",
    re.IGNORECASE,
)
_KNOWN_LIST = """
    ajv alembic anyio argon2-cffi asyncpg attrs axe-core axios babel bcrypt black boto3 bundler c8 cargo-audit
    cargo-deny cargo-edit cargo-nextest celery certifi click concurrently cookiecutter coverage create-next-app
    create-react-app create-vite cross-env cryptography cyclonedx-bom cypress date-fns dayjs depcheck
    dependency-cruiser detect-secrets django dotenv drizzle-kit eslint esbuild express fastify flake8 freezegun
    gevent gitleaks gunicorn h2 helmet hiredis http-server httptools husky immer import-linter isort itsdangerous
    jinja2 jq jsdom json-server knip lefthook libpq lint-staged locust lodash lxml madge mkdocs msw mypy nanoid ncu
    nodemon npm-check-updates numpy nx openapi-typescript orjson pandas passlib pg pg-promise pgbouncer pillow pino
    pip pip-audit pip-compile pip-tools pipdeptree playwright pnpm poetry pre-commit prettier prisma psycopg
    psycopg2 psycopg2-binary publint pyjwt pylint pyright pytest-asyncio pytest-cov pytest-randomly pytest-xdist
    python-dotenv pytz pyyaml rails requests respx rimraf rollup rspec rubocop ruff safety scipy semantic-release
    semgrep sentry-sdk serve setuptools shellcheck shfmt sinon size-limit socket.io sphinx sqlx-cli squawk
    squawk-cli starlette stylelint supertest swr syncpack tini torch tox trio ts-node tsc tsup tsx turbo twine
    typedoc typer tzdata undici uuid uv uvicorn uvloop virtualenv vitest wait-on watchfiles webpack wheel wrangler
    ws yarn zod
"""
_KNOWN = frozenset(_KNOWN_LIST.split())
# Scopes that belong to one project.
_SCOPE_LIST = """
    @types/ @babel/ @eslint/ @typescript-eslint/ @testing-library/ @playwright/ @axe-core/ @tanstack/ @reduxjs/
    @nestjs/ @angular/ @vue/ @sveltejs/ @aws-sdk/ @opentelemetry/ @sentry/ @prisma/ @storybook/ @vitejs/ @vitest/
    @redocly/ @commitlint/ @changesets/ @octokit/ @modelcontextprotocol/ @hookform/ @fastify/ @stryker-mutator/
    @lhci/ @apollo/ @mui/ @cyclonedx/ @biomejs/ @arethetypeswrong/
"""
_KNOWN_SCOPES = tuple(_SCOPE_LIST.split())


def dubious_installs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is installed from nowhere known or is no known package, each with what is wrong with it."""
    place = first(text, PLACES)
    if place:
        yield PLACES.name, place
    code = "\n".join(code_pieces(text))
    unknown = next(chain(_unknown(code), filter(_MARKED.search, _unknown(without_code(text)))), None)
    if unknown:
        yield "an installation of a package that nobody here knows", unknown


def _unknown(text: str) -> Iterator[str]:
    for match in _INSTALL.finditer(text):
        if not NEGATED.search(text[max(0, match.start() - 80) : match.start()]):
            yield from (name for name in _packages(match["tool"], match["rest"]) if not _is_known(name))


def _packages(tool: str, arguments: str) -> Iterator[str]:
    """Yield the names of packages among the words behind `install`, up to the first that can be none."""
    for word in _VALUED.sub(" ", f" {arguments}").split():
        found = _NAME.fullmatch(word.strip(_QUOTES + _STOPS))
        if word.startswith("-"):
            continue
        if not found:
            return
        yield found["name"]
        if tool in _RUNNERS or word.rstrip(_QUOTES).endswith(tuple(_STOPS)):
            return


def _is_known(name: str) -> bool:
    plain = name.lower().replace("_", "-")
    return bool(
        plain in _KNOWN or plain.startswith(_KNOWN_SCOPES) or _MADE_UP.search(plain) or canonical_name(name) is not None
    )
