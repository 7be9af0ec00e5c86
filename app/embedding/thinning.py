"""What repeats in a pasted question: the frames of a trace, the lines of a log. Pure."""

from __future__ import annotations

import re

# A shorter question fits the model's window, however often it repeats itself.
LONG_CHARACTERS = 1000
# A shorter line costs nothing to keep.
_SHORT_LINE = 20
_NAME = re.compile(r"[\w./\\<>$@:-]+")


def thin(question: str) -> str:
    """Return a long question with the first and the last line of each shape, or a shorter question as it is.

    Lines have one shape when they differ in names, paths and numbers only. Nobody's format is known here: a frame of
    any language has the shape of the frame before it, and a message has a shape of its own.
    """
    if len(question) <= LONG_CHARACTERS:
        return question
    lines = question.splitlines()
    shapes = [_shape(line.strip(), place) for place, line in enumerate(lines)]
    last = {shape: place for place, shape in enumerate(shapes)}
    first = {shape: place for place, shape in reversed(list(enumerate(shapes)))}
    return "\n".join(lines[place] for place in sorted({*first.values(), *last.values()}))


def _shape(line: str, place: int) -> str:
    """Return what is left of a line without its names; a short line is of its own shape."""
    return _NAME.sub("w", line) if len(line) > _SHORT_LINE else str(place)
