"""Seasons of forecasters that are no better than the price, though something looks as if they were.

Events begin over half a year or a year and live up to 60 days; each forecaster answers once, when an event
begins. `first_proof` looks whenever something has ended.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules.comparisons.duel_evidence import DuelRows, PriceBar, compare_with_price
from arena.scores.rules.comparisons.evidence import Evidence, EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import gains
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from tests.known_worlds.worlds import odds_chance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BAR = 20.0
"""A capital that one who is no closer than the price ever reaches with a chance of at most 1 in 20."""
LIFE = 60.0
"""Days that an event lives at most."""
BLOCK = 28.0
"""Days of a block of time that has a factor of its own."""
NORMAL = np.vectorize(NormalDist().cdf, otypes=[np.float64])


@dataclass(frozen=True, slots=True)
class Season:
    """Markets by row: the event, when it was asked and when it ended, in days, price, forecast and end."""

    event: Ints
    made: Floats
    known: Floats
    price: Floats
    forecast: Floats
    outcome: Ints

    def until(self, day: float) -> SeasonForecasts:
        """Return what has ended by a day."""
        some = np.flatnonzero(self.known <= day)
        return check_season(
            ["a"],
            [f"event {number}" for number in range(int(self.event.max()) + 1)],
            agent=np.zeros(some.size, dtype=np.int64),
            instant=(self.made[some] * 1000).astype(np.int64),
            market=some,
            event=self.event[some],
            forecast=self.forecast[some],
            reference=self.price[some],
            outcome=self.outcome[some],
        )

    @property
    def evidence(self) -> Evidence:
        """Return the forecaster's capital, by day."""
        return evidence(
            EvidenceRows(
                story=self.event,
                market=np.arange(self.event.size),
                made=self.made,
                known=self.known,
                forecast=self.forecast,
                price=self.price,
                payout=self.outcome.astype(np.float64),
            )
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """When the events of a season begin and end, how many markets each has, and chance."""

    event: Ints
    made: Floats
    known: Floats
    rng: np.random.Generator

    def normal(self) -> Floats:
        """Draw a number for each market, half of whose variance the event shares."""
        whole = self.rng.standard_normal(int(self.event.max()) + 1)[self.event]
        return (whole + self.rng.standard_normal(self.event.size)) / 2**0.5

    def season(self, price: Floats, forecast: Floats, chance: Floats) -> Season:
        """Return the season in which each market ends YES with this chance."""
        outcome = (self.rng.random(self.event.size) < chance).astype(np.int64)
        return Season(self.event, self.made, self.known, price, forecast, outcome)


Maker = Callable[[Stage], Season]


def stage(sizes: Ints, days: float, rng: np.random.Generator, daily: bool = False) -> Stage:
    """Return the stage for events of these sizes, asked every day or once a week."""
    event = np.repeat(np.arange(sizes.size), sizes)
    begun = np.sort(rng.uniform(0, days, sizes.size))
    begun = np.floor(begun) if daily else 7 * np.floor(begun / 7)
    ends = begun + np.ceil(rng.uniform(0, LIFE, sizes.size))
    return Stage(event, begun[event], ends[event], rng)


def cents(chance: Floats, low: float = 0.01) -> Floats:
    """Round prices to whole cents."""
    return np.clip(chance.round(2), low, 1 - low)


def equal(of: Stage) -> Season:
    """Return a season of a forecaster as good as the price, with errors of its own."""
    return seer(of, 0.5)


def seer(of: Stage, noise: float) -> Season:
    """Return a season of a forecaster with this noise in log-odds, where that of the price is 0.5."""
    odds = 1.3 * of.normal()
    price, forecast = (odds_chance(odds + x * of.normal()) for x in (0.5, noise))
    return of.season(cents(price), cents(forecast), odds_chance(odds))


def halving(of: Stage) -> Season:
    """Copy the price but halve it from 1 to 5 cents, where half of the events are such long shots."""
    long = (of.rng.random(int(of.event.max()) + 1) < 0.5)[of.event]
    size = of.event.size
    price = np.where(long, of.rng.integers(1, 6, size) / 100, of.rng.integers(6, 95, size) / 100)
    return of.season(price, np.where(long, price / 2, price), price)


def always_no(of: Stage) -> Season:
    """Say 0 of everything at 1 to 5 cents."""
    price = of.rng.integers(1, 6, of.event.size) / 100
    return of.season(price, np.zeros_like(price), price)


def shading(of: Stage) -> Season:
    """Move favourites above 80 cents halfway to 1, and repeat any other price."""
    price = cents(odds_chance(1.3 * of.normal()), 0.02)
    return of.season(price, np.where(price > 0.8, (1 + price) / 2, price), price)


def leaning(share: float, days: float) -> Maker:
    """Lean as much to YES as the market leans to NO, where blocks of time have a factor in common."""

    def season(of: Stage) -> Season:
        z = of.rng.standard_normal(of.event.size)
        price = cents(NORMAL(z - 0.15))
        forecast = cents(NORMAL(z + 0.15))
        block = np.floor(of.known / days).astype(np.int64)
        factor = of.rng.standard_normal(int(block.max()) + 1)[block]
        shock = share**0.5 * factor + (1 - share) ** 0.5 * of.rng.standard_normal(of.event.size)
        return Season(of.event, of.made, of.known, price, forecast, (shock < z).astype(np.int64))

    return season


def leaning_on_long_shots(share: float, days: float) -> Maker:
    """Lean to YES below 30 cents only, as much as the market does to NO, with factors in common."""

    def season(of: Stage) -> Season:
        z = of.rng.standard_normal(of.event.size)
        price = cents(NORMAL(z))
        forecast = np.where(price < 0.3, cents(NORMAL(z + 0.3)), price)
        block = np.floor(of.known / days).astype(np.int64)
        factor = of.rng.standard_normal(int(block.max()) + 1)[block]
        shock = share**0.5 * factor + (1 - share) ** 0.5 * of.rng.standard_normal(of.event.size)
        happens = NORMAL(shock) < (price + forecast) / 2
        return Season(of.event, of.made, of.known, price, forecast, happens.astype(np.int64))

    return season


def near_certainty(of: Stage) -> Season:
    """Say 0 or 1 of what seems nearly decided, with errors of its own, and repeat any other price."""
    season = equal(of)
    is_sure = np.abs(season.forecast - 0.5) > 0.4
    forecast = np.where(is_sure, season.forecast, season.price)
    return Season(of.event, of.made, of.known, season.price, forecast, season.outcome)


def gambling(of: Stage) -> Season:
    """Double each bet while behind, and repeat the price when ahead; prices are true."""
    price = cents(odds_chance(1.3 * of.normal()))
    season = of.season(price, price.copy(), price)
    side = of.rng.choice([-1.0, 1.0], price.size)
    lead = 0.0
    size = 0.02

    for event in np.unique(of.event).tolist():
        own = of.event == event
        began = float(of.made[own][0])
        ended = season.known <= began
        gain = (price - season.outcome) ** 2 - (season.forecast - season.outcome) ** 2
        lead = float(gain[ended].sum())
        size = min(2 * size, 0.4) if lead < 0 else 0.02
        if lead <= 0:
            season.forecast[own] = np.clip(price[own] + side[own] * size, 0.01, 0.99)
    return season


def first_reach(capital: Evidence, bar: float) -> float | None:
    """Return when a capital first reached a bar, if it ever has."""
    there = np.flatnonzero(capital.capital >= bar)
    return float(capital.at[there[0]]) if there.size else None


def first_proof(season: Season, bar: float = BAR) -> float | None:
    """Return the day since which the forecaster is told to be closer than the price, if it ever is."""
    _, instant = np.unique(season.made, return_inverse=True)
    rows = DuelRows(
        agents=["a"],
        agent=np.zeros(season.event.size, dtype=np.int64),
        instant=instant,
        market=np.arange(season.event.size),
        story=season.event,
        made=season.made,
        known=season.known,
        forecast=season.forecast,
        price=season.price,
        payout=season.outcome.astype(np.float64),
        week=7.0,
    )
    told = compare_with_price(rows, {"a": PriceBar(0.0, bar)})
    days = [float(pair.since) for pair in told if pair.since is not None and pair.better == "a"]
    return days[0] if days else None


ADVERSARIES: dict[str, Maker] = {
    "as good as the price": equal,
    "halves long shots": halving,
    "always NO on long shots": always_no,
    "shades favourites": shading,
    **{
        f"leans YES against the market, {share:.0%} in common by {weeks} weeks": leaning(share, 7.0 * weeks)
        for share in (0.05, 0.1, 0.2, 0.4)
        for weeks in (1, 4)
    },
    "leans YES on long shots, 20% in common by 4 weeks": leaning_on_long_shots(0.2, 28.0),
    "only near certainty": near_certainty,
    "doubles while behind": gambling,
}
WHOLE_SEASON = {
    f"leans YES against the market, {share:.0%} in common all season": leaning(share, 1e9)
    for share in (0.05, 0.1, 0.2)
}
"""What no test of one season can see."""


@dataclass(frozen=True, slots=True)
class Rate:
    """In what share of seasons something happened, and half of that share's 95% interval."""

    what: str
    share: float
    error: float


def rate(what: str, hits: int, seasons: int) -> Rate:
    """Return the rate of this many hits in this many seasons."""
    share = hits / seasons
    return Rate(what, share, 1.96 * float(np.sqrt(share * (1 - share) / seasons)))


def sizes_of(events: int, markets: int, rng: np.random.Generator) -> Ints:
    """Return this many markets each, or with 0 sizes of a Pareto law, up to 100."""
    if markets:
        return np.full(events, markets)
    return np.minimum(np.ceil(rng.pareto(1.2, events)), 100).astype(np.int64) + 1


def seasons_of(
    label: str, make: Maker, events: int, markets: int, days: float, seasons: int, looks: float = 7.0
) -> Iterator[Season]:
    """Yield fresh seasons, the same ones on each call."""
    key = int.from_bytes(label.encode()[:24], "little")
    for number in range(seasons):
        rng = np.random.default_rng([key, events, markets, int(days), number])
        yield make(stage(sizes_of(events, markets, rng), days, rng, daily=looks < 7))


def days_of(events: int, markets: int, at_once: int) -> float:
    """Return the days over which this many events begin, where this many markets are open at once."""
    return events * markets * LIFE / 2 / at_once


def false_proofs(
    label: str, make: Maker, events: int, markets: int, days: float, seasons: int, looks: float = 7.0
) -> Rate:
    """Return how often a forecaster no better than the price is proven at any look."""
    found = (first_proof(season) for season in seasons_of(label, make, events, markets, days, seasons, looks))
    often = "daily" if looks < 7 else "weekly"
    what = f"{label}: {events} events of {markets or 'Pareto'}, {days:.0f} days, {often}"
    return rate(what, sum(day is not None for day in found), seasons)


def several(seasons: int, agents: int = 8) -> Rate:
    """Return how often any of eight forecasters as good as the price is proven, in seasons of their own."""
    hits = 0
    for number in range(seasons):
        rng = np.random.default_rng([number, agents])
        hits += any(
            first_proof(equal(stage(np.full(200, 2), 182.0, rng)), BAR * agents) is not None
            for _ in range(agents)
        )
    return rate(f"any of {agents} as good as the price: 200 events of 2, 182 days", hits, seasons)


def power(events: int, days: float, seasons: int) -> Iterator[Rate]:
    """Yield how often one better than the price passes each condition, at the end or at any look."""
    passed = dict.fromkeys(("ahead at the end", "evidence of ×20", "evidence of ×160", "told at ×20"), 0)
    for season in seasons_of("planted", lambda of: seer(of, 0.2), events, 5, days, seasons):
        capital = season.evidence
        passed["ahead at the end"] += (gains(season.until(1e9))[0].low or 0.0) > 0
        passed["evidence of ×20"] += first_reach(capital, BAR) is not None
        passed["evidence of ×160"] += first_reach(capital, 8 * BAR) is not None
        passed["told at ×20"] += first_proof(season) is not None
    for name, hits in passed.items():
        yield rate(f"planted gap, {events} events of 5, {days:.0f} days: {name}", hits, seasons)
