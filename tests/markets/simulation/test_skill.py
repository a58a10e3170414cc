"""A season rewards those who weigh the evidence: truth beats weighing beats the price."""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest

from markets.model import Listing
from markets.odds import bell, log_odds, probability
from markets.venues.simulator import Settings, Simulator, venue
from tests.builders import listed

SUNDAYS = [datetime(2026, 1, 4, tzinfo=UTC) + timedelta(weeks=n) for n in range(20)]
END = SUNDAYS[-1] + timedelta(weeks=2)
LINE = re.compile(
    r"^- (\S+): (a careful panel|an analyst|a rumour) puts the chance at (\d+)%\.$", re.MULTILINE
)
NOISE = {"a careful panel": 0.25, "an analyst": 0.7, "a rumour": 1.6}

Forecaster = Callable[[Simulator, Listing, datetime], int]


def price(world: Simulator, listing: Listing, at: datetime) -> int:
    return listing.mid or 0


def weighed(world: Simulator, listing: Listing, at: datetime) -> int:
    """Weigh the price as one source among others, each by its accuracy and its age."""
    weights = 1 / Settings().price_noise ** 2
    total = weights * log_odds(listing.mid or 0)
    for day, source, percent in LINE.findall(listing.market.rules):
        age = (at.date() - date.fromisoformat(day)).days
        weight = 1 / (NOISE[source] ** 2 + 0.01 * age)
        total += weight * log_odds(int(percent) * 10_000)
        weights += weight
    return probability(total / weights)


def averaged(world: Simulator, listing: Listing, at: datetime) -> int:
    """Return the plain mean of all that was said, by anybody."""
    said = [int(percent) for _, _, percent in LINE.findall(listing.market.rules)]
    return sum(said) * 10_000 // len(said)


def oracle(noise: float) -> Forecaster:
    def forecast(world: Simulator, listing: Listing, at: datetime) -> int:
        error = noise * bell(Random(f"oracle/{listing.market.id}/{at.isoformat()}"))
        return probability(log_odds(world.truth(listing.market.id, at)) + error)

    return forecast


FORECASTERS = {
    "truth": oracle(0.0),
    "near": oracle(0.1),
    "far": oracle(1.0),
    "weighed": weighed,
    "averaged": averaged,
    "price": price,
}


def briers(seed: int) -> dict[str, float]:
    """Return each forecaster's mean squared error, first over a market's Sundays, then over markets."""
    world = venue(Settings(seed=seed))
    shown: dict[str, list[tuple[Listing, datetime]]] = {}
    for at in SUNDAYS:
        for listing in asyncio.run(listed(world, at)):
            shown.setdefault(listing.market.id, []).append((listing, at))
    ids = [views[0][0].market.id for views in shown.values()]
    ends = [end for end in asyncio.run(world.resolutions(END, ids)) if end.outcome is not None]

    def brier(forecast: Forecaster) -> float:
        errors = [
            [(forecast(world, listing, at) / 1e6 - end.outcome) ** 2 for listing, at in shown[end.market_id]]
            for end in ends
            if end.outcome is not None
        ]
        return sum(sum(market) / len(market) for market in errors) / len(errors)

    return {name: brier(forecast) for name, forecast in FORECASTERS.items()}


@pytest.fixture(scope="module")
def scores(thorough: bool) -> list[dict[str, float]]:
    return [briers(seed) for seed in range(1, 21 if thorough else 4)]


def gap(scores: list[dict[str, float]], worse: str, better: str) -> float:
    return sum(score[worse] - score[better] for score in scores) / len(scores)


def test_skill_shows_in_every_season(scores: list[dict[str, float]]) -> None:
    pairs = [("weighed", "price"), ("weighed", "averaged"), ("price", "far"), ("near", "far")]
    for better, worse in pairs:
        assert sum(score[better] < score[worse] for score in scores) >= 0.9 * len(scores), (better, worse)


def test_the_gaps_are_clear(scores: list[dict[str, float]]) -> None:
    assert 0.005 < gap(scores, "price", "truth") < 0.015
    assert gap(scores, "price", "weighed") > 0.003
    assert gap(scores, "averaged", "weighed") > 0.002
    assert gap(scores, "weighed", "truth") > 0.001
