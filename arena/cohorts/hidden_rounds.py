"""Hidden rounds: a cohort's first ones, in which agents see neither prices nor what others forecast.

What tells a price is left out of the view, so that no kind of agent, prompt, tool or document has to know.
"""

from collections.abc import Iterable
from dataclasses import replace

from agents.model import PastForecast, View
from arena.cohorts.cohort import forecast_sources
from arena.record.model.cohort import Cohort, Entrant
from markets.distributions import form_of
from markets.model import Listing
from portfolio.model import Bet, Rejection, Sale

PRICE_KINDS = frozenset({"favourite", "market"})
"""Kinds that say the price, and have nothing to say without one."""
HIDDEN_CODE = "hidden_round"
"""The code of orders that are refused because prices are hidden."""
HIDDEN_WORDS = "prices are hidden in this round, and nothing is traded"
LEFT_OUT_WORDS = "it repeats prices or forecasts of others, which are hidden in this round"
"""Why an agent is not asked in a hidden round."""


def view_of_round(cohort: Cohort, view: View) -> View:
    """Return what an agent sees in its round: in a hidden one no prices and no forecasts of other agents."""
    if not cohort.hides(view.round):
        return view

    snapshot = replace(
        view.snapshot,
        shown=_without_prices(view.snapshot.shown),
        held=_without_prices(view.snapshot.held),
    )

    siblings = None
    if view.siblings is not None:
        siblings = {}
        for event, listings in view.siblings.items():
            siblings[event] = _without_prices(listings)

    past = {}
    for market, forecasts in view.past.items():
        past[market] = _without_past_prices(forecasts)

    return replace(
        view,
        snapshot=snapshot,
        stated={},
        history={},
        siblings=siblings,
        past=past,
        ended=_without_past_prices(view.ended),
        hidden=True,
    )


def _without_prices(listings: Iterable[Listing]) -> tuple[Listing, ...]:
    """Return the listings without quotes, and without the odds of options."""
    return tuple(
        replace(listing, quote=None, market=replace(listing.market, form=_without_odds(listing.market.form)))
        for listing in listings
    )


def _without_past_prices(past: Iterable[PastForecast]) -> tuple[PastForecast, ...]:
    return tuple(replace(forecast, price=None, form=_without_odds(forecast.form)) for forecast in past)


def _without_odds(form: str) -> str:
    return replace(form_of(form), odds=()).text


def is_left_out(cohort: Cohort, round_number: int, entrant: Entrant) -> bool:
    """Tell whether an entrant is not asked in a round, because it repeats what that round hides."""
    repeats_prices = entrant.kind in PRICE_KINDS
    repeats_forecasts = bool(forecast_sources(entrant.settings))
    return cohort.hides(round_number) and (repeats_prices or repeats_forecasts)


def refused_orders(orders: Iterable[Bet | Sale]) -> list[Rejection]:
    """Return a rejection of each order of a hidden round: nobody can bet on a price unseen."""
    return [Rejection(HIDDEN_CODE, HIDDEN_WORDS, order.market_id) for order in orders]
