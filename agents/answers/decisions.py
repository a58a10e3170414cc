"""Decisions combined and checked: several probabilities or answers become one, and nothing unsound is kept.

Probabilities are combined in whole numbers alone, so a result is the same on every machine: millionths,
rounded to the nearest, a half upwards. No root is ever taken: a millionth is compared with it by raising
both to the same power. An agent is anyone's code, so its decision is checked against what it was shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from math import prod
from operator import attrgetter
from typing import Any, TypeVar

from agents.answers.other_answers import NO_FORMS, Forms
from agents.asked_forms import combined_answer
from agents.model import (
    DECIDED_STATUSES,
    USABLE_STATUSES,
    Decision,
    DecisionStatus,
    Forecast,
    Stage,
    View,
)
from agents.text import is_printable, one_line, printable
from markets.distributions import QuestionForm, check_distribution_text, distribution_of, form_of
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

GRID = range(1, ONE + 1)


def mean(ps: Sequence[int]) -> int:
    """Return the average."""
    return (2 * sum(ps) + len(ps)) // (2 * len(ps))


def median(ps: Sequence[int]) -> int:
    """Return the middle value; of an even number, the average of the two in the middle."""
    ordered = sorted(ps)
    half = (len(ps) - 1) // 2
    return mean(ordered[half : len(ps) - half])


def trimmed_mean(ps: Sequence[int], trim: int) -> int:
    """Return the average without `trim` millionths of the values at each end, rounded down."""
    out = len(ps) * trim // ONE
    return mean(sorted(ps)[out : len(ps) - out])


def geometric_mean(ps: Sequence[int]) -> int:
    """Return the geometric mean of probabilities; it leans to NO, since one 0 makes it 0."""
    n = len(ps)
    product = prod(ps)
    return bisect_right(GRID, 2**n * product, key=lambda p: (2 * p - 1) ** n)


def geometric_mean_of_odds(ps: Sequence[int]) -> int:
    """Return the probability at the geometric mean of the odds, which treats YES and NO alike.

    0 and 1 have no odds that could be averaged; they count as the first and the last millionth.
    """
    inside = [min(max(p, 1), ONE - 1) for p in ps]
    n = len(inside)
    yes = prod(inside)
    no = prod(ONE - p for p in inside)
    return bisect_left(GRID, True, key=lambda p: yes * (2 * ONE - (2 * p - 1)) ** n < no * (2 * p - 1) ** n)


Key = tuple[MarketId, Stage]
Item = TypeVar("Item", Bet, Sale, Forecast, Rejection)
Order = TypeVar("Order", Bet, Sale)
ORDERS_REFUSED = frozenset({"misplaced", "broken", "unclear_orders"})
"""Codes of rejections that cover several orders of an answer at once."""


def combine_samples(samples: Sequence[Decision], forms: Forms = NO_FORMS) -> Decision:
    """Return the combined decision of all samples, in their order.

    A forecast is the median of those that state one; a question that isn't of yes or no is combined as its
    form says. Bets and sales are those of the one sample whose forecasts are closest to the medians, whole: a
    mix of several would be nobody's decision. A sample without a usable answer leaves a note; only where none
    has one is the turn malformed, declined or failed.
    """
    if len(samples) == 1:
        return samples[0]

    played = [sample for sample in samples if sample.status in USABLE_STATUSES]
    stated: dict[Key, list[Forecast]] = {}
    for sample in played or samples:
        for forecast in sample.forecasts:
            stated.setdefault((forecast.market_id, forecast.stage), []).append(forecast)

    medians = {key: _combined(same_key, forms.get(key[0])) for key, same_key in stated.items()}
    chosen = min(played, key=lambda sample: _distance(sample, medians), default=Decision())
    rejections: list[Rejection] = []
    for number, sample in enumerate(samples, 1):
        for rejection in sample.rejections:
            message = f"sample {number}: {rejection.message}"
            rejections.append(replace(rejection, message=message))

    return replace(
        chosen,
        forecasts=tuple(_nearest(same_key, medians[key]) for key, same_key in stated.items()),
        rejections=tuple(rejections),
        status=_best_status(samples),
        note=_notes("sample", samples),
        repaired=_repairs(samples) if played else (),
    )


def combine_answers(
    first: Decision,
    second: Decision,
    missing: Collection[MarketId],
    refused: Sequence[Rejection],
) -> Decision:
    """Return a first answer, with what a second one says of the markets that the first is missing.

    Of orders on other markets, the second answer has the last word on those that were `refused`: what it
    says of their markets is added, but no order that the first answer already has on that side. Of a first
    answer that couldn't be read nothing is kept.
    """
    if first.status == "malformed":
        return second
    if second.status != "played":
        return first
    forecasts = within(second.forecasts, missing)
    bets, new_bets = _mended_orders(first.bets, second.bets, missing, refused)
    sales, new_sales = _mended_orders(first.sales, second.sales, missing, refused)

    mended = {rejection.market_id for rejection in second.rejections if is_of_order(rejection)}
    new_orders: tuple[Bet | Sale, ...] = (*new_bets, *new_sales)
    mended |= {order.market_id for order in new_orders}
    settled = {x for x in refused if x.market_id in mended or (not x.market_id and mended)}
    restated = {forecast.market_id for forecast in forecasts}
    kept = [rejection for rejection in outside(first.rejections, restated) if rejection not in settled]

    return Decision(
        first.forecasts + forecasts,
        bets + new_bets,
        sales + new_sales,
        (*kept, *second.rejections),
        repaired=_repairs([first, second]),
    )


def is_of_order(rejection: Rejection) -> bool:
    """Return whether a rejection is of one or more orders of an answer, and not of a forecast."""
    return rejection.code in ORDERS_REFUSED or rejection.message.startswith(("bet ", "sale "))


def _mended_orders(
    first: tuple[Order, ...],
    second: tuple[Order, ...],
    missing: Collection[MarketId],
    refused: Sequence[Rejection],
) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """Return the orders of a first answer that stand, and those of a second one that are added."""
    kept = outside(first, missing)
    taken = {(order.market_id, order.side) for order in kept}
    open_to = {rejection.market_id for rejection in refused}
    added = list[Order]()

    for order in second:
        is_mended = order.market_id in open_to or "" in open_to  # some refusals don't say on which market
        if order.market_id in missing or (is_mended and (order.market_id, order.side) not in taken):
            added.append(order)

    return kept, tuple(added)


def within(items: Iterable[Item], markets: Container[str]) -> tuple[Item, ...]:
    """Return the items that are about one of these markets."""
    return tuple(item for item in items if item.market_id in markets)


def outside(items: Iterable[Item], markets: Container[str]) -> tuple[Item, ...]:
    """Return the items that are about none of these markets."""
    return tuple(item for item in items if item.market_id not in markets)


def combine_parts(parts: Sequence[Decision]) -> Decision:
    """Return the combined decision of all parts; an unusable part leaves a note, its markets are skipped."""
    if len(parts) == 1:
        return parts[0]

    status = _best_status(parts)
    if status == "played" and any(part.status != "played" for part in parts):
        status = "partly"

    forecasts = list[Forecast]()
    bets = list[Bet]()
    sales = list[Sale]()
    rejections = list[Rejection]()
    for part in parts:
        forecasts += part.forecasts
        bets += part.bets
        sales += part.sales
        rejections += part.rejections

    return Decision(
        forecasts=tuple(forecasts),
        bets=tuple(bets),
        sales=tuple(sales),
        rejections=tuple(rejections),
        status=status,
        repaired=_repairs(parts),
        note=_notes("part", parts),
    )


def _best_status(decisions: Sequence[Decision]) -> DecisionStatus:
    """Return the best status among some decisions."""
    statuses = {decision.status for decision in decisions}
    for status in DECIDED_STATUSES:
        if status in statuses:
            return status
    return "failed"


def combine_stages(blind: Decision, final: Decision) -> Decision:
    """Return the decision of both stages; an unusable blind answer only leaves a note."""
    blind_note = blind.note
    if blind_note:
        blind_note = f"blind: {blind_note}"

    return replace(
        final,
        forecasts=blind.forecasts + final.forecasts,
        rejections=blind.rejections + final.rejections,
        note="; ".join(filter(None, (blind_note, final.note))),
        repaired=_repairs([blind, final]),
    )


def _repairs(decisions: Sequence[Decision]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(decision.repaired for decision in decisions)))


def _notes(noun: str, decisions: Sequence[Decision]) -> str:
    """Return the notes of some decisions, each with its number."""
    notes = [f"{noun} {n}: {part.status}: {part.note}" for n, part in enumerate(decisions, 1) if part.note]
    return "; ".join(notes)


def _combined(forecasts: Sequence[Forecast], form: QuestionForm | None) -> Forecast:
    """Return the median of forecasts of one market, without a reason."""
    first = forecasts[0]
    if form is not None:
        return replace(first, reason="", distribution=combined_answer(form, forecasts))
    return replace(first, reason="", millionths=median([forecast.millionths for forecast in forecasts]))


def _nearest(forecasts: Sequence[Forecast], middle: Forecast) -> Forecast:
    """Return the median with the reason of the first forecast that is closest to it."""
    nearest = min(forecasts, key=lambda forecast: _apart(forecast, middle))
    return replace(middle, reason=nearest.reason)


def _apart(forecast: Forecast, middle: Forecast) -> int:
    """Return the distance of a forecast from the median: in millionths, or how many quantiles differ."""
    if not middle.distribution:
        return abs(forecast.millionths - middle.millionths)

    stated = distribution_of(forecast.distribution)
    medians = distribution_of(middle.distribution)
    if medians.chances:
        return sum(abs(chance - mid) for chance, mid in zip(stated.chances, medians.chances, strict=True))
    return len(set(medians.quantiles) - set(stated.quantiles))


def _distance(sample: Decision, medians: dict[Key, Forecast]) -> tuple[int, int]:
    """Return the distance of a sample's final forecasts from the medians; fewer forecasts sort last.

    Forecasts of questions without bets don't count: the distance chooses the sample whose bets are taken.
    """
    count = 0
    apart = 0
    for forecast in sample.forecasts:
        if forecast.stage != "final":
            continue

        count += 1
        if not forecast.distribution:
            apart += _apart(forecast, medians[forecast.market_id, "final"])
    return -count, apart


LARGEST_INTEGER = 2**63 - 1
"""The largest whole number that a record can hold."""
STATUSES: tuple[DecisionStatus, ...] = (*DECIDED_STATUSES, "failed")
"""The statuses that an agent may give its turn."""
SHAPES: Mapping[Any, tuple[tuple[str, bool, bool], ...]] = {
    kind: tuple((x.name, x.type in (int, int | None), x.type == int | None) for x in fields(kind))
    for kind in (Forecast, Bet, Sale, Rejection)
}
"""The fields of each kind of item: the name, whether it is a number, and whether it may be None."""
FIELDS: Mapping[Any, Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*(name for name, _, _ in shape)) for kind, shape in SHAPES.items()
}
"""A getter of the values of these fields, by kind of item."""
STAGES: tuple[Stage, ...] = ("blind", "final")


def sound_decision(decision: object, view: View) -> Decision:
    """Return the decision without invalid items; each of them becomes a rejection with a reason.

    Raises `TypeError` for what is no decision at all. Whether bets and sales can be granted is for
    `portfolio.execute` to say; here they only have to be ones, of a turn that was played.
    """
    if not isinstance(decision, Decision):
        raise TypeError(f"expected a Decision, found a {type(decision).__name__}")

    lost: list[Rejection] = []
    status = _checked_status(decision.status, lost)
    note = decision.note

    if not isinstance(note, str):
        words = f"expected a string as a note, found a {type(note).__name__}"
        lost.append(Rejection("bad_note", words))
        note = ""

    rejections = _checked_items(decision.rejections, Rejection, "bad_rejection", lost)
    forecasts = _checked_forecasts(decision.forecasts, view, lost)
    bets = _checked_items(decision.bets, Bet, "bad_order", lost)
    sales = _checked_items(decision.sales, Sale, "bad_order", lost)

    if status not in USABLE_STATUSES:
        words = f"a turn that is {status} has no bets and no sales"
        orders: tuple[Bet | Sale, ...] = (*bets, *sales)
        lost += [Rejection("bad_order", words, order.market_id) for order in orders]
        bets = []
        sales = []

    refusals = (*rejections, *map(_storable_item, lost))
    repaired = tuple(printable(name) for name in decision.repaired if type(name) is str)
    return Decision(forecasts, tuple(bets), tuple(sales), refusals, status, printable(note), repaired)


def _checked_status(given: object, lost: list[Rejection]) -> DecisionStatus:
    for status in STATUSES:
        if type(given) is str and given == status:
            return status
    words = f"a status is one of {', '.join(STATUSES)}: the turn counts as played"
    lost.append(Rejection("bad_status", words))
    return "played"


def _checked_forecasts(stated: object, view: View, lost: list[Rejection]) -> tuple[Forecast, ...]:
    """Return the forecasts of shown markets, the first for each market and stage."""
    shown = {listing.market.id: listing.market.form for listing in view.snapshot.shown}
    kept: dict[tuple[str, str], Forecast] = {}
    for forecast in _checked_items(stated, Forecast, "bad_forecast", lost):
        key = (forecast.market_id, forecast.stage)
        fault = _forecast_fault(forecast, shown)
        if fault is None and key in kept:
            fault = "this market already has a forecast"
        if fault is None:
            kept[key] = forecast
        else:
            lost.append(Rejection("bad_forecast", fault, forecast.market_id))

    return tuple(kept.values())


def _forecast_fault(forecast: Forecast, shown: Mapping[MarketId, str]) -> str | None:
    """Return why a forecast can't be kept; `shown` has the form of each question that was asked."""
    if forecast.market_id not in shown:
        return "this market was not shown"

    form = shown[forecast.market_id]
    if form or forecast.distribution:
        fault = _distribution_fault(forecast, form)
        if fault is not None:
            return fault

    if not 0 <= forecast.millionths <= ONE:
        return "a probability must be a whole number of millionths from 0 to 1,000,000"
    if forecast.stage not in STAGES:
        return "the stage must be blind or final"
    return None


def _distribution_fault(forecast: Forecast, form: str) -> str | None:
    """Return why a forecast doesn't answer a question of this form."""
    if not form:
        return "the question is of yes or no: state a probability"
    if not forecast.distribution or forecast.millionths:
        return "the question is not of yes or no: state a distribution, and no probability"

    try:
        check_distribution_text(form_of(form), forecast.distribution)
    except (ValueError, OverflowError) as error:
        return one_line(str(error), 200)

    return None


def _checked_items(items: object, kind: type[Item], code: str, lost: list[Rejection]) -> list[Item]:
    """Return the items that are of this kind and that the record can hold."""
    if not isinstance(items, tuple | list):
        words = f"a {kind.__name__} comes in a tuple or a list, and this is a {type(items).__name__}"
        lost.append(Rejection(code, words))
        return []

    given: list[Any] = list(items)
    if not given or _all_fit(given, kind):
        return given

    good = list[Item]()
    for item in given:
        fault = _item_fault(item, kind)
        if fault is None:
            good.append(_storable_item(item))
        else:
            market_id = getattr(item, "market_id", "")
            if type(market_id) is not str:
                market_id = ""
            lost.append(Rejection(code, fault, market_id[:200]))

    return good


def _all_fit(items: list[Any], kind: type[Item]) -> bool:
    """Tell whether every item is valid, checked field by field: the usual case."""
    if set(map(type, items)) != {kind}:
        return False

    columns = zip(*map(FIELDS[kind], items), strict=True)
    for values, (_, number, optional) in zip(columns, SHAPES[kind], strict=True):
        if not _values_fit(values, number, optional):
            return False
        if not number and not is_printable("".join(values)):
            return False
    return True


def _values_fit(values: Sequence[Any], number: bool, optional: bool) -> bool:
    present = values
    if optional:
        present = [value for value in values if value is not None]
    if not number:
        return set(map(type, present)) <= {str}

    if not present:
        return True

    are_integers = set(map(type, present)) == {int}
    return are_integers and max(present) <= LARGEST_INTEGER and min(present) >= -LARGEST_INTEGER


def _item_fault(item: object, kind: type[Bet | Sale | Forecast | Rejection]) -> str | None:
    """Return why an item is invalid, by its kind or the type of a field; None if it is valid."""
    if type(item) is not kind:
        return f"a {kind.__name__} is expected, and this is a {type(item).__name__}"

    for name, number, optional in SHAPES[kind]:
        if not _values_fit([getattr(item, name)], number, optional):
            what = "text"
            if number:
                what = "whole number of millionths, below 2^63 (1000000 is 1)"
            return f"the {name} of a {kind.__name__} is a {what}"
    return None


def _storable_item(item: Item) -> Item:
    """Return the item with every text in it made storable."""
    texts: dict[str, Any] = {}
    for field in fields(item):
        text = getattr(item, field.name)
        if isinstance(text, str):
            texts[field.name] = printable(text)
    return replace(item, **texts)
