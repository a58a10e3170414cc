"""`arena db`: looking after the record."""

import typer

from arena.cli.db_prune import prune

db = typer.Typer(help="Look after the record.", no_args_is_help=True)


@db.callback()
def _group() -> None:
    """Look after the record."""


db.command()(prune)
