"""`arena markets`: what venues offer, what was seen of it, and what was not taken."""

import typer

from arena.cli.markets_check import check_bundle
from arena.cli.markets_list import list_markets
from arena.cli.markets_record import record_markets
from arena.cli.markets_rejected import rejected
from arena.cli.markets_show import show
from arena.cli.markets_sync import sync

markets = typer.Typer(
    help="The markets of a venue: read them, look at them, record them. Nothing here asks a model or bets.",
    no_args_is_help=True,
    epilog="New here? arena markets sync reads the venue of the config, arena markets list shows it.",
)
markets.command()(sync)
markets.command("list")(list_markets)
markets.command()(show)
markets.command("record")(record_markets)
markets.command("check")(check_bundle)
markets.command()(rejected)
