"""The labelled questions over the shipped records."""

from __future__ import annotations

import pytest

from app.embedding.onnx import OnnxEmbedder
from app.recordfile import read_record, record_paths
from app.store.catalogue import PostgresCatalogue
from bench.corpus import ROOT, Corpus
from bench.evaluation import Evaluation
from tests.databases import Database


@pytest.fixture(scope="session")
def evaluation(shipped: Database, model: OnnxEmbedder) -> Evaluation:
    """Return what asks the questions; each is embedded once for all tests."""
    records = tuple(read_record(path) for path in record_paths(ROOT / "records"))
    return Evaluation(Corpus(PostgresCatalogue(shipped.server), model, records))
