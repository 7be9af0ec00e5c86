"""Python runs this first where its folder is on the path: it writes every trace span of the program into a file.

It stands in for a telemetry SDK with an exporter, which the project does not install: the program and its libraries
only know the API.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry import trace

_FILE = os.environ.get("RECORDED_SPANS")


class _Span(trace.NonRecordingSpan):
    """Writes whatever it is told."""

    def __init__(self, *told: object) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        _write("span", *told)

    def is_recording(self) -> bool:
        return True

    def set_attributes(self, attributes: Any) -> None:
        _write("attributes", attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        _write("attribute", key, value)

    def add_event(self, name: str, attributes: Any = None, timestamp: Any = None) -> None:
        _write("event", name, attributes, timestamp)

    def update_name(self, name: str) -> None:
        _write("name", name)

    def set_status(self, status: Any, description: Any = None) -> None:
        _write("status", getattr(status, "status_code", status), getattr(status, "description", description))

    def record_exception(self, exception: BaseException, *told: object, **more: object) -> None:
        _write("exception", repr(exception), told, more)


class _Tracer(trace.Tracer):
    def start_span(self, name: str, *told: object, **more: object) -> _Span:
        return _Span(name, told, more)

    @contextmanager
    def start_as_current_span(self, name: str, *told: object, **more: object) -> Iterator[_Span]:
        span = _Span(name, told, more)
        with trace.use_span(span):
            yield span


class _Provider(trace.TracerProvider):
    def get_tracer(self, *_told: object, **_more: object) -> _Tracer:
        return _Tracer()


def _write(*told: object) -> None:
    assert _FILE is not None
    with Path(_FILE).open("a", encoding="utf-8") as file:
        file.write(" ".join(map(str, told)) + "\n")


if _FILE is not None:
    trace.set_tracer_provider(_Provider())
    with trace.get_tracer("control").start_as_current_span("recorded-control-span"):
        pass
