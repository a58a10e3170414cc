"""A round with what it was shown, and its turns one at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import FromClause, bindparam, select

from arena.store.tables import FILL, FORECAST, LEVEL, REJECTION, SNAPSHOT, TURN
from arena.store.verify.facts import Facts, Following
from arena.store.verify.parts import Part, Row, whole
from arena.store.verify.played import Listed, Played, listing
from arena.store.verify.query import Query, rows_of

OF_FILL = FILL.c.turn_id == TURN.c.id
TURNS = rows_of(TURN, TURN.c.round_id == bindparam("round"), order=[TURN.c.entrant_id])


def _behind(table: Any, source: FromClause, *first: Any) -> Query:
    """The rows of a table that belong to a round's turns, by entrant."""
    order = (TURN.c.entrant_id, *first, *table.primary_key.columns)
    statement = select().select_from(source).where(TURN.c.round_id == bindparam("round")).order_by(*order)
    return Query(statement, whole(table), Part(TURN, "entrant_id"))


FORECASTS = _behind(FORECAST, TURN.join(FORECAST, FORECAST.c.turn_id == TURN.c.id))
REJECTIONS = _behind(REJECTION, TURN.join(REJECTION, REJECTION.c.turn_id == TURN.c.id))
FILLS = _behind(FILL, TURN.join(FILL, OF_FILL), FILL.c.position)
LEVELS = _behind(LEVEL, TURN.join(FILL, OF_FILL).join(LEVEL, LEVEL.c.fill_id == FILL.c.id), FILL.c.position)


@dataclass(frozen=True, slots=True)
class Shown:
    """A round of a cohort: its snapshot, None where that is missing, and the places in it."""

    cohort: Played
    round: Row
    snapshot: Row | None
    places: tuple[Listed, ...]
    by_market: dict[str, Listed]

    @property
    def seen_at(self) -> str:
        """When the snapshot was looked at."""
        return str((self.snapshot and self.snapshot["taken_at"]) or self.round["at"])


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn and what belongs to it; each fill with its levels."""

    row: Row
    forecasts: list[Row]
    rejections: list[Row]
    fills: list[tuple[Row, tuple[Row, ...]]]


def shown(facts: Facts, cohort: Played, round: Row) -> Shown:
    """A round as it was shown."""
    places = listing(facts, round["snapshot_id"])
    by_market = {place[0]["market_id"]: place for place in places}
    return Shown(cohort, round, facts.find(SNAPSHOT, round["snapshot_id"]), places, by_market)


def turns(facts: Facts, round: Row) -> Iterator[Turn]:
    """The turns of a round, entrant by entrant."""
    id = round["id"]
    forecasts, rejections, fills, levels = (
        Following((turn["entrant_id"], row) for row, turn in facts.read(query, round=id) if turn is not None)
        for query in (FORECASTS, REJECTIONS, FILLS, LEVELS)
    )
    for row in facts.rows(TURNS, round=id):
        who, parts = row["entrant_id"], dict[int, list[Row]]()
        for level in levels.of(who):
            parts.setdefault(level["fill_id"], []).append(level)
        deals = [(fill, tuple(parts.get(fill["id"], ()))) for fill in fills.of(who)]
        yield Turn(row, forecasts.of(who), rejections.of(who), deals)
