"""The newest row of each of many markets, by the index on market and time; of an entrant's settings.

Also many markets, or keys with instants, as one parameter or two, however many they are.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    DateTime,
    FromClause,
    Row,
    Text,
    any_,
    bindparam,
    column,
    func,
    type_coerce,
)

from arena.record.schema.cohort import EntrantRow, ReplacementRow
from arena.record.schema.dialects import UtcTime, instant_text
from arena.record.schema.fields import TableRow
from arena.record.schema.typed import AnySelect, clause, col, select
from arena.record.schema.world import MarketRow

PLAYED_SETTINGS = func.coalesce(
    select(ReplacementRow.settings)
    .where(ReplacementRow.entrant_id == EntrantRow.id)
    .order_by(col(ReplacementRow.round).desc())
    .limit(1)
    .correlate(EntrantRow.__table__)
    .scalar_subquery(),
    EntrantRow.__table__.c.settings,
).label("settings")
"""The settings that an entrant plays by: those it froze, or what replaced them last."""


def newest_rows(
    connection: Connection,
    row: type[TableRow],
    ids: Sequence[str],
    order: str,
    *columns: str,
    until: datetime | None = None,
) -> dict[str, Row[Any]]:
    """Of each market the last row in an order, with its id and these columns; until an instant, if given."""
    if not ids:
        return {}
    wanted = _newest_query(row, order, columns, until is not None, connection.dialect.name)
    limit = {} if until is None else {"until": until}
    rows = connection.execute(wanted, markets_parameter(connection, ids) | limit).all()
    return dict(zip([row[0] for row in rows], rows, strict=True))


@cache
def _newest_query(
    row: type[TableRow],
    order: str,
    columns: tuple[str, ...],
    until: bool,
    dialect: str,
) -> AnySelect:
    """The question, made once: that takes longer than to answer it."""
    table = row.__table__
    one = table.alias("one")
    last = select(one.c.id).where(one.c.market_id == MarketRow.id)
    last = last.where(one.c.at <= bindparam("until", type_=one.c.at.type)) if until else last
    last = last.order_by(one.c[order].desc(), one.c.id.desc()).limit(1)
    joined = MarketRow.__table__.join(table, table.c.id == last.correlate(MarketRow).scalar_subquery())
    wanted = select(col(MarketRow.id).label("market_id"), table.c.id, *(table.c[name] for name in columns))
    return wanted.select_from(joined).where(is_in_markets(dialect))


def is_in_markets(dialect: str) -> ColumnElement[bool]:
    """Whether a market is one of those that `markets_parameter` gives, as one parameter for all of them."""
    if dialect == "postgresql":
        return clause(MarketRow.id == any_(bindparam("ids", type_=ARRAY(Text))))
    listed = func.json_each(bindparam("ids", type_=Text)).table_valued("value")
    return col(MarketRow.id).in_(select(listed.c.value))


def markets_parameter(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """The parameter for `is_in_markets`."""
    return {"ids": list(ids) if connection.dialect.name == "postgresql" else json.dumps(list(ids))}


def keyed_instants(dialect: str, key: Any) -> FromClause:
    """Keys of a type with instants, as a table of `key` and `at`: those of `keyed_instants_parameter`."""
    if dialect == "postgresql":
        keys = bindparam("keys", type_=ARRAY(key))
        listed = func.unnest(keys, bindparam("times", type_=ARRAY(DateTime(timezone=True))))
        columns = column("key", key), column("at", UtcTime)
        return listed.table_valued(*columns, name="asked").render_derived()
    given = func.json_each(bindparam("pairs", type_=Text)).table_valued(column("value", Text))
    parts = [func.json_extract(given.c.value, f"$[{place}]") for place in (0, 1)]
    return select(parts[0].label("key"), type_coerce(parts[1], UtcTime).label("at")).subquery("asked")


def keyed_instants_parameter(connection: Connection, pairs: Sequence[tuple[Any, datetime]]) -> dict[str, Any]:
    """The parameters for `keyed_instants`."""
    if connection.dialect.name == "postgresql":
        return {"keys": [key for key, _ in pairs], "times": [at for _, at in pairs]}
    texts = {at: instant_text(at) for at in {at for _, at in pairs}}
    return {"pairs": json.dumps([(key, texts[at]) for key, at in pairs])}
