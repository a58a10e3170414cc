"""Decisions combined and checked: several probabilities or answers become one, and nothing unsound is kept.

Probabilities are combined in whole numbers alone, so a result is the same on every machine: millionths,
rounded to the nearest, a half upwards. No root is ever taken: a millionth is compared with it by raising
both to the same power. An agent is anyone's code, so its decision is checked against what it was shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import prod
from operator import attrgetter
from typing import Any, TypeVar, get_args

from agents.model import (
    DECIDED_STATUSES,
    USABLE_STATUSES,
    Decision,
    DecisionStatus,
    Forecast,
    Stage,
    View,
)
from agents.text import is_printable, printable
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

GRID = range(1, ONE + 1)


def mean(ps: Sequence[int]) -> int:
    """The average.

    >>> mean([200_000, 300_000, 700_000])
    400000
    """
    return (2 * sum(ps) + len(ps)) // (2 * len(ps))


def median(ps: Sequence[int]) -> int:
    """The middle one; of an even number, the average of the two in the middle.

    >>> median([900_000, 200_000, 300_000]), median([200_000, 300_000])
    (300000, 250000)
    """
    ordered, half = sorted(ps), (len(ps) - 1) // 2
    return mean(ordered[half : len(ps) - half])


def trimmed_mean(ps: Sequence[int], trim: int) -> int:
    """The average without the lowest and the highest, so many millionths of them at each end, rounded down.

    >>> trimmed_mean([0, 300_000, 400_000, 500_000, 1_000_000], 200_000)
    400000
    """
    out = len(ps) * trim // ONE
    return mean(sorted(ps)[out : len(ps) - out])


def geometric_mean(ps: Sequence[int]) -> int:
    """The n-th root of the product of n probabilities. It leans to NO: one 0 makes it 0.

    >>> geometric_mean([200_000, 800_000]), geometric_mean([0, 800_000])
    (400000, 0)
    """
    n, product = len(ps), prod(ps)
    return bisect_right(GRID, 2**n * product, key=lambda p: (2 * p - 1) ** n)


def geometric_mean_of_odds(ps: Sequence[int]) -> int:
    """The probability whose odds are the n-th root of the product of the odds: YES and NO count alike.

    0 and 1 have no odds that could be averaged; they count as the first and the last millionth.

    >>> geometric_mean_of_odds([200_000, 800_000]), geometric_mean_of_odds([500_000, 900_000])
    (500000, 750000)
    >>> geometric_mean_of_odds([0, 500_000])
    999
    """
    inside = [min(max(p, 1), ONE - 1) for p in ps]
    n, yes, no = len(inside), prod(inside), prod(ONE - p for p in inside)
    return bisect_left(GRID, True, key=lambda p: yes * (2 * ONE - (2 * p - 1)) ** n < no * (2 * p - 1) ** n)


Key = tuple[MarketId, Stage]


def combine_samples(samples: Sequence[Decision]) -> Decision:
    """The decision of all samples together, in their order.

    A forecast is the median of those that state one. Bets and sales are those of the one sample whose
    forecasts are closest to the medians, whole: a mix of several would be nobody's decision. A sample
    without a usable answer leaves a note; only where none has one is the turn malformed, declined or failed.
    """
    if len(samples) == 1:
        return samples[0]
    note, rejections = _notes("sample", samples), _rejections(samples)
    played = [sample for sample in samples if sample.status in USABLE_STATUSES]
    stated = _by_market(played or samples)
    medians = {key: median([forecast.millionths for forecast in each]) for key, each in stated.items()}
    forecasts = tuple(_nearest(each, medians[key]) for key, each in stated.items())
    if not played:
        return Decision(forecasts, rejections=rejections, status=_best_status(samples), note=note)
    chosen = min(played, key=lambda sample: _distance(sample, medians))
    return replace(
        chosen,
        forecasts=forecasts,
        rejections=rejections,
        status=_best_status(samples),
        note=note,
        repaired=_repairs(samples),
    )


def combine_answers(first: Decision, second: Decision, missing: Collection[MarketId]) -> Decision:
    """A first answer, and what a second one says of the markets that the first is missing.

    Of a first answer that couldn't be read nothing is kept.
    """
    if first.status == "malformed":
        return second
    if second.status != "played":
        return first
    stated = {forecast.market_id for forecast in second.forecasts if forecast.market_id in missing}
    return Decision(
        (*first.forecasts, *(each for each in second.forecasts if each.market_id in missing)),
        (
            *(bet for bet in first.bets if bet.market_id not in missing),
            *(bet for bet in second.bets if bet.market_id in missing),
        ),
        (
            *(sale for sale in first.sales if sale.market_id not in missing),
            *(sale for sale in second.sales if sale.market_id in missing),
        ),
        (*(each for each in first.rejections if each.market_id not in stated), *second.rejections),
        repaired=tuple(dict.fromkeys((*first.repaired, *second.repaired))),
    )


def combine_parts(parts: Sequence[Decision]) -> Decision:
    """The decision of all parts; one that can't be used leaves a note, and what it is about is skipped."""
    if len(parts) == 1:
        return parts[0]
    best = _best_status(parts)
    return Decision(
        forecasts=tuple(forecast for part in parts for forecast in part.forecasts),
        bets=tuple(bet for part in parts for bet in part.bets),
        sales=tuple(sale for part in parts for sale in part.sales),
        rejections=tuple(rejection for part in parts for rejection in part.rejections),
        status="partly" if best == "played" and {part.status for part in parts} != {"played"} else best,
        repaired=_repairs(parts),
        note=_notes("part", parts),
    )


def _best_status(decisions: Sequence[Decision]) -> DecisionStatus:
    """The status of what came of any of them."""
    statuses = {decision.status for decision in decisions}
    return next((status for status in DECIDED_STATUSES if status in statuses), "failed")


def combine_stages(blind: Decision, final: Decision) -> Decision:
    """The decision of both stages. A blind answer that couldn't be used only leaves a note."""
    notes = [f"blind: {blind.note}"] if blind.note else []
    return replace(
        final,
        forecasts=blind.forecasts + final.forecasts,
        rejections=blind.rejections + final.rejections,
        note="; ".join([*notes, final.note] if final.note else notes),
        repaired=_repairs([blind, final]),
    )


def _repairs(decisions: Sequence[Decision]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in decisions for name in each.repaired))


def _notes(noun: str, decisions: Sequence[Decision]) -> str:
    """What is to be said of some of them, each with its number."""
    notes = [f"{noun} {n}: {each.status}: {each.note}" for n, each in enumerate(decisions, 1) if each.note]
    return "; ".join(notes)


def _by_market(samples: Sequence[Decision]) -> dict[Key, list[Forecast]]:
    """Every sample's forecasts, by market and stage, in the order in which they are first met."""
    forecasts: dict[Key, list[Forecast]] = {}
    for sample in samples:
        for forecast in sample.forecasts:
            forecasts.setdefault((forecast.market_id, forecast.stage), []).append(forecast)
    return forecasts


def _nearest(forecasts: Sequence[Forecast], middle: int) -> Forecast:
    """The median, with the reason of the first one that is closest to it."""
    nearest = min(forecasts, key=lambda forecast: abs(forecast.millionths - middle))
    return replace(nearest, millionths=middle)


def _distance(sample: Decision, medians: dict[Key, int]) -> tuple[int, int]:
    """How far a sample's final forecasts are from the medians; one that states fewer comes after."""
    final = [forecast for forecast in sample.forecasts if forecast.stage == "final"]
    apart = sum(abs(forecast.millionths - medians[forecast.market_id, "final"]) for forecast in final)
    return -len(final), apart


def _rejections(samples: Sequence[Decision]) -> tuple[Rejection, ...]:
    return tuple(
        replace(rejection, message=f"sample {n}: {rejection.message}")
        for n, sample in enumerate(samples, 1)
        for rejection in sample.rejections
    )


Item = TypeVar("Item", Bet, Sale, Forecast, Rejection)

LARGEST_INTEGER = 2**63 - 1
"""The largest whole number that a record can hold."""
STATUSES: tuple[DecisionStatus, ...] = (*DECIDED_STATUSES, "failed")
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


def sound_decision(decision: object, view: View) -> Decision:
    """The decision without what can't be kept; for each of these there is a rejection with a reason.

    Raises `TypeError` for what is no decision at all. Whether bets and sales can be granted is for
    `portfolio.execute` to say; here they only have to be ones, of a turn that was played.
    """
    if not isinstance(decision, Decision):
        raise TypeError(f"expected a Decision, found a {type(decision).__name__}")
    status, unsaid = _check_status(decision.status)
    note, unread = _check_note(decision.note)
    rejections, odd = _check_items(decision.rejections, Rejection, "bad_rejection")
    forecasts, refused = _check_forecasts(decision.forecasts, view)
    bets, no_bets = _check_items(decision.bets, Bet, "bad_order")
    sales, no_sales = _check_items(decision.sales, Sale, "bad_order")
    lost = [*unsaid, *unread, *odd, *refused, *no_bets, *no_sales]
    orders: list[Bet | Sale] = [*bets, *sales]
    if status not in USABLE_STATUSES and orders:
        words = f"a turn that is {status} has no bets and no sales"
        lost += [Rejection("bad_order", words, order.market_id) for order in orders]
        bets, sales = [], []
    refusals = (*rejections, *map(_storable_item, lost))
    repaired = tuple(printable(name) for name in decision.repaired if type(name) is str)
    return Decision(tuple(forecasts), tuple(bets), tuple(sales), refusals, status, note, repaired)


def _check_status(given: object) -> tuple[DecisionStatus, list[Rejection]]:
    for status in STATUSES:
        if type(given) is str and given == status:
            return status, []
    words = f"a status is one of {', '.join(STATUSES)}: the turn counts as played"
    return "played", [Rejection("bad_status", words)]


def _check_note(given: object) -> tuple[str, list[Rejection]]:
    if isinstance(given, str):
        return printable(given), []
    return "", [Rejection("bad_note", f"expected a string as a note, found a {type(given).__name__}")]


def _check_forecasts(stated: object, view: View) -> tuple[Iterable[Forecast], list[Rejection]]:
    """The forecasts that answer the question, the first for each market and stage."""
    forecasts, refused = _check_items(stated, Forecast, "bad_forecast")
    shown = {listing.market.id for listing in view.snapshot.shown}
    if _all_answer(forecasts, shown):
        return forecasts, refused
    kept: dict[tuple[str, str], Forecast] = {}
    for forecast in forecasts:
        key = (forecast.market_id, forecast.stage)
        fault = _forecast_fault(forecast, shown)
        if fault is None and key in kept:
            fault = "this market already has a forecast"
        if fault is None:
            kept[key] = forecast
        else:
            refused.append(Rejection("bad_forecast", fault, forecast.market_id))
    return kept.values(), refused


def _all_answer(forecasts: Sequence[Forecast], shown: Container[str]) -> bool:
    """Whether none is in doubt and none is for the second time: so it nearly always is."""
    keys = {(forecast.market_id, forecast.stage) for forecast in forecasts}
    return len(keys) == len(forecasts) and not any(_forecast_fault(forecast, shown) for forecast in forecasts)


def _forecast_fault(forecast: Forecast, shown: Container[str]) -> str | None:
    if forecast.market_id not in shown:
        return "this market was not shown"
    if not 0 <= forecast.millionths <= ONE:
        return "a probability must be a whole number of millionths from 0 to 1,000,000"
    if forecast.stage not in STAGES:
        return "the stage must be blind or final"
    return None


def _check_items(items: object, kind: type[Item], code: str) -> tuple[list[Item], list[Rejection]]:
    """The items that are of the kind and made of what the record can hold, and why the others are not."""
    if not isinstance(items, tuple | list):
        words = f"a {kind.__name__} comes in a tuple or a list, and this is a {type(items).__name__}"
        return [], [Rejection(code, words)]
    given: list[Any] = list(items)
    if not given or _all_fit(given, kind):
        return given, []
    good, bad = list[Item](), list[Rejection]()
    for item in given:
        fault = _item_fault(item, kind)
        if fault is None:
            good.append(_storable_item(item))
        else:
            market_id = getattr(item, "market_id", "")
            bad.append(Rejection(code, fault, market_id[:200] if type(market_id) is str else ""))
    return good, bad


def _all_fit(items: list[Any], kind: type[Item]) -> bool:
    """Whether nothing is wrong with any item, looked at field by field: so it nearly always is."""
    if set(map(type, items)) != {kind}:
        return False
    columns = zip(*map(FIELDS[kind], items), strict=True)
    return all(_values_fit(values, *how) for values, (_, *how) in zip(columns, SHAPES[kind], strict=True))


def _values_fit(values: Sequence[Any], number: bool, optional: bool) -> bool:
    present = [value for value in values if value is not None] if optional else values
    kinds = set(map(type, present))
    if number:
        return not present or (
            kinds == {int} and max(present) <= LARGEST_INTEGER and min(present) >= -LARGEST_INTEGER
        )
    return kinds <= {str} and is_printable("".join(present))


def _item_fault(item: object, kind: type[Bet | Sale | Forecast | Rejection]) -> str | None:
    """Why it is none of the kind: it is another thing, or a field is not of its declared type."""
    if type(item) is not kind:
        return f"a {kind.__name__} is expected, and this is a {type(item).__name__}"
    for name, number, optional in SHAPES[kind]:
        value = getattr(item, name)
        if optional and value is None:
            continue
        if number and (type(value) is not int or abs(value) > LARGEST_INTEGER):
            return f"the {name} of a {kind.__name__} is a whole number of at most 63 bits"
        if not number and type(value) is not str:
            return f"the {name} of a {kind.__name__} is a text"
    return None


def _storable_item(item: Item) -> Item:
    """The item with every text in it made safe to store."""
    values: dict[str, Any] = {field.name: getattr(item, field.name) for field in fields(item)}
    texts: dict[str, Any] = {name: printable(text) for name, text in values.items() if isinstance(text, str)}
    return replace(item, **texts)
