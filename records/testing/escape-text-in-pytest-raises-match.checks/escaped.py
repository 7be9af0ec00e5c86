"""Escaped text matches itself; only anchors make the match exact."""
import pathlib
import sys

import pytest

pathlib.Path("test_escaped.py").write_text(
    "import re\n"
    "import pytest\n"
    "TEXT = 'total (net) is 5.00'\n"
    "def test_escaped_text_matches_itself():\n"
    "    with pytest.raises(ValueError, match=re.escape(TEXT)):\n"
    "        raise ValueError(TEXT)\n"
    "def test_a_part_is_enough_without_anchors():\n"
    "    with pytest.raises(ValueError, match='id 12'):\n"
    "        raise ValueError('no such id 123')\n"
    "def test_anchors_ask_for_the_whole():\n"
    "    with pytest.raises(AssertionError):\n"
    "        with pytest.raises(ValueError, match='^' + re.escape('id 12') + '$'):\n"
    "            raise ValueError('no such id 123')\n"
)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_escaped.py"]))
