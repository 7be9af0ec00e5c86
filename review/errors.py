"""What the bench refuses to do."""

from __future__ import annotations

from app.errors import AppError


class Refused(AppError):
    """The bench will not do what was asked; the message says why and what would change that."""

    code = "refused"
