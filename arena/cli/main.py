"""The program `arena`: its commands, and how it ends: with which status, and after which errors."""

import importlib.util
import os
import re
import select
import signal
import sys
from datetime import datetime
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arena.cli.agents import agents
from arena.cli.check import check
from arena.cli.cohorts import cohorts
from arena.cli.config import config as print_config
from arena.cli.dashboard import dashboard
from arena.cli.db import db
from arena.cli.demo import demo
from arena.cli.desk import desk, mcp
from arena.cli.export import export, import_record, publish, report
from arena.cli.forecastbench import forecastbench
from arena.cli.history import history
from arena.cli.init import init
from arena.cli.leaderboard import duel, leaderboard
from arena.cli.markets import markets
from arena.cli.options import ConfigFile, Database, Options
from arena.cli.output import print_error
from arena.cli.positions import positions
from arena.cli.prompts import prompts
from arena.cli.replay import replay
from arena.cli.round import round as play_round
from arena.cli.run import run, worker
from arena.cli.schema import schema
from arena.cli.score import score, tournament
from arena.cli.status import status
from arena.cli.verify import verify
from arena.cli.whatif import whatif
from arena.errors import ArenaError

UsageError: Any = typer.BadParameter.__base__
"""What Typer raises where a command line is wrong."""
USAGE, INTERRUPTED = 64, 130
FORMER = {
    "arena cohorts resume": "arena cohorts pause N --resume",
    "arena db copy": "arena db backup URL",
    "arena forecastbench resolve": "arena forecastbench fetch --resolutions",
    "arena watch": "arena status --incidents, and its test arena status --test-webhook",
}
"""What commands that are no more are called now."""
PACKAGES = ("markets", "portfolio", "agents", "dashboard")
METAVARS = {int: "N", float: "N", list[int]: "N", datetime: "DAY"}
"""What help calls the value of an option that has no word of its own for it."""


def flow(command: Any) -> None:
    """Let the help of a command, and of those under it, fill lines however wide the terminal is."""
    paragraphs = cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(words.split()) for words in paragraphs)
    for each in command.params:
        each.metavar = each.metavar or METAVARS.get(each.type_descriptor.annotation)
    for under in getattr(command, "commands", {}).values():
        flow(under)


EXIT_STATUSES = {
    0: "success, or stopped as asked",
    1: "nothing was done, or a check found a fault",
    2: "only part was done: a turn failed, a record was rejected or a model was not reached",
    USAGE: "usage error: nothing was done",
    INTERRUPTED: "interrupted by Ctrl-C, finished work is kept",
    141: "the reader of the output closed the pipe",
}
"""What a script can go by."""


class Commands(TyperGroup):
    """The commands, in the order given here. Expected errors are printed, without a traceback."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        flow(self)

    def main(self, *args: Any, **named: Any) -> Any:
        """Run the command that was asked for, and exit with one of the statuses."""
        words = sys.argv[1:] if named.get("args") is None else list(named["args"])
        try:
            status = super().main(*args, **(named | {"standalone_mode": False}))
        except (typer.Abort, KeyboardInterrupt):
            status = INTERRUPTED
        except UsageError as error:
            status, context = USAGE, error.ctx
            if "--json" not in words and context and type(error).__name__ == "NoArgsIsHelpError":
                print(context.get_help())
            else:
                message = usage_text(error.format_message())
                hint = usage_hint(message, context.command_path) if context else ""
                print_error(ArenaError("usage", message, hint), "--json" in words)
        if status == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(status)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what whoever reads the output no longer wants is not written."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except ArenaError as error:
            print_error(error, as_json=bool(ctx.obj and ctx.obj.json))
            raise typer.Exit(error.status) from error
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "can't start new thread" not in str(error):
                raise
            hint = "allow it more memory, or play fewer agents at once; finished work is kept"
            print_error(ArenaError("no_memory", "out of memory", hint), bool(ctx.obj and ctx.obj.json))
            raise typer.Exit(1) from error
        except BrokenPipeError:
            watched = select.poll()
            watched.register(sys.stdout.fileno(), 0)
            if not watched.poll(0):  # somebody still reads what is printed
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None
        return done


def usage_text(message: str) -> str:
    """What is wrong with a command line, without the words of the library that found it.

    >>> usage_text("Invalid value for '--limit': Input should be a valid integer, unable to parse string")
    "Invalid value for '--limit': expected a whole number"
    """
    return re.sub("Input should be a valid integer.*", "expected a whole number", message).replace(
        "Input should be", "expected"
    )


def usage_hint(message: str, typed: str) -> str:
    """Where to look, or what a command that was typed is called now.

    >>> usage_hint("No such command 'copy'.", "arena db")
    'it is now arena db backup URL'
    """
    gone = re.match("No such command '(.+?)'", message)
    named = FORMER.get(f"{typed} {gone[1]}") if gone else None
    return f"it is now {named}" if named else f"see {typed} --help"


app = typer.Typer(
    name="arena",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here? arena demo plays a season without a key; arena init DIR starts your own arena.\n\n"
    "Exit status: " + "; ".join(f"{status} {words}" for status, words in EXIT_STATUSES.items()) + ".",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"arena {version('paper-arena')}")
        except PackageNotFoundError:
            print("arena, from a checkout that is not installed")
        raise typer.Exit


@app.callback()
def arena(
    context: typer.Context,
    config: ConfigFile = None,
    database: Database = None,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Paper Arena: LLM agents bet play money on prediction markets, and you learn who forecasts well."""
    context.obj = Options(config, database)


app.command()(demo)
app.command()(init)
app.command("config")(print_config)
app.command()(check)
app.command()(run)
app.command("round")(play_round)
app.command()(status)
app.command()(worker)
app.add_typer(agents, name="agents")
app.add_typer(cohorts, name="cohorts")
app.add_typer(markets, name="markets")
app.command()(prompts)
app.command()(leaderboard)
app.command()(duel)
app.command()(score)
app.command()(tournament)
app.add_typer(forecastbench, name="forecastbench")
app.command()(positions)
app.command()(whatif)
app.command()(schema)
app.command()(desk)
app.command()(mcp)
app.command()(history)
app.command()(replay)
app.command()(verify)
app.command()(export)
app.command("import")(import_record)
app.command()(dashboard)
app.command()(report)
app.command()(publish)
app.add_typer(db, name="db")


def guard() -> None:
    """Stop where another package has taken the place of one of ours."""
    home = Path(__file__).resolve().parents[2]
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        places = list(spec.submodule_search_locations or []) if spec else []
        if not any(Path(place).resolve() == home / package for place in places):
            other = places[0] if places else spec and spec.origin
            raise ArenaError(
                "shadowed",
                f"another package named {package} is installed ({other})",
                "install paper-arena in an environment of its own: uv tool install paper-arena",
            )


def main() -> None:
    """Run `arena` with the arguments of the command line."""
    try:
        guard()
    except ArenaError as error:
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(error.status)
    from markets.garbage_collection import gc_seldom

    try:
        with gc_seldom():  # loading alone makes hundreds of thousands of objects, and all of them stay
            app(prog_name="arena")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
