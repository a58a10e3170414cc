"""The newest row of each of many markets, found by the index on market and time."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    func,
    select,
)

from arena.record.schema.tables import MARKET

T = TypeVar("T")
BATCH = 1_000
"""So many markets at once: databases take only so many parameters."""


def batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """The things, some at a time."""
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]


def newest(
    connection: Connection,
    table: Table,
    ids: Sequence[str],
    order: str,
    *columns: str,
    until: datetime | None = None,
) -> dict[str, Row[Any]]:
    """Of each market the last row in an order, with its id and these columns; until an instant, if given."""
    if not ids:
        return {}
    wanted = _newest(table, order, columns, until is not None, connection.dialect.name)
    limit = {} if until is None else {"until": until}
    rows = connection.execute(wanted, these(connection, ids) | limit).all()
    return dict(zip([row[0] for row in rows], rows, strict=True))


@cache
def _newest(table: Table, order: str, columns: tuple[str, ...], until: bool, dialect: str) -> Select[Any]:
    """The question, made once: that takes longer than to answer it."""
    one = table.alias("one")
    last = select(one.c.id).where(one.c.market_id == MARKET.c.id)
    last = last.where(one.c.at <= bindparam("until", type_=one.c.at.type)) if until else last
    last = last.order_by(one.c[order].desc(), one.c.id.desc()).limit(1)
    joined = MARKET.join(table, table.c.id == last.correlate(MARKET).scalar_subquery())
    wanted = select(MARKET.c.id.label("market_id"), table.c.id, *(table.c[name] for name in columns))
    return wanted.select_from(joined).where(is_one_of_these(dialect))


def is_one_of_these(dialect: str) -> ColumnElement[bool]:
    """Whether a market is one of those given by `these`, as one parameter however many they are."""
    if dialect == "postgresql":
        return MARKET.c.id == any_(bindparam("ids", type_=ARRAY(Text)))
    listed = func.json_each(bindparam("ids", type_=Text)).table_valued("value")
    return MARKET.c.id.in_(select(listed.c.value))


def these(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """The parameter for `is_one_of_these`."""
    return {"ids": list(ids) if connection.dialect.name == "postgresql" else json.dumps(list(ids))}
