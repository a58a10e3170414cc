"""The program `arena`: finds a command, runs it, and exits with a status for scripts."""

import os
import re
import select
import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from arena.cli.help import help_text
from arena.cli.options import CONFIG_FILE, DATABASE, Options
from arena.cli.output import with_record_options
from arena.cli.page import print_error
from arena.cli.surface import COMMANDS, FAMILIES, PANELS, Places, former_commands
from arena.errors import ArenaError

UsageError: Any = typer.BadParameter.__base__
"""The base class of Typer's errors in a command line."""
USAGE = 64
INTERRUPTED = 130
FIRST_LINES = """\
arena demo          play a whole season offline, then open its dashboard
arena try           ask a model real questions: its calibration in two minutes
arena score FILE    score forecasts that you already have
"""
"""What `arena` prints without a command."""


class Leaf(TyperCommand):
    """A command, whose help is plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, without interpreting markup."""
        formatter.write(help_text(self, ctx, formatter.width, {}) + "\n")


@cache
def load_command(name: str, place: str) -> Any:
    """Return the command of that name, loaded from its place."""
    file, _, function = place.partition(":")
    module = import_module(f"arena.cli.{file}".replace("/", "."))
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=Leaf)(getattr(module, function))
    return get_command(alone)


def first_sentence(place: "str | Places", name: str) -> str:
    """Return the first sentence of a command's help, read without loading the command.

    That saves a sixth of the CPU time of `arena --help`, measured by `benchmarks/performance.py`.
    """
    if not isinstance(place, str):  # a family
        return FAMILIES[name].partition("\n")[0]

    file, _, function = place.partition(":")
    source = (Path(__file__).parent / f"{file}.py").read_text("utf-8")
    _, _, after_name = source.partition(f"\ndef {function}(")
    docstring = after_name.split('"""')[1]
    first_paragraph, *_ = re.split(r"\n *\n", docstring)
    return " ".join(first_paragraph.split())


class Family(TyperGroup):
    """A group of commands that share a first word; its help loads none of them."""

    def __init__(self, name: str, places: Places, **more: Any) -> None:
        super().__init__(name=name, **{"help": FAMILIES.get(name), "no_args_is_help": True} | more)
        self.commands: Any = places
        self.panels: Mapping[str, Places] = {"Commands:": places}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, which may be in the plural: `show agents`."""
        places = self.commands
        singular = cmd_name.removesuffix("s")
        name = cmd_name if cmd_name in places else singular
        place = places.get(name)
        if isinstance(place, Mapping):
            return Family(name, place)
        return place and load_command(name, place)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the first sentence of each command."""
        panels: dict[str, dict[str, str]] = {}
        for title, places in self.panels.items():
            panels[title] = {name: first_sentence(place, name) for name, place in places.items()}
        formatter.write(help_text(self, ctx, formatter.width, panels) + "\n")


EXIT_STATUSES = (
    "Exit status: 0 success, or stopped as asked; 1 failed, or a check found a fault; 2 partly done; "
    "64 wrong usage; 130 Ctrl-C; 141 the output's reader is gone."
)
"""The last paragraph of `arena --help`."""


class Program(Family):
    """All commands. Expected errors are printed, without a traceback."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"places": COMMANDS} | more)
        self.panels = {f"{title}:": places for title, places in PANELS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was typed; an error about a former command names both of its words."""
        first_two = " ".join(args[:2])
        if args[0] not in self.commands and first_two in former_commands():
            ctx.fail(f"No such command {first_two!r}.")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **named: Any) -> Any:
        """Run the command that was typed, and exit with its status."""
        words = sys.argv[1:] if named.get("args") is None else list(named["args"])
        as_json = "--json" in words
        try:
            status = super().main(*args, **(named | {"standalone_mode": False}))
        except (typer.Abort, KeyboardInterrupt) as error:
            status = INTERRUPTED
            if isinstance(error.__context__, EOFError):  # standard input ended while a question was asked
                print(file=sys.stderr)  # end the line of the question
                status = 1
                print_error(ArenaError("not_asked", "no answer was given", "see --help"), as_json)
        except UsageError as error:
            status = USAGE
            context = error.ctx
            if not as_json and context and type(error).__name__ == "NoArgsIsHelpError":
                print(context.get_help())
            else:
                message = usage_text(error.format_message())
                hint = ""
                if context:
                    hint = usage_hint(message, context.command_path)
                print_error(ArenaError("usage", message, hint), as_json)

        if status == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C must not disturb the exit
        sys.exit(status)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and turn expected errors into an exit status."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            output = select.poll()
            output.register(sys.stdout.fileno(), 0)
            is_open = not output.poll(0)
            if is_open:  # somebody still reads what is printed: another pipe broke
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None
        except (ArenaError, LookupError, MemoryError, RuntimeError) as error:
            expected = expected_error(error)
            if expected is None:
                raise
            print_error(expected, bool(ctx.obj and ctx.obj.json))
            raise typer.Exit(expected.status) from error


def expected_error(error: Exception) -> ArenaError | None:
    """Return an expected error as it is printed; None for any other, which gets a traceback."""
    if isinstance(error, ArenaError):
        error.hint = with_record_options(error.hint)
        return error
    if isinstance(error, LookupError):
        from markets.registry import UntrustedExtension  # only now: another package may have that name

        if isinstance(error, UntrustedExtension):
            return ArenaError("untrusted", str(error), status=USAGE)
    elif isinstance(error, MemoryError) or "can't start new thread" in str(error):
        hint = "allow it more memory, or play fewer agents at once; finished work is kept"
        return ArenaError("no_memory", "out of memory", hint)
    return None


def usage_text(message: str) -> str:
    """Return an error in a command line without the phrases of pydantic.

    >>> usage_text("Invalid value for '--limit': Input should be a valid integer, unable to parse string")
    "Invalid value for '--limit': expected a whole number"
    >>> usage_text("Invalid value for '--by': Value error, 'x' is not one of 'lot'.")
    "Invalid value for '--by': 'x' is not one of 'lot'."
    >>> usage_text("Invalid value for '--end': '1.1.2026' does not match the formats '%Y-%m-%d'.")
    "Invalid value for '--end': '1.1.2026' is no day such as 2026-01-31."
    """
    text = message.replace("Value error, ", "")
    text = re.sub("a valid integer.*", "a whole number", text)
    text = re.sub("does not match the formats? '%Y-%m-%d'", "is no day such as 2026-01-31", text)
    text = re.sub("a valid number.*", "a number", text)
    return text.replace("Input should be", "expected")


def usage_hint(message: str, command_path: str) -> str:
    """Return which help to see, or the present name of a former command.

    >>> usage_hint("No such command 'db copy'.", "arena")
    'it is now arena admin backup URL'
    """
    unknown = re.match("No such command '(.+?)'", message)
    if unknown:
        present_name = former_commands().get(unknown[1])
        if present_name:
            return f"it is now arena {present_name}"
    return f"see {command_path} --help"


app = typer.Typer(
    name="arena",
    cls=Program,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_STATUSES,
)


def _print_version(asked_for: bool) -> None:
    """Print the version and end, if it was asked for."""
    if not asked_for:
        return
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
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Let LLM agents bet play money on prediction markets, and learn who forecasts well."""
    context.obj = Options(config, database)
    if context.invoked_subcommand is None:
        print(FIRST_LINES, end="")


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
