"""How often an agent is called ahead or proven, where nobody is better than the price and where one is."""

from collections.abc import Callable, Iterator

import numpy as np

from arena.scores.rules.comparisons.events import EventSums
from arena.scores.rules.comparisons.evidence import BAR, Evidence
from arena.scores.rules.comparisons.gain import sums_of
from arena.scores.rules.comparisons.lead import chance_each
from arena.scores.rules.comparisons.power import required_events
from arena.scores.rules.comparisons.standings import standings
from arena.scores.rules.comparisons.wild_bootstrap import error
from tests.known_worlds.truth import HASTY, MANY, Share, chances
from tests.known_worlds.worlds import Floats, KnownWorld, Shape, peer, played, seer, sizes, world

NONE = Evidence(np.zeros(0), np.zeros(0))
Agents = Callable[[KnownWorld, np.random.Generator], dict[str, Floats]]


def _led(label: str, agents: Agents, shape: Shape, events: int, seasons: int) -> list[str | None]:
    """Who is first and ahead of the market in each of some seasons."""
    named = []
    for number in range(seasons):
        rng = chances("leader", label, number)
        place = world(sizes(shape, events, 5, rng), rng)
        season = played(place, agents(place, rng))
        found = standings(season, dict.fromkeys(season.agents, NONE), BAR, seed=number, pairs=False)
        first = found.gains[0].agent
        named.append(first if found.verdicts[first].name == "ahead" else None)
    return named


def _skill_less(place: KnownWorld, rng: np.random.Generator) -> dict[str, Floats]:
    """Four as good as the price, one worse, one who says a half, and the price itself."""
    peers = {f"peer {number}": peer(place, rng) for number in range(4)}
    others = {"hasty": seer(place, HASTY, rng), "half": np.full_like(place.price, 0.5), "market": place.price}
    return peers | others


def _one_peer(place: KnownWorld, rng: np.random.Generator) -> dict[str, Floats]:
    return {"peer": peer(place, rng), "market": place.price}


def no_leader(seasons: int) -> Iterator[Share]:
    """How often somebody is named where nobody leads."""
    fields: tuple[tuple[str, Agents, float], ...] = (
        ("seven without skill", _skill_less, 0.05),
        ("one as good as the market", _one_peer, 0.05),
    )
    for label, agents, most in fields:
        named = _led(label, agents, "skewed", 80, seasons)
        what = f"a leader is named where there is none: {label}"
        yield Share(what, sum(name is not None for name in named) / seasons, 0, most, {})


def _planted(noise: float) -> Agents:
    def agents(place: KnownWorld, rng: np.random.Generator) -> dict[str, Floats]:
        return {"better": seer(place, noise, rng)} | {f"peer {n}": peer(place, rng) for n in range(3)}

    return agents


def events_for(shape: Shape, noise: float, many: int = MANY) -> int:
    """The events after which the sentence should name the planted leader, by their true gaps and spreads.

    Those are seen in so `many` events.
    """
    rng = chances("planted", shape, noise)
    place = world(sizes(shape, many, 5, rng), rng)
    found = played(place, _planted(noise)(place, rng))
    better = sums_of(found, found.by_agent[0])
    rivals = [EventSums(np.zeros_like(better.total), better.count)]
    rivals += [sums_of(found, said) for said in found.by_agent[1:]]
    most = 0.0
    for rival in rivals:
        gap = EventSums(better.total - rival.total, better.count)
        count = required_events(gap.mean, error(gap), many, chance_each(len(rivals)))
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
