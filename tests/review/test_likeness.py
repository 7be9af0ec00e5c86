"""Likeness: computed once for a whole check, and remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.embedding.factory import create_embedder
from app.settings import read_settings
from review.gates.conflicts import GATE as CONFLICTS
from review.gates.duplicates import GATE as DUPLICATES
from review.likeness import VectorCache, cache_path, pairwise_cosine
from tests.fakes import HashingEmbedder
from tests.gates.records import context_of, make_record, messages
from tests.gates.test_conflicts import AGAINST, FOR
from tests.gates.test_duplicates import ORIGINAL, OTHER, REPHRASED


class CountingEmbedder(HashingEmbedder):
    """Counts the texts it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts):
        """Return vectors and count."""
        self.texts += len(texts)
        return super().embed(texts)


@pytest.fixture(scope="module")
def model():
    """Return the model that is used by default."""
    return create_embedder(read_settings({}, base=Path.cwd()))


def test_every_pair_has_one_cosine():
    """Symmetric, and 1 for texts that are the same."""
    cosines = pairwise_cosine([ORIGINAL, REPHRASED, OTHER], HashingEmbedder())
    assert len(cosines) == 3
    twin = make_record(slug="a-twin")
    assert pairwise_cosine([ORIGINAL, twin], HashingEmbedder())["a-twin", ORIGINAL.slug] == pytest.approx(1.0)
    assert pairwise_cosine([], HashingEmbedder()) == {}


@pytest.mark.parametrize("damage", [None, b"", b"garbage", b"PK\x03\x04 half a file"])
def test_texts_that_were_read_before_are_not_read_again(tmp_path, damage):
    """A damaged memory is made anew."""
    embedder = CountingEmbedder()
    path = cache_path(tmp_path, embedder)
    first = pairwise_cosine([ORIGINAL, OTHER], embedder, cache=VectorCache(path))
    assert embedder.texts == 2
    if damage is not None:
        path.write_bytes(damage)
    assert pairwise_cosine([ORIGINAL, OTHER], embedder, cache=VectorCache(path)) == first
    assert embedder.texts == (2 if damage is None else 4)


def test_the_default_model_finds_advice_told_anew(model):
    """Meaning and words together tell a rephrased record from another one."""
    similarity = pairwise_cosine([ORIGINAL, REPHRASED, OTHER], model)
    context = context_of(ORIGINAL, REPHRASED, OTHER, similarity=similarity)
    assert f"error: says the same as {REPHRASED.slug}" in messages(list(DUPLICATES.check(ORIGINAL, context)))
    assert list(DUPLICATES.check(OTHER, context)) == []


def test_the_default_model_takes_opposites_for_one_subject(model):
    """Nearness in meaning does not tell for from against; the gate for conflicts does."""
    one, other = make_record(**FOR, applies_to=[]), make_record(**AGAINST, applies_to=[])
    context = context_of(one, other, similarity=pairwise_cosine([one, other], model))
    assert "error: advises the opposite" in messages(list(CONFLICTS.check(one, context)))
