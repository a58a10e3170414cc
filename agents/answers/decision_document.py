"""From a decision as a document (`agents.episode`) to a decision: strict on its form, item by item."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agents.answers.parse import without_contradictions
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
    """Send the view as a document, and return the call with the decision that its answer makes."""
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
    return _read_document(_json_object(text), _ItemReader(view, _first_fault))


def read_sent_decision(text: str, view: View) -> Decision:
    """Return the decision of a document whose sender can still correct it, with every fault of each item.

    Raises `UnreadableDecision` also where nothing in it can be used, unless it says so itself by an empty
    list of forecasts.
    """
    document = _json_object(text)
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
    """Return the decision of a document, with its lists taken out of it.

    Raises `UnreadableDecision` if one of them is no list, or anything else is wrong with the document itself.
    """
    lists = {name: document.pop(name, []) for name in ("forecasts", "bets", "sales")}
    try:
        DecisionDocument.model_validate(document)
    except ValidationError as error:
        raise UnreadableDecision(items.describe_fault(error)) from error
    for name, listed in lists.items():
        if not isinstance(listed, list):
            raise UnreadableDecision(f"{name}: expected a list")

    stated_forecasts = items.read("forecast", lists["forecasts"], items.forecast_form, items.forecast)
    bets = items.read("bet", lists["bets"], lambda _: BetDocument, _bet)
    sales = items.read("sale", lists["sales"], lambda _: SaleDocument, _sale)
    forecasts, contradictions = without_contradictions(tuple(stated_forecasts))

    return Decision(forecasts, tuple(bets), tuple(sales), (*items.refused, *contradictions))


@dataclass
class _ItemReader:
    """Reads the items of a decision about the markets of a view, and collects what it refuses.

    With `forms` it is told of an item with a fault what one looks like, and whether its market exists.
    """

    view: View
    describe_fault: Callable[[ValidationError], str]
    forms: Mapping[str, str] = field(default_factory=dict)
    refused: list[Rejection] = field(default_factory=list)
    known_ids: frozenset[str] = field(init=False)
    offered_ids: frozenset[str] = field(init=False)
    questions: Mapping[MarketId, QuestionForm] = field(init=False)

    def __post_init__(self) -> None:
        self.known_ids = frozenset(listing.market.id for listing in self.view.snapshot)
        self.offered_ids = frozenset(listing.market.id for listing in self.view.snapshot.shown)
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
        is_of_yes_or_no = not isinstance(market, str) or market not in self.questions
        return ForecastDocument if is_of_yes_or_no else AnswerDocument

    def read(
        self,
        noun: str,
        items: list[Any],
        form_of: Callable[[Any], type[_Document]],
        convert: Callable[[_Document], _Item],
    ) -> list[_Item]:
        """Return the items without a fault. Of a market that is held but not on offer only sales are read."""
        allowed = self.known_ids if noun == "sale" else self.offered_ids
        valid = list[_Item]()
        for number, item in enumerate(items, 1):
            try:
                document = form_of(item).model_validate(item)
            except ValidationError as error:
                self._refuse("bad_item", f"{noun} {number}: {self._describe_item_fault(noun, item, error)}")
                continue

            if document.market in allowed:
                try:
                    valid.append(convert(document))
                except ValueError as error:
                    self._refuse("bad_item", f"{noun} {number}: {one_line(str(error), 200)}")
            elif document.market in self.known_ids:
                message = f"{noun} {number}: the market is no longer open for betting"
                self._refuse("not_on_offer", message, document.market)
            else:
                self._refuse(
                    "unknown_market", f"{noun} {number}: {self._describe_unknown_market(document.market)}"
                )

        return valid

    def _refuse(self, code: str, message: str, market: str = "") -> None:
        self.refused.append(Rejection(code, message, market))

    def _describe_item_fault(self, noun: str, item: Any, error: ValidationError) -> str:
        fault = self.describe_fault(error)
        if noun not in self.forms:
            return fault

        faults = [fault, f"a {noun} is like {self.forms[noun]}"]
        market = item.get("market") if isinstance(item, dict) else None
        if isinstance(market, str) and market not in self.known_ids:
            faults.append(self._describe_unknown_market(market))
        return "; ".join(faults)

    def _describe_unknown_market(self, market: str) -> str:
        fault = f'there is no market "{one_line(market, 40)}"'
        first_listing = next(iter(self.view.snapshot), None)
        if not self.forms or first_listing is None:
            return fault
        return f'{fault}: the first in the view is "{first_listing.market.id}"'


def _json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, with fractions as exact decimals."""
    if len(text) > MOST_BYTES:
        raise UnreadableDecision(f"it has more than {MOST_BYTES:,} characters")

    try:
        value = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=object_without_repeated_keys,
        )
    except json.JSONDecodeError as error:
        message = f"not JSON: {error}"
        if not text.strip():
            message = "nothing was answered"
        raise UnreadableDecision(message) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableDecision(f"not JSON that can be read: {one_line(str(error), 200)}") from error

    if not isinstance(value, dict):
        raise UnreadableDecision("expected a JSON object")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _first_fault(error: ValidationError) -> str:
    """Return the first thing that is wrong, and where."""
    first = error.errors()[0]
    return one_line(_message_with_key(first), 200)


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
                faults.append(_message_with_key(fault))

    return one_line("; ".join(faults), 300)


def _message_with_key(fault: ErrorDetails) -> str:
    path = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    if not path:
        return message
    return f"{path}: {message}"


def _bet(document: BetDocument) -> Bet:
    return Bet(
        MarketId(document.market),
        SIDES[document.option],
        millionths(document.amount),
        _optional_millionths(document.limit),
        document.reason,
    )


def _sale(document: SaleDocument) -> Sale:
    market = MarketId(document.market)
    side = SIDES[document.option]
    shares = _optional_millionths(document.shares)
    fraction = _optional_millionths(document.fraction)
    if document.fraction == 1:
        fraction = None  # a sale without a fraction is one of the whole position
    limit = _optional_millionths(document.limit)
    return Sale(market, side, shares, fraction, limit, document.reason)


def _optional_millionths(value: Decimal | None) -> int | None:
    if value is None:
        return None
    return millionths(value)
