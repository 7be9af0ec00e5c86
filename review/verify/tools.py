"""What a runner gives to execution: software that runs a check's file, or the word that it is not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from review.verify.confinement import Ended, Program

Start = Callable[[Program], Ended]


@dataclass(frozen=True)
class Tool:
    """Software a check is run on.

    Attributes:
        run: runs the file with this name out of the given files. Raises NotAtHand when it cannot be had after all.
        pinned: the set of packages that the check named for it, empty when it named none.
        packages: versions of what it brings besides itself: pinned packages, programs.
    """

    name: str
    version: str
    run: Callable[[str, Mapping[str, bytes]], Ended]
    pinned: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Missing:
    """Software that is not there, and why: what could not be run has not passed.

    Attributes:
        version: its major version, where another one is asked too.
    """

    name: str
    reason: str
    pinned: str = ""
    version: str = ""
