"""Characters that a reader does not see, or takes for another."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5\u034f\ufffc\U0001d159")
_VARIATION_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_KINDS = {
    "Cf": "invisible format character",
    "Co": "private-use character",
    "Cn": "unassigned code point",
    "Cs": "surrogate",
    "Cc": "control character",
    "Zl": "line separator",
    "Zp": "paragraph separator",
}
# Letters of another script that make an example of a name no longer an example.
_PASSAGE = 12
_WORD = re.compile(r"[^\W\d_]+(?:[\w.-]*[^\W\d_])?")
_STACKED_MARKS = re.compile(
    r"(?:(?![\u0900-\u0dff\u0e00-\u0eff])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]){3,}"
)
# Latin letters that only phonetic notation has: small capitals, raised ones, script forms.
_PHONETIC = re.compile("[\u0250-\u02c1\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]")
# But for these, which languages are written in.
_LANGUAGES_WRITE = frozenset("\u0259\u025b\u0254\u0253\u0257\u02bb\u02bc")
# Exponents and indices.
_SMALL_FIGURES = re.compile("[\u00b2\u00b3\u00b9\u2070-\u2099]")
_DOTLESS = re.compile("(?:[A-Za-z][\u0131\u0237\u017f]|[\u0131\u0237\u017f][A-Za-z])")
# Signs that fold to ASCII and are ordinary in English text.
_ORDINARY_SIGNS = frozenset("\u2026\u2122\u2120\u2116\u2033\u2034\u203c")
# Letters of other scripts that are drawn like Latin ones.
_LOOKALIKES = frozenset("асеоріѕјхуһԁԛԝьʋвзкмнтгпАВСЕНІЈКМОРЅТХУЗҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανικρτυχօոսհցզⅼ")


def hidden_characters(text: str) -> Iterator[str]:
    """Yield a description of each kind of character that is not seen as what it is: `U+200B ZERO WIDTH SPACE, ...`."""
    for character in dict.fromkeys(text):
        kind = _kind(character)
        if kind:
            name = unicodedata.name(character, "unnamed")
            yield f"U+{ord(character):04X} {name}, {kind}"
    if _STACKED_MARKS.search(text):
        yield "three or more combining marks in a row"


def confusable_words(text: str) -> Iterator[str]:
    """Yield a description of each word that mixes scripts or is written in letters drawn like Latin ones."""
    for word in dict.fromkeys(_WORD.findall(text)):
        scripts = {_script(letter) for letter in word if letter.isalpha()} - {"", "MICRO", "FEMININE", "MASCULINE"}
        if len(scripts) > 1 and scripts & {"LATIN"}:
            yield f"{word!a} mixes {' and '.join(sorted(scripts))} letters"
        elif scripts and "LATIN" not in scripts and all(letter in _LOOKALIKES for letter in word if letter.isalpha()):
            yield f"{word!a} is {' and '.join(sorted(scripts))} drawn like Latin"
        elif _is_dressed_up(word) or _is_phonetic(word):
            yield f"{word!a} is plain Latin in disguise"
    for place, sign in enumerate(text):
        if _is_sign_in_disguise(sign) and not _stands_among_ideographs(text, place):
            yield f"U+{ord(sign):04X} is drawn like a plain sign"
            return


def unread_script(text: str) -> str | None:
    """Return the script of a passage that is long enough to say something and that no pattern here reads."""
    found = Counter(_script(letter) for letter in text if letter > "\u036f" and letter.isalpha())
    for script in ("LATIN", "GREEK", "MATHEMATICAL", ""):
        del found[script]
    return found.most_common(1)[0][0] if found.total() >= _PASSAGE else None


def _kind(character: str) -> str | None:
    if character in "\n\t ":
        return None
    if character in _BLANK_LETTERS:
        return "blank letter"
    code = ord(character)
    if any(code in block for block in _VARIATION_SELECTORS):
        return "variation selector"
    category = unicodedata.category(character)
    if category == "Zs":
        return "space that is not a plain space"
    return _KINDS.get(category)


def _script(letter: str) -> str:
    """Return the first word of the letter's name, which for letters is the script."""
    return unicodedata.name(letter, "").split(" ")[0]


def _is_dressed_up(word: str) -> bool:
    """Tell full-width, mathematical and ligature letters, which fold to ASCII."""
    word = _SMALL_FIGURES.sub("", word)
    folded = unicodedata.normalize("NFKC", word)
    return folded != word and folded.isascii() and not word.isascii() and any(letter.isalpha() for letter in folded)


def _is_phonetic(word: str) -> bool:
    """Tell letters of phonetic notation and a dotless i among plain ones."""
    letters = set(_PHONETIC.findall(word)) - _LANGUAGES_WRITE
    return bool(letters) or bool(_DOTLESS.search(word))


def _is_sign_in_disguise(sign: str) -> bool:
    """Tell another form of an ASCII sign, such as the full-width solidus."""
    if sign.isascii() or sign.isalnum() or sign in _ORDINARY_SIGNS:
        return False
    folded = unicodedata.normalize("NFKC", sign)
    return folded != sign and folded.isascii() and not folded.isspace() and not folded.isalnum()


def _stands_among_ideographs(text: str, place: int) -> bool:
    return any(unicodedata.east_asian_width(near) == "W" for near in text[max(0, place - 1) : place + 2])
