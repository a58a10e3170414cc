"""`arena leaderboard`: who forecasts well, and whether that means anything yet."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.check_next import next_step
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.record.schema.database import Connection

COLUMNS = (
    ("agent", "agent", None),
    ("skill", "skill", "+.4f"),
    ("from", "skill_low", "+.4f"),
    ("to", "skill_high", "+.4f"),
    ("stated", "brier_stated", ".4f"),
    ("market", "brier_market", ".4f"),
    ("anchored", "brier_anchored", ".4f"),
    ("implied", "brier_implied", ".4f"),
    ("forecasts", "forecasts", ",d"),
    ("events", "events", ",d"),
    ("cover", "coverage", ".0%"),
    ("bets", "bets", ",d"),
    ("P/L $", "pnl", "+,.2f"),
    ("return %", "return_pct", "+.2f"),
    ("win", "win_rate", ".0%"),
    ("cost $", "cost_usd", ".4f"),
    ("per forecast", "cost_per_forecast", ".6f"),
)
LEGEND = (
    "stated, market, anchored and implied are Brier scores, lower is better; skill = market − stated, and\n"
    "in 95% of seasons the true one lies between from and to; the surest skill is first."
)
SLICED = (
    ("agent", "agent", None),
    ("skill", "skill", "+.4f"),
    ("from", "low", "+.4f"),
    ("to", "high", "+.4f"),
    ("markets", "markets", ",d"),
    ("events", "events", ",d"),
    ("effective", "effective", ".1f"),
    ("", "reason", None),
)
EXPECTED = (
    ("agent", "agent", None),
    ("skill", "skill", "+.4f"),
    ("stated", "brier_stated", ".4f"),
    ("market", "brier_market", ".4f"),
    ("forecasts", "forecasts", ",d"),
    ("still open", "open", ",d"),
)


class SliceBy(StrEnum):
    """What the rows of a season can be sliced by."""

    category = "category"
    horizon = "horizon"
    price = "price"
    cohort = "cohort"
    release = "release"


def leaderboard(
    context: typer.Context,
    cohort: Annotated[int | None, typer.Option(help="One cohort only, by its number.", min=1)] = None,
    by: Annotated[
        SliceBy | None,
        typer.Option(
            help="The skill of every agent by what markets are about, how long until they close, what YES "
            "costs, in which cohort, or how long after the model's release."
        ),
    ] = None,
    provisional: Annotated[
        bool, typer.Option("--provisional", help="Count open markets as their latest price says.")
    ] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Who forecasts well, and whether that means anything yet.

    Lower Brier is better. Skill is the market's Brier minus the agent's on the same forecasts: above 0 beats
    the price. Its interval counts markets of one event as one, and needs 20 events: before that there is
    none. Agents stand in the order of what is sure, the lower end. Cost per forecast is that of all calls,
    failed ones and repeats too, spread over the probabilities that the agent stated. A dash means that
    nothing can be said yet.

    Example: arena leaderboard --by category

    Next: arena duel A B holds two agents against each other; arena dashboard shows all with curves.
    """
    if by is not None and provisional:
        raise ArenaError(
            "two_views", "--by and --provisional are two views", "ask for one at a time", status=2
        )
    chosen = options(context, config, database)
    found = read(chosen.record(), cohort, by, provisional)
    if as_json:
        print_json(found)
    elif not found.get("leaderboard", True):
        print(f"Nobody has played yet. Next: {next_step(chosen.known())}")
    else:
        say(found)


def read(
    address: str, cohort: int | None, by: SliceBy | None = None, provisional: bool = False
) -> dict[str, Any]:
    """What is asked for, for JSON."""
    from arena.record.schema.database import connect, reading

    engine = connect(address, read_only=True)
    try:
        with reading(engine) as connection:
            about = {"cohort": cohort}
            if by is not None:
                return about | read_slices(connection, cohort, by)
            if provisional:
                return about | read_expected(connection, cohort)
            return about | read_leaderboard(connection, cohort)
    finally:
        engine.dispose()


def read_leaderboard(connection: "Connection", cohort: int | None = None) -> dict[str, Any]:
    """The leaderboard of a record: the sentence that leads it, and its rows."""
    from dataclasses import asdict

    from arena.scores import leaderboard

    found = asdict(leaderboard.read_leaderboard(connection, cohort))
    rows = found.pop("rows")
    return found | {"leaderboard": rows}


def read_slices(connection: "Connection", cohort: int | None, by: SliceBy) -> dict[str, Any]:
    """Every agent's skill, slice by slice."""
    from dataclasses import asdict

    from arena.scores import slices

    found = slices.read_slices(connection, by.value, cohort)
    rows = [{"slice": each.slice} | asdict(each.gain) for each in found]
    return {"by": by.value, "slices": rows}


def read_expected(connection: "Connection", cohort: int | None) -> dict[str, Any]:
    """What scores would be if the latest prices were right."""
    from dataclasses import asdict

    from arena.scores.leaderboard import PROVISIONAL_NOTICE, compute_provisional

    rows = [asdict(each) | {"skill": each.skill} for each in compute_provisional(connection, cohort)]
    return {"provisional": PROVISIONAL_NOTICE, "leaderboard": rows}


def say(found: Mapping[str, Any]) -> None:
    """The same in words."""
    if "slices" in found:
        for name in dict.fromkeys(row["slice"] for row in found["slices"]):
            print_cells(SLICED, [row for row in found["slices"] if row["slice"] == name], title=name)
    elif "provisional" in found:
        print_cells(EXPECTED, found["leaderboard"])
        print(f"{found['provisional'].capitalize()}.")
    else:
        print_leaderboard(found)


def print_leaderboard(found: Mapping[str, Any]) -> None:
    """Who leads, and the leaderboard as a table."""
    print(f"{found['sentence']}\n")
    print_cells(COLUMNS, found["leaderboard"])
    print(LEGEND)
    if found["noise"] is not None:
        print(f"Twins, which have the same settings, lie {found['noise']:.4f} apart: that much is noise.")
    for stamp in dict.fromkeys(stamp for row in found["leaderboard"] for stamp in row["stamps"]):
        named = [row["agent"] for row in found["leaderboard"] if stamp in row["stamps"]]
        whose = "all" if len(named) == len(found["leaderboard"]) else ", ".join(named)
        print(f"{stamp.capitalize()} ({whose}).")


def print_cells(
    columns: Sequence[tuple[str, str, str | None]],
    rows: Sequence[Mapping[str, Any]],
    title: str | None = None,
) -> None:
    """Rows as a table of some of their columns."""
    cells = [[_cell(row[key], form) for _, key, form in columns] for row in rows]
    print_table([name for name, _, _ in columns], cells, title)


def _cell(value: Any, form: str | None) -> str | None:
    return None if value is None else format(value, form or "")
