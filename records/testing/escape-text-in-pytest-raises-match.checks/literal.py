"""The very text of the message, given as a pattern, does not match it: the brackets are a group."""
import pathlib
import sys

import pytest

pathlib.Path("test_literal.py").write_text(
    "import pytest\n"
    "def test_same_text():\n"
    "    with pytest.raises(ValueError, match='total (net) is 5.00'):\n"
    "        raise ValueError('total (net) is 5.00')\n"
)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_literal.py"]))
