"""The newest major version of technologies, as far as somebody has looked it up. Data only.

When a major is raised here, its day goes into `since`, and `chatctx review stale` asks for a look at the records that
were last looked at before that day. What was there when the table was begun has no day: the records were written for
it. What is not in the table is not known, and `stale` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType


@dataclass(frozen=True)
class Major:
    """A major version.

    Attributes:
        newest: the newest release that is no prerelease.
        looked_up: the day it was looked up.
        where: the registry and the name of the package there.
        since: the day this major was first found; None when the table was begun with it.
    """

    newest: str
    looked_up: date
    where: str
    since: date | None = None

    @property
    def number(self) -> str:
        """The first number of the release."""
        return self.newest.partition(".")[0]


_BEGUN = date(2026, 12, 1)
MAJORS: Mapping[str, Major] = MappingProxyType(
    {
        name: Major(newest, _BEGUN, where)
        for name, newest, where in (
            ("Alembic", "1.20.1", "PyPI: alembic"),
            ("Celery", "5.7.0", "PyPI: celery"),
            ("ESLint", "10.15.0", "npm: eslint"),
            ("FastAPI", "0.165.0", "PyPI: fastapi"),
            ("HTTPX", "0.28.1", "PyPI: httpx"),
            ("Hypothesis", "6.170.17", "PyPI: hypothesis"),
            ("Jest", "30.5.2", "npm: jest"),
            ("Node.js", "26.10.0", "npm: node"),
            ("Playwright", "1.65.1", "npm: playwright"),
            ("Pydantic", "2.14.4", "PyPI: pydantic"),
            ("React", "19.3.1", "npm: react"),
            ("SQLAlchemy", "2.1.9", "PyPI: sqlalchemy"),
            ("Starlette", "1.10.0", "PyPI: starlette"),
            ("TypeScript", "7.0.2", "npm: typescript"),
            ("Vite", "8.4.0", "npm: vite"),
            ("Vitest", "5.1.2", "npm: vitest"),
            ("Vue", "3.5.45", "npm: vue"),
            ("Zod", "4.6.7", "npm: zod"),
            ("npm", "12.2.2", "npm: npm"),
            ("pytest", "9.2.0", "PyPI: pytest"),
        )
    }
)
