"""What the page of a turn asks of the record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.model import Article
from arena.record.queries.trades import read_payouts
from arena.record.queries.turns import (
    CallAttempt,
    CallTexts,
    PlacedTurn,
    SeenMarket,
    StatedForecast,
    TurnFailure,
    TurnSummary,
    find_turn,
    read_attempts,
    read_call_texts,
    read_failures,
    read_fills,
    read_forecasts,
    read_newest_turns,
    read_rejections,
    read_seen_markets,
    read_turn_rounds,
)
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.record.write.evidence import read_evidence
from dashboard.source import RecordSource, ask, cached
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Fill, Rejection
from portfolio.money import worth

MOST = 100
"""So many turns a list has at most."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A market that a turn saw, and what it said of it; `ended` with what YES paid, None for a refund.

    `price` is what YES costs now, where the market has not ended.
    """

    seen: SeenMarket
    said: StatedForecast
    ended: bool
    payout: int | None
    price: int | None

    @property
    def gain(self) -> float | None:
        """By how much its Brier score was better than that of the price it saw; None without an outcome."""
        if self.payout not in (0, ONE) or self.said.final is None or self.seen.mid is None:
            return None
        end = self.payout / ONE
        return (self.seen.mid / ONE - end) ** 2 - (self.said.final / ONE - end) ** 2


@dataclass(frozen=True, slots=True)
class TurnPage:
    """One turn, whole but for the texts of its calls, and the rounds in which the agent's others are."""

    turn: PlacedTurn
    rounds: tuple[int, ...]
    claims: tuple[Claim, ...]
    fills: tuple[Fill, ...]
    rejections: tuple[Rejection, ...]
    attempts: tuple[CallAttempt, ...]
    failures: tuple[TurnFailure, ...]
    evidence: tuple[tuple[MarketId, Article], ...]

    @property
    def questions(self) -> Mapping[str, str]:
        """What the markets asked, by id."""
        return {claim.seen.id: claim.seen.question for claim in self.claims}


@cached
def turns(record: RecordSource, agent: str = "", status: str = "") -> tuple[TurnSummary, ...]:
    """The newest turns, one more than a list has where there are more."""
    return ask(record, lambda connection: tuple(read_newest_turns(connection, MOST + 1, agent, status)))


@cached
def turn_page(record: RecordSource, cohort: int, round: int, agent: str) -> TurnPage | None:
    """One turn; None if it is not in."""
    return ask(record, lambda connection: _read(connection, cohort, round, agent))


@cached
def texts(record: RecordSource, call: int) -> CallTexts:
    """What was asked in a call, and what was answered."""
    return ask(record, lambda connection: read_call_texts(connection, call))


def _read(connection: Connection, cohort: int, round: int, agent: str) -> TurnPage | None:
    turn = find_turn(connection, cohort, round, agent)
    if turn is None:
        return None
    seen = read_seen_markets(connection, turn)
    articles = read_evidence(connection, turn.round_id)
    return TurnPage(
        turn,
        tuple(read_turn_rounds(connection, cohort, agent)),
        tuple(_claims(connection, seen, read_forecasts(connection, turn))),
        tuple(read_fills(connection, turn)),
        tuple(read_rejections(connection, turn)),
        tuple(read_attempts(connection, turn)),
        tuple(read_failures(connection, turn)),
        tuple((market, article) for market, found in articles.items() for article in found),
    )


def _claims(
    connection: Connection, seen: Sequence[SeenMarket], said: Mapping[MarketId, StatedForecast]
) -> list[Claim]:
    ids = [market.id for market in seen]
    # Versions come in order, so the newest one stands.
    ends = {market: payout for (market, _), payout in read_payouts(connection, ids).items()}
    quotes = newest_rows(connection, QuoteRow, ids, "at", "mid", "last")
    return [
        Claim(
            market,
            said.get(market.id, StatedForecast()),
            market.id in ends,
            ends.get(market.id),
            None if market.id in ends else _price(quotes.get(market.id)),
        )
        for market in seen
    ]


def _price(quote: Any) -> int | None:
    """The mid; where there is none, the last trade."""
    if quote is None:
        return None
    price: int | None = quote.last if quote.mid is None else quote.mid
    return price


def held_until_now(fill: Fill, claim: Claim) -> int | None:
    """What a purchase would have gained by now, had it been held until now or until the market's end.

    A refund gives back what was paid. None without a price, and for a sale.
    """
    if fill.action != "buy":
        return None
    if claim.ended and claim.payout is None:
        return 0
    price = claim.payout if claim.ended else claim.price
    if price is None:
        return None
    return worth(fill.shares, price if fill.side == "YES" else ONE - price) - fill.amount
