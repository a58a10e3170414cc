"""Reads a model's answer as a decision: tolerant of its form, strict about what a number or a side means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from agents.answers.figures import (
    MeaninglessItem,
    Scale,
    parse_probability,
    plain_number,
    scale_of,
    shares_of_no,
)
from agents.answers.grammar import ENDS_EARLY, NumberText, OpenObject, RepeatedKey
from agents.answers.json_text import NotOneObject
from agents.answers.keys import (
    MOST_KEYS,
    USUAL_KEYS,
    chance_of,
    key_casting_doubt_on_side,
    market_of,
    question_name,
)
from agents.answers.orders import (
    Fields,
    bet_of,
    disowning_key,
    limit_values,
    order_terms,
    reason_of,
    sale_of,
)
from agents.answers.other_answers import read_stated
from agents.answers.shape import Answer, find_answer
from agents.asked_forms import forms_in
from agents.model import Decision, Forecast, Stage, View
from agents.prompts.prompt import named_markets
from agents.text import one_line
from markets.distributions import QuestionForm
from markets.millionths import ONE
from markets.model import MarketId, Snapshot
from portfolio.model import Bet, Rejection, Sale

READER_VERSION = 4
"""The version of the code that turns views and answers into decisions; `arena admin verify` runs it again.

It is increased with each change by which an answer is read, or a rule decides, differently than before.
"""
_Item = TypeVar("_Item", Forecast, Bet, Sale)


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer that can't be used, and the reason, as a text for the model."""

    message: str


@dataclass(frozen=True, slots=True)
class _ShownMarkets:
    """The markets that an answer may be about.

    `by_name` has them by the names in the prompt and by their ids; `shown` are those open for betting.
    `forms` are those of the questions that aren't of yes or no. `repairs` collects the repairs that were
    needed to read the answer.
    """

    by_name: Mapping[str, MarketId]
    shown: frozenset[MarketId]
    forms: Mapping[MarketId, QuestionForm]
    repairs: dict[str, None] = field(default_factory=dict)

    def require_market(self, item: Fields) -> MarketId:
        """Return the market that an item is about, and note a repair where its name isn't exact.

        Raises `MeaninglessItem` if there is no such market.
        """
        market_id: MarketId | None = market_of(item, self.by_name)
        name = item.get("market")
        is_exact = isinstance(name, str) and name.strip().lower() in self.by_name

        if market_id is None:
            fault = 'it names no "market"'
            if is_exact:
                fault = "it names two markets"
            elif name:
                fault = f'there is no market "{one_line(str(name), 40)}"'
            raise MeaninglessItem("unknown_market", fault)

        if name is None:
            self.repairs["key"] = None
        elif not is_exact or isinstance(name, NumberText):
            self.repairs["market"] = None
        return market_id

    def require_offered_market(self, item: Fields) -> MarketId:
        """Return the market that an item is about. Raise `MeaninglessItem` if it is not open for betting."""
        market_id = self.require_market(item)
        if market_id not in self.shown:
            raise MeaninglessItem("not_on_offer", "the market is no longer open for betting")
        return market_id


def parse_answer(
    text: str, view: View, stage: Stage = "final", bets: bool = True, cut: bool = False
) -> Decision | UnusableAnswer:
    """Return the decision that an answer states: its valid items, and a rejection of each invalid one.

    `bets` is whether the question asked for bets and sales, `cut` whether the answer was cut off. Orders are
    also refused if the answer is broken in the middle; one that breaks off at its end keeps them. Other keys,
    such as "thoughts", are ignored.
    """
    by_name, shown = _markets_by_name_and_shown(view.snapshot)
    forms = forms_in(view.snapshot)
    try:
        answer = find_answer(text, by_name, cut, forms)
    except NotOneObject as error:
        return UnusableAnswer(str(error))

    # whoever reads an item notes there which repairs it needed
    repairs = answer.repairs
    markets = _ShownMarkets(by_name, shown, forms, repairs)

    scale = scale_of([chance_of(item) for item in answer.forecasts if isinstance(item, dict)])
    stated_forecasts, rejections = _valid_items(
        answer.forecasts,
        "forecast",
        markets,
        lambda item: _forecast_of_loose_item(item, markets, stage, scale),
    )
    if scale == "percent" and stated_forecasts:
        repairs["percent"] = None

    forecasts, contradictions = without_contradictions(stated_forecasts)
    rejections.extend(contradictions)

    placed_bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    refusal = _refusal_of_orders(answer, stage, bets)
    if refusal is None:
        placed_bets, sales, bad_orders = _valid_orders(answer, markets)
        rejections.extend(bad_orders)
    else:
        rejections.append(refusal)

    if answer.misplaced:
        message = f'orders outside the "bets" and "sales" of the answer: {answer.misplaced}'
        rejections.append(Rejection("misplaced", message))

    return Decision(forecasts, placed_bets, sales, tuple(rejections), repaired=tuple(repairs))


@lru_cache(maxsize=16)  # all agents of a round are asked about the same snapshot
def _markets_by_name_and_shown(
    snapshot: Snapshot,
) -> tuple[Mapping[str, MarketId], frozenset[MarketId]]:
    """Return the markets of a snapshot by short name, id and question, and those on offer."""
    by_short_name, shown = named_markets(snapshot)
    questions = {listing.market.id: question_name(listing.market.question) for listing in snapshot}

    by_long_name: dict[str, MarketId] = {}
    ambiguous_names = {""}
    for market_id in by_short_name.values():
        for name in (market_id.casefold(), questions[market_id]):
            if by_long_name.setdefault(name, market_id) != market_id:
                ambiguous_names.add(name)

    for name in ambiguous_names:
        by_long_name.pop(name, None)

    return {**by_long_name, **by_short_name}, shown


def _refusal_of_orders(answer: Answer, stage: Stage, were_bets_asked_for: bool) -> Rejection | None:
    """Return the rejection of all orders of an answer; None if they are read, or if it has none."""
    count = len(answer.bets) + len(answer.sales)
    if count == 0:
        return None

    if stage == "blind":
        return Rejection("too_early", f"{count} bets or sales placed before prices were shown")
    if not were_bets_asked_for:
        return Rejection("not_asked", f"{count} bets or sales where only probabilities were asked for")
    if answer.fault and not answer.fault.endswith(ENDS_EARLY):
        return Rejection("broken", f"{count} orders in a broken answer")
    if answer.denied:
        key = one_line(answer.denied, 40)
        message = f'"{key}" beside them makes it unclear whether {count} orders are meant'
        return Rejection("unclear_orders", message)
    return None


def _valid_orders(
    answer: Answer, markets: _ShownMarkets
) -> tuple[tuple[Bet, ...], tuple[Sale, ...], list[Rejection]]:
    """Return the valid bets and sales of an answer, and a rejection of each invalid one."""
    scale = scale_of(limit_values([*answer.bets, *answer.sales]))

    def read_bet(item: Fields) -> Bet:
        market_id = markets.require_offered_market(item)
        return bet_of(order_terms(item, "bet", market_id, markets.by_name), market_id, scale)

    def read_sale(item: Fields) -> Sale:
        market_id = markets.require_market(item)
        return sale_of(order_terms(item, "sale", market_id, markets.by_name), market_id, scale)

    bets, bad_bets = _valid_items(answer.bets, "bet", markets, read_bet)
    sales, bad_sales = _valid_items(answer.sales, "sale", markets, read_sale)
    return bets, sales, [*bad_bets, *bad_sales]


def _valid_items(
    items: list[Any], noun: str, markets: _ShownMarkets, read_item: Callable[[Fields], _Item]
) -> tuple[tuple[_Item, ...], list[Rejection]]:
    """Return the valid items as `read_item` reads them, and a rejection of each invalid one."""
    valid = []
    rejections = []
    for number, item in enumerate(items, 1):
        try:
            valid.append(read_item(_complete_object(item)))
        except MeaninglessItem as error:
            market_id = None
            if isinstance(item, dict) and len(item) <= MOST_KEYS:
                market_id = market_of(item, markets.by_name)
            rejections.append(Rejection(error.code, f"{noun} {number}: {error}", market_id or ""))

    return tuple(valid), rejections


def _complete_object(item: Any) -> Fields:
    """Return an item. Raise `MeaninglessItem` if it is not a complete object without repeated keys."""
    if not isinstance(item, dict):
        raise MeaninglessItem("not_an_object", "it is not a JSON object")
    if len(item) > MOST_KEYS:
        raise MeaninglessItem("not_an_object", f"it has {len(item):,} keys")
    if isinstance(item, OpenObject):
        raise MeaninglessItem("cut_off", "it has no end")

    for value in item.values():
        if isinstance(value, RepeatedKey):
            raise MeaninglessItem("duplicate_key", f'the key "{one_line(value.key, 40)}" appears twice')
    return item


def _forecast_of_loose_item(item: Fields, markets: _ShownMarkets, stage: Stage, scale: Scale) -> Forecast:
    """Return the forecast that an item states, whatever its keys are called."""
    market_id = markets.require_offered_market(item)
    disowning = disowning_key(item)
    if disowning:
        message = f'"{one_line(disowning, 40)}" says that this is no forecast'
        raise MeaninglessItem("unclear_forecast", message)

    form = markets.forms.get(market_id)
    if form is not None:
        distribution = read_stated(form, item.get("probability"), markets.repairs)
        return Forecast(market_id, stage=stage, reason=reason_of(item), distribution=distribution)

    doubtful_key = key_casting_doubt_on_side(item)
    if doubtful_key:
        quoted = f'"{one_line(doubtful_key, 40)}"'
        message = f"{quoted} makes it unclear whose probability it is: state that of YES alone"
        raise MeaninglessItem("side", message)

    value = chance_of(item)
    if value is None and item.keys() - USUAL_KEYS:
        raise MeaninglessItem("probability", "it states no probability, or two that differ")
    if "probability" not in item:
        markets.repairs["key"] = None

    chance = parse_probability(value, scale)
    reason = reason_of(item)
    if chance != ONE // 2 and chance in shares_of_no(reason):
        message = "its reason makes it unclear whose probability it is: state that of YES alone"
        raise MeaninglessItem("side", message)
    if plain_number(value) is None:
        markets.repairs["number"] = None
    return Forecast(market_id, stage=stage, reason=reason, millionths=chance)


def forecast_of(item: Fields, market_id: MarketId) -> Forecast:
    """Return the forecast that an item with the usual keys states for a market."""
    chance = parse_probability(item.get("probability"))
    return Forecast(market_id, reason=reason_of(item), millionths=chance)


def without_contradictions(
    forecasts: tuple[Forecast, ...],
) -> tuple[tuple[Forecast, ...], list[Rejection]]:
    """Return one forecast for each market, and a rejection of each market that has two different ones."""
    first_forecasts: dict[MarketId, Forecast] = {}
    contradictions: dict[MarketId, Rejection] = {}
    for forecast in forecasts:
        market_id = forecast.market_id
        first = first_forecasts.setdefault(market_id, forecast)
        if first.distribution != forecast.distribution:
            message = "this market has two different answers"
        elif first.millionths != forecast.millionths:
            message = "this market has two different probabilities"
        else:
            continue
        contradictions[market_id] = Rejection("stated_twice", message, market_id)

    clear = tuple(
        forecast for market_id, forecast in first_forecasts.items() if market_id not in contradictions
    )
    return clear, list(contradictions.values())
