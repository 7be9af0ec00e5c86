"""The pepper: how it is kept, and that each purpose has a key of its own."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from app.access.pepper import PepperRing, create_peppers, hkdf, load_peppers
from app.errors import SettingsError

OLD, NEW = "11" * 32, "22" * 32


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_first_start_makes_a_pepper_for_the_owner_alone(tmp_path):
    path = tmp_path / "home" / "pepper"
    ring = load_peppers(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(ring.peppers[ring.newest]) == 32
    assert load_peppers(path) == ring
    assert [entry.name for entry in path.parent.iterdir()] == ["pepper"]


def test_two_first_starts_agree_on_one_pepper(tmp_path):
    path = tmp_path / "pepper"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        rings = pool.map(load_newest, [path] * 8)
    assert len(set(rings)) == 1


def load_newest(path: Path) -> bytes:
    ring = load_peppers(path)
    return ring.peppers[ring.newest]


def test_a_second_creation_changes_nothing(tmp_path):
    path = tmp_path / "pepper"
    create_peppers(path)
    before = path.read_bytes()
    create_peppers(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602, 0o660, 0o601, 0o777])
def test_a_pepper_that_others_can_read_or_change_is_refused(tmp_path, mode):
    path = write(tmp_path / "pepper", f"a {OLD}\n", mode)
    with pytest.raises(SettingsError, match=f"run `chmod 600 {path}`"):
        load_peppers(path)


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640])
def test_a_pepper_that_strangers_cannot_read_is_taken(tmp_path, mode):
    assert load_peppers(write(tmp_path / "pepper", f"a {OLD}\n", mode)).newest == "a"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no pepper"),
        ("# nothing\n", "holds no pepper"),
        ("a " + "11" * 31, "at least 32 bytes"),
        ("a xyz", "expected `<id> <hex>`"),
        (OLD, "expected `<id> <hex>`"),
        (f"a {OLD}\na {NEW}", "expected `<id> <hex>`"),
    ],
)
def test_a_file_that_holds_no_proper_pepper_is_refused_without_being_repeated(tmp_path, text, complaint):
    with pytest.raises(SettingsError, match=complaint) as refused:
        load_peppers(write(tmp_path / "pepper", text))
    assert "1111" not in refused.value.message


def test_the_newest_comes_first_and_older_ones_stay(tmp_path):
    ring = load_peppers(write(tmp_path / "pepper", f"# rotated in May\nnew {NEW}\nold {OLD}  # until July # 2027\n"))
    assert ring.newest == "new"
    assert list(ring.peppers) == ["new", "old"]


@pytest.mark.timeout(10)
def test_a_pipe_is_no_pepper(tmp_path):
    """It is refused at once; reading one would wait for its writer for ever."""
    os.mkfifo(tmp_path / "pepper", 0o600)
    with pytest.raises(SettingsError, match="not a regular file"):
        load_peppers(tmp_path / "pepper")


def test_a_device_is_no_pepper():
    """Whatever can be read from it, it is not a kept secret."""
    with pytest.raises(SettingsError, match="not a regular file"):
        load_peppers(Path("/dev/null"))


def test_a_link_to_a_pepper_is_one(tmp_path):
    """Mounted secrets are links."""
    (tmp_path / "link").symlink_to(write(tmp_path / "pepper", f"a {OLD}\n"))
    assert load_peppers(tmp_path / "link").newest == "a"


def test_a_folder_is_no_pepper(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load_peppers(tmp_path)


def test_derivation_is_that_of_rfc_5869():
    """Test case 1 of the RFC, of which we use the first 32 bytes."""
    derived = hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)))
    assert derived.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


def test_each_purpose_salt_and_pepper_has_its_own_key():
    ring = PepperRing({"new": bytes.fromhex(NEW), "old": bytes.fromhex(OLD)})
    keys = [
        ring.subkey("api key"),
        ring.subkey("api key", pepper_id="old"),
        ring.subkey("address"),
        ring.subkey("address", salt=b"monday"),
        ring.subkey("query"),
        ring.subkey("feedback"),
    ]
    assert len(set(keys)) == len(keys)


def test_what_is_stored_of_a_key_stays_the_same():
    """Another value for the same key and pepper would end every key there is, and start everybody's count anew."""
    ring = PepperRing({"new": bytes.fromhex(NEW), "old": bytes.fromhex(OLD)})
    key = "kb_test_ABCDEFGHIJKL_" + "m" * 49
    assert ring.key_mac(key, "old").hex() == "e6579799a43463e9a4b3838f81f9d9ee61f96c220f4de9231e277d4c40c00c18"
    assert ring.key_mac(key, "new").hex() == "8fd8b447c701327fb0574318d4452f3fb86cae49574e50e43cb2f3854f2fa56e"
    salted = ring.subkey("address", salt=b"monday").hex()
    assert salted == "fcd2328984870a39a258d5a1da825762254ee79e64194024aafdbd4ed554668a"


def test_without_a_salt_derivation_is_that_of_rfc_5869_too():
    """Test case 3 of the RFC: no salt, no info."""
    derived = hkdf(b"\x0b" * 22, b"", b"")
    assert derived.hex() == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"


def test_a_pepper_is_made_in_folders_that_are_not_there_yet_and_are_the_owners_alone(tmp_path):
    path = tmp_path / "some" / "home" / "pepper"
    create_peppers(path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    comment, pepper = path.read_text().splitlines()
    assert comment.startswith("# ")
    name, _, digits = pepper.partition(" ")
    assert (name[0], len(name), len(digits)) == ("p", 9, 64)


def test_the_line_that_is_wrong_is_named(tmp_path):
    """Counted from one, comments and empty lines included; spaces and colours of writing do not matter."""
    good = f"  a\t{OLD.upper()}  \n\n# more\n"
    assert load_peppers(write(tmp_path / "pepper", good)).newest == "a"
    with pytest.raises(SettingsError, match=r"pepper, line 4: expected `<id> <hex>`, each id once\.$"):
        load_peppers(write(tmp_path / "pepper", good + "b"))
    with pytest.raises(SettingsError, match=r"pepper, line 4: a pepper has at least 32 bytes\.$"):
        load_peppers(write(tmp_path / "pepper", good + "b 00"))


def test_a_file_that_is_no_text_is_no_pepper(tmp_path):
    (tmp_path / "pepper").write_bytes(b"\xff\xfe" + bytes(range(256)))
    (tmp_path / "pepper").chmod(0o600)
    with pytest.raises(SettingsError, match="expected"):
        load_peppers(tmp_path / "pepper")


def test_a_ring_does_not_show_its_peppers():
    assert "\\x22" not in repr(PepperRing({"new": bytes.fromhex(NEW)}))
