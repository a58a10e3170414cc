"""The program `arena`: its commands, what they share, and how expected errors end."""

import importlib.util
import sys
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
from arena.cli.duel import duel
from arena.cli.export import export
from arena.cli.import_ import import_record
from arena.cli.init import init
from arena.cli.leaderboard import leaderboard
from arena.cli.markets import markets
from arena.cli.options import ConfigFile, Database, Options
from arena.cli.output import print_error
from arena.cli.positions import positions
from arena.cli.replay import replay
from arena.cli.report import report
from arena.cli.round import round as play_round
from arena.cli.run import run
from arena.cli.score import score
from arena.cli.status import status
from arena.cli.tournament import tournament
from arena.cli.verify import verify
from arena.cli.watch import watch
from arena.cli.whatif import whatif
from arena.cli.worker import worker
from arena.errors import ArenaError

PACKAGES = ("markets", "portfolio", "agents", "dashboard")


def flow(command: Any) -> None:
    """Let the help of a command, and of those under it, fill lines however wide the terminal is."""
    paragraphs = cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(words.split()) for words in paragraphs)
    for under in getattr(command, "commands", {}).values():
        flow(under)


class Commands(TyperGroup):
    """The commands, in the order given here. Expected errors are printed, without a traceback."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        flow(self)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except ArenaError as error:
            print_error(error, as_json=bool(ctx.obj and ctx.obj.json))
            raise typer.Exit(error.status) from error


app = typer.Typer(
    name="arena",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here? arena demo plays a whole season without a key; arena init DIR starts your own arena.",
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
app.add_typer(watch, name="watch")
app.add_typer(agents, name="agents")
app.add_typer(cohorts, name="cohorts")
app.add_typer(markets, name="markets")
app.command()(leaderboard)
app.command()(duel)
app.command()(score)
app.command()(tournament)
app.command()(positions)
app.command()(whatif)
app.command()(replay)
app.command()(verify)
app.command()(export)
app.command("import")(import_record)
app.command()(dashboard)
app.command()(report)
app.add_typer(db, name="db")


def other_home(package: str, home: Path) -> Path | None:
    """Where a package would be imported from, if that is not our home."""
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    if str(home / package) in places or any(Path(place).resolve() == home / package for place in places):
        return None
    return Path(places[0] if places else (spec and spec.origin) or "nowhere")


def guard() -> None:
    """Stop where another package has taken the place of one of ours."""
    home = Path(__file__).resolve().parents[2]
    for package in PACKAGES:
        other = other_home(package, home)
        if other is not None:
            raise ArenaError(
                "shadowed",
                f"`{package}` would be imported from {other}, not from {home / package}: "
                "another package of that name hides ours",
                "install paper-arena in a virtual environment of its own "
                "(the package openai-agents, for one, also calls itself `agents`)",
            )


def main() -> None:
    """Run `arena` with the arguments of the command line."""
    try:
        guard()
    except ArenaError as error:
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(error.status)
    from markets.garbage_collection import gc_seldom

    with gc_seldom():  # loading alone makes hundreds of thousands of objects, and all of them stay
        app(prog_name="arena")


if __name__ == "__main__":
    main()
