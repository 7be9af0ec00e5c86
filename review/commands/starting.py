"""`review new`: the file of a new record, asked for on a terminal, given by options elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from app.record import Confidence, TaskType, Topic, is_slug
from app.transports.cli.printing import json_option, print_json, reports_errors
from review.answers import InvalidAnswer, read_slug, read_symptom, read_technology, read_title, read_url, slug_of
from review.errors import Refused, wrong_usage
from review.screen import records_of, today
from review.skeleton import Draft, known_source, licence_hint, render

Value = TypeVar("Value")
_PLACE = f"give TOPIC/SLUG, the topic one of {', '.join(Topic)}, the slug lower-case words joined by hyphens"


@click.command("new")
@click.argument("place", metavar="[TOPIC/SLUG]", required=False)
@click.option("--topic", type=click.Choice([topic.value for topic in Topic]), help="Its folder.")
@click.option("--title", help="What to do, in a line. The slug is made of it where none is given.")
@click.option("--slug", help="Its name.")
@click.option(
    "--applies-to",
    "technologies",
    multiple=True,
    metavar="KIND:NAME[:CONSTRAINT[:SCHEME]]",
    help='A technology, e.g. "framework:React:>=18". Again for more.',
)
@click.option("--symptom", "symptoms", multiple=True, help="The problem in the words of who has it. Again for more.")
@click.option("--source", "sources", multiple=True, metavar="URL", help="A page that says so. Again for more.")
@click.option("--task-type", "tasks", multiple=True, type=click.Choice([task.value for task in TaskType]),
              help="What an agent is doing that needs it. Again for more.")  # fmt: skip
@click.option("--confidence", type=click.Choice([level.value for level in Confidence]), default="medium",
              show_default=True, help="How sure it is.")  # fmt: skip
@click.option("--no-input", is_flag=True, help="Ask nothing, on a terminal either.")
@json_option
@click.pass_context
@reports_errors
def new_command(
    context: click.Context,
    place: str | None,
    topic: str | None,
    title: str | None,
    slug: str | None,
    technologies: tuple[str, ...],
    symptoms: tuple[str, ...],
    sources: tuple[str, ...],
    tasks: tuple[str, ...],
    confidence: str,
    no_input: bool,
    as_json: bool,
) -> None:
    """Write a complete skeleton for a new record. On a terminal it asks for what no option gives."""
    if place is not None:
        if topic is not None or slug is not None:
            raise wrong_usage("give TOPIC/SLUG or --topic and --slug, not both")
        topic, slug = _parted(place)
    asks = not (no_input or as_json) and sys.stdin.isatty()
    try:
        draft_topic, draft = _draft(asks, topic, title, slug, technologies, symptoms, sources)
    except InvalidAnswer as error:
        raise wrong_usage(error.message) from None
    chosen = tuple(TaskType(task) for task in tasks) or draft.task_types
    path = write_draft(records_of(context), draft_topic, _with(draft, chosen, Confidence(confidence)))
    if as_json:
        return print_json({"slug": path.stem, "path": str(path)})
    click.echo(f"written: {path}\nFill it in (docs/writing-records.md), then: chatctx review check {path.stem}")
    return None


def write_draft(records: Path, topic: str, draft: Draft) -> Path:
    """Write the file of a new record and return its path. Raises Refused when the name is taken."""
    taken = [path for path in records.glob(f"*/{draft.slug}.md") if path.parent.name != topic]
    if taken:
        raise Refused(f"The slug is taken by {taken[0].parent.name}/{draft.slug}: choose another.")
    path = records / topic / f"{draft.slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(render(draft, today()))
    except FileExistsError:
        raise Refused(f"{topic}/{draft.slug} exists already: edit {path}.") from None
    return path


def _parted(place: str) -> tuple[str, str]:
    topic, separator, slug = place.removesuffix(".md").partition("/")
    if not separator or topic not in set(Topic) or not is_slug(slug):
        raise wrong_usage(_PLACE)
    return topic, slug


def _with(draft: Draft, tasks: tuple[TaskType, ...], confidence: Confidence) -> Draft:
    return Draft(**(vars(draft) | {"task_types": tasks, "confidence": confidence}))


def _draft(
    asks: bool,
    topic: str | None,
    title: str | None,
    slug: str | None,
    technologies: tuple[str, ...],
    symptoms: tuple[str, ...],
    sources: tuple[str, ...],
) -> tuple[str, Draft]:
    """Return topic and draft of what is given, asking for the rest where somebody can be asked."""
    read_titles = [read_title(title)] if title is not None else []
    read_sources = [read_url(url) for url in sources]
    read_technologies = [read_technology(text) for text in technologies]
    read_symptoms = [read_symptom(text) for text in symptoms]
    if asks:
        read_titles = read_titles or [_ask("What to do, in a line", read_title)]
        topic = topic or str(click.prompt("Topic", type=click.Choice([one.value for one in Topic])))
        slug = slug or _ask("Slug", read_slug, default=slug_of(read_titles[0]))
        read_technologies = read_technologies or _ask_all("Applies to (KIND:NAME[:CONSTRAINT])", read_technology)
        read_symptoms = read_symptoms or _ask_all("Symptom, as somebody who has it would type it", read_symptom)
        read_sources = read_sources or _ask_all("Address of a source", read_url, tell=licence_hint)
    slug = slug or (slug_of(read_titles[0]) if read_titles else None)
    if topic is None or slug is None:
        raise wrong_usage(f"{_PLACE}; or --topic and --title")
    return topic, Draft(
        read_slug(slug),
        "".join(read_titles),
        applies_to=tuple(read_technologies),
        symptoms=tuple(read_symptoms),
        sources=tuple(known_source(url) for url in read_sources),
    )


def _ask(question: str, read: Callable[[str], Value], default: str | None = None) -> Value:
    """Ask until the answer can be read."""
    while True:
        try:
            return read(str(click.prompt(question, default=default)))
        except InvalidAnswer as error:
            click.echo(f"  {error.message}")


def _ask_all(question: str, read: Callable[[str], Value], tell: Callable[[str], str] | None = None) -> list[Value]:
    """Ask again and again, until an answer is empty."""
    found: list[Value] = []
    while answer := str(click.prompt(f"{question}, or Enter for none", default="", show_default=False)):
        try:
            found.append(read(answer))
        except InvalidAnswer as error:
            click.echo(f"  {error.message}")
            continue
        if tell:
            click.echo(f"  {tell(answer)}")
    return found
