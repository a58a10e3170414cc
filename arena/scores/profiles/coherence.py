"""What forecasts show without outcomes: whether they contradict each other or copy the price."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.model import USABLE_STATUSES
from arena.record.model.columns import ForecastColumns, Ints, factorize, rows_of_agent, take_rows
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.cohorts import item_of
from arena.record.queries.forecasts import read_ends
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import aliased, bindparam, col, joined, select
from arena.record.schema.world import QuoteRow
from arena.scores.rules.statements.blind_forecasts import BlindEffect, blind_effect
from arena.scores.rules.statements.coherence import CoherenceScore, coherence, dutch_book
from markets.ladders import MarketFamily


@dataclass(frozen=True, slots=True)
class CoherenceTrade:
    """A trade of a sure profit: a share of YES bought from the agent, or sold to it, at its price."""

    market_id: str
    buy: bool
    price: float


@dataclass(frozen=True, slots=True)
class _FamilyStatements:
    """An agent's statements on families of markets: what it stated together, and how the markets relate."""

    rows: ForecastColumns
    labels: list[str]
    shape: NDArray[np.str_]
    rung: Ints


def coherence_of(stated: ForecastColumns, agent: str, families: Sequence[MarketFamily]) -> CoherenceScore:
    """Return the sure profit against an agent's statements in each round, and against the prices it saw.

    Skipped markets are not part of it. Exhaustive outcomes are judged as such only if the agent stated all of
    them, and otherwise as some among others.
    """
    statements = _family_statements(stated, agent, families)
    rows = statements.rows
    forecast = probability(rows.forecast)
    price = probability(rows.mid)
    return coherence(forecast, statements.labels, statements.shape, statements.rung, price)


def coherence_trades(
    stated: ForecastColumns, agent: str, families: Sequence[MarketFamily], event_label: str | None
) -> list[CoherenceTrade]:
    """Return the trades behind the sure profit of an event, which `worst_event` of its coherence names."""
    statements = _family_statements(stated, agent, families)
    rows = statements.rows
    event_rows = np.array(
        [place for place, label in enumerate(statements.labels) if label == event_label], dtype=np.int64
    )
    # A ladder's probabilities are given with the widest rung first.
    event_rows = event_rows[np.argsort(statements.rung[event_rows], kind="stable")]
    if not event_rows.size:
        return []

    shape: Any = str(statements.shape[event_rows[0]])
    forecasts = probability(rows.forecast[event_rows])
    book = dutch_book(forecasts.tolist(), shape)
    markets = [rows.markets[market] for market in rows.market[event_rows].tolist()]
    return [CoherenceTrade(markets[deal.row], deal.buy, deal.price) for deal in book.deals]


def _family_statements(
    stated: ForecastColumns, agent: str, families: Sequence[MarketFamily]
) -> _FamilyStatements:
    """Return an agent's statements on markets that belong to a family."""
    own = rows_of_agent(stated, agent)
    market_numbers = {market: place for place, market in enumerate(own.markets)}
    family = np.full(len(market_numbers), -1)
    rung = np.zeros(len(market_numbers), np.int64)
    for number, market_family in enumerate(families):
        for step, market in enumerate(market_family.market_ids):
            if market in market_numbers:
                family[market_numbers[market]] = number
                rung[market_numbers[market]] = step

    is_in_family = own.stated & (family[own.market] >= 0)
    rows = take_rows(own, np.flatnonzero(is_in_family))
    labels = []
    shapes = []
    sizes = []
    for cohort, number, place in zip(rows.cohort, rows.round, family[rows.market], strict=True):
        market_family = families[place]
        labels.append(
            f"cohort {cohort}, round {number}: {market_family.event_id} ({market_family.market_ids[0]} …)"
        )
        shapes.append(market_family.shape)
        sizes.append(len(market_family.market_ids))

    _, label_number, stated_counts = np.unique(
        np.array(labels, np.str_), return_inverse=True, return_counts=True
    )
    # Outcomes of which one was not stated leave another open: they are some among others.
    is_partial = stated_counts[label_number] < np.array(sizes, np.int64)
    shape = np.array(shapes, np.str_)
    is_exclusive = (shape == "exhaustive") & is_partial
    shape = np.where(is_exclusive, "exclusive", shape)
    return _FamilyStatements(rows, labels, shape, rung[rows.market])


BLIND = aliased(ForecastRow, name="before")
FINAL = aliased(ForecastRow, name="after")
ASKED_TWICE = (FINAL.turn_id == BLIND.turn_id) & (FINAL.market_id == BLIND.market_id)


ANSWERS_ASKED_TWICE = (
    select(BLIND.market_id, BLIND.probability, FINAL.probability, QuoteRow.mid)
    .select_from(joined(TurnRow, EntrantRow, RoundRow, CohortRow))
    .join(BLIND, BLIND.turn_id == TurnRow.id)
    .join(FINAL, ASKED_TWICE)
    .join(SnapshotItemRow, item_of(BLIND.market_id))
    .join(QuoteRow, SnapshotItemRow.quote_id == QuoteRow.id)
    .where(BLIND.stage == "blind", FINAL.stage == "final", col(TurnRow.status).in_(USABLE_STATUSES))
    .where(EntrantRow.name == bindparam("agent"), col(QuoteRow.mid).is_not(None), FINAL.distribution == "")
    .order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
)


def blind_of(connection: Connection, agent: str) -> BlindEffect:
    """Return what seeing the prices was worth to an agent's answers, over all its cohorts.

    Markets without a mid are left out.
    """
    rows = connection.execute(ANSWERS_ASKED_TWICE, {"agent": agent}).all()
    markets, market = factorize([row[0] for row in rows])
    figures = np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 3)
    before, after, price = probability(figures).T

    ends = read_ends(connection, markets)
    return blind_effect(before, after, price, ends.outcome[market], market)
