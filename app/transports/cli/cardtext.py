"""A record's card as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.transports.cli.printing import wrapped


def print_card(card: Mapping[str, Any]) -> None:
    """Print a card at any detail; a version is named only where the card has one."""
    click.echo(f"{card['title']}\n{'=' * min(len(card['title']), 78)}")
    click.echo(" · ".join(_standing(card)) + "\n")
    for field in ("summary", "recommendation", "rationale"):
        if field in card:
            click.echo(f"{field.capitalize()}\n{wrapped(card[field])}\n")
    for field in ("conditions", "exceptions", "pitfalls", "verification_checks"):
        if card[field]:
            bullets = "\n".join(wrapped(f"- {text}") for text in card[field])
            click.echo(f"{field.replace('_', ' ').capitalize()}\n{bullets}\n")
    if card.get("examples"):
        click.echo(f"Examples\n{card['examples']}\n")
    for source in card["sources"]:
        click.echo(f"Source ({source['relation']}): {source['title']}, {source['url']}")
    click.echo()


def _standing(card: Mapping[str, Any]) -> list[str]:
    told = [card["slug"], card["topic"], f"confidence {card['confidence']}"]
    if "content_version" in card:
        told.append(f"version {card['content_version']}")
    if "verified_on" in card:
        told.append(f"checks passed {card['verified_on']}")
    return told
