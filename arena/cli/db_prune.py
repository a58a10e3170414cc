"""`arena db prune`: let old quotes go that nothing stands on."""

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, program
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.record.write.listings import PruneResult


def prune(
    context: typer.Context,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE", help="How old a quote must be to go, such as 90d or 12w."
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Let old quotes go that no snapshot holds, and so no turn, fill or mark stands on.

    Nothing in a record goes by itself. This says first what would go and why the others stay, and asks before
    it does so. Of every market the newest quote from before that time stays, so that its price is known at
    any time after it. The record keeps how many went and when; arena verify knows of it.

    Example: arena db prune --older-than 90d --dry-run

    Next: arena verify
    """
    from arena.clock import now
    from arena.record.record import Record
    from arena.record.schema.database import connect, reading
    from arena.record.write.listings import plan_pruning, prune_quotes

    at, address = now(), options(context, config, database).record()
    edge = at - age(older_than)
    engine = connect(address, read_only=True)
    try:
        with reading(engine) as connection:
            plan = plan_pruning(connection, edge)
    finally:
        engine.dispose()
    if not as_json:
        say(plan)
    done = plan.goes > 0 and not dry_run and agreed(yes, as_json)
    if done:
        record = Record.open(address)
        try:
            plan = record.write(prune_quotes, edge, at)
        finally:
            record.close()
    if as_json:
        print_json({"done": done} | as_dict(plan))
    elif done:
        print(f"{plan.goes:,} quotes are gone; their room is used for new ones. Next: {program()} verify")


def age(text: str) -> timedelta:
    """The length of a duration.

    >>> age("90d").days
    90
    """
    from pydantic_core import PydanticCustomError

    from arena.config.field_types import DURATION, seconds

    try:
        return timedelta(seconds=seconds(text))
    except PydanticCustomError as error:
        raise ArenaError("bad_duration", f"{text!r} is no length of time", f"give {DURATION}") from error


def agreed(yes: bool, as_json: bool) -> bool:
    """Whether the quotes shall go; who can't be asked has to say so."""
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        raise ArenaError("not_confirmed", "nothing was changed", "--yes lets them go, --dry-run only looks")
    return typer.confirm("Let them go?")


def as_dict(plan: "PruneResult") -> dict[str, Any]:
    """For JSON."""
    from dataclasses import asdict

    return asdict(plan) | {"older_than": plan.older_than.isoformat()}


def say(plan: "PruneResult") -> None:
    """What would go, and what stays."""
    quotes = plan.goes + plan.used + plan.last + plan.later
    print(f"Of {quotes:,} quotes, by {plan.older_than:%Y-%m-%d %H:%M} UTC:")
    print(f"  {plan.goes:,} can go: older, and nothing stands on them")
    print(f"  {plan.used:,} stay: snapshots hold them, and turns, fills and marks stand on those")
    print(f"  {plan.last:,} stay: each is its market's newest from before then")
    print(f"  {plan.later:,} stay: they are not older")
