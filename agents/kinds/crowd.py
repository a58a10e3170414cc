"""Combines the forecasts of several agents, market by market. It never bets.

`method` is `median`, `mean`, `trimmed_mean` (without the lowest and highest; `trim` is the share left out at
each end), `geometric_mean` (of the probabilities; it leans to NO) or `geometric_mean_of_odds` (which treats
YES and NO alike). It uses final forecasts and skips markets without any. If one of their providers fails, so
does the crowd. Other questions than those of yes or no are combined by the medians of their parts.

    - kind: crowd
      of: [sharp, hasty]
      method: geometric_mean_of_odds

A `kelly` agent `of` it shows what its forecasts would have earned.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agents.answers import decisions
from agents.asked_forms import combined_answer, forms_in
from agents.model import Agent, Ask, Decision, Forecast, Given, KindSettings, View
from markets.millionths import millionths
from markets.model import MarketId

Method = Literal["median", "mean", "trimmed_mean", "geometric_mean", "geometric_mean_of_odds"]


def _check_names(agent_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of agents. Raise if one is there twice."""
    if len(set(agent_names)) < len(agent_names):
        raise ValueError("an agent is named twice")
    return agent_names


class Settings(KindSettings):
    """The agents in the crowd, and how their forecasts are combined."""

    of: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_names)]
    """The agents whose forecasts count."""
    method: Method = "median"
    """How several probabilities become one."""
    trim: float = Field(default=0.1, ge=0, lt=0.5)
    """For `trimmed_mean`: the share of forecasts left out at each end."""


def agent(settings: Settings, _given: Given) -> Agent:
    """Return an agent that combines the forecasts of others."""
    combine = combining_function(settings)

    async def decide(view: View, _ask: Ask) -> Decision:
        forms = forms_in(view.snapshot)
        shown = [listing.market.id for listing in view.snapshot.shown]
        inputs_by_market: dict[MarketId, list[Forecast]] = {market_id: [] for market_id in shown}
        for name in settings.of:
            for forecast in view.stated.get(name, ()):
                if forecast.stage == "final" and forecast.market_id in inputs_by_market:
                    inputs_by_market[forecast.market_id].append(forecast)

        forecasts = []
        for market_id, inputs in inputs_by_market.items():
            if inputs and market_id in forms:
                answer = combined_answer(forms[market_id], inputs)
                forecasts.append(Forecast(market_id, reason=f"median of {len(inputs)}", distribution=answer))
            elif inputs:
                reason = f"{settings.method} of {len(inputs)}"
                probability = combine([forecast.millionths for forecast in inputs])
                forecasts.append(Forecast(market_id, reason=reason, millionths=probability))

        note = "" if forecasts else f"{', '.join(settings.of)} stated no forecast this round"
        return Decision(tuple(forecasts), note=note)

    return decide


def combining_function(settings: Settings) -> Callable[[Sequence[int]], int]:
    """Return the function that makes one probability out of several, all in millionths."""
    if settings.method == "trimmed_mean":
        trim = millionths(settings.trim)
        return lambda probabilities: decisions.trimmed_mean(probabilities, trim)

    functions = {
        "median": decisions.median,
        "mean": decisions.mean,
        "geometric_mean": decisions.geometric_mean,
        "geometric_mean_of_odds": decisions.geometric_mean_of_odds,
    }
    return functions[settings.method]
