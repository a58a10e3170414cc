"""`arena cohorts`: who started when, what was frozen, and who decides."""

import typer

from arena.cli.cohorts_diff import diff
from arena.cli.cohorts_halt import end, pause, resume
from arena.cli.cohorts_list import list_cohorts
from arena.cli.cohorts_seal import seal
from arena.cli.cohorts_show import show
from arena.cli.cohorts_start import start

HELP = """Look at the cohorts, start one by hand, pause or end one, and seal what was decided.

A cohort keeps what it started with: a changed config counts for those that start later.

Example: arena cohorts diff 1 next

Next: arena round plays the next round of those that decide.
"""

cohorts = typer.Typer(help=HELP, no_args_is_help=True)
cohorts.command("list")(list_cohorts)
cohorts.command()(show)
cohorts.command()(start)
cohorts.command()(end)
cohorts.command()(pause)
cohorts.command()(resume)
cohorts.command()(diff)
cohorts.command()(seal)
