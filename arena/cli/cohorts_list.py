"""`arena cohorts list`: what every cohort is doing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table, program
from arena.cli.positions import exact

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.schema.database import Connection
    from arena.rounds.season import CohortOverview

Number = Annotated[int, typer.Argument(metavar="N", help="The number of a cohort.", min=1)]
"""Which cohort a command is about."""
MEANT = (
    "playing: decides as its rounds come; paused: not for now; stopped: ended by hand, tracked until its "
    "last position settles; tracked: no round left, or overtaken; ended: nothing is open."
)


def list_cohorts(
    context: typer.Context, config: ConfigFile = None, database: Database = None, as_json: Json = False
) -> None:
    """List the cohorts: start, state, rounds, next decision, agents, open positions, profit and loss.

    A cohort is playing, paused, stopped (by `arena cohorts end`), tracked (it has no round left, or newer
    ones decide in its place) or ended. Profit and loss are those of its worst and of its best agent.

    Example: arena cohorts list

    Next: arena cohorts show N
    """
    from arena.record.dry_run import open_or_empty
    from arena.record.schema.database import reading

    chosen = options(context, config, database)
    known = chosen.known()
    address = known.database if known is not None else chosen.record()
    with open_or_empty(address) as engine, reading(engine) as connection:
        found = [as_data(each) for each in glanced(connection, known)]
    if as_json:
        print_json({"cohorts": found})
    else:
        say(found)


def glanced(connection: "Connection", known: "Config | None") -> "list[CohortOverview]":
    """Every cohort at a glance, by the clock and the config; where there is none, by its defaults."""
    from arena.clock import now
    from arena.config.sections import CohortsSection
    from arena.rounds.season import cohort_overviews

    rules = CohortsSection() if known is None else known.cohorts
    return cohort_overviews(connection, rules.keep_deciding, now())


def as_data(found: "CohortOverview") -> dict[str, Any]:
    """A cohort at a glance for JSON; money in dollars."""
    cohort, stored = found.cohort, found.stored
    times = {"ended_at": stored.ended_at, "paused_at": stored.paused_at, "stopped_at": stored.stopped_at}
    profits = sorted(found.profits.values())
    return {
        "cohort": cohort.number,
        "starts_at": cohort.starts_at.isoformat(),
        "by_hand": cohort.by_hand,
        "venue": cohort.venue,
        "stamp": cohort.stamp,
        "state": found.state,
        "rounds": cohort.rounds,
        "rounds_over": found.done,
        "next_at": found.next_at and found.next_at.isoformat(),
        **{name: at and at.isoformat() for name, at in times.items()},
        "agents": len(cohort.entrants),
        "open_positions": found.open,
        "pnl_low": exact(profits[0]) if profits else None,
        "pnl_high": exact(profits[-1]) if profits else None,
    }


def say(found: Sequence[Mapping[str, Any]]) -> None:
    """The cohorts as a table."""
    if not found:
        print(f"No cohort has started yet. Next: {program()} round, or {program()} cohorts start")
        return
    titles = ("cohort", "start (UTC)", "state", "rounds", "next (UTC)", "agents", "open", "P/L $ from", "to")
    print_table(titles, [_line(each) for each in found])
    print(MEANT)
    print(f"Next: {program()} cohorts show {found[-1]['cohort']}")


def _line(each: Mapping[str, Any]) -> list[object]:
    money = [None if each[key] is None else f"{each[key]:+,.2f}" for key in ("pnl_low", "pnl_high")]
    return [
        each["cohort"],
        minute(each["starts_at"]),
        each["state"],
        f"{each['rounds_over']} of {each['rounds']}",
        each["next_at"] and minute(each["next_at"]),
        each["agents"],
        each["open_positions"],
        *money,
    ]


def minute(at: str) -> str:
    """An instant for people: to the minute.

    >>> minute("2026-01-04T00:00:00+00:00")
    '2026-01-04 00:00'
    """
    return at[:16].replace("T", " ")
