"""`arena config`: the settings in effect, and every key that there is."""

from dataclasses import asdict
from typing import Annotated

import typer

from arena.cli.check import without_password
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json


def config(
    context: typer.Context,
    every: Annotated[
        bool, typer.Option("--all", help="Every key there is, with its meaning and default.")
    ] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Print the settings in effect, defaults included, as a config would have them.

    With --all: every key that a config may hold, with its meaning, what it takes and its default. Both are
    valid configs. Passwords and the webhook's address are not shown.

    Example: arena config --all

    Next: arena check
    """
    from arena.config.listing import effective, every_key, sections, yaml_text

    if every:
        rows = [
            {"key": ".".join((*section.path, row.name)), **asdict(row)}
            for section in sections()
            for row in section.keys
        ]
        print_json(rows) if as_json else print(every_key(), end="")
        return
    settings = effective(options(context, config, database).load())
    settings["database"] = without_password(settings["database"])
    if "webhook" in settings.get("watch", {}):
        settings["watch"]["webhook"] = "***"
    print_json(settings) if as_json else print(yaml_text(settings), end="")
