"""From a decision as a document (`agents.episode`) to a decision: strict on its form, item by item."""

import json
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from agents.answers.parse import first_of_each
from agents.episode import (
    BetDocument,
    DecisionDocument,
    ForecastDocument,
    MarketItem,
    SaleDocument,
    view_document,
)
from agents.model import Ask, Call, Decision, Forecast, Message, Prompt, View
from agents.text import one_line
from markets.hashes import keys_once
from markets.millionths import millionths
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale, Side

MOST_BYTES = 1_000_000
SIDES: Mapping[str, Side] = {"yes": "YES", "no": "NO"}
_Item = TypeVar("_Item", Forecast, Bet, Sale)
_Said = TypeVar("_Said", bound=MarketItem)


class UnreadableDecision(ValueError):
    """What was answered is no decision, and why."""


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
    """The decision that a document makes. An item with a fault is refused, and the others stand.

    Raises `UnreadableDecision` where the whole is no JSON object of this form.
    """
    whole = _object(text)
    listed = {name: whole.pop(name, []) for name in ("forecasts", "bets", "sales")}
    try:
        DecisionDocument.model_validate(whole)
    except ValidationError as error:
        raise UnreadableDecision(_fault(error)) from error
    for name, items in listed.items():
        if not isinstance(items, list):
            raise UnreadableDecision(f"{name}: expected a list")
    known, shown = ({listing.market.id for listing in of} for of in (view.snapshot, view.snapshot.shown))
    refused: list[Rejection] = []
    read = partial(_read_items, listed, known, refused)
    stated = read(ForecastDocument, _forecast, shown)
    bets, sales = read(BetDocument, _bet, shown), read(SaleDocument, _sale, known)
    forecasts, unclear = first_of_each(tuple(stated))
    return Decision(forecasts, tuple(bets), tuple(sales), (*refused, *unclear))


def _read_items(
    listed: Mapping[str, list[Any]],
    known: Container[str],
    refused: list[Rejection],
    form: type[_Said],
    made: Callable[[_Said], _Item],
    places: Container[str],
) -> list[_Item]:
    """The items of a form without a fault; they may be about the markets in these places."""
    good, noun = list[_Item](), form.__name__.removesuffix("Document").lower()
    for number, item in enumerate(listed[f"{noun}s"], 1):
        try:
            said = form.model_validate(item)
        except ValidationError as error:
            refused.append(Rejection("bad_item", f"{noun} {number}: {_fault(error)}"))
            continue
        if said.market in places:
            good.append(made(said))
        elif said.market in known:
            words = f"{noun} {number}: the market is no longer open for betting"
            refused.append(Rejection("not_on_offer", words, MarketId(said.market)))
        else:
            words = f'{noun} {number}: there is no market "{one_line(said.market, 40)}"'
            refused.append(Rejection("unknown_market", words))
    return good


def _object(text: str) -> dict[str, Any]:
    """The one JSON object that the text is, its numbers by their digits."""
    if len(text) > MOST_BYTES:
        raise UnreadableDecision(f"it has more than {MOST_BYTES:,} characters")
    try:
        whole = json.loads(text, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=keys_once)
    except json.JSONDecodeError as error:
        words = "nothing was answered" if not text.strip() else f"not JSON: {error}"
        raise UnreadableDecision(words) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableDecision(f"not JSON that can be read: {one_line(str(error), 200)}") from error
    if not isinstance(whole, dict):
        raise UnreadableDecision("expected a JSON object")
    return whole


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _fault(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    words = first["msg"].removeprefix("Value error, ")
    return one_line(f"{place}: {words}" if place else words, 200)


def _forecast(said: ForecastDocument) -> Forecast:
    return Forecast(MarketId(said.market), reason=said.reason, millionths=millionths(said.of_yes))


def _bet(said: BetDocument) -> Bet:
    return Bet(
        MarketId(said.market), SIDES[said.option], millionths(said.amount), _exact(said.limit), said.reason
    )


def _sale(said: SaleDocument) -> Sale:
    part = None if said.fraction == 1 else _exact(said.fraction)
    side, limit = SIDES[said.option], _exact(said.limit)
    return Sale(MarketId(said.market), side, _exact(said.shares), part, limit, said.reason)


def _exact(value: Decimal | None) -> int | None:
    return None if value is None else millionths(value)
