"""The data filter refuses a member that climbs out of the destination."""
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
try:
    with tarfile.open(fileobj=archive) as tar:
        tar.extractall(destination, filter="data")
except tarfile.OutsideDestinationError as error:
    assert not Path("climbed.txt").exists()
    print("refused:", error)
else:
    raise AssertionError("the member was not refused")
