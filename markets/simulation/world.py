"""A simulated season, computed on demand: pages, quotes and resolutions at an instant."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution
from markets.simulation.questions import questions
from markets.simulation.settings import (
    Chance,
    Family,
    Settings,
    SimulatedEvent,
    chance_key,
    draw_below,
    instant_of,
    plan_events,
)
from markets.simulation.walk import INTRODUCTION, EventMoment, WalkDay, first_day, walk

HOURS = (0, 1, 3, 6, 12, 30)
"""How many hours after the close a resolution is known, unless it is delayed."""
_DAY = timedelta(days=1)
TICK = ONE // 100
_SHARES = (200, 300, 500)
"""The shares of each level in a market of average depth, best level first.

As in recorded books that depends on neither price nor side, so little money buys out a long shot."""
EventResolutions = tuple[tuple[Resolution, ...], ...]
"""Every version of the resolution of each market of an event."""


@dataclass(slots=True)
class EventStory:
    """An event, whose days are computed when first asked for."""

    event: SimulatedEvent
    settings: Settings
    chance: Chance
    _days: list[WalkDay] = field(default_factory=list)
    _walk: Iterator[WalkDay] | None = None
    _moment: tuple[datetime, EventMoment] | None = None
    _ends: EventResolutions | None = None

    def until(self, day: date) -> list[WalkDay]:
        """Return all days up to one, at least the first."""
        wanted_days = (min(day, self.event.closes_at.date()) - first_day(self.event)).days + 1
        if self._walk is None:
            self._walk = walk(self.event, self.settings, self.chance)
        while len(self._days) < max(wanted_days, 1):
            self._days.append(next(self._walk))
        return self._days[: max(wanted_days, 1)]

    def moment(self, at: datetime) -> EventMoment:
        """Return the event at an instant, clamped to the span of its walk."""
        if self._moment is None or self._moment[0] != at:
            until = min(at, self.event.closes_at).astimezone(UTC)
            day = self.until(until.date())[-1]
            share = (until - instant_of(day.date, hour=0)) / _DAY
            self._moment = at, day.moment(max(share, 0.0))
        return self._moment[1]

    def draws(self, name: str, what: str, day: date) -> random.Random:
        """Return the random generator of an event or a market for a purpose on a day."""
        return self.chance(f"{chance_key(name)}/{what}", day)

    def ends(self) -> EventResolutions:
        """Return every version of each market's resolution; markets of a family share one draw."""
        if self._ends is None:
            event = self.event
            last = self.moment(self.event.closes_at)
            truths = list(map(last.truth, range(event.markets)))
            if event.family == "plain":
                ends = list[tuple[Resolution, ...]]()
                for market, truth in zip(event.market_ids, truths, strict=True):
                    ends += self._resolved(market, [market], [truth])
                self._ends = tuple(ends)
            else:
                self._ends = self._resolved(event.id, event.market_ids, truths)

        return self._ends

    def _resolved(
        self, draw_key: str, markets: Sequence[MarketId], truths: Sequence[int]
    ) -> EventResolutions:
        closes_at = self.event.closes_at
        settings = self.settings
        end_rng, delay_rng = (self.draws(draw_key, what, closes_at.date()) for what in ("end", "late"))
        known_at = closes_at + timedelta(hours=HOURS[draw_below(end_rng, len(HOURS))])

        if delay_rng.random() < settings.delay_share:
            known_at += timedelta(days=1 + draw_below(delay_rng, settings.delay_days))

        payouts = _draw_payouts(self.event.family, truths, settings, end_rng)
        return tuple(
            tuple(self._versions(market, payout, known_at))
            for market, payout in zip(markets, payouts, strict=True)
        )

    def _versions(self, market: MarketId, payout: int | None, known_at: datetime) -> Iterator[Resolution]:
        """Yield a market's resolution; where the venue errs at first, that and its correction."""
        rng = self.draws(market, "correction", known_at.date())
        if rng.random() >= self.settings.corrected_share:
            yield Resolution(market, 1, known_at, payout, "simulator")
            return

        wrong_payout = 0 if payout == ONE else ONE
        yield Resolution(market, 1, known_at, wrong_payout, "simulator")
        corrected_at = known_at + timedelta(days=1 + draw_below(rng, self.settings.corrected_days))
        yield Resolution(market, 2, corrected_at, payout, "simulator")


@dataclass(frozen=True, slots=True)
class SimulatedMarket:
    """A market and its place in its event. `market.rules` holds no evidence yet."""

    market: Market
    story: EventStory
    place: int

    def evidence(self, at: datetime) -> Iterator[str]:
        """Yield what was said of the market by an instant."""
        moment = self.story.moment(at)
        for day in self.story.until(moment.day.date):
            market = day.markets[self.place]
            if market.evidence is not None and (day is not moment.day or market.said_at < moment.share):
                yield market.evidence

    def resolutions(self, at: datetime) -> list[Resolution]:
        """Return every version of the market's resolution that is known by an instant."""
        if at < self.market.closes_at:
            return []
        return [end for end in self.story.ends()[self.place] if end.known_at <= at]

    def listing(self, at: datetime) -> Listing:
        """Return the market as its page reads at an instant, with the evidence until then."""
        rules = "\n".join((self.market.rules, "", INTRODUCTION, *self.evidence(at)))
        return Listing(replace(self.market, rules=rules), self._quote(at))

    def _quote(self, at: datetime) -> Quote | None:
        """Return the quote at an instant, after the close the last one; on some days none."""
        story = self.story
        market = self.market
        moment = self.story.moment(at)
        market_today = moment.day.markets[self.place]
        unquoted_rate = self.story.settings.unquoted_rate
        if unquoted_rate > 0 and story.draws(market.id, "unquoted", moment.day.date).random() < unquoted_rate:
            return None

        rng = story.draws(market.id, "book", moment.day.date)
        spread_ticks = 1 + draw_below(rng, story.settings.spread)
        believed_ticks = moment.look(self.place) // TICK
        bid_ticks = max(believed_ticks - (spread_ticks - 1) // 2, 1)
        bid_ticks = min(bid_ticks, 99 - spread_ticks)
        ask_ticks = bid_ticks + spread_ticks
        shares_scale = market_today.size * (0.75 + 0.75 * rng.random())

        return Quote(
            market.id,
            min(at, market.closes_at),
            bid=bid_ticks * TICK,
            ask=ask_ticks * TICK,
            mid=(bid_ticks + ask_ticks) * TICK // 2,
            last=(bid_ticks, ask_ticks)[draw_below(rng, 2)] * TICK,
            volume=market_today.traded + int(market_today.trade * moment.share),
            bids=tuple(
                Level(ticks * TICK, _shares(depth, shares_scale, rng))
                for depth, ticks in _level_prices(bid_ticks, -1)
            ),
            asks=tuple(
                Level(ticks * TICK, _shares(depth, shares_scale, rng))
                for depth, ticks in _level_prices(ask_ticks, +1)
            ),
        )


SimulatedWorld = dict[MarketId, SimulatedMarket]
"""All markets of a season, in the order in which they are listed."""


def build_world(settings: Settings, chance: Chance) -> SimulatedWorld:
    """Return every market of the season; their days are computed when first asked for."""
    lives: SimulatedWorld = {}
    for event in plan_events(settings, chance):
        story = EventStory(event, settings, chance)
        for place, market in enumerate(_markets(event, settings, chance)):
            lives[market.id] = SimulatedMarket(market, story, place)
    return lives


def _markets(event: SimulatedEvent, settings: Settings, chance: Chance) -> list[Market]:
    rng = chance(f"{chance_key(event.id)}/words", event.opens_at.date())
    category, texts = questions(rng, event.markets, event.closes_at, event.family)
    return [
        Market(
            id=market,
            event_id=event.id,
            question=question,
            rules=rules,
            category=category,
            opens_at=event.opens_at,
            closes_at=event.closes_at,
            tick=TICK,
            fee_rate=settings.fee_rate,
        )
        for market, (question, rules) in zip(event.market_ids, texts, strict=True)
    ]


def _level_prices(best: int, step: int) -> list[tuple[int, int]]:
    """Return places and prices of the levels from the best one on, within the range of prices."""
    return [(n, best + n * step) for n in range(len(_SHARES)) if 0 < best + n * step < 100]


def _shares(place: int, depth: float, rng: random.Random) -> int:
    """Return the whole shares of a level in a market of that depth, with noise."""
    return max(int(_SHARES[place] * depth * (0.6 + 0.8 * rng.random())), 1) * ONE


def _draw_payouts(
    family: Family, truths: Sequence[int], settings: Settings, rng: random.Random
) -> list[int | None]:
    """Return what a YES share of each market pays: mostly all or nothing, as drawn."""
    kind_draw = rng.random()
    outcome_draw = rng.random()
    outcomes = _yes_or_no_payouts(family, truths, outcome_draw)
    if kind_draw < settings.refund_share:
        return [None] * len(truths)
    if kind_draw < settings.refund_share + settings.half_share:
        return _fractional_payouts(family, outcomes, ONE // 2, rng)
    if kind_draw < settings.refund_share + settings.half_share + settings.fraction_share:
        return _fractional_payouts(family, outcomes, TICK * (1 + draw_below(rng, 99)), rng)
    return list(outcomes)


def _yes_or_no_payouts(family: Family, truths: Sequence[int], draw: float) -> list[int]:
    """Return all or nothing for each market, by one draw: thresholds are passed in order."""
    if family != "exclusive":
        return [ONE if draw * ONE < truth else 0 for truth in truths]

    cumulated_truth = 0
    outcomes = list[int]()
    for truth in truths:
        outcomes.append(ONE if cumulated_truth <= draw * ONE < cumulated_truth + truth else 0)
        cumulated_truth += truth

    return outcomes


def _fractional_payouts(
    family: Family, outcomes: Sequence[int], fraction: int, rng: random.Random
) -> list[int | None]:
    """Return the same fraction for all; of exclusive outcomes, the drawn one shares with another."""
    if family != "exclusive":
        return [fraction] * len(outcomes)

    payouts: list[int | None] = [0] * len(outcomes)
    winner = outcomes.index(ONE)
    second_winner = (winner + 1 + draw_below(rng, len(outcomes) - 1)) % len(outcomes)
    payouts[winner] = fraction
    payouts[second_winner] = ONE - fraction

    return payouts
