"""`arena agents`: who plays, how that went, and what a new one would do."""

import typer

from arena.cli.agents_list import list_agents
from arena.cli.agents_show import show
from arena.cli.agents_try import try_agent

HELP = """Look at the agents, and try one out before it enters. Nothing here changes the record.

Example: arena agents try sharp --dry

Next: arena round plays the next round with all of them.
"""

agents = typer.Typer(help=HELP, no_args_is_help=True)
agents.command("list")(list_agents)
agents.command()(show)
agents.command("try")(try_agent)
