"""How long does a whole leaderboard take? A year of weekly cohorts, 50 agents, 2,000 replicates.

python -m benchmarks.standings

The reference is the wild event bootstrap-t as its formula reads, draw by draw and event by event, for one
agent and a hundredth of the draws, and counted as often as the board needs it: once an agent and once a pair.
"""

import numpy as np

from arena.scores.rules.comparisons import wild_bootstrap
from arena.scores.rules.comparisons.gain import sums_of
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.comparisons.standings import standings
from benchmarks.measure import options, report, row, timed

AGENTS = 50
WEEKS = 52
ROUNDS = 5
SHOWN = 40
MARKETS = 2_000
EVENTS = 1_200
LONGEST = 5.0
"""Seconds that the board may take."""


def year(seed: int = 1) -> SeasonForecasts:
    """Five hundred thousand forecasts; one in a hundred is absent."""
    rng = np.random.default_rng(seed)
    event_of = rng.integers(0, EVENTS, MARKETS)
    truth = rng.random(MARKETS)
    outcome = (rng.random(MARKETS) < truth).astype(np.int64)
    on_offer = [week * MARKETS // WEEKS + rng.permutation(3 * SHOWN)[:SHOWN] for week in range(WEEKS)]
    market = np.repeat(np.stack(on_offer) % MARKETS, ROUNDS, axis=0).ravel()
    instant = np.repeat(np.arange(WEEKS * ROUNDS), SHOWN)
    mid = np.clip(truth[market] + 0.1 * rng.standard_normal(market.size), 0.01, 0.99)
    noise = 0.1 * rng.standard_normal((AGENTS, market.size))
    there = rng.random(noise.shape) < 0.99
    agent, cell = np.nonzero(there)
    return check_season(
        [f"agent {number}" for number in range(AGENTS)],
        [f"event {number}" for number in range(EVENTS)],
        agent=agent,
        instant=instant[cell],
        market=market[cell],
        event=event_of[market[cell]],
        forecast=np.clip(truth[market] + noise, 0, 1)[there],
        reference=mid[cell],
        outcome=outcome[market[cell]],
    )


def slowly(totals: list[float], counts: list[float], signs: list[list[float]]) -> float:
    """p of one mean, one draw and one event after the other."""
    n = sum(counts)

    def squared(parts: list[float]) -> float:
        mean = sum(parts) / n
        spread = sum((part - k * mean) ** 2 for part, k in zip(parts, counts, strict=True))
        return sum(parts) ** 2 / spread

    seen = squared(totals)
    beyond = sum(squared([w * s for w, s in zip(draw, totals, strict=True)]) >= seen for draw in signs)
    return (1 + beyond) / (1 + len(signs))


def main() -> None:
    chosen = options(__doc__).parse_args()
    played = year()
    ours = timed(lambda: standings(played), parts=AGENTS)
    sums = sums_of(played, played.said[0])
    signs = wild_bootstrap.signs(played.events, 0)[:, : wild_bootstrap.DRAWS // 100].T.tolist()
    once = timed(lambda: slowly(sums.total.tolist(), sums.count.tolist(), signs))
    means = 100 * (1 + (AGENTS - 1) / 2)
    what = f"a year-old arena's board, agents of {AGENTS}"
    rows = [
        row(what, ours, "the formula read slowly", once.per_second / means, 50),
        row(what, ours, f"all within {LONGEST:.0f} s", AGENTS / LONGEST, 1),
    ]
    forecasts = sum(said.cell.size for said in played.said)
    took = f"{ours.wall * AGENTS:.2f} s, {ours.cpu * AGENTS:.2f} s of CPU, for {forecasts:,} forecasts"
    slow = once.wall * means * AGENTS
    report(rows, chosen.json, [f"the board takes {took}; read slowly it would be {slow:,.0f} s"])


if __name__ == "__main__":
    main()
