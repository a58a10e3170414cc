"""Decisions combined and checked: several probabilities or answers become one, and nothing unsound is kept.

Probabilities are combined in whole numbers alone, so a result is the same on every machine: millionths,
rounded to the nearest, a half upwards. No root is ever taken: a millionth is compared with it by raising
both to the same power. An agent is anyone's code, so its decision is checked against what it was shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from math import prod
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
    dropped = len(ps) * trim // ONE
    return mean(sorted(ps)[dropped : len(ps) - dropped])


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

    def is_above_mean(p: int) -> bool:
        # compares the odds half a millionth below p with the mean, both to the power n
        below = 2 * p - 1
        return bool(yes * (2 * ONE - below) ** n < no * below**n)

    return bisect_left(GRID, True, key=is_above_mean)


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

    usable = [sample for sample in samples if sample.status in USABLE_STATUSES]
    forecasts_by_key: dict[Key, list[Forecast]] = {}
    for sample in usable or samples:
        for forecast in sample.forecasts:
            forecasts_by_key.setdefault((forecast.market_id, forecast.stage), []).append(forecast)

    medians: dict[Key, Forecast] = {}
    for key, forecasts in forecasts_by_key.items():
        market_id, _ = key
        medians[key] = _median_forecast(forecasts, forms.get(market_id))

    closest = min(usable, key=lambda sample: _distance(sample, medians), default=Decision())
    rejections: list[Rejection] = []
    for number, sample in enumerate(samples, 1):
        for rejection in sample.rejections:
            message = f"sample {number}: {rejection.message}"
            rejections.append(replace(rejection, message=message))

    return replace(
        closest,
        forecasts=tuple(
            _with_closest_reason(medians[key], forecasts) for key, forecasts in forecasts_by_key.items()
        ),
        rejections=tuple(rejections),
        status=_best_status(samples),
        note=_numbered_notes("sample", samples),
        repaired=_repairs_of_all(samples) if usable else (),
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

    new_forecasts = tuple(forecast for forecast in second.forecasts if forecast.market_id in missing)
    kept_bets, new_bets = _kept_and_new_orders(first.bets, second.bets, missing, refused)
    kept_sales, new_sales = _kept_and_new_orders(first.sales, second.sales, missing, refused)

    # a refusal is settled by whatever the second answer orders on its market, or is refused there
    new_orders: tuple[Bet | Sale, ...] = (*new_bets, *new_sales)
    mended_markets: set[str] = {order.market_id for order in new_orders}
    mended_markets |= {rejection.market_id for rejection in second.rejections if is_of_order(rejection)}
    settled = set()
    for refusal in refused:
        names_no_market = not refusal.market_id
        if refusal.market_id in mended_markets or (names_no_market and mended_markets):
            settled.add(refusal)

    restated_markets = {forecast.market_id for forecast in new_forecasts}
    kept_rejections = [
        rejection
        for rejection in items_not_about(first.rejections, restated_markets)
        if rejection not in settled
    ]

    return Decision(
        first.forecasts + new_forecasts,
        kept_bets + new_bets,
        kept_sales + new_sales,
        (*kept_rejections, *second.rejections),
        repaired=_repairs_of_all([first, second]),
    )


def is_of_order(rejection: Rejection) -> bool:
    """Return whether a rejection is of one or more orders of an answer, and not of a forecast."""
    return rejection.code in ORDERS_REFUSED or rejection.message.startswith(("bet ", "sale "))


def _kept_and_new_orders(
    first: tuple[Order, ...],
    second: tuple[Order, ...],
    missing: Collection[MarketId],
    refused: Sequence[Rejection],
) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """Return the orders of a first answer that stand, and those of a second one that are added."""
    kept = items_not_about(first, missing)
    sides_taken = {(order.market_id, order.side) for order in kept}
    refused_markets = {rejection.market_id for rejection in refused}
    may_be_any_market = "" in refused_markets  # some refusals don't say on which market
    new = list[Order]()

    for order in second:
        was_refused = may_be_any_market or order.market_id in refused_markets
        is_on_free_side = (order.market_id, order.side) not in sides_taken
        if order.market_id in missing or (was_refused and is_on_free_side):
            new.append(order)

    return kept, tuple(new)


def items_not_about(items: Iterable[Item], markets: Container[str]) -> tuple[Item, ...]:
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
        repaired=_repairs_of_all(parts),
        note=_numbered_notes("part", parts),
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
        repaired=_repairs_of_all([blind, final]),
    )


def _repairs_of_all(decisions: Sequence[Decision]) -> tuple[str, ...]:
    """Return the repairs of some decisions, each once, in order."""
    repairs = chain.from_iterable(decision.repaired for decision in decisions)
    return tuple(dict.fromkeys(repairs))


def _numbered_notes(noun: str, decisions: Sequence[Decision]) -> str:
    """Return the notes of some decisions, each with its number and status: part 2: failed: …"""
    notes = list[str]()
    for number, decision in enumerate(decisions, 1):
        if decision.note:
            notes.append(f"{noun} {number}: {decision.status}: {decision.note}")
    return "; ".join(notes)


def _median_forecast(forecasts: Sequence[Forecast], form: QuestionForm | None) -> Forecast:
    """Return the median of forecasts of one market, without a reason."""
    first = forecasts[0]
    if form is not None:
        return replace(first, reason="", distribution=combined_answer(form, forecasts))
    return replace(first, reason="", millionths=median([forecast.millionths for forecast in forecasts]))


def _with_closest_reason(median_forecast: Forecast, forecasts: Sequence[Forecast]) -> Forecast:
    """Return the median with the reason of the first forecast that is closest to it."""
    closest = min(forecasts, key=lambda forecast: _distance_from_median(forecast, median_forecast))
    return replace(median_forecast, reason=closest.reason)


def _distance_from_median(forecast: Forecast, median_forecast: Forecast) -> int:
    """Return the distance of a forecast from the median: in millionths, or how many quantiles differ."""
    if not median_forecast.distribution:
        return abs(forecast.millionths - median_forecast.millionths)

    stated = distribution_of(forecast.distribution)
    medians = distribution_of(median_forecast.distribution)
    if medians.chances:
        pairs = zip(stated.chances, medians.chances, strict=True)
        return sum(abs(chance - median_chance) for chance, median_chance in pairs)
    return len(set(medians.quantiles) - set(stated.quantiles))


def _distance(sample: Decision, medians: dict[Key, Forecast]) -> tuple[int, int]:
    """Return the distance of a sample's final forecasts from the medians; fewer forecasts sort last.

    Forecasts of questions without bets don't count: the distance chooses the sample whose bets are taken.
    """
    count = 0
    total = 0
    for forecast in sample.forecasts:
        if forecast.stage != "final":
            continue

        count += 1
        if not forecast.distribution:
            total += _distance_from_median(forecast, medians[forecast.market_id, "final"])
    return -count, total


LARGEST_INTEGER = 2**63 - 1
"""The largest whole number that a record can hold."""
STATUSES: tuple[DecisionStatus, ...] = (*DECIDED_STATUSES, "failed")
"""The statuses that an agent may give its turn."""
FIELD_RULES: Mapping[Any, tuple[tuple[str, bool, bool], ...]] = {
    kind: tuple((x.name, x.type in (int, int | None), x.type == int | None) for x in fields(kind))
    for kind in (Forecast, Bet, Sale, Rejection)
}
"""The fields of each kind of item: the name, whether it is a number, and whether it may be None."""
STAGES: tuple[Stage, ...] = ("blind", "final")


def sound_decision(decision: object, view: View) -> Decision:
    """Return the decision without invalid items; each of them becomes a rejection with a reason.

    Raises `TypeError` for what is no decision at all. Whether bets and sales can be granted is for
    `portfolio.execute` to say; here they only have to be ones, of a turn that was played.
    """
    if not isinstance(decision, Decision):
        raise TypeError(f"expected a Decision, found a {type(decision).__name__}")

    # each check adds to `new_rejections` what it leaves out
    new_rejections: list[Rejection] = []
    status = _checked_status(decision.status, new_rejections)
    note = decision.note
    if not isinstance(note, str):
        message = f"expected a string as a note, found a {type(note).__name__}"
        new_rejections.append(Rejection("bad_note", message))
        note = ""

    rejections = _storable_items(decision.rejections, Rejection, "bad_rejection", new_rejections)
    forecasts = _checked_forecasts(decision.forecasts, view, new_rejections)
    bets = _storable_items(decision.bets, Bet, "bad_order", new_rejections)
    sales = _storable_items(decision.sales, Sale, "bad_order", new_rejections)

    if status not in USABLE_STATUSES:
        message = f"a turn that is {status} has no bets and no sales"
        orders: tuple[Bet | Sale, ...] = (*bets, *sales)
        new_rejections += [Rejection("bad_order", message, order.market_id) for order in orders]
        bets = []
        sales = []

    all_rejections = (*rejections, *map(_with_printable_texts, new_rejections))
    repaired = tuple(printable(name) for name in decision.repaired if type(name) is str)
    return Decision(forecasts, tuple(bets), tuple(sales), all_rejections, status, printable(note), repaired)


def _checked_status(status: object, new_rejections: list[Rejection]) -> DecisionStatus:
    """Return a status that an agent may give its turn; reject any other and return `played`."""
    for valid_status in STATUSES:
        if type(status) is str and status == valid_status:
            return valid_status

    message = f"a status is one of {', '.join(STATUSES)}: the turn counts as played"
    new_rejections.append(Rejection("bad_status", message))
    return "played"


def _checked_forecasts(
    forecasts: object, view: View, new_rejections: list[Rejection]
) -> tuple[Forecast, ...]:
    """Return the forecasts of shown markets, the first for each market and stage; reject the others."""
    form_by_market = {listing.market.id: listing.market.form for listing in view.snapshot.shown}
    valid: dict[tuple[str, str], Forecast] = {}
    for forecast in _storable_items(forecasts, Forecast, "bad_forecast", new_rejections):
        key = (forecast.market_id, forecast.stage)
        fault = _forecast_fault(forecast, form_by_market)
        if fault is None and key in valid:
            fault = "this market already has a forecast"

        if fault is None:
            valid[key] = forecast
        else:
            new_rejections.append(Rejection("bad_forecast", fault, forecast.market_id))

    return tuple(valid.values())


def _forecast_fault(forecast: Forecast, form_by_market: Mapping[MarketId, str]) -> str | None:
    """Return why a forecast can't be kept; `form_by_market` has the form of each question that was asked."""
    if forecast.market_id not in form_by_market:
        return "this market was not shown"

    form = form_by_market[forecast.market_id]
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


def _storable_items(
    items: object, kind: type[Item], code: str, new_rejections: list[Rejection]
) -> list[Item]:
    """Return the items that are of this kind and that the record can hold; reject the others."""
    if not isinstance(items, tuple | list):
        message = f"a {kind.__name__} comes in a tuple or a list, and this is a {type(items).__name__}"
        new_rejections.append(Rejection(code, message))
        return []

    valid = list[Item]()
    for item in items:
        fault = _item_fault(item, kind)
        if fault is None:
            valid.append(_with_printable_texts(item))
            continue

        market_id = getattr(item, "market_id", "")
        if type(market_id) is not str:
            market_id = ""
        new_rejections.append(Rejection(code, fault, market_id[:200]))

    return valid


def _is_valid_value(value: object, is_number: bool, is_optional: bool) -> bool:
    """Return whether the record can hold a value in a field of this kind."""
    if value is None:
        return is_optional
    if not is_number:
        return type(value) is str
    return type(value) is int and abs(value) <= LARGEST_INTEGER


def _item_fault(item: object, kind: type[Bet | Sale | Forecast | Rejection]) -> str | None:
    """Return why an item is invalid, by its kind or the type of a field; None if it is valid."""
    if type(item) is not kind:
        return f"a {kind.__name__} is expected, and this is a {type(item).__name__}"

    for name, is_number, is_optional in FIELD_RULES[kind]:
        if not _is_valid_value(getattr(item, name), is_number, is_optional):
            expected = "text"
            if is_number:
                expected = "whole number of millionths, below 2^63 (1000000 is 1)"
            return f"the {name} of a {kind.__name__} is a {expected}"
    return None


def _with_printable_texts(item: Item) -> Item:
    """Return the item with every text in it made storable."""
    texts: dict[str, Any] = {}
    for name, is_number, _ in FIELD_RULES[type(item)]:
        text = "" if is_number else getattr(item, name)
        if not is_printable(text):
            texts[name] = printable(text)

    if not texts:
        return item
    return replace(item, **texts)
