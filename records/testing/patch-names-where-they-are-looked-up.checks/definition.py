"""Patching the defining module leaves the name already imported elsewhere untouched."""
import importlib
import sys
from pathlib import Path
from unittest.mock import patch

Path("gateway.py").write_text("def charge(amount):\n    raise RuntimeError('real gateway called')\n")
Path("orders.py").write_text("from gateway import charge\n\n\ndef pay(amount):\n    return charge(amount)\n")
sys.path.insert(0, str(Path.cwd()))
orders = importlib.import_module("orders")

with patch("gateway.charge", autospec=True, return_value="ok") as fake:
    assert orders.pay(5) == "ok"
fake.assert_called_once_with(5)
