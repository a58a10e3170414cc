"""`arena markets`: what venues offer, what was seen of it, and what was not taken."""

import typer

from arena.cli.markets_check import check_bundle
from arena.cli.markets_list import list_markets
from arena.cli.markets_record import record_markets
from arena.cli.markets_rejected import rejected
from arena.cli.markets_show import show
from arena.cli.markets_sync import sync

HELP = """Read a venue's markets, look at them, record them. Nothing here asks a model or bets.

Example: arena markets sync

Next: arena markets list shows what was read.
"""

markets = typer.Typer(help=HELP, no_args_is_help=True)
markets.command()(sync)
markets.command("list")(list_markets)
markets.command()(show)
markets.command("record")(record_markets)
markets.command("check")(check_bundle)
markets.command()(rejected)
