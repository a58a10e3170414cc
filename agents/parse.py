"""From a model's answer to a decision: tolerant of wrapping, strict on meaning."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from agents import figures
from agents.figures import Meaningless
from agents.jsontext import NotOneObject, Twice, the_object
from agents.model import Decision, Forecast, Stage, View
from agents.prompt import short_ids
from agents.text import one_line
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

MOST_ITEMS = 1_000
MOST_REASON = 500
_Item = TypeVar("_Item", Forecast, Bet, Sale)


@dataclass(frozen=True, slots=True)
class Unusable:
    """An answer from which nothing can be taken, and why, in words for the model that gave it."""

    message: str


@dataclass(frozen=True, slots=True)
class _Known:
    """The markets that an answer may speak of, by the names that the prompt gave them."""

    all: Mapping[str, MarketId]
    shown: frozenset[MarketId]

    def market(self, item: Mapping[str, Any]) -> MarketId:
        name = item.get("market")
        if not isinstance(name, str) or (found := self.all.get(name.strip().lower())) is None:
            raise Meaningless("unknown_market", f'there is no market "{one_line(str(name), 40)}"')
        return found

    def offered(self, item: Mapping[str, Any]) -> MarketId:
        market_id = self.market(item)
        if market_id not in self.shown:
            raise Meaningless("not_on_offer", "the market is no longer on offer")
        return market_id


def parse(text: str, view: View, stage: Stage = "final", bets: bool = True) -> Decision | Unusable:
    """What the answer says. Each bad item becomes a rejection and the good ones stand.

    Whatever else is in the object, "thoughts" above all, is left aside. `bets` is whether the question asked
    for bets and sales.
    """
    try:
        answer = the_object(text)
        lists = {name: _list(answer, name) for name in ("forecasts", "bets", "sales")}
    except NotOneObject as error:
        return Unusable(str(error))
    snapshot = view.snapshot
    known = _Known(
        {name: market_id for market_id, name in short_ids(snapshot).items()},
        frozenset(listing.market.id for listing in snapshot.shown),
    )
    forecasts, bad = _read(lists["forecasts"], "forecast", known, lambda item: _forecast(item, known, stage))
    forecasts, unclear = _once(forecasts)
    if stage == "blind" or not bets:
        return Decision(forecasts, rejections=(*bad, *unclear, *_unasked(lists, stage)))
    wanted, bad_bets = _read(lists["bets"], "bet", known, lambda item: _bet(item, known))
    sales, bad_sales = _read(lists["sales"], "sale", known, lambda item: _sale(item, known))
    return Decision(forecasts, wanted, sales, (*bad, *unclear, *bad_bets, *bad_sales))


def _list(answer: Mapping[str, Any], name: str) -> list[Any]:
    items = answer.get(name)
    if items is None and name != "forecasts":
        return []
    if not isinstance(items, list):
        raise NotOneObject(f'the object needs a list "{name}"')
    if len(items) > MOST_ITEMS:
        raise NotOneObject(f'the list "{name}" has {len(items):,} items, and {MOST_ITEMS:,} are allowed')
    return items


def _read(
    items: list[Any], noun: str, known: _Known, read: Callable[[Mapping[str, Any]], _Item]
) -> tuple[tuple[_Item, ...], list[Rejection]]:
    """The items that make sense, and what is wrong with the others."""
    good, bad = [], []
    for place, item in enumerate(items, 1):
        try:
            if isinstance(item, Twice):
                raise Meaningless("duplicate_key", f'the key "{one_line(item.key, 40)}" is there twice')
            if not isinstance(item, dict):
                raise Meaningless("not_an_object", "it is not a JSON object")
            good.append(read(item))
        except Meaningless as error:
            bad.append(Rejection(error.code, f"{noun} {place}: {error}", _named(item, known)))
    return tuple(good), bad


def _named(item: object, known: _Known) -> str:
    """The market that a bad item is about, as far as it says so."""
    name = item.get("market") if isinstance(item, dict) else None
    return known.all.get(name.strip().lower(), "") if isinstance(name, str) else ""


def _forecast(item: Mapping[str, Any], known: _Known, stage: Stage) -> Forecast:
    return Forecast(known.offered(item), figures.probability(item.get("probability")), stage, _reason(item))


def _bet(item: Mapping[str, Any], known: _Known) -> Bet:
    return Bet(
        known.offered(item),
        figures.side(item.get("side")),
        figures.amount(item.get("amount")),
        figures.limit(item.get("limit")),
        _reason(item),
    )


def _sale(item: Mapping[str, Any], known: _Known) -> Sale:
    part = figures.fraction(item.get("fraction"))
    return Sale(
        known.market(item),
        figures.side(item.get("side")),
        fraction=None if part == ONE else part,
        limit=figures.limit(item.get("limit")),
        reason=_reason(item),
    )


def _reason(item: Mapping[str, Any]) -> str:
    reason = item.get("reason")
    return one_line(reason, MOST_REASON) if isinstance(reason, str) else ""


def _once(forecasts: tuple[Forecast, ...]) -> tuple[tuple[Forecast, ...], list[Rejection]]:
    """One forecast a market; a market with two different ones has none."""
    first: dict[MarketId, Forecast] = {}
    unclear: dict[MarketId, Rejection] = {}
    for forecast in forecasts:
        market_id = forecast.market_id
        if first.setdefault(market_id, forecast).probability != forecast.probability:
            words = "two different probabilities are stated for this market"
            unclear[market_id] = Rejection("stated_twice", words, market_id)
    return tuple(first[m] for m in first if m not in unclear), list(unclear.values())


def _unasked(lists: Mapping[str, list[Any]], stage: Stage) -> list[Rejection]:
    """What is said of bets and sales in an answer that should have none."""
    count = len(lists["bets"]) + len(lists["sales"])
    if stage == "blind":
        code, words = "too_early", f"{count} bets or sales came before prices were shown"
    else:
        code, words = "not_asked", f"{count} bets or sales came where only probabilities were asked for"
    return [Rejection(code, words)] if count else []
