"""Maven, Go and plain dotted versions against constraints in their schemes; the last column says why.

Maven's rows agree with maven-artifact 3.9, Go's with golang.org/x/mod/semver.
"""

from __future__ import annotations

import pytest

from app.versions import InvalidConstraint, Scheme, Verdict, check_constraint, judge_version

SATISFIED, VIOLATED, UNKNOWN = Verdict.SATISFIED, Verdict.VIOLATED, Verdict.UNKNOWN

MAVEN = [
    ("3.5.1", "[3.0,4.0)", SATISFIED, "inside"),
    ("3.0", "[3.0,4.0)", SATISFIED, "a square bracket takes the end in, whatever 3.0.x is meant"),
    ("4.0.0", "[3.0,4.0)", VIOLATED, "a round bracket leaves the end out"),
    ("4.0.0", "[3.0,4.0]", SATISFIED, "missing components are zeros"),
    ("4.0.1", "[3.0,4.0]", VIOLATED, "above"),
    ("3.0.0", "(3.0,4.0)", VIOLATED, "a round bracket leaves the end out"),
    ("99.0.0", "[3.0,)", SATISFIED, "no upper end"),
    ("0.9.0", "(,1.0]", SATISFIED, "no lower end"),
    ("3.0.0", "[3.0]", SATISFIED, "that release"),
    ("3.0.1", "[3.0]", VIOLATED, "not that release"),
    ("1.1.0", "(,1.0],[1.2,)", VIOLATED, "in the gap"),
    ("1.5.0", "(,1.0],[1.2,)", SATISFIED, "the second interval"),
    ("1.1.0", "(,1.1),(1.1,)", VIOLATED, "the one left out"),
    ("3.0.0.Final", "[3.0,4.0)", SATISFIED, "Final is the release"),
    ("4.0.0.RELEASE", "[3.0,4.0]", SATISFIED, "RELEASE is the release"),
    ("3.0.0-SNAPSHOT", "[3.0,4.0)", VIOLATED, "a snapshot precedes its release"),
    ("3.0.0-M1", "[3.0,4.0)", VIOLATED, "a milestone precedes its release"),
    ("3.0.0-rc-1", "[3.0,4.0)", VIOLATED, "a release candidate precedes its release"),
    ("4.0.0-rc-1", "[3.0,4.0)", SATISFIED, "Maven leaves prereleases of the upper end in"),
    ("33.0.0-jre", "[33.0,)", SATISFIED, "an unknown qualifier follows the release"),
    ("33.0.0-jre", "(,33.0]", VIOLATED, "an unknown qualifier follows the release"),
    ("3", "[3.0,4.0)", SATISFIED, "every 3.x"),
    ("3", "[3.2,)", UNKNOWN, "3.1 is outside, 3.2 inside"),
    ("[3.0,3.5)", "[3.0,4.0)", SATISFIED, "a range of a pom"),
    ("[3.1]", "[3.0,4.0)", SATISFIED, "a hard requirement of a pom"),
    ("(,2.0]", "[3.0,4.0)", VIOLATED, "nothing in common"),
    ("v3.2.1", "[3.0,4.0)", SATISFIED, "a tag's v"),
]

GO = [
    ("go1.22.3", ">=1.22", SATISFIED, "as go.mod's toolchain line and `go env` write it"),
    ("v1.22.0", ">=1.22", SATISFIED, "as a module's tag"),
    ("1.22", ">=1.22", SATISFIED, "as go.mod's go line"),
    ("1.22", ">=1.22.1", UNKNOWN, "1.22.0 is outside, 1.22.1 inside"),
    ("1.21", ">=1.22", VIOLATED, "below"),
    ("1.21.13", ">=1.22", VIOLATED, "the patches of an older line stay below"),
    ("1.9.7", ">=1.10", VIOLATED, "numbers are compared as numbers"),
    ("go1.22rc1", ">=1.22", VIOLATED, "a release candidate precedes its release"),
    ("go1.22rc1", ">=1.21", SATISFIED, "and follows what was before"),
    ("go1.23rc1", "<1.23", VIOLATED, "a release candidate of 1.23 is none of what was before 1.23"),
    ("go version go1.22.3 linux/amd64", ">=1.22", SATISFIED, "what `go version` says"),
    ("golang:1.22-alpine", ">=1.22", SATISFIED, "an image"),
    ("1.22.3-bookworm", ">=1.22.3", SATISFIED, "an image's tag"),
    ("v2.0.0+incompatible", ">=2", SATISFIED, "a mark, not part of the order"),
    ("v1.2.4-0.20191109021931-daa7c04131f5", ">=1.2.3", SATISFIED, "a pseudo-version follows the tag before it"),
    ("v1.2.4-0.20191109021931-daa7c04131f5", ">=1.2.4", VIOLATED, "and precedes the next"),
    ("v0.0.0-20191109021931-daa7c04131f5", ">=0.1", VIOLATED, "a pseudo-version before any tag"),
    ("v1.5.0-beta.1", ">=1.5.0", VIOLATED, "a prerelease precedes its release"),
    ("1.22.x", ">=1.22", SATISFIED, "a continuous integration's setting"),
    ("stable", ">=1.22", UNKNOWN, "a continuous integration's setting that names none"),
]

DOTTED = [
    ("16", ">=15", SATISFIED, "every 16.x"),
    ("16.3", ">=15", SATISFIED, "inside"),
    ("14.11", ">=15", VIOLATED, "below"),
    ("9.6.24", ">=15", VIOLATED, "numbers are compared as numbers"),
    ("16", ">=16.2", UNKNOWN, "16.1 is outside, 16.2 inside"),
    ("15", ">=12,<16", SATISFIED, "every 15.x"),
    ("Postgres 15.4", ">=15", SATISFIED, "a name before the number"),
    ("PostgreSQL 16.3 (Debian 16.3-1)", ">=16.3", SATISFIED, "what the server says of itself"),
    ("PostgreSQL 16.3 on aarch64-unknown-linux-gnu, compiled by gcc", ">=16.3", SATISFIED, "what `version()` says"),
    ("psql (PostgreSQL) 16.3", ">=15", SATISFIED, "what `psql --version` says"),
    ("16.3-1.pgdg120+1", ">=16.3", SATISFIED, "a distribution's package"),
    ("postgres:16-alpine", ">=15", SATISFIED, "an image"),
    ("17beta1", ">=17", VIOLATED, "a beta precedes its release"),
    ("17 beta 1", ">=16", SATISFIED, "and follows what was before"),
    ("17beta1", "<17", VIOLATED, "a beta of 17 is none of what was before 17"),
    ("17devel", ">=16", SATISFIED, "the development branch"),
    ("v1.29.1-eks-508b6b3", ">=1.29", SATISFIED, "a vendor's build of the release"),
    ("1.29.1-gke.100", ">=1.29.1", SATISFIED, "a vendor's build of the release"),
    ("v1.28.5+k3s1", ">=1.29", VIOLATED, "below, whoever built it"),
    ("1.29", ">=1.29", SATISFIED, "every 1.29.x"),
    ("~> 1.5", ">=1.1", SATISFIED, "Terraform's constraint"),
    ("~> 1.5.0", "<1.6", SATISFIED, "Terraform's constraint keeps the minor version"),
    ("Docker version 24.0.7, build afdd53b", ">=20.10", SATISFIED, "what `docker --version` says"),
    ("git version 2.43.0.windows.1", ">=2.30", SATISFIED, "what `git --version` says"),
    ("git version 2.39.3 (Apple Git-146)", ">=2.30", SATISFIED, "what `git --version` says"),
    ("nginx/1.24.0", ">=1.20", SATISFIED, "what a Server header says"),
    ("mysql  Ver 8.0.36 for Linux on x86_64", ">=8", SATISFIED, "what `mysql --version` says"),
    ("8.0.36-0ubuntu0.22.04.1", ">=8.0.36", SATISFIED, "a distribution's package"),
    ("7.2.4-1", ">=7.2.4", SATISFIED, "a package's revision"),
    ("ES2022", ">=2022", SATISFIED, "an edition"),
    ("ES2021", ">=2022", VIOLATED, "an older edition"),
    ("2025-06-18", ">=2025.3.26", SATISFIED, "a date as a version"),
    ("2.2", ">=2.1", SATISFIED, "a standard's version"),
    (">=15", ">=15", SATISFIED, "the constraint itself"),
    ("15+", ">=16", UNKNOWN, "15 is outside, 16 inside"),
]


@pytest.mark.parametrize(
    ("scheme", "version", "constraint", "verdict", "because"),
    [
        (scheme, *row)
        for scheme, rows in ((Scheme.MAVEN, MAVEN), (Scheme.GO, GO), (Scheme.GENERIC, DOTTED))
        for row in rows
    ],
    ids=str,
)
def test_version_is_judged_in_the_order_of_its_scheme(
    scheme: Scheme, version: str, constraint: str, verdict: Verdict, because: str
) -> None:
    """A version is satisfied or violated only when everything it may mean agrees."""
    assert judge_version(version, constraint, scheme) is verdict, because


@pytest.mark.parametrize(
    ("constraint", "scheme"),
    [
        ("banana", Scheme.NPM),
        ("", Scheme.NPM),
        ("18 ||", Scheme.NPM),
        (">=16.8,<19", Scheme.NPM),
        ("!=18", Scheme.NPM),
        ("1.2.3.4", Scheme.NPM),
        ("[1.0,2.0)", Scheme.NPM),
        ("16.8", Scheme.PEP440),
        ("^2.0", Scheme.PEP440),
        ("", Scheme.PEP440),
        (">=2 || >=3", Scheme.PEP440),
        (">=1 foo", Scheme.GENERIC),
        (">=one", Scheme.GO),
        (">=go1.22", Scheme.GO),
        ("3.0", Scheme.MAVEN),
        (">=3.0", Scheme.MAVEN),
        ("[3.0", Scheme.MAVEN),
        ("[4.0,3.0]", Scheme.MAVEN),
        ("[3.0,4.0),[3.5,5.0)", Scheme.MAVEN),
        ("banana", Scheme.MAVEN),
    ],
)
def test_constraint_outside_its_scheme_is_refused(constraint: str, scheme: Scheme) -> None:
    """A record cannot carry a constraint that no version could be compared with, and none is judged by one."""
    with pytest.raises(InvalidConstraint):
        check_constraint(constraint, scheme)
    assert judge_version("1.2.3", constraint, scheme) is UNKNOWN
