"""From a model's answer to a decision: tolerant of form, strict on what a number or a side means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from agents.answers.figures import MeaninglessItem, Scale, parse_probability, plain_number, scale_of
from agents.answers.grammar import ENDS_EARLY, NumberText, OpenObject, RepeatedKey
from agents.answers.json_text import NotOneObject
from agents.answers.keys import MOST_KEYS, USUAL_KEYS, chance_of, market_of, side_beside
from agents.answers.orders import bet_of, limit_values, order_terms, reason_of, sale_of
from agents.answers.shape import Answer, find_answer
from agents.model import Decision, Forecast, Stage, View
from agents.prompts.prompt import named_markets
from agents.text import one_line
from markets.model import MarketId, Snapshot
from portfolio.model import Bet, Rejection, Sale

READER_VERSION = 3
"""Counts the ways of turning what agents are shown and answer into decisions: `arena verify` does it again.

It goes up with each change by which an answer is read otherwise, or a rule decides otherwise, than before.
"""
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
            if isinstance(name, str) and name.strip().lower() in self.all:
                words = "it names two markets"
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
    names, shown = _names_in(view.snapshot)
    try:
        answer = find_answer(text, names)
    except NotOneObject as error:
        return UnusableAnswer(str(error))
    markets = _ShownMarkets(names, shown, answer.repairs)
    scale = scale_of([chance_of(item) for item in answer.forecasts if isinstance(item, dict)])
    forecasts, bad = _parse_items(
        answer.forecasts, "forecast", markets, lambda x: _forecast(x, markets, stage, scale)
    )
    if scale == "percent" and forecasts:
        answer.repairs["percent"] = None
    forecasts, unclear = first_of_each(forecasts)
    refused = [*bad, *unclear]
    wanted: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    if (why := _refusal_of_orders(answer, stage, bets)) is not None:
        refused.append(why)
    else:
        wanted, sales, bad = _orders(answer, markets)
        refused += bad
    if answer.misplaced:
        words = f'orders outside the "bets" and "sales" of the answer: {answer.misplaced}'
        refused.append(Rejection("misplaced", words))
    return Decision(forecasts, wanted, sales, tuple(refused), repaired=tuple(answer.repairs))


@lru_cache(maxsize=16)  # every agent of a round is asked about the same
def _names_in(snapshot: Snapshot) -> tuple[Mapping[str, MarketId], frozenset[MarketId]]:
    """Return the markets of a snapshot by their short names and their whole ids, and those on offer."""
    short, shown = named_markets(snapshot)
    ids: dict[str, MarketId] = {}
    twice = set[str]()
    for market in short.values():
        name = market.casefold()
        if name in ids:
            twice.add(name)
        ids[name] = market
    whole = {name: market for name, market in ids.items() if name not in twice}
    return {**whole, **short}, shown


def _refusal_of_orders(answer: Answer, stage: Stage, asked: bool) -> Rejection | None:
    """Return why none of an answer's orders is read; None where they are, or where it has none."""
    count = len(answer.bets) + len(answer.sales)
    if count == 0:
        return None
    if stage == "blind":
        return Rejection("too_early", f"{count} bets or sales placed before prices were shown")
    if not asked:
        words = f"{count} bets or sales where only probabilities were asked for"
        return Rejection("not_asked", words)
    if answer.fault and not answer.fault.endswith(ENDS_EARLY):
        return Rejection("broken", f"{count} orders in a broken answer")
    if answer.denied:
        words = (
            f'"{one_line(answer.denied, 40)}" beside them makes it unclear whether {count} orders are meant'
        )
        return Rejection("unclear_orders", words)
    return None


def _orders(
    answer: Answer, markets: _ShownMarkets
) -> tuple[tuple[Bet, ...], tuple[Sale, ...], list[Rejection]]:
    """Return the bets and sales of an answer, and what is wrong with the others."""
    scale = scale_of(limit_values([*answer.bets, *answer.sales]))

    def bet(item: Fields) -> Bet:
        market = markets.offered(item)
        return bet_of(order_terms(item, "bet", market, markets.all), market, scale)

    def sale(item: Fields) -> Sale:
        market = markets.market(item)
        return sale_of(order_terms(item, "sale", market, markets.all), market, scale)

    bets, bad_bets = _parse_items(answer.bets, "bet", markets, bet)
    sales, bad_sales = _parse_items(answer.sales, "sale", markets, sale)
    return bets, sales, [*bad_bets, *bad_sales]


def _parse_items(
    items: list[Any], noun: str, markets: _ShownMarkets, read: Callable[[Fields], _Item]
) -> tuple[tuple[_Item, ...], list[Rejection]]:
    """The items that make sense, and what is wrong with the others."""
    good, bad = [], []
    for place, item in enumerate(items, 1):
        try:
            good.append(read(_sound(item)))
        except MeaninglessItem as error:
            legible = isinstance(item, dict) and len(item) <= MOST_KEYS
            about = market_of(item, markets.all) if legible else None
            bad.append(Rejection(error.code, f"{noun} {place}: {error}", about or ""))
    return tuple(good), bad


def _sound(item: Any) -> Fields:
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
    return item


def _forecast(item: Fields, markets: _ShownMarkets, stage: Stage, scale: Scale) -> Forecast:
    """A forecast of a model, under whatever keys it stands."""
    market = markets.offered(item)
    if key := side_beside(item):
        words = f'"{one_line(key, 40)}" makes it unclear whose probability it is: state that of YES alone'
        raise MeaninglessItem("side", words)
    value = chance_of(item)
    if value is None and item.keys() - USUAL_KEYS:
        words = "it states no probability, or two that differ"
        raise MeaninglessItem("probability", words)
    if "probability" not in item:
        markets.repairs["key"] = None
    chance = parse_probability(value, scale)
    if plain_number(value) is None:
        markets.repairs["number"] = None
    return Forecast(market, stage=stage, reason=reason_of(item), millionths=chance)


def forecast_of(item: Fields, market: MarketId) -> Forecast:
    """Return what an item says of how likely a market is."""
    chance = parse_probability(item.get("probability"))
    return Forecast(market, reason=reason_of(item), millionths=chance)


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
