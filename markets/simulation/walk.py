"""How the truth about the markets of an event moves from day to day, and what evidence says of it.

The markets of an event hang together loosely, as exclusive outcomes, or as rungs of a ladder. A score is
what a market's probability is made of: mostly log-odds; for exclusive outcomes the logarithms of their
weights, which say something only together.

Evidence is dated, one line a piece, from sources that are close to the truth or far off it. The grammar of
a line, which is all that an agent gets to see:

    - DATE: SOURCE puts the chance at N%.

DATE is year-month-day, SOURCE one of the names below, N a whole number from 1 to 99. It is a look
at the truth of that day, and can be read from the next midnight (UTC) on.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markets.millionths import ONE
from markets.odds import bell, log_odds, probability, split
from markets.simulation.season import SimulatedEvent, chance_key
from markets.simulation.settings import Chance, Family, Settings, draw_below

INTRODUCTION = (
    "What has been said so far. A careful panel is usually close, an analyst less so, a rumour often far off:"
)
LEAD = 3
"""Days that a walk begins before its market opens, so that a first panel can have met."""
_ROOT_3 = 1.7320508075688772


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Who speaks: how far off as a standard deviation in log-odds, and in what share of all lines."""

    name: str
    noise: float
    share: float


PANEL = EvidenceSource("a careful panel", noise=0.25, share=0.4)
ANALYST = EvidenceSource("an analyst", noise=0.7, share=0.3)
RUMOUR = EvidenceSource("a rumour", noise=1.6, share=0.3)
Scores = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WalkDay:
    """One day of an event: the scores of its markets, the prices' idea of them, and what was said of each.

    `traded` are the dollars, in millionths, that changed hands up to and with this day.
    """

    date: date
    family: Family
    scores: Scores
    ideas: Scores
    traded: tuple[int, ...]
    evidence: tuple[str | None, ...]

    def truth(self, place: int) -> int:
        """The true probability of YES for one of the markets, in millionths."""
        return chance_of(self.family, self.scores, place)

    def look(self, place: int) -> int:
        """What its price takes that for."""
        return chance_of(self.family, self.ideas, place)


@dataclass(slots=True)
class _Path:
    """How far a market has come: its own part of the log-odds, two days' noise, what was traded."""

    name: str
    own: float = 0.0
    before: float = 0.0
    last: float = 0.0
    traded: int = 0


def first_day(event: SimulatedEvent) -> date:
    """The day on which an event's walk begins. It ends with the day of the close."""
    return event.opens_at.date() - timedelta(LEAD)


def walk(event: SimulatedEvent, settings: Settings, chance: Chance) -> Iterator[WalkDay]:
    """The days of an event, one after the other."""
    paths = [_Path(chance_key(market)) for market in event.market_ids]
    heights = ladder_rungs(event, settings, chance)
    shared = 0.0
    first, last = first_day(event), event.closes_at.date()
    for day in (first + timedelta(n) for n in range((last - first).days + 1)):
        rngs = [chance(path.name, day) for path in paths]
        both = list(zip(paths, rngs, strict=True))
        shared += _step(event, paths, rngs, day, settings, chance)
        true = scores(event.family, shared, [path.own for path in paths], heights)
        errors = [_error(path, rng, settings) for path, rng in both]
        yield WalkDay(
            day,
            event.family,
            true,
            believed_scores(event.family, true, settings.price_shrink, errors),
            traded=tuple(_trade(path, rng) for path, rng in both),
            evidence=tuple(_say(event, day, true, place, rng, settings) for place, rng in enumerate(rngs)),
        )


def _step(
    event: SimulatedEvent,
    paths: Sequence[_Path],
    rngs: Sequence[random.Random],
    day: date,
    settings: Settings,
    chance: Chance,
) -> float:
    """The step that a day brings to all markets; each takes its own besides."""
    born = day == first_day(event)
    shared = settings.event_start if born else settings.event_step
    own = settings.own_start if born else settings.own_step
    for path, rng in zip(paths, rngs, strict=True):
        path.own += own * bell(rng)
    step = shared * bell(chance(chance_key(event.id), day))
    return step if born or not settings.jump_rate else step + _jump(event, paths, day, settings, chance)


def _jump(
    event: SimulatedEvent, paths: Sequence[_Path], day: date, settings: Settings, chance: Chance
) -> float:
    """What news of the day adds to all markets; of exclusive outcomes it moves one alone."""
    rng = chance(f"{chance_key(event.id)}/jump", day)
    if rng.random() >= settings.jump_rate:
        return 0.0
    jump = settings.jump_size * bell(rng)
    if event.family != "exclusive":
        return jump
    paths[draw_below(rng, len(paths))].own += jump
    return 0.0


def _error(path: _Path, rng: random.Random, settings: Settings) -> float:
    """The mean of three days' noise: a price errs for days on end, but not for weeks."""
    noise = bell(rng)
    error = settings.price_noise * (path.before + path.last + noise) / _ROOT_3
    path.before, path.last = path.last, noise
    return error


def _trade(path: _Path, rng: random.Random) -> int:
    path.traded += (500 + draw_below(rng, 9_500)) * ONE
    return path.traded


def _say(
    event: SimulatedEvent, day: date, true: Scores, place: int, rng: random.Random, settings: Settings
) -> str | None:
    """What is said of a market on a day; on the eve of its opening a panel has always met."""
    eve = event.opens_at.date() - timedelta(1)
    source = PANEL if day == eve else draw_source(rng, settings.evidence_rate)
    return None if source is None else evidence_line(source, day, odds_of(event.family, true, place), rng)


def draw_source(rng: random.Random, rate: float) -> EvidenceSource | None:
    """Who speaks up on a day, if anyone does."""
    draw = rng.random()
    for source in (PANEL, ANALYST, RUMOUR):
        draw -= rate * source.share
        if draw < 0:
            return source
    return None


def evidence_line(source: EvidenceSource, day: date, truth: float, rng: random.Random) -> str:
    """What the source says about a market whose true log-odds are `truth`."""
    p = probability(truth + source.noise * bell(rng))
    percent = min(max((p + 5_000) // 10_000, 1), 99)
    return f"- {day.isoformat()}: {source.name} puts the chance at {percent}%."


def ladder_rungs(event: SimulatedEvent, settings: Settings, chance: Chance) -> Scores:
    """What each threshold of a ladder takes off the log-odds, as far above the middle as below."""
    rng = chance(f"{chance_key(event.id)}/rungs", date.min)
    heights = [0.0]
    for _ in range(event.markets - 1):
        heights.append(heights[-1] + settings.own_start * (0.4 + rng.random()))
    return tuple(height - heights[-1] / 2 for height in heights)


def scores(family: Family, shared: float, own: Sequence[float], heights: Sequence[float]) -> Scores:
    """The true scores of an event's markets, from what they share and what each has of its own.

    A ladder moves as one, by its first market. What exclusive outcomes share would move none of them.
    """
    if family == "exclusive":
        return tuple(own)
    if family == "ladder":
        return tuple(shared + own[0] - height for height in heights)
    return tuple(shared + part for part in own)


def believed_scores(family: Family, true: Scores, shrink: float, errors: Sequence[float]) -> Scores:
    """The scores as prices take them: less far apart, and with errors. A ladder's prices err together."""
    if family == "ladder":
        errors = [errors[0]] * len(true)
    return tuple(shrink * score + error for score, error in zip(true, errors, strict=True))


def chance_of(family: Family, all_scores: Scores, place: int) -> int:
    """The probability behind the scores for one of the markets, in millionths."""
    return split(all_scores)[place] if family == "exclusive" else probability(all_scores[place])


def odds_of(family: Family, all_scores: Scores, place: int) -> float:
    """The log-odds behind the scores for one of the markets."""
    return log_odds(chance_of(family, all_scores, place)) if family == "exclusive" else all_scores[place]
