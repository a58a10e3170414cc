"""`arena positions`: what agents hold, what it cost, and what it made."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.cli.options import Options, command, flag, option
from arena.cli.output import attributes, duration, exact, minute, one_line, program, signed_dollars
from arena.cli.table import TableChoice, TableColumn, exact_at, json_rows, print_table
from arena.errors import ArenaError
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores.positions import Position, PositionGroup, by_agent, by_market, merge_positions
from arena.scores.positions import positions as lots
from markets.venue import venue_page

STALE = {"no_price": "no price", "last_trade": "last trade", "old": "old"}


PositionsBy = Literal["lot", "market", "agent"]


def _amount(name: str, gives_way: int, sign: str = "", heading: str | None = None) -> TableColumn:
    """Dollars, of a lot or of a group."""
    path = f"money.{'total' if name == 'pnl' else name}"
    return TableColumn(name, heading, f"{sign},.2f", gives_way, exact_at(path))


def _shares(name: str, gives_way: int) -> TableColumn:
    return TableColumn(name, None, ",.2f", gives_way, exact_at(f"lot.{name}"))


MONEY = (
    _amount("paid", 9),
    _amount("received", 9),
    _amount("cost", 6),
    _amount("value", 5),
    _amount("realised", 1, "+"),
    _amount("unrealised", 1, "+"),
    _amount("pnl", 7, "+", "P/L $"),
)
AGENT = TableColumn("agent", narrow="cut middle")
QUESTION = TableColumn("question", show=one_line, narrow="cut")
LOTS = (
    AGENT,
    TableColumn("market_id", "market", gives_way=9),
    QUESTION,
    TableColumn("side"),
    _shares("bought", 9),
    _shares("sold", 9),
    _shares("settled", 9),
    _shares("shares", 1),
    TableColumn("average_cost", "average", ".6f", 4, exact_at("lot.average_cost")),
    TableColumn("price", None, ".4f", 3, exact_at("price")),
    TableColumn("stale", show=STALE.__getitem__, gives_way=2, value=lambda line: line.stale or None),
    TableColumn("age_seconds", "age", duration, 8, "age"),
    TableColumn("venue_url", "link", gives_way=10, value=lambda x: (venue_page(x.market_id) or [None])[-1]),
    *MONEY,
)
COUNTS = tuple(TableColumn(name, show=",d", gives_way=2) for name in ("agents", "lots", "held", "stale"))
COLUMNS = {
    "lot": LOTS,
    "market": (
        TableColumn("market_id", "market", gives_way=9, value="name"),
        QUESTION,
        *COUNTS,
        *MONEY,
    ),
    "agent": (TableColumn("agent", value="name", narrow="cut middle"), *COUNTS, *MONEY),
}
"""For each kind of line, its columns."""


@dataclass(frozen=True, slots=True)
class PositionsReport:
    """What was asked for: positions, or groups of them, and all of them together."""

    cohort: int
    agent: str | None
    at: datetime | None
    by: PositionsBy
    only_open: bool
    lines: Sequence[Position | PositionGroup]
    total: PositionGroup


@command(table=True)
def positions(
    chosen: Options,
    cohort: int | None = option("The cohort; the newest by default.", min=1),
    agent: str | None = option("One agent only.", "NAME"),
    by: PositionsBy = option("One line for each lot, market or agent.", default="lot"),
    only_open: bool = flag("Only what is still held.", "--open"),
) -> None:
    """Show what every agent of a cohort holds, what it cost, and what it made.

    As of the newest mark. A lot is all shares of one side of a market, at average cost with fees; open lots
    are valued at the mid.

    Example: arena positions --agent sharp --open

    Next: arena leaderboard
    """
    with chosen.reading() as connection:
        found = read_positions(connection, cohort, agent, by, only_open)
    chosen.answer(as_data(found), say, found, chosen.table)


def read_positions(
    connection: Connection, cohort: int | None, agent: str | None, by: PositionsBy, only_open: bool
) -> PositionsReport:
    """The lines that were asked for, and all of them together."""
    known = read_cohorts(connection)
    if not known:
        hint = "arena round starts the first cohort"
        raise ArenaError("no_cohort", "no agent has played yet", hint)
    (stored,) = cohorts_of_agent(select_cohorts(known, cohort)[-1:], agent)
    marked = read_marked_cohort(connection, stored.id, agent)
    every = lots(marked, stored.cohort.rules.quote_age) if marked else []
    kept = [position for position in every if position.lot.shares or not only_open]
    lines: Sequence[Position | PositionGroup] = kept
    if by == "market":
        lines = by_market(kept)
    elif by == "agent":
        lines = by_agent(kept, list(stored.entrant_ids) if agent is None else [agent])
    at, total = marked.at if marked else None, merge_positions("all", kept)
    return PositionsReport(stored.cohort.number, agent, at, by, only_open, lines, total)


def as_data(found: PositionsReport) -> dict[str, Any]:
    """For JSON, exact: dollars, shares, and dollars a share."""
    (total,) = json_rows((*COUNTS, *MONEY), [found.total])
    return attributes(found, "cohort", "agent", "at", "by") | {
        "open": found.only_open,
        "positions": json_rows(COLUMNS[found.by], found.lines),
        "total": total,
    }


def say(found: PositionsReport, choice: TableChoice) -> None:
    """A line for each, then the sum."""
    if found.at is None:
        print(f"Cohort {found.cohort} has not been marked yet. Next: {program()} round")
        return
    who = "" if found.agent is None else f", {found.agent}"
    print(f"Cohort {found.cohort}{who}, as marked at {minute(found.at)} UTC")
    if not found.lines:
        print("No open positions." if found.only_open else "No positions yet.")
        return
    columns = [column for column in COLUMNS[found.by] if found.agent is None or column.name != "agent"]
    sums = MONEY if found.by == "lot" else (*COUNTS, *MONEY)
    name = next((column.name for column in columns if column.narrow), "")
    total = {name: "all"} | {column.name: column.cell(found.total) for column in sums}
    print_table(columns, found.lines, choice=choice, total=total)
    profit = signed_dollars(exact(found.total.money.total) or 0)
    if found.only_open:
        print(f"P/L of open positions: {profit}; closed lots are not included.")
    else:
        print(f"P/L {profit}, realised and unrealised, as in arena leaderboard --cohort {found.cohort}.")
