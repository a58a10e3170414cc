"""Polymarket's prices and resolutions: the prices on a page, of a book and of the past, and the end.

A market has ended once it is closed and the oracle is done; what is disputed or unclear waits. Where the page
lacks the oracle's word, a market has ended a day after it closed, if its last prices and the winner at the
order book agree.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import PlainValidator

from markets.millionths import ONE
from markets.model import NEVER, Level, Market, MarketId, Quote, Resolution
from markets.past import PastMarket
from markets.venues.wire.fields import (
    Amount,
    Chance,
    MaybeText,
    Name,
    RejectedRecord,
    Second,
    WireRecord,
    book_gap,
    mid_price,
    offered_price,
    read_record,
    reader_with_default,
    shown_value,
    waiting,
    with_levels,
)
from markets.venues.wire.polymarket_records import (
    PREFIX,
    AnyFigure,
    AnyTime,
    Figure,
    GammaRecord,
    Pair,
    Texts,
    When,
    figure,
    prefixed,
    side_names,
    texts,
    yes_place,
)

ROUNDING = 10_000
"""The largest deviation of the prices of YES and NO from a dollar in sum."""
_TOKEN = re.compile(r"[0-9]{1,80}")


class PolymarketPrices(GammaRecord):
    """The best prices of YES on a market's page, and the prices of its outcomes."""

    id: str
    outcomes: Pair
    outcome_prices: Texts | None = None
    best_bid: Figure = None
    best_ask: Figure = None
    last_trade_price: Figure = None
    volume: AnyFigure = None
    volume_num: AnyFigure = None


class OutcomeTokens(GammaRecord):
    """What the order book calls the outcomes."""

    outcomes: Pair
    clob_token_ids: Texts


class PolymarketLevel(WireRecord):
    """A number of shares at a price."""

    price: Amount
    size: Amount


class PolymarketBook(WireRecord):
    """The book of one outcome; on the wire the worst level comes first."""

    bids: list[PolymarketLevel]
    asks: list[PolymarketLevel]


class PricePoint(WireRecord):
    """A price of the past."""

    t: Second
    p: Chance


def quote(raw: object, at: datetime) -> Quote:
    """Return the prices on a market's page. Without two sides its mid is the price of the outcome YES."""
    prices = read_record(PolymarketPrices, raw, "quote")
    bid = offered_price(prices.best_bid)
    ask = offered_price(prices.best_ask)
    last = offered_price(prices.last_trade_price)

    if yes_place(prices.outcomes) != 0:  # it is unclear whose prices these are; the outcomes' own are certain
        bid = ask = last = None

    mid = mid_price(bid, ask)
    if mid is None:
        mid = _yes_outcome_price(prices)
    if bid is None and ask is None and mid is None:
        raise RejectedRecord("quote", "no_price", "it has no price")

    return Quote(
        market_id=MarketId(prefixed(prices.id)),
        at=at,
        bid=bid,
        ask=ask,
        mid=mid,
        last=last,
        volume=prices.volume_num if prices.volume is None else prices.volume,
    )


VOLUMES = ("volume", "volumeNum")
"""The keys of a market's volume."""
FIGURES = {"volume_24h": ("volume24hr",), "liquidity": ("liquidityNum", "liquidity")}
"""The other figures on a market's page; open interest is only given for whole events."""


def _yes_outcome_price(prices: PolymarketPrices) -> int | None:
    if not prices.outcome_prices:
        return None

    try:
        outcome_prices = list(map(figure, prices.outcome_prices))
        yes_price = outcome_prices[yes_place(prices.outcomes)]
    except (ValueError, IndexError):
        raise RejectedRecord("quote", "bad_price", "the prices of its outcomes make no sense") from None

    if len(outcome_prices) != 2 or abs(sum(outcome_prices) - ONE) > ROUNDING or yes_price > ONE:
        raise RejectedRecord(
            "quote",
            "bad_price",
            f"the prices of its outcomes come to {sum(outcome_prices) / ONE:g} dollars",
        )
    return yes_price


def yes_token(raw: object) -> str:
    """Return the order book's id of a YES share, which looks like a number but is a name."""
    tokens = read_record(OutcomeTokens, raw, "quote")
    try:
        token = tokens.clob_token_ids[yes_place(tokens.outcomes)]
    except (ValueError, IndexError):
        raise RejectedRecord("quote", "no_token", "it doesn't say which book is that of YES") from None

    if not _TOKEN.fullmatch(token):
        raise RejectedRecord("quote", "no_token", f"{shown_value(token)} is not a valid book id")
    return token


def quote_with_book(page: Quote, raw: object) -> tuple[Quote, RejectedRecord | None]:
    """Return a quote with its book, as far as that makes sense, and what to report about it.

    The mid is the book's. Where the page contradicts it, the page's mid beside the book's prices
    stops orders; where nobody offers anything any more, no price of the page's stands.
    """
    try:
        sent = read_record(PolymarketBook, raw, "quote")
        bids = [Level(level.price, level.size) for level in sent.bids]
        asks = [Level(level.price, level.size) for level in sent.asks]
        book = with_levels(page, bids, asks)
    except RejectedRecord as why:
        return page, why

    if not book.bids and not book.asks:
        return replace(book, mid=page.mid), RejectedRecord("quote", "empty_book", "its book is empty")

    gap = book_gap(page, book)
    if book.mid is None or gap is not None:
        book = replace(book, mid=page.mid)
    return book, gap


def past_quote(raw: object, name: str) -> Quote:
    """Return a past price: something like a mid, without sides."""
    point = read_record(PricePoint, raw, "quote")
    return Quote(MarketId(f"{PREFIX}{name}"), point.t, bid=None, ask=None, mid=point.p)


NO_WORD, BOOK_ALONE = "polymarket: no word of the oracle", "polymarket: order book alone"
"""The source of an end that the order book has to confirm, and of the same once it has."""
BOOK_COUNTS_AFTER = timedelta(days=1)
"""How long after its close a market waits for the oracle's word."""
FINAL = frozenset({"resolved", "settled"})
DISPUTED = frozenset({"disputed", "challenged"})
HALF = ONE // 2
Statuses = Annotated[tuple[str, ...], PlainValidator(reader_with_default(texts, ()))]
"""What the oracle has said of a market, one word after another."""
_PAYS = {(Decimal(1), Decimal(0)): ONE, (Decimal(0), Decimal(1)): 0, (Decimal("0.5"), Decimal("0.5")): HALF}
"""What a YES share pays by the last prices of YES and NO, which must match exactly."""


class PolymarketEnding(GammaRecord):
    """How far a market is on its way to being paid; the newer markets keep the oracle's word elsewhere."""

    id: Name
    closed: bool
    outcomes: Pair
    outcome_prices: Texts | None = None
    uma_resolution_status: MaybeText = ""
    resolution_status: MaybeText = ""
    uma_resolution_statuses: Statuses = ()
    closed_time: When = None
    uma_end_date: When = None
    updated_at: AnyTime = None

    @property
    def closed_at(self) -> datetime | None:
        """Return when it closed or, if that isn't told, when the oracle was done."""
        return self.closed_time or self.uma_end_date

    def closed_since(self, at: datetime, seen_closed_at: datetime) -> datetime:
        """Return since when this closed market has been closed for certain, as far as is known at `at`.

        A page that doesn't say when it closed, or names a time to come, was closed when it was last changed.
        """
        if self.closed_at is not None and self.closed_at <= at:
            return self.closed_at
        if self.updated_at is not None:
            return min(seen_closed_at, self.updated_at)
        return seen_closed_at


class PolymarketToken(WireRecord):
    """An outcome at the order book."""

    outcome: str
    winner: bool | None = None


class PolymarketBookPage(WireRecord):
    """A market's page at the order book: it knows a winner, a half each, or nothing."""

    closed: bool
    is_50_50_outcome: bool | None = None
    tokens: list[PolymarketToken]


class PolymarketPast(GammaRecord):
    """When a market could be traded no more, and how much was traded."""

    closed: bool
    closed_time: When = None
    uma_end_date: When = None
    end_date: When = None
    volume_num: AnyFigure = None
    volume: AnyFigure = None

    @property
    def stopped(self) -> datetime | None:
        """Return when it closed: where nothing says, when the oracle was done, or its nominal end."""
        return self.closed_time or self.uma_end_date or self.end_date


NEEDED = (
    "id", "conditionId", "closed", "outcomes", "outcomePrices", "umaResolutionStatus", "resolutionStatus",
    "umaResolutionStatuses", "closedTime", "umaEndDate", "updatedAt", "clobTokenIds",
)  # fmt: skip
"""The fields of a record that its resolution and its book depend on."""


def past_market(raw: object, market: Market) -> PastMarket | str:
    """Return a market of the past as a list shows it, with its nominal close, or why it is left out."""
    past = read_record(PolymarketPast, raw, "market")
    if past.closed and past.stopped is None:
        return "no end time"

    assert isinstance(raw, dict)
    volume = (past.volume if past.volume_num is None else past.volume_num) or 0
    needed_fields = {name: raw.get(name) for name in NEEDED}
    market_with_nominal_close = replace(market, closes_at=past.end_date or NEVER)

    return PastMarket(
        market_with_nominal_close, volume, past.stopped if past.closed else None, raw=needed_fields
    )


def resolution(raw: object, at: datetime, seen_closed_at: datetime | None = None) -> Resolution | None:
    """Return what a market paid, once that is final; None while nothing is amiss and it isn't.

    Where the page lacks the oracle's word the source is `NO_WORD`: the order book has to confirm that end.
    `seen_closed_at` is when it was first seen closed: what counts for a page that says nothing better.
    """
    ending = read_record(PolymarketEnding, raw, "resolution")
    status_words = {
        word.casefold() for word in (ending.uma_resolution_status, ending.resolution_status) if word
    }
    status = " and ".join(sorted(status_words))
    if status_words & DISPUTED:
        raise waiting("disputed", f"its result is {shown_value(status)}")
    if not ending.closed:
        return None
    if not status_words:
        return _end_without_word(ending, at, seen_closed_at or at)
    if not status_words <= FINAL:
        raise waiting("not_final", f"it is closed, but its result is {shown_value(status)}")

    return Resolution(
        market_id=MarketId(f"{PREFIX}{ending.id}"),
        version=1,
        known_at=min(ending.closed_at or at, at),
        payout=_yes_payout(ending),
        source=f"polymarket: {status}",
    )


def _end_without_word(ending: PolymarketEnding, at: datetime, seen_closed_at: datetime) -> Resolution:
    """Return what a closed market of which the oracle has said nothing paid by its last prices."""
    if DISPUTED.intersection(map(str.casefold, ending.uma_resolution_statuses[-1:])):
        raise waiting("disputed", "its result was disputed last")

    counts_from = ending.closed_since(at, seen_closed_at) + BOOK_COUNTS_AFTER
    if at < counts_from:
        raise _no_status(f"until {counts_from:%Y-%m-%d %H:%M} UTC, when the order book's winner counts")

    try:
        payout = _yes_payout(ending)
    except RejectedRecord as error:
        if error.code != "unclear":
            raise
        raise _no_status(f"since {error.reason.removesuffix(': it waits')}") from None

    market_id = MarketId(f"{PREFIX}{ending.id}")
    return Resolution(market_id, version=1, known_at=counts_from, payout=payout, source=NO_WORD)


def _no_status(why: str) -> RejectedRecord:
    """Return why a closed market waits, of which the oracle has said nothing."""
    reason = f"it is closed, but the oracle has not reported: it waits {why}"
    return RejectedRecord("resolution", "no_status", reason)


def _yes_payout(ending: PolymarketEnding) -> int:
    """Return what a YES share paid by the last prices of the outcomes."""
    try:
        yes_index = yes_place(ending.outcomes)
    except ValueError as error:
        raise waiting("bad_outcomes", str(error)) from None

    sent_prices = ending.outcome_prices or ()
    try:
        yes_price = Decimal(sent_prices[yes_index])
        no_price = Decimal(sent_prices[1 - yes_index])
        payout = _PAYS.get((yes_price, no_price)) if len(sent_prices) == 2 else None
    except (IndexError, InvalidOperation):
        payout = None

    if payout is None:
        prices = ", ".join(sent_prices) or "missing"
        raise waiting("unclear", f"its last prices are {shown_value(prices)}")
    return payout


def book_payout(raw: object, outcomes: tuple[str, str]) -> int | None:
    """Return what a YES share paid by the order book's page; None while it names no result."""
    book_page = read_record(PolymarketBookPage, raw, "resolution")
    winning_outcomes = [token.outcome.strip().casefold() for token in book_page.tokens if token.winner]
    if len(winning_outcomes) + bool(book_page.is_50_50_outcome) > 1:
        raise waiting("contradiction", "the order book has more than one result of it")
    if not book_page.closed or not (winning_outcomes or book_page.is_50_50_outcome):
        return None
    if book_page.is_50_50_outcome:
        return HALF

    names = side_names(outcomes)
    if winning_outcomes[0] not in names:
        words = f"at the order book {shown_value(winning_outcomes[0])} won, which is none of its outcomes"
        raise waiting("bad_outcomes", words)
    return ONE if names.index(winning_outcomes[0]) == yes_place(outcomes) else 0


def confirm_resolution(end: Resolution, raw: object, book_page: object | None) -> Resolution:
    """Return the end of a market, with the order book as its source where its page says the same.

    `book_page` is the market's page at the order book, None where there is none. An end without the oracle's
    word needs the order book's; any other stands if the order book has no word on it.
    """
    outcomes = read_record(PolymarketEnding, raw, "resolution").outcomes
    payout = None if book_page is None else book_payout(book_page, outcomes)

    if payout is None:
        if end.source == NO_WORD:
            raise _no_status("since the order book names no winner")
        return end

    if payout != end.payout:
        words = f"its page pays {(end.payout or 0) / ONE:g} a share, the order book {payout / ONE:g}"
        raise waiting("contradiction", words)

    source = BOOK_ALONE
    if end.source != NO_WORD:
        source = f"{end.source}, per the order book"
    return replace(end, source=source)
