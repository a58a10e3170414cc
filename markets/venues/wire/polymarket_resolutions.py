"""How Polymarket's markets end: closed, and the oracle is done; what is disputed or unclear waits."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal, InvalidOperation

from markets.millionths import ONE
from markets.model import NEVER, Market, MarketId, Resolution
from markets.past import PastMarket
from markets.venues.wire.fields import MaybeText, Name, RejectedRecord, WireRecord, read, shown_value
from markets.venues.wire.polymarket_records import (
    PREFIX,
    Figure,
    GammaRecord,
    Pair,
    Texts,
    When,
    side_names,
    yes_place,
)

FINAL = frozenset({"resolved", "settled"})
DISPUTED = frozenset({"disputed", "challenged"})
HALF = ONE // 2
_PAYS = {(Decimal(1), Decimal(0)): ONE, (Decimal(0), Decimal(1)): 0, (Decimal("0.5"), Decimal("0.5")): HALF}
"""What a YES share pays by the last prices of YES and NO. Nothing near them will do."""


class PolymarketEnding(GammaRecord):
    """How far a market is on its way to being paid; the newer markets keep the oracle's word elsewhere."""

    id: Name
    closed: bool
    outcomes: Pair
    outcome_prices: Texts | None = None
    uma_resolution_status: MaybeText = ""
    resolution_status: MaybeText = ""
    closed_time: When = None
    uma_end_date: When = None


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
    volume_num: Figure = None
    volume: Figure = None

    @property
    def stopped(self) -> datetime | None:
        """When it closed: where nobody says, when the oracle was done, or its nominal end."""
        return self.closed_time or self.uma_end_date or self.end_date


NEEDED = (
    "id", "conditionId", "closed", "outcomes", "outcomePrices", "umaResolutionStatus", "resolutionStatus",
    "closedTime", "umaEndDate", "clobTokenIds",
)  # fmt: skip
"""What of a record says how a market ended, and which book is its own."""


def past_market(raw: object, market: Market) -> PastMarket | str:
    """A market of the past as a list shows it, its close the nominal one."""
    past = read(PolymarketPast, raw, "market")
    if past.closed and past.stopped is None:
        return "no end time"
    assert isinstance(raw, dict)
    volume = (past.volume if past.volume_num is None else past.volume_num) or 0
    needed = {name: raw.get(name) for name in NEEDED}
    nominal = replace(market, closes_at=past.end_date or NEVER)
    return PastMarket(nominal, volume, past.stopped if past.closed else None, raw=needed)


def resolution(raw: object, at: datetime) -> Resolution | None:
    """What a market paid, once that is final; None while nothing is amiss and it isn't."""
    ending = read(PolymarketEnding, raw, "resolution")
    words = {word.casefold() for word in (ending.uma_resolution_status, ending.resolution_status) if word}
    status = " and ".join(sorted(words))
    if words & DISPUTED:
        raise RejectedRecord("resolution", "disputed", f"its result is {shown_value(status)}: it waits")
    if not ending.closed:
        return None
    if not words:
        raise RejectedRecord(
            "resolution", "no_status", "it is closed, but the oracle has not reported: it waits"
        )
    if not words <= FINAL:
        raise RejectedRecord(
            "resolution", "not_final", f"it is closed, but its result is {shown_value(status)}: it waits"
        )
    return Resolution(
        market_id=MarketId(f"{PREFIX}{ending.id}"),
        version=1,
        known_at=min(ending.closed_time or ending.uma_end_date or at, at),
        payout=_payout(ending),
        source=f"polymarket: {status}",
    )


def _payout(ending: PolymarketEnding) -> int:
    """What a YES share paid by the last prices of the outcomes."""
    try:
        place = yes_place(ending.outcomes)
    except ValueError as error:
        raise RejectedRecord("resolution", "bad_outcomes", f"{error}: it waits") from None
    sent = ending.outcome_prices or ()
    try:
        yes, no = Decimal(sent[place]), Decimal(sent[1 - place])
        payout = _PAYS.get((yes, no)) if len(sent) == 2 else None
    except (IndexError, InvalidOperation):
        payout = None
    if payout is None:
        prices = ", ".join(sent) or "missing"
        raise RejectedRecord("resolution", "unclear", f"its last prices are {shown_value(prices)}: it waits")
    return payout


def book_payout(raw: object, outcomes: tuple[str, str]) -> int | None:
    """What a YES share of a market with these outcomes paid by the order book's page; None without a word."""
    end = read(PolymarketBookPage, raw, "resolution")
    won = [token.outcome.strip().casefold() for token in end.tokens if token.winner]
    if len(won) + bool(end.is_50_50_outcome) > 1:
        raise RejectedRecord(
            "resolution", "contradiction", "the order book has more than one result of it: it waits"
        )
    if not end.closed or not (won or end.is_50_50_outcome):
        return None
    if end.is_50_50_outcome:
        return HALF
    names = side_names(outcomes)
    if won[0] not in names:
        words = f"at the order book {shown_value(won[0])} won, which is none of its outcomes: it waits"
        raise RejectedRecord("resolution", "bad_outcomes", words)
    return ONE if names.index(won[0]) == yes_place(outcomes) else 0


def confirm_resolution(end: Resolution, raw: object, book_page: object) -> Resolution:
    """The same, if the order book's page of the market says so too or has no word on it."""
    payout = book_payout(book_page, read(PolymarketEnding, raw, "resolution").outcomes)
    if payout is not None and payout != end.payout:
        words = (
            f"its page pays {(end.payout or 0) / ONE:g} a share, the order book {payout / ONE:g}: it waits"
        )
        raise RejectedRecord("resolution", "contradiction", words)
    return end if payout is None else replace(end, source=f"{end.source}, per the order book")
