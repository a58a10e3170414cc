"""How often intervals and duels err, and which reading of belief is right, where the truth is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

import numpy as np

from arena.record.model.columns import anchored_belief, implied_belief
from arena.scores.rules.comparisons.duel import duel
from arena.scores.rules.comparisons.events import EventSums
from arena.scores.rules.comparisons.gain import sums_by_event_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duels
from arena.scores.rules.comparisons.interval import intervals
from arena.scores.rules.comparisons.wild_bootstrap import LEVEL, error, p_values, signed_sums
from markets.simulation.settings import Settings
from tests.known_worlds.worlds import Floats, KnownWorld, Shape, peer, played, seer, sizes, together, world

SHARP = 0.5
"""The noise of an agent that is better than the price, in log-odds."""
HASTY = 1.2
LONG_SHOTS = -3.0
"""Log-odds around which long shots lie: one in twenty comes true."""
MANY = 40_000
"""Events of the world in which true values are measured."""


@dataclass(frozen=True, slots=True)
class Share:
    """In what share of seasons something happened, what is wanted, and the same by other methods.

    The share is NaN where nothing was said in any season.
    """

    what: str
    share: float
    low: float
    high: float
    beside: dict[str, float]

    @property
    def good(self) -> bool:
        return isnan(self.share) or self.low <= self.share <= self.high


def chances(*labels: object) -> np.random.Generator:
    """Return the generator for one season of one experiment."""
    return np.random.default_rng([int.from_bytes(repr(label).encode(), "little") for label in labels])


def by_rows(values: Floats) -> tuple[float, float]:
    """Return the interval that takes all rows for independent."""
    half = 1.96 * float(values.std(ddof=1)) / values.size**0.5
    return float(values.mean()) - half, float(values.mean()) + half


def percentile(sums: EventSums, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap that draws events."""
    drawn = rng.integers(0, sums.count.size, (1999, sums.count.size))
    means = sums.total[drawn].sum(axis=1) / sums.count[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def coverage(shape: Shape, markets: int, events: int, seasons: int, middle: float = 0.0) -> Share:
    """Return how often intervals hold the true gain."""
    rng = chances("truth", shape, markets, middle)
    place = world(sizes(shape, MANY, markets, rng), rng, middle=middle)
    found = played(place, {"a": seer(place, SHARP, rng)})
    truth = sums_by_event_of(found, found.by_agent[0]).mean
    held = {"wild": 0, "i.i.d. rows": 0, "percentile": 0}
    for number in range(seasons):
        rng = chances("coverage", shape, markets, events, number)
        place = world(sizes(shape, events, markets, rng), rng, middle=middle)
        found = played(place, {"a": seer(place, SHARP, rng)})
        said = found.by_agent[0]
        sums = sums_by_event_of(found, said)
        span = intervals(signed_sums(found.events, [sums], number), [True])[0]
        held["wild"] += span.low <= truth <= span.high
        for name, (low, high) in {
            "i.i.d. rows": by_rows(said.reference - said.error),
            "percentile": percentile(sums, rng),
        }.items():
            held[name] += low <= truth <= high
    shares = {name: count / seasons for name, count in held.items()}
    kind = ", long shots" if middle else ""
    what = f"interval of the gain: {events} events of {markets} markets, {shape}{kind}"
    return Share(what, shares.pop("wild"), 0.93, 0.97, shares)


def equal_duels(shape: Shape, events: int, seasons: int) -> Share:
    """Return how often a duel of two equal agents has a winner."""
    won = {"wild": 0, "i.i.d. rows": 0}
    for number in range(seasons):
        rng = chances("duel", shape, events, number)
        place = world(sizes(shape, events, 5, rng), rng)
        found = played(place, {name: seer(place, SHARP, rng) for name in "ab"})
        won["wild"] += duel(found, "a", "b", number).winner() is not None
        low, high = by_rows(found.by_agent[1].error - found.by_agent[0].error)
        won["i.i.d. rows"] += not low <= 0 <= high
    shares = {name: count / seasons for name, count in won.items()}
    return Share(
        f"duel of equal agents has a winner: {events} events, {shape}", shares.pop("wild"), 0, 0.06, shares
    )


def at_the_limit(events: int, seasons: int) -> Share:
    """Return how often a mean of 0 is taken for another, with very skewed sizes and values of events."""
    refused = 0
    names = [f"event {number}" for number in range(events)]
    for number in range(seasons):
        rng = chances("limit", events, number)
        count = sizes("skewed", events, 5, rng).astype(np.float64)
        sums = EventSums(count * (rng.exponential(1.0, events) - 1), count)
        refused += int(p_values(signed_sums(names, [sums], number))[0] <= LEVEL)
    what = f"a mean of 0 is refused: {events} events, skewed, of exponential values"
    return Share(what, refused / seasons, 0, 0.1, {})


def different_markets(events: int, seasons: int) -> Share:
    """Return how often equal agents, both as good as the price, differ on markets of different kinds."""
    told = {"paired with the market": 0, "raw Brier": 0}
    pair = [("a", "b")]
    for number in range(seasons):
        rng = chances("different", events, number)
        parts = []
        for name in "ab":
            kind = Settings(own_start=rng.uniform(0.3, 2.5))
            place = world(sizes("equal", events, 5, rng), rng, kind)
            parts.append((place, {name: peer(place, rng, kind)}))
        told["paired with the market"] += (
            indirect_duels(together(parts), pair, number)[0].winner() is not None
        )
        raw = together(parts, raw=True)
        a, b = (sums_by_event_of(raw, own) for own in raw.by_agent)
        told["raw Brier"] += abs(a.mean - b.mean) > 1.96 * float(np.hypot(error(a), error(b)))
    shares = {name: count / seasons for name, count in told.items()}
    what = f"equal agents on different markets are told apart: {events} events each"
    return Share(what, shares.pop("paired with the market"), 0, 0.06, shares)


def readings(seasons: int) -> Iterator[Share]:
    """Yield how often each reading of quarter-Kelly bets puts the better of two agents first."""
    right = {"stated": 0, "anchored": 0, "implied": 0}
    for number in range(seasons):
        rng = chances("readings", number)
        place = world(sizes("equal", 100, 5, rng), rng)
        read = [_read(place, seer(place, noise, rng)) for noise in (SHARP, HASTY)]
        for name in right:
            right[name] += read[0][name] < read[1][name]
    for name, low, high in (("stated", 0.95, 1.0), ("anchored", 0.95, 1.0), ("implied", 0.0, 0.1)):
        what = f"the better of two quarter-Kelly agents has the better Brier score: {name}"
        yield Share(what, right[name] / seasons, low, high, {})


def _read(place: KnownWorld, belief: Floats) -> dict[str, float]:
    """Return an agent's Brier score by each reading; it bets in round 1, $50 of $10,000 at least."""
    q = belief[0]
    p = place.price[0]
    o = place.outcome
    yes = q > p
    stake = np.where(yes, (q - p) / (1 - p), (p - q) / p)
    bet = stake / 4 >= 0.005
    found = {"stated": q, "anchored": anchored_belief(yes, stake, p), "implied": implied_belief(yes, stake)}
    return {name: float(((f - o) ** 2)[bet if name != "stated" else ...].mean()) for name, f in found.items()}
