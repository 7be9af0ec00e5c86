"""Every error a caller can meet, each with a stable code.

Anything that is not an `AppError` is a defect: the caller sees `internal_error`, the log gets the exception's type
and place without the caller's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import ClassVar, Self


class AppError(Exception):
    """An error whose message is safe to show: it never repeats what the caller sent.

    Attributes:
        code: stable identifier, part of the public contract.
        message: one sentence for a person or an agent: what is wrong and what to do.
        details: JSON-serialisable facts about it (names of fields, limits), never input values.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = dict(details or {})

    def envelope(self) -> dict[str, object]:
        """Return the public error object, `{"error": {"code", "message", "details"}}`."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class InternalError(AppError):
    """Something of ours failed; the cause is in the log only."""

    code = "internal_error"


class InvalidInput(AppError):
    """An argument breaks the contract; `details["fields"]` names each field and its rule."""

    code = "validation_error"


class UnknownTool(AppError):
    """No operation has this name."""

    code = "unknown_tool"


class Unauthorized(AppError):
    """A credential was presented and is not valid. All causes look the same."""

    code = "unauthorized"


class Forbidden(AppError):
    """The Host or Origin is not one this server answers to."""

    code = "forbidden"


class QuotaExhausted(AppError):
    """The daily allowance is used up; `details["retry_after_seconds"]` says when it is renewed."""

    code = "quota_exhausted"


class FeedbackClosed(AppError):
    """Today's allowance for feedback is used up, for this caller or for all."""

    code = "feedback_closed"


class Unavailable(AppError):
    """A store we need cannot be reached in time; the same call may work shortly.

    Attributes:
        hint: what the operator should know and callers should not, such as which login was refused.
    """

    code = "unavailable"

    def __init__(self, message: str, *, details: Mapping[str, object] | None = None, hint: str = "") -> None:
        super().__init__(message, details=details)
        self.hint = hint


class SettingsError(AppError):
    """The environment holds a setting that is unknown or cannot be used."""

    code = "invalid_settings"


class PortTaken(AppError):
    """Another process listens where the server is to listen; the message says which, where that can be seen."""

    code = "port_taken"


class RecordError(AppError):
    """A record file cannot be read; the message names file, line and remedy."""

    code = "invalid_record"

    @classmethod
    def at(cls, path: PurePath, line: int, problem: str) -> Self:
        """Return the error for a place in `<topic>/<slug>.md`; the problem says what is wrong and what to do."""
        where = f"{path.parent.name}/{path.name}"
        return cls(f"{where}:{line}: {problem}", details={"file": where, "line": line})


class LedgerError(AppError):
    """The approval ledger is broken or does not belong to these records."""

    code = "invalid_ledger"


class ClusterError(AppError):
    """The embedded PostgreSQL cannot be started or used; the message says what to do."""

    code = "embedded_postgres"


class ArchiveError(AppError):
    """A backup cannot be written or read; the message says why."""

    code = "backup_failed"


class PassphraseError(AppError):
    """The owner's passphrase is wanted and was not given, or what is stored of it cannot be used."""

    code = "owner_passphrase"


class EmbeddingFailure(AppError):
    """The embedding model gave no usable vector; `reason` is one of the public degraded reasons."""

    code = "embedding_failed"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
