"""`review models` and `drop-model`: whose vectors are kept, and the last step of a change of models."""

from __future__ import annotations

from dataclasses import asdict

import click

from app.database import open_database
from app.store.models import drop_model, kept_models
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.screen import settings_of


@click.command("models")
@json_option
@click.pass_context
@reports_errors
def models_command(context: click.Context, as_json: bool) -> None:
    """List the embedding models whose vectors are stored, the one published first first.

    A server searches by meaning with the model it is set to, if that is in the list.
    """
    with open_database(settings_of(context)) as database:
        database.migrate()
        models = kept_models(database.owner)
    if as_json:
        return print_json([asdict(model) for model in models])
    rows = [
        (kept.model.model_id, kept.model.revision, kept.model.dims, f"{kept.records} of {kept.served}", kept.vectors)
        for kept in models
    ]
    heading = ("model", "revision", "dimensions", "records", "vectors")
    print_table(heading, rows) if rows else click.echo("No vectors are stored.")
    return None


@click.command("drop-model")
@click.argument("revision")
@click.pass_context
@reports_errors
def drop_model_command(context: click.Context, revision: str) -> None:
    """Remove a model's vectors, once no server is set to it and nobody wants to go back.

    REVISION is as `review models` shows it. The only model that has vectors of every record is not removed.
    """
    with open_database(settings_of(context)) as database:
        database.migrate()
        dropped = drop_model(database.owner, revision)
    click.echo(f"dropped {dropped.vectors} vectors of {dropped.model.model_id}")
