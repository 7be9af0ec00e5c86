"""The executed checks of the shipped records, run on what this machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.record import canonical_form
from app.recordfile import read_record, record_paths
from review.bench import open_shelf
from review.ledger import State
from review.verify.execution import Outcome, run_checks
from review.verify.locks import Pins
from review.verify.packages import Packages

RECORDS = Path(__file__).parents[2] / "records"


@pytest.mark.slow
@pytest.mark.timeout(480)
def test_no_check_of_a_shipped_record_fails(tmp_path):
    """Each right practice works and each wrong one shows its failure; what cannot be had here says why."""
    files = [file for file in map(read_record, record_paths(RECORDS)) if file.record.checks]
    found = run_checks(files, private=[tmp_path], packages=Packages(tmp_path / "packages", RECORDS), jobs=2)
    failed = [result for result in found if result.outcome is Outcome.FAILED]
    assert failed == []
    assert all(result.reason for result in found if result.outcome is Outcome.UNAVAILABLE)
    assert Outcome.PASSED in {result.outcome for result in found if result.tool == "python"}


def test_the_locks_are_those_of_the_shipped_checks():
    """None is missing, so that nothing is resolved anew elsewhere, and none is left over."""
    records = [read_record(path).record for path in record_paths(RECORDS)]
    asked = {
        Pins(check.runner, pins).lock_name() for record in records for check in record.checks for pins in check.packages
    }
    assert {path.name for path in (RECORDS / "locks").iterdir()} == asked


def test_what_a_check_may_ask_for_since_takes_nobodys_approval_away():
    """A form without it has the hash it always had; every shipped record is approved as it stands."""
    shelf = open_shelf(RECORDS)
    assert {shelf.state(slug) for slug in shelf.files} == {State.APPROVED}
    asks_nothing = [file for file in shelf.files.values() if not any(c.packages or c.needs for c in file.record.checks)]
    forms = b"".join(canonical_form(file.record, file.fixtures) for file in asks_nothing)
    assert b'"right":' in forms
    assert b'"packages":' not in forms
    assert b'"needs":' not in forms
