"""Settings: read from the environment once, checked, and named for the person who runs the server."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from app.errors import SettingsError

PREFIX = "CHATCTX_"
_ORIGIN = re.compile(r"https?://[^\s/@]+")
_HOST = r"(?:[0-9A-Za-z][0-9A-Za-z._-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
_HOST_HEADER = re.compile(_HOST, re.ASCII)
# Editors and extensions have schemes of their own.
_ORIGIN_HEADER = re.compile(rf"[A-Za-z][0-9A-Za-z+.-]*://{_HOST}", re.ASCII)
# Taken without the prefix because every host and library already knows these names.
_UNPREFIXED = {"database_url": "DATABASE_URL"}


class Environment(StrEnum):
    """Where the server runs; production refuses demonstration records."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Settings(BaseModel):
    """Everything that can be set. The description is what `chatctx config` prints."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: Annotated[
        SecretStr | None,
        Field(description="PostgreSQL >= 15 with pgvector >= 0.8, the server's login. Unset: an embedded PostgreSQL."),
    ] = None
    owner_database_url: Annotated[
        SecretStr | None,
        Field(
            description="Login for migrations, publishing, keys. Unset: DATABASE_URL, and the server drops to its role."
        ),
    ] = None
    home: Annotated[
        Path,
        Field(description="Folder for the embedded database, the pepper and logs. Default: .chatctx in the checkout."),
    ] = Path(".chatctx")
    records: Annotated[Path, Field(description="Folder of record files and the ledger.")] = Path("records")
    host: Annotated[str, Field(description="Address to listen on.", min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(description="Port to listen on; 0 takes a free one.", ge=0, le=65535)] = 8080
    env: Annotated[Environment, Field(description="development or production.")] = Environment.DEVELOPMENT
    allow_demo_records: Annotated[
        bool, Field(description="Serve records signed as a demonstration set in production too.")
    ] = False
    public_url: Annotated[
        str | None,
        Field(description="Address by which clients reach the server: https://kb.example.org."),
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...],
        Field(description="Further Host values to answer to, comma-separated, with port unless standard."),
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...], Field(description="Browser origins allowed to call, comma-separated.")
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...], Field(description="Networks (CIDR) whose X-Forwarded-For is believed. Default: none.")
    ] = ()
    guest_access: Annotated[bool, Field(description="Answer callers without a key.")] = True
    guest_daily_quota: Annotated[int, Field(description="Tool calls per client address and UTC day.", ge=0)] = 250
    key_daily_quota: Annotated[
        int, Field(description="Tool calls per key and UTC day where the key has no quota of its own.", ge=0)
    ] = 10_000
    feedback_daily_cap: Annotated[
        int, Field(description="Feedback entries kept per UTC day over all callers.", ge=0)
    ] = 2000
    feedback_guest_quota: Annotated[
        int, Field(description="Feedback entries per client address and UTC day.", ge=0)
    ] = 20
    allowed_signers: Annotated[
        Path | None,
        Field(description="OpenSSH file of who may sign approvals with which key. A signature must then hold."),
    ] = None
    require_signatures: Annotated[
        bool, Field(description="Publish and serve only records whose approval one of the allowed signers signed.")
    ] = False
    signing_key: Annotated[
        Path | None, Field(description="SSH key, private or public with an agent, that `review approve` signs with.")
    ] = None
    verify_seconds: Annotated[
        int, Field(description="Seconds between two looks at every served record.", ge=1, le=300)
    ] = 60
    pepper_file: Annotated[
        Path | None,
        Field(
            description="File with the pepper for keys and addresses. Default: in CHATCTX_HOME, made on first start."
        ),
    ] = None
    embedder: Annotated[
        Literal["onnx", "sentence-transformers", "openai-compatible", "none"],
        Field(description="What turns text into vectors."),
    ] = "onnx"
    embedding_model: Annotated[
        str | None, Field(description="Model folder or name, for sentence-transformers and openai-compatible.")
    ] = None
    embedding_url: Annotated[
        str | None,
        Field(
            description="Endpoint of an openai-compatible service. Questions are sent to it.", pattern=r"^https?://\S+$"
        ),
    ] = None
    embedding_api_key: Annotated[SecretStr | None, Field(description="Its bearer key.")] = None
    embedding_timeout_ms: Annotated[
        int, Field(description="Longest wait for a question's vector before words alone are used.", ge=1, le=10_000)
    ] = 600
    embedding_cache: Annotated[int, Field(description="Vectors of questions kept in memory.", ge=0, le=100_000)] = 2048
    pool_size: Annotated[int, Field(description="Database connections of the server.", ge=1, le=100)] = 8
    max_concurrent_calls: Annotated[
        int, Field(description="Tool calls worked on at once; more wait briefly, then get 503.", ge=1, le=256)
    ] = 16
    call_timeout_ms: Annotated[int, Field(description="Longest time for one call.", ge=100, le=60_000)] = 2500
    max_streams: Annotated[int, Field(description="Open GET keep-alive streams.", ge=0, le=10_000)] = 64
    postgres_major: Annotated[Literal[16, 18], Field(description="Major version of the embedded PostgreSQL.")] = 18
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="Least severe log lines shown.")
    ] = "info"

    @field_validator("allowed_hosts", "allowed_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, value: str | None) -> str | None:
        if value is not None and not _ORIGIN.fullmatch(value):
            raise ValueError("give scheme and host, and a port if it is not the usual one; no path")
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_HOST_HEADER.fullmatch(part) for part in value):
            raise ValueError("give host or host:port as clients send it, in ASCII; no scheme, no path, no wildcard")
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_ORIGIN_HEADER.fullmatch(part) for part in value):
            raise ValueError("give scheme://host or scheme://host:port as browsers send it; no path, no wildcard")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in value:
            if ipaddress.ip_network(part, strict=False).prefixlen == 0:
                raise ValueError("the whole Internet cannot be trusted: name the proxies' networks")
        return value


@dataclass(frozen=True)
class SettingLine:
    """One line of `chatctx config`: variable, shown value (secrets masked), where it comes from, what it means."""

    variable: str
    value: str
    origin: Literal["environment", "default"]
    meaning: str


def variable_of(field: str) -> str:
    """Return the environment variable that sets a field."""
    return _UNPREFIXED.get(field, PREFIX + field.upper())


def read_settings(environ: Mapping[str, str], *, base: Path) -> Settings:
    """Read settings from an environment; relative folders are taken from `base`.

    Raises:
        SettingsError: a variable is unknown (with the nearest valid name) or its value cannot be used. Values are not
            repeated.
    """
    _refuse_unknown(environ)
    given = {
        field: environ[variable_of(field)]
        for field in Settings.model_fields
        if environ.get(variable_of(field), "") != ""
    }
    try:
        settings = Settings.model_validate(_coerced(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        variable = variable_of(str(first["loc"][0]))
        raise SettingsError(f"{variable}: {first['msg'].removeprefix('Value error, ')}") from error
    return settings.model_copy(
        update={name: (base / getattr(settings, name)).absolute() for name in ("home", "records")}
    )


def describe_settings(settings: Settings, environ: Mapping[str, str]) -> list[SettingLine]:
    """Return every setting for display, secrets masked, in the order of the class."""
    lines = []
    for field, info in Settings.model_fields.items():
        variable = variable_of(field)
        origin: Literal["environment", "default"] = "environment" if environ.get(variable) else "default"
        lines.append(SettingLine(variable, _shown(getattr(settings, field)), origin, info.description or ""))
    return lines


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    valid = {variable_of(field) for field in Settings.model_fields}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in valid:
            near = difflib.get_close_matches(name, valid, 1, cutoff=0.0)
            raise SettingsError(f"{name} is not a setting: did you mean {near[0]}?", details={"variable": name})


def _coerced(given: Mapping[str, str]) -> dict[str, Any]:
    """Turn the text of integer choices into integers, which a Literal does not do by itself."""
    values: dict[str, Any] = dict(given)
    if values.get("postgres_major", "").isdecimal():
        values["postgres_major"] = int(values["postgres_major"])
    return values


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return "********"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
