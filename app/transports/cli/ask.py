"""Asking from the shell: the operations, with their own names for arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import click

from app.contract import Detail, FeedbackCategory, FeedbackOutcome
from app.errors import InvalidInput
from app.operations import OPERATIONS, call
from app.record import TaskType, Topic
from app.technologies import canonical_name
from app.transports.cli.cardtext import print_card
from app.transports.cli.explaining import print_explanation
from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors, wrapped
from app.transports.cli.runtime import Runtime

# Candidates explained unless all are asked for, besides those that the answer names.
_EXPLAINED = 10
_VERSION_HELP = "Technology and version it was followed with: React==18.2. Repeatable."
_TECHNOLOGY_HELP = "Technology you work with, with its version after `==` if you know it: React==18.2. Repeatable."


def _choice(*members: StrEnum) -> click.Choice[str]:
    """Offer the contract's own words; click would take an enum's Python names."""
    return click.Choice([member.value for member in members])


@click.command()
@click.argument("query")
@click.option("-t", "--technology", "technologies", multiple=True, help=_TECHNOLOGY_HELP)
@click.option("--topic", "topics", multiple=True, type=_choice(*Topic), help="Topic of the decision. Repeatable.")
@click.option("--task", "task_type", type=_choice(*TaskType), help="What you are doing.")
@click.option("-n", "--max-results", type=int, help="Most results.")
@click.option("--detail", type=_choice(Detail.BRIEF, Detail.STANDARD), help="How much of each record.")
@click.option("--budget", "token_budget", type=int, help="Most tokens the answer may take.")
@click.option("--explain", "explained", flag_value="best", help="Show what led to the answer, and the best candidates.")
@click.option("--explain-all", "explained", flag_value="all", help="The same with every candidate.")
@json_option
@click.pass_obj
@reports_errors
def search(
    runtime: Runtime,
    /,
    query: str,
    technologies: tuple[str, ...],
    topics: tuple[str, ...],
    explained: str | None,
    as_json: bool,
    **rest: Any,
) -> None:
    """Ask a question as an agent would.

    Exit code 1 when the knowledge base has no answer.
    """
    arguments = _search_arguments(query, technologies, topics, rest)
    for name in arguments["technologies"]:
        if canonical_name(name) is None:
            click.echo(f"No record knows a technology of the name {name!r}; versions go after `==`.", err=True)
    if explained:
        answer = _explain(runtime, arguments, everything=explained == "all", as_json=as_json)
    else:
        with runtime.services() as services:
            answer = call(services, "search_knowledge", arguments)
        print_json(answer) if as_json else _print_answer(answer)
    if not answer["results"]:
        raise SystemExit(EXIT_REFUSED)


@click.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--detail", type=_choice(Detail.BRIEF, Detail.FULL), default=Detail.FULL.value, show_default=True)
@json_option
@click.pass_obj
@reports_errors
def get(runtime: Runtime, ids: tuple[str, ...], detail: str, as_json: bool) -> None:
    """Print whole records by slug or id. Exit code 1 when one is missing."""
    with runtime.services() as services:
        answer = call(services, "get_guidance", {"ids": list(ids), "detail": str(detail)})
    if as_json:
        print_json(answer)
    else:
        for card in answer["results"]:
            print_card(card)
        for name in answer["missing"]:
            click.echo(f"missing: {name}", err=True)
    if answer["missing"]:
        raise SystemExit(EXIT_REFUSED)


@click.command()
@click.argument("category", type=_choice(*FeedbackCategory))
@click.option("--record", help="Slug or id it is about.")
@click.option("--comment", help="What is wrong or missing.")
@click.option("--outcome", type=_choice(*FeedbackOutcome), help="What came of following it.")
@click.option("-t", "--technology", "versions", multiple=True, help=_VERSION_HELP)
@json_option
@click.pass_obj
@reports_errors
def feedback(
    runtime: Runtime,
    category: str,
    record: str | None,
    comment: str | None,
    outcome: str | None,
    versions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Send anonymous feedback to the owner.

    Of versions, only the numbers of technologies that are known are kept.
    """
    given = {"record": record, "comment": comment, "outcome": str(outcome) if outcome else None}
    arguments = {key: value for key, value in given.items() if value is not None}
    with runtime.services() as services:
        answer = call(
            services, "submit_feedback", {"category": str(category), "versions": _versions(versions), **arguments}
        )
    print_json(answer) if as_json else click.echo(f"{answer['message']} ({answer['id']})")


@click.command("call")
@click.argument("operation", type=click.Choice(list(OPERATIONS)))
@click.argument("arguments", default="{}")
@click.pass_obj
@reports_errors
def call_operation(runtime: Runtime, operation: str, arguments: str) -> None:
    """Run an operation with JSON ARGUMENTS and print its answer as JSON."""
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise InvalidInput("ARGUMENTS is not a JSON object.")
    with runtime.services() as services:
        print_json(call(services, operation, parsed))


def _versions(entries: tuple[str, ...]) -> dict[str, str]:
    named = [entry.partition("==") for entry in entries]
    if any(not name or not version for name, _, version in named):
        raise click.BadParameter("write NAME==VERSION", param_hint="--technology")
    return {name: version for name, _, version in named}


def _search_arguments(
    query: str, technologies: tuple[str, ...], topics: tuple[str, ...], rest: Mapping[str, Any]
) -> dict[str, Any]:
    named = [entry.partition("==") for entry in technologies]
    arguments: dict[str, Any] = {
        "query": query,
        "technologies": [name for name, _, _ in named],
        "versions": {name: version for name, _, version in named if version},
        "topic": [str(topic) for topic in topics],
    }
    return arguments | {key: str(v) if isinstance(v, str) else v for key, v in rest.items() if v is not None}


def _print_answer(answer: Mapping[str, Any]) -> None:
    retrieval = answer["retrieval"]
    for place, card in enumerate(answer["results"], start=1):
        click.echo(f"{place}. {card['title']}  [{card['slug']}]")
        click.echo(wrapped(card["recommendation"], 3))
        for finding in card.get("applicability", []):
            click.echo(wrapped(_finding_text(finding), 3))
        click.echo(wrapped("; ".join(source["url"] for source in card["sources"]), 3) + "\n")
    for miss in retrieval.get("near_misses") or []:
        click.echo(wrapped(f"near: {miss['slug']} ({miss['reason']})", 0))
    for hint in answer["suggestions"]:
        click.echo(wrapped(hint, 0))
    degraded = f", degraded: {retrieval['degraded_reason']}" if retrieval["degraded"] else ""
    fallback = (
        ", nothing about the technologies named: all were searched" if retrieval["technology_filter_fallback"] else ""
    )
    dropped = f", {len(retrieval['dropped'])} left out by the budget" if retrieval["dropped"] else ""
    click.echo(f"({retrieval['mode']}, {retrieval['tokens_used']} tokens{degraded}{fallback}{dropped})")


def _finding_text(finding: Mapping[str, Any]) -> str:
    name = " ".join(part for part in (finding["technology"], finding.get("version")) if part)
    constraint = f" (record: {finding['constraint']})" if "constraint" in finding else ""
    return f"{name}: {finding['verdict'].replace('_', ' ')}{constraint}"


def _explain(runtime: Runtime, arguments: Mapping[str, Any], *, everything: bool, as_json: bool) -> dict[str, Any]:
    explanation = runtime.explain(arguments)
    candidates = [
        row
        for row in explanation["candidates"]
        if everything or row["place"] <= _EXPLAINED or row["tokens_whole"] or row["slug"] in explanation["near_misses"]
    ]
    if as_json:
        print_json({**explanation, "candidates": candidates})
    else:
        print_explanation(explanation, candidates)
    return explanation
