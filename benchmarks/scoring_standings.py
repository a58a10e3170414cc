"""The whole leaderboard of an arena a year old: 50 agents against the market and against each other."""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules.comparisons.evidence import EvidenceRows, evidence
from arena.scores.rules.comparisons.season_rows import WEEK, SeasonForecasts, check_season
from arena.scores.rules.comparisons.standings import standings
from benchmarks.measure import Measurement, row, timed

AGENTS, EVENTS, MARKETS, ROUNDS, TURNS = 50, 200, 1000, 52, 10
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class YearOfForecasts:
    """A season, and the same rows of every agent as its evidence goes by."""

    season: SeasonForecasts
    rows: dict[str, EvidenceRows]


def a_year() -> YearOfForecasts:
    """Weekly rounds; a market is open for ten of them, five are one event, agents see all but a few."""
    rng = np.random.default_rng(1)
    market = np.repeat(np.arange(MARKETS), TURNS)
    instant = rng.integers(0, ROUNDS - TURNS, MARKETS)[market] + np.tile(np.arange(TURNS), MARKETS)
    price = np.clip(rng.beta(2, 2, MARKETS)[market] + rng.normal(0, 0.05, market.size), 0.01, 0.99)
    outcome = (rng.random(MARKETS) < price[np.arange(MARKETS) * TURNS + TURNS - 1]).astype(np.int64)
    seen = rng.random((AGENTS, market.size)) < 0.9
    agent, cell = np.nonzero(seen)
    stated = np.clip(price[cell] + rng.normal(0, 0.1, cell.size), 0, 1)
    known = (instant[market.size // MARKETS * np.arange(MARKETS) + TURNS - 1] + 1.0)[market] * WEEK
    names = [f"a{n:02}" for n in range(AGENTS)]
    season = check_season(
        names,
        [f"e{n:03}" for n in range(EVENTS)],
        agent=agent,
        instant=instant[cell],
        market=market[cell],
        event=market[cell] % EVENTS,
        forecast=stated,
        reference=price[cell],
        outcome=outcome[market[cell]],
        known=known[cell],
    )
    rows = {}
    for place, name in enumerate(names):
        own = cell[agent == place]
        rows[name] = EvidenceRows(
            story=market[own] % EVENTS,
            market=market[own],
            made=instant[own] * float(WEEK),
            known=known[own],
            forecast=stated[agent == place],
            price=price[own],
            payout=outcome[market[own]].astype(np.float64),
        )
    return YearOfForecasts(season, rows)


def whole_board(year: YearOfForecasts | None = None) -> None:
    """The leaderboard from columns, with everyone's evidence."""
    found = year or a_year()
    standings(found.season, {name: evidence(rows) for name, rows in found.rows.items()})


def standings_rows() -> list[Measurement]:
    """The board once its rows are columns; read from the record they already are."""
    year = a_year()
    ours = timed(lambda: whole_board(year), repeat=2)
    title = f"a year's leaderboard, 1,999 draws: {ours.wall:.1f} s"
    return [row(title, ours, f"one in {SECONDS:.0f} s", 1 / SECONDS, 1.0)]
