"""Python versions: pins, manifests, lockfiles and images against PEP 440 constraints; the last column says why.

Releases agree with `packaging`.
"""

from __future__ import annotations

import pytest

from app.versions import Scheme, Verdict, judge_version

SATISFIED, VIOLATED, UNKNOWN = Verdict.SATISFIED, Verdict.VIOLATED, Verdict.UNKNOWN

RELEASES = [
    ("2.0.29", ">=2.0,<3", SATISFIED, "inside"),
    ("1.4.54", ">=2.0", VIOLATED, "below"),
    ("3.0.0", ">=2.0,<3", VIOLATED, "the upper end is open"),
    ("2.0.0", "==2.0", SATISFIED, "missing components are zeros"),
    ("2.0.1", "==2.0", VIOLATED, "== without a star is that release"),
    ("2.0.1", "==2.0.*", SATISFIED, "a prefix"),
    ("2.1.0", "==2.0.*", VIOLATED, "another prefix"),
    ("2.0.1", "!=2.0.1", VIOLATED, "left out"),
    ("2.0.2", "!=2.0.1", SATISFIED, "not the one left out"),
    ("2.9.1", "~=2.2", SATISFIED, "~=2.2 is >=2.2,==2.*"),
    ("3.0.0", "~=2.2", VIOLATED, "~=2.2 stays below 3"),
    ("2.2.9", "~=2.2.1", SATISFIED, "~=2.2.1 is >=2.2.1,==2.2.*"),
    ("2.3.0", "~=2.2.1", VIOLATED, "~=2.2.1 stays in 2.2"),
    ("1.7.1", ">1.7", SATISFIED, "> leaves out 1.7 and what is built of it only"),
    ("1.7.0.post1", ">1.7", VIOLATED, "> leaves out post releases of its own bound"),
    ("2.0.0.post1", ">=2.0", SATISFIED, "a post release follows its release"),
    ("2.13.0+cpu", "==2.13.0", SATISFIED, "a local version is ignored when the constraint has none"),
    ("1!2.0.0", ">=2", UNKNOWN, "an epoch orders versions anew; hardly anyone means it"),
    ("3.11.4", ">= 3.11, < 3.13", SATISFIED, "spaces"),
]

PRERELEASES = [
    ("2.0.0b1", ">=2.0,<3", VIOLATED, "a beta precedes its release"),
    ("2.0.0rc1", "<2.0", VIOLATED, "< leaves out prereleases of its own bound"),
    ("2.1.0.dev3", ">=2.0,<3", SATISFIED, "a development release inside"),
    ("2.0.0rc2", ">=2.0.0rc1", SATISFIED, "the constraint names a prerelease; rc2 follows rc1"),
    ("2.0.0b9", ">=2.0.0rc1", VIOLATED, "a beta precedes a release candidate"),
    ("3.13.0rc1", ">=3.13", VIOLATED, "a release candidate precedes its release"),
    ("3.13-rc-slim", ">=3.13", VIOLATED, "an image of a release candidate"),
    ("3.13-rc-slim", ">=3.12", SATISFIED, "above 3.12 all the same"),
    ("2.0b1", ">=2.0", VIOLATED, "a beta of 2.0.0"),
    ("2.0.0-nightly", ">=2.0", VIOLATED, "no form of PEP 440; a prerelease by its word"),
    ("2.1.0-nightly", ">=2.0,<3", SATISFIED, "inside by its release and by the one before"),
]

WRITTEN = [
    ("2", ">=2.0,<3", SATISFIED, "every 2.x"),
    ("2.0", "==2.0.*", SATISFIED, "every 2.0.x"),
    ("2.0", "==2.0", UNKNOWN, "2.0 in a sentence stands for 2.0.29 as well"),
    ("3", ">=3.11", UNKNOWN, "3.10 is outside, 3.11 inside"),
    ("3.12", ">=3.11", SATISFIED, "every 3.12.x"),
    ("3.8", ">=3.8.17", UNKNOWN, "3.8.16 is outside, 3.8.17 inside"),
    ("==2.0.29", ">=2.0.4", SATISFIED, "a pin of a requirements file"),
    ("===2.0.29", ">=2.0.4", SATISFIED, "a pin by identity"),
    ("==2.0", "==2.0", SATISFIED, "a pin of two components is that release"),
    ("==2.0.*", ">=2.0.4", UNKNOWN, "2.0.3 is outside, 2.0.4 inside"),
    ("==1.4.*", ">=2.0", VIOLATED, "every 1.4.x is below"),
    ("~=2.0", ">=2.0,<3", SATISFIED, "~=2.0 is 2.x"),
    ("~=2.0.4", "==2.0.*", SATISFIED, "~=2.0.4 stays in 2.0"),
    ("^2.0.4", ">=2.0.4,<3", SATISFIED, "Poetry's caret"),
    ("~2.0", "==2.0.*", SATISFIED, "Poetry's tilde"),
    (">=3.11", ">=3.9", SATISFIED, "requires-python"),
    (">=3.9", ">=3.11", UNKNOWN, "3.9 is allowed and outside"),
    (">=3.9,<3.11", ">=3.11", VIOLATED, "nothing in common"),
    (">=3.11,<4.0", ">=3.11", SATISFIED, "Poetry's python"),
    (">=3.9,!=3.9.7", ">=3.9", SATISFIED, "what is left out leaves the rest"),
    (">2.0", ">=2.0.1", SATISFIED, "the first release above 2.0 is 2.0.1"),
    ("==2.0.29 ; python_version >= '3.9'", ">=2.0.4", SATISFIED, "an environment marker"),
    ("3.12-slim", ">=3.11", SATISFIED, "an image's tag"),
    ("3.12.1-slim-bookworm", ">=3.12.1", SATISFIED, "an image's tag"),
    ("3.12-alpine3.19", "==3.12.*", SATISFIED, "an image's tag"),
    ("python:3.12-slim", ">=3.11", SATISFIED, "an image"),
    ("Python 3.12.1", ">=3.11", SATISFIED, "what `python --version` says"),
    ("3.11+", ">=3.11", SATISFIED, "3.11 or later"),
    ("3.12 or newer", ">=3.11", SATISFIED, "3.12 or later"),
    ("3.11.2-6+deb12u3", ">=3.11.2", SATISFIED, "Debian's package"),
    ("2.0.29 (cpu)", ">=2.0.4", SATISFIED, "a note in brackets"),
    ("2024.01.15", ">=2024.1.2", SATISFIED, "calendar versions, zeros in front or not"),
    ("[3.0,4.0)", ">=3,<4", SATISFIED, "an interval"),
]


@pytest.mark.parametrize(("version", "constraint", "verdict", "because"), [*RELEASES, *PRERELEASES, *WRITTEN], ids=str)
def test_python_version_is_judged_by_all_it_may_stand_for(
    version: str, constraint: str, verdict: Verdict, because: str
) -> None:
    """A version is satisfied or violated only when everything it may mean agrees."""
    assert judge_version(version, constraint, Scheme.PEP440) is verdict, because
