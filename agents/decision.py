"""What an agent decided, held against what it was shown: anyone's code may have made it."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, TypeVar, get_args

from agents.model import Decision, Forecast, Stage, Verdict, View
from agents.text import is_printable, printable
from markets.millionths import ONE
from portfolio.model import Bet, Rejection, Sale

Item = TypeVar("Item", Bet, Sale, Forecast, Rejection)

LARGEST = 2**63 - 1
"""The largest whole number that a record can hold."""
VERDICTS: tuple[Verdict, ...] = ("played", "malformed", "failed")
"""What an agent may say of its turn; who is out is not asked."""
SHAPES: Mapping[Any, tuple[tuple[str, bool, bool], ...]] = {
    kind: tuple((x.name, x.type in (int, int | None), x.type == int | None) for x in fields(kind))
    for kind in (Forecast, Bet, Sale, Rejection)
}
"""The fields of each kind of item: the name, whether it is a number, and whether it may be None."""
FIELDS: Mapping[Any, Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*(name for name, _, _ in shape)) for kind, shape in SHAPES.items()
}
"""What takes the values of these fields from an item, in their order."""
STAGES: tuple[Stage, ...] = get_args(Stage)


def sound(decision: object, view: View) -> Decision:
    """The decision without what can't be kept; for each of these there is a rejection with a reason.

    Raises `TypeError` for what is no decision at all. Whether bets and sales can be granted is for
    `portfolio.execute` to say; here they only have to be ones, of a turn that was played.
    """
    if not isinstance(decision, Decision):
        raise TypeError(f"an agent decides on a Decision, and this is a {type(decision).__name__}")
    verdict, unsaid = _verdict(decision.verdict)
    note, unread = _note(decision.note)
    rejections, odd = _whole(decision.rejections, Rejection, "bad_rejection")
    forecasts, refused = _forecasts(decision.forecasts, view)
    bets, no_bets = _whole(decision.bets, Bet, "bad_wish")
    sales, no_sales = _whole(decision.sales, Sale, "bad_wish")
    lost = [*unsaid, *unread, *odd, *refused, *no_bets, *no_sales]
    wishes: list[Bet | Sale] = [*bets, *sales]
    if verdict != "played" and wishes:
        words = f"a turn that is {verdict} has no bets and no sales"
        lost += [Rejection("bad_wish", words, wish.market_id) for wish in wishes]
        bets, sales = [], []
    said = (*rejections, *map(_storable, lost))
    return Decision(tuple(forecasts), tuple(bets), tuple(sales), said, verdict, note)


def _verdict(said: object) -> tuple[Verdict, list[Rejection]]:
    for verdict in VERDICTS:
        if type(said) is str and said == verdict:
            return verdict, []
    words = f"a verdict is one of {', '.join(VERDICTS)}: this turn is taken as played"
    return "played", [Rejection("bad_verdict", words)]


def _note(said: object) -> tuple[str, list[Rejection]]:
    if isinstance(said, str):
        return printable(said), []
    return "", [Rejection("bad_note", f"a note is a text, and this is a {type(said).__name__}")]


def _forecasts(stated: object, view: View) -> tuple[Iterable[Forecast], list[Rejection]]:
    """The forecasts that answer the question, the first for each market and stage."""
    forecasts, refused = _whole(stated, Forecast, "bad_forecast")
    shown = {listing.market.id for listing in view.snapshot.shown}
    if _all_answer(forecasts, shown):
        return forecasts, refused
    kept: dict[tuple[str, str], Forecast] = {}
    for forecast in forecasts:
        key = (forecast.market_id, forecast.stage)
        fault = _doubt(forecast, shown)
        if fault is None and key in kept:
            fault = "a second forecast for a market is not taken"
        if fault is None:
            kept[key] = forecast
        else:
            refused.append(Rejection("bad_forecast", fault, forecast.market_id))
    return kept.values(), refused


def _all_answer(forecasts: Sequence[Forecast], shown: Container[str]) -> bool:
    """Whether none is in doubt and none is for the second time: so it nearly always is."""
    keys = {(forecast.market_id, forecast.stage) for forecast in forecasts}
    return len(keys) == len(forecasts) and not any(_doubt(forecast, shown) for forecast in forecasts)


def _doubt(forecast: Forecast, shown: Container[str]) -> str | None:
    if forecast.market_id not in shown:
        return "a forecast is for a market that was shown"
    if not 0 <= forecast.probability <= ONE:
        return "a probability is a whole number of millionths from 0 to 1,000,000"
    if forecast.stage not in STAGES:
        return "a forecast is made blind or final"
    return None


def _whole(items: object, kind: type[Item], code: str) -> tuple[list[Item], list[Rejection]]:
    """The items that are of the kind and made of what the record can hold, and why the others are not."""
    if not isinstance(items, tuple | list):
        words = f"a {kind.__name__} comes in a tuple or a list, and this is a {type(items).__name__}"
        return [], [Rejection(code, words)]
    given: list[Any] = list(items)
    if not given or _all_fit(given, kind):
        return given, []
    good, bad = list[Item](), list[Rejection]()
    for item in given:
        fault = _fault(item, kind)
        if fault is None:
            good.append(_storable(item))
        else:
            bad.append(Rejection(code, fault, _market(item)))
    return good, bad


def _all_fit(items: list[Any], kind: type[Item]) -> bool:
    """Whether nothing is wrong with any item, looked at field by field: so it nearly always is."""
    if set(map(type, items)) != {kind}:
        return False
    columns = zip(*map(FIELDS[kind], items), strict=True)
    return all(_fit(values, *how) for values, (_, *how) in zip(columns, SHAPES[kind], strict=True))


def _fit(values: Sequence[Any], number: bool, optional: bool) -> bool:
    said = [value for value in values if value is not None] if optional else values
    kinds = set(map(type, said))
    if number:
        return not said or (kinds == {int} and max(said) <= LARGEST and min(said) >= -LARGEST)
    return kinds <= {str} and is_printable("".join(said))


def _fault(item: object, kind: type[Bet | Sale | Forecast | Rejection]) -> str | None:
    """Why it is none of the kind: it is another thing, or a field is not of its declared type."""
    if type(item) is not kind:
        return f"a {kind.__name__} is expected, and this is a {type(item).__name__}"
    for name, number, optional in SHAPES[kind]:
        value = getattr(item, name)
        if optional and value is None:
            continue
        if number and (type(value) is not int or abs(value) > LARGEST):
            return f"the {name} of a {kind.__name__} is a whole number of at most 63 bits"
        if not number and type(value) is not str:
            return f"the {name} of a {kind.__name__} is a text"
    return None


def _market(item: object) -> str:
    market_id = getattr(item, "market_id", "")
    return market_id[:200] if type(market_id) is str else ""


def _storable(item: Item) -> Item:
    """The item with every text in it made safe to store."""
    values: dict[str, Any] = {field.name: getattr(item, field.name) for field in fields(item)}
    texts: dict[str, Any] = {name: printable(text) for name, text in values.items() if isinstance(text, str)}
    return replace(item, **texts)
