"""npm and semantic versions: manifests, lockfiles, tags and images against npm constraints; the last column says why.

Every row without a word of our own in its version was compared with npm's `semver` 7.
"""

from __future__ import annotations

import pytest

from app.versions import Scheme, Verdict, judge_version

SATISFIED, VIOLATED, UNKNOWN = Verdict.SATISFIED, Verdict.VIOLATED, Verdict.UNKNOWN

RELEASES = [
    ("18.2.0", ">=16.8", SATISFIED, "above the lower bound"),
    ("16.8.0", ">=16.8", SATISFIED, "the bound itself"),
    ("16.7.9", ">=16.8", VIOLATED, "just below the bound"),
    ("17.0.2", ">16", SATISFIED, ">16 is >=17.0.0"),
    ("16.9.0", ">16", VIOLATED, ">16 leaves out every 16.x"),
    ("16.9.0", ">16.8", SATISFIED, ">16.8 is >=16.9.0"),
    ("16.8.5", ">16.8", VIOLATED, ">16.8 leaves out every 16.8.x"),
    ("16.9.0", "<=16", SATISFIED, "<=16 takes in every 16.x"),
    ("17.0.0", "<=16", VIOLATED, "<=16 is <17.0.0"),
    ("16.8.5", "16.8", SATISFIED, "a short version is an x-range"),
    ("16.9.0", "16.8", VIOLATED, "outside the x-range"),
    ("16.8.5", "16.8.x", SATISFIED, "x-range"),
    ("16.14.0", "16.*", SATISFIED, "x-range written with a star"),
    ("17.0.0", "16.x", VIOLATED, "outside the x-range"),
    ("18.9.1", "^18.2.0", SATISFIED, "a caret keeps the major version"),
    ("18.1.9", "^18.2.0", VIOLATED, "a caret has a lower bound"),
    ("19.0.0", "^18.2.0", VIOLATED, "a caret ends before the next major version"),
    ("0.2.9", "^0.2.3", SATISFIED, "a caret below 1 keeps the minor version"),
    ("0.3.0", "^0.2.3", VIOLATED, "a caret below 1 ends before the next minor version"),
    ("0.0.4", "^0.0.3", VIOLATED, "a caret below 0.1 means that patch only"),
    ("0.9.0", "^0", SATISFIED, "^0 is <1.0.0"),
    ("0.0.9", "^0.0", SATISFIED, "^0.0 is <0.1.0"),
    ("1.2.9", "~1.2.3", SATISFIED, "a tilde keeps the minor version"),
    ("1.3.0", "~1.2.3", VIOLATED, "a tilde ends before the next minor version"),
    ("1.9.0", "~1", SATISFIED, "~1 is 1.x"),
    ("2.3.4", "1.2.3 - 2.3", SATISFIED, "a short upper end of a hyphen range takes in its patches"),
    ("2.4.0", "1.2.3 - 2.3", VIOLATED, "above the hyphen range"),
    ("2.3.4", "1.2.3 - 2.3.4", SATISFIED, "both ends of a hyphen range belong to it"),
    ("1.2.2", "1.2.3 - 2.3.4", VIOLATED, "below the hyphen range"),
    ("19.1.0", "^18 || ^19", SATISFIED, "the second alternative"),
    ("17.0.2", "^18 || ^19", VIOLATED, "neither alternative"),
    ("18.5.0", "^18 || >=18.2", SATISFIED, "alternatives may overlap"),
    ("17.0.0", "^18 || >=18.2", VIOLATED, "outside overlapping alternatives"),
    ("22.20.0", "^22.18.0 || >=23.6.0", SATISFIED, "the first alternative"),
    ("23.1.0", "^22.18.0 || >=23.6.0", VIOLATED, "in the gap between the alternatives"),
    ("20.5.0", "<18 || >20", VIOLATED, ">20 is >=21.0.0"),
    ("17.0.0", ">=16 <18", SATISFIED, "both comparators hold"),
    ("18.0.0", ">=16 <18", VIOLATED, "the upper end is open"),
    ("17.5.0", ">=18 <17", VIOLATED, "comparators are an intersection, and this one is empty"),
    ("17.5.0", ">= 16.8", SATISFIED, "a space after the operator changes nothing"),
    ("18.2.0", "v18", SATISFIED, "a v before the number changes nothing"),
    ("18.2.0+build.5", "18.2.0", SATISFIED, "build metadata takes no part in the order"),
]

PRERELEASES = [
    ("19.0.0-rc.1", ">=18", SATISFIED, "above 18 by precedence, whatever npm would install"),
    ("18.0.0-rc.1", ">=18", VIOLATED, "a prerelease precedes its release"),
    ("18.0.0-rc.1", "^18", VIOLATED, "a prerelease precedes its release"),
    ("19.0.0-rc.1", "<19", VIOLATED, "<19 is <19.0.0-0: the prerelease is of 19 already"),
    ("19.0.0-rc.1", "^18", VIOLATED, "^18 is <19.0.0-0"),
    ("17.0.0-rc.1", "<=16", VIOLATED, "<=16 is <17.0.0-0"),
    ("18.3.0-canary.2", "^18.2", SATISFIED, "a prerelease inside the range"),
    ("1.2.3-beta.4", ">=1.2.3-beta.2 <2", SATISFIED, "the constraint names a prerelease; 4 is above 2"),
    ("1.2.3-beta.1", ">=1.2.3-beta.2 <2", VIOLATED, "1 is below 2"),
    ("1.2.3-alpha.9", "^1.2.3-beta.2", VIOLATED, "alpha precedes beta"),
    ("2.0.0-beta.1", "<2.0.0-rc.1", SATISFIED, "beta precedes rc"),
    ("2.0.0-rc.2", "<2.0.0-rc.1", VIOLATED, "rc.2 follows rc.1"),
    ("19.0.0-rc-66855b96-20241106", ">=18", SATISFIED, "React's own form of a prerelease"),
    ("19 rc", ">=19", VIOLATED, "a prerelease of 19.0.0 in words"),
    ("5.5.0-dev.20240501", ">=5.4", SATISFIED, "TypeScript's nightly build of 5.5"),
    ("0.0.0-experimental-4beb1fd", ">=16.8", VIOLATED, "0.0.0 is all it says"),
    ("18.2.0-acme", ">=18.2.0", VIOLATED, "what follows a hyphen is a prerelease, by the standard"),
    ("18.2.0-acme", ">=18", SATISFIED, "above the bound either way"),
    ("18.2.0-1", ">=18.2.0", UNKNOWN, "a prerelease for npm, the first package of 18.2.0 for a distribution"),
    ("18.2.0-1", ">=18", SATISFIED, "above the bound either way"),
    ("^19.0.0-rc.1", ">=18", SATISFIED, "the prerelease and all after it"),
    ("^19.0.0-rc.1", ">=19", UNKNOWN, "the prerelease is outside, what follows is inside"),
    ("<19.0.0-rc.1", "<19", SATISFIED, "no release of 19 is below its prerelease"),
]

RANGES = [
    ("18", ">=16.8", SATISFIED, "every 18.x"),
    ("16", ">=16.8", UNKNOWN, "16.7 is outside, 16.8 inside"),
    ("15", ">=16.8", VIOLATED, "every 15.x is below"),
    ("16", ">=16.8 <16.9", UNKNOWN, "the range lies within 16.x"),
    ("16.8", ">=16.8", SATISFIED, "every 16.8.x"),
    ("18.2", "18.2.0", UNKNOWN, "18.2.1 would be outside"),
    ("18.x", ">=18", SATISFIED, "x-range"),
    ("18.2.x", "^18.2", SATISFIED, "x-range"),
    ("18.*", "^18", SATISFIED, "x-range"),
    ("^18.2.0", ">=16.8", SATISFIED, "everything it allows"),
    ("^16.2.0", ">=16.8", UNKNOWN, "16.2 is outside, 16.8 inside"),
    ("^0.2.3", "<0.3", SATISFIED, "a caret below 1 keeps the minor version"),
    ("^0.0.3", "0.0.3", SATISFIED, "a caret below 0.1 means that patch only"),
    ("~5.4", ">=5.4 <5.5", SATISFIED, "~5.4 is 5.4.x"),
    ("~1.2.3", ">=1.2.5", UNKNOWN, "1.2.3 is outside, 1.2.5 inside"),
    (">=16,<18", ">=16 <18", SATISFIED, "comma and space both mean and"),
    (">=16 <18", "^18", VIOLATED, "nothing in common"),
    (">=16", "<16", VIOLATED, "nothing in common"),
    (">=16", ">=18", UNKNOWN, "no upper end"),
    (">18", ">=19", SATISFIED, ">18 is >=19.0.0"),
    ("<=17", "<18", SATISFIED, "<=17 is <18.0.0"),
    ("<18", ">=18", VIOLATED, "nothing in common"),
    ("16 - 18", ">=16", SATISFIED, "hyphen range"),
    ("16 - 18", "<19", SATISFIED, "a hyphen range takes in every 18.x"),
    ("17 - 20", "<18 || >=19", UNKNOWN, "18.x lies between the ends and outside"),
    ("=18.2.0", "^18", SATISFIED, "an equals sign names the release"),
    ("=18", ">=18.1", UNKNOWN, "npm reads =18 as 18.x"),
    ("18 || 19", ">=18", SATISFIED, "both alternatives are inside"),
    ("18 or 19", ">=18", SATISFIED, "the same in words"),
    ("^15 || ^16", ">=18", VIOLATED, "both alternatives are outside"),
    ("^16 || ^19", ">=18", UNKNOWN, "the alternatives disagree"),
    ("^16.8.0 || ^17.0.0 || ^18.0.0", ">=16.8", SATISFIED, "a peer dependency as libraries write it"),
    ("18 || latest", ">=18", UNKNOWN, "one alternative cannot be told"),
    (">=18 <16", ">=18", UNKNOWN, "nothing is both"),
    ("18+", ">=18", SATISFIED, "18 or later"),
    ("18 or later", ">=16.8", SATISFIED, "18 or later"),
    ("at least 18", ">=16.8", SATISFIED, "18 or later"),
    ("\u226518", ">=16.8", SATISFIED, "18 or later"),
    (">=12 !=14", ">=12", SATISFIED, "what is left out leaves the rest"),
]

WRITTEN = [
    ("v18.2", "^18", SATISFIED, "a tag's v"),
    ("V20.11.1", ">=20", SATISFIED, "a tag's V"),
    ("React 19", ">=19", SATISFIED, "a name before the number"),
    ("react@18.2.0", ">=18", SATISFIED, "a package with its version"),
    ("npm:react@18.2.0", ">=18", SATISFIED, "an alias of npm"),
    ("npm:@types/react@^18.2.0", "^18", SATISFIED, "an alias of npm with a scope"),
    ("npm:^18.2.0", "^18", SATISFIED, "Yarn's form of a range"),
    ("workspace:^18.2.0", "^18", SATISFIED, "a range of the workspace protocol"),
    ("18.2.0(react-dom@18.2.0)", ">=18", SATISFIED, "pnpm's lockfile adds the peers"),
    ("5.0.0(@types/react@18.2.0(x@1.0.0))", ">=5 <6", SATISFIED, "peers of peers"),
    ("18.2.0_react-dom@17.0.2", ">=18", SATISFIED, "pnpm's older lockfile"),
    ("node:20-alpine", ">=20", SATISFIED, "an image's tag"),
    ("20-alpine3.19", "^20", SATISFIED, "an image's tag"),
    ("20.11.1-bookworm-slim", ">=20.11.1", SATISFIED, "an image of the release, no prerelease"),
    ("20.11.1-1nodesource1", ">=20.11.1", SATISFIED, "a package of the release, no prerelease"),
    ("18.19.0+dfsg-6~deb12u2", ">=18.19.0", SATISFIED, "Debian's package"),
    ("20.x", ">=20", SATISFIED, "a continuous integration's setting"),
    ("20 LTS", ">=20", SATISFIED, "a word for released"),
    ("20.11.1 (LTS)", ">=20", SATISFIED, "a note in brackets"),
    ('"18.2.0"', ">=18", SATISFIED, "quotes from a manifest"),
    ("  18.2.0  ", ">=18", SATISFIED, "spaces"),
    ("18.2.0.1", ">=18.2.0", SATISFIED, "a fourth component is a build"),
]

UNDECIDED = [
    *((text, "no number at all") for text in ("latest", "lts", "lts/*", "next", "canary", "stable", "*", "x", "")),
    *((text, "no number at all") for text in ("banana", "null", "n/a", "workspace:*", "workspace:^", "catalog:")),
    ("catalog:react18", "the number is the catalogue's name"),
    ("git+https://github.com/facebook/react.git#v18.2.0", "somebody's repository"),
    ("github:facebook/react#v18.2.0", "somebody's repository"),
    ("facebook/react#semver:^18", "somebody's repository"),
    ("https://registry.npmjs.org/react/-/react-18.2.0.tgz", "an address"),
    ("file:../react-18.2.0", "a folder"),
    ("link:../react18", "a folder"),
    ("./vendor/react-18.2.0.tgz", "a file"),
    ("patch:react@npm%3A18.2.0#./fix.patch", "a patched copy"),
    ("the one we have had since 18", "prose"),
    ("18 or so", "prose"),
    ("before 18", "prose that means the opposite"),
    ("not 18", "prose that means the opposite"),
    ("18 (migrating to 19)", "a note that casts doubt"),
    ("rc1", "a prerelease of something"),
    ("16-18", "two numbers and no telling"),
    ("16.8-18.2", "two numbers and no telling"),
    ("18.2.0-18.3.1", "two numbers and no telling"),
    ("18.x-dev", "a branch, and no prerelease of 18.0"),
    ("18 19", "two numbers and no telling"),
    ("18/19", "two numbers and no telling"),
    ("18abc", "not a version"),
    ("1.2.3.4.5", "not a version"),
    ("-1", "not a version"),
    ("1..2", "not a version"),
    (".5", "not a version"),
    ("^", "an operator without a version"),
    (">=", "an operator without a version"),
    ("\u0661\u0668", "digits that no tool reads"),
    ("\uff11\uff18", "digits that no tool reads"),
    ("9" * 90, "no release has such a number"),
    ("18." + "0" * 200, "too long to be a version"),
    ("1" * 100_000, "too long to be a version"),
    ("18 || " * 5000, "too long to be a version"),
    ("<script>18</script>", "not a version"),
]


@pytest.mark.parametrize(
    ("version", "constraint", "verdict", "because"), [*RELEASES, *PRERELEASES, *RANGES, *WRITTEN], ids=str
)
@pytest.mark.parametrize("scheme", [Scheme.NPM, Scheme.SEMVER])
def test_npm_version_is_judged_by_all_it_may_stand_for(
    version: str, constraint: str, verdict: Verdict, because: str, scheme: Scheme
) -> None:
    """A version is satisfied or violated only when everything it may mean agrees."""
    assert judge_version(version, constraint, scheme) is verdict, because


@pytest.mark.parametrize(("version", "because"), UNDECIDED, ids=lambda text: text[:40])
@pytest.mark.parametrize("scheme", Scheme)
def test_text_that_names_no_version_is_unknown(version: str, because: str, scheme: Scheme) -> None:
    """Nothing is made of tags, addresses, prose and nonsense, in any scheme."""
    constraint = "[18,)" if scheme is Scheme.MAVEN else ">=18"
    assert judge_version(version, constraint, scheme) is UNKNOWN, because
