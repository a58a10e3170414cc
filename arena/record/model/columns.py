"""A record as columns of forecasts, bets and accounts, from which scores start, and three readings of belief.

A reading is the probability of YES that one agent gave a market. Implied is seed 002's: a stake is a
confidence, whatever the price. Anchored reads the same stake against the price paid, so that no stake at all
would mean agreement with the market. Stated is the agent's own figure. All take single numbers or whole
columns and give numpy floats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from markets.millionths import ONE

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

OPEN = -1
"""The outcome of a market that has not ended, as far as is known."""

NO_SCORE = -2
"""The outcome of a market that ended in a fraction or a refund: paid, but neither YES nor NO."""


UNKNOWN = -(2**62)
"""The release of a model of which nobody said when it was."""


@dataclass(frozen=True, slots=True)
class ForecastColumns:
    """One row per turn and market shown in it. `forecast` and `mid` are in millionths.

    `agent`, `market`, `event`, `story` and `category` are places in the tuples of names. Where an agent
    skipped a market, or failed to answer, `stated` is False and its forecast is the mid. `at` is when the
    round was, `closes` when the market was to close as it then read, `released` the day of the model's
    release, all in seconds since 1970, and UNKNOWN where nobody said. `outcome` is 1, 0, OPEN or NO_SCORE,
    `payout` what a YES share paid, from 0 to 1, NaN of a refund. `known` is from when on the end counts: when
    it could first be known, though no earlier than the market was to close, since what ends early more often
    ends YES; infinite while it is open. `priced` says whether the snapshot had a price, `quoted` whether it
    was one to be judged by: in time and not too wide.
    """

    agents: tuple[str, ...]
    markets: tuple[str, ...]
    events: tuple[str, ...]
    stories: tuple[str, ...]
    categories: tuple[str, ...]
    agent: Ints
    cohort: Ints
    round: Ints
    at: Ints
    market: Ints
    event: Ints
    story: Ints
    category: Ints
    closes: Ints
    forecast: Ints
    stated: Flags
    mid: Ints
    released: Ints
    outcome: Ints
    payout: Floats
    known: Floats
    quoted: Flags
    priced: Flags

    @property
    def early(self) -> Flags:
        """Return a mask of the rows decided before the model's release, which are no evidence."""
        early: Flags = (self.released != UNKNOWN) & (self.at < self.released)
        return early


@dataclass(frozen=True, slots=True)
class BetColumns:
    """One row per accepted bet, sold later or not.

    `implied` and `anchored` are probabilities of YES, `price` is the average price paid before fees
    as that of a YES share, all from 0 to 1; `amount` is what the bet asked to spend, in millionths.
    """

    agents: tuple[str, ...]
    markets: tuple[str, ...]
    agent: Ints
    cohort: Ints
    round: Ints
    market: Ints
    yes: Flags
    implied: Floats
    anchored: Floats
    price: Floats
    amount: Ints
    outcome: Ints


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """One agent in one cohort. Money in millionths; `total` is None before the first mark.

    `invested` is the part of it in open positions. `cost` is what all its calls cost, None when one of them
    is unknown. `depth` is what has to be said of how much it could trade, or nothing; `tools` are those that
    it had.
    """

    agent: str
    kind: str
    cohort: int
    bankroll: int
    total: int | None
    cost: int | None
    turns: int
    malformed: int
    failed: int
    sold: int
    depth: str = ""
    retried: int = 0
    late: int = 0
    tools: tuple[str, ...] = ()
    invested: int | None = None


Rows = TypeVar("Rows", ForecastColumns, BetColumns)


def take_rows(rows: Rows, where: Flags | Ints) -> Rows:
    """Take some of the rows, by a mask or by places: `take(rows, rows.cohort == 2)`."""
    columns: dict[str, Any] = {field.name: getattr(rows, field.name) for field in fields(rows)}
    taken_columns = {
        name: column[where] for name, column in columns.items() if isinstance(column, np.ndarray)
    }
    return replace(rows, **(columns | taken_columns))


def shown_once(rows: ForecastColumns) -> ForecastColumns:
    """Return each market shown in a round once, whichever agents saw it."""
    # A round of a cohort as one number, then a market in it.
    round_codes = rows.cohort * (rows.round.max(initial=0) + 1) + rows.round
    _, first_rows = np.unique(round_codes * len(rows.markets) + rows.market, return_index=True)
    return take_rows(rows, first_rows)


def rows_of_agent(rows: Rows, name: str) -> Rows:
    """Return the rows of one agent, which may be none."""
    place = rows.agents.index(name) if name in rows.agents else -1
    return take_rows(rows, np.flatnonzero(rows.agent == place))


def factorize(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names in order of first appearance, and each name's place among them.

    >>> factorize(["b", "a", "b"])
    (('b', 'a'), array([0, 1, 0]))
    """
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    return tuple(index), codes


def evidence_rows(rows: ForecastColumns) -> ForecastColumns:
    """Return the rows that count as evidence: those not decided before a model's release."""
    return take_rows(rows, ~rows.early)


def answered_rows(rows: ForecastColumns) -> ForecastColumns:
    """Return the rows that count as evidence and that the agent itself answered."""
    return take_rows(rows, ~rows.early & rows.stated)


Beliefs = NDArray[np.float64]


def confidence(amount: ArrayLike, base: ArrayLike, max_bet: ArrayLike = ONE // 4) -> Beliefs:
    """Return the stake as a share of the largest one allowed: c = min(amount / (max_bet · base), 1).

    `amount` and `base` are in the same unit, `max_bet` is in millionths. NaN where no bet is allowed.
    Seed 002, section 1.2:

    >>> confidence([2500, 1250, 500, 50], 10_000)
    array([1.  , 0.5 , 0.2 , 0.02])
    >>> confidence([2000, 500], 8_000)
    array([1.  , 0.25])
    """
    limit = np.asarray(base, dtype=np.float64) * (np.asarray(max_bet, dtype=np.float64) / ONE)
    stake, limit = np.broadcast_arrays(np.asarray(amount, dtype=np.float64), limit)
    share: Beliefs = np.divide(stake, limit, out=np.full(limit.shape, np.nan), where=limit > 0)
    return np.minimum(share, 1.0, out=share)


def implied_belief(yes: ArrayLike, confidence: ArrayLike) -> Beliefs:
    """Return f = c for a bet on YES, 1 − c for a bet on NO. Seed 002, section 1.3.

    >>> implied_belief([True, False], 0.8).round(9)
    array([0.8, 0.2])
    """
    confidences = np.asarray(confidence, dtype=np.float64)
    return np.where(yes, confidences, 1 - confidences)


def anchored_belief(yes: ArrayLike, confidence: ArrayLike, price: ArrayLike) -> Beliefs:
    """Return f = p + c(1 − p) for a bet on YES, p(1 − c) for a bet on NO.

    `price` is the average price paid before fees, as that of a YES share, from 0 to 1.
    With a cap of a quarter it gives back the belief of an agent that stakes a quarter of Kelly's fraction.

    >>> anchored_belief([True, False, True], [0.5, 0.5, 0.0], 0.4).round(9)
    array([0.7, 0.2, 0.4])
    """
    confidences = np.asarray(confidence, dtype=np.float64)
    prices = np.asarray(price, dtype=np.float64)
    return np.where(yes, prices + confidences * (1 - prices), prices * (1 - confidences))


def stated_belief(probability: ArrayLike) -> Beliefs:
    """Return the probability that the agent gave in its final answer, from millionths to 0 … 1.

    >>> stated_belief([700_000, 50_000])
    array([0.7 , 0.05])
    """
    return np.asarray(probability, dtype=np.float64) / ONE
