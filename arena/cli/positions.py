"""`arena positions`: what agents hold, what it cost, and what it made."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.cli.positions_table import print_positions
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.cli.positions_table import Found
    from arena.positions import Group, Position
    from arena.store.frame import Connection


class By(StrEnum):
    """What one line is about."""

    LOT = "lot"
    MARKET = "market"
    AGENT = "agent"


def positions(
    context: typer.Context,
    cohort: Annotated[int | None, typer.Option(help="The cohort; the newest by default.", min=1)] = None,
    agent: Annotated[str | None, typer.Option(help="One agent only.", metavar="NAME")] = None,
    by: Annotated[By, typer.Option(help="What a line is: a lot, or all of a market or an agent.")] = By.LOT,
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
    from arena.store.database import connect, reading

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
    connection: "Connection", cohort: int | None, agent: str | None, by: By, only_open: bool
) -> "Found":
    """The lines that were asked for, and all of them together."""
    from arena.chosen import numbered, of_agent
    from arena.cli.positions_table import Found
    from arena.positions import by_agent, by_market, together
    from arena.positions import positions as lots
    from arena.store.positions import read_marked
    from arena.store.read import cohorts

    known = cohorts(connection)
    if not known:
        raise ArenaError("no_cohort", "nobody has played here yet", "arena round starts the first cohort")
    (stored,) = of_agent(numbered(known, cohort)[-1:], agent)
    names = list(stored.entrant_ids)
    marked = read_marked(connection, stored.id, agent)
    every = lots(marked, stored.cohort.rules.quote_age) if marked else []
    kept = [position for position in every if position.lot.shares or not only_open]
    lines: Sequence[Position | Group] = kept
    if by is By.MARKET:
        lines = by_market(kept)
    elif by is By.AGENT:
        lines = by_agent(kept, names if agent is None else [agent])
    at = marked.at if marked else None
    return Found(stored.cohort.number, agent, at, by.value, only_open, lines, together("all", kept))


def as_data(found: "Found") -> dict[str, Any]:
    """For JSON, exact: dollars, shares, and dollars a share."""
    from arena.positions import Group

    return {
        "cohort": found.cohort,
        "agent": found.agent,
        "at": None if found.at is None else found.at.isoformat(),
        "by": found.by,
        "open": found.only_open,
        "positions": [
            _named(line, found.by) if isinstance(line, Group) else _lot(line) for line in found.lines
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
        **_money(lot.money),
    }


def _named(group: "Group", by: str) -> dict[str, Any]:
    if by == By.AGENT:
        return {"agent": group.name} | _group(group)
    return {"market_id": group.name, "question": group.question} | _group(group)


def _group(group: "Group") -> dict[str, Any]:
    counts = {"agents": group.agents, "lots": group.lots, "held": group.held, "stale": group.stale}
    return counts | _money(group.money)


def _money(money: Any) -> dict[str, Any]:
    names = ("paid", "received", "cost", "value", "realised", "unrealised")
    return {name: exact(getattr(money, name)) for name in names} | {"pnl": exact(money.total)}


def exact(millionths: int | None) -> float | None:
    """The number whose shortest text is that of the millionths."""
    from markets.millionths import ONE

    return None if millionths is None else millionths / ONE
