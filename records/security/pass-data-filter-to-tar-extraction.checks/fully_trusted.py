"""Without the data filter (the default before Python 3.14) the same member lands beside the destination."""
import io
import tarfile
from pathlib import Path

archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w") as tar:
    member = tarfile.TarInfo("../climbed.txt")
    member.size = 2
    tar.addfile(member, io.BytesIO(b"hi"))
archive.seek(0)

destination = Path("unpacked")
destination.mkdir(exist_ok=True)
with tarfile.open(fileobj=archive) as tar:
    tar.extractall(destination, filter="fully_trusted")
escaped = Path("climbed.txt").exists()
Path("climbed.txt").unlink(missing_ok=True)
assert not escaped, "a member was written outside the destination"
