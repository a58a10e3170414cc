"""The decisions of agents: the newest in a list, and each of them whole, down to its words."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st
from markupsafe import Markup

from agents.model import Article, Message
from arena.errors import story_count
from arena.record.queries.accounts import read_payouts
from arena.record.queries.cohorts import IS_TRADING, PLACE
from arena.record.queries.decisions import read_fills, read_rejections
from arena.record.schema.codec import orders_of
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.dialects import BigInt
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import (
    Condition,
    case,
    col,
    func,
    joined,
    read_nouns,
    select,
    select_noun,
    sql_cast,
    total,
)
from arena.record.schema.typed import count as count_of
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.record.write.evidence import read_evidence
from dashboard import html
from dashboard.pages import Way, choice, listing, long_text, put, section, step, subheading, way
from dashboard.record import RecordSource, kept, quote_price, season
from dashboard.words import (
    cents,
    code,
    count,
    dollars,
    flat,
    gained,
    in_dollars,
    moment,
    money,
    outcome,
    percent,
    plain,
    usd,
    written,
)
from markets.millionths import ONE
from markets.model import MarketId
from markets.venue import venue_page
from portfolio.model import Bet, Fill, Rejection, Sale
from portfolio.money import worth

MOST = 100
"""So many turns a list has at most."""


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn by its place, how it ended, and the orders of it as JSON."""

    id: int
    round_id: int
    snapshot_id: int
    entrant_id: int
    cohort: int
    round: int
    agent: str
    kind: str
    at: datetime
    status: str
    note: str
    cash: int
    code_version: str
    orders: str
    repaired: str

    @property
    def bets(self) -> tuple[Bet, ...]:
        """What was to be bought."""
        return orders_of(self.orders)[0]

    @property
    def sales(self) -> tuple[Sale, ...]:
        """What was to be sold."""
        return orders_of(self.orders)[1]


PLACED_TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)


def find_turn(connection: Connection, cohort: int, round_number: int, agent: str) -> PlacedTurn | None:
    """Return an agent's turn in a round of a cohort, if it is in."""
    query = (
        select_noun(PlacedTurn, TurnRow, RoundRow, **PLACE)
        .select_from(PLACED_TURNS)
        .where(*_of_agent(cohort, agent), RoundRow.number == round_number)
    )
    turns = read_nouns(PlacedTurn, connection.execute(query))
    return turns[0] if turns else None


def _of_agent(cohort: int, agent: str) -> tuple[Condition, ...]:
    return (CohortRow.number == cohort, EntrantRow.name == agent, EntrantRow.cohort_id == CohortRow.id)


def _read_turn_rounds(connection: Connection, cohort: int, agent: str) -> list[int]:
    """Return the rounds of a cohort in which an agent's turn is in."""
    query = select(RoundRow.number).select_from(PLACED_TURNS).where(*_of_agent(cohort, agent))
    return list(connection.scalars(query.order_by(RoundRow.number)))


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """That a turn failed, and why; `at` is when, where that is known."""

    number: int
    note: str
    at: datetime | None


def _read_failures(connection: Connection, turn: PlacedTurn) -> list[TurnFailure]:
    """Return each time that a turn failed, the first one first."""
    query = (
        select_noun(TurnFailure, AttemptRow)
        .where(AttemptRow.round_id == turn.round_id, AttemptRow.entrant_id == turn.entrant_id)
        .order_by(AttemptRow.number)
    )
    return read_nouns(TurnFailure, connection.execute(query))


@dataclass(frozen=True, slots=True)
class CallAttempt:
    """One call of a turn but for its texts; money in millionths of a dollar, None where it is unknown."""

    id: int
    stage: str
    sample: int
    attempt: int
    finish: str
    model: str
    fingerprint: str
    rung: str
    tokens_in: int
    host: str
    tokens_reasoning: int
    tokens_out: int
    tokens_cached: int
    tokens_cache_write: int
    cost: int | None
    worst: int | None
    latency_ms: int
    status: int | None
    error_code: str | None
    error_message: str | None
    error_retry: int
    made_at: datetime


def read_attempts(connection: Connection, turn: PlacedTurn) -> list[CallAttempt]:
    """Return every call of a turn: first those before the prices were shown, each stage sample by sample."""
    query = (
        select_noun(CallAttempt, CallRow)
        .where(CallRow.round_id == turn.round_id, CallRow.entrant_id == turn.entrant_id)
        .order_by(CallRow.stage, CallRow.sample, CallRow.attempt)
    )
    return read_nouns(CallAttempt, connection.execute(query))


@dataclass(frozen=True, slots=True)
class CallTexts:
    """What was asked in a call, what was thought and answered, and the addresses it names as sources."""

    messages: tuple[Message, ...]
    reply: str | None
    thinking: str
    citations: tuple[str, ...]


def read_call_texts(connection: Connection, call_id: int) -> CallTexts:
    """Return the texts of a call."""
    query = select(CallRow.messages, CallRow.reply, CallRow.thinking, CallRow.citations)
    messages, reply, thinking, citations = connection.execute(query.where(CallRow.id == call_id)).one()
    asked = tuple(Message(**message) for message in json.loads(messages))
    return CallTexts(asked, reply, thinking, tuple(json.loads(citations)))


@dataclass(frozen=True, slots=True)
class SeenMarket:
    """A market as a turn saw it: its page then, and the price if it had one."""

    id: MarketId
    question: str
    event_id: str
    shown: bool
    mid: int | None
    slug: str
    event_slug: str
    story: str


def read_seen_markets(connection: Connection, turn: PlacedTurn) -> list[SeenMarket]:
    """Return the markets that a turn saw: what was on offer, then what else was held."""
    shown = SnapshotItemRow.shown == 1
    query = (
        select_noun(SeenMarket, MarketVersionRow, QuoteRow, id=SnapshotItemRow.market_id, shown=shown)
        .select_from(joined(SnapshotItemRow, MarketVersionRow).outerjoin(QuoteRow))
        .where(SnapshotItemRow.snapshot_id == turn.snapshot_id)
        .order_by(SnapshotItemRow.position)
    )
    markets = read_nouns(SeenMarket, connection.execute(query))
    return sorted(markets, key=lambda market: not market.shown)


@dataclass(frozen=True, slots=True)
class StatedForecast:
    """What an agent said of a market: before it saw a price, if it was asked, and in the end."""

    final: int | None = None
    blind: int | None = None
    reason: str = ""


def read_forecasts(connection: Connection, turn: PlacedTurn) -> dict[MarketId, StatedForecast]:
    """Return what a turn said of each market."""
    query = select(ForecastRow.market_id, ForecastRow.stage, ForecastRow.probability, ForecastRow.reason)
    stages: dict[MarketId, dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(query.where(ForecastRow.turn_id == turn.id)):
        stages[MarketId(row.market_id)][row.stage] = row

    forecasts = {}
    for market, rows in stages.items():
        final = rows.get("final")
        blind = rows.get("blind")
        forecasts[market] = StatedForecast(
            final=final.probability if final else None,
            blind=blind.probability if blind else None,
            reason=(final or rows["blind"]).reason,
        )
    return forecasts


FIRST_ROUNDS = 8
"""So many rounds are looked through at first; twice as many each time that these are not enough."""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A turn in a list: what it bought, sold and was refused, and what its calls cost.

    `cost` are millionths of a dollar, None without a call and where the cost of one is `unknown`.
    """

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    bought: int
    sold: int
    rejected: int
    spent: int
    calls: int
    unknown: int
    cost: int | None


def _sum_of(figure: Any, *where: Condition) -> Any:
    return select(figure).where(*where).correlate(TurnRow.__table__).scalar_subquery()


FILLS_OF_TURN = FillRow.turn_id == TurnRow.id
BOUGHT = (FILLS_OF_TURN, FillRow.action == "buy")
CALLS_OF_TURN = (CallRow.round_id == TurnRow.round_id, CallRow.entrant_id == TurnRow.entrant_id)
KNOWN_COST = case((func.count() == count_of(CallRow.cost), sql_cast(func.sum(CallRow.cost), BigInt)))
SUMMARY_SUMS = {
    "bought": _sum_of(func.count(), *BOUGHT),
    "sold": _sum_of(func.count(), FILLS_OF_TURN, FillRow.action == "sell"),
    "rejected": _sum_of(func.count(), RejectionRow.turn_id == TurnRow.id),
    "spent": _sum_of(total(FillRow.amount), *BOUGHT),
    "calls": _sum_of(func.count(), *CALLS_OF_TURN),
    "unknown": _sum_of(func.count() - count_of(CallRow.cost), *CALLS_OF_TURN),
    "cost": _sum_of(KNOWN_COST, *CALLS_OF_TURN),
}
TURN_SUMMARIES = (
    select_noun(TurnSummary, TurnRow, **PLACE, **SUMMARY_SUMS)
    .select_from(PLACED_TURNS)
    .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc(), EntrantRow.position)
)
NEWEST_ROUNDS = (
    select(RoundRow.id)
    .join(CohortRow, RoundRow.cohort_id == CohortRow.id)
    .where(IS_TRADING)
    .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc())
)


def read_newest_turns(
    connection: Connection, most: int, agent: str = "", status: str = ""
) -> list[TurnSummary]:
    """Return the newest turns, of one agent or with one status if these are given; no more than `most`."""
    query = TURN_SUMMARIES
    if agent:
        query = query.where(EntrantRow.name == agent)
    if status:
        query = query.where(TurnRow.status == status)

    rounds = list(connection.scalars(NEWEST_ROUNDS))
    turns = list[TurnSummary]()
    size = FIRST_ROUNDS
    while rounds and len(turns) < most:
        some = query.where(col(TurnRow.round_id).in_(rounds[:size])).limit(most - len(turns))
        turns += read_nouns(TurnSummary, connection.execute(some))
        rounds = rounds[size:]
        size *= 2
    return turns


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


def read_turn(connection: Connection, cohort: int, round_number: int, agent: str) -> TurnPage | None:
    """One turn; None if it is not in."""
    turn = find_turn(connection, cohort, round_number, agent)
    if turn is None:
        return None
    seen = read_seen_markets(connection, turn)
    articles = read_evidence(connection, turn.round_id)
    return TurnPage(
        turn,
        tuple(_read_turn_rounds(connection, cohort, agent)),
        tuple(_claims(connection, seen, read_forecasts(connection, turn))),
        tuple(read_fills(connection, [turn.id])[turn.id]),
        tuple(read_rejections(connection, [turn.id])[turn.id]),
        tuple(read_attempts(connection, turn)),
        tuple(_read_failures(connection, turn)),
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
            None if market.id in ends else quote_price(quotes.get(market.id)),
        )
        for market in seen
    ]


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


TITLE = "Turn"
NEEDS_A_COHORT = True
HEADED = True
ORDER = None


def show(record: RecordSource) -> None:
    """The turn that the address names, or the list of the newest."""
    cohort, round_text, agent = (st.query_params.get(key, "") for key in ("cohort", "round", "agent"))
    if not (cohort and round_text):
        st.title("Turns", anchor=False)
        show_list(record)
        return
    page = kept(record, read_turn, _number(cohort), _number(round_text), agent)
    if page is None:
        st.title(TITLE, anchor=False)
        whose = f" of {code(agent[:200])}" if agent else ""
        said = (
            f"The record holds no turn{whose} in round {code(round_text[:20])} "
            f"of cohort {code(cohort[:20])}, or it is not in yet."
        )
        st.info(said, icon=":material/search_off:")
        step("All turns", "turn")
        return
    show_turn(record, page)


def _number(text: str) -> int:
    """The number in an address; 0, which nothing has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


ANY = "any"
MEANT = {
    "played": "Played: an answer came that could be used.",
    "partly": "Partly: less than was asked for could be used; the rest counts as skips.",
    "malformed": "Malformed: the answer could not be used, so the turn is a hold and counts as skips.",
    "declined": "Declined: the model refused to answer, so the turn is a hold and counts as skips.",
    "failed": "Failed: no answer was to be had; it counts as unanswered.",
    "late": "Late: it was not played, or answered, within six hours of its prices; it counts as unanswered.",
    "out": "Out: the agent can place no bet and holds nothing, so it was not asked.",
    "waiting": "Waiting: the key of its model was not there; it enters once it is.",
}
STATUSES = {ANY: "All"} | {status: status.capitalize() for status in MEANT}

LISTED = {
    "agent": html.words("Agent", "Whose turn it was."),
    "at": html.time("Decided", "The round's decision time, in UTC."),
    "status": html.words("Status", " ".join(MEANT.values())),
    "bought": html.number("Bets", "localized", "Purchases that were done, in full or in part."),
    "spent": html.number("Spent", "dollar", "What was paid for them, fees included."),
    "sold": html.number("Sales", "localized", "Sales that were done, in full or in part."),
    "rejected": html.number("Rejected", "localized", "Orders and items of the answer that were refused."),
    "calls": html.number("Calls", "localized", "Attempts to get an answer from a model."),
    "cost": html.number("Cost", "dollar", "What its calls cost; a dash without a call or a known price."),
    "cohort": html.number("Cohort", "%d", "The cohort that it was played in."),
    "round": html.number("Round", "%d", "The round of that cohort."),
}


def show_list(record: RecordSource) -> None:
    """The controls, and the turns that are so."""
    agents = season(record).agents
    named = {ANY: "All agents"} | {name: name for name, _ in agents}
    agent = choice("Agent", "agent", named, ANY, "list")
    status = choice("Status", "status", STATUSES, ANY)
    whose, how = ("" if asked == ANY else asked for asked in (agent, status))
    found = kept(record, read_newest_turns, MOST + 1, whose, how)
    if not found:
        st.info(_none_listed(agent, status), icon=":material/search_off:")
        return
    shown = found[:MOST]
    more = f"The newest {MOST}" if len(found) > MOST else count(len(found), "turn")
    st.caption(f"{more}, newest first.")
    table = html.by_column([_listed(turn) for turn in shown], LISTED)
    ways = [way("turn", cohort=turn.cohort, round=turn.round, agent=turn.agent) for turn in shown]
    listing(table, "Turns: one row each", LISTED, ways)


def _none_listed(agent: str, status: str) -> str:
    if agent == status == ANY:
        return "No turn is in yet. `arena run --round` plays the next round, and this page shows it then."
    return "No turn matches. Choose another agent or status."


def _listed(turn: TurnSummary) -> dict[str, object]:
    return {
        "at": turn.at,
        "agent": turn.agent,
        "status": turn.status,
        "bought": turn.bought,
        "spent": money(turn.spent),
        "sold": turn.sold,
        "rejected": turn.rejected,
        "calls": turn.calls,
        "cost": money(turn.cost),
        "cohort": turn.cohort,
        "round": turn.round,
    }


def show_turn(record: RecordSource, page: TurnPage) -> None:
    """The page of one turn, from how it ended down to the words of every call."""
    turn = page.turn
    _ways(page)
    st.title(plain(summary(page)), anchor=False)
    where = f"Decided {moment(turn.at)}, in round {turn.round} of cohort {turn.cohort}"
    st.caption(f"{where} · kind {code(turn.kind)} · version {code(turn.code_version)}")
    if turn.status not in ("played", "partly"):
        st.caption(MEANT[turn.status])
    put(html.tiles(figures(page, ", simulated" if season(record).is_simulated else "")), "tiles")
    if turn.note and turn.note not in [failure.note for failure in page.failures]:
        st.markdown(f"**Note:** {plain(turn.note, most=5_000)}")
    for failure in page.failures:
        when = f", {moment(failure.at)}" if failure.at else ""
        st.markdown(f"**Failure {failure.number}{when}:** {plain(failure.note, most=5_000)}")
    if repaired := json.loads(turn.repaired):
        st.markdown(f"**Read by repairs:** {plain(', '.join(repaired))}")
    put(reasons(page), "reasons")
    show_orders(page)
    show_rejections(page)
    show_forecasts(page)
    show_fills(page)
    show_calls(record, page)
    show_evidence(page)


def summary(page: TurnPage) -> str:
    """What the turn did, in a line."""
    turn, bought = page.turn, [fill for fill in page.fills if fill.action == "buy"]
    sold, did = len(page.fills) - len(bought), list[str]()
    if bought:
        spent = in_dollars(round(sum(fill.amount for fill in bought) / ONE)).removesuffix(".00")
        did.append(f"bet {spent} on {count(len({fill.market_id for fill in bought}), 'market')}")
    if sold:
        did.append(f"sold {sold:,}")
    if turn.status not in ("played", "partly"):
        did = [turn.status]
    return f"{turn.agent}, round {turn.round}: {', '.join(did) or 'traded nothing'}"


def reasons(page: TurnPage) -> Markup:
    """Why it said and did what it did, in its own words: what it traded first, then what is furthest off."""
    traded = {fill.market_id: fill for fill in page.fills}
    told = [claim for claim in page.claims if claim.said.reason and claim.said.final is not None]
    told.sort(key=lambda one: (-traded[one.seen.id].amount if one.seen.id in traded else 1, -_apart(one)))
    found = [_quotation(claim, traded.get(claim.seen.id)) for claim in told]
    return html.reasons(found) if found else Markup("")


def _apart(claim: Claim) -> int:
    """How far what it stated is from the price that it saw."""
    final, mid = claim.said.final, claim.seen.mid
    return 0 if final is None or mid is None else abs(final - mid)


def _quotation(claim: Claim, fill: Fill | None) -> html.Quotation:
    price = "" if claim.seen.mid is None else f", price {cents(claim.seen.mid)}"
    did = f"says {(claim.said.final or 0) / ONE:.0%}{price}"
    if fill is not None:
        did += f"; {'bought' if fill.action == 'buy' else 'sold'} {fill.side} for {dollars(fill.amount)}"
    ended = outcome(claim.ended, claim.payout)
    where = f"result: {ended}" if ended else "not resolved yet"
    href = way("market", market=claim.seen.id).href
    return html.Quotation(flat(claim.seen.question), did, flat(claim.said.reason), where, href)


def _ways(page: TurnPage) -> None:
    """To the turns before and after, to the agent and to the cohort."""
    turn, place = page.turn, page.rounds.index(page.turn.round)
    around = {"← Round before": page.rounds[:place][-1:], "Round after →": page.rounds[place + 1 :][:1]}
    ways = [
        (label, way("turn", cohort=turn.cohort, round=round_number, agent=turn.agent))
        for label, rounds in around.items()
        for round_number in rounds
    ]
    ways += [("Its agent", way("agent", agent=turn.agent)), ("Its cohort", way("cohort", cohort=turn.cohort))]
    put(
        html.pills([(label, to.href, False) for label, to in [*ways, ("All turns", way("turn"))]], "Go to"),
        "ways",
    )


def figures(page: TurnPage, simulated: str) -> list[html.Tile]:
    """How it ended, what it stated and traded, and what that cost."""
    turn = page.turn
    bought = [fill for fill in page.fills if fill.action == "buy"]
    said = sum(claim.said.final is not None for claim in page.claims)
    seen = [claim.seen for claim in page.claims if claim.seen.shown]
    shown, stories = len(seen), len({each.story or each.event_id for each in seen})
    sold, refused = len(page.fills) - len(bought), len(page.rejections)
    return [
        html.Tile(turn.status, "status", MEANT.get(turn.status, "")),
        html.Tile(f"{said:,} of {shown:,}", f"markets forecast, {story_count(stories)}"),
        html.Tile(
            dollars(sum(fill.amount for fill in bought)),
            f"bet, of {dollars(turn.cash)} in cash",
            f"{count(len(bought), 'purchase')}, fees included; caps are measured by the cash before.",
        ),
        html.Tile(
            f"{sold:,} sold, {refused:,} rejected",
            "positions and orders",
            "Sales of positions, in full or in part; orders and items of the answer that were refused.",
        ),
        html.Tile(
            cost_of(page.attempts),
            f"cost of {count(len(page.attempts), 'call')}{simulated if page.attempts else ''}",
            "In dollars.",
        ),
    ]


ORDERS = {
    "question": html.words("Question", "As the market's page read then."),
    "wish": html.words("Order", "What it asked for."),
    "limit": html.number("Limit ¢", "%.1f", "The worst price of a share that it would take."),
    "came": html.words("Result", "What was filled, or why it was refused.", long=True),
    "reason": html.words("Reason", "In its own words.", long=True),
}
FILLS = {
    "question": html.words("Question", "As the market's page read then."),
    "did": html.words("Did", "What was bought or sold."),
    "level": html.number("Level", "%d", "Prices are taken one after the other, the best first."),
    "price": html.number("Price ¢", "%.2f", "Of a share of that side."),
    "shares": html.number("Shares", "%.2f", "So many at that price."),
    "amount": html.number("Dollars", "dollar", "The cash that moved at that price, fee included."),
    "fee": html.number("Fee", "dollar", "The venue's fee in it."),
    "gain": html.number(
        "Gain if held",
        "gain",
        "Of the whole purchase, had it been held until now or its market's end, at the newest price.",
    ),
    "stopped": html.words("Why it stopped", "Why the rest of the order was not filled."),
}


def show_orders(page: TurnPage) -> None:
    """Every bet and sale that was ordered, with what was filled of it."""
    wishes: list[Bet | Sale] = [*page.turn.sales, *page.turn.bets]
    if not section("Orders", wishes, "It placed no order."):
        return
    table = html.by_column([_order(page, wish) for wish in wishes], ORDERS)
    listing(table, "Orders: one row each", ORDERS, [_way(page, wish.market_id) for wish in wishes])


def _way(page: TurnPage, market: str) -> Way | None:
    return way("market", market=market) if market in page.questions else None


def _order(page: TurnPage, wish: Bet | Sale) -> dict[str, object]:
    return {
        "question": page.questions.get(wish.market_id, wish.market_id),
        "wish": _size(wish),
        "limit": percent(wish.limit),
        "came": " ".join(_outcome(page, wish)) or None,
        "reason": wish.reason or None,
    }


def _size(wish: Bet | Sale) -> str:
    if isinstance(wish, Bet):
        return f"buy {wish.side} for {dollars(wish.amount)}"
    if wish.shares is not None:
        return f"sell {money(wish.shares):,.2f} {wish.side}"
    if wish.fraction is not None:
        return f"sell {percent(wish.fraction):.0f}% of {wish.side}"
    return f"sell all {wish.side}"


def _outcome(page: TurnPage, wish: Bet | Sale) -> Iterator[str]:
    """What was filled of a wish, and all that was refused about its market."""
    action = "buy" if isinstance(wish, Bet) else "sell"
    for fill in page.fills:
        if (fill.market_id, fill.side, fill.action) == (wish.market_id, wish.side, action):
            yield f"{_did(fill)}: {money(fill.shares):,.2f} shares for {dollars(fill.amount)}{_part(fill)}."
    for refused in page.rejections:
        if refused.market_id == wish.market_id:
            yield f"Refused: {refused.message}."


def _part(fill: Fill) -> str:
    """Of how much, where an order was not filled whole."""
    if not fill.left:
        return ""
    asked = dollars(fill.wanted) if fill.action == "buy" else f"{money(fill.wanted):,.2f} shares"
    return f", in part: {asked} asked"


def _did(fill: Fill) -> str:
    return f"{'bought' if fill.action == 'buy' else 'sold'} {fill.side}"


def show_fills(page: TurnPage) -> None:
    """What was bought and sold, a row a price, and what it would have made if held."""
    if not page.fills:
        return
    claims = {claim.seen.id: claim for claim in page.claims}
    gains = [held_until_now(fill, claims[fill.market_id]) for fill in page.fills]
    known = [gain for gain in gains if gain is not None]
    if known:
        made = plain(gained(sum(known)))
        st.caption(f"Held until today or until they resolved, its purchases would have made {made}.")
    rows = [row for fill, gain in zip(page.fills, gains, strict=True) for row in _levels(page, fill, gain)]
    ways = [_way(page, str(row["market"])) for row in rows]
    with st.expander(f"Fills, level by level: {count(len(rows), 'level')}"):
        listing(html.by_column(rows, FILLS), "Fills: one row a price", FILLS, ways)


def _levels(page: TurnPage, fill: Fill, gain: int | None) -> Iterator[dict[str, object]]:
    for number_, level in enumerate(fill.levels, 1):
        last = number_ == len(fill.levels)
        yield {
            "market": fill.market_id,
            "question": page.questions[fill.market_id],
            "did": _did(fill),
            "level": number_,
            "price": percent(level.price),
            "shares": money(level.shares),
            "amount": money(level.amount),
            "fee": money(level.fee),
            "gain": money(gain) if last else None,
            "stopped": (fill.left or None) if last else None,
        }


def show_rejections(page: TurnPage) -> None:
    """What was refused, and why."""
    if not page.rejections:
        return
    subheading("Rejected", "Items of the answer that made no sense, and orders against the rules.")
    listing(
        {
            "Why": [refused.message for refused in page.rejections],
            "Market": [
                page.questions.get(refused.market_id, refused.market_id) or None
                for refused in page.rejections
            ],
            "Code": [refused.code for refused in page.rejections],
        },
        "Rejected: one row each",
        {"Why": html.words("Why", "The reason, in words.", long=True)},
    )


CLAIMS = {
    "question": html.words("Question", "As the market's page read then."),
    "final": html.number(
        "Stated %", "%.1f", "The probability of YES that it stated; a dash where it skipped."
    ),
    "blind": html.number("Blind %", "%.1f", "What it stated before it was shown any price."),
    "price": html.number("Price %", "%.1f", "The mid of YES in the snapshot that it saw."),
    "outcome": html.words("Outcome", "What a share of YES paid in the end."),
    "gain": html.number(
        "Gain, Brier points",
        "%+.4f",
        "How much smaller its squared error was than that of the price it saw; > 0 beats the price.",
    ),
    "reason": html.words("Reason", "In its own words.", long=True),
}


def show_forecasts(page: TurnPage) -> None:
    """Every market on offer: what was said of it, blind and in the end, and what came."""
    claims = [claim for claim in page.claims if claim.seen.shown or claim.said.final is not None]
    if not section("Forecasts", claims, "No market was on offer.", _judged(claims)):
        return
    table = html.by_column([_claim(claim) for claim in claims], CLAIMS)
    seen = (claim.seen for claim in claims)
    table |= html.venue_cells(venue_page(x.id, x.event_id, x.slug, x.event_slug) for x in seen)
    ways = [way("market", market=one.seen.id) for one in claims]
    listing(table, "Forecasts: one row a market", CLAIMS | {"venue": html.words("Venue")}, ways)


def _judged(claims: Sequence[Claim]) -> str:
    gains = [claim.gain for claim in claims if claim.gain is not None]
    if not gains:
        stated = any(claim.said.final is not None for claim in claims)
        return "None can be judged yet." if stated else "It stated no probability."
    better, mean = sum(gain > 0 for gain in gains), sum(gains) / len(gains)
    judged = f"{len(gains):,} of {count(len(claims), 'market')} can be judged"
    closer = f"{better} closer than the price; {written(mean, '%+.4f')} Brier points a market on average."
    return f"{judged}: {closer}"


def _claim(claim: Claim) -> dict[str, object]:
    return {
        "question": claim.seen.question,
        "final": percent(claim.said.final),
        "blind": percent(claim.said.blind),
        "price": percent(claim.seen.mid),
        "outcome": outcome(claim.ended, claim.payout),
        "gain": claim.gain,
        "reason": claim.said.reason or None,
    }


CALLS = {
    "call": html.words("Call", "Which question, which sample of it, which attempt at that."),
    "ended": html.words("Ended", "The provider's own word for how the answer ended, or the error."),
    "model": html.words("Model", "As the provider reports it, with its fingerprint, and who served it."),
    "tokens_in": html.number("Tokens in", "localized", "Of the question, as the provider counts them."),
    "tokens_cached": html.number(
        "Of these cached", "localized", "Read from the provider's cache, at its price."
    ),
    "tokens_out": html.number("Tokens out", "localized", "Of the answer, thoughts included."),
    "tokens_reasoning": html.number(
        "Of these thinking", "localized", "As far as the provider counts them apart."
    ),
    "cost": html.number("Cost", "dollar", "A dash where the price is unknown."),
    "seconds": html.number("Seconds", "%.1f", "How long the answer took."),
    "status": html.number("HTTP", "%d", "The status of the provider's answer, where it is known."),
    "rung": html.words(
        "Asked by", "How the form of the answer was asked for: by schema, as JSON, by the prompt."
    ),
    "error": html.words("Error", "What went wrong, and whether it was worth another try.", long=True),
    "made": html.time("Made", "When the call ended, in UTC."),
}


def cost_of(attempts: Sequence[CallAttempt]) -> str:
    """What all of these calls cost together; unknown if one of them is."""
    costs = [attempt.cost for attempt in attempts]
    known = [cost for cost in costs if cost is not None]
    return "unknown" if len(known) < len(costs) else usd(sum(known))


def show_calls(record: RecordSource, page: TurnPage) -> None:
    """The calls of a turn, and the words of one of them."""
    failed = sum(attempt.error_code is not None for attempt in page.attempts)
    asked = count(len(page.attempts), "attempt")
    said = f"{asked}, {failed:,} without an answer." if failed else f"{asked}, answered."
    if not section("Calls", page.attempts, "It asked no model.", said):
        return
    table = html.by_column([_attempt(attempt) for attempt in page.attempts], CALLS)
    listing(table, "Calls: one row an attempt", CALLS)
    named = {_call_key(attempt): attempt for attempt in page.attempts}
    options = {key: _call_name(attempt) for key, attempt in named.items()}
    answered = [key for key, attempt in named.items() if attempt.error_code is None]
    chosen = named[choice("Call", "call", options, (answered or list(named))[-1], "list")]
    _call_texts(record, chosen)


def _call_texts(record: RecordSource, attempt: CallAttempt) -> None:
    said = kept(record, read_call_texts, attempt.id)
    if attempt.error_message:
        st.markdown(f"**{plain(attempt.error_code or '')}:** {plain(attempt.error_message, most=2_000)}")
    with st.expander("Answer"):
        if said.reply is None:
            st.caption("None came.")
        else:
            long_text(said.reply, f"answer {_call_key(attempt)}")
    others = {"Thinking": said.thinking, "Sources it names": "\n".join(said.citations)}
    for title, text in others.items():
        if text:
            with st.expander(title):
                long_text(text, f"{title} {_call_key(attempt)}")
    for place, message in enumerate(said.messages, 1):
        with st.expander(f"Prompt, message {place} of {len(said.messages)}: {message.role}"):
            long_text(message.content, f"prompt {_call_key(attempt)} {place}")


def _call_key(attempt: CallAttempt) -> str:
    return f"{attempt.stage}-{attempt.sample}-{attempt.attempt}"


def _call_name(attempt: CallAttempt) -> str:
    """A call in words; samples are counted from 0 where there is one, so the number says little then."""
    sample = f", sample {attempt.sample}" if attempt.sample else ""
    return f"{attempt.stage}{sample}, attempt {attempt.attempt}"


def _attempt(attempt: CallAttempt) -> dict[str, object]:
    again = " (may be tried again)" if attempt.error_retry else ""
    fingerprint = f" ({attempt.fingerprint})" if attempt.fingerprint else ""
    host = f" at {attempt.host}" if attempt.host else ""
    return {
        "call": _call_name(attempt),
        "ended": attempt.error_code or attempt.finish or "answered",
        "model": f"{attempt.model}{fingerprint}{host}" or None,
        "tokens_in": attempt.tokens_in,
        "tokens_cached": attempt.tokens_cached,
        "tokens_out": attempt.tokens_out,
        "tokens_reasoning": attempt.tokens_reasoning,
        "cost": money(attempt.cost),
        "seconds": attempt.latency_ms / 1_000,
        "status": attempt.status,
        "rung": attempt.rung,
        "error": f"{flat(attempt.error_message)[:LONGEST_ERROR]}{again}" if attempt.error_message else None,
        "made": attempt.made_at,
    }


LONGEST_ERROR = 600
"""So many characters of an error are in its row; more stand below."""
EXCERPT = 2_000
"""So many characters of an article are in its row."""
EVIDENCE = {
    "question": html.words("Question", "The market that it was shown for."),
    "title": html.words("Title", "As its source has it.", long=True),
    "source": html.words("Source", "Who published it."),
    "published": html.time("Published", "The latest moment at which it can have been, in UTC."),
    "text": html.words("Text", f"Its first {EXCERPT:,} characters.", long=True),
    "address": html.words("Address", "Where it was found, as text."),
}


def show_evidence(page: TurnPage) -> None:
    """The articles that its prompt held, each with its first words."""
    if not page.evidence:
        return
    many = count(len(page.evidence), "article")
    subheading("Evidence", f"{many}, shown to every agent of the round alike.")
    rows = [_article(page, market, article) for market, article in page.evidence]
    listing(html.by_column(rows, EVIDENCE), "Evidence: one row an article", EVIDENCE)


def _article(page: TurnPage, market: MarketId, article: Article) -> dict[str, object]:
    return {
        "question": page.questions.get(market, market),
        "title": article.title,
        "source": article.source,
        "published": article.published_at,
        "text": article.text[:EXCERPT],
        "address": article.url,
    }
