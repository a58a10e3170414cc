"""Small seasons, row by row, with names instead of places."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season

Row = tuple[str, str, int, float, float, int]
"""Agent, market, instant, forecast, price, outcome.

The event is the market's name up to a slash.
"""


def numbered(names: Iterable[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names in the order in which they appear, and the place of each one given among them."""
    given = list(names)
    places = {name: place for place, name in enumerate(dict.fromkeys(given))}
    return tuple(places), np.array([places[name] for name in given], dtype=np.int64)


def season_of(rows: Iterable[Row]) -> SeasonForecasts:
    """Return the season of these rows."""
    agent, market, instant, forecast, price, outcome = map(list, zip(*rows, strict=True))
    agents, who = numbered(agent)
    _, what = numbered(market)
    events, about = numbered(name.partition("/")[0] for name in market)
    return check_season(
        agents, events, agent=who, instant=np.array(instant), market=what, event=about, forecast=forecast,
        reference=price, outcome=outcome,
    )  # fmt: skip


def drawn(seed: int, events: int, agents: dict[str, float], markets: int = 3, rounds: int = 2) -> list[Row]:
    """Draw rows of agents that see the truth up to a noise; that of the price is 0.15."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for event in range(events):
        for place in range(markets):
            truth = rng.uniform(0.1, 0.9)
            outcome = int(rng.random() < truth)
            for instant in range(rounds):
                price = round(float(np.clip(truth + 0.15 * rng.standard_normal(), 0, 1)), 2)
                for name, noise in agents.items():
                    said = round(float(np.clip(truth + noise * rng.standard_normal(), 0, 1)), 6)
                    rows.append((name, f"e{event}/{place}", instant, said, price, outcome))
    return rows
