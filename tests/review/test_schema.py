"""The JSON Schema of the front matter is generated, current, and agrees with the parser."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from app.frontmatter import _KEYS
from app.recordfile import record_paths
from review.schema import FILE_NAME, front_matter_schema, render_schema

RECORDS = Path(__file__).parents[2] / "records"


def test_the_committed_schema_is_the_generated_one():
    """`python -m review.schema` writes it."""
    assert (RECORDS / FILE_NAME).read_text("utf-8") == render_schema()


def test_the_schema_names_exactly_the_keys_the_parser_takes():
    """An editor and the parser refuse the same keys."""
    assert set(front_matter_schema()["properties"]) == _KEYS


@pytest.mark.parametrize("path", record_paths(RECORDS), ids=lambda path: path.stem)
def test_the_front_matter_of_every_record_is_valid(path):
    """Dates are text to JSON."""
    data = YAML(typ="safe", pure=True).load(path.read_text("utf-8").split("\n---\n")[0])
    data["updated"] = str(data["updated"])
    for source in data["sources"]:
        source["retrieved"] = str(source["retrieved"])
    jsonschema.validate(data, front_matter_schema())
