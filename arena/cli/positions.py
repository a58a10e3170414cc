"""`arena positions`: what agents hold, what it cost, and what it made, in a table that fits the terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import line_width, print_json, print_table
from arena.errors import ArenaError
from markets.millionths import decimal

if TYPE_CHECKING:
    from arena.record.schema.database import Connection
    from arena.scores.positions import Position, PositionGroup

GAP, EDGES = 3, 2
"""The characters between two columns, and at the ends of a line."""

LEAST = 16
"""The characters that a question has at least; columns give way to it."""

GIVES_WAY = ("cost", "value", "average", "price", "lots")
TEXTS = ("agent", "question", "side", "stale")
STALE = {"": "", "no_price": "no price", "last_trade": "trade, {}", "old": "{} old"}
Cells = dict[str, list[str]]
Form = Callable[[Any], str]
Forms = Mapping[str, Form]


@dataclass(frozen=True, slots=True)
class PositionsReport:
    """What was asked for: positions, or groups of them, and all of them together."""

    cohort: int
    agent: str | None
    at: datetime | None
    by: str
    only_open: bool
    lines: "Sequence[Position | PositionGroup]"
    total: "PositionGroup"


def print_positions(found: PositionsReport) -> None:
    """A line for each, then the sum."""
    if found.at is None:
        print(f"Cohort {found.cohort} has not been marked yet. Next: arena round")
        return
    who = "" if found.agent is None else f", {found.agent}"
    print(f"Cohort {found.cohort}{who}, as marked at {found.at:%Y-%m-%d %H:%M} UTC")
    if not found.lines:
        print("Nothing is held." if found.only_open else "Nothing was ever bought.")
        return
    cells = _cells(found)
    shown = fitted(cells, line_width())
    right = [title for title in shown if title not in TEXTS]
    print_table(list(shown), list(zip(*shown.values(), strict=True)), right=right)
    if narrow := [title for title in GIVES_WAY if any(cells.get(title, ())) and title not in shown]:
        print(f"There is no room here for {', '.join(narrow)}; a wider terminal has it.")
    profit = MADE["P/L $"](found.total)
    if found.only_open:
        print(f"{profit} on what is held. Closed lots are left out, and what they realised.")
    else:
        print(f"P/L $ {profit}, realised and unrealised: so says arena leaderboard --cohort {found.cohort}")


def _cells(found: PositionsReport) -> Cells:
    """All columns, the sum at the end of each."""
    forms = FORMS[found.by]
    left_out = () if found.agent is None else ("agent", "agents")
    cells = {title: [*map(form, found.lines)] for title, form in forms.items() if title not in left_out}
    sums = MADE if found.by == "lot" else COUNTS
    for place, (title, column) in enumerate(cells.items()):
        column.append(sums[title](found.total) if title in sums else "" if place else "all")
    return cells


def fitted(cells: Mapping[str, list[str]], width: int) -> Cells:
    """The columns that fit, and the questions as long as there is room for them."""
    shown = {title: column for title, column in cells.items() if any(column)}
    asks = "question" in shown
    for title in GIVES_WAY:
        if room(shown, width) < LEAST * asks:
            shown.pop(title, None)
    if asks:
        most = max(LEAST, room(shown, width))
        shown["question"] = [shortened(text, most) for text in shown["question"]]
    return shown


def room(cells: Mapping[str, list[str]], width: int) -> int:
    """The characters that other columns leave for a question."""
    others = [max(map(len, [title, *column])) for title, column in cells.items() if title != "question"]
    gaps = GAP * (len(others) - ("question" not in cells))
    return width - sum(others) - gaps - EDGES


def shortened(text: str, most: int) -> str:
    """A text in one line of so many characters at most.

    >>> shortened("Will it rain in Rome?", 12), shortened("Will it\\nrain?", 20)
    ('Will it rai…', 'Will it rain?')
    """
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


def aged(seconds: int | None) -> str:
    """An age in its largest unit.

    >>> aged(200_000), aged(7_300), aged(59)
    ('2 d', '2 h', '59 s')
    """
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds is not None and seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _price(millionths: int | None, places: int) -> str:
    return "" if millionths is None else f"{decimal(millionths):.{places}f}"


def _money(name: str, sign: str = "") -> Form:
    """The cell of an amount, in dollars and cents."""
    return lambda line: f"{decimal(getattr(line.money, name)):{sign},.2f}"


def _if_held(line: Any, text: str) -> str:
    return text if line.lot.shares else ""


MADE: Forms = {
    "value": _money("value"),
    "realised": _money("realised", "+"),
    "unrealised": _money("unrealised", "+"),
    "P/L $": _money("total", "+"),
}
COUNTS: Forms = {
    "agents": lambda line: f"{line.agents:,}",
    "lots": lambda line: f"{line.lots:,}",
    "held": lambda line: f"{line.held:,}",
    "cost": _money("cost"),
    **MADE,
    "stale": lambda line: f"{line.stale:,}" if line.stale else "",
}
FORMS: Mapping[str, Forms] = {
    "lot": {
        "agent": lambda line: line.agent,
        "question": lambda line: line.question,
        "side": lambda line: line.side,
        "shares": lambda line: _if_held(line, f"{decimal(line.lot.shares):,.2f}"),
        "average": lambda line: _price(line.lot.average_cost, 6),
        "price": lambda line: _price(line.price, 4),
        "value": lambda line: _if_held(line, MADE["value"](line)),
        "realised": MADE["realised"],
        "unrealised": lambda line: _if_held(line, MADE["unrealised"](line)),
        "stale": lambda line: STALE[line.stale].format(aged(line.age)),
    },
    "market": {"question": lambda line: line.question, **COUNTS},
    "agent": {
        "agent": lambda line: line.name,
        **{title: form for title, form in COUNTS.items() if title != "agents"},
    },
}
"""For each kind of line, its columns and how their cells are written."""


class PositionsBy(StrEnum):
    """What one line is about."""

    LOT = "lot"
    MARKET = "market"
    AGENT = "agent"


def positions(
    context: typer.Context,
    cohort: Annotated[int | None, typer.Option(help="The cohort; the newest by default.", min=1)] = None,
    agent: Annotated[str | None, typer.Option(help="One agent only.", metavar="NAME")] = None,
    by: Annotated[
        PositionsBy, typer.Option(help="What a line is: a lot, or all of a market or an agent.")
    ] = PositionsBy.LOT,
    only_open: Annotated[bool, typer.Option("--open", help="Only what is still held.")] = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """What every agent of a cohort holds, what it cost, and what it made.

    As of the newest mark. A lot is all shares of one side of a market, at average cost with fees. What was
    sold or settled is realised; the rest is valued at the mid and not realised yet. Together that is the
    leaderboard's P/L.

    Example: arena positions --agent sharp --open

    Next: arena leaderboard
    """
    from arena.record.schema.database import connect, reading

    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            found = read_positions(connection, cohort, agent, by, only_open)
    finally:
        engine.dispose()
    if as_json:
        print_json(as_data(found))
    else:
        print_positions(found)


def read_positions(
    connection: "Connection", cohort: int | None, agent: str | None, by: PositionsBy, only_open: bool
) -> "PositionsReport":
    """The lines that were asked for, and all of them together."""
    from arena.record.queries.accounts import read_marked_cohort
    from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
    from arena.scores.positions import by_agent, by_market, merge_positions
    from arena.scores.positions import positions as lots

    known = read_cohorts(connection)
    if not known:
        raise ArenaError("no_cohort", "nobody has played here yet", "arena round starts the first cohort")
    (stored,) = cohorts_of_agent(select_cohorts(known, cohort)[-1:], agent)
    names = list(stored.entrant_ids)
    marked = read_marked_cohort(connection, stored.id, agent)
    every = lots(marked, stored.cohort.rules.quote_age) if marked else []
    kept = [position for position in every if position.lot.shares or not only_open]
    lines: Sequence[Position | PositionGroup] = kept
    if by is PositionsBy.MARKET:
        lines = by_market(kept)
    elif by is PositionsBy.AGENT:
        lines = by_agent(kept, names if agent is None else [agent])
    at = marked.at if marked else None
    return PositionsReport(
        stored.cohort.number, agent, at, by.value, only_open, lines, merge_positions("all", kept)
    )


def as_data(found: "PositionsReport") -> dict[str, Any]:
    """For JSON, exact: dollars, shares, and dollars a share."""
    from arena.scores.positions import PositionGroup

    return {
        "cohort": found.cohort,
        "agent": found.agent,
        "at": None if found.at is None else found.at.isoformat(),
        "by": found.by,
        "open": found.only_open,
        "positions": [
            _named(line, found.by) if isinstance(line, PositionGroup) else _lot(line) for line in found.lines
        ],
        "total": _group(found.total),
    }


def _lot(position: "Position") -> dict[str, Any]:
    lot = position.lot
    sizes = {"bought": lot.bought, "sold": lot.sold, "settled": lot.settled, "shares": lot.shares}
    return {
        "agent": position.agent,
        "market_id": position.market_id,
        "question": position.question,
        "side": position.side,
        **{name: exact(value) for name, value in sizes.items()},
        "average_cost": exact(lot.average_cost),
        "price": exact(position.price),
        "stale": position.stale or None,
        "age_seconds": position.age,
        **_money_data(lot.money),
    }


def _named(group: "PositionGroup", by: str) -> dict[str, Any]:
    if by == PositionsBy.AGENT:
        return {"agent": group.name} | _group(group)
    return {"market_id": group.name, "question": group.question} | _group(group)


def _group(group: "PositionGroup") -> dict[str, Any]:
    counts = {"agents": group.agents, "lots": group.lots, "held": group.held, "stale": group.stale}
    return counts | _money_data(group.money)


def _money_data(money: Any) -> dict[str, Any]:
    names = ("paid", "received", "cost", "value", "realised", "unrealised")
    return {name: exact(getattr(money, name)) for name in names} | {"pnl": exact(money.total)}


def exact(millionths: int | None) -> float | None:
    """The number whose shortest text is that of the millionths."""
    from markets.millionths import ONE

    return None if millionths is None else millionths / ONE
