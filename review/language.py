"""Passages that are not English: nobody who approves records can be expected to read them, and no pattern does."""

# ruff: noqa: RUF001 - letters of other languages are what it is about

from __future__ import annotations

import re
from collections.abc import Iterator

# The commonest words of a language, without those that are English ones, too.
_COMMON_LISTS = {
    "French": (
        "ne personne rien tout tous toutes sa son ses leur par si plus être fait le la les des du une et est "
        "sont dans pour avec sur pas que qui ce cette ces vous nous tu il elle au aux mais ou dis"
    ),
    "German": (
        "ich du wir ihr ihnen was hat haben bei nach oder wenn kann dir dich nichts keine kein aus am der das "
        "den dem des ein eine einen einem einer und ist sind nicht mit für auf von zu zum zur im dass sie nur "
        "wird auch alle"
    ),
    "Spanish": (
        "no de en si más esto eso todos su sus tu te fue ser el la los las del una es son por para con que se "
        "lo al este esta estos pero todo todas como le sin ya"
    ),
    "Portuguese": (
        "de em no você eu seu sua este isso tudo foi ser os as da das dos do uma são por para com que se ao "
        "na nos nas esta mas todo como sem"
    ),
    "Italian": (
        "in da non dire stato sono anche solo del tu ti il lo la gli le della delle dei di una nel nella per "
        "con che si su al questo questa queste ma tutto tutti come"
    ),
    "Dutch": (
        "je jij hebt heb alleen werk met tekst zich de het een en is zijn niet voor op van te dat die er maar "
        "ook alle wat uit bij naar aan deze dit wordt alles"
    ),
    "Swedish": (
        "inte du dig har ha alla det här och att en ett är med för på av till som den de från eller om ska detta denna"
    ),
    "Danish": (
        "du har fått jeg ikke alt om og det at en et er med for på af til som den de fra alle eller skal dette denne"
    ),
    "Polish": ("na do nie się to jest są że te ten ta tych oraz lub przez dla po od wszystkie tylko"),
    "Turkish": ("ve bir bu şu için ile de da ne değil tüm sadece gibi sonra önceki aşağıdaki"),
    "Indonesian": ("dan yang di ke dari untuk dengan ini itu tidak semua pada adalah jangan akan oleh atau hanya"),
    "Czech": ("jen tímto si tak jak na se je že to do pro jsou není všechny nebo tento tato"),
    "Romanian": ("și în la de pe cu nu este sunt care pentru din sau toate acest această"),
    "Vietnamese": ("và của là có không cho các được này trong với những một tất cả hãy"),
}
_ENGLISH_LIST = """
    the of and to in is are be it its that this with for on as by from at or not no an a when which was were has have
    do does must may can will than then if so but only all any each after before into over under out up one two who how
"""
_ENGLISH = frozenset(_ENGLISH_LIST.split())
_COMMON = {language: frozenset(words.split()) - _ENGLISH for language, words in _COMMON_LISTS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb")
_SENTENCE = re.compile(r"[.!?;:\n]+(?:\s|$)")
_FEWEST_WORDS = 5
_FEWEST_SIGNS = 2
# A fifth of the words at least: "Nguyen, de la Cruz" in an English sentence is a name.
_SHARE = 0.2


def foreign_passages(prose: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a text without its code that reads like another language than English, with its name."""
    for sentence in _SENTENCE.split(_QUOTED.sub(" ", prose)):
        words = [word for word in _WORD.findall(sentence) if word != "CODE" and len(word) > 1]
        if len(words) >= _FEWEST_WORDS:
            language = _language(words)
            if language:
                yield language, " ".join(words)[:50]


def _language(words: list[str]) -> str | None:
    """Return the language most of whose common words occur, unless English ones outnumber them."""
    lower = [part for word in words for part in re.split(r"['\u2019]", word.lower())]
    english = sum(word in _ENGLISH for word in lower)
    # Names keep their accents in English; other words hardly have any.
    accented = sum(not word.isascii() and word.isalpha() and word.islower() for word in words)
    found = {language: sum(word in common for word in lower) for language, common in _COMMON.items()}
    best = max(found, key=lambda language: found[language])
    evidence = found[best] + accented
    return best if evidence >= max(_FEWEST_SIGNS, _SHARE * len(words)) and evidence > english else None
