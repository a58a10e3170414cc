"""`arena show positions`: what agents hold, its cost and its profit."""

from collections.abc import Sequence

from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    command_line,
    minute_text,
    one_line,
    rough_duration,
    signed_dollars,
)
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn, counted, from_millionths_at
from arena.scores.positions import (
    Position,
    PositionGroup,
    by_agent,
    by_market,
    merge_positions,
    read_cohort_positions,
)
from markets.venue import venue_page

Lines = Sequence[Position | PositionGroup]
STALE = {"no_price": "no price", "last_trade": "last trade", "old": "old"}


def _dollars_column(name: str, gives_way: int, sign: str = "", heading: str | None = None) -> TableColumn:
    """Return a column of dollars of a position or a group."""
    part = name
    if name == "pnl":
        part = "total"
    return TableColumn(name, heading, f"{sign},.2f", gives_way, from_millionths_at(f"money.{part}"))


def _shares_column(name: str, gives_way: int) -> TableColumn:
    """Return a column of shares of a lot."""
    return TableColumn(name, None, ",.2f", gives_way, from_millionths_at(f"lot.{name}"))


def _venue_url(position: Position) -> str | None:
    """Return the address of the market's page at its venue, if it has one."""
    page = venue_page(position.market_id)
    return page and page[1]


MONEY = (
    _dollars_column("paid", 9),
    _dollars_column("received", 9),
    _dollars_column("cost", 6),
    _dollars_column("value", 5),
    _dollars_column("realised", 4, "+"),
    _dollars_column("unrealised", 4, "+"),
    _dollars_column("pnl", 0, "+", "P/L $"),
)
AGENT = TableColumn("agent", narrow="cut middle")
QUESTION = TableColumn("question", show=one_line, narrow="cut")
LOTS = (
    AGENT,
    TableColumn("market_id", "market", gives_way=9),
    QUESTION,
    TableColumn("side"),
    _shares_column("bought", 9),
    _shares_column("sold", 9),
    _shares_column("settled", 9),
    _shares_column("shares", 1),
    TableColumn("average_cost", "average", ".6f", 4, from_millionths_at("lot.average_cost")),
    TableColumn("price", None, ".4f", 3, from_millionths_at("price")),
    TableColumn("stale", show=STALE.__getitem__, gives_way=2, value=lambda line: line.stale or None),
    TableColumn("age_seconds", "age", rough_duration, 8, "age"),
    TableColumn("venue_url", "link", gives_way=10, value=_venue_url),
    *MONEY,
)
SUMS = (counted("agents", 2), counted("lots", 2), counted("held", 2), counted("stale", 2), *MONEY)
BY_MARKET = (TableColumn("market_id", "market", gives_way=9, value="name"), QUESTION, *SUMS)
BY_AGENT = (TableColumn("agent", value="name", narrow="cut middle"), *SUMS)
COLUMNS: dict[str, Sequence[TableColumn]] = {"lot": LOTS, "market": BY_MARKET, "agent": BY_AGENT}
"""The columns of each kind of line."""


def show_positions(chosen: Options, cohort: int | None, agent: str | None, by: str, only_open: bool) -> None:
    """Print the positions of a cohort, by default the newest, by lot, market or agent."""
    with chosen.reading() as connection:
        held = read_cohort_positions(connection, cohort, agent, only_open)

    lines: Lines = held.positions
    if by == "market":
        lines = by_market(held.positions)
    elif by == "agent":
        lines = by_agent(held.positions, held.agents)

    data = attributes(held, "cohort", "at") | {
        "agent": agent,
        "by": by,
        "open": only_open,
        "positions": Table(COLUMNS[by], lines).data(),
    }
    total = merge_positions("all", held.positions)
    (data["total"],) = Table(SUMS, [total]).data()
    chosen.print_answer(data, positions_page, data, lines, total, chosen.table_choice)


def positions_page(
    data: Data,
    lines: Lines,
    total: PositionGroup,
    choice: TableChoice,
) -> Page:
    """Yield the positions with their sums, and the profit."""
    cohort = data["cohort"]
    agent = data["agent"]
    if data["at"] is None:
        yield f"Cohort {cohort} has not been marked yet. Next: {command_line('run --round')}"
        return

    whose = f"Cohort {cohort}"
    if agent is not None:
        whose += f", {agent}"
    yield f"{whose}, as marked at {minute_text(data['at'])} UTC"
    if not lines:
        yield "No open positions." if data["open"] else "No positions yet."
        return

    by = data["by"]
    columns = [column for column in COLUMNS[by] if agent is None or column.name != "agent"]

    # The last row has the sums, and the label of the total under the first column of names.
    summed_columns = MONEY if by == "lot" else SUMS
    total_cells = {column.name: column.cell(total) for column in summed_columns}
    for column in columns:
        if column.narrow:
            total_cells[column.name] = total.name
            break
    yield Table(columns, lines, choice=choice, total=total_cells)

    profit = signed_dollars(data["total"]["pnl"] or 0)
    if data["open"]:
        yield f"P/L of open positions: {profit}; closed lots are not included."
    else:
        yield f"P/L {profit}, realised and unrealised, as in arena board --cohort {cohort}."
