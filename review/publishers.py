"""Whose word a web address is: the vendors and standards bodies whose own text counts as primary, and its licences.

Keys are a host, or a host with a path where a host carries more than one voice. An address belongs to its longest
key. Licences are the SPDX identifiers (or the names below) under which the publisher's documentation is offered at
that address, as read in the licence file or the site's notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Publisher:
    """A publisher that speaks for itself at an address; no licences means that none has been looked up."""

    name: str
    licences: frozenset[str] = frozenset()


def _publisher(name: str, *licences: str) -> Publisher:
    return Publisher(name, frozenset(licences))


_W3C = _publisher(
    "W3C", "W3C-20150513", "W3C-19990505", "W3C", "LicenseRef-W3C-Document", "LicenseRef-W3C-Software-and-Document"
)
_IETF = _publisher("IETF", "IETF-Trust", "LicenseRef-IETF-Trust")
_OWASP = _publisher("OWASP", "CC-BY-SA-4.0")

PUBLISHERS: Mapping[str, Publisher] = {
    "12factor.net": _publisher("Twelve-Factor App", "MIT"),
    "adr.github.io": _publisher("MADR", "MIT", "CC0-1.0"),
    "alembic.sqlalchemy.org": _publisher("Alembic", "MIT"),
    "aws.amazon.com/builders-library": _publisher("Amazon Web Services"),
    "cheatsheetseries.owasp.org": _OWASP,
    "csrc.nist.gov": _publisher("NIST", "LicenseRef-US-Public-Domain"),
    "datatracker.ietf.org": _IETF,
    "design-system.service.gov.uk": _publisher("GOV.UK Design System", "OGL-UK-3.0", "MIT"),
    "developer.hashicorp.com": _publisher("HashiCorp", "MPL-2.0", "LicenseRef-HashiCorp"),
    "developer.mozilla.org": _publisher("MDN", "CC-BY-SA-2.5"),
    "docs.astral.sh": _publisher("Astral", "MIT", "Apache-2.0"),
    "docs.aws.amazon.com": _publisher("Amazon Web Services", "CC-BY-SA-4.0"),
    "docs.celeryq.dev": _publisher("Celery", "CC-BY-SA-4.0", "BSD-3-Clause"),
    "docs.djangoproject.com": _publisher("Django", "BSD-3-Clause"),
    "docs.docker.com": _publisher("Docker", "Apache-2.0"),
    "docs.github.com": _publisher("GitHub", "CC-BY-4.0"),
    "docs.npmjs.com": _publisher("npm", "CC-BY-4.0"),
    "docs.pydantic.dev": _publisher("Pydantic", "MIT"),
    "docs.pytest.org": _publisher("pytest", "MIT"),
    "docs.python.org": _publisher("Python Software Foundation", "PSF-2.0", "Python-2.0"),
    "docs.redis.com": _publisher("Redis"),
    "docs.sqlalchemy.org": _publisher("SQLAlchemy", "MIT"),
    "eslint.org": _publisher("ESLint", "MIT"),
    "expressjs.com": _publisher("Express", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    "fastapi.tiangolo.com": _publisher("FastAPI", "MIT"),
    "flask.palletsprojects.com": _publisher("Flask", "BSD-3-Clause"),
    "genai.owasp.org": _OWASP,
    "git-scm.com": _publisher("Git", "GPL-2.0-only", "MIT", "CC-BY-NC-SA-3.0"),
    "github.com/Kludex/starlette": _publisher("Starlette", "BSD-3-Clause"),
    "github.com/docker": _publisher("Docker", "Apache-2.0"),
    "github.com/encode": _publisher("Encode Starlette HTTPX uvicorn", "BSD-3-Clause"),
    "github.com/httpwg": _IETF,
    "github.com/ietf-wg-httpapi": _IETF,
    "github.com/nodejs": _publisher("Node.js", "MIT"),
    "github.com/open-telemetry": _publisher("OpenTelemetry", "Apache-2.0", "CC-BY-4.0"),
    "github.com/postgres": _publisher("PostgreSQL", "PostgreSQL"),
    "github.com/python": _publisher("Python", "PSF-2.0", "LicenseRef-GitHub-Terms"),
    "go.dev": _publisher("Go", "CC-BY-4.0", "BSD-3-Clause"),
    "google.aip.dev": _publisher("Google AIP", "CC-BY-4.0"),
    "google.github.io/eng-practices": _publisher("Google", "CC-BY-3.0"),
    "grpc.io": _publisher("gRPC", "CC-BY-4.0"),
    "html.spec.whatwg.org": _publisher("WHATWG", "CC-BY-4.0"),
    "httpwg.org": _IETF,
    "hypothesis.readthedocs.io": _publisher("Hypothesis", "MPL-2.0"),
    "jestjs.io": _publisher("Jest", "MIT"),
    "kubernetes.io": _publisher("Kubernetes", "CC-BY-4.0"),
    "microsoft.github.io/code-with-engineering-playbook": _publisher("Microsoft", "CC-BY-4.0"),
    "modelcontextprotocol.io": _publisher("Model Context Protocol", "MIT", "CC-BY-4.0"),
    "nextjs.org": _publisher("Next.js", "MIT"),
    "nginx.org": _publisher("nginx", "BSD-2-Clause"),
    "nodejs.org": _publisher("Node.js", "MIT", "LicenseRef-Nodejs-Learn"),
    "opensource.zalando.com": _publisher("Zalando", "CC-BY-4.0"),
    "opentelemetry.io": _publisher("OpenTelemetry", "CC-BY-4.0"),
    "owasp.org": _OWASP,
    "packaging.python.org": _publisher("Python Packaging Authority PyPA", "CC-BY-SA-3.0"),
    "peps.python.org": _publisher("Python Software Foundation", "CC0-1.0", "LicenseRef-Public-Domain"),
    "pip.pypa.io": _publisher("pip", "MIT"),
    "playwright.dev": _publisher("Playwright", "Apache-2.0"),
    "pnpm.io": _publisher("pnpm", "MIT"),
    "prometheus.io": _publisher("Prometheus", "Apache-2.0"),
    "pubs.opengroup.org": _publisher("The Open Group"),
    "react.dev": _publisher("React", "CC-BY-4.0"),
    "redis.io": _publisher("Redis", "CC-BY-SA-4.0", "LicenseRef-Redis-Docs"),
    "redux-toolkit.js.org": _publisher("Redux", "MIT"),
    "redux.js.org": _publisher("Redux", "MIT"),
    "sre.google": _publisher("Google SRE", "CC-BY-NC-ND-4.0"),
    "starlette.dev": _publisher("Starlette", "BSD-3-Clause"),
    "tanstack.com": _publisher("TanStack", "MIT"),
    "tc39.es": _publisher("ECMA", "LicenseRef-Ecma"),
    "testing-library.com": _publisher("Testing Library", "MIT"),
    "typing.python.org": _publisher("Python Software Foundation", "PSF-2.0"),
    "url.spec.whatwg.org": _publisher("WHATWG", "CC-BY-4.0"),
    "uvicorn.dev": _publisher("uvicorn", "BSD-3-Clause"),
    "vite.dev": _publisher("Vite", "MIT"),
    "vitest.dev": _publisher("Vitest", "MIT"),
    "vuejs.org": _publisher("Vue", "CC-BY-4.0"),
    "www.hypothesis.works": _publisher("Hypothesis", "MPL-2.0"),
    "www.iana.org": _publisher("IANA", "CC0-1.0"),
    "www.ietf.org": _IETF,
    "www.postgresql.org": _publisher("PostgreSQL", "PostgreSQL"),
    "www.psycopg.org": _publisher("psycopg", "LGPL-3.0-only", "LGPL-3.0-or-later"),
    "www.python-httpx.org": _publisher("HTTPX", "BSD-3-Clause"),
    "www.rfc-editor.org": _IETF,
    "www.starlette.io": _publisher("Starlette", "BSD-3-Clause"),
    "www.typescriptlang.org": _publisher("Microsoft TypeScript", "CC-BY-4.0", "Apache-2.0"),
    "www.uvicorn.org": _publisher("uvicorn", "BSD-3-Clause"),
    "www.w3.org": _W3C,
    "zod.dev": _publisher("Zod", "MIT"),
}


# What is drawn alike in the letters of an address line.
_SHAPES = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("1", "l"), ("i", "l"), ("0", "o"), ("-", ""))
_LONG_HOST = 10


def publisher_of(url: str, publishers: Mapping[str, Publisher]) -> Publisher | None:
    """Return the publisher whose own address this is, or None for one that is not listed or no address at all."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    place = f"{parts.hostname or ''}{parts.path}".rstrip("/")
    while place:
        if place in publishers:
            return publishers[place]
        place = place.rpartition("/")[0]
    return None


def imitated(url: str, publishers: Mapping[str, Publisher]) -> str | None:
    """Return the listed host that an unlisted one is mistaken for: a letter away, drawn alike, or carrying it."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    hosts = {place.split("/")[0] for place in publishers}
    if host in hosts:
        return None
    return next((known for known in sorted(hosts) if _is_alike(host, known)), None)


def _is_alike(host: str, known: str) -> bool:
    if f".{known}." in f".{host}.":
        return not host.endswith(f".{known}")
    one, other = _drawn(host), _drawn(known)
    # In a short name, one letter makes another name.
    return one == other or (len(known) >= _LONG_HOST and _one_edit_apart(one, other))


def _drawn(host: str) -> str:
    for shape, letter in _SHAPES:
        host = host.replace(shape, letter)
    return host


def _one_edit_apart(one: str, other: str) -> bool:
    """Tell whether one letter added, dropped or changed makes one of the other."""
    shorter, longer = sorted((one, other), key=len)
    start = next((place for place, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    rest = longer[start + 1 :]
    return len(longer) - len(shorter) <= 1 and rest in (shorter[start:], shorter[start + 1 :])
