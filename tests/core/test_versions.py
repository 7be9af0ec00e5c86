"""Version constraints as agents and lockfiles meet them."""

from __future__ import annotations

import pytest

from app.versions import InvalidConstraint, Scheme, Verdict, check_constraint, judge_version

SATISFIED, VIOLATED, UNKNOWN = Verdict.SATISFIED, Verdict.VIOLATED, Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("version", "constraint", "scheme", "verdict"),
    [
        ("15.0", ">=16.8", Scheme.NPM, VIOLATED),
        ("18.2.0", ">=16.8", Scheme.NPM, SATISFIED),
        ("18.2.0", "^18 || ^19", Scheme.NPM, SATISFIED),
        ("17.0.2", "^18 || ^19", Scheme.NPM, VIOLATED),
        ("v18.2", "^18", Scheme.NPM, SATISFIED),
        ("18", ">=16.8", Scheme.NPM, SATISFIED),
        ("16", ">=16.8", Scheme.NPM, UNKNOWN),
        ("16", ">=16.8 <16.9", Scheme.NPM, UNKNOWN),
        ("^18.2.0", ">=16.8", Scheme.NPM, SATISFIED),
        ("~1.2.3", ">=1.2.5", Scheme.NPM, UNKNOWN),
        ("18.x", ">=18", Scheme.NPM, SATISFIED),
        ("18.0.0-rc.1", ">=18", Scheme.NPM, VIOLATED),
        ("19.0.0-rc.1", ">=18", Scheme.NPM, SATISFIED),
        ("5.4.5", ">=5.4", Scheme.SEMVER, SATISFIED),
        ("2.1.9", ">=2.0,<3", Scheme.PEP440, SATISFIED),
        ("2", ">=2.0,<3", Scheme.PEP440, SATISFIED),
        ("2.0.0b1", ">=2.0,<3", Scheme.PEP440, VIOLATED),
        ("1.4.54", ">=2.0", Scheme.PEP440, VIOLATED),
        ("~=2.0", ">=2.0,<3", Scheme.PEP440, SATISFIED),
        ("2.13.0+cpu", "==2.13.0", Scheme.PEP440, SATISFIED),
        ("3.5.1", "[3.0,4.0)", Scheme.MAVEN, SATISFIED),
        ("4.0", "[3.0,4.0)", Scheme.MAVEN, VIOLATED),
        ("go1.22.3", ">=1.22", Scheme.GO, SATISFIED),
        ("1.21", ">=1.22", Scheme.GO, VIOLATED),
        ("16", ">=15", Scheme.GENERIC, SATISFIED),
        ("Postgres 15.4", ">=15", Scheme.GENERIC, SATISFIED),
        ("14.11", ">=15", Scheme.GENERIC, VIOLATED),
        ("ES2022", ">=2022", Scheme.GENERIC, SATISFIED),
        ("ES2021", ">=2022", Scheme.GENERIC, VIOLATED),
        ("1.29", ">=1.29", Scheme.GENERIC, SATISFIED),
        ("latest", ">=15", Scheme.GENERIC, UNKNOWN),
        ("", ">=15", Scheme.GENERIC, UNKNOWN),
        ("banana", ">=16.8", Scheme.NPM, UNKNOWN),
        ("the one we have had since 18", ">=16.8", Scheme.NPM, UNKNOWN),
        ("18 || 19", ">=18", Scheme.NPM, SATISFIED),
        ("^18.2.0 || ^19", ">=16.8", Scheme.NPM, SATISFIED),
        ("^15 || ^16", ">=18", Scheme.NPM, VIOLATED),
        ("^16 || ^19", ">=18", Scheme.NPM, UNKNOWN),
        ("18 || latest", ">=18", Scheme.NPM, UNKNOWN),
        ("9" * 90, ">=18", Scheme.NPM, UNKNOWN),
        ("-1", ">=18", Scheme.NPM, UNKNOWN),
        ("١٨", ">=18", Scheme.NPM, UNKNOWN),
    ],
)
def test_version_is_judged_by_what_it_may_stand_for(
    version: str, constraint: str, scheme: Scheme, verdict: Verdict
) -> None:
    """A loose version is satisfied or violated only when everything it may mean agrees; nonsense is unknown."""
    assert judge_version(version, constraint, scheme) is verdict


@pytest.mark.parametrize(
    ("constraint", "scheme"),
    [
        ("banana", Scheme.NPM),
        ("16.8", Scheme.PEP440),
        (">=1 foo", Scheme.GENERIC),
        ("", Scheme.PEP440),
        (">=one", Scheme.GO),
    ],
)
def test_constraint_outside_its_scheme_is_refused(constraint: str, scheme: Scheme) -> None:
    """A record cannot carry a constraint that no version could be compared with."""
    with pytest.raises(InvalidConstraint):
        check_constraint(constraint, scheme)
