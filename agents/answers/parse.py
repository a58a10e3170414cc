"""From a model's answer to a decision: tolerant of wrapping, strict on what a number or a side means."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from typing import Any, TypeVar

from agents.answers.json_text import NotOneObject, RepeatedKey, find_object
from agents.model import Decision, Forecast, Stage, View
from agents.prompts.prompt import short_ids
from agents.text import one_line
from markets.millionths import ONE, millionths
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale, Side

MOST_ITEMS = 1_000
MOST_REASON = 500
MOST_AMOUNT = 1_000_000_000
_LONGEST = 40
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_EXACT = Context(prec=2 * _LONGEST, rounding=ROUND_DOWN)
_Item = TypeVar("_Item", Forecast, Bet, Sale)


class MeaninglessItem(ValueError):
    """An item of an answer that can't be taken for anything: a stable code, and words."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer from which nothing can be taken, and why, in words for the model that gave it."""

    message: str


@dataclass(frozen=True, slots=True)
class _ShownMarkets:
    """The markets that an answer may speak of, by the names that the prompt gave them."""

    all: Mapping[str, MarketId]
    shown: frozenset[MarketId]

    def market(self, item: Mapping[str, Any]) -> MarketId:
        name = item.get("market")
        if not isinstance(name, str) or (market_id := self.all.get(name.strip().lower())) is None:
            raise MeaninglessItem("unknown_market", f'there is no market "{one_line(str(name), 40)}"')
        return market_id

    def offered(self, item: Mapping[str, Any]) -> MarketId:
        market_id = self.market(item)
        if market_id not in self.shown:
            raise MeaninglessItem("not_on_offer", "the market is no longer open for betting")
        return market_id


def parse_answer(
    text: str, view: View, stage: Stage = "final", bets: bool = True
) -> Decision | UnusableAnswer:
    """What the answer says. Each bad item becomes a rejection and the good ones stand.

    Whatever else is in the object, "thoughts" above all, is left aside. `bets` is whether the question asked
    for bets and sales.
    """
    try:
        answer = find_object(text)
        lists = {name: _list(answer, name) for name in ("forecasts", "bets", "sales")}
    except NotOneObject as error:
        return UnusableAnswer(str(error))
    snapshot = view.snapshot
    markets = _ShownMarkets(
        {name: market_id for market_id, name in short_ids(snapshot).items()},
        frozenset(listing.market.id for listing in snapshot.shown),
    )
    forecasts, bad = _parse_items(
        lists["forecasts"], "forecast", markets, lambda x: forecast_of(x, markets.offered(x), stage)
    )
    forecasts, unclear = _first_of_each(forecasts)
    if stage == "blind" or not bets:
        return Decision(forecasts, rejections=(*bad, *unclear, *_reject_unasked(lists, stage)))
    wanted, bad_bets = _parse_items(lists["bets"], "bet", markets, lambda x: bet_of(x, markets.offered(x)))
    sales, bad_sales = _parse_items(lists["sales"], "sale", markets, lambda x: sale_of(x, markets.market(x)))
    return Decision(forecasts, wanted, sales, (*bad, *unclear, *bad_bets, *bad_sales))


def _list(answer: Mapping[str, Any], name: str) -> list[Any]:
    items = answer.get(name)
    if items is None and name != "forecasts":
        return []
    if not isinstance(items, list):
        meant = ", and an object stands there" if isinstance(items, dict | RepeatedKey) else ""
        raise NotOneObject(f'the object needs a list "{name}"{meant}')
    if len(items) > MOST_ITEMS:
        raise NotOneObject(f'the list "{name}" has {len(items):,} items, and {MOST_ITEMS:,} are allowed')
    return items


def _parse_items(
    items: list[Any], noun: str, markets: _ShownMarkets, read: Callable[[Mapping[str, Any]], _Item]
) -> tuple[tuple[_Item, ...], list[Rejection]]:
    """The items that make sense, and what is wrong with the others."""
    good, bad = [], []
    for place, item in enumerate(items, 1):
        try:
            if isinstance(item, RepeatedKey):
                raise MeaninglessItem("duplicate_key", f'the key "{one_line(item.key, 40)}" appears twice')
            if not isinstance(item, dict):
                raise MeaninglessItem("not_an_object", "it is not a JSON object")
            good.append(read(item))
        except MeaninglessItem as error:
            bad.append(Rejection(error.code, f"{noun} {place}: {error}", _market_named(item, markets)))
    return tuple(good), bad


def _market_named(item: object, markets: _ShownMarkets) -> str:
    """The market that a bad item is about, as far as it says so."""
    name = item.get("market") if isinstance(item, dict) else None
    return markets.all.get(name.strip().lower(), "") if isinstance(name, str) else ""


def forecast_of(item: Mapping[str, Any], market: MarketId, stage: Stage = "final") -> Forecast:
    """What an item says of how likely a market is."""
    return Forecast(
        market, stage=stage, reason=_reason(item), millionths=parse_probability(item.get("probability"))
    )


def bet_of(item: Mapping[str, Any], market: MarketId) -> Bet:
    """The bet that an item asks for."""
    side, amount = parse_side(item.get("side")), parse_amount(item.get("amount"))
    return Bet(market, side, amount, parse_limit(item.get("limit")), _reason(item))


def sale_of(item: Mapping[str, Any], market: MarketId) -> Sale:
    """The sale that an item asks for."""
    side, part = parse_side(item.get("side")), parse_fraction(item.get("fraction"))
    limit = parse_limit(item.get("limit"))
    return Sale(market, side, fraction=None if part == ONE else part, limit=limit, reason=_reason(item))


def _reason(item: Mapping[str, Any]) -> str:
    reason = item.get("reason")
    return one_line(reason, MOST_REASON) if isinstance(reason, str) else ""


def _first_of_each(forecasts: tuple[Forecast, ...]) -> tuple[tuple[Forecast, ...], list[Rejection]]:
    """One forecast a market; a market with two different ones has none."""
    first: dict[MarketId, Forecast] = {}
    unclear: dict[MarketId, Rejection] = {}
    for forecast in forecasts:
        market_id = forecast.market_id
        if first.setdefault(market_id, forecast).millionths != forecast.millionths:
            words = "this market has two different probabilities"
            unclear[market_id] = Rejection("stated_twice", words, market_id)
    return tuple(first[m] for m in first if m not in unclear), list(unclear.values())


def _reject_unasked(lists: Mapping[str, list[Any]], stage: Stage) -> list[Rejection]:
    """What is said of bets and sales in an answer that should have none."""
    count = len(lists["bets"]) + len(lists["sales"])
    if stage == "blind":
        code, words = "too_early", f"{count} bets or sales placed before prices were shown"
    else:
        code, words = "not_asked", f"{count} bets or sales where only probabilities were asked for"
    return [Rejection(code, words)] if count else []


def parse_probability(value: object) -> int:
    """A probability in millionths; a percentage only where it says so.

    >>> parse_probability("0.4"), parse_probability("40%")
    (400000, 400000)
    >>> parse_probability("40")
    Traceback (most recent call last):
    agents.answers.parse.MeaninglessItem: the probability 40 is not between 0 and 1
    """
    p = _parse_share(value, "probability")
    if not 0 <= p <= 1:
        raise MeaninglessItem(
            "probability", f"the probability {one_line(str(value), 40)} is not between 0 and 1"
        )
    return millionths(p)


def parse_fraction(value: object) -> int:
    """A part of a position in millionths, above 0 and at most the whole."""
    if isinstance(value, str) and value.strip().lower() == "all":
        return ONE
    part = _parse_share(value, "fraction")
    if not (0 < part <= 1 and millionths(part) > 0):
        raise MeaninglessItem(
            "fraction", f"the fraction {one_line(str(value), 40)} is not above 0 and up to 1"
        )
    return millionths(part)


def parse_amount(value: object) -> int:
    """Dollars in millionths, never more than was written.

    >>> parse_amount("$1,250.5")
    1250500000
    """
    dollars = _parse_dollars(value, "amount")
    if not 0 < dollars <= MOST_AMOUNT or (exact := int(_EXACT.multiply(dollars, Decimal(ONE)))) == 0:
        shown = one_line(str(value), 40)
        raise MeaninglessItem(
            "amount", f"the amount {shown} is not above 0 and at most {MOST_AMOUNT:,} dollars"
        )
    return exact


def parse_limit(value: object) -> int | None:
    """The price of a share in millionths; none where none is given."""
    if value is None:
        return None
    price = _parse_dollars(value, "limit")
    if not (0 < price < 1 and 0 < millionths(price) < ONE):
        raise MeaninglessItem("limit", f"the limit {one_line(str(value), 40)} is not between 0 and 1")
    return millionths(price)


def parse_side(value: object) -> Side:
    """YES or NO, in whatever letters.

    >>> parse_side(" yes ")
    'YES'
    """
    match (
        value.strip().lower() if isinstance(value, str) else value
    ):  # upper() makes more of "yeſ" than it says
        case "yes":
            return "YES"
        case "no":
            return "NO"
    raise MeaninglessItem("side", f'the side "{one_line(str(value), 40)}" is neither YES nor NO')


def _parse_share(value: object, name: str) -> Decimal:
    """A number from 0 to 1, which may be written as a percentage."""
    if isinstance(value, str) and (text := value.strip()).endswith("%"):
        return _EXACT.divide(_parse_number(text[:-1], name), Decimal(100))
    return _parse_number(value, name)


def _parse_dollars(value: object, name: str) -> Decimal:
    return _parse_number(value.strip().removeprefix("$") if isinstance(value, str) else value, name)


def _parse_number(value: object, name: str) -> Decimal:
    """A finite number from its text, which has nothing else in it."""
    if not isinstance(value, str):
        kind = {bool: "true or false", type(None): "missing"}.get(type(value), "not a number")
        raise MeaninglessItem(name, f"the {name} is {kind}")
    text = value.strip()
    if len(text) > _LONGEST:
        raise MeaninglessItem(name, f'the {name} "{one_line(text, 40)}" is longer than {_LONGEST} characters')
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    if _GROUPED.fullmatch(text):
        return Decimal(text.replace(",", ""))
    raise MeaninglessItem(name, f'the {name} "{one_line(value, 40)}" is not a number')
