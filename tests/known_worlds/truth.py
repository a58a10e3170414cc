"""How often intervals and duels err, and which reading of belief is right, where the truth is known."""

from dataclasses import dataclass

import numpy as np

from arena.record.model.columns import anchored_belief, implied_belief
from arena.scores.rules.comparisons.duel import duel
from arena.scores.rules.comparisons.gain import sums_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duels
from arena.scores.rules.comparisons.interval import intervals
from arena.scores.rules.comparisons.wild_bootstrap import error, signed_sums
from markets.simulation.settings import Settings
from tests.known_worlds.worlds import Floats, KnownWorld, Shape, peer, played, seer, sizes, together, world

SHARP = 0.5
"""The noise of an agent that is better than the price, in log-odds."""
HASTY = 1.2
MANY = 40_000
"""Events of the world in which true values are measured."""


@dataclass(frozen=True, slots=True)
class Share:
    """In what share of seasons something happened, and the same by another method."""

    share: float
    beside: float


def chances(*labels: object) -> np.random.Generator:
    """Chance for one season of one experiment."""
    return np.random.default_rng([int.from_bytes(repr(label).encode(), "little") for label in labels])


def by_rows(values: Floats) -> tuple[float, float]:
    """The interval that takes all rows for independent."""
    half = 1.96 * float(values.std(ddof=1)) / values.size**0.5
    return float(values.mean()) - half, float(values.mean()) + half


def coverage(shape: Shape, markets: int, events: int, seasons: int) -> Share:
    """How often intervals hold the true gain; beside it, those that take rows for independent."""
    rng = chances("truth", shape, markets)
    place = world(sizes(shape, MANY, markets, rng), rng)
    found = played(place, {"a": seer(place, SHARP, rng)})
    truth = sums_of(found, found.by_agent[0]).mean
    held = np.zeros(2)
    for number in range(seasons):
        rng = chances("coverage", shape, markets, events, number)
        place = world(sizes(shape, events, markets, rng), rng)
        found = played(place, {"a": seer(place, SHARP, rng)})
        said = found.by_agent[0]
        sums = sums_of(found, said)
        span = intervals(signed_sums(found.events, [sums], number), [True])[0]
        low, high = by_rows(said.reference - said.error)
        held += np.array([span.low <= truth <= span.high, low <= truth <= high])
    return Share(*(held / seasons).tolist())


def equal_duels(shape: Shape, events: int, seasons: int) -> float:
    """How often a duel of two equal agents has a winner."""
    won = 0
    for number in range(seasons):
        rng = chances("duel", shape, events, number)
        place = world(sizes(shape, events, 5, rng), rng)
        found = played(place, {name: seer(place, SHARP, rng) for name in "ab"})
        won += duel(found, "a", "b", number).winner() is not None
    return won / seasons


def different_markets(events: int, seasons: int) -> Share:
    """How often two agents as good as the price are told apart on markets of different kinds, paired with the
    market; beside it, by their raw Brier scores.
    """
    told = np.zeros(2)
    for number in range(seasons):
        rng = chances("different", events, number)
        parts = []
        for name in "ab":
            kind = Settings(own_start=rng.uniform(0.3, 2.5))
            place = world(sizes("equal", events, 5, rng), rng, kind)
            parts.append((place, {name: peer(place, rng, kind)}))
        paired = indirect_duels(together(parts), [("a", "b")], number)[0].winner() is not None
        raw = together(parts, raw=True)
        a, b = (sums_of(raw, own) for own in raw.by_agent)
        told += np.array([paired, abs(a.mean - b.mean) > 1.96 * float(np.hypot(error(a), error(b)))])
    return Share(*(told / seasons).tolist())


def readings(seasons: int) -> list[float]:
    """How often each reading of quarter-Kelly bets puts the better of two agents first."""
    right = dict.fromkeys(("stated", "anchored", "implied"), 0)
    for number in range(seasons):
        rng = chances("readings", number)
        place = world(sizes("equal", 100, 5, rng), rng)
        read = [_read(place, seer(place, noise, rng)) for noise in (SHARP, HASTY)]
        for name in right:
            right[name] += read[0][name] < read[1][name]
    return [count / seasons for count in right.values()]


def _read(place: KnownWorld, belief: Floats) -> dict[str, float]:
    """An agent's mean Brier score by each reading; it bets in the first round, $50 of $10,000 at least."""
    q, p, o = belief[0], place.price[0], place.outcome
    yes = q > p
    stake = np.where(yes, (q - p) / (1 - p), (p - q) / p)
    bet = stake / 4 >= 0.005
    found = {"stated": q, "anchored": anchored_belief(yes, stake, p), "implied": implied_belief(yes, stake)}
    return {name: float(((f - o) ** 2)[bet if name != "stated" else ...].mean()) for name, f in found.items()}
