"""`arena db`: looking after the record."""

import typer

from arena.cli.db_backup import backup
from arena.cli.db_copy import copy
from arena.cli.db_prune import prune
from arena.cli.db_restore import restore
from arena.cli.db_upgrade import upgrade

HELP = """Look after the record: back it up, restore, upgrade and move it.

What happened stays in it: only old prices that nothing stands on may go.

Example: arena db backup

Next: arena verify
"""

db = typer.Typer(help=HELP, no_args_is_help=True)


db.command()(backup)
db.command()(restore)
db.command()(upgrade)
db.command()(copy)
db.command()(prune)
