"""How the truth about the markets of an event moves from day to day, and what is seen of it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markets.millionths import ONE
from markets.odds import bell
from markets.simulation.evidence import PANEL, hear, line
from markets.simulation.family import Scores, chance_of, ideas, odds_of, rungs, scores
from markets.simulation.season import Event, drawn_by
from markets.simulation.settings import Chance, Family, Settings, below

LEAD = 3
"""Days that a walk begins before its market opens, so that a first panel can have met."""
_ROOT_3 = 1.7320508075688772


@dataclass(frozen=True, slots=True)
class Day:
    """One day of an event: the scores of its markets, the prices' idea of them, and what was said of each.

    `traded` are the dollars, in millionths, that changed hands up to and with this day.
    """

    date: date
    family: Family
    scores: Scores
    ideas: Scores
    traded: tuple[int, ...]
    said: tuple[str | None, ...]

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


def first_day(event: Event) -> date:
    """The day on which an event's walk begins. It ends with the day of the close."""
    return event.opens_at.date() - timedelta(LEAD)


def walk(event: Event, settings: Settings, chance: Chance) -> Iterator[Day]:
    """The days of an event, one after the other."""
    paths = [_Path(drawn_by(market)) for market in event.market_ids]
    heights = rungs(event, settings, chance)
    shared = 0.0
    first, last = first_day(event), event.closes_at.date()
    for day in (first + timedelta(n) for n in range((last - first).days + 1)):
        rngs = [chance(path.name, day) for path in paths]
        both = list(zip(paths, rngs, strict=True))
        shared += _step(event, paths, rngs, day, settings, chance)
        true = scores(event.family, shared, [path.own for path in paths], heights)
        errors = [_error(path, rng, settings) for path, rng in both]
        yield Day(
            day,
            event.family,
            true,
            ideas(event.family, true, settings.price_shrink, errors),
            traded=tuple(_trade(path, rng) for path, rng in both),
            said=tuple(_say(event, day, true, place, rng, settings) for place, rng in enumerate(rngs)),
        )


def _step(
    event: Event,
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
    step = shared * bell(chance(drawn_by(event.id), day))
    return step if born or not settings.jump_rate else step + _jump(event, paths, day, settings, chance)


def _jump(event: Event, paths: Sequence[_Path], day: date, settings: Settings, chance: Chance) -> float:
    """What news of the day adds to all markets; of exclusive outcomes it moves one alone."""
    rng = chance(f"{drawn_by(event.id)}/jump", day)
    if rng.random() >= settings.jump_rate:
        return 0.0
    jump = settings.jump_size * bell(rng)
    if event.family != "exclusive":
        return jump
    paths[below(rng, len(paths))].own += jump
    return 0.0


def _error(path: _Path, rng: random.Random, settings: Settings) -> float:
    """The mean of three days' noise: a price errs for days on end, but not for weeks."""
    noise = bell(rng)
    error = settings.price_noise * (path.before + path.last + noise) / _ROOT_3
    path.before, path.last = path.last, noise
    return error


def _trade(path: _Path, rng: random.Random) -> int:
    path.traded += (500 + below(rng, 9_500)) * ONE
    return path.traded


def _say(
    event: Event, day: date, true: Scores, place: int, rng: random.Random, settings: Settings
) -> str | None:
    """What is said of a market on a day; on the eve of its opening a panel has always met."""
    eve = event.opens_at.date() - timedelta(1)
    source = PANEL if day == eve else hear(rng, settings.evidence_rate)
    return None if source is None else line(source, day, odds_of(event.family, true, place), rng)
