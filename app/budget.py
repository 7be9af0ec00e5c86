"""The token budget: an answer never costs more than was asked for, as counted on the text that is sent.

Greedy by rank. A record is shown as fully as fits, shrinks field by field before it is dropped, and what was dropped
is named. The best record is always there, cut if it must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from app.cards import Card, cut_card, poorer_cards, shorten
from app.contract import BYTES_PER_TOKEN, count_tokens, serialise

Answer = dict[str, Any]

# A recommendation cut shorter than this says too little to weigh against the names of the records that were dropped.
READABLE_CHARACTERS = 160


def fit_answer(frame: Answer, cards: Sequence[Card], budget: int) -> Answer:
    """Return the answer with as many cards, as fully, as the budget allows.

    Args:
        frame: the answer without results: `query_summary`, `retrieval` (without `tokens_used`, `dropped`,
            `truncated`), `suggestions`.
        cards: results in rank order, as the detail asked for would show them.
        budget: most tokens of the serialised answer.

    Returns:
        a new answer with `retrieval.tokens_used`, `.dropped` and `.truncated` set; `tokens_used` <= `budget`.
    """
    answer = _compose(frame, cards, dropped=[], shrunk=False)
    if _tokens(answer) <= budget:
        return _sealed(answer)
    if not cards:
        return _fit_no_match(frame, budget)
    frame = _lean(frame)
    room = budget * BYTES_PER_TOKEN - _size(_compose(frame, [], _dropped_by_all(cards), shrunk=True))
    kept, dropped = _fill(cards, room)
    if not kept:
        return _only_best(frame, cards, budget)
    return _sealed(_compose(frame, kept, dropped, shrunk=True))


def _fill(cards: Sequence[Card], room: int) -> tuple[list[Card], list[str]]:
    """Place cards in rank order; room was measured with every slug in `dropped`, so a placed card only frees space."""
    kept: list[Card] = []
    dropped: list[str] = []
    for card in cards:
        choice = next((option for option in (card, *poorer_cards(card)) if _size(option) + 1 <= room), None)
        if choice is None:
            dropped.append(card["slug"])
        else:
            kept.append(choice)
            room -= _size(choice) + 1
    return kept, dropped


def _fit_no_match(frame: Answer, budget: int) -> Answer:
    """Return an answer without results: near misses go first, what the caller can do is said to the end."""
    options = [_compose(shorter, [], [], shrunk=False) for shorter in _shorter_no_match(frame)]
    return _sealed(next((option for option in options if _tokens(option) <= budget), options[-1]))


def _shorter_no_match(frame: Answer) -> Iterator[Answer]:
    near = frame["retrieval"].get("near_misses", [])
    for count in range(len(near) - 1, 0, -1):
        yield {**frame, "retrieval": {**frame["retrieval"], "near_misses": near[:count]}}
    bare = _bare(frame)
    for count in range(len(frame["suggestions"]), 0, -1):
        yield {**bare, "suggestions": frame["suggestions"][:count]}


def _only_best(frame: Answer, cards: Sequence[Card], budget: int) -> Answer:
    """Return an answer of one cut card: names of the dropped and comments are given up before it is unreadable."""
    others = [card["slug"] for card in cards[1:]]
    answers = []
    for chosen, dropped in ((frame, others), (frame, []), (_bare(frame), [])):
        card = cut_card(cards[0], partial(_fits, chosen, dropped, budget))
        answers.append(_compose(chosen, [card], dropped, shrunk=True))
        if _tokens(answers[-1]) <= budget and _is_readable(card, cards[0]):
            return _sealed(answers[-1])
    return _sealed(answers[-1])


def _is_readable(cut: Card, whole: Card) -> bool:
    """Tell whether enough of the recommendation is left to say what to do."""
    return len(cut["recommendation"]) >= min(len(whole["recommendation"]), READABLE_CHARACTERS)


def _fits(frame: Answer, dropped: Sequence[str], budget: int, card: Card) -> bool:
    return _tokens(_compose(frame, [card], dropped, shrunk=True)) <= budget


def _compose(frame: Answer, results: Sequence[Card], dropped: Sequence[str], *, shrunk: bool) -> Answer:
    retrieval = {**frame["retrieval"], "truncated": shrunk, "tokens_used": 0, "dropped": list(dropped)}
    return {
        "query_summary": frame["query_summary"],
        "results": list(results),
        "retrieval": retrieval,
        "suggestions": frame["suggestions"],
    }


def _sealed(answer: Answer) -> Answer:
    """Write the answer's own cost into it; the number's digits are part of the cost."""
    return {**answer, "retrieval": {**answer["retrieval"], "tokens_used": _tokens(answer)}}


def _tokens(answer: Answer) -> int:
    """Return the cost once `tokens_used` is filled in: the placeholder is one digit, the number may be up to four."""
    tokens = count_tokens(serialise(answer))
    for _ in range(2):
        filled = {**answer, "retrieval": {**answer["retrieval"], "tokens_used": tokens}}
        tokens = count_tokens(serialise(filled))
    return tokens


def _size(value: Any) -> int:
    return len(serialise(value).encode("utf-8"))


def _dropped_by_all(cards: Sequence[Card]) -> list[str]:
    return [card["slug"] for card in cards]


def _lean(frame: Answer) -> Answer:
    """Give up what only comments on the search, so that guidance has the room."""
    return {**frame, "suggestions": [], "query_summary": shorten(frame["query_summary"], 60)}


def _bare(frame: Answer) -> Answer:
    """Give up everything that the contract calls optional."""
    optional = ("degraded_reason", "embedding_provider", "embedding_cache", "near_misses")
    retrieval = {key: value for key, value in frame["retrieval"].items() if key not in optional}
    return {**frame, "query_summary": "", "retrieval": retrieval}
