"""The token budget: an answer never costs more than was asked for, as counted on the text that is sent.

Greedy by rank. A record is shown as fully as fits, shrinks field by field before it is dropped, and what was dropped
is named. The best record is always there, cut if it must be; where even its name has hardly room, only that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from app.cards import READABLE_CHARACTERS, Card, cut_card, poorer_cards, shorten
from app.contract import count_tokens, serialise

Answer = dict[str, Any]

# What was spent on the question's vector is of no use to a caller who got nothing for it.
_EMBEDDING = frozenset({"embedding_provider", "embedding_cache"})
_OPTIONAL = _EMBEDDING | {"degraded_reason", "near_misses"}
# A cost as long as most are.
_USUAL = 999


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
    if not cards:
        return _fit_no_match(_without(frame, _EMBEDDING), budget)
    answer = _compose(frame, cards, dropped=[], shrunk=False)
    if _tokens(answer) <= budget:
        return _sealed(answer)
    for chosen in (frame, _lean(frame)):
        kept, dropped = _fill(chosen, cards, budget)
        if kept:
            return _sealed(_compose(chosen, kept, dropped, shrunk=True))
    return _only_best(_lean(frame), cards, budget)


def _fill(frame: Answer, cards: Sequence[Card], budget: int) -> tuple[list[Card], list[str]]:
    """Place cards in rank order; parts of an answer cost no less alone than together."""
    room = budget - _tokens(_compose(frame, [], [card["slug"] for card in cards], shrunk=True))
    kept: list[Card] = []
    dropped: list[str] = []
    for card in cards:
        choice, cost = _fullest(card, room)
        if cost > room:
            dropped.append(card["slug"])
        else:
            kept.append(choice)
            room -= cost
    return kept, dropped


def _fullest(card: Card, room: int) -> tuple[Card, int]:
    """Return the fullest version of a card that the room allows, or the smallest, with what it costs."""
    cost = _cost(card)
    if cost > room:
        *fuller, card = (card, *poorer_cards(card))
        cost = _cost(card)
        if cost <= room:
            return next(((option, paid) for option in fuller if (paid := _cost(option)) <= room), (card, cost))
    return card, cost


def _fit_no_match(frame: Answer, budget: int) -> Answer:
    """Return an answer without results: near misses go first, what the caller can do is said to the end."""
    options = [_compose(shorter, [], [], shrunk=False) for shorter in (frame, *_shorter_no_match(frame))]
    return _sealed(next((option for option in options if _tokens(option) <= budget), options[-1]))


def _shorter_no_match(frame: Answer) -> Iterator[Answer]:
    near = frame["retrieval"].get("near_misses", [])
    for count in range(len(near) - 1, 0, -1):
        yield {**frame, "retrieval": {**frame["retrieval"], "near_misses": near[:count]}}
    bare = _bare(frame)
    for count in range(len(frame["suggestions"]), 0, -1):
        yield {**bare, "suggestions": frame["suggestions"][:count]}


def _only_best(frame: Answer, cards: Sequence[Card], budget: int) -> Answer:
    """Return an answer of one cut card: names of the dropped and comments are given up before it is unreadable.

    A name that leaves no room for a card is all that is said.
    """
    others = [card["slug"] for card in cards[1:]]
    answers = []
    for chosen, dropped in ((frame, others), (frame, []), (_bare(frame), [])):
        card = cut_card(cards[0], partial(_fits, chosen, dropped, budget))
        answers.append(_compose(chosen, [card], dropped, shrunk=True))
        if _tokens(answers[-1]) <= budget and _is_readable(card, cards[0]):
            return _sealed(answers[-1])
    named = _compose(_bare(frame), [], [cards[0]["slug"]], shrunk=True)
    return _sealed(answers[-1] if _tokens(answers[-1]) <= budget else named)


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
    """Return the cost with `tokens_used` filled in, of which only the number of digits counts: three, mostly."""
    tokens = _tokens_with(answer, _USUAL)
    return tokens if len(str(tokens)) == len(str(_USUAL)) else _tokens_with(answer, tokens)


def _tokens_with(answer: Answer, used: int) -> int:
    return count_tokens(serialise({**answer, "retrieval": {**answer["retrieval"], "tokens_used": used}}))


def _cost(card: Card) -> int:
    """Return what a card and the comma behind it cost."""
    return count_tokens(serialise(card) + ",")


def _lean(frame: Answer) -> Answer:
    """Give up what only comments on the search, so that guidance has the room."""
    return {**frame, "suggestions": [], "query_summary": shorten(frame["query_summary"], 60)}


def _bare(frame: Answer) -> Answer:
    """Give up everything that the contract calls optional."""
    return {**_without(frame, _OPTIONAL), "query_summary": ""}


def _without(frame: Answer, fields: frozenset[str]) -> Answer:
    return {**frame, "retrieval": {key: value for key, value in frame["retrieval"].items() if key not in fields}}
