"""What holds of any version and any constraint, and where the libraries are the judge."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from semantic_version import NpmSpec
from semantic_version import Version as SemanticVersion
from univers.version_range import MavenVersionRange
from univers.versions import MavenVersion

from app.versions import Scheme, Verdict, judge_version, shown_version

SCHEMES = st.sampled_from(list(Scheme))
PARTS = st.integers(0, 4)
RELEASES = st.tuples(PARTS, PARTS, PARTS).map(lambda parts: ".".join(map(str, parts)))
SHORT = st.lists(PARTS, min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
WORDS = (
    "18 18.2.0 ^ ~ >= < = || | - . , * x v rc beta .dev1 +build go ES node: -slim @ npm: workspace: ( ) [ ] # / or"
    " latest 999999999 1!2 ; ' \" _ ~= \u0661"
)
PIECES = st.lists(st.sampled_from([*WORDS.split(), " ", "\n"]), max_size=14).map("".join)
NPM_ONE = st.one_of(
    st.tuples(st.sampled_from(["", ">=", "<=", ">", "<", "^", "~"]), SHORT).map("".join),
    st.tuples(SHORT, SHORT).map(" - ".join),
    SHORT.map(lambda text: f"{text}.x" if text.count(".") < 2 else text),
    st.tuples(SHORT, SHORT).map(lambda ends: f">={ends[0]} <{ends[1]}"),
)
NPM_RANGES = st.lists(NPM_ONE, min_size=1, max_size=3).map(" || ".join)
PEP440_ONE = st.one_of(
    st.tuples(st.sampled_from([">=", "<=", ">", "<", "==", "!="]), SHORT).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), SHORT).map(lambda pair: f"{pair[0]}{pair[1]}.*"),
    st.tuples(PARTS, PARTS).map(lambda pair: f"~={pair[0]}.{pair[1]}"),
)
PEP440_RANGES = st.lists(PEP440_ONE, min_size=1, max_size=3).map(",".join)
MAVEN_RANGES = st.tuples(st.sampled_from("[("), SHORT, SHORT, st.sampled_from("])")).filter(
    lambda parts: (
        [int(part) for part in f"{parts[1]}.0.0".split(".")[:3]]
        < [int(part) for part in f"{parts[2]}.0.0".split(".")[:3]]
    )
)


def decided(inside: bool) -> Verdict:
    return Verdict.SATISFIED if inside else Verdict.VIOLATED


@given(st.one_of(st.text(max_size=120), PIECES), st.one_of(st.text(max_size=40), PIECES), SCHEMES)
@settings(max_examples=300, deadline=None)
def test_any_text_gets_a_verdict(version: str, constraint: str, scheme: Scheme) -> None:
    """No version and no constraint makes an error."""
    assert judge_version(version, constraint, scheme) in Verdict


@given(PIECES, st.sampled_from(["^18", ">=16.8", "<19 || >=20"]))
@settings(max_examples=300, deadline=None)
def test_any_pieces_of_versions_get_a_verdict(version: str, constraint: str) -> None:
    """No arrangement of what versions are made of makes an error."""
    assert judge_version(version, constraint, Scheme.NPM) in Verdict


@given(st.text(max_size=150))
@settings(deadline=None)
def test_what_is_shown_of_a_version_carries_no_words(version: str) -> None:
    """Of what a caller wrote, numbers, signs and the words for prereleases come back."""
    shown = shown_version(version) or ""
    for word in ("alpha", "beta", "rc", "dev", "canary", "next"):
        shown = shown.replace(word, "")
    assert all(letter in "0123456789vxab.*^~<>=!|,- " for letter in shown)


@given(RELEASES, NPM_RANGES)
@settings(max_examples=300, deadline=None)
def test_exact_release_is_judged_as_npm_ranges_are_read(version: str, constraint: str) -> None:
    """A release is inside when the library says so."""
    inside = NpmSpec(constraint).match(SemanticVersion(version))
    assert judge_version(version, constraint, Scheme.NPM) is decided(inside)


@given(RELEASES, PEP440_RANGES)
@settings(max_examples=300, deadline=None)
def test_exact_release_is_judged_as_packaging_does(version: str, constraint: str) -> None:
    """A release is inside when the library says so."""
    inside = SpecifierSet(constraint).contains(Version(version))
    for scheme in (Scheme.PEP440, Scheme.GO, Scheme.GENERIC):
        assert judge_version(version, constraint, scheme) is decided(inside)


@given(RELEASES, st.sampled_from(["a1", "b2", "rc1", ".dev3", ".post1", "+local"]), PEP440_RANGES)
@settings(max_examples=300, deadline=None)
def test_marked_release_is_judged_as_packaging_does(version: str, mark: str, constraint: str) -> None:
    """Prereleases, development and post releases and local versions too."""
    marked = SpecifierSet(constraint).contains(Version(version + mark), prereleases=True)
    assert judge_version(version + mark, constraint, Scheme.PEP440) is decided(marked)


@given(RELEASES, MAVEN_RANGES)
@settings(deadline=None)
def test_exact_release_is_judged_as_maven_does(version: str, parts: tuple[str, str, str, str]) -> None:
    """A release is inside when the library says so."""
    opened, low, high, closed = parts
    constraint = f"{opened}{low},{high}{closed}"
    inside = MavenVersion(version) in MavenVersionRange.from_native(constraint)
    assert judge_version(version, constraint, Scheme.MAVEN) is decided(inside)


@given(RELEASES, NPM_RANGES, NPM_RANGES)
@settings(max_examples=300, deadline=None)
def test_verdict_on_a_range_holds_for_every_release_in_it(release: str, version: str, constraint: str) -> None:
    """What is said of "^18" is true of 18.2.0."""
    verdict = judge_version(version, constraint, Scheme.NPM)
    if verdict is not Verdict.UNKNOWN and NpmSpec(version).match(SemanticVersion(release)):
        assert judge_version(release, constraint, Scheme.NPM) is verdict


@given(RELEASES, PEP440_RANGES, PEP440_RANGES)
@settings(max_examples=300, deadline=None)
def test_verdict_on_a_specifier_holds_for_every_release_in_it(release: str, version: str, constraint: str) -> None:
    """What is said of "~=2.0" is true of 2.0.29."""
    verdict = judge_version(version, constraint, Scheme.PEP440)
    if verdict is not Verdict.UNKNOWN and SpecifierSet(version).contains(Version(release)):
        assert judge_version(release, constraint, Scheme.PEP440) is verdict
