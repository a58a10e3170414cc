"""How the truth about a market moves from day to day, and what is seen of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from markets.millionths import ONE
from markets.model import Market, Resolution
from markets.odds import bell, probability
from markets.simulation.evidence import PANEL, hear, line
from markets.simulation.season import Event, drawn_by
from markets.simulation.settings import Chance, Settings, below

LEAD = 3
"""Days that a walk begins before its market opens, so that a first panel can have met."""
_ROOT_3 = 1.7320508075688772


@dataclass(frozen=True, slots=True)
class Day:
    """One day of a market: its true probability, the price's idea of it, and what was said.

    `traded` are the dollars, in millionths, that changed hands up to and with this day.
    """

    date: date
    truth: int
    look: int
    traded: int
    said: str | None


@dataclass(frozen=True, slots=True)
class Life:
    """A market with all its days, and how it ends. `market.rules` holds no evidence yet."""

    market: Market
    days: tuple[Day, ...]
    resolution: Resolution

    def day(self, at: datetime) -> Day:
        """The day of the walk that an instant falls on; its first or last one outside of it."""
        index = (at.astimezone(UTC).date() - self.days[0].date).days
        return self.days[min(max(index, 0), len(self.days) - 1)]


def event_walk(event: Event, settings: Settings, chance: Chance) -> list[tuple[date, float]]:
    """The part of the log-odds that all markets of an event share, day by day."""
    first = event.opens_at.date() - timedelta(LEAD)
    days = [first + timedelta(n) for n in range((event.closes_at.date() - first).days + 1)]
    steps = (bell(chance(drawn_by(event.id), day)) for day in days)
    return list(zip(days, _walk(steps, settings.event_start, settings.event_step), strict=True))


def live(market: Market, shared: list[tuple[date, float]], settings: Settings, chance: Chance) -> Life:
    """A market's days, given the shared part of its event."""
    days = tuple(_days(market, shared, settings, chance))
    return Life(market, days, _end(market, days[-1].truth, settings, chance))


def _walk(steps: Iterator[float], start: float, step: float) -> Iterator[float]:
    place = start * next(steps)
    yield place
    for draw in steps:
        place += step * draw
        yield place


def _days(
    market: Market, shared: list[tuple[date, float]], settings: Settings, chance: Chance
) -> Iterator[Day]:
    rngs = [chance(drawn_by(market.id), day) for day, _ in shared]
    own = _walk((bell(rng) for rng in rngs), settings.own_start, settings.own_step)
    eve = market.opens_at.date() - timedelta(1)
    traded, before, last = 0, 0.0, 0.0
    for (day, part), rng, own_part in zip(shared, rngs, own, strict=True):
        truth = part + own_part
        noise = bell(rng)
        # The mean of three days' noise: a price errs for days on end, but not for weeks.
        look = settings.price_shrink * truth + settings.price_noise * (before + last + noise) / _ROOT_3
        before, last = last, noise
        traded += (500 + below(rng, 9_500)) * ONE
        source = PANEL if day == eve else hear(rng, settings.evidence_rate)
        said = None if source is None else line(source, day, truth, rng)
        yield Day(day, probability(truth), probability(look), traded, said)


def _end(market: Market, truth: int, settings: Settings, chance: Chance) -> Resolution:
    rng = chance(f"{drawn_by(market.id)}/end", market.closes_at.date())
    wait = (0, 1, 3, 6, 12, 30)[below(rng, 6)]
    kind, draw = rng.random(), rng.random()
    payout: int | None = ONE if draw * ONE < truth else 0
    if kind < settings.refund_share:
        payout = None
    elif kind < settings.refund_share + settings.half_share:
        payout = ONE // 2
    return Resolution(market.id, 1, market.closes_at + timedelta(hours=wait), payout, "simulator")
