"""From a model's answer to a decision: tolerant of form, strict on what a number or a side means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents.answers.figures import (
    MeaninglessItem,
    Scale,
    parse_amount,
    parse_fraction,
    parse_limit,
    parse_probability,
    parse_side,
    plain_number,
    scale_of,
)
from agents.answers.grammar import ENDS_EARLY, NumberText, OpenObject, RepeatedKey
from agents.answers.json_text import NotOneObject
from agents.answers.keys import MOST_KEYS, REASON_KEYS, chance_of, market_of, odd_term, plain_key, side_beside
from agents.answers.shape import find_answer
from agents.model import Decision, Forecast, Stage, View
from agents.prompts.prompt import named_markets
from agents.text import one_line
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

MOST_REASON = 500
READER_VERSION = 2
"""Counts the ways of turning what agents are shown and answer into decisions: `arena verify` does it again.

It goes up with each change by which an answer is read otherwise, or a rule decides otherwise, than before.
"""
_UNLIKE = {"bet": "sell short close exit hold skip pass none", "sale": "buy long open hold skip pass none"}
"""Actions that an order of a sort isn't."""
_Item = TypeVar("_Item", Forecast, Bet, Sale)
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer from which nothing can be taken, and why, in words for the model that gave it."""

    message: str


@dataclass(frozen=True, slots=True)
class _ShownMarkets:
    """The markets that an answer may speak of, by the names that the prompt gave them.

    `repairs` are noted where an item names one in another way.
    """

    all: Mapping[str, MarketId]
    shown: frozenset[MarketId]
    repairs: dict[str, None] = field(default_factory=dict)

    def market(self, item: Fields) -> MarketId:
        found: MarketId | None = market_of(item, self.all)
        name = item.get("market")
        if found is None:
            words = f'there is no market "{one_line(str(name), 40)}"' if name else 'it names no "market"'
            raise MeaninglessItem("unknown_market", words)
        plain = isinstance(name, str) and not isinstance(name, NumberText)
        if name is None:
            self.repairs["key"] = None
        elif not plain or name.strip().lower() not in self.all:
            self.repairs["market"] = None
        return found

    def offered(self, item: Fields) -> MarketId:
        market_id = self.market(item)
        if market_id not in self.shown:
            raise MeaninglessItem("not_on_offer", "the market is no longer open for betting")
        return market_id


def parse_answer(
    text: str, view: View, stage: Stage = "final", bets: bool = True
) -> Decision | UnusableAnswer:
    """What the answer says. Each bad item becomes a rejection and the good ones stand.

    Whatever else is in the object, "thoughts" above all, is left aside. `bets` is whether the question asked
    for bets and sales. No order is taken from an answer that breaks in the middle, other than by its end.
    """
    names, shown = named_markets(view.snapshot)
    try:
        answer = find_answer(text, names)
    except NotOneObject as error:
        return UnusableAnswer(str(error))
    markets = _ShownMarkets(names, shown, answer.repairs)
    scale = scale_of(chance_of(item) for item in answer.forecasts if isinstance(item, dict))
    forecasts, bad = _parse_items(
        answer.forecasts, "forecast", markets, lambda x: _forecast(x, markets, stage, scale)
    )
    if scale == "percent" and forecasts:
        answer.repairs["percent"] = None
    forecasts, unclear = first_of_each(forecasts)
    refused, count = [*bad, *unclear], len(answer.bets) + len(answer.sales)
    wanted: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    if stage != "blind" and bets and (not answer.fault or answer.fault.endswith(ENDS_EARLY)):
        wanted, bad = _parse_items(answer.bets, "bet", markets, lambda x: bet_of(x, markets.offered(x)))
        refused += bad
        sales, bad = _parse_items(answer.sales, "sale", markets, lambda x: sale_of(x, markets.market(x)))
        refused += bad
    elif count and stage == "blind":
        refused.append(Rejection("too_early", f"{count} bets or sales placed before prices were shown"))
    elif count and not bets:
        words = f"{count} bets or sales where only probabilities were asked for"
        refused.append(Rejection("not_asked", words))
    elif count:
        refused.append(Rejection("broken", f"{count} orders in a broken answer"))
    if answer.misplaced:
        words = f'orders outside the "bets" and "sales" of the answer: {answer.misplaced}'
        refused.append(Rejection("misplaced", words))
    return Decision(forecasts, wanted, sales, tuple(refused), repaired=tuple(answer.repairs))


def _parse_items(
    items: list[Any], noun: str, markets: _ShownMarkets, read: Callable[[Fields], _Item]
) -> tuple[tuple[_Item, ...], list[Rejection]]:
    """The items that make sense, and what is wrong with the others."""
    good, bad = [], []
    for place, item in enumerate(items, 1):
        try:
            good.append(read(_sound(item, noun)))
        except MeaninglessItem as error:
            legible = isinstance(item, dict) and len(item) <= MOST_KEYS
            about = market_of(item, markets.all) if legible else None
            bad.append(Rejection(error.code, f"{noun} {place}: {error}", about or ""))
    return tuple(good), bad


def _sound(item: Any, noun: str) -> Fields:
    """The item, which is a whole object, each of whose keys stands there once and none for another."""
    if not isinstance(item, dict):
        raise MeaninglessItem("not_an_object", "it is not a JSON object")
    if len(item) > MOST_KEYS:
        raise MeaninglessItem("not_an_object", f"it has {len(item):,} keys")
    if isinstance(item, OpenObject):
        raise MeaninglessItem("cut_off", "it has no end")
    if RepeatedKey in map(type, item.values()):
        key = next(value.key for value in item.values() if isinstance(value, RepeatedKey))
        raise MeaninglessItem("duplicate_key", f'the key "{one_line(key, 40)}" appears twice')
    if noun in _UNLIKE and (key := odd_term(item, _UNLIKE[noun].split())):
        words = f'"{one_line(key, 40)}" makes it unclear what is wanted: an order has a market, a side, '
        raise MeaninglessItem("unclear_order", f"{words}an amount or a fraction, and a limit")
    return item


def _forecast(item: Fields, markets: _ShownMarkets, stage: Stage, scale: Scale) -> Forecast:
    """A forecast of a model, under whatever keys it stands."""
    market = markets.offered(item)
    if key := side_beside(item):
        words = f'"{one_line(key, 40)}" makes it unclear whose probability it is: state that of YES alone'
        raise MeaninglessItem("side", words)
    value = chance_of(item)
    if "probability" not in item:
        markets.repairs["key"] = None
    chance = parse_probability(value, scale)
    if plain_number(value) is None:
        markets.repairs["number"] = None
    return Forecast(market, stage=stage, reason=_reason(item), millionths=chance)


def forecast_of(item: Fields, market: MarketId) -> Forecast:
    """What an item says of how likely a market is."""
    chance = parse_probability(item.get("probability"))
    return Forecast(market, reason=_reason(item), millionths=chance)


def bet_of(item: Fields, market: MarketId) -> Bet:
    """The bet that an item asks for."""
    side, amount = parse_side(item.get("side")), parse_amount(item.get("amount"))
    return Bet(market, side, amount, parse_limit(item.get("limit")), _reason(item))


def sale_of(item: Fields, market: MarketId) -> Sale:
    """The sale that an item asks for."""
    side, part = parse_side(item.get("side")), parse_fraction(item.get("fraction"))
    limit = parse_limit(item.get("limit"))
    return Sale(market, side, fraction=None if part == ONE else part, limit=limit, reason=_reason(item))


def _reason(item: Fields) -> str:
    reason = item.get("reason")
    if reason is None:
        reason = next((value for key, value in item.items() if plain_key(key) in REASON_KEYS), None)
    return one_line(reason, MOST_REASON) if isinstance(reason, str) else ""


def first_of_each(forecasts: tuple[Forecast, ...]) -> tuple[tuple[Forecast, ...], list[Rejection]]:
    """One forecast a market; a market with two different ones has none."""
    first: dict[MarketId, Forecast] = {}
    unclear: dict[MarketId, Rejection] = {}
    for forecast in forecasts:
        market_id = forecast.market_id
        if first.setdefault(market_id, forecast).millionths != forecast.millionths:
            words = "this market has two different probabilities"
            unclear[market_id] = Rejection("stated_twice", words, market_id)
    return tuple(first[m] for m in first if m not in unclear), list(unclear.values())
