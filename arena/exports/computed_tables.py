"""What is computed from the facts, so that a reader need not: positions, scores, the leaderboard.

By the code of the arena's own commands, so the figures are theirs. They are not put back by an import.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import numpy as np
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
DOLLAR, ONES, PERCENT = "dollars", "from 0 to 1", "percent"
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
    """Every lot of every agent at its cohort's newest mark, as `arena show positions` has them."""
    for stored in cohorts:
        marked = read_marked_cohort(connection, stored.id)
        age = stored.cohort.rules.quote_age
        for held in positions(marked, age) if marked else ():
            lot, money = held.lot, held.lot.money
            key = (stored.cohort.number, held.agent, held.market_id, held.side, marked and marked.at)
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
    """Every forecast in each of its readings with its score, one cohort at a time."""
    for stored in cohorts:
        number = stored.cohort.number
        yield from _stated_rows(read_forecast_columns(connection, number))
        bets = read_bet_columns(connection, number)
        bought = (
            select(FillRow.position)
            .select_from(joined(FillRow, *IN_TURN.rows))
            .where(FillRow.action == "buy")
        )
        order = bought.where(in_cohorts([number])).order_by(*PLACE_ORDER, FillRow.position)
        fills = list(connection.scalars(order))
        yield from _bet_rows("implied", bets, bets.implied, fills)
        yield from _bet_rows("anchored", bets, bets.anchored, fills)


def _stated_rows(rows: ForecastColumns) -> Iterator[Row]:
    own, market = (brier.each(chances / ONE, rows.outcome) for chances in (rows.forecast, rows.mid))
    events, said = (rows.events[event] for event in rows.event), rows.stated.astype(np.int64)
    columns = zip(_places(rows), events, said, rows.forecast, rows.mid, own, market, strict=True)
    for (*key, outcome), event, flag, chance, mid, score, price_score in columns:
        belief = ("stated", None, None, int(flag), int(chance) / ONE, int(mid), None)
        yield (*key, event, *belief, outcome, none_for_nan(score), none_for_nan(price_score))


def _bet_rows(reading: str, rows: BetColumns, forecast: Floats, fills: Iterable[int]) -> Iterator[Row]:
    scores = brier.each(forecast, rows.outcome)
    columns = zip(_places(rows), fills, rows.yes, forecast, rows.price, scores, strict=True)
    for (*key, outcome), fill, yes, chance, price, score in columns:
        belief = (reading, fill, "YES" if yes else "NO", None, float(chance), None, float(price))
        yield (*key, None, *belief, outcome, none_for_nan(score), None)


def _places(rows: ForecastColumns | BetColumns) -> Iterator[tuple[Any, ...]]:
    """Cohort, round, agent, market and outcome of each row."""
    for cohort, number, agent, market, outcome in zip(
        rows.cohort, rows.round, rows.agent, rows.market, rows.outcome, strict=True
    ):
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
"""The others are numbers, which may be unknown."""
LEADERBOARD_COLUMNS = (
    ExportColumn("cohort", "whole", "the cohort's number", "", "all cohorts of the export together"),
    *(
        ExportColumn(name, CERTAIN.get(of, "number"), *meaning, "" if of in CERTAIN else UNKNOWN)
        for name, meaning in LEADERBOARD_MEANINGS.items()
        for of in [get_type_hints(LeaderboardRow)[name]]
    ),
)


def leaderboard_rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
    """The leaderboard over these cohorts, then that of each."""
    numbers = [stored.cohort.number for stored in cohorts if stored.cohort.stamp != BENCHMARK]
    whole = len(numbers) == len(read_cohorts(connection))
    for cohort, some in [(None, numbers), *((number, [number]) for number in numbers)]:
        board = LEADERBOARD.read_current(connection, cohort) if whole or cohort is not None else None
        rows = read_scores(connection, some) if board is None else board.rows
        for row in sorted(rows, key=skill_order):
            yield cohort, *(getattr(row, name) for name in LEADERBOARD_MEANINGS)


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
            LEADERBOARD_COLUMNS,
            ("cohort", "agent"),
        ),
        leaderboard_rows,
    ),
)
