"""The first page: the verdict, the race, what was decided last, and the short board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from markupsafe import Markup

from arena.operations.status import Status
from arena.record.queries.cohorts import IS_TRADING, PLACE, item_of
from arena.record.queries.markets import ListedMarket, read_listed_markets
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    AnySelect,
    and_,
    col,
    column_of,
    func,
    joined,
    read_nouns,
    select,
    select_noun,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard
from arena.scores.verdict import day_text
from dashboard.board import (
    BoardLook,
    board_tables,
    dashed_note,
    equity_values,
    headline,
    is_provisional,
    leading,
    money_table,
    pnl_lines,
    pnl_values,
    show_board,
    stamps,
)
from dashboard.charts import line_chart, luck_band, shortened
from dashboard.html import EMPTY, Quotation, Tile, beside, box, quiet, quotes, tiles
from dashboard.pages import Address, choice, heading, in_app, link, put, show_age, way, way_to_turn
from dashboard.record import (
    MODELS,
    NULLS,
    Colours,
    Lines,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    arena_status,
    kept,
    read_leaderboard_page,
    read_summed_curves,
    season,
)
from dashboard.words import (
    DONE,
    cents,
    count,
    day,
    dollars,
    escaped,
    flat,
    in_dollars,
    moment,
    outcome,
    plain,
    rounded_percent,
)
from markets.model import MarketId

ROUNDS = 4
"""So many rounds, the newest, are looked through."""
LOOKED = 120
"""Among so many trades or forecasts those are chosen that are shown."""

SHOWN = 3
DISPUTED = 2
"""So many of each are shown."""


@dataclass(frozen=True, slots=True)
class PlacedForecast:
    """A final probability of a turn and why it was stated; money and prices in millionths."""

    cohort: int
    round: int
    agent: str
    kind: str
    market_id: MarketId
    question: str
    probability: int
    reason: str


@dataclass(frozen=True, slots=True)
class FarForecast(PlacedForecast):
    """One that lay far from the price that its agent was shown."""

    mid: int


@dataclass(frozen=True, slots=True)
class ExplainedTrade(PlacedForecast):
    """One on which the agent traded."""

    mid: int | None
    at: datetime
    action: str
    side: str
    shares: int
    amount: int


STATED = (ForecastRow, MarketVersionRow, QuoteRow)
STATED_IN_TURN = (
    joined(TurnRow, EntrantRow, RoundRow, CohortRow)
    .join(ForecastRow, and_(ForecastRow.turn_id == TurnRow.id, ForecastRow.stage == "final"))
    .join(SnapshotItemRow, item_of(ForecastRow.market_id))
    .join(MarketVersionRow)
    .outerjoin(QuoteRow)
)


def _in_newest_rounds(connection: Connection, query: AnySelect) -> AnySelect:
    """Return a query for the first rows of the newest rounds."""
    rounds = (
        select(RoundRow.id)
        .join(CohortRow, RoundRow.cohort_id == CohortRow.id)
        .where(IS_TRADING)
        .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc())
    )
    ids = list(connection.scalars(rounds.limit(ROUNDS)))
    return query.where(col(TurnRow.round_id).in_(ids)).limit(LOOKED)


def _read_explained_trades(connection: Connection) -> list[ExplainedTrade]:
    """Return the trades of the newest rounds, those first that have a reason, then the largest."""
    is_traded = and_(FillRow.turn_id == TurnRow.id, FillRow.market_id == ForecastRow.market_id)
    query = (
        select_noun(ExplainedTrade, *STATED, FillRow, **PLACE)
        .select_from(STATED_IN_TURN.join(FillRow, is_traded))
        .order_by(ForecastRow.reason == "", col(FillRow.amount).desc())
        .order_by(ForecastRow.market_id, EntrantRow.name)
    )
    return read_nouns(ExplainedTrade, connection.execute(_in_newest_rounds(connection, query)))


def _read_far_forecasts(connection: Connection) -> list[FarForecast]:
    """Return the probabilities of the newest rounds that lay furthest from the price then."""
    distance = func.abs(column_of(ForecastRow.probability) - column_of(QuoteRow.mid))
    query = (
        select_noun(FarForecast, *STATED, **PLACE)
        .select_from(STATED_IN_TURN)
        .where(col(QuoteRow.mid).is_not(None))
        .order_by(distance.desc(), ForecastRow.market_id, EntrantRow.name)
    )
    return read_nouns(FarForecast, connection.execute(_in_newest_rounds(connection, query)))


@dataclass(frozen=True, slots=True)
class Dispute:
    """A forecast far from its market, how the market stands, and what YES costs now, in millionths."""

    forecast: FarForecast
    market: ListedMarket
    price: int

    @property
    def apart(self) -> int:
        """Return how far the forecast is from the price now."""
        return abs(self.forecast.probability - self.price)


@dataclass(frozen=True, slots=True)
class NewestDecisions:
    """Trades with their reasons, an agent each, and what lay furthest from the market, a market each.

    `outcomes` are of the markets of these trades, None of one that goes on.
    """

    trades: tuple[ExplainedTrade, ...]
    outcomes: tuple[str | None, ...]
    disputes: tuple[Dispute, ...]


def read_newest_decisions(connection: Connection) -> NewestDecisions:
    """Return the largest trade of each agent in the newest rounds, and the boldest forecasts."""
    trades: dict[str, ExplainedTrade] = {}
    explained = _read_explained_trades(connection)
    for trade in sorted(explained, key=lambda trade: trade.kind not in MODELS):
        trades.setdefault(trade.agent, trade)

    shown = tuple(trades.values())[:SHOWN]
    markets = _markets_by_id(connection, shown)
    outcomes = []
    for trade in shown:
        market = markets[trade.market_id]
        outcomes.append(outcome(market.ended, market.payout))
    return NewestDecisions(shown, tuple(outcomes), _disputes(connection))


def _markets_by_id(
    connection: Connection, decisions: Iterable[ExplainedTrade | FarForecast]
) -> dict[MarketId, ListedMarket]:
    """Return the markets of decisions."""
    ids = [decision.market_id for decision in decisions]
    return {market.id: market for market in read_listed_markets(connection, ids)}


def _disputes(connection: Connection) -> tuple[Dispute, ...]:
    """Return forecasts far from the price, an agent each; those of markets that go on first, by distance."""
    far = _read_far_forecasts(connection)
    opinions = [forecast for forecast in far if forecast.kind in MODELS]
    if not opinions:
        opinions = [forecast for forecast in far if forecast.kind not in NULLS]
    furthest: dict[MarketId, FarForecast] = {}
    for forecast in opinions:
        furthest.setdefault(forecast.market_id, forecast)

    markets = _markets_by_id(connection, furthest.values())
    prices = newest_rows(connection, QuoteRow, list(furthest), "at", "mid")
    disputes = []
    for market_id, forecast in furthest.items():
        quote = prices.get(market_id)
        if quote is not None and quote.mid is not None:
            disputes.append(Dispute(forecast, markets[market_id], quote.mid))
    disputes.sort(key=lambda dispute: (dispute.market.ended, -dispute.apart))

    by_agent: dict[str, Dispute] = {}
    for dispute in disputes:
        by_agent.setdefault(dispute.forecast.agent, dispute)
    firsts = list(by_agent.values())
    others = [dispute for dispute in disputes if dispute not in firsts]
    return tuple([*firsts, *others][:DISPUTED])


TITLE = "Leaderboard"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 1

GROUPS = {"all": "All", "models": "Models and programs", "people": "People"}
INSTANTS = 24
"""At so many instants the race is drawn."""
NAMED = 3
"""So many agents are coloured, the first of the board."""
RACED = 20
"""So many agents have a line."""
LONGEST = 220
"""A reason is quoted as far as this."""

Curves = Mapping[str, Sequence[PnlPoint]]


def show(record: RecordSource) -> None:
    """Show the page, from the verdict to the board."""
    overview = season(record)
    shown = kept(record, read_leaderboard_page)
    board = shown.board.value if shown.board else None
    title = "Scores are being computed."
    if board and board.verdict:
        title = headline(board.verdict)[0]
    heading(plain(title))
    st.caption(_about(overview, arena_status(record), board))
    show_age(shown.board)

    names = racing(overview, shown.lines)
    curves = kept(record, read_summed_curves, names, INSTANTS)
    colours = overview.colours(overview.first(names, NAMED))
    drawn = race(overview, curves, colours, shown.lines)
    put(opening(drawn, board, decisions(kept(record, read_newest_decisions))), "head")
    if board is None:
        put(money_table(shown.money, overview.names), "table of money")
        return

    chosen = _chosen_lines(shown.lines, overview)
    look = BoardLook(overview, equity_values(curves, "percent"), colours)
    show_board(board_tables(chosen, look, provisional=is_provisional(shown.lines)))
    with st.container(horizontal=True, gap="medium"):
        link("Full leaderboard: all columns, parts of the season, CSV", "leaderboard")


def _chosen_lines(lines: Lines, overview: SeasonOverview) -> Lines:
    """Let a group of agents be chosen where there are several; references are always shown."""
    groups = {line.row.agent: overview.group(line.row.agent) for line in lines if not line.row.is_reference}
    there = {"all", *groups.values()}
    if len(there) < 3:
        return lines
    options = {key: label for key, label in GROUPS.items() if key in there}
    group = choice("Agents", "show", options, "all")
    if group == "all":
        return lines
    return [line for line in lines if groups.get(line.row.agent, group) == group]


def racing(overview: SeasonOverview, lines: Lines) -> list[str]:
    """Return whose curves are drawn: the first of the board or of the line-up, references last."""
    names = [line.row.agent for line in lines if line.row.kind != MARKET]
    if not names:
        names = [name for name, kind in overview.agents if kind != MARKET]
    there = [name for name in names if name in overview.names]
    return sorted(there, key=overview.is_reference)[:RACED]


def opening(drawn: Markup, board: Leaderboard | None, newest: Markup) -> Markup:
    """Return the tiles over the race, beside the newest decisions."""
    left = box("Equity, all cohorts", drawn)
    shown = figures(board)
    if shown:
        left = tiles(shown) + left
    return beside(left, newest, look="lead")


def _about(overview: SeasonOverview, status: Status, board: Leaderboard | None) -> str:
    """Say what this is: play money, how much was played, when it goes on; then the whole verdict."""
    text = escaped(what_this_is(overview, board))
    newest = max((played.at for played in status.last), default=None)
    if newest:
        text += f" Newest round: {moment(newest)}"
        at = status.calendar.next_round
        if at:
            text += f"; {next_round(at, status.at, overview.cohorts[-1].stamp)}"
        text += "."

    sentences = [" ".join([text, *stamps(overview.cohorts)])]
    if board and board.verdict:
        sentences.append(leading(headline(board.verdict)[1]))
    return "  \n".join(filter(None, sentences))


def what_this_is(overview: SeasonOverview, board: Leaderboard | None) -> str:
    """Say that this is play money, how much was played and by whom, and what it cost."""
    players = len(overview.players(overview.names))
    references = count(len(overview.agents) - players, "reference")
    parts = [f"{count(players, 'agent')} and {references}", "play money", _cohorts_text(overview)]

    events = _resolved_events(board)
    if events:
        parts.append(f"{count(events, 'event')} resolved")
    spent = 0.0
    if board:
        spent = sum(row.cost_usd or 0.0 for row in board.rows)
    if spent:
        parts.append(f"calls cost {in_dollars(spent)}" + " (simulated)" * overview.is_simulated)
    return f"{', '.join(parts)}."


def _resolved_events(board: Leaderboard | None) -> int:
    """Return how many events have resolved, by the agent that was shown most of them."""
    if board is None:
        return 0
    return max((row.events for row in board.rows), default=0)


def _cohorts_text(overview: SeasonOverview) -> str:
    """Say how many cohorts there are, and which of them still play."""
    live = [line.number for line in overview.cohorts if line.ended_at is None]
    which = "finished"
    if live:
        first_and_last = dict.fromkeys((live[0], live[-1]))
        which = f"{'–'.join(map(str, first_and_last))} playing"
    return f"{count(len(overview.cohorts), 'cohort')} ({which})"


def next_round(at: datetime, now: datetime, stamp: str) -> str:
    """Say when it goes on.

    >>> at = datetime(2026, 1, 4)
    >>> next_round(at, datetime(2026, 1, 1), "live"), next_round(at, at, "simulated")
    ('next in 3 days', '`arena run --round` plays the next')
    >>> next_round(at, at, "replay")
    '`arena study replay` plays the rest'
    """
    if stamp == "replay":
        return "`arena study replay` plays the rest"
    if stamp != "live":
        return "`arena run --round` plays the next"
    seconds = (at - now).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"next in {count(int(seconds // size), unit)}"
    return "next due now"


def figures(board: Leaderboard | None) -> list[Tile]:
    """Return of how many pairs the better one is told and since when, and among how many entries."""
    if board is None or board.verdict is None:
        return []
    verdict = board.verdict
    entries = 0
    told = 0
    for agent in verdict.agents:
        if agent.rank_low is not None:
            entries += 1
            told += len(agent.better_than)
    pairs = entries * (entries - 1) // 2
    if not pairs:
        return []

    shown = [
        Tile(f"{told} of {pairs}", "pairs told", "Pairs of entries of which one is told to be better."),
        Tile(f"{entries}", "entries", "Agents that are ranked; copies count once."),
    ]
    days = [datetime.fromisoformat(pair.since) for pair in verdict.told if pair.since]
    if days:
        shown.append(Tile(day_text(max(days)), "newest pair told"))
    events = f"{_resolved_events(board):,}"
    return [*shown, Tile(events, "events resolved", "Markets of one event move together.")]


def race(overview: SeasonOverview, curves: Curves, colours: Colours, lines: Lines) -> Markup:
    """Draw the equity of all agents, the first coloured, on the band that luck makes of its bets."""
    drawn = pnl_lines(curves, colours, overview.is_reference)
    if not drawn:
        return quiet("The race starts when the first round is over: “arena run --round” plays it.")

    first = next(iter(colours), "")
    points = curves.get(first, ())
    band = luck_band(pnl_values(points))
    if points and points[-1].percent * points[-1].dollars > 0:
        scale = points[-1].percent / points[-1].dollars
        for line in lines:
            if line.row.agent == first:
                band = luck_band(pnl_values(points), line.luck, scale)

    says = f"Profit or loss of {count(len(drawn), 'agent')} in percent of their bankrolls, over time"
    luck_note = f"shaded: what luck alone makes of {shortened(first, 24)}’s bets, 95 seasons in 100"
    notes = luck_note * bool(band) + dashed_note(drawn)
    return line_chart(drawn, says, "%+.0f%", band, notes.removeprefix("; "))


def decisions(newest: NewestDecisions, address: Address = in_app) -> Markup:
    """Return what was decided last, with a reason each, and the largest disagreements with the market."""
    made = zip(newest.trades, newest.outcomes, strict=True)
    trades = quotes(_trade(trade, ended, address) for trade, ended in made)
    parts = box("Largest recent trades", trades, "Nobody has traded yet." * (not trades))
    if newest.disputes:
        disputes = quotes(_dispute(dispute, address) for dispute in newest.disputes)
        parts += box("Furthest from the market", disputes)
    return parts


def _trade(trade: ExplainedTrade, ended: str | None, address: Address) -> Quotation:
    """Return a trade with its reason; its market's result, if it has one."""
    price = EMPTY
    if trade.shares:
        price = cents(round(trade.amount / trade.shares * 100) * 10_000)
    did = f"{DONE[trade.action]} {trade.side} at {price}, {dollars(round(trade.amount, -6))}"

    seen = f"says {rounded_percent(trade.probability)}"
    if trade.mid is not None:
        seen += f", price {cents(trade.mid)}"
    if ended:
        seen += f"; result: {ended}"
    return Quotation(
        who=trade.agent,
        did=did,
        why=shortened_reason(trade.reason),
        where=f"{trade.question} · {seen} · {day(trade.at)}",
        href=address(way_to_turn(trade)),
    )


def _dispute(dispute: Dispute, address: Address) -> Quotation:
    """Return a forecast that is far from the price, and how its market stands."""
    forecast = dispute.forecast
    ended = outcome(dispute.market.ended, dispute.market.payout)
    now = f"price now {cents(dispute.price)}"
    if ended:
        now = f"price {cents(forecast.mid)}; result: {ended}"
    return Quotation(
        who=forecast.agent,
        did=f"says {rounded_percent(forecast.probability)}, {now}",
        why=shortened_reason(forecast.reason),
        where=forecast.question,
        href=address(way("market", market=forecast.market_id)),
    )


def shortened_reason(text: str) -> str:
    """Return a reason as far as it is quoted."""
    whole = flat(text)
    if len(whole) <= LONGEST:
        return whole
    return f"{whole[:LONGEST].rsplit(' ', 1)[0]} …"
