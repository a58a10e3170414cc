"""An episode as data: what an agent is shown, what it decides and how its forecasts ended, as JSON.

`arena outside desk --schema view`, `decision` and `result` print the JSON Schemas of these documents; each
document says
in `version` which one it follows. Probabilities, prices and dollars are plain numbers. A forecast is over
the `options` of a market; a yes/no market has the two options `yes` and `no`. The key `range` is reserved
for markets whose answer is a number.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agents.model import ConfigBlock, PastForecast, View
from agents.text import one_line
from markets.millionths import ONE, decimal
from markets.model import Listing
from portfolio.model import Side
from portfolio.quotes import mirror_price

MOST_REASON = 500
YES, NO = "yes", "no"
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
    options: tuple[str, ...]
    """The answers that there are; prices are those of the first."""
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
    seed: int
    """For whoever wants chance that can be repeated."""
    rules: dict[str, Any]
    """What bets are held to; money, prices and parts in millionths, ages in seconds."""
    account: AccountDocument
    """Its money."""
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
        if unknown := sorted(self.options.keys() - {YES, NO}):
            raise ValueError(f"the market has no option {one_line(unknown[0], 40)!r}: it has yes and no")
        if len(self.options) == 2 and abs(sum(self.options.values(), Decimal(-1))) > SLACK:
            raise ValueError("the probabilities of yes and no do not add up to 1")
        return self

    @property
    def of_yes(self) -> Decimal:
        """The probability of YES."""
        return self.options[YES] if YES in self.options else 1 - self.options[NO]


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
    forecasts: tuple[ForecastDocument, ...] = ()
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
    """The JSON Schema of a document: `view`, `decision` or `result`."""
    mode: Literal["validation", "serialization"] = "validation" if name == "decision" else "serialization"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **DOCUMENTS[name].model_json_schema(mode=mode),
    }


def view_document(view: View) -> ViewDocument:
    """What an agent may know, as a document."""
    held = {listing.market.id: listing for listing in view.snapshot}
    offered = {listing.market.id for listing in view.snapshot.shown}
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
    return ViewDocument(
        at=view.snapshot.at,
        since=view.since,
        round=view.round,
        rounds=view.rounds,
        seed=view.seed,
        rules=view.rules.model_dump(mode="json"),
        account=AccountDocument(
            cash=_float(view.mark.cash), total=_float(view.mark.total), positions=positions
        ),
        markets=tuple(_market(listing, view, listing.market.id in offered) for listing in view.snapshot),
        past=tuple(map(result_document, (one for each in view.past.values() for one in each))),
        ended=tuple(map(result_document, view.ended)),
    )


def _market(listing: Listing, view: View, offered: bool) -> MarketDocument:
    market, quote = listing.market, listing.quote
    figures = ("price", "bid", "ask", "last", "volume")
    return MarketDocument(
        market=market.id,
        question=market.question,
        rules=market.rules,
        category=market.category,
        event=market.event_id,
        story=market.whole_story,
        closes_at=market.closes_at,
        options=(YES, NO),  # every market of today is a yes/no question
        offered=offered,
        **{name: None if quote is None else _maybe(getattr(quote, name)) for name in figures},
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
    """How a forecast ended, as a document."""
    chance = past.forecast.millionths
    return ResultDocument(
        market=past.forecast.market_id,
        question=past.question,
        round=past.round,
        at=past.at,
        options={YES: _float(chance), NO: _float(ONE - chance)},
        price=_maybe(past.price),
        paid=None if past.outcome is None else {YES: float(past.outcome), NO: float(1 - past.outcome)},
    )


def _share_price(listing: Listing | None, side: Side) -> float | None:
    price = None if listing is None or listing.quote is None else listing.quote.price
    return _maybe(price if side == "YES" else mirror_price(price))


def _float(amount: int) -> float:
    return float(decimal(amount))


def _maybe(amount: int | None) -> float | None:
    return None if amount is None else _float(amount)
