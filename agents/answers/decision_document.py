"""From a decision as a document (`agents.episode`) to a decision: strict on its form, item by item."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agents.answers.parse import first_of_each
from agents.asked_forms import forms_in
from agents.episode import (
    AnswerDocument,
    BetDocument,
    DecisionDocument,
    ForecastDocument,
    MarketItem,
    SaleDocument,
    view_document,
)
from agents.model import Ask, Call, Decision, Forecast, Message, Prompt, View
from agents.text import one_line
from markets.distributions import QuestionForm, question_kind
from markets.hashes import object_without_repeated_keys
from markets.millionths import millionths
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale, Side

MOST_BYTES = 1_000_000
SIDES: Mapping[str, Side] = {"yes": "YES", "no": "NO"}
_Item = TypeVar("_Item", Forecast, Bet, Sale)
_Document = TypeVar("_Document", bound=MarketItem)
_FORMS: Mapping[str, str] = {
    "forecast": '{"market": ID, "options": {"yes": 0.65}, "reason": "why"}',
    "bet": '{"market": ID, "option": "yes", "amount": 100, "limit": 0.65}',
    "sale": '{"market": ID, "option": "yes", "fraction": 0.5}',
}
"""An item of each kind, for whoever sent one that cannot be read."""


class UnreadableDecision(ValueError):
    """What was answered is no decision, and why; `refused` has the fault of each of its items."""

    def __init__(self, message: str, refused: Sequence[Rejection] = ()):
        super().__init__(message)
        self.refused = tuple(refused)


async def ask_for_decision(view: View, ask: Ask) -> tuple[Call, Decision]:
    """Ask one thing, the view as a document, and read the answer as a decision; the call that was made."""
    call = await ask(Prompt((Message("user", view_document(view).model_dump_json()),), view.seed))
    if call.error is not None:
        return call, Decision(status="failed", note=f"{call.error.code}: {call.error.message}")
    try:
        return call, read_decision(call.reply or "", view)
    except UnreadableDecision as error:
        return call, Decision(status="malformed", note=str(error))


def read_decision(text: str, view: View) -> Decision:
    """Return the decision that a document makes. An item with a fault is refused, and the others stand.

    Raises `UnreadableDecision` where the whole is no JSON object of this form. The words of a refusal are
    kept with the turn and compared when it is verified: another wording is another version of the reader.
    """
    return _read_document(_object(text), _ItemReader(view, _first_fault))


def read_sent_decision(text: str, view: View) -> Decision:
    """Return the decision of a document whose sender can still correct it, with every fault of each item.

    Raises `UnreadableDecision` also where nothing in it can be used, unless it says so itself by an empty
    list of forecasts.
    """
    document = _object(text)
    if isinstance(document.get("version"), bool):
        raise UnreadableDecision("version: expected the number 1")  # True is equal to 1

    says_nothing = document.get("forecasts") == []
    decision = _read_document(document, _ItemReader(view, _every_fault, _FORMS))
    if decision.forecasts or decision.bets or decision.sales:
        return decision

    if decision.rejections:
        raise UnreadableDecision("no item of it can be used", decision.rejections)
    if not says_nothing:
        raise UnreadableDecision('it is empty; to forecast nothing, send "forecasts": []')
    return decision


def _read_document(document: dict[str, Any], items: "_ItemReader") -> Decision:
    lists = {name: document.pop(name, []) for name in ("forecasts", "bets", "sales")}
    try:
        DecisionDocument.model_validate(document)
    except ValidationError as error:
        raise UnreadableDecision(items.fault_of(error)) from error
    for name, listed in lists.items():
        if not isinstance(listed, list):
            raise UnreadableDecision(f"{name}: expected a list")

    stated = items.read("forecast", lists["forecasts"], items.forecast_form, items.forecast)
    bets = items.read("bet", lists["bets"], lambda _: BetDocument, _bet)
    sales = items.read("sale", lists["sales"], lambda _: SaleDocument, _sale)
    forecasts, unclear = first_of_each(tuple(stated))
    return Decision(forecasts, tuple(bets), tuple(sales), (*items.refused, *unclear))


@dataclass
class _ItemReader:
    """Reads the items of a decision about the markets of a view, and collects what it refuses.

    With `forms` it is told of an item with a fault what one looks like, and whether its market exists.
    """

    view: View
    fault_of: Callable[[ValidationError], str]
    forms: Mapping[str, str] = field(default_factory=dict)
    refused: list[Rejection] = field(default_factory=list)
    known: frozenset[str] = field(init=False)
    offered: frozenset[str] = field(init=False)
    questions: Mapping[MarketId, QuestionForm] = field(init=False)

    def __post_init__(self) -> None:
        self.known = frozenset(listing.market.id for listing in self.view.snapshot)
        self.offered = frozenset(listing.market.id for listing in self.view.snapshot.shown)
        self.questions = forms_in(self.view.snapshot)

    def forecast(self, item: ForecastDocument | AnswerDocument) -> Forecast:
        """Return the forecast that an item states. Raise `ValueError` if it doesn't answer its question."""
        market = MarketId(item.market)
        if isinstance(item, ForecastDocument):
            return Forecast(market, reason=item.reason, millionths=millionths(item.of_yes))

        form = self.questions[market]
        key = "range"
        if form.options:
            key = "options"
        stated = getattr(item, key)
        if stated is None:
            raise ValueError(f"it is answered under {key}")

        answer = question_kind(form.kind).read(form, stated)
        return Forecast(market, reason=item.reason, distribution=answer.text)

    def forecast_form(self, item: Any) -> type[ForecastDocument] | type[AnswerDocument]:
        """Return the form of an item by the question that it is about."""
        market = item.get("market") if isinstance(item, dict) else None
        is_other = isinstance(market, str) and market in self.questions
        if is_other:
            return AnswerDocument
        return ForecastDocument

    def read(
        self,
        noun: str,
        listed: list[Any],
        form_of_item: Callable[[Any], type[_Document]],
        made: Callable[[_Document], _Item],
    ) -> list[_Item]:
        """Return the items without a fault. Of a market that is held but not on offer only sales are read."""
        allowed = self.known if noun == "sale" else self.offered
        good = list[_Item]()
        for number, item in enumerate(listed, 1):
            try:
                document = form_of_item(item).model_validate(item)
            except ValidationError as error:
                self._refuse("bad_item", f"{noun} {number}: {self._item_fault(noun, item, error)}")
                continue

            if document.market in allowed:
                try:
                    good.append(made(document))
                except ValueError as error:
                    self._refuse("bad_item", f"{noun} {number}: {one_line(str(error), 200)}")
            elif document.market in self.known:
                closed = f"{noun} {number}: the market is no longer open for betting"
                self._refuse("not_on_offer", closed, document.market)
            else:
                self._refuse("unknown_market", f"{noun} {number}: {self._unknown_market(document.market)}")

        return good

    def _refuse(self, code: str, message: str, market: str = "") -> None:
        self.refused.append(Rejection(code, message, market))

    def _item_fault(self, noun: str, item: Any, error: ValidationError) -> str:
        fault = self.fault_of(error)
        if noun not in self.forms:
            return fault

        faults = [fault, f"a {noun} is like {self.forms[noun]}"]
        market = item.get("market") if isinstance(item, dict) else None
        if isinstance(market, str) and market not in self.known:
            faults.append(self._unknown_market(market))
        return "; ".join(faults)

    def _unknown_market(self, market: str) -> str:
        fault = f'there is no market "{one_line(market, 40)}"'
        first = next(iter(self.view.snapshot), None)
        if not self.forms or first is None:
            return fault
        return f'{fault}: the first in the view is "{first.market.id}"'


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, with fractions as exact decimals."""
    if len(text) > MOST_BYTES:
        raise UnreadableDecision(f"it has more than {MOST_BYTES:,} characters")

    try:
        whole = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_no_number,
            object_pairs_hook=object_without_repeated_keys,
        )
    except json.JSONDecodeError as error:
        words = f"not JSON: {error}"
        if not text.strip():
            words = "nothing was answered"
        raise UnreadableDecision(words) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableDecision(f"not JSON that can be read: {one_line(str(error), 200)}") from error

    if not isinstance(whole, dict):
        raise UnreadableDecision("expected a JSON object")
    return whole


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _first_fault(error: ValidationError) -> str:
    """Return the first thing that is wrong, and where."""
    first = error.errors()[0]
    return one_line(_placed(first), 200)


def _every_fault(error: ValidationError) -> str:
    """Return all that is wrong, with the keys that are missing or unknown by their names."""
    faults = list[str]()
    for fault in error.errors():
        key = ".".join(map(str, fault["loc"]))
        match fault["type"]:
            case "missing":
                faults.append(f'"{key}" is missing')
            case "extra_forbidden":
                faults.append(f'unknown key "{one_line(key, 40)}"')
            case "model_type":
                faults.append("expected an object")
            case _:
                faults.append(_placed(fault))

    return one_line("; ".join(faults), 300)


def _placed(fault: ErrorDetails) -> str:
    key = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    if not key:
        return message
    return f"{key}: {message}"


def _bet(document: BetDocument) -> Bet:
    return Bet(
        MarketId(document.market),
        SIDES[document.option],
        millionths(document.amount),
        _exact(document.limit),
        document.reason,
    )


def _sale(document: SaleDocument) -> Sale:
    part = None if document.fraction == 1 else _exact(document.fraction)
    side = SIDES[document.option]
    limit = _exact(document.limit)
    return Sale(MarketId(document.market), side, _exact(document.shares), part, limit, document.reason)


def _exact(value: Decimal | None) -> int | None:
    if value is None:
        return None
    return millionths(value)
