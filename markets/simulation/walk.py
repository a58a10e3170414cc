"""How the truth about the markets of an event moves, what prices take it for, and what evidence says of it.

From midnight to midnight the truth takes a step, and so does the error of a price, which fades. In between
each wanders as a Brownian bridge does. The truth drifts so that on every day it is the share of such
markets that end YES; for a ladder nearly so.

The markets of an event hang together loosely, as exclusive outcomes, or as rungs of a ladder. A score is
what a market's probability is made of: mostly log-odds; for exclusive outcomes the logarithms of their
weights, which say something only together.

Evidence is dated, one line a piece, from sources that are close to the truth or far off it. The grammar of
a line, which is all that an agent gets to see:

    - DATE: SOURCE puts the chance at N%.

DATE is year-month-day, SOURCE one of the names below, N a whole number from 1 to 99. It is a look at the
truth as the day (UTC) began, and can be read from some time of that day on.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple

from markets.millionths import ONE
from markets.odds import bell, log_odds, probability, softmax_millionths
from markets.simulation.settings import Chance, Family, Settings, SimulatedEvent, chance_key, draw_below

INTRODUCTION = (
    "What has been said so far. A careful panel is usually close, an analyst less so, a rumour often far off:"
)
LEAD = 3
"""How many days before its market opens a walk begins, so there is evidence from the start."""


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Who speaks: how far off as a standard deviation in log-odds, and in what share of all lines."""

    name: str
    noise: float
    share: float


PANEL = EvidenceSource("a careful panel", noise=0.25, share=0.5)
ANALYST = EvidenceSource("an analyst", noise=0.7, share=0.25)
RUMOUR = EvidenceSource("a rumour", noise=1.6, share=0.25)
Scores = tuple[float, ...]


class DayPath(NamedTuple):
    """A quantity through a day: a step from one midnight to the next, and how far it wanders in between."""

    start: float
    step: float
    spread: float

    def at(self, share: float, bridge: float) -> float:
        """Return the value when this share of the day is over."""
        return self.start + share * self.step + self.spread * bridge


class MarketDay(NamedTuple):
    """A day of a market: its own part of the truth, with what news adds to it, and the error of its price.

    `size` is how much is traded and stands in its book, against a middling market; `traded` are the dollars,
    in millionths, that changed hands before the day, `trade` those of the day. `evidence` can be read once
    the share `said_at` of the day is over.
    """

    own: DayPath
    error: DayPath
    jump: float
    noise: int
    size: float
    traded: int
    trade: int
    said_at: float
    evidence: str | None


@dataclass(frozen=True, slots=True)
class WalkDay:
    """One day of an event: what its markets share, and each by itself. News comes at the share `jump_at`."""

    date: date
    family: Family
    shared: DayPath
    noise: int
    jump_at: float
    markets: tuple[MarketDay, ...]
    heights: Scores
    shrink: float

    def moment(self, share: float) -> "EventMoment":
        """Return the event when this share of the day is over."""
        shared = self.shared.at(share, brownian_bridges(self.noise, share)[0])
        own = list[float]()
        errors = list[float]()

        for market in self.markets:
            own_bridge, error_bridge = brownian_bridges(market.noise, share)
            own.append(market.own.at(share, own_bridge) + (market.jump if share > self.jump_at else 0.0))
            errors.append(market.error.at(share, error_bridge))

        true = scores(self.family, shared, own, self.heights)
        return EventMoment(self, share, true, believed_scores(self.family, true, self.shrink, errors))


@dataclass(frozen=True, slots=True)
class EventMoment:
    """An event when that share of a day is over: the scores of its markets, and the prices' idea of them."""

    day: WalkDay
    share: float
    scores: Scores
    ideas: Scores

    def truth(self, place: int) -> int:
        """Return the true probability of YES of a market, in millionths."""
        return chance_of(self.day.family, self.scores, place)

    def look(self, place: int) -> int:
        """Return the probability that a market's price implies, in millionths."""
        return chance_of(self.day.family, self.ideas, place)


@dataclass(slots=True)
class _Path:
    """The state of a market's walk at a midnight."""

    name: str
    size: float = 1.0
    own: float = 0.0
    error: float = 0.0
    traded: int = 0


def first_day(event: SimulatedEvent) -> date:
    """Return the day on which an event's walk begins; it ends on the day of the close."""
    return event.opens_at.date() - timedelta(LEAD)


def walk(event: SimulatedEvent, settings: Settings, chance: Chance) -> Iterator[WalkDay]:
    """Yield the days of an event in order."""
    key = chance_key(event.id)
    paths = [_Path(chance_key(market)) for market in event.market_ids]
    heights = ladder_rungs(event, settings, chance)
    shared = 0.0
    shared_step = 0.0 if event.family == "exclusive" else settings.event_step
    variance = shared_step * shared_step + settings.own_step * settings.own_step
    first = first_day(event)
    last = event.closes_at.date()

    for number in range((last - first).days + 1):
        day = first + timedelta(number)
        rng = chance(key, day)
        market_rngs = [chance(path.name, day) for path in paths]
        if day == first:
            shared = settings.event_start * bell(rng)
            for path, market_rng in zip(paths, market_rngs, strict=True):
                path.own = settings.own_start * bell(market_rng)
                path.error = settings.price_noise * bell(market_rng)
                path.size = 1 / (0.4 + 1.2 * market_rng.random())  # a middling market has 1

        true = scores(event.family, shared, [path.own for path in paths], heights)
        drifts = [variance * pull for pull in drifts_per_variance(event.family, true)]
        jump_at, jumps = _draw_news(event, true, day, settings, chance)
        shared_path = DayPath(shared, settings.event_step * bell(rng), settings.event_step)
        noise = _noise(rng)

        market_days = []
        for index, path in enumerate(paths):
            drift = drifts[index]
            jump = jumps[index]
            market_rng = market_rngs[index]
            market_days.append(_market_day(event, path, index, day, true, drift, jump, market_rng, settings))
        today = WalkDay(
            day,
            event.family,
            shared_path,
            noise,
            jump_at,
            tuple(market_days),
            heights,
            settings.price_shrink,
        )
        yield today

        # The next day begins where this one ended.
        shared = today.shared.at(1, 0)
        for path, market in zip(paths, today.markets, strict=True):
            path.own = market.own.at(1, 0) + market.jump
            path.error = market.error.at(1, 0)
            path.traded += market.trade


def _market_day(
    event: SimulatedEvent,
    path: _Path,
    index: int,
    day: date,
    true: Scores,
    drift: float,
    jump: float,
    rng: random.Random,
    settings: Settings,
) -> MarketDay:
    error_step = settings.price_noise * (1 - settings.price_memory**2) ** 0.5
    error_decay = (settings.price_memory - 1) * path.error
    return MarketDay(
        own=DayPath(path.own, settings.own_step * bell(rng) + drift, settings.own_step),
        error=DayPath(path.error, error_decay + error_step * bell(rng), error_step),
        jump=jump,
        noise=_noise(rng),
        size=path.size,
        traded=path.traded,
        trade=int((500 + draw_below(rng, 9_500)) * path.size) * ONE,
        said_at=rng.random(),
        evidence=_draw_evidence(event, day, true, index, rng, settings),
    )


def _noise(rng: random.Random) -> int:
    return draw_below(rng, 1 << 53)


def drifts_per_variance(family: Family, all_scores: Scores) -> Scores:
    """Return each market's drift per unit of variance that keeps its expected probability constant.

    What is likely to end YES is likely to hear that it does. A ladder drifts by its middle rung.
    """
    if family == "exclusive":
        return tuple(part / ONE for part in softmax_millionths(all_scores))
    if family == "ladder":
        return (_drift_per_variance((all_scores[0] + all_scores[-1]) / 2),) * len(all_scores)
    return tuple(map(_drift_per_variance, all_scores))


def _drift_per_variance(score: float) -> float:
    """Return about the probability behind log-odds, less a half: worlds that were played depend on it."""
    y = min(max(score / 2, -3.0), 3.0)
    return y * (27 + y * y) / (54 + 18 * y * y)


def _draw_news(
    event: SimulatedEvent, true: Scores, day: date, settings: Settings, chance: Chance
) -> tuple[float, Scores]:
    """Return when news comes on a day, and its jump of each market; of exclusive outcomes one alone moves."""
    rng = chance(f"{chance_key(event.id)}/jump", day) if settings.jump_rate else None
    if rng is None or rng.random() >= settings.jump_rate:
        return 0.0, (0.0,) * event.markets

    jump = settings.jump_size * bell(rng)
    variance = settings.jump_size * settings.jump_size
    if event.family != "exclusive":
        return rng.random(), tuple(jump + variance * pull for pull in drifts_per_variance(event.family, true))

    jumps = [0.0] * event.markets
    moved_index = draw_below(rng, event.markets)
    jumps[moved_index] = jump + variance * _drift_per_variance(odds_of(event.family, true, moved_index))
    return rng.random(), tuple(jumps)


def _draw_evidence(
    event: SimulatedEvent, day: date, true: Scores, index: int, rng: random.Random, settings: Settings
) -> str | None:
    """Return the evidence on a market on a day; the day before it opens there is always a panel's."""
    day_before_opening = event.opens_at.date() - timedelta(1)
    source = PANEL if day == day_before_opening else draw_source(rng, settings.evidence_rate)
    if source is None:
        return None
    return evidence_line(source, day, odds_of(event.family, true, index), rng)


def draw_source(rng: random.Random, rate: float) -> EvidenceSource | None:
    """Return the source that speaks on a day, if any does."""
    remaining = rng.random()
    for source in (PANEL, ANALYST, RUMOUR):
        remaining -= rate * source.share
        if remaining < 0:
            return source
    return None


def evidence_line(source: EvidenceSource, day: date, truth: float, rng: random.Random) -> str:
    """Return what a source says about a market with the true log-odds `truth`."""
    p = probability(truth + source.noise * bell(rng))
    percent = min(max((p + 5_000) // 10_000, 1), 99)
    return f"- {day.isoformat()}: {source.name} puts the chance at {percent}%."


def ladder_rungs(event: SimulatedEvent, settings: Settings, chance: Chance) -> Scores:
    """Return what each threshold of a ladder takes off the log-odds, centred on zero."""
    rng = chance(f"{chance_key(event.id)}/rungs", date.min)
    heights = [0.0]
    for _ in range(event.markets - 1):
        heights.append(heights[-1] + settings.own_start * (0.4 + rng.random()))
    return tuple(height - heights[-1] / 2 for height in heights)


def scores(family: Family, shared: float, own: Sequence[float], heights: Sequence[float]) -> Scores:
    """Return the true scores of an event's markets, from their shared part and their own.

    A ladder moves as one, by its first market. What exclusive outcomes share would move none of them.
    """
    if family == "exclusive":
        return tuple(own)
    if family == "ladder":
        return tuple(shared + own[0] - height for height in heights)
    return tuple(shared + part for part in own)


def believed_scores(family: Family, true: Scores, shrink: float, errors: Sequence[float]) -> Scores:
    """Return the scores that prices reflect: shrunk, with errors; a ladder's share one error."""
    if family == "ladder":
        errors = [errors[0]] * len(true)
    return tuple(shrink * score + error for score, error in zip(true, errors, strict=True))


def chance_of(family: Family, all_scores: Scores, place: int) -> int:
    """Return a market's probability in millionths, from the scores of its event."""
    if family == "exclusive":
        return softmax_millionths(all_scores)[place]
    return probability(all_scores[place])


def odds_of(family: Family, all_scores: Scores, place: int) -> float:
    """Return a market's log-odds, from the scores of its event."""
    if family == "exclusive":
        return log_odds(chance_of(family, all_scores, place))
    return all_scores[place]


_LEVELS = 7
_DRAWS = Struct("<8I")
_UNIT = 1 << 32
_ROOT_HALF = 0.5**0.5
_ROOT_3 = 3**0.5


def brownian_bridges(noise: int, share: float) -> tuple[float, float]:
    """Return two Brownian bridges over a day at this share of it; `noise` seeds them.

    Each is a sum of tents, on every level half as wide, down to eleven minutes; a hash says how high one is.
    """
    first = second = 0.0
    height = 1.0
    position = share

    for level in range(_LEVELS if share else 0):
        tent = int(position)
        position_in_tent = position - tent
        tent_height = height * min(position_in_tent, 1 - position_in_tent)
        tent_hash = blake2b(b"%d/%d/%d" % (noise, level, tent), digest_size=_DRAWS.size).digest()
        draws = _DRAWS.unpack(tent_hash)
        first += tent_height * _normal(*draws[:4])
        second += tent_height * _normal(*draws[4:])
        height = height * _ROOT_HALF
        position = position * 2

    return first, second


def _normal(a: int, b: int, c: int, d: int) -> float:
    """Return an approximately standard normal draw from four uniform ones."""
    return (a + b + c + d - 2 * _UNIT) / _UNIT * _ROOT_3
