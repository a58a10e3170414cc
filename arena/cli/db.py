"""`arena db`: looking after the record."""

import typer

from arena.cli.db_prune import prune

HELP = """Look after the record. What happened stays in it: only old prices that nothing stands on may go.

Example: arena db prune --older-than 90d --dry-run

Next: arena verify
"""

db = typer.Typer(help=HELP, no_args_is_help=True)


@db.callback()
def _group() -> None:
    """Commands stay below `arena db` though there is only one of them."""


db.command()(prune)
