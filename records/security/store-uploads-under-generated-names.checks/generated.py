"""The stored path holds nothing the client chose; the suffix comes from an allow list."""
import uuid
from pathlib import Path, PurePosixPath

ALLOWED = {".png", ".pdf"}
ROOT = Path("uploads").resolve()


def stored_path(client_name):
    suffix = PurePosixPath(client_name.replace("\\", "/")).suffix.lower()
    if suffix not in ALLOWED:
        raise ValueError("file type not allowed")
    return ROOT / f"{uuid.uuid4().hex}{suffix}"


for name in ("/etc/cron.d/job.png", "../../app/main.png", "..\\..\\x.png", "photo.png"):
    assert stored_path(name).is_relative_to(ROOT)
for name in ("shell.png.php", "page.svg", "noext", "photo.png\x00.exe"):
    try:
        stored_path(name)
    except ValueError:
        continue
    raise AssertionError(f"{name!r} was accepted")
print("ok")
