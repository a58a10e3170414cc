"""How the markets of an event end, and from when on which version of that is known."""

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from markets.millionths import ONE
from markets.model import MarketId, Resolution
from markets.simulation.season import Event, drawn_by
from markets.simulation.settings import Chance, Family, Settings, below

HOURS = (0, 1, 3, 6, 12, 30)
"""How long after the close an end is known, unless it is late."""
CENT = ONE // 100

Ends = tuple[tuple[Resolution, ...], ...]
"""For each market of an event every version of how it ends."""


def ends(event: Event, truths: Sequence[int], settings: Settings, chance: Chance) -> Ends:
    """How markets with these last true probabilities end: loose ones each alone, a family by one draw."""
    if event.family != "plain":
        return _together(event, event.id, event.market_ids, truths, settings, chance)
    alone = zip(event.market_ids, truths, strict=True)
    return tuple(_together(event, m, [m], [truth], settings, chance)[0] for m, truth in alone)


def _together(
    event: Event,
    drawer: str,
    markets: Sequence[MarketId],
    truths: Sequence[int],
    settings: Settings,
    chance: Chance,
) -> Ends:
    rng = chance(f"{drawn_by(drawer)}/end", event.closes_at.date())
    known_at = event.closes_at + timedelta(hours=HOURS[below(rng, len(HOURS))])
    payouts = _payouts(event.family, truths, settings, rng)
    late = chance(f"{drawn_by(drawer)}/late", event.closes_at.date())
    if late.random() < settings.delay_share:
        known_at += timedelta(days=1 + below(late, settings.delay_days))
    return tuple(
        tuple(_versions(market, payout, known_at, settings, chance))
        for market, payout in zip(markets, payouts, strict=True)
    )


def _payouts(
    family: Family, truths: Sequence[int], settings: Settings, rng: random.Random
) -> list[int | None]:
    """What a YES share of each pays: mostly all or nothing, as drawn."""
    kind, draw = rng.random(), rng.random()
    outcomes = _outcomes(family, truths, draw)
    if kind < settings.refund_share:
        return [None for _ in truths]
    if kind < settings.refund_share + settings.half_share:
        return _parted(family, outcomes, ONE // 2, rng)
    if kind < settings.refund_share + settings.half_share + settings.fraction_share:
        return _parted(family, outcomes, CENT * (1 + below(rng, 99)), rng)
    return list(outcomes)


def _outcomes(family: Family, truths: Sequence[int], draw: float) -> list[int]:
    """All or nothing for each. One draw: so a threshold is passed only with all those before it."""
    if family != "exclusive":
        return [ONE if draw * ONE < truth else 0 for truth in truths]
    passed, outcomes = 0, list[int]()
    for truth in truths:
        outcomes.append(ONE if passed <= draw * ONE < passed + truth else 0)
        passed += truth
    return outcomes


def _parted(family: Family, outcomes: Sequence[int], part: int, rng: random.Random) -> list[int | None]:
    """The same part for all; of exclusive outcomes the one that was drawn shares with another."""
    if family != "exclusive":
        return [part for _ in outcomes]
    payouts: list[int | None] = [0 for _ in outcomes]
    first = outcomes.index(ONE)
    other = (first + 1 + below(rng, len(outcomes) - 1)) % len(outcomes)
    payouts[first], payouts[other] = part, ONE - part
    return payouts


def _versions(
    market: MarketId, payout: int | None, known_at: datetime, settings: Settings, chance: Chance
) -> Iterator[Resolution]:
    """How a market ended; where the venue gets it wrong at first, that and its correction."""
    rng = chance(f"{drawn_by(market)}/correction", known_at.date())
    if rng.random() >= settings.corrected_share:
        yield Resolution(market, 1, known_at, payout, "simulator")
        return
    wrong = 0 if payout == ONE else ONE
    yield Resolution(market, 1, known_at, wrong, "simulator")
    later = known_at + timedelta(days=1 + below(rng, settings.corrected_days))
    yield Resolution(market, 2, later, payout, "simulator")
