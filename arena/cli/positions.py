"""`arena show positions`: what agents hold, what it cost, and what it made."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from arena.cli.options import Options, command, flag, option
from arena.cli.output import duration, exact, minute, one_line, signed_dollars, typed
from arena.cli.page import json_rows, print_table, print_text
from arena.cli.table import TableChoice, TableColumn, exact_at
from arena.errors import ArenaError
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
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
    _amount("realised", 4, "+"),
    _amount("unrealised", 4, "+"),
    _amount("pnl", 0, "+", "P/L $"),
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
    "market": (TableColumn("market_id", "market", gives_way=9, value="name"), QUESTION, *COUNTS, *MONEY),
    "agent": (TableColumn("agent", value="name", narrow="cut middle"), *COUNTS, *MONEY),
}
"""For each kind of line, its columns."""


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

    Example: arena show positions --agent sharp --open

    Next: arena board
    """
    with chosen.reading() as connection:
        known = read_cohorts(connection)
        if not known:
            raise ArenaError(
                "no_cohort", "no agent has played yet", "arena run --round starts the first cohort"
            )
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
    number = stored.cohort.number
    data: dict[str, Any] = {"cohort": number, "agent": agent, "at": at, "by": by, "open": only_open}
    data["positions"] = json_rows(COLUMNS[by], lines)
    (data["total"],) = json_rows((*COUNTS, *MONEY), [total])
    chosen.answer(data, _say, data, lines, total, chosen.table)


def _say(
    about: Mapping[str, Any],
    lines: Sequence[Position | PositionGroup],
    together: PositionGroup,
    choice: TableChoice,
) -> None:
    cohort, agent, by = about["cohort"], about["agent"], about["by"]
    if about["at"] is None:
        print(f"Cohort {cohort} has not been marked yet. Next: {typed('run --round')}")
        return
    who = "" if agent is None else f", {agent}"
    print(f"Cohort {cohort}{who}, as marked at {minute(about['at'])} UTC")
    if not lines:
        print("No open positions." if about["open"] else "No positions yet.")
        return
    columns = [column for column in COLUMNS[by] if agent is None or column.name != "agent"]
    sums = MONEY if by == "lot" else (*COUNTS, *MONEY)
    name = next((column.name for column in columns if column.narrow), "")
    total = {name: "all"} | {column.name: column.cell(together) for column in sums}
    print_table(columns, lines, choice=choice, total=total)
    profit = signed_dollars(exact(together.money.total) or 0)
    if about["open"]:
        print(f"P/L of open positions: {profit}; closed lots are not included.")
    else:
        print_text(f"P/L {profit}, realised and unrealised, as in arena board --cohort {cohort}.")
