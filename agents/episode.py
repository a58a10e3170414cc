"""An episode as data: what an agent is shown, what it decides and how its forecasts ended, as JSON.

`arena outside desk --schema view`, `decision` and `result` print the JSON Schemas of these documents; each
document says
in `version` which one it follows. Probabilities, prices and dollars are plain numbers. A forecast is over
the `options` of a market; a yes/no market has the two options `yes` and `no`. A question whose answer is
a number or a date has a `range`, and so does its forecast: values by percent.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from itertools import chain
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agents.model import ConfigBlock, PastForecast, View
from agents.text import one_line
from markets.distributions import (
    PERCENT,
    YES_NO,
    QuestionForm,
    distribution_of,
    form_of,
    question_kind,
)
from markets.millionths import ONE, decimal
from markets.model import Listing
from portfolio.model import Side
from portfolio.quotes import mirror_price

MOST_REASON = 500
YES = "yes"
NO = "no"
SLACK = Decimal("0.001")
"""How far from 1 the probabilities of a market's options may add up to."""
MOST_DOLLARS = 10**12


def _is_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("expected a number")
    return value


_NUMBER = BeforeValidator(_is_number)
"""Numbers are read by the digits that they are written with."""
_SHARE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})
_SOME = WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": MOST_DOLLARS})
Probability = Annotated[Decimal, _NUMBER, Field(ge=0, le=1), _SHARE]
Price = Probability
Dollars = Annotated[Decimal, _NUMBER, Field(gt=0, le=MOST_DOLLARS), _SOME]
Shares = Dollars
_PART = WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1})
Part = Annotated[Decimal, _NUMBER, Field(gt=0, le=1), _PART]
Reason = Annotated[str, AfterValidator(lambda text: one_line(text, MOST_REASON))]
Options = Annotated[dict[str, Probability], Field(min_length=1)]


class EpisodeDocument(ConfigBlock):
    """What all of them have in common: nothing that is not named here, and nothing that changes."""

    model_config = ConfigDict(allow_inf_nan=False)


def _is_usual(value: object) -> bool:
    """Tell whether a field of another kind of question has nothing to say of one of yes or no."""
    return value in (None, YES_NO, "", {})


class RangeDocument(EpisodeDocument):
    """Between which numbers or dates the answer to a question lies."""

    low: str
    """The lower bound, a number or an ISO date."""
    high: str
    """The upper bound."""
    open_low: bool
    """Whether it can lie below."""
    open_high: bool
    """Whether it can lie above."""
    unit: str
    """The unit of a number."""


class EarlierPrice(EpisodeDocument):
    """An earlier price of a market."""

    at: datetime
    """When it was the price."""
    price: float
    """That of a share of the first option."""


class EvidenceItem(EpisodeDocument):
    """An article about a market."""

    source: str
    """Where it was found."""
    url: str
    """Its address."""
    title: str
    """Its title."""
    text: str
    """Its text, as far as it is known."""
    published_at: datetime
    """The latest moment at which it can have been published."""


class MarketDocument(EpisodeDocument):
    """A market, and its prices at the time of the view; a figure that the venue does not give is null."""

    market: str
    """Its name, which a decision calls it by."""
    question: str
    """What it asks."""
    rules: str
    """How it is decided."""
    category: str
    """What the venue files it under."""
    event: str
    """What it shares with other markets of one event."""
    story: str
    """What it shares with markets that move together; often its event."""
    closes_at: datetime
    """When trading ends at the latest."""
    kind: str = Field(default=YES_NO, exclude_if=_is_usual)
    """Its kind, where it isn't a question of yes or no."""
    answer: str = Field(default="", exclude_if=_is_usual)
    """How it is answered then."""
    options: tuple[str, ...]
    """The answers that there are; prices are those of the first. Of a number or a date there are none."""
    odds: dict[str, float] | None = Field(default=None, exclude_if=_is_usual)
    """The market's chance of each option, where it is no question of yes or no."""
    range: RangeDocument | None = Field(default=None, exclude_if=_is_usual)
    """The range of a number or a date."""
    offered: bool
    """Whether it can be bet on; one that cannot is in the view because it is held."""
    price: float | None
    """The middle between bid and ask; without one, the last trade."""
    bid: float | None
    """What a share can be sold for at once."""
    ask: float | None
    """What a share can be bought for at once."""
    last: float | None
    """The last trade."""
    volume: float | None
    """Dollars traded until now."""
    history: tuple[EarlierPrice, ...] = ()
    """Earlier prices, oldest first."""
    evidence: tuple[EvidenceItem, ...] = ()
    """Articles about it."""


class HeldPosition(EpisodeDocument):
    """Shares that the agent holds."""

    market: str
    """Of which market."""
    option: str
    """Of which of its options."""
    shares: float
    """How many."""
    cost: float
    """Dollars paid for them, fees included."""
    price: float | None
    """What one is worth; null where nobody knows."""


class AccountDocument(EpisodeDocument):
    """The agent's money."""

    cash: float
    """Dollars that can be spent."""
    total: float
    """Cash and all positions at their price."""
    positions: tuple[HeldPosition, ...]
    """What it holds."""


class ResultDocument(EpisodeDocument):
    """How a market ended that the agent had stated a forecast for."""

    version: Literal[1] = 1
    """Of this form."""
    market: str
    """Which market."""
    question: str
    """What it asked."""
    round: int
    """The round of the forecast."""
    at: datetime
    """When that was."""
    options: dict[str, float]
    """The forecast: a probability for each option."""
    range: dict[str, str] = Field(default_factory=dict, exclude_if=_is_usual)
    """Or the values of a number or a date by percent."""
    answer: str = Field(default="", exclude_if=_is_usual)
    """What a question came to that isn't of yes or no."""
    price: float | None
    """The price of the first option then, if there was one."""
    paid: dict[str, float] | None
    """What a share of each option paid; null while it is open, and where it was refunded or split."""


class ViewDocument(EpisodeDocument):
    """All that an agent may know when it decides."""

    version: Literal[1] = 1
    """Of this form."""
    at: datetime
    """The decision time."""
    since: datetime | None
    """The decision time before; null in the first round."""
    round: int
    """Which round of the cohort this is, from 1."""
    rounds: int
    """How many it has."""
    hidden: bool = Field(default=False, exclude_if=not_)
    """Whether prices, and what others forecast, are hidden in it; nothing is traded then."""
    seed: int
    """For whoever wants chance that can be repeated."""
    rules: dict[str, Any]
    """What bets are held to; money, prices and parts in millionths, ages in seconds."""
    account: AccountDocument | None
    """Its money; null where there is no market to trade in."""
    markets: tuple[MarketDocument, ...]
    """The markets on offer, then others that it holds."""
    past: tuple[ResultDocument, ...] = ()
    """Its own last forecasts of these markets."""
    ended: tuple[ResultDocument, ...] = ()
    """Those of its forecasts whose markets have ended since its last round."""


class MarketItem(EpisodeDocument):
    """An item of a decision that is about a market."""

    market: str
    """Which market, by its name in the view."""


class ForecastDocument(MarketItem):
    """What the agent believes of a market."""

    options: Options
    """A probability for each option; of two options one is enough."""
    reason: Reason = ""
    """Why, in a few words."""

    @model_validator(mode="after")
    def _adds_up(self) -> "ForecastDocument":
        unknown = sorted(self.options.keys() - {YES, NO})
        if unknown:
            raise ValueError(f"the market has no option {one_line(unknown[0], 40)!r}: it has yes and no")
        if len(self.options) == 2 and abs(sum(self.options.values(), Decimal(-1))) > SLACK:
            raise ValueError("the probabilities of yes and no do not add up to 1")
        return self

    @property
    def of_yes(self) -> Decimal:
        """Return the probability of YES."""
        if YES in self.options:
            return self.options[YES]
        return 1 - self.options[NO]


class AnswerDocument(MarketItem):
    """What the agent believes of a question that isn't of yes or no."""

    options: Options | None = None
    """A probability for each option."""
    range: dict[str, Decimal | str] | None = None
    """Or the values below which a number or a date lies, by percent: 5, 10, 25, 50, 75, 90 and 95."""
    reason: Reason = ""
    """Why, in a few words."""

    @model_validator(mode="after")
    def _is_one_answer(self) -> "AnswerDocument":
        if (self.options is None) is (self.range is None):
            raise ValueError("give either options or range")
        return self


class BetDocument(MarketItem):
    """An order to buy shares."""

    option: Literal["yes", "no"]
    """Of which of its options."""
    amount: Dollars
    """Dollars to spend, fees included."""
    limit: Price | None = None
    """The most to pay for a share."""
    reason: Reason = ""
    """Why, in a few words."""


class SaleDocument(MarketItem):
    """An order to sell shares that are held; without `shares` and `fraction`, all of them."""

    option: Literal["yes", "no"]
    """Of which of its options."""
    shares: Shares | None = None
    """How many."""
    fraction: Part | None = None
    """Or which part of them."""
    limit: Price | None = None
    """The least to take for a share."""
    reason: Reason = ""
    """Why, in a few words."""

    @model_validator(mode="after")
    def _one_size(self) -> "SaleDocument":
        if self.shares is not None and self.fraction is not None:
            raise ValueError("give either shares or fraction")
        return self


class DecisionDocument(EpisodeDocument):
    """What an agent believes and wants. An item that makes no sense is refused, and the others stand."""

    version: Literal[1] = 1
    """Of this form."""
    forecasts: tuple[ForecastDocument | AnswerDocument, ...] = ()
    """What it believes."""
    bets: tuple[BetDocument, ...] = ()
    """What it buys."""
    sales: tuple[SaleDocument, ...] = ()
    """What it sells."""


DOCUMENTS: Mapping[str, type[EpisodeDocument]] = {
    "view": ViewDocument,
    "decision": DecisionDocument,
    "result": ResultDocument,
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document: `view`, `decision` or `result`."""
    mode: Literal["validation", "serialization"] = "validation" if name == "decision" else "serialization"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **DOCUMENTS[name].model_json_schema(mode=mode),
    }


def view_document(view: View) -> ViewDocument:
    """Return what an agent may know, as a document."""
    offered = {listing.market.id for listing in view.snapshot.shown}
    account = None
    rules: dict[str, Any] = {"name": view.rules.name, "money": False}
    if view.rules.money:
        account = _account(view)
        rules = view.rules.model_dump(mode="json")

    return ViewDocument(
        at=view.snapshot.at,
        since=view.since,
        round=view.round,
        rounds=view.rounds,
        hidden=view.hidden,
        seed=view.seed,
        rules=rules,
        account=account,
        markets=tuple(_market(listing, view, listing.market.id in offered) for listing in view.snapshot),
        past=tuple(map(result_document, chain.from_iterable(view.past.values()))),
        ended=tuple(map(result_document, view.ended)),
    )


def _account(view: View) -> AccountDocument:
    """Return the agent's money and what it holds."""
    held = {listing.market.id: listing for listing in view.snapshot}
    positions = tuple(
        HeldPosition(
            market=market,
            option=YES if side == "YES" else NO,
            shares=_float(lot.shares),
            cost=_float(lot.cost),
            price=_share_price(held.get(market), side),
        )
        for (market, side), lot in view.holdings.lots.items()
    )
    return AccountDocument(cash=_float(view.mark.cash), total=_float(view.mark.total), positions=positions)


def _form_fields(form: QuestionForm) -> dict[str, Any]:
    """Return what a document says of a question's kind and answers."""
    if form.kind == YES_NO:
        return {"options": (YES, NO)}

    chances = zip(form.options, map(_float, form.odds), strict=False)
    bounds = None
    if form.low or form.high:
        bounds = RangeDocument(
            low=form.low, high=form.high, open_low=form.open_low, open_high=form.open_high, unit=form.unit
        )
    return {
        "kind": form.kind,
        "answer": question_kind(form.kind).instruction(form),
        "options": form.options,
        "odds": dict(chances) if form.odds else None,
        "range": bounds,
    }


def _market(listing: Listing, view: View, offered: bool) -> MarketDocument:
    market = listing.market
    quote = listing.quote
    figures = ("price", "bid", "ask", "last", "volume")
    prices: dict[str, Any] = dict.fromkeys(figures)
    if quote is not None:
        prices = {name: _maybe(getattr(quote, name)) for name in figures}

    return MarketDocument(
        market=market.id,
        question=market.question,
        rules=market.rules,
        category=market.category,
        event=market.event_id,
        story=market.whole_story,
        closes_at=market.closes_at,
        **_form_fields(form_of(market.form)),
        offered=offered,
        **prices,
        history=tuple(
            EarlierPrice(at=earlier.at, price=_float(earlier.price))
            for earlier in view.history.get(market.id, ())
            if earlier.price is not None
        ),
        evidence=tuple(
            EvidenceItem.model_validate(article, from_attributes=True)
            for article in view.evidence.get(market.id, ())
        ),
    )


def result_document(past: PastForecast) -> ResultDocument:
    """Return how a forecast ended, as a document."""
    paid = None
    if past.outcome is not None and not past.form:
        paid = {YES: float(past.outcome), NO: float(1 - past.outcome)}

    return ResultDocument(
        market=past.forecast.market_id,
        question=past.question,
        round=past.round,
        at=past.at,
        **_stated_fields(past),
        price=_maybe(past.price),
        paid=paid,
    )


def _stated_fields(past: PastForecast) -> dict[str, Any]:
    """Return what was forecast, and the answer to a question that isn't of yes or no."""
    if not past.form:
        chance = past.forecast.millionths
        return {"options": {YES: _float(chance), NO: _float(ONE - chance)}}

    form = form_of(past.form)
    stated = distribution_of(past.forecast.distribution)
    return {
        "options": dict(zip(form.options, map(_float, stated.chances), strict=False)),
        "range": {str(share // PERCENT): value for share, value in stated.quantiles},
        "answer": past.answer,
    }


def _share_price(listing: Listing | None, side: Side) -> float | None:
    if listing is None or listing.quote is None:
        return None

    price = listing.quote.price
    if side == "NO":
        price = mirror_price(price)
    return _maybe(price)


def _float(amount: int) -> float:
    return float(decimal(amount))


def _maybe(amount: int | None) -> float | None:
    if amount is None:
        return None
    return _float(amount)
