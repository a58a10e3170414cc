"""Combines the forecasts of several agents, market by market. It never bets.

`method` is `median`, `mean`, `trimmed_mean` (without the lowest and highest; `trim` is the share left out at
each end), `geometric_mean` (of the probabilities; it leans to NO) or `geometric_mean_of_odds` (which treats
YES and NO alike). It uses final forecasts and skips markets without any. If one of their providers fails, so
does the crowd.

    - kind: crowd
      of: [sharp, hasty]
      method: geometric_mean_of_odds

A `kelly` agent `of` it shows what its forecasts would have earned.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agents.answers import decisions
from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import Settings as Common
from markets.millionths import millionths
from markets.model import MarketId

Method = Literal["median", "mean", "trimmed_mean", "geometric_mean", "geometric_mean_of_odds"]


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("an agent is named twice")
    return names


class Settings(Common):
    """Who is in the crowd, and how their forecasts become one."""

    of: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_once)]
    """The agents whose forecasts count."""
    method: Method = "median"
    """How several probabilities become one."""
    trim: float = Field(default=0.1, ge=0, lt=0.5)
    """For `trimmed_mean`: the share of forecasts left out at each end."""


def agent(settings: Settings, _given: Given) -> Agent:
    """The agent that says what the others say together."""
    pool = pool_of(settings)

    async def decide(view: View, _ask: Ask) -> Decision:
        probabilities: dict[MarketId, list[int]] = {listing.market.id: [] for listing in view.snapshot.shown}
        for name in settings.of:
            for forecast in view.stated.get(name, ()):
                if forecast.stage == "final" and forecast.market_id in probabilities:
                    probabilities[forecast.market_id].append(forecast.millionths)
        forecasts = tuple(
            Forecast(market_id, millionths=pool(ps), reason=f"{settings.method} of {len(ps)}")
            for market_id, ps in probabilities.items()
            if ps
        )
        note = "" if forecasts else f"{', '.join(settings.of)} stated no forecast this round"
        return Decision(forecasts, note=note)

    return decide


def pool_of(settings: Settings) -> Callable[[Sequence[int]], int]:
    """The way in which these settings make one probability out of several."""
    if settings.method == "trimmed_mean":
        trim = millionths(settings.trim)
        return lambda ps: decisions.trimmed_mean(ps, trim)
    pools = {
        "median": decisions.median,
        "mean": decisions.mean,
        "geometric_mean": decisions.geometric_mean,
        "geometric_mean_of_odds": decisions.geometric_mean_of_odds,
    }
    return pools[settings.method]
