"""Seasons of entries whose duels have a known truth: equal ones that something sets apart, and better ones.

Every week stories begin, of a few markets each, that end within four weeks; entries are asked about a market
once a week, or once a day, until it ends. Nothing is told of equal entries without being wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules.comparisons.duel_evidence import DuelRows, PairEvidence, compare_pairs
from tests.known_worlds.adversaries import NORMAL
from tests.known_worlds.worlds import odds_chance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WEEK = 7.0
LIFE = 28
"""Days that a market lives at most."""
PRICE_NOISE = 0.4
EQUAL = 0.4
"""The noise in log-odds of the price, and of entries that are as good as each other."""


@dataclass(frozen=True, slots=True)
class Table:
    """What can be forecast, by cell: a market at the time when everybody is asked.

    `odds` are the true log-odds, with which `outcome` was drawn.
    """

    story: Ints
    market: Ints
    made: Floats
    known: Floats
    odds: Floats
    outcome: Floats
    rng: np.random.Generator

    def seen(self, noise: float) -> Floats:
        """Return forecasts, in cents, of an entry that sees the truth with this noise in log-odds."""
        return np.clip(
            odds_chance(self.odds + noise * self.rng.standard_normal(self.odds.size)).round(2), 0.01, 0.99
        )


def table(
    weeks: int,
    stories: int,
    rng: np.random.Generator,
    markets: int = 3,
    every: float = WEEK,
    odds: float = 1.3,
) -> Table:
    """Return a table of so many new stories a week, asked about once in so many days."""
    count = weeks * stories
    story = np.repeat(np.arange(count), markets)
    begun = np.floor(story / stories) * WEEK
    life = rng.integers(1, LIFE + 1, story.size)
    shared = rng.standard_normal(count)[story]
    true_odds = odds * (shared + rng.standard_normal(story.size)) / 2**0.5
    outcome = (rng.random(story.size) < odds_chance(true_odds)).astype(np.float64)

    asked = np.ceil(life / every).astype(np.int64)
    market = np.repeat(np.arange(story.size), asked)
    number = np.arange(market.size) - np.repeat(np.cumsum(asked) - asked, asked)
    made = begun[market] + number * every
    known = (begun + life)[market]
    in_time = known <= weeks * WEEK
    market = market[in_time]
    return Table(
        story=story[market],
        market=market,
        made=made[in_time],
        known=known[in_time],
        odds=true_odds[market],
        outcome=outcome[market],
        rng=rng,
    )


def duel_rows(of: Table, forecast: Floats) -> DuelRows:
    """Return the rows of entries: a line of forecasts each, NaN where one states nothing."""
    agent, cell = np.nonzero(~np.isnan(forecast))
    return DuelRows(
        agents=[f"entry {number}" for number in range(len(forecast))],
        agent=agent,
        instant=np.unique(of.made, return_inverse=True)[1][cell],
        market=of.market[cell],
        story=of.story[cell],
        made=of.made[cell],
        known=of.known[cell],
        forecast=forecast[agent, cell],
        price=of.seen(PRICE_NOISE)[cell],
        payout=of.outcome[cell],
        week=WEEK,
    )


World = Callable[[Table, int], DuelRows]
"""A season of so many entries, none of which is better than another."""


def equal_lines(of: Table, entries: int) -> Floats:
    """Return forecasts of entries that see the truth with the same noise."""
    return np.stack([of.seen(EQUAL) for _ in range(entries)])


def equal(of: Table, entries: int) -> DuelRows:
    """Make entries that are as good as each other."""
    return duel_rows(of, equal_lines(of, entries))


def losers_stop(of: Table, entries: int) -> DuelRows:
    """Make equal entries and copies of them, of which only the first fifth goes on after six weeks."""
    lines = equal_lines(of, entries)
    lines[entries // 2 :] = lines[: entries - entries // 2]
    behind = np.argsort(_errors(of, lines, 42.0))[max(entries // 5, 2) :]
    lines[np.ix_(behind, of.made >= 42.0)] = np.nan
    return duel_rows(of, lines)


def re_entered(of: Table, entries: int) -> DuelRows:
    """Make equal entries, the worse half of which is entered again every four weeks under new names."""
    lines = list(equal_lines(of, entries))
    playing = list(range(entries))

    for day in np.arange(28.0, of.made.max(), 28.0).tolist():
        errors = _errors(of, np.stack(lines), day).tolist()
        playing.sort(key=errors.__getitem__)
        for line in playing[entries // 2 :]:
            lines[line] = np.where(of.made < day, lines[line], np.nan)
            lines.append(np.where(of.made >= day, of.seen(EQUAL), np.nan))
        playing = [*playing[: entries // 2], *range(len(lines) - entries + entries // 2, len(lines))]
    return duel_rows(of, np.stack(lines))


def quitting(of: Table, entries: int) -> DuelRows:
    """Make equal entries that stop in the week in which they have gained the most on all others so far."""
    lines = equal_lines(of, entries)
    days = np.arange(WEEK, of.made.max(), WEEK)
    errors = np.stack([_errors(of, lines, day) for day in days.tolist()])

    ended = np.array([np.count_nonzero(of.known <= day) for day in days])
    lead = (errors.mean(axis=1, keepdims=True) - errors) * np.sqrt(ended)[:, None]
    for line, week in zip(lines, np.argmax(lead, axis=0).tolist(), strict=True):
        line[of.made >= days[week]] = np.nan
    return duel_rows(of, lines)


def near_certainty(of: Table, entries: int) -> DuelRows:
    """Make equal entries that answer only what seems nearly decided to them."""
    lines = equal_lines(of, entries)
    return duel_rows(of, np.where(np.abs(lines - 0.5) > 0.4, lines, np.nan))


def lagging(of: Table, entries: int) -> DuelRows:
    """Make entries that say what the first one said a round earlier, at first what they see themselves."""
    first = of.seen(EQUAL)
    is_new = np.diff(of.market, prepend=-1) != 0
    late = [np.where(is_new, of.seen(EQUAL), np.roll(first, 1)) for _ in range(entries - 1)]
    return duel_rows(of, np.stack([first, *late]))


def catastrophes(stories: int, noise: float) -> World:
    """Make one that is closer but for one story in so many, where it loses all of it, on average."""

    def world(of: Table, entries: int) -> DuelRows:
        lines = equal_lines(of, entries)
        truth = odds_chance(of.odds)
        closer = of.seen(noise)
        usual = float(np.mean((closer - truth) ** 2))
        loss = stories * (float(np.mean((lines[1] - truth) ** 2)) - usual) + usual

        is_bad = (of.rng.random(int(of.story.max()) + 1) < 1 / stories)[of.story]
        wrong = truth + np.where(truth < 0.5, 1, -1) * np.sqrt(max(loss, 0.0))
        lines[0] = np.where(is_bad, np.clip(wrong, 0, 1), closer)
        return duel_rows(of, lines)

    return world


def never(of: Table, entries: int) -> DuelRows:
    """Make one that says 0 where others say 2%, of stories of which one in a hundred happens."""
    happens = (of.rng.random(int(of.story.max()) + 1) < 0.01)[of.story].astype(np.float64)
    lines = np.full((entries, of.story.size), 0.02)
    lines[0] = 0.0
    return duel_rows(replace(of, outcome=happens), lines)


def leaning(share: float) -> World:
    """Make halves that lean to YES and to NO, with so much variance in common by four weeks."""

    def world(of: Table, entries: int) -> DuelRows:
        markets = int(of.market.max()) + 1
        z = of.rng.standard_normal(markets)[of.market]
        block = np.floor(of.known / 28).astype(np.int64)
        factor = of.rng.standard_normal(int(block.max()) + 1)[block]
        shock = share**0.5 * factor + (1 - share) ** 0.5 * of.rng.standard_normal(markets)[of.market]

        lean = np.where(np.arange(entries) % 2, 0.15, -0.15)[:, None]
        own = 0.1 * of.rng.standard_normal((entries, z.size))
        lines = np.clip(NORMAL(z + lean + own).round(2), 0.01, 0.99)
        return duel_rows(replace(of, outcome=(shock < z).astype(np.float64)), lines)

    return world


def _errors(of: Table, lines: Floats, day: float) -> Floats:
    """Return the mean Brier score of each line on what has ended by a day; 1 without any."""
    squares = np.where(of.known <= day, (lines - of.outcome) ** 2, np.nan)
    counts = np.count_nonzero(~np.isnan(squares), axis=1)
    return np.where(counts > 0, np.nansum(squares, axis=1) / np.maximum(counts, 1), np.inf)


WORLDS: dict[str, World] = {
    "equal": equal,
    "copies, and losers stop": losers_stop,
    "losers are entered again": re_entered,
    "quitting while ahead": quitting,
    "only near certainty": near_certainty,
    "lagging copies": lagging,
    "worse in 1 of 20 stories": catastrophes(20, 0.2),
    "worse in 1 of 50 stories": catastrophes(50, 0.25),
    "worse in 1 of 100 stories": catastrophes(100, 0.3),
    "0 for 2%, and 1% happens": never,
    "leaning, 10% in common": leaning(0.1),
    "leaning, 20% in common": leaning(0.2),
    "leaning, 40% in common": leaning(0.4),
}
LINE_UPS = ((0.2, 0.4, 0.5, 0.6, 0.8), (0.35, 0.4, 0.45, 0.55, 0.7))
"""The noise of each entry, the best one first."""


def told_pairs(rows: DuelRows) -> list[PairEvidence]:
    """Return the pairs that are told, in order of time."""
    return [pair for pair in compare_pairs(rows, foresee=False) if pair.since is not None]


def wrongly_told(
    world: World, weeks: int, stories: int, entries: int, seasons: int, every: float = WEEK
) -> int:
    """Count the seasons in which any pair is told at any look, though nobody is better."""
    wrong = 0
    for number in range(seasons):
        rng = np.random.default_rng([weeks, stories, entries, number])
        wrong += bool(told_pairs(world(table(weeks, stories, rng, every=every), entries)))
    return wrong


def seasons_told(line_up: Sequence[float], seasons: int, weeks: int = 20) -> list[list[PairEvidence]]:
    """Return the pairs that are told in seasons of entries with these noises: 13 stories of 3 a week."""
    told = []
    for number in range(seasons):
        of = table(weeks, 13, np.random.default_rng([weeks, number]))
        lines = np.stack([of.seen(noise) for noise in line_up])
        told.append(told_pairs(duel_rows(of, lines)))
    return told


@dataclass(frozen=True, slots=True)
class Foresight:
    """How many more weeks a pair was to take until it is told, at a look, and how many it took.

    NaN where nothing was said, and infinity where it was never to be told, or was not told that way.
    """

    foretold: float
    took: float


def foreseen(seasons: int, week: int, weeks: int = 120) -> list[Foresight]:
    """Return what is said of the pairs that are not told by a week, and what became of them."""
    found = []
    for line_up in LINE_UPS:
        for number in range(seasons):
            of = table(weeks, 13, np.random.default_rng([weeks, number]))
            rows = duel_rows(of, np.stack([of.seen(noise) for noise in line_up]))
            ends = {(pair.better, pair.worse): pair.since for pair in told_pairs(rows)}

            for pair in compare_pairs(_until(rows, week * WEEK)):
                if pair.since is None:
                    end = ends.get((pair.better, pair.worse))
                    took = np.inf if end is None else float(end) / WEEK - week
                    found.append(Foresight(np.nan if pair.weeks_more is None else pair.weeks_more, took))
    return found


def _until(rows: DuelRows, day: float) -> DuelRows:
    """Return what is known by a day."""
    some = np.flatnonzero(rows.made <= day)
    known = rows.known[some]
    return replace(
        rows,
        agent=rows.agent[some],
        instant=rows.instant[some],
        market=rows.market[some],
        story=rows.story[some],
        made=rows.made[some],
        known=np.where(known <= day, known, np.inf),
        forecast=rows.forecast[some],
        price=rows.price[some],
        payout=rows.payout[some],
    )
