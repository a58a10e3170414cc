"""The record as columns: what was forecast, what was bet, and each account. Scores start from these."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

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
class Stated:
    """One row per turn and market shown in it. `forecast` and `mid` are in millionths.

    `agent`, `market`, `event` and `category` are places in the tuples of names. Where an agent skipped a
    market `stated` is False and its forecast is the mid. `at` is when the round was, `closes` when the market
    was to close as it then read, `released` the day of the model's release, all in seconds since 1970, and
    UNKNOWN where nobody said. `outcome` is 1, 0, OPEN or NO_SCORE.
    """

    agents: tuple[str, ...]
    markets: tuple[str, ...]
    events: tuple[str, ...]
    categories: tuple[str, ...]
    agent: Ints
    cohort: Ints
    round: Ints
    at: Ints
    market: Ints
    event: Ints
    category: Ints
    closes: Ints
    forecast: Ints
    stated: Flags
    mid: Ints
    released: Ints
    outcome: Ints

    @property
    def early(self) -> Flags:
        """Which rows were decided before the day on which the model was released: they are no evidence."""
        early: Flags = (self.released != UNKNOWN) & (self.at < self.released)
        return early


@dataclass(frozen=True, slots=True)
class Bets:
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
class Account:
    """One agent in one cohort. Money in millionths; `total` is None before the first mark.

    `cost` is what all its calls cost, None when one of them is unknown.
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


Rows = TypeVar("Rows", Stated, Bets)


def take(rows: Rows, where: Flags | Ints) -> Rows:
    """Some of the rows, by a mask or by places: `take(rows, rows.cohort == 2)`."""
    columns: dict[str, Any] = {f.name: getattr(rows, f.name) for f in fields(rows)}
    taken = {name: column[where] for name, column in columns.items() if isinstance(column, np.ndarray)}
    return replace(rows, **(columns | taken))


def of_agent(rows: Rows, name: str) -> Rows:
    """The rows of one agent; none when it has none."""
    place = rows.agents.index(name) if name in rows.agents else -1
    return take(rows, np.flatnonzero(rows.agent == place))


def places(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Names as places in the tuple of distinct ones, in the order in which they first appear.

    >>> places(["b", "a", "b"])
    (('b', 'a'), array([0, 1, 0]))
    """
    index: dict[str, int] = {}
    found = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    return tuple(index), found


def evidence(rows: Stated) -> Stated:
    """The rows that count. What was decided before a model's release is no evidence."""
    return take(rows, ~rows.early)
