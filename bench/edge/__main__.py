"""Prints what the edge costs."""

from __future__ import annotations

import argparse

from bench.edge import CALLS, ROUNDS, table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Processor time of a tool call against a bare JSON echo.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of every server")
    parser.add_argument("--calls", type=int, default=CALLS, help="calls in each turn")
    arguments = parser.parse_args()
    print(table(arguments.rounds, arguments.calls))


if __name__ == "__main__":
    main()
