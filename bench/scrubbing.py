"""What is taken out of feedback, of what should be and of what should not, and how its time grows with the text.

    .venv/bin/python -m bench.scrubbing [--write]

Without --write the table is printed; with it, docs/reliability.md gets it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from app.scrub import scrub
from bench.blocks import write_block
from bench.feedback_samples import Sample, clean_comments, secret_samples, unseen_samples

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/reliability.md"
# What makes patterns like these slow, over and over: the beginning of a form, or what it may be made of.
PIECES = (
    "1", "1 ", "1.", "a@", "a.", "a-", "=", ":", "a:", "A a ", "v1.2.3.4,", "4111-", "+1 ", "00 49 ", "1:2:3:",
    "12 Aa ", "password=", "password: ", "token:", "cookie: a=b;", "Cookie:a=", "login -p ", "--token ", "-u a:",
    "user a/", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "eyJ", "eyJaaaaaaaa.", "sk-", "a1B-", "a1B.", "DE89 3704 ",
    "http://a:", "a://b:c", "x@y.", "/home/", "Bearer ", "authorization: ", "seed phrase: ", "abc ", "passphrase: a-",
)  # fmt: skip
SHORT, LONG = 1_000, 4_000
_REPEATS = 15


def share(samples: Sequence[Sample]) -> str:
    """Return of how many comments nothing private is left."""
    redacted = sum(not sample.survives_in(scrub(sample.comment).text) for sample in samples)
    return f"{redacted} of {len(samples)} redacted"


def changed(comments: Sequence[str]) -> str:
    """Return how many comments are not what they were."""
    return f"{sum(scrub(comment).text != comment for comment in comments)} of {len(comments)} changed"


def growth() -> str:
    """Return how much longer the worst text takes when it is four times as long, and what it then takes."""
    times = [(_seconds(piece, SHORT), _seconds(piece, LONG)) for piece in PIECES]
    most = max(long / short for short, long in times)
    slowest = max(short for short, _ in times) * 1000
    return f"{most:.1f} times as long at most; {slowest:.1f} ms for {SHORT:,} characters at most"


def table() -> str:
    """Return everything as a Markdown table."""
    rows = [
        ("comments with a credential or personal data, of forms that are looked for", share(secret_samples())),
        ("technical comments", changed(clean_comments())),
        ("comments with a credential or personal data, of other forms", share(unseen_samples())),
        (f"{LONG:,} characters instead of {SHORT:,}, the worst of {len(PIECES)} texts", growth()),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {what} | {result} |" for what, result in rows)])


def _seconds(piece: str, length: int) -> float:
    """Return the shortest time of several that a text of one piece over and over takes."""
    text = (piece * length)[:length]
    times = []
    for _ in range(_REPEATS):
        begun = time.process_time()
        scrub(text)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew docs/reliability.md")
    if parser.parse_args().write:
        write_block("scrubbing", table(), DOCUMENT, kind="reliability")
    else:
        print(table())


if __name__ == "__main__":
    main()
