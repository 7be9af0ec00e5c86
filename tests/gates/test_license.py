"""license: every source's licence is known and allows what is printed from it."""

from __future__ import annotations

import pytest

from tests.gates.records import findings, make_record, make_source, messages

MDN = {"url": "https://developer.mozilla.org/en-US/docs/Web", "publisher": "MDN", "licence": "CC-BY-SA-2.5"}
OTHER = {"url": "https://example.com/docs/page", "publisher": "Somebody"}
QUOTE = {"evidence_kind": "quote"}


@pytest.mark.parametrize(
    "source",
    [
        make_source(),
        make_source(**QUOTE),
        make_source(**MDN),
        make_source(**OTHER, licence="MIT OR LicenseRef-Unheard-Of"),
        make_source(**OTHER, **QUOTE, licence="CC-BY-SA-4.0 OR MIT"),
        make_source(**OTHER, licence="licenseref-nodejs-learn"),
    ],
)
def test_what_the_licence_allows_passes(source):
    """Quoting under an open licence, telling in our own words under the others; of an OR we take the better."""
    assert findings("license", make_record(sources=[source])) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            make_source(**OTHER, licence="LicenseRef-Unheard-Of"),
            "error: source 1: licence LicenseRef-Unheard-Of is not on the list",
        ),
        (make_source(**OTHER, licence="CC-BY-NC-4.0"), "error: source 1: licence CC-BY-NC-4.0 is not on the list"),
        (make_source(**OTHER, licence="MIT AND Proprietary"), "error: source 1: licence MIT AND Proprietary"),
        (make_source(**MDN, **QUOTE), "error: source 1: CC-BY-SA-2.5 does not let us print a quote"),
        (make_source(**OTHER, **QUOTE, licence="CC-BY-ND-4.0"), "error: source 1: CC-BY-ND-4.0 does not let us print"),
        (make_source(**OTHER, **QUOTE, licence="MIT AND CC-BY-SA-4.0"), "error: source 1"),
        (make_source(licence="MIT"), "warning: source 1: PostgreSQL offers this text under PostgreSQL"),
    ],
)
def test_what_the_licence_does_not_allow_is_refused(source, expected):
    """Unknown licences, and quotes from share-alike or no-derivatives text."""
    assert expected in messages(findings("license", make_record(sources=[source])))
