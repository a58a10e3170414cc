"""The whole leaderboard of an arena a year old: 50 agents against the market and against each other."""

import numpy as np

from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.comparisons.standings import standings
from benchmarks.measure import Measurement, row, timed

AGENTS, EVENTS, MARKETS, ROUNDS, TURNS = 50, 200, 1000, 52, 10
SECONDS = 5.0


def a_year() -> SeasonForecasts:
    """Weekly rounds; a market is open for ten of them, five are one event, agents see all but a few."""
    rng = np.random.default_rng(1)
    market = np.repeat(np.arange(MARKETS), TURNS)
    instant = rng.integers(0, ROUNDS - TURNS, MARKETS)[market] + np.tile(np.arange(TURNS), MARKETS)
    price = np.clip(rng.beta(2, 2, MARKETS)[market] + rng.normal(0, 0.05, market.size), 0.01, 0.99)
    outcome = (rng.random(MARKETS) < price[np.arange(MARKETS) * TURNS + TURNS - 1]).astype(np.int64)
    seen = rng.random((AGENTS, market.size)) < 0.9
    agent, cell = np.nonzero(seen)
    stated = np.clip(price[cell] + rng.normal(0, 0.1, cell.size), 0, 1)
    return check_season(
        [f"a{n:02}" for n in range(AGENTS)],
        [f"e{n:03}" for n in range(EVENTS)],
        agent=agent,
        instant=instant[cell],
        market=market[cell],
        event=market[cell] % EVENTS,
        forecast=stated,
        reference=price[cell],
        outcome=outcome[market[cell]],
    )


def whole_board() -> None:
    """The leaderboard from columns."""
    standings(a_year())


def standings_rows() -> list[Measurement]:
    """The board once its rows are columns; read from the record they already are."""
    year = a_year()
    ours = timed(lambda: standings(year), repeat=2)
    title = f"a year's leaderboard, 1,999 draws: {ours.wall:.1f} s"
    return [row(title, ours, f"one in {SECONDS:.0f} s", 1 / SECONDS, 1.0)]
