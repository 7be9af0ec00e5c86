"""What the edge costs: processor time of a tool call that finds nothing, against a bare JSON echo.

    .venv/bin/python -m bench.edge [--rounds 7] [--calls 3000]

Both run on the same uvicorn, httptools and uvloop, bound to one processor, and get the same bytes from a client bound
to another; rounds alternate, medians are compared. The product reads, checks, counts, answers and logs each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.edge.measuring import CALLS, ROUNDS, Line, measure

__all__ = ["CALLS", "ROUNDS", "Line", "measure", "render", "table"]


def table(rounds: int = ROUNDS, calls: int = CALLS) -> str:
    """Measure, and return the result as Markdown."""
    return render(measure(rounds, calls))


def render(lines: Sequence[Line]) -> str:
    """Return measurements as Markdown."""
    rows = [f"| {line.what} | {line.era} | {line.echo:.0f} | {line.own:.0f} | {line.ratio:.1f} |" for line in lines]
    head = ["| Tool call | Protocol | Echo, µs | Call, µs | Times the echo |", "| --- | --- | ---: | ---: | ---: |"]
    return "\n".join([*head, *rows])
