"""Do the comparisons hold what they promise? Thousands of seasons in which the truth is known.

python -m benchmarks.coverage --seasons 2000

Prints how often 95% intervals hold the true gain, how often equal agents are told apart, how often a leader
is named where there is none and where there is one, and which reading of belief puts agents in order.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from arena.belief import anchored, implied
from arena.scoring.comparing.apart import aparts
from arena.scoring.comparing.duel import duel
from arena.scoring.comparing.events import Sums
from arena.scoring.comparing.gain import sums_of
from arena.scoring.comparing.interval import intervals
from arena.scoring.comparing.leading import chance_each
from arena.scoring.comparing.power import needed
from arena.scoring.comparing.standings import standings
from arena.scoring.comparing.wild import error, turned
from benchmarks.measure import options
from benchmarks.worlds import Floats, Shape, World, peer, played, seer, sizes, together, world
from markets.simulation.settings import Settings

SHARP = 0.5
"""The noise of an agent that is better than the price, in log-odds."""
HASTY = 1.2
MANY = 40_000
"""Events of the world in which true values are measured."""


@dataclass(frozen=True, slots=True)
class Share:
    """In what share of seasons something happened, what is wanted, and the same by other methods."""

    what: str
    share: float
    low: float
    high: float
    beside: dict[str, float]

    @property
    def good(self) -> bool:
        return self.low <= self.share <= self.high


def chances(*labels: object) -> np.random.Generator:
    """Chance for one season of one experiment."""
    return np.random.default_rng([int.from_bytes(repr(label).encode(), "little") for label in labels])


def true_gain(shape: Shape, markets: int, noise: float) -> float:
    """What an agent gains on the market in the long run."""
    rng = chances("truth", shape, markets)
    place = world(sizes(shape, MANY, markets, rng), rng)
    found = played(place, {"a": seer(place, noise, rng)})
    return sums_of(found, found.said[0]).mean


def by_rows(values: Floats) -> tuple[float, float]:
    """The interval that takes all rows for independent."""
    half = 1.96 * float(values.std(ddof=1)) / values.size**0.5
    return float(values.mean()) - half, float(values.mean()) + half


def percentile(sums: Sums, rng: np.random.Generator) -> tuple[float, float]:
    """The percentile interval of a bootstrap that draws events."""
    drawn = rng.integers(0, sums.count.size, (1999, sums.count.size))
    means = sums.total[drawn].sum(axis=1) / sums.count[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def coverage(shape: Shape, markets: int, events: int, seasons: int) -> Share:
    """How often intervals hold the true gain."""
    truth = true_gain(shape, markets, SHARP)
    held = {"wild": 0, "i.i.d. rows": 0, "percentile": 0}
    for number in range(seasons):
        rng = chances("coverage", shape, markets, events, number)
        place = world(sizes(shape, events, markets, rng), rng)
        found = played(place, {"a": seer(place, SHARP, rng)})
        said = found.said[0]
        sums = sums_of(found, said)
        span = intervals(turned(found.events, [sums], number))[0]
        held["wild"] += span.low <= truth <= span.high
        for name, (low, high) in {
            "i.i.d. rows": by_rows(said.reference - said.error),
            "percentile": percentile(sums, rng),
        }.items():
            held[name] += low <= truth <= high
    shares = {name: count / seasons for name, count in held.items()}
    what = f"interval of the gain: {events} events of {markets} markets, {shape}"
    return Share(what, shares.pop("wild"), 0.93, 0.97, shares)


def equal_duels(shape: Shape, events: int, seasons: int) -> Share:
    """How often a duel of two equal agents has a winner."""
    won = {"wild": 0, "i.i.d. rows": 0}
    for number in range(seasons):
        rng = chances("duel", shape, events, number)
        place = world(sizes(shape, events, 5, rng), rng)
        found = played(place, {name: seer(place, SHARP, rng) for name in "ab"})
        won["wild"] += duel(found, "a", "b", number).winner() is not None
        low, high = by_rows(found.said[1].error - found.said[0].error)
        won["i.i.d. rows"] += not low <= 0 <= high
    shares = {name: count / seasons for name, count in won.items()}
    return Share(
        f"duel of equal agents has a winner: {events} events, {shape}", shares.pop("wild"), 0, 0.06, shares
    )


def different_markets(events: int, seasons: int) -> Share:
    """How often two agents as good as the price are told apart on markets of different kinds."""
    told, pair = {"paired with the market": 0, "raw Brier": 0}, [("a", "b")]
    for number in range(seasons):
        rng = chances("different", events, number)
        parts = []
        for name in "ab":
            kind = Settings(own_start=rng.uniform(0.3, 2.5))
            place = world(sizes("skewed", events, 5, rng), rng, kind)
            parts.append((place, {name: peer(place, rng, kind)}))
        told["paired with the market"] += aparts(together(parts), pair, number)[0].winner() is not None
        told["raw Brier"] += aparts(together(parts, raw=True), pair, number)[0].winner() is not None
    shares = {name: count / seasons for name, count in told.items()}
    what = f"equal agents on different markets are told apart: {events} events each"
    return Share(what, shares.pop("paired with the market"), 0, 0.06, shares)


def readings(seasons: int) -> Iterator[Share]:
    """How often each reading of quarter-Kelly bets puts the better of two agents first."""
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


def _read(place: World, belief: Floats) -> dict[str, float]:
    """An agent's mean Brier score by each reading; it bets in the first round, $50 of $10,000 at least."""
    q, p, o = belief[0], place.price[0], place.outcome
    yes = q > p
    stake = np.where(yes, (q - p) / (1 - p), (p - q) / p)
    bet = stake / 4 >= 0.005
    found = {"stated": q, "anchored": anchored(yes, stake, p), "implied": implied(yes, stake)}
    return {name: float(((f - o) ** 2)[bet if name != "stated" else ...].mean()) for name, f in found.items()}


Agents = Callable[[World, np.random.Generator], dict[str, Floats]]


def _led(label: str, agents: Agents, shape: Shape, events: int, seasons: int) -> list[str | None]:
    """Who is named as leader in each of some seasons."""
    named = []
    for number in range(seasons):
        rng = chances("leader", label, number)
        place = world(sizes(shape, events, 5, rng), rng)
        named.append(standings(played(place, agents(place, rng)), seed=number).verdict.leader)
    return named


def _skill_less(place: World, rng: np.random.Generator) -> dict[str, Floats]:
    """Four as good as the price, one worse, one who says a half, and the price itself."""
    peers = {f"peer {number}": peer(place, rng) for number in range(4)}
    others = {"hasty": seer(place, HASTY, rng), "half": np.full_like(place.price, 0.5), "market": place.price}
    return peers | others


def _one_peer(place: World, rng: np.random.Generator) -> dict[str, Floats]:
    return {"peer": peer(place, rng), "market": place.price}


def _equals(place: World, rng: np.random.Generator) -> dict[str, Floats]:
    return {name: seer(place, SHARP / 2, rng) for name in "ab"} | {"market": place.price}


def no_leader(seasons: int) -> Iterator[Share]:
    """How often somebody is named where nobody leads."""
    fields: tuple[tuple[str, Agents, float], ...] = (
        ("seven without skill", _skill_less, 0.05),
        ("one as good as the market", _one_peer, 0.05),
        ("two equal ones, better than the market", _equals, 0.06),
    )
    for label, agents, most in fields:
        named = _led(label, agents, "skewed", 80, seasons)
        what = f"a leader is named where there is none: {label}"
        yield Share(what, sum(name is not None for name in named) / seasons, 0, most, {})


def _planted(noise: float) -> Agents:
    def agents(place: World, rng: np.random.Generator) -> dict[str, Floats]:
        return {"better": seer(place, noise, rng)} | {f"peer {n}": peer(place, rng) for n in range(3)}

    return agents


def events_for(shape: Shape, noise: float) -> int:
    """The events after which the sentence should name the planted leader, by their true gaps and spreads."""
    rng = chances("planted", shape, noise)
    place = world(sizes(shape, MANY, 5, rng), rng)
    found = played(place, _planted(noise)(place, rng))
    better = sums_of(found, found.said[0])
    rivals = [Sums(np.zeros_like(better.total), better.count)]
    rivals += [sums_of(found, said) for said in found.said[1:]]
    most = 0.0
    for rival in rivals:
        gap = Sums(better.total - rival.total, better.count)
        count = needed(gap.mean, error(gap), MANY, chance_each(len(rivals)))
        most = max(most, count or 0.0)
    return int(np.ceil(most))


def planted(seasons: int) -> Iterator[Share]:
    """How often the better agent is named after as many events as are said to be needed."""
    shapes: tuple[Shape, ...] = ("equal", "skewed")
    for shape in shapes:
        for noise in (0.1, 0.3):
            events = events_for(shape, noise)
            named = _led(f"planted {shape} {noise}", _planted(noise), shape, events, seasons)
            what = f"the better of four is named, noise {noise}, after {events} events, {shape}"
            yield Share(what, sum(name == "better" for name in named) / seasons, 0.8, 1.0, {})


def all_shares(seasons: int, sentences: int) -> Iterator[Share]:
    shapes: tuple[Shape, ...] = ("equal", "skewed")
    for shape in shapes:
        for markets in (5, 10):
            for events in (20, 50, 100):
                yield coverage(shape, markets, events, seasons)
    for shape in shapes:
        for events in (30, 100):
            yield equal_duels(shape, events, seasons)
    for events in (100, 200):
        yield different_markets(events, seasons)
    yield from readings(sentences)
    yield from no_leader(sentences)
    yield from planted(sentences)


def report(shares: Iterable[Share], as_json: bool) -> None:
    """Print shares as they come, or all at once as JSON."""
    if as_json:
        print(json.dumps([asdict(x) | {"good": x.good} for x in shares], indent=1))
        return
    missed = 0
    for x in shares:
        wanted = f"{x.low:.0%} to {x.high:.0%}"
        beside = ", ".join(f"{name} {value:.1%}" for name, value in x.beside.items())
        print(
            f"{'ok ' if x.good else 'no '} {x.what:82} {x.share:>6.1%}  wanted {wanted:12} {beside}",
            flush=True,
        )
        missed += not x.good
    print(f"{missed} not as promised")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=1000, help="of each kind, for intervals and duels")
    parser.add_argument("--sentences", type=int, default=400, help="seasons for the leading sentence")
    chosen = parser.parse_args()
    report(all_shares(chosen.seasons, chosen.sentences), chosen.json)


if __name__ == "__main__":
    main()
