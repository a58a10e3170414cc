"""The program `arena`: its commands, and how it ends: with which status, and after which errors."""

import os
import re
import select
import signal
import sys
from collections.abc import Iterator, Mapping
from copy import copy
from datetime import datetime
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from arena.cli.options import CONFIG_FILE, DATABASE, Options
from arena.cli.output import print_error
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
METAVARS = {int: "N", float: "N", list[int]: "N", datetime: "DAY"}
"""What help calls the value of an option that has no word of its own for it."""


FAMILIES = {
    "agents": """List the agents, add models, and try one before it plays. Nothing here changes the record.

Example: arena agents add anthropic/claude-sonnet-5

Next: arena round plays the next round with all of them.
""",
    "cohorts": """List the cohorts, start one by hand, pause or end one, and seal its decisions.

A cohort keeps its settings; a changed config takes effect with the next one.

Example: arena cohorts diff 1 next

Next: arena round plays the next round.
""",
    "markets": """Read, list, settle and record a venue's markets. Nothing here calls a model or places a bet.

Example: arena markets sync

Next: arena markets list shows what was read.
""",
    "forecastbench": """Play, check and score ForecastBench's rounds.

Question sets, resolution sets and forecasters' files come plain or packed with gzip.

Example: arena forecastbench check 2026-03-01.us.1.json --questions 2026-03-01-llm.json

Next: arena forecastbench board
""",
    "db": """Maintain the record: back it up, restore, upgrade, move and prune it.

Only old prices that nothing depends on can be pruned.

Example: arena db backup

Next: arena verify
""",
}
"""What the help of each family says."""
COMMANDS: dict[str, Any] = {
    "demo": "demo:demo",
    "try": "try_model:try_model",
    "init": "init:init",
    "config": "config:config",
    "check": "check:check",
    "run": "run:run",
    "round": "round:round_command",
    "status": "status:status",
    "worker": "run:worker",
    "prompts": "prompts:prompts",
    "leaderboard": "leaderboard:leaderboard",
    "duel": "leaderboard:duel",
    "score": "score:score",
    "tournament": "score:tournament",
    "positions": "positions:positions",
    "whatif": "whatif:whatif",
    "schema": "schema:schema",
    "desk": "desk:desk",
    "mcp": "desk:mcp",
    "history": "history:history",
    "replay": "replay:replay",
    "verify": "verify:verify",
    "export": "export:export",
    "import": "export:import_record",
    "dashboard": "dashboard:dashboard",
    "report": "export:report",
    "publish": "export:publish",
    "agents": {
        "list": "agents:list_agents",
        "show": "agents:show",
        "add": "agents_add:add",
        "try": "agents_try:try_agent",
    },
    "cohorts": {
        "list": "cohorts:list_cohorts",
        "show": "cohorts:show",
        "start": "cohorts:start",
        "end": "cohorts:end",
        "pause": "cohorts:pause",
        "diff": "cohort_diff:diff",
        "seal": "cohort_diff:seal",
    },
    "markets": {
        "sync": "market_files:sync",
        "list": "markets:list_markets",
        "show": "markets:show",
        "settle": "market_settle:settle",
        "record": "market_files:record_markets",
        "check": "market_files:check_bundle",
        "rejected": "markets:rejected",
    },
    "forecastbench": {
        "fetch": "forecastbench:fetch",
        "run": "forecastbench_run:run",
        "file": "forecastbench:file",
        "check": "forecastbench:check",
        "board": "forecastbench:board",
    },
    "db": {"backup": "db:backup", "restore": "db:restore", "upgrade": "db:upgrade", "prune": "db:prune"},
}
"""The file and the function of each command, loaded where it is asked for."""


def flow(command: Any) -> None:
    """Let the help of a command fill lines however wide the terminal is."""
    paragraphs = cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(words.split()) for words in paragraphs)
    for each in command.params:
        each.metavar = each.metavar or METAVARS.get(each.type_descriptor.annotation)


class LiteralHelp(TyperCommand):
    """A command whose help is shown as it is written: nothing in brackets is taken for markup."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; in plain text there is no markup to begin with."""
        shown = copy(self)
        if self.rich_markup_mode is not None:
            from rich.markup import escape

            shown.help = escape(self.help or "")
            shown.params = [copy(option) for option in self.params]
            for option in shown.params:
                if isinstance(option, TyperOption | TyperArgument):
                    option.help = escape(option.help or "")
        TyperCommand.format_help(shown, ctx, formatter)


@cache
def load_command(name: str, place: str) -> Any:
    """The command of that name in its place."""
    file, _, function = place.partition(":")
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=LiteralHelp)(getattr(import_module(f"arena.cli.{file}"), function))
    command = get_command(alone)
    flow(command)
    return command


def first_words(place: str) -> str:
    """What a command says of itself first, read without loading it: help has to be there at once."""
    file, _, function = place.partition(":")
    text = Path(__file__).with_name(f"{file}.py").read_text("utf-8")
    _, _, after = text.partition(f"\ndef {function}(")
    return " ".join(re.split(r"\n *\n", after.split('"""')[1])[0].split())


class LoadedCommands(Mapping[str, Any]):
    """Commands and families by name, each loaded when it is asked for."""

    def __init__(self, places: Mapping[str, Any]) -> None:
        self.places = places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, name: str) -> Any:
        place = self.places[name]
        return load_command(name, place) if isinstance(place, str) else Family(name, place)

    def listed(self) -> dict[str, Any]:
        """The same with no more of each command than a list of them says."""
        return {
            name: TyperCommand(name, help=first_words(place)) if isinstance(place, str) else self[name]
            for name, place in self.places.items()
        }


EXIT_STATUSES = {
    0: "success, or stopped as asked",
    1: "nothing was done, or a check found a fault",
    2: "only part was done: a turn failed, a record was rejected or a model was not reached",
    USAGE: "usage error: nothing was done",
    INTERRUPTED: "interrupted by Ctrl-C, finished work is kept",
    141: "the reader of the output closed the pipe",
}
"""What a script can go by."""


class CommandListing(TyperGroup):
    """Commands whose help loads none of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, which are known without them."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, with what each command says of itself first."""
        listed = copy(self)
        listed.commands = cast(LoadedCommands, self.commands).listed()
        TyperGroup.format_help(listed, ctx, formatter)


class Family(CommandListing):
    """The commands that have their first word in common."""

    def __init__(self, name: str, places: Mapping[str, str]) -> None:
        super().__init__(name=name, help=FAMILIES[name], no_args_is_help=True)
        self.commands = cast(Any, LoadedCommands(places))
        flow(self)


class Commands(CommandListing):
    """The commands, in the order given here. Expected errors are printed, without a traceback."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = cast(Any, LoadedCommands(COMMANDS))
        flow(self)

    def main(self, *args: Any, **named: Any) -> Any:
        """Run the command that was asked for, and exit with one of the statuses."""
        words = sys.argv[1:] if named.get("args") is None else list(named["args"])
        try:
            status = super().main(*args, **(named | {"standalone_mode": False}))
        except (typer.Abort, KeyboardInterrupt) as error:
            status = INTERRUPTED
            if isinstance(error.__context__, EOFError):
                print(file=sys.stderr)  # the question has no end of line
                status, unanswered = 1, ArenaError("not_asked", "no answer was given", "see --help")
                print_error(unanswered, "--json" in words)
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
        except LookupError as error:
            from markets.registry import UntrustedExtension  # only now: another package may have that name

            if not isinstance(error, UntrustedExtension):
                raise
            print_error(ArenaError("untrusted", str(error)), as_json=bool(ctx.obj and ctx.obj.json))
            raise typer.Exit(USAGE) from error
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
    >>> usage_text("Invalid value for '--by': Value error, 'x' is not one of 'lot'.")
    "Invalid value for '--by': 'x' is not one of 'lot'."
    """
    words = re.sub("a valid integer.*", "a whole number", message.replace("Value error, ", ""))
    return re.sub("a valid number.*", "a number", words).replace("Input should be", "expected")


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
    config: Path | None = CONFIG_FILE,
    database: str | None = DATABASE,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Paper Arena: LLM agents bet play money on prediction markets, and you learn who forecasts well."""
    context.obj = Options(config, database)


def main() -> None:
    """Run `arena` with the arguments of the command line."""
    from markets.garbage_collection import gc_seldom

    try:
        with gc_seldom():  # loading alone makes hundreds of thousands of objects, and all of them stay
            app(prog_name="arena")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
