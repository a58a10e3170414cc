"""Slices of a season: the rows grouped by subject, time, price and so on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.columns import UNKNOWN, ForecastColumns, Ints, take_rows
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.cohort import RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import aliased, and_, clause, count, func, select
from arena.record.schema.world import MarketVersionRow
from arena.scores.cache import CacheKind
from arena.scores.comparisons import gains
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.reliability.calibration_slices import HORIZON_DAYS, HORIZONS, PRICE_BANDS
from markets.millionths import ONE

DAY = 86_400
AGES = ((90, "within 90 days of its release"), (365, "within a year of it"))
Labels = tuple[Sequence[str], Ints]
"""The names of slices, and the index of each row's slice."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One agent on some of the rows."""

    slice: str
    gain: Gain


def slice_gains(rows: ForecastColumns, by: str) -> list[Slice]:
    """Return every agent's gain on the market in each slice that holds rows of its own, by slice."""
    names, slice_number = BY[by](rows)

    slices: list[Slice] = []
    for number, name in enumerate(names):
        slice_rows = take_rows(rows, np.flatnonzero(slice_number == number))
        slices += (Slice(name, gain) for gain in gains(slice_rows) if gain.rows)
    return slices


def category(rows: ForecastColumns) -> Labels:
    """Return rows by their market's category at its venue."""
    by_name = sorted(range(len(rows.categories)), key=rows.categories.__getitem__)
    # Sorting the order itself gives each category's place in it.
    rank_of_category = np.argsort(np.array(by_name, dtype=np.int64))
    names = [rows.categories[place] or "none" for place in by_name]
    return names, rank_of_category[rows.category]


def horizon(rows: ForecastColumns) -> Labels:
    """Return rows by the time left until the market was to close."""
    edges = [DAY * days for days in HORIZON_DAYS]
    return HORIZONS, np.searchsorted(edges, rows.closes - rows.at, side="right")


def price(rows: ForecastColumns) -> Labels:
    """Return rows by the price of a YES share: in tenths, half-open except for the last."""
    tenths = rows.mid // (ONE // 10)
    return PRICE_BANDS, np.minimum(tenths, 9)


def cohort(rows: ForecastColumns) -> Labels:
    """Return rows by cohort."""
    numbers, place = np.unique(rows.cohort, return_inverse=True)
    return [f"cohort {number}" for number in numbers.tolist()], place


def release(rows: ForecastColumns) -> Labels:
    """Return rows by the time since the model's release."""
    names = [*(name for _, name in AGES), "later", "release unknown"]
    edges = [DAY * days for days, _ in AGES]
    is_unknown = rows.released == UNKNOWN

    released = np.where(is_unknown, 0, rows.released)
    age = np.searchsorted(edges, rows.at - released, side="right")
    return names, np.where(is_unknown, len(names) - 1, age)


BY: Mapping[str, Callable[[ForecastColumns], Labels]] = {
    each.__name__: each for each in (category, horizon, price, cohort, release)
}
"""The ways to slice rows, by name."""

SLICES = CacheKind("slices", "slices 1", TypeAdapter(tuple[Slice, ...]))
"""All slices of all cohorts by one of `BY`."""


def read_slices(connection: Connection, by: str, cohort: int | None = None) -> Sequence[Slice]:
    """Return every agent's gain on the market by slice, from the cache if current."""
    if cohort is None:
        cached = SLICES.read_current(connection, by)
        if cached is not None:
            return cached
    return compute_slices(connection, by, cohort)


def compute_slices(connection: Connection, by: str, cohort: int | None = None) -> list[Slice]:
    """Return the slices as of now."""
    select_cohorts(read_cohorts(connection), cohort)  # raises if there is no such cohort
    return slice_gains(read_forecast_columns(connection, cohort), by)


NEWER_VERSION = aliased(MarketVersionRow, name="newer")
NEWEST_VERSION = (
    select(func.max(NEWER_VERSION.version))
    .where(NEWER_VERSION.market_id == MarketVersionRow.market_id)
    .scalar_subquery()
)

# Step from market to market by the index: a record has 100,000, of which agents saw a few.
FIRST_MARKET = select(func.min(SnapshotItemRow.market_id).label("id")).cte("met", recursive=True)
FOLLOWING_ITEM = aliased(SnapshotItemRow, name="following")
NEXT_MARKET = select(func.min(FOLLOWING_ITEM.market_id)).where(FOLLOWING_ITEM.market_id > FIRST_MARKET.c.id)
SHOWN_MARKETS = FIRST_MARKET.union_all(
    select(NEXT_MARKET.scalar_subquery()).where(FIRST_MARKET.c.id.is_not(None))
)
NEWEST_PAGE = and_(
    MarketVersionRow.market_id == SHOWN_MARKETS.c.id, MarketVersionRow.version == NEWEST_VERSION
)


CATEGORY_COUNTS = (
    select(MarketVersionRow.category, func.count())
    .select_from(SHOWN_MARKETS.join(MarketVersionRow, clause(NEWEST_PAGE)))
    .group_by(MarketVersionRow.category)
)
COUNT_ROUNDS = select(count(RoundRow.id))


def read_categories(connection: Connection) -> list[tuple[str, int]]:
    """Return the number of shown markets in each category, the largest first; "" is no category."""
    counts = [(name, markets) for name, markets in connection.execute(CATEGORY_COUNTS)]
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def count_shown_rounds(connection: Connection) -> int:
    """Return the number of rounds that showed markets, which changes with what agents saw."""
    return connection.execute(COUNT_ROUNDS).scalar_one()


CATEGORIES = CacheKind(
    "categories",
    "categories 2",
    TypeAdapter(tuple[tuple[str, int], ...]),
    lambda connection, _: f"{count_shown_rounds(connection)} rounds",
)
"""The categories of all shown markets with their numbers of markets, the largest first."""
