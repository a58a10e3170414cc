"""Tables that are computed from the facts: positions, scores and the leaderboard.

The code of the arena's own commands computes them, so the figures are the same. An import does not read them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, get_type_hints

from sqlalchemy import Connection

from arena.exports.fact_tables import IN_TURN, PLACE_ORDER, in_cohorts
from arena.exports.table import ExportColumn, ExportTable, Kind, Row
from arena.record.model.cohort import BENCHMARK
from arena.record.model.columns import (
    NO_SCORE,
    OPEN,
    BetColumns,
    Floats,
    ForecastColumns,
)
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns
from arena.record.schema.fields import CHANCE, COUNT, DOLLARS, FLAG, MARKET_ID, PRICE, SECONDS, SHARES
from arena.record.schema.turn import FillRow
from arena.record.schema.typed import joined, select
from arena.scores.leaderboard import LEADERBOARD, LeaderboardRow, read_scores, skill_order
from arena.scores.positions import positions
from arena.scores.rules import brier
from arena.scores.rules._columns import none_for_nan
from markets.millionths import ONE

OUTCOMES = {1: "YES", 0: "NO", NO_SCORE: "unscored", OPEN: "open"}
DOLLAR = "dollars"
ONES = "from 0 to 1"
PERCENT = "percent"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ComputedTable:
    """A table that is computed for some cohorts."""

    sheet: ExportTable
    rows: Callable[[Connection, Sequence[StoredCohort]], Iterator[Row]]


POSITION_COLUMNS = (
    ExportColumn("cohort", "whole", "the cohort's number"),
    ExportColumn("agent", "text", "the agent's name in the line-up"),
    ExportColumn("market_id", "text", MARKET_ID),
    ExportColumn("side", "text", "YES or NO"),
    ExportColumn("at", "time", "the cohort's newest mark; later entries are left out"),
    ExportColumn("bought", "whole", "shares bought", SHARES),
    ExportColumn("sold", "whole", "shares sold", SHARES),
    ExportColumn("settled", "whole", "shares paid or refunded at resolution", SHARES),
    ExportColumn("shares", "whole", "shares still held", SHARES),
    ExportColumn("paid", "whole", "their total cost, fees included", DOLLARS),
    ExportColumn("received", "whole", "proceeds of sales and settlement", DOLLARS),
    ExportColumn("cost", "whole", "cost of the shares still held", DOLLARS),
    ExportColumn("value", "whole", "their value at mid", DOLLARS),
    ExportColumn("realised", "whole", "realised profit (+) or loss (−)", DOLLARS),
    ExportColumn("price", "whole", "the price they are valued at", PRICE, "none is held or known"),
    ExportColumn("age", "whole", "how old that price was", SECONDS, "none is held or known"),
    ExportColumn("stale", "text", "why the price is unreliable: no_price, last_trade, old, or nothing"),
)


def position_rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
    """Yield every lot of every agent at its cohort's newest mark, as `arena show positions` shows them."""
    for stored in cohorts:
        cohort = stored.cohort
        marked = read_marked_cohort(connection, stored.id)
        if not marked:
            continue

        for held in positions(marked, cohort.rules.quote_age):
            lot = held.lot
            money = lot.money
            key = (cohort.number, held.agent, held.market_id, held.side, marked.at)
            shares = (lot.bought, lot.sold, lot.settled, lot.shares)
            sums = (money.paid, money.received, money.cost, money.value, money.realised)
            yield (*key, *shares, *sums, held.price, held.age, held.stale)


SCORE_COLUMNS = (
    ExportColumn("cohort", "whole", "the cohort's number"),
    ExportColumn("round", "whole", "the round's number in its cohort, from 1"),
    ExportColumn("agent", "text", "the agent's name in the line-up"),
    ExportColumn("market_id", "text", MARKET_ID),
    ExportColumn("event_id", "text", "the market's event", "", "of a bet: as of the stated forecast"),
    ExportColumn("reading", "text", "stated, implied or anchored, as docs/scoring.md says"),
    ExportColumn("fill", "whole", "the bet behind it, as in `fills`", "", "stated forecasts have none"),
    ExportColumn("side", "text", "the bet's side: YES or NO", "", "of no bet"),
    ExportColumn("said", "whole", "whether it was stated, not skipped", FLAG, "of a bet"),
    ExportColumn("forecast", "number", "the probability of YES", ONES),
    ExportColumn(
        "mid", "whole", "the market's forecast in the snapshot, 0.5 without a price", CHANCE, "of a bet"
    ),
    ExportColumn("price", "number", "the average price paid, as one of YES", "dollars a share", "of no bet"),
    ExportColumn("outcome", "text", "YES, NO, open, or unscored (a fraction or a refund)"),
    ExportColumn("brier", "number", "(forecast − outcome)²: lower is better", ONES, "not YES or NO"),
    ExportColumn(
        "brier_market", "number", "the same of the market's forecast", ONES, "not YES or NO, or of a bet"
    ),
)


def score_rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
    """Yield every forecast in each of its readings with its score, one cohort at a time."""
    fills = select(FillRow.position).select_from(joined(FillRow, *IN_TURN.rows))
    bought = fills.where(FillRow.action == "buy").order_by(*PLACE_ORDER, FillRow.position)

    for stored in cohorts:
        number = stored.cohort.number
        yield from _stated_rows(read_forecast_columns(connection, number))

        bets = read_bet_columns(connection, number)
        positions_bought = list(connection.scalars(bought.where(in_cohorts([number]))))
        yield from _bet_rows("implied", bets, bets.implied, positions_bought)
        yield from _bet_rows("anchored", bets, bets.anchored, positions_bought)


def _stated_rows(rows: ForecastColumns) -> Iterator[Row]:
    """Yield stated forecasts."""
    scores = brier.each(rows.forecast / ONE, rows.outcome)
    price_scores = brier.each(rows.mid / ONE, rows.outcome)
    forecasts = (rows.event, rows.stated, rows.forecast, rows.mid)
    columns = zip(_keys(rows), *forecasts, scores, price_scores, strict=True)

    for key, event, stated, chance, mid, *errors in columns:
        *place, outcome = key
        belief = ("stated", None, None, int(stated), int(chance) / ONE, int(mid), None)
        yield (*place, rows.events[event], *belief, outcome, *map(none_for_nan, errors))


def _bet_rows(reading: str, rows: BetColumns, forecast: Floats, fills: Iterable[int]) -> Iterator[Row]:
    """Yield a reading of bets."""
    scores = brier.each(forecast, rows.outcome)
    columns = zip(_keys(rows), fills, rows.yes, forecast, rows.price, scores, strict=True)

    for key, fill, yes, chance, price, score in columns:
        *place, outcome = key
        belief = (reading, fill, "YES" if yes else "NO", None, float(chance), None, float(price))
        yield (*place, None, *belief, outcome, none_for_nan(score), None)


def _keys(rows: ForecastColumns | BetColumns) -> Iterator[tuple[Any, ...]]:
    """Yield cohort, round, agent, market and outcome of each row."""
    columns = zip(rows.cohort, rows.round, rows.agent, rows.market, rows.outcome, strict=True)
    for cohort, number, agent, market, outcome in columns:
        yield int(cohort), int(number), rows.agents[agent], rows.markets[market], OUTCOMES[int(outcome)]


LEADERBOARD_MEANINGS: dict[str, tuple[str, str]] = {
    "agent": ("the agent's name; `market` is the price itself", ""),
    "kind": ("its kind in its newest cohort", ""),
    "cohorts": ("cohorts it played in", COUNT),
    "turns": ("its turns", COUNT),
    "malformed": ("turns with a malformed or refused answer", COUNT),
    "failed": ("turns without an answer", COUNT),
    "late": ("turns that came late", COUNT),
    "retried": ("turns tried again after a failure", COUNT),
    "bets": ("accepted bets", COUNT),
    "sold": ("sales", COUNT),
    "shown": ("markets it was shown, turn by turn", COUNT),
    "answered": ("those with a usable probability", COUNT),
    "resolved": ("those that ended YES or NO", COUNT),
    "events": ("distinct events they are about", COUNT),
    "unscored": ("forecasts on markets that paid a fraction or refunds", COUNT),
    "early": ("resolved forecasts from before the model's release, not scored", COUNT),
    "coverage": ("the share of what resolved with a usable probability", ONES),
    "brier_implied": ("mean over resolved bets of the implied reading; lower is better", ONES),
    "brier_anchored": ("the same of the anchored reading", ONES),
    "brier_stated": ("of what it stated: mean over markets of that over its rounds", ONES),
    "brier_market": ("the same of the price on these forecasts", ONES),
    "skill": ("brier_market − brier_stated: above 0 beats the price; none if not ranked", ""),
    "skill_ratio": ("1 − brier_stated / brier_market", ""),
    "pnl": ("profit, open positions at mid of the newest mark", DOLLAR),
    "return_pct": ("profit as a share of all bankrolls", PERCENT),
    "win_rate": ("resolved bets whose side won", ONES),
    "cost_usd": ("what all its calls cost", DOLLAR),
    "cost_per_forecast": ("the same per probability stated", DOLLAR),
}


CERTAIN: dict[Any, Kind] = {str: "text", int: "whole"}
"""Columns of other types hold numbers, which may be unknown."""


def _leaderboard_columns() -> Iterator[ExportColumn]:
    """Yield the columns of the leaderboard."""
    types = get_type_hints(LeaderboardRow)
    yield ExportColumn("cohort", "whole", "the cohort's number", "", "all cohorts of the export together")
    for name, (meaning, unit) in LEADERBOARD_MEANINGS.items():
        if types[name] in CERTAIN:
            yield ExportColumn(name, CERTAIN[types[name]], meaning, unit)
        else:
            yield ExportColumn(name, "number", meaning, unit, UNKNOWN)


def leaderboard_rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
    """Yield the leaderboard over some cohorts, then that of each."""
    numbers = [stored.cohort.number for stored in cohorts if stored.cohort.stamp != BENCHMARK]
    figures = attrgetter(*LEADERBOARD_MEANINGS)

    for cohort in (None, *numbers):
        board = None
        if cohort is not None or len(numbers) == len(read_cohorts(connection)):
            board = LEADERBOARD.read_current(connection, cohort)

        scores = board.rows if board else read_scores(connection, numbers if cohort is None else [cohort])
        for row in sorted(scores, key=skill_order):
            yield cohort, *figures(row)


COMPUTED: tuple[ComputedTable, ...] = (
    ComputedTable(
        ExportTable(
            "positions",
            "Every lot an agent ever held, at its cohort's newest mark: what `arena show positions` shows.",
            POSITION_COLUMNS,
            ("cohort", "agent", "market_id", "side"),
        ),
        position_rows,
    ),
    ComputedTable(
        ExportTable(
            "scores",
            "Every forecast with its score: stated ones, and the two readings of each bet.",
            SCORE_COLUMNS,
            ("cohort", "round", "agent", "market_id", "reading", "fill"),
        ),
        score_rows,
    ),
    ComputedTable(
        ExportTable(
            "leaderboard",
            "Each agent's figures over all cohorts, and in each: what `arena board` shows.",
            tuple(_leaderboard_columns()),
            ("cohort", "agent"),
        ),
        leaderboard_rows,
    ),
)
