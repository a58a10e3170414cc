"""Tables computed from the facts: positions, scores and the leaderboard.

The same code computes the figures of the arena's own commands. An import doesn't read these tables.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, get_type_hints

from sqlalchemy import Connection

from arena.exports.fact_tables import IN_TURN, PLACE_ORDER, in_cohorts
from arena.exports.table import ExportColumn, ExportTable, Kind, Row, column_names, summary_of
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
from arena.record.schema.typed import select
from arena.scores.leaderboard import LEADERBOARD, LeaderboardRow, read_scores, skill_order
from arena.scores.positions import positions
from arena.scores.rules import brier
from arena.scores.rules._columns import none_for_nan
from markets.millionths import ONE

OUTCOMES = {1: "YES", 0: "NO", NO_SCORE: "unscored", OPEN: "open"}
COHORT = "the cohort's number"
AGENT = "the agent's name in the line-up"
DOLLAR = "dollars"
ONES = "from 0 to 1"
PERCENT = "percent"
UNKNOWN = "unknown"

KINDS: dict[Any, Kind] = {str: "text", int: "whole", float: "number", datetime: "time"}
KINDS |= {kind | None: name for kind, name in KINDS.items()}
"""The kind of a column, by the type of its values."""


@dataclass(frozen=True, slots=True)
class ComputedTable:
    """A table that is computed for some cohorts."""

    sheet: ExportTable
    rows: Callable[[Connection, Sequence[StoredCohort]], Iterator[Row]]


def column(meaning: str, unit: str = "", empty: str = "") -> Any:
    """Return a field of a computed row; its value may be None if `empty` says what that means."""
    about = {"meaning": meaning, "unit": unit, "empty": empty}
    if empty:
        return field(default=None, metadata=about)
    return field(metadata=about)


def columns_of(line: type[Any]) -> tuple[ExportColumn, ...]:
    """Return the columns of a computed row, as its fields declare them."""
    types = get_type_hints(line)
    columns = []
    for line_field in fields(line):
        kind = KINDS[types[line_field.name]]
        columns.append(ExportColumn(line_field.name, kind, **line_field.metadata))
    return tuple(columns)


@dataclass(slots=True, kw_only=True)
class PositionLine:
    """Every lot an agent ever held, at its cohort's newest mark: what `arena show positions` shows."""

    cohort: int = column(COHORT)
    agent: str = column(AGENT)
    market_id: str = column(MARKET_ID)
    side: str = column("YES or NO")
    at: datetime = column("the cohort's newest mark; later entries are left out")
    bought: int = column("shares bought", SHARES)
    sold: int = column("shares sold", SHARES)
    settled: int = column("shares paid or refunded at resolution", SHARES)
    shares: int = column("shares still held", SHARES)
    paid: int = column("their total cost, fees included", DOLLARS)
    received: int = column("proceeds of sales and settlement", DOLLARS)
    cost: int = column("cost of the shares still held", DOLLARS)
    value: int = column("their value at mid", DOLLARS)
    realised: int = column("realised profit (+) or loss (−)", DOLLARS)
    price: int | None = column("the price they are valued at", PRICE, "none is held or known")
    age: int | None = column("how old that price was", SECONDS, "none is held or known")
    stale: str = column("why the price is unreliable: no_price, last_trade, old, or nothing")


def position_lines(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[PositionLine]:
    """Yield every lot of every agent at its cohort's newest mark, as `arena show positions` shows them."""
    for stored in cohorts:
        cohort = stored.cohort
        marked = read_marked_cohort(connection, stored.id)
        if not marked:
            continue

        for held in positions(marked, cohort.rules.quote_age):
            lot = held.lot
            money = lot.money
            yield PositionLine(
                cohort=cohort.number,
                agent=held.agent,
                market_id=held.market_id,
                side=held.side,
                at=marked.at,
                bought=lot.bought,
                sold=lot.sold,
                settled=lot.settled,
                shares=lot.shares,
                paid=money.paid,
                received=money.received,
                cost=money.cost,
                value=money.value,
                realised=money.realised,
                price=held.price,
                age=held.age,
                stale=held.stale,
            )


@dataclass(slots=True, kw_only=True)
class ScoreLine:
    """Every forecast with its score: stated ones, and the two readings of each bet."""

    cohort: int = column(COHORT)
    round: int = column("the round's number in its cohort, from 1")
    agent: str = column(AGENT)
    market_id: str = column(MARKET_ID)
    event_id: str | None = column("the market's event", "", "of a bet: as of the stated forecast")
    reading: str = column("stated, implied or anchored, as docs/scoring.md says")
    fill: int | None = column("the bet behind it, as in `fills`", "", "stated forecasts have none")
    side: str | None = column("the bet's side: YES or NO", "", "of no bet")
    said: int | None = column("whether it was stated, not skipped", FLAG, "of a bet")
    forecast: float = column("the probability of YES", ONES)
    mid: int | None = column("the market's forecast in the snapshot, 0.5 without a price", CHANCE, "of a bet")
    price: float | None = column("the average price paid, as one of YES", "dollars a share", "of no bet")
    outcome: str = column("YES, NO, open, or unscored (a fraction or a refund)")
    brier: float | None = column("(forecast − outcome)²: lower is better", ONES, "not YES or NO")
    brier_market: float | None = column(
        "the same of the market's forecast", ONES, "not YES or NO, or of a bet"
    )


def score_lines(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[ScoreLine]:
    """Yield every forecast in each of its readings with its score, one cohort at a time."""
    fill_positions = select(FillRow.position).from_joined(FillRow, *IN_TURN.rows)
    bought = fill_positions.where(FillRow.action == "buy").order_by(*PLACE_ORDER, FillRow.position)

    for stored in cohorts:
        number = stored.cohort.number
        yield from _stated_lines(read_forecast_columns(connection, number))

        # Bets are the fills that bought, in the same order.
        bets = read_bet_columns(connection, number)
        bet_fills = list(connection.scalars(bought.where(in_cohorts([number]))))
        yield from _bet_lines("implied", bets, bets.implied, bet_fills)
        yield from _bet_lines("anchored", bets, bets.anchored, bet_fills)


def _stated_lines(rows: ForecastColumns) -> Iterator[ScoreLine]:
    """Yield the stated forecasts of a cohort."""
    scores = brier.each(rows.forecast / ONE, rows.outcome)
    price_scores = brier.each(rows.mid / ONE, rows.outcome)
    stated_columns = (rows.event, rows.stated, rows.forecast, rows.mid)
    columns = zip(_shared_values(rows), *stated_columns, scores, price_scores, strict=True)

    for shared, event_index, stated, probability, mid, score, price_score in columns:
        yield ScoreLine(
            **shared,
            event_id=rows.events[event_index],
            reading="stated",
            said=int(stated),
            forecast=int(probability) / ONE,
            mid=int(mid),
            brier=none_for_nan(score),
            brier_market=none_for_nan(price_score),
        )


def _bet_lines(reading: str, rows: BetColumns, forecast: Floats, fills: Iterable[int]) -> Iterator[ScoreLine]:
    """Yield one reading of a cohort's bets."""
    scores = brier.each(forecast, rows.outcome)
    columns = zip(_shared_values(rows), fills, rows.yes, forecast, rows.price, scores, strict=True)

    for shared, fill, yes, probability, price, score in columns:
        yield ScoreLine(
            **shared,
            reading=reading,
            fill=fill,
            side="YES" if yes else "NO",
            forecast=float(probability),
            price=float(price),
            brier=none_for_nan(score),
        )


def _shared_values(rows: ForecastColumns | BetColumns) -> Iterator[dict[str, Any]]:
    """Yield cohort, round, agent, market and outcome of each row, by name."""
    columns = zip(rows.cohort, rows.round, rows.agent, rows.market, rows.outcome, strict=True)
    for cohort, number, agent_index, market_index, outcome in columns:
        yield {
            "cohort": int(cohort),
            "round": int(number),
            "agent": rows.agents[agent_index],
            "market_id": rows.markets[market_index],
            "outcome": OUTCOMES[int(outcome)],
        }


LEADERBOARD_MEANINGS = {
    "agent": "the agent's name; `market` is the price itself",
    "kind": "its kind in its newest cohort",
    "cohorts": "cohorts it played in",
    "turns": "its turns",
    "malformed": "turns with a malformed or refused answer",
    "failed": "turns without an answer",
    "late": "turns that came late",
    "retried": "turns tried again after a failure",
    "bets": "accepted bets",
    "sold": "sales",
    "shown": "markets it was shown, turn by turn",
    "answered": "those with a usable probability",
    "resolved": "those that ended YES or NO",
    "events": "distinct events they are about",
    "unscored": "forecasts on markets that paid a fraction or refunds",
    "early": "resolved forecasts from before the model's release, not scored",
    "coverage": "the share of what resolved with a usable probability",
    "brier_implied": "mean over resolved bets of the implied reading; lower is better",
    "brier_anchored": "the same of the anchored reading",
    "brier_stated": "of what it stated: mean over markets of that over its rounds",
    "brier_market": "the same of the price on these forecasts",
    "skill": "brier_market − brier_stated: above 0 beats the price; none if not ranked",
    "skill_ratio": "1 − brier_stated / brier_market",
    "pnl": "profit, open positions at mid of the newest mark",
    "return_pct": "profit as a share of all bankrolls",
    "win_rate": "resolved bets whose side won",
    "cost_usd": "what all its calls cost",
    "cost_per_forecast": "the same per probability stated",
}
LEADERBOARD_UNITS = {
    "coverage": ONES,
    "brier_implied": ONES,
    "brier_anchored": ONES,
    "brier_stated": ONES,
    "brier_market": ONES,
    "pnl": DOLLAR,
    "return_pct": PERCENT,
    "win_rate": ONES,
    "cost_usd": DOLLAR,
    "cost_per_forecast": DOLLAR,
}
"""The units of what is not a count."""


def _leaderboard_columns() -> Iterator[ExportColumn]:
    """Yield the columns of the leaderboard; numbers that aren't counts may be unknown."""
    types = get_type_hints(LeaderboardRow)
    yield ExportColumn("cohort", "whole", COHORT, "", "all cohorts of the export together")
    for name, meaning in LEADERBOARD_MEANINGS.items():
        kind = KINDS[types[name]]
        unit = LEADERBOARD_UNITS.get(name, "")
        empty = ""
        if kind == "whole":
            unit = COUNT
        elif kind == "number":
            empty = UNKNOWN
        yield ExportColumn(name, kind, meaning, unit, empty)


def leaderboard_rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
    """Yield the leaderboard over some cohorts, then the one of each."""
    numbers = [stored.cohort.number for stored in cohorts if stored.cohort.stamp != BENCHMARK]
    figures = attrgetter(*LEADERBOARD_MEANINGS)
    has_all_cohorts = len(numbers) == len(read_cohorts(connection))

    for cohort in (None, *numbers):
        # The cached board over all cohorts is not that of a part of them.
        board = None
        if cohort is not None or has_all_cohorts:
            board = LEADERBOARD.read_current(connection, cohort)

        scored_cohorts = numbers if cohort is None else [cohort]
        rows = board.rows if board else read_scores(connection, scored_cohorts)
        for row in sorted(rows, key=skill_order):
            yield cohort, *figures(row)


def _computed_table(
    name: str,
    line: type[Any],
    key: tuple[str, ...],
    lines: Callable[[Connection, Sequence[StoredCohort]], Iterator[Any]],
) -> ComputedTable:
    """Return a table with the fields of its lines as columns and their docstring as its meaning."""
    columns = columns_of(line)
    values = attrgetter(*column_names(columns))

    def rows(connection: Connection, cohorts: Sequence[StoredCohort]) -> Iterator[Row]:
        return map(values, lines(connection, cohorts))

    return ComputedTable(ExportTable(name, summary_of(line), columns, key), rows)


LEADERBOARD_SHEET = ExportTable(
    "leaderboard",
    "Each agent's figures over all cohorts, and in each: what `arena board` shows.",
    tuple(_leaderboard_columns()),
    ("cohort", "agent"),
)
COMPUTED = (
    _computed_table("positions", PositionLine, ("cohort", "agent", "market_id", "side"), position_lines),
    _computed_table(
        "scores", ScoreLine, ("cohort", "round", "agent", "market_id", "reading", "fill"), score_lines
    ),
    ComputedTable(LEADERBOARD_SHEET, leaderboard_rows),
)
