"""Joining a folder with an absolute client name drops the folder."""
from pathlib import Path

ROOT = Path("uploads").resolve()
target = (ROOT / "/etc/cron.d/job.png").resolve()
assert target.is_relative_to(ROOT), f"the upload would be written to {target}"
