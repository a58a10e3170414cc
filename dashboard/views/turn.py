"""The decisions of agents: the newest in a list, and each in full, down to its calls."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import repeat
from typing import Any

import streamlit as st
from markupsafe import Markup

from agents.model import Article, Message
from arena.errors import story_count
from arena.record.queries.accounts import read_payouts
from arena.record.queries.cohorts import IS_TRADING, PLACE, read_hidden_rounds
from arena.record.queries.decisions import read_fills, read_rejections
from arena.record.queries.forecasts import read_frozen_rules
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
    read_objects,
    select,
    select_fields,
    sql_cast,
    total,
)
from arena.record.schema.typed import count as count_of
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.evidence import read_evidence
from dashboard.html import (
    NOTHING,
    Quotation,
    Rows,
    Tile,
    columns_of_table,
    pills,
    reasons_box,
    remark,
    tiles,
    venue_cell,
)
from dashboard.pages import (
    choice,
    heading,
    long_text,
    nothing_found,
    options_of,
    put,
    put_section,
    put_table,
    put_view_link,
    subheading,
    way,
    way_to_turn,
)
from dashboard.pictures import CHOSEN
from dashboard.questions import answer_picture, answer_words, end_words
from dashboard.record import RecordSource, quote_price, read_cached, season
from dashboard.words import (
    DONE,
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
    rounded_percent,
    usd,
    whole_number,
    written,
)
from markets.distributions import form_of
from markets.millionths import ONE
from markets.model import MarketId
from markets.venue import venue_page
from portfolio.model import Bet, Fill, Rejection, Sale
from portfolio.money import worth

MOST = 100
"""The most turns in a list."""


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn by its place, with its status, and its orders as JSON."""

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
        """Return the buy orders."""
        return orders_of(self.orders)[0]

    @property
    def sales(self) -> tuple[Sale, ...]:
        """Return the sell orders."""
        return orders_of(self.orders)[1]


PLACED_TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)


def find_turn(connection: Connection, cohort: int, round_number: int, agent: str) -> PlacedTurn | None:
    """Return an agent's turn in a round of a cohort, if it is in and not hidden for now."""
    is_round = RoundRow.number == round_number
    is_shown = col(RoundRow.id).not_in(read_hidden_rounds(connection))
    query = (
        select_fields(PlacedTurn, TurnRow, RoundRow, **PLACE)
        .select_from(PLACED_TURNS)
        .where(*_of_agent(cohort, agent), is_round, is_shown)
    )
    turns = read_objects(PlacedTurn, connection.execute(query))
    return turns[0] if turns else None


def _of_agent(cohort: int, agent: str) -> tuple[Condition, ...]:
    return (CohortRow.number == cohort, EntrantRow.name == agent, EntrantRow.cohort_id == CohortRow.id)


def _read_turn_rounds(connection: Connection, cohort: int, agent: str) -> list[int]:
    """Return the rounds of a cohort in which an agent's turn is in."""
    query = select(RoundRow.number).select_from(PLACED_TURNS).where(*_of_agent(cohort, agent))
    return list(connection.scalars(query.order_by(RoundRow.number)))


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """A failure of a turn and its reason; `at` is its time, if known."""

    number: int
    note: str
    at: datetime | None


def _read_failures(connection: Connection, turn: PlacedTurn) -> list[TurnFailure]:
    """Return the failures of a turn, oldest first."""
    query = (
        select_fields(TurnFailure, AttemptRow)
        .where(AttemptRow.round_id == turn.round_id, AttemptRow.entrant_id == turn.entrant_id)
        .order_by(AttemptRow.number)
    )
    return read_objects(TurnFailure, connection.execute(query))


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
        select_fields(CallAttempt, CallRow)
        .where(CallRow.round_id == turn.round_id, CallRow.entrant_id == turn.entrant_id)
        .order_by(CallRow.stage, CallRow.sample, CallRow.attempt)
    )
    return read_objects(CallAttempt, connection.execute(query))


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The texts of a call: question, thinking, answer, and the sources that it names."""

    messages: tuple[Message, ...]
    reply: str | None
    thinking: str
    citations: tuple[str, ...]


def read_call_texts(connection: Connection, call_id: int) -> CallTexts:
    """Return the texts of a call."""
    query = select(CallRow.messages, CallRow.reply, CallRow.thinking, CallRow.citations)
    is_asked = CallRow.id == call_id
    messages, reply, thinking, citations = connection.execute(query.where(is_asked)).one()
    asked = tuple(Message(**message) for message in json.loads(messages))
    sources = tuple(json.loads(citations))
    return CallTexts(asked, reply, thinking, sources)


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
    form: str


def read_seen_markets(connection: Connection, turn: PlacedTurn) -> list[SeenMarket]:
    """Return the markets that a turn saw: what was on offer, then what else was held."""
    shown = SnapshotItemRow.shown == 1
    source = joined(SnapshotItemRow, MarketVersionRow).outerjoin(QuoteRow)
    query = (
        select_fields(SeenMarket, MarketVersionRow, QuoteRow, id=SnapshotItemRow.market_id, shown=shown)
        .select_from(source)
        .where(SnapshotItemRow.snapshot_id == turn.snapshot_id)
        .order_by(SnapshotItemRow.position)
    )
    markets = read_objects(SeenMarket, connection.execute(query))
    return sorted(markets, key=lambda market: not market.shown)


@dataclass(frozen=True, slots=True)
class StatedForecast:
    """An agent's forecasts of a market: before it saw a price, if it was asked, and the final one.

    For other questions than yes or no, forecasts are distributions, as text.
    """

    final: int | None = None
    blind: int | None = None
    reason: str = ""
    distribution: str = ""
    blind_distribution: str = ""


def read_forecasts(connection: Connection, turn: PlacedTurn) -> dict[MarketId, StatedForecast]:
    """Return the forecasts of a turn, by market."""
    query = select(ForecastRow.market_id, ForecastRow.stage, ForecastRow.probability, ForecastRow.reason)
    query = query.add_columns(ForecastRow.distribution)
    rows_by_stage: dict[MarketId, dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(query.where(ForecastRow.turn_id == turn.id)):
        rows_by_stage[MarketId(row.market_id)][row.stage] = row

    forecasts = {}
    for market, stage_rows in rows_by_stage.items():
        final_row = stage_rows.get("final")
        blind_row = stage_rows.get("blind")
        forecasts[market] = StatedForecast(
            final=final_row.probability if final_row else None,
            blind=blind_row.probability if blind_row else None,
            reason=(final_row or stage_rows["blind"]).reason,
            distribution=final_row.distribution if final_row else "",
            blind_distribution=blind_row.distribution if blind_row else "",
        )
    return forecasts


FIRST_ROUNDS = 8
"""Rounds that are searched at first; each time these are too few, twice as many."""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A turn in a list: its purchases, sales and rejections, and the cost of its calls.

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
    select_fields(TurnSummary, TurnRow, **PLACE, **SUMMARY_SUMS)
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
    batch_size = FIRST_ROUNDS
    while rounds and len(turns) < most:
        still_wanted = most - len(turns)
        is_in_rounds = col(TurnRow.round_id).in_(rounds[:batch_size])
        limited_query = query.where(is_in_rounds).limit(still_wanted)
        turns += read_objects(TurnSummary, connection.execute(limited_query))
        rounds = rounds[batch_size:]
        batch_size *= 2
    return turns


@dataclass(frozen=True, slots=True)
class Claim:
    """A market that a turn saw, and its forecast; `ended` with the payout of YES, None for a refund.

    `price` is the price of YES now, if the market has not ended.
    """

    seen: SeenMarket
    forecast: StatedForecast
    ended: bool
    payout: int | None
    price: int | None
    answer: str = ""

    @property
    def outcome(self) -> str | None:
        """Return how the market ended, in a word or two; None while it has not."""
        if not self.ended:
            return None
        return end_words(self.seen.form, self.answer) or outcome(True, self.payout)

    @property
    def distance(self) -> int:
        """Return the distance between its forecast and the price that it saw."""
        if self.forecast.final is None or self.seen.mid is None:
            return 0
        return abs(self.forecast.final - self.seen.mid)

    @property
    def gain(self) -> float | None:
        """Return how far its Brier score beat that of the price it saw; None without an outcome."""
        if self.payout not in (0, ONE) or self.forecast.final is None or self.seen.mid is None:
            return None
        end = self.payout / ONE
        price_error = (self.seen.mid / ONE - end) ** 2
        own_error = (self.forecast.final / ONE - end) ** 2
        return price_error - own_error


@dataclass(frozen=True, slots=True)
class TurnPage:
    """One turn in full, except for the texts of its calls, and the rounds of the agent's other turns."""

    turn: PlacedTurn
    rounds: tuple[int, ...]
    claims: tuple[Claim, ...]
    fills: tuple[Fill, ...]
    rejections: tuple[Rejection, ...]
    attempts: tuple[CallAttempt, ...]
    failures: tuple[TurnFailure, ...]
    evidence: tuple[tuple[MarketId, Article], ...]
    has_money: bool

    @property
    def stated(self) -> int:
        """Return the number of markets that it forecast."""
        return sum(claim.forecast.final is not None for claim in self.claims)

    @property
    def questions(self) -> Mapping[str, str]:
        """Return what the markets asked, by id."""
        return {claim.seen.id: claim.seen.question for claim in self.claims}

    @property
    def bought(self) -> list[Fill]:
        """Return its purchases."""
        return [fill for fill in self.fills if fill.action == "buy"]

    @property
    def spent(self) -> int:
        """Return what it paid for its purchases."""
        return sum(fill.amount for fill in self.bought)

    @property
    def sales(self) -> int:
        """Return how many sales it made."""
        return len(self.fills) - len(self.bought)


def read_turn(connection: Connection, cohort: int, round_number: int, agent: str) -> TurnPage | None:
    """Return one turn; None if it is not in."""
    turn = find_turn(connection, cohort, round_number, agent)
    if turn is None:
        return None

    evidence: list[tuple[MarketId, Article]] = []
    for market, articles in read_evidence(connection, turn.round_id).items():
        evidence += zip(repeat(market), articles)

    fills = read_fills(connection, [turn.id])
    rejections = read_rejections(connection, [turn.id])
    return TurnPage(
        turn,
        tuple(_read_turn_rounds(connection, cohort, agent)),
        tuple(_claims(connection, turn)),
        tuple(fills[turn.id]),
        tuple(rejections[turn.id]),
        tuple(read_attempts(connection, turn)),
        tuple(_read_failures(connection, turn)),
        tuple(evidence),
        read_frozen_rules(connection)[cohort].get("money", True),
    )


def _claims(connection: Connection, turn: PlacedTurn) -> Iterator[Claim]:
    """Yield the markets that a turn saw, with its forecast of each."""
    markets = read_seen_markets(connection, turn)
    forecasts = read_forecasts(connection, turn)
    ids = [market.id for market in markets]
    # Versions come in order, so the newest one stands.
    payouts = read_payouts(connection, ids)
    payout_by_market = {market: payout for (market, _), payout in payouts.items()}
    quotes = newest_rows(connection, QuoteRow, ids, "at", "mid", "last")
    answers = newest_rows(connection, ResolutionRow, ids, "version", "answer")

    for market in markets:
        forecast = forecasts.get(market.id, StatedForecast())
        if market.id in payout_by_market:
            yield Claim(market, forecast, True, payout_by_market[market.id], None, answers[market.id].answer)
        else:
            price = quote_price(quotes.get(market.id))
            yield Claim(market, forecast, False, None, price)


def held_until_now(fill: Fill, claim: Claim) -> int | None:
    """Return what a purchase would have gained, had it been held until now or until the market's end.

    A refund gives back what was paid. None without a price, and for a sale.
    """
    if fill.action != "buy":
        return None
    if claim.ended and claim.payout is None:
        return 0
    yes_price = claim.payout if claim.ended else claim.price
    if yes_price is None:
        return None
    if fill.side == "NO":
        yes_price = ONE - yes_price
    return worth(fill.shares, yes_price) - fill.amount


TITLE = "Turn"
NEEDS_A_COHORT = True
HEADED = True
ORDER = None


def show(record: RecordSource) -> None:
    """Show the turn that the address names, or the list of the newest."""
    cohort = st.query_params.get("cohort", "")
    round_text = st.query_params.get("round", "")
    agent = st.query_params.get("agent", "")
    if not (cohort and round_text):
        heading("Turns")
        show_list(record)
        return

    page = read_cached(record, read_turn, whole_number(cohort), whole_number(round_text), agent)
    if page is not None:
        show_turn(record, page)
        return
    heading(TITLE)
    agent_text = ""
    if agent:
        agent_text = f" of {code(agent[:200])}"
    place_text = f"in round {code(round_text[:20])} of cohort {code(cohort[:20])}"
    why_nothing = (
        f"The record holds no turn{agent_text} {place_text}, or it is not in yet, or hidden for now."
    )
    nothing_found(why_nothing)
    put_view_link("All turns", "turn")


ANY = "any"
EVERY = {ANY: ""}
"""No choice, as addresses name it, and as queries do."""
MEANT = {
    "played": "Played: an answer came that could be used.",
    "partly": "Partly: less than was asked for could be used; the rest counts as skips.",
    "malformed": "Malformed: the answer could not be used, so the turn is a hold and counts as skips.",
    "declined": "Declined: the model refused to answer, so the turn is a hold and counts as skips.",
    "failed": "Failed: there was no answer; it counts as unanswered.",
    "late": "Late: it was not played, or answered, within six hours of its prices; it counts as unanswered.",
    "out": "Out: the agent can place no bet and holds nothing, or repeats what is hidden; it was not asked.",
    "waiting": "Waiting: the key of its model was missing; it enters once there is one.",
}
STATUSES = {ANY: "All"} | {status: status.capitalize() for status in MEANT}


def show_list(record: RecordSource) -> None:
    """Show the controls, and the matching turns."""
    agents = {ANY: "All agents"} | options_of(season(record).kinds)
    agent = choice("Agent", "agent", agents, ANY, "list")
    status = choice("Status", "status", STATUSES, ANY)
    queried_agent = EVERY.get(agent, agent)
    queried_status = EVERY.get(status, status)
    turns = read_cached(record, read_newest_turns, MOST + 1, queried_agent, queried_status)
    if not turns:
        why_nothing = "No turn matches. Choose another agent or status."
        if agent == status == ANY:
            why_nothing = (
                "No turn is in yet. `arena run --round` plays the next round, and this page shows it then."
            )
        nothing_found(why_nothing)
        return

    count_text = f"The newest {MOST}" if len(turns) > MOST else count(len(turns), "turn")
    st.caption(f"{count_text}, newest first.")
    meanings = " ".join(MEANT.values())
    columns = dict(columns_of_table("turns"))
    columns["status"] = replace(columns["status"], help=meanings)
    put_table(_turn_rows(turns[:MOST]), columns, "Turns: one row each")


def _turn_rows(turns: Sequence[TurnSummary]) -> Rows:
    """Yield a row for each turn."""
    for turn in turns:
        yield {
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
            "href": way_to_turn(turn).href,
        }


def show_turn(record: RecordSource, page: TurnPage) -> None:
    """Show one turn, from its status down to the texts of every call."""
    turn = page.turn
    _link_neighbours(page)
    heading(plain(turn_summary(page)))
    where = f"Decided {moment(turn.at)}, in round {turn.round} of cohort {turn.cohort}"
    st.caption(f"{where} · kind {code(turn.kind)} · version {code(turn.code_version)}")
    if turn.status not in ("played", "partly"):
        st.caption(MEANT[turn.status])
    put(tiles(figures(page, ", simulated" * season(record).is_simulated)), "tiles")

    notes = [failure.note for failure in page.failures]
    if turn.note and turn.note not in notes:
        put(remark("Note", turn.note), "note")
    for failure in page.failures:
        when = ""
        if failure.at:
            when = f", {moment(failure.at)}"
        name = f"Failure {failure.number}{when}"
        put(remark(name, failure.note), f"failure {failure.number}")
    repaired = json.loads(turn.repaired)
    if repaired:
        names = plain(", ".join(repaired))
        st.markdown(f"**Read by repairs:** {names}")

    put(reasons(page), "reasons")
    if page.has_money:
        show_orders(page)
    show_rejections(page)
    show_forecasts(page)
    show_fills(page)
    show_calls(record, page)
    show_evidence(page)


def turn_summary(page: TurnPage) -> str:
    """Say what the turn did, in a line."""
    turn = page.turn
    parts = []
    if page.bought:
        dollars_spent = in_dollars(round(page.spent / ONE))
        spent = dollars_spent.removesuffix(".00")
        markets = {fill.market_id for fill in page.bought}
        markets_text = count(len(markets), "market")
        parts.append(f"bet {spent} on {markets_text}")
    if page.sales:
        parts.append(f"sold {page.sales:,}")
    if turn.status not in ("played", "partly"):
        parts = [turn.status]
    if not page.has_money and turn.status in ("played", "partly"):
        parts = [f"answered {count(page.stated, 'question')}"]
    actions_text = ", ".join(parts) or "traded nothing"
    return f"{turn.agent}, round {turn.round}: {actions_text}"


def reasons(page: TurnPage) -> Markup:
    """Return its reasons: those of its trades first, then those furthest from the price."""
    fills = {fill.market_id: fill for fill in page.fills}
    ranked_quotations = []
    by_distance = sorted(page.claims, key=lambda claim: -claim.distance)
    for claim in by_distance:
        if claim.forecast.reason and claim.forecast.final is not None:
            fill = fills.get(claim.seen.id)
            traded_amount = fill.amount if fill else -1
            quotation = _quotation(claim, fill)
            ranked_quotations.append((traded_amount, quotation))

    if not ranked_quotations:
        return NOTHING
    ranked_quotations.sort(key=lambda ranked: -ranked[0])
    return reasons_box([quotation for _, quotation in ranked_quotations])


def _quotation(claim: Claim, fill: Fill | None) -> Quotation:
    """Return a forecast with its reason, and the trade."""
    stated = rounded_percent(claim.forecast.final or 0)
    if claim.forecast.distribution:
        stated = answer_words(form_of(claim.seen.form), claim.forecast.distribution)
    did = f"says {stated}"
    if claim.seen.mid is not None:
        did += f", price {cents(claim.seen.mid)}"
    if fill is not None:
        amount = dollars(fill.amount)
        did += f"; {_fill_text(fill)} for {amount}"

    where = "not resolved yet"
    if claim.outcome:
        where = f"result: {claim.outcome}"
    href = way("market", market=claim.seen.id).href
    return Quotation(flat(claim.seen.question), did, flat(claim.forecast.reason), where, href)


def _link_neighbours(page: TurnPage) -> None:
    """Link to the turns before and after, to the agent and to the cohort."""
    turn = page.turn
    position = page.rounds.index(turn.round)
    round_before = page.rounds[:position][-1:]
    round_after = page.rounds[position + 1 :][:1]
    neighbours = {"← Round before": round_before, "Round after →": round_after}

    destinations = {}
    for label, rounds in neighbours.items():
        for number in rounds:
            destinations[label] = way("turn", cohort=turn.cohort, round=number, agent=turn.agent)
    destinations["Its agent"] = way("agent", agent=turn.agent)
    destinations["Its cohort"] = way("cohort", cohort=turn.cohort)
    destinations["All turns"] = way("turn")
    links = [(label, to.href, False) for label, to in destinations.items()]
    put(pills(links, "Go to"), "ways")


REFUSED = "Sales of positions, in full or in part; orders and items of the answer that were refused."


def figures(page: TurnPage, simulated: str) -> list[Tile]:
    """Return its status, its forecasts and trades, and their cost."""
    turn = page.turn
    shown_markets = 0
    stories = set()
    for claim in page.claims:
        if claim.seen.shown:
            shown_markets += 1
            stories.add(claim.seen.story or claim.seen.event_id)
    forecast_label = f"markets forecast, {story_count(len(stories))}"

    number = count(len(page.bought), "purchase")
    purchases = f"{number}, fees included; caps are measured by the cash before."
    sales_text = f"{page.sales:,} sold, {len(page.rejections):,} rejected"
    calls_label = f"cost of {count(len(page.attempts), 'call')}"
    if page.attempts:
        calls_label += simulated
    money_tiles = []
    if page.has_money:
        money_tiles = [
            Tile(dollars(page.spent), f"bet, of {dollars(turn.cash)} in cash", purchases),
            Tile(sales_text, "positions and orders", REFUSED),
        ]
    return [
        Tile(turn.status, "status", MEANT.get(turn.status, "")),
        Tile(f"{page.stated:,} of {shown_markets:,}", forecast_label),
        *money_tiles,
        Tile(cost_of(page.attempts), calls_label, "In dollars."),
    ]


def show_orders(page: TurnPage) -> None:
    """Show every order, with its fills."""
    orders: list[Bet | Sale] = [*page.turn.sales, *page.turn.bets]
    if put_section("Orders", orders, "It placed no order."):
        put_table(_order_rows(page, orders), columns_of_table("orders"), "Orders: one row each")


def _market_cells(page: TurnPage, market: MarketId) -> dict[str, object]:
    """Return a market's question and its page, if it was shown."""
    if market not in page.questions:
        return {"question": market}
    return {"question": page.questions[market], "href": way("market", market=market).href}


def _order_rows(page: TurnPage, orders: Sequence[Bet | Sale]) -> Rows:
    """Yield a row for each order, with its result."""
    for order in orders:
        result = " ".join(_order_results(page, order))
        yield {
            "wish": _order_text(order),
            "limit": percent(order.limit),
            "came": result,
            "reason": order.reason,
            **_market_cells(page, order.market_id),
        }


def _order_text(wish: Bet | Sale) -> str:
    """Describe an order."""
    if isinstance(wish, Bet):
        return f"buy {wish.side} for {dollars(wish.amount)}"
    if wish.shares is not None:
        return f"sell {money(wish.shares):,.2f} {wish.side}"
    if wish.fraction is not None:
        return f"sell {percent(wish.fraction):.0f}% of {wish.side}"
    return f"sell all {wish.side}"


def _order_results(page: TurnPage, order: Bet | Sale) -> Iterator[str]:
    """Yield the fills of an order, and all rejections about its market."""
    action = "sell"
    if isinstance(order, Bet):
        action = "buy"
    order_key = (order.market_id, order.side, action)
    for fill in page.fills:
        fill_key = (fill.market_id, fill.side, fill.action)
        if fill_key == order_key:
            shares = f"{money(fill.shares):,.2f} shares"
            yield f"{_fill_text(fill)}: {shares} for {dollars(fill.amount)}{_partial_fill_text(fill)}."
    for rejection in page.rejections:
        if rejection.market_id == order.market_id:
            yield f"Refused: {rejection.message}."


def _partial_fill_text(fill: Fill) -> str:
    """Say how much was ordered, if it was filled only in part."""
    if not fill.left:
        return ""
    asked = f"{money(fill.wanted):,.2f} shares"
    if fill.action == "buy":
        asked = dollars(fill.wanted)
    return f", in part: {asked} asked"


def _fill_text(fill: Fill) -> str:
    """Say whether a side was bought or sold."""
    return f"{DONE[fill.action]} {fill.side}"


def show_fills(page: TurnPage) -> None:
    """Show the fills, a row a price, and what they would have gained if held."""
    if not page.fills:
        return

    claims = {claim.seen.id: claim for claim in page.claims}
    rows: list[dict[str, object]] = []
    gains = []
    for fill in page.fills:
        gain = held_until_now(fill, claims[fill.market_id])
        if gain is not None:
            gains.append(gain)
        rows.extend(_level_rows(page, fill, gain))
    if gains:
        total_gain_text = plain(gained(sum(gains)))
        st.caption(
            f"Held until today or until they resolved, its purchases would have made {total_gain_text}."
        )
    levels = count(len(rows), "level")
    with st.expander(f"Fills, level by level: {levels}"):
        put_table(rows, columns_of_table("fills"), "Fills: one row a price")


def _level_rows(page: TurnPage, fill: Fill, gain: int | None) -> Iterator[dict[str, object]]:
    """Yield the fill at each price; the last row has the result of the whole order."""
    for number, level in enumerate(fill.levels, 1):
        row = _market_cells(page, fill.market_id) | {
            "did": _fill_text(fill),
            "level": number,
            "price": percent(level.price),
            "shares": money(level.shares),
            "amount": money(level.amount),
            "fee": money(level.fee),
        }
        if number == len(fill.levels):
            row |= {"gain": money(gain), "stopped": fill.left}
        yield row


def show_rejections(page: TurnPage) -> None:
    """Show what was refused, and why."""
    if not page.rejections:
        return
    subheading("Rejected", "Invalid items of the answer, and orders against the rules.")
    rows = []
    for refused in page.rejections:
        market = page.questions.get(refused.market_id, refused.market_id)
        rows.append({"Why": refused.message, "Market": market, "Code": refused.code})
    put_table(rows, columns_of_table("rejections"), "Rejected: one row each")


def show_forecasts(page: TurnPage) -> None:
    """Show every market on offer, with its blind and final forecast and its result."""
    shown_claims = [claim for claim in page.claims if claim.seen.shown or claim.forecast.final is not None]
    question_claims = [claim for claim in shown_claims if claim.seen.form]
    if question_claims:
        answered = sum(bool(claim.forecast.distribution) for claim in question_claims)
        below = f"{answered:,} of {count(len(question_claims), 'question')} answered."
        put_section("Answers", question_claims, "", below)
        put_table(
            _answer_rows(question_claims),
            columns_of_table("answers of a turn"),
            "Answers: one row a question",
        )

    market_claims = [claim for claim in shown_claims if not claim.seen.form]
    if question_claims and not market_claims:
        return
    if put_section("Forecasts", market_claims, "No market was on offer.", _judged_text(market_claims)):
        put_table(_claim_rows(market_claims), columns_of_table("forecasts"), "Forecasts: one row a market")


def _judged_text(claims: Sequence[Claim]) -> str:
    """Say how many forecasts can be judged, and how many of them were closer than the price."""
    gains = [claim.gain for claim in claims if claim.gain is not None]
    if gains:
        markets = count(len(claims), "market")
        judged = f"{len(gains):,} of {markets} can be judged"
        closer = sum(gain > 0 for gain in gains)
        mean_gain = sum(gains) / len(gains)
        mean = written(mean_gain, "%+.4f")
        return f"{judged}: {closer} closer than the price; {mean} Brier points a market on average."
    if any(claim.forecast.final is not None for claim in claims):
        return "None can be judged yet."
    return "It stated no probability."


def _claim_rows(claims: Sequence[Claim]) -> Rows:
    """Yield a row for each forecast, with the result."""
    for claim in claims:
        seen = claim.seen
        venue = venue_page(seen.id, seen.event_id, seen.slug, seen.event_slug)
        yield {
            "question": seen.question,
            "final": percent(claim.forecast.final),
            "blind": percent(claim.forecast.blind),
            "price": percent(seen.mid),
            "outcome": claim.outcome,
            "gain": claim.gain,
            "reason": claim.forecast.reason,
            "venue": venue_cell(venue),
            "href": way("market", market=seen.id).href,
        }


def _answer_rows(claims: Sequence[Claim]) -> Rows:
    """Yield a row for each answer to other questions than yes or no, with the result."""
    for claim in claims:
        seen = claim.seen
        form = form_of(seen.form)
        row: dict[str, object] = {
            "question": seen.question,
            "outcome": claim.outcome,
            "reason": claim.forecast.reason,
            "venue": venue_cell(venue_page(seen.id, seen.event_id, seen.slug, seen.event_slug)),
            "href": way("market", market=seen.id).href,
        }
        if claim.forecast.distribution:
            row["picture"] = answer_picture(form, claim.forecast.distribution, CHOSEN[0], claim.answer)
            row["said"] = answer_words(form, claim.forecast.distribution)
        if claim.forecast.blind_distribution:
            row["blind"] = answer_words(form, claim.forecast.blind_distribution)
        yield row


def cost_of(attempts: Sequence[CallAttempt]) -> str:
    """Say what these calls cost together, or “unknown” if the cost of one is."""
    costs = [attempt.cost for attempt in attempts if attempt.cost is not None]
    if len(costs) < len(attempts):
        return "unknown"
    return usd(sum(costs))


def show_calls(record: RecordSource, page: TurnPage) -> None:
    """Show the calls of a turn, and the texts of one of them."""
    failed = sum(attempt.error_code is not None for attempt in page.attempts)
    result = "answered"
    if failed:
        result = f"{failed:,} without an answer"
    attempts = count(len(page.attempts), "attempt")
    below = f"{attempts}, {result}."
    if not put_section("Calls", page.attempts, "It asked no model.", below):
        return

    put_table(_attempt_rows(page.attempts), columns_of_table("calls"), "Calls: one row an attempt")
    attempt_of_key = {}
    options = {}
    default_key = _call_key(page.attempts[-1])
    for attempt in page.attempts:
        key = _call_key(attempt)
        attempt_of_key[key] = attempt
        options[key] = _call_name(attempt)
        if attempt.error_code is None:
            default_key = key
    chosen = choice("Call", "call", options, default_key, "list")
    _show_call_texts(record, attempt_of_key[chosen])


def _show_call_texts(record: RecordSource, attempt: CallAttempt) -> None:
    """Show what was asked and answered in a call."""
    texts = read_cached(record, read_call_texts, attempt.id)
    key = _call_key(attempt)
    if attempt.error_message:
        error = flat(attempt.error_code or "")
        put(remark(error, attempt.error_message), f"error {key}")
    with st.expander("Answer"):
        if texts.reply is None:
            st.caption("None came.")
        else:
            long_text(texts.reply, f"answer {key}")

    others = {"Thinking": texts.thinking, "Sources it names": "\n".join(texts.citations)}
    for title, text in others.items():
        if text:
            with st.expander(title):
                long_text(text, f"{title} {key}")
    for place, prompt in enumerate(texts.messages, 1):
        with st.expander(f"Prompt, message {place} of {len(texts.messages)}: {prompt.role}"):
            long_text(prompt.content, f"prompt {key} {place}")


def _call_key(attempt: CallAttempt) -> str:
    """Return the key of a call in addresses."""
    return f"{attempt.stage}-{attempt.sample}-{attempt.attempt}"


def _call_name(attempt: CallAttempt) -> str:
    """Return a call in words; the first of several samples, or the only one, has no number."""
    sample = ""
    if attempt.sample:
        sample = f", sample {attempt.sample}"
    return f"{attempt.stage}{sample}, attempt {attempt.attempt}"


def _attempt_rows(attempts: Sequence[CallAttempt]) -> Rows:
    """Yield a row for each call: its end, its model, its tokens, cost and time."""
    for attempt in attempts:
        model = attempt.model
        if attempt.fingerprint:
            model += f" ({attempt.fingerprint})"
        if attempt.host:
            model += f" at {attempt.host}"
        error = flat(attempt.error_message or "")[:LONGEST_ERROR]
        if error and attempt.error_retry:
            error += " (may be tried again)"
        yield {
            "call": _call_name(attempt),
            "ended": attempt.error_code or attempt.finish or "answered",
            "model": model,
            "tokens_in": attempt.tokens_in,
            "tokens_cached": attempt.tokens_cached,
            "tokens_out": attempt.tokens_out,
            "tokens_reasoning": attempt.tokens_reasoning,
            "cost": money(attempt.cost),
            "seconds": attempt.latency_ms / 1_000,
            "status": attempt.status,
            "rung": attempt.rung,
            "error": error,
            "made": attempt.made_at,
        }


LONGEST_ERROR = 600
"""Characters of an error in its row; the rest stands below."""
EXCERPT = 2_000
"""Characters of an article in its row."""


def show_evidence(page: TurnPage) -> None:
    """Show the articles that its prompt held, each with its first words."""
    if page.evidence:
        many = count(len(page.evidence), "article")
        subheading("Evidence", f"{many}, shown to every agent of the round alike.")
        put_table(_article_rows(page), columns_of_table("evidence"), "Evidence: one row an article")


def _article_rows(page: TurnPage) -> Rows:
    """Yield a row for each article."""
    for market, article in page.evidence:
        yield {
            "question": page.questions.get(market, market),
            "title": article.title,
            "source": article.source,
            "published": article.published_at,
            "text": article.text[:EXCERPT],
            "address": article.url,
        }
