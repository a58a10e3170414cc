"""What an agent decided, held against what it was shown: anyone's code may have made it."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, replace
from types import NoneType
from typing import Any, TypeVar

from agents.model import Decision, Forecast, View
from agents.text import printable
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

Item = TypeVar("Item", Bet, Sale, Forecast, Rejection)

STAGES = ("blind", "final")


def sound(decision: object, view: View) -> Decision:
    """The decision without the items that can't be kept; each of these is a rejection with a reason.

    Raises `TypeError` for what is no decision at all. Whether bets and sales can be granted is for
    `portfolio.execute` to say; here they only have to be ones.
    """
    if not isinstance(decision, Decision):
        raise TypeError(f"an agent decides on a Decision, and this is a {type(decision).__name__}")
    forecasts, refused = _forecasts(decision.forecasts, view)
    bets = [_storable(bet) for bet in decision.bets if _is_plain(bet, Bet)]
    sales = [_storable(sale) for sale in decision.sales if _is_plain(sale, Sale)]
    lost = len(decision.bets) + len(decision.sales) - len(bets) - len(sales)
    words = "a bet or a sale is made of texts and whole numbers of millionths"
    return replace(
        decision,
        forecasts=tuple(forecasts.values()),
        bets=tuple(bets),
        sales=tuple(sales),
        rejections=(
            *map(_storable, decision.rejections),
            *refused,
            *(Rejection("bad_wish", words) for _ in range(lost)),
        ),
        note=printable(decision.note),
    )


def _forecasts(
    stated: Iterable[Forecast], view: View
) -> tuple[Mapping[tuple[str, str], Forecast], list[Rejection]]:
    shown = {listing.market.id for listing in view.snapshot.shown}
    kept: dict[tuple[str, str], Forecast] = {}
    refused = []
    for forecast in stated:
        fault = _fault(forecast, shown)
        if fault is None and (forecast.market_id, forecast.stage) in kept:
            fault = "a second forecast for a market is not taken"
        if fault is None:
            kept[forecast.market_id, forecast.stage] = _storable(forecast)
        else:
            refused.append(Rejection("bad_forecast", fault, _name(forecast)))
    return kept, refused


def _fault(forecast: object, shown: Set[MarketId]) -> str | None:
    if not isinstance(forecast, Forecast):
        return f"a forecast is a Forecast, and this is a {type(forecast).__name__}"
    if forecast.market_id not in shown:
        return "a forecast is for a market that was shown"
    if type(forecast.probability) is not int or not 0 <= forecast.probability <= ONE:
        return "a probability is a whole number of millionths from 0 to 1,000,000"
    if forecast.stage not in STAGES:
        return "a forecast is made blind or final"
    return None


def _name(forecast: Forecast) -> str:
    market_id = getattr(forecast, "market_id", "")
    return printable(market_id[:200]) if isinstance(market_id, str) else ""


def _is_plain(item: object, kind: type[Bet] | type[Sale]) -> bool:
    """Whether it is of the kind, and made of what the record can hold."""
    if not isinstance(item, kind):
        return False
    return all(type(getattr(item, field.name)) in (str, int, NoneType) for field in fields(kind))


def _storable(item: Item) -> Item:
    """The item with every text in it made safe to store."""
    values: dict[str, Any] = {field.name: getattr(item, field.name) for field in fields(item)}
    texts: dict[str, Any] = {name: printable(text) for name, text in values.items() if isinstance(text, str)}
    return replace(item, **texts)
