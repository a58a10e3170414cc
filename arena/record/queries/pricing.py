"""A market's prices over time: every one, or as many as a chart can take, each found by the index."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    Connection,
    DateTime,
    FromClause,
    Select,
    Text,
    bindparam,
    column,
    func,
    select,
)

from arena.record.schema.tables import QUOTE
from arena.record.schema.types import UtcTime, instant

MARKET_ID: BindParameter[str] = bindparam("market")
MINE = QUOTE.c.market_id == MARKET_ID
COLUMNS = (QUOTE.c.at, QUOTE.c.bid, QUOTE.c.ask, QUOTE.c.mid, QUOTE.c.last)


@dataclass(frozen=True, slots=True)
class Priced:
    """The price of YES from an instant on, in millionths; a side that nobody offered is None."""

    at: datetime
    bid: int | None
    ask: int | None
    mid: int | None
    last: int | None

    @property
    def price(self) -> int | None:
        """The mid; where there is none, the last trade."""
        return self.last if self.mid is None else self.mid


@dataclass(frozen=True, slots=True)
class Prices:
    """A market's prices, oldest first; `thinned` where more were stored than are here."""

    points: tuple[Priced, ...]
    thinned: bool


FEW = select(*COLUMNS).where(MINE).order_by(QUOTE.c.at, QUOTE.c.id).limit(bindparam("most"))
ENDS = (
    select(QUOTE.c.at).where(MINE).order_by(QUOTE.c.at).limit(1),
    select(QUOTE.c.at).where(MINE).order_by(QUOTE.c.at.desc()).limit(1),
)


def read_prices(connection: Connection, market: str, most: int) -> Prices:
    """Every price of a market, or those that stood at `most` instants, evenly spaced over its time."""
    stored = connection.execute(FEW, {"market": market, "most": most + 1}).all()
    if len(stored) <= most:
        return Prices(tuple(Priced(*row) for row in stored), thinned=False)
    first, last = (connection.execute(query, {"market": market}).scalar_one() for query in ENDS)
    times = [first + place * (last - first) / (most - 1) for place in range(most)]
    wanted = _standing(connection.dialect.name)
    rows = connection.execute(wanted, {"market": market} | _given(connection, [*times[:-1], last]))
    return Prices(tuple(Priced(*row) for row in rows), thinned=True)


def _standing(dialect: str) -> Select[Any]:
    """The newest price at each of the instants given."""
    one, times = QUOTE.alias("one"), _instants(dialect)
    newest = select(one.c.id).where(one.c.market_id == MARKET_ID, one.c.at <= times.c.value)
    newest = newest.order_by(one.c.at.desc(), one.c.id.desc()).limit(1).correlate(times)
    chosen = select(newest.scalar_subquery()).select_from(times)
    return select(*COLUMNS).where(QUOTE.c.id.in_(chosen)).order_by(QUOTE.c.at, QUOTE.c.id)


def _instants(dialect: str) -> FromClause:
    """Instants as a table of one column, given as one parameter however many they are."""
    if dialect == "postgresql":
        listed = func.unnest(bindparam("times", type_=ARRAY(DateTime(timezone=True))))
        return listed.table_valued(column("value", UtcTime), name="listed").render_derived()
    return func.json_each(bindparam("times", type_=Text)).table_valued(column("value", Text))


def _given(connection: Connection, times: Sequence[datetime]) -> dict[str, Any]:
    if connection.dialect.name == "postgresql":
        return {"times": list(times)}
    return {"times": json.dumps([instant(at) for at in times])}
