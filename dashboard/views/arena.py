"""The first page: the verdict, the race, the latest decisions, and the short board."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from markupsafe import Markup, escape

from arena.errors import far_text
from arena.record.queries.cohorts import IS_TRADING, PLACE, item_of, read_hidden_rounds
from arena.record.queries.markets import (
    BEGINNING,
    ListedMarket,
    read_listed_markets,
    read_newest_instant,
)
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
    read_objects,
    select,
    select_fields,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.scores.all_kinds import ALL_KINDS
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.positions import Position
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.rules.money.luck import Luck
from dashboard.board import (
    BoardLook,
    equity_values,
    headline,
    is_provisional,
    money_table,
    only_valuation,
    progress,
    season_board,
    stamps,
)
from dashboard.cohorts import (
    Curves,
    Leads,
    MoneyLook,
    asked_cohort,
    by_gain,
    calibration_box,
    cohort_calibration_box,
    cohort_lines,
    cohort_strip,
    curves_of,
    money_box,
    read_all_holdings,
    read_cohort_curves,
    read_cohort_returns,
    read_diagrams,
)
from dashboard.html import (
    EMPTY,
    NOTHING,
    Quotation,
    beside,
    board_of,
    box,
    columns_of_table,
    linked,
    quiet,
    quotes,
)
from dashboard.kinds_board import all_kinds_boxes, costs_of
from dashboard.long_names import short_forms
from dashboard.pages import (
    ALL,
    Address,
    Way,
    choice,
    heading,
    in_app,
    put,
    show_age,
    staying,
    way,
    way_to_agent,
    way_to_turn,
)
from dashboard.record import (
    MODELS,
    NULLS,
    Colours,
    FailedTurn,
    LeaderboardPage,
    Lines,
    RecordSource,
    SeasonOverview,
    arena_status,
    cache_note,
    read_cached,
    read_failed_turns,
    read_leaderboard_page,
    read_summed_curves,
    read_verdict,
    season,
)
from dashboard.words import (
    DONE,
    cents,
    count,
    day,
    dollars,
    filled,
    flat,
    in_dollars,
    moment,
    outcome,
    plain,
    rounded_percent,
    with_true_minus,
)
from markets.millionths import ONE
from markets.model import MarketId

ROUNDS = 4
"""The newest rounds that are searched."""
LOOKED = 120
"""Trades or forecasts among which those shown are chosen."""

SHOWN = 2
"""Trades and forecasts that are shown, of each."""


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
    """A forecast far from the price that its agent was shown."""

    mid: int


@dataclass(frozen=True, slots=True)
class ExplainedTrade(PlacedForecast):
    """A forecast on which the agent traded."""

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
    rounds = rounds.where(col(RoundRow.id).not_in(read_hidden_rounds(connection)))
    ids = list(connection.scalars(rounds.limit(ROUNDS)))
    return query.where(col(TurnRow.round_id).in_(ids)).limit(LOOKED)


def _read_explained_trades(connection: Connection) -> list[ExplainedTrade]:
    """Return the trades of the newest rounds, those first that have a reason, then the largest."""
    is_traded = and_(FillRow.turn_id == TurnRow.id, FillRow.market_id == ForecastRow.market_id)
    query = (
        select_fields(ExplainedTrade, *STATED, FillRow, **PLACE)
        .select_from(STATED_IN_TURN.join(FillRow, is_traded))
        .order_by(ForecastRow.reason == "", col(FillRow.amount).desc())
        .order_by(ForecastRow.market_id, EntrantRow.name)
    )
    return read_objects(ExplainedTrade, connection.execute(_in_newest_rounds(connection, query)))


def _read_far_forecasts(connection: Connection) -> list[FarForecast]:
    """Return the probabilities of the newest rounds that lay furthest from the price then."""
    distance = func.abs(column_of(ForecastRow.probability) - column_of(QuoteRow.mid))
    query = (
        select_fields(FarForecast, *STATED, **PLACE)
        .select_from(STATED_IN_TURN)
        .where(col(QuoteRow.mid).is_not(None))
        .order_by(distance.desc(), ForecastRow.market_id, EntrantRow.name)
    )
    return read_objects(FarForecast, connection.execute(_in_newest_rounds(connection, query)))


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
    """Trades with reasons, one an agent, and the forecasts furthest from the price, one a market.

    `outcomes` are those of the trades' markets, None for one still open.
    """

    trades: tuple[ExplainedTrade, ...]
    outcomes: tuple[str | None, ...]
    disputes: tuple[Dispute, ...]


def read_newest_decisions(connection: Connection, copies: Collection[str] = ()) -> NewestDecisions:
    """Return the largest recent trades, of distinct agents and decisions, and the boldest forecasts.

    Agents that copy another are left out.
    """
    trade_of_agent: dict[str, ExplainedTrade] = {}
    decisions_shown = set()
    explained = _read_explained_trades(connection)
    for trade in sorted(explained, key=lambda trade: trade.kind not in MODELS):
        decision = (trade.market_id, trade.action, trade.side)
        is_copy = trade.agent in copies or decision in decisions_shown
        if trade.agent not in trade_of_agent and not is_copy:
            trade_of_agent[trade.agent] = trade
            decisions_shown.add(decision)

    shown = tuple(trade_of_agent.values())[:SHOWN]
    markets = _markets_by_id(connection, shown)
    outcomes = []
    for trade in shown:
        market = markets[trade.market_id]
        outcomes.append(outcome(market.ended, market.payout))
    return NewestDecisions(shown, tuple(outcomes), _read_disputes(connection, copies))


def _markets_by_id(
    connection: Connection, decisions: Iterable[ExplainedTrade | FarForecast]
) -> dict[MarketId, ListedMarket]:
    """Return the markets of these decisions, by id."""
    ids = [decision.market_id for decision in decisions]
    return {market.id: market for market in read_listed_markets(connection, ids)}


def _read_disputes(connection: Connection, copies: Collection[str]) -> tuple[Dispute, ...]:
    """Return forecasts far from the price, one an agent: those of open markets first, by distance."""
    far_forecasts = [forecast for forecast in _read_far_forecasts(connection) if forecast.agent not in copies]
    model_forecasts = [forecast for forecast in far_forecasts if forecast.kind in MODELS]
    if not model_forecasts:
        model_forecasts = [forecast for forecast in far_forecasts if forecast.kind not in NULLS]
    furthest_in_market: dict[MarketId, FarForecast] = {}
    for forecast in model_forecasts:
        furthest_in_market.setdefault(forecast.market_id, forecast)

    markets = _markets_by_id(connection, furthest_in_market.values())
    prices = newest_rows(connection, QuoteRow, list(furthest_in_market), "at", "mid")
    disputes = []
    for market_id, forecast in furthest_in_market.items():
        quote = prices.get(market_id)
        if quote is not None and quote.mid is not None:
            disputes.append(Dispute(forecast, markets[market_id], quote.mid))
    disputes.sort(key=lambda dispute: (dispute.market.ended, -dispute.apart))

    by_agent: dict[str, Dispute] = {}
    for dispute in disputes:
        by_agent.setdefault(dispute.forecast.agent, dispute)
    one_per_agent = list(by_agent.values())
    others = [dispute for dispute in disputes if dispute not in one_per_agent]
    return tuple([*one_per_agent, *others][:SHOWN])


@dataclass(frozen=True, slots=True)
class OpenMarket:
    """A market in which agents hold positions: how many on each side, their worth, and when it closes."""

    id: MarketId
    question: str
    closes_at: datetime
    yes: int
    no: int
    value: int
    gain: int


@dataclass(frozen=True, slots=True)
class HeldMarkets:
    """All markets in which agents hold something, the largest first, and the newest instant of the record."""

    markets: tuple[OpenMarket, ...]
    at: datetime


def read_held_markets(connection: Connection) -> HeldMarkets:
    """Return the markets in which agents hold positions."""
    positions_in: dict[MarketId, list[Position]] = {}
    for holdings in read_all_holdings(connection).values():
        for holding in holdings:
            positions_in.setdefault(holding.position.market_id, []).append(holding.position)

    markets = []
    for market in read_listed_markets(connection, list(positions_in)):
        yes_lots = 0
        value = 0
        gain = 0
        positions = positions_in[market.id]
        for position in positions:
            yes_lots += position.side == "YES"
            value += position.money.value
            gain += position.money.unrealised
        no_lots = len(positions) - yes_lots
        markets.append(
            OpenMarket(market.id, market.question, market.closes_at, yes_lots, no_lots, value, gain)
        )
    markets.sort(key=lambda market: -market.value)
    return HeldMarkets(tuple(markets), read_newest_instant(connection, BEGINNING))


TITLE = "Leaderboard"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 1

GROUPS = {"all": "All", "models": "Models and programs", "people": "People"}
INSTANTS = 24
"""Instants at which P/L over all cohorts is drawn."""
NAMED = 3
"""Agents with a colour, the first of the board."""
RACED = 20
"""Agents with a line."""
LONGEST = 110
CAUSE = 300
"""The most characters quoted of a reason, and of the cause of a failure."""
HIGH = 200
LOW = 136
"""The height of P/L and calibration in pixels."""
OPEN_MARKETS = 6
"""Markets with positions that are listed."""
FAILURES = 200
"""Turns without an answer among which the newest of each agent is found."""


def page_of(number: int | None) -> Way:
    """Return where this page shows a cohort, or all of them."""
    if number is None:
        return way("arena")
    return way("arena", cohort=number)


def show(record: RecordSource) -> None:
    """Show the verdict, the cohorts, money beside calibration, the board, and what was decided last."""
    overview = season(record)
    returns = read_cached(record, read_cohort_returns)
    top = st.container()
    number = asked_cohort(returns)
    put(cohort_strip(returns, number, page_of, bar_address=staying), "cohorts")

    leaderboard_page = read_cached(record, read_leaderboard_page, number)
    lines = leaderboard_page.lines
    with top:
        _show_lead(record, overview, number)
        show_age(leaderboard_page.board)
    has_money = overview.has_money
    if number is None:
        names = drawn_agents(overview, lines)
        curves: Curves = read_cached(record, read_summed_curves, names, INSTANTS)
    else:
        has_money = overview.cohort(number).rules.money
        curves = curves_of(read_cached(record, read_cohort_curves, number))
        names = by_gain(curves)
    colours = overview.colours(overview.first(names, NAMED))

    if have_all_failed(lines):
        failed = read_cached(record, read_failed_turns, FAILURES, tuple(WHY), number)
        put(failures_box(failed, lines, overview), "failures")
    else:
        charts = _calibration_or_positions_box(record, overview, number, lines, colours)
        if has_money and only_valuation(curves) is None:
            money_look = MoneyLook(
                overview, colours, href_of=_leads(number), lucks=lucks_of(lines), height=HIGH
            )
            charts = beside(money_box(curves, money_look), charts, look="halves first")
        put(charts, "charts")

    look = BoardLook(overview, equity_values(curves if has_money else {}, "percent"), colours)
    _show_boards(record, number, leaderboard_page, look, has_money=has_money)
    destinations = {"Full leaderboard: all columns, parts of the season, CSV": way("leaderboard")}
    if number is not None:
        destinations[f"Cohort {number}: rules, line-up, ranges"] = way("cohort", cohort=number)
    newest_decisions = read_cached(record, read_newest_decisions, copies_of(leaderboard_page.lines))
    put(decisions_boxes(newest_decisions) + onward(destinations), "decisions")


def _show_boards(
    record: RecordSource,
    number: int | None,
    leaderboard_page: LeaderboardPage,
    look: BoardLook,
    *,
    has_money: bool,
) -> None:
    """Show the board, and that of all kinds of questions if there are others than yes or no.

    Where nobody bets, that of all kinds stands alone, as it has everything known.
    """
    lines = leaderboard_page.lines
    cached_kinds = read_cached(record, ALL_KINDS.read, number)
    all_kinds = None if cached_kinds is None else cached_kinds.value
    if all_kinds is not None and not has_money:
        put(all_kinds_boxes(all_kinds, look.overview, costs=costs_of(lines)), "all kinds")
        return

    if leaderboard_page.board is None:
        put(money_table(leaderboard_page.money, look.overview.names), "table of money")
    else:
        if number is not None:
            lines = cohort_lines(leaderboard_page.board.value, read_cached(record, CALIBRATIONS.read, number))
        provisional = is_provisional(lines)
        put(season_board(_chosen_lines(lines, look.overview), look, provisional=provisional), "board")

    put(all_kinds_boxes(all_kinds, look.overview), "all kinds")


def _show_lead(record: RecordSource, overview: SeasonOverview, number: int | None) -> None:
    """Show the verdict, and below it what kind of season this is and when the next round is."""
    entry = read_cached(record, LEADERBOARD.read)
    board = None if entry is None else entry.value
    title = "Scores are being computed."
    other_sentences = ""
    verdict = read_cached(record, read_verdict)
    if verdict is not None:
        title, other_sentences = headline(verdict)
    heading(plain(short_names(title, overview.names)))

    status = arena_status(record)
    newest = max((played.at for played in status.last), default=None)
    sentences = [what_this_is(overview, board)]
    if number is not None:
        line = overview.cohort(number)
        over_all = "The verdict is over all cohorts."
        sentences = [over_all, f"Cohort {number}, started {day(line.starts_at)}: {progress(line)}."]
    if newest:
        next_round_text = ""
        if status.calendar.next_round:
            next_round_text = (
                f"; {next_round(status.calendar.next_round, status.at, overview.cohorts[-1].stamp)}"
            )
        at = moment(newest) if status.calendar.live else day(newest)
        sentences.append(f"Newest round: {at}{next_round_text}.")
    put(lead(short_names(other_sentences, overview.names), [*sentences, *stamps(overview.cohorts)]), "lead")


def short_names(text: str, names: Collection[str]) -> str:
    """Return a sentence in which long names are shortened, as they are in charts.

    >>> short_names("maker/a-very-long-name-with-tools leads.", ["maker/a-very-long-name-with-tools"])
    'a-very-lo…ith-tools leads.'
    """
    forms = short_forms(names, LONGEST_NAME)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, forms[name])
    return text


LONGEST_NAME = 20
"""The most letters of a name in a heading."""


def lead(rest: str, about: Sequence[str]) -> Markup:
    """Return what follows the heading: the rest of the verdict, and in grey what this is."""
    text = NOTHING
    if rest:
        text = filled("<p>%s</p>", with_true_minus(rest))
    return text + quiet(" ".join(about))


def _leads(number: int | None) -> Leads:
    """Return the function from a line to its link: its agent, in the cohort that is shown."""
    return lambda name: way_to_agent(name, number).href


def _calibration_or_positions_box(
    record: RecordSource, overview: SeasonOverview, number: int | None, lines: Lines, colours: Colours
) -> Markup:
    """Return the calibration of agents or, until something has resolved, their positions."""
    if is_before_results(lines):
        positions = read_cached(record, read_held_markets)
        if positions.markets:
            return positions_box(positions)
    if number is None:
        diagrams = read_cached(record, read_diagrams, list(colours))
        return calibration_box(diagrams, colours, uncalibrated(lines), height=LOW)

    entry = read_cached(record, CALIBRATIONS.read, number)
    shown = sum(line.row.shown for line in lines)
    return cohort_calibration_box(entry, colours, overview.cohort(number), shown, height=LOW)


def is_before_results(lines: Lines) -> bool:
    """Tell whether agents play, and nothing of what they were shown has resolved."""
    return is_provisional(lines) and not any(line.row.resolved for line in lines)


def uncalibrated(lines: Lines) -> str:
    """Say why calibration over all cohorts can't be drawn."""
    why = "No agent has stated a probability yet."
    for line in lines:
        row = line.row
        if row.answered and row.resolved:
            return cache_note(None, "Calibration and its bands")
        if row.answered:
            why = "No market that the agents forecast has resolved yet."
    return why


def copies_of(lines: Lines) -> tuple[str, ...]:
    """Return the agents that repeat the forecasts of another."""
    return tuple(line.row.agent for line in lines if line.row.copies)


def lucks_of(lines: Lines) -> dict[str, Luck | None]:
    """Return the luck band of each agent's bets."""
    return {line.row.agent: line.luck for line in lines}


def _chosen_lines(lines: Lines, overview: SeasonOverview) -> Lines:
    """Let a group of agents be chosen if there are several; references are always shown."""
    group_of = {line.row.agent: overview.group(line.row.agent) for line in lines if not line.row.is_reference}
    present_groups = {ALL, *group_of.values()}
    if len(present_groups) < 3:
        return lines
    options = {key: label for key, label in GROUPS.items() if key in present_groups}
    group = choice("Agents", "show", options, ALL)
    if group == ALL:
        return lines
    return [line for line in lines if group_of.get(line.row.agent, group) == group]


def drawn_agents(overview: SeasonOverview, lines: Lines) -> list[str]:
    """Return the agents to draw: the first of the board or line-up, no copies, references last."""
    names = []
    for line in lines:
        row = line.row
        if row.kind != MARKET and (row.is_reference or not row.copies):
            names.append(row.agent)
    if not names:
        names = [name for name, kind in overview.agents if kind != MARKET]
    known_names = [name for name in names if name in overview.names]
    return sorted(known_names, key=overview.is_reference)[:RACED]


def what_this_is(overview: SeasonOverview, board: Leaderboard | None) -> str:
    """Say that this is play money, who played how much, and what it cost."""
    players = len(overview.players(overview.names))
    references = len(overview.agents) - players
    who = count(players, "agent")
    if references and players:
        who += f" and {count(references, 'reference')}"
    elif references:
        who = count(references, "reference")
    played_for = "play money" if overview.has_money else "forecasts alone"
    parts = [who, played_for, _cohorts_text(overview)]

    rows = board.rows if board else ()
    events = max((row.events for row in rows), default=0)  # of the agent that was shown most of them
    if events:
        parts.append(f"{count(events, 'event')} resolved")
    spent = sum(row.cost_usd or 0.0 for row in rows)
    if spent:
        parts.append(f"calls cost {in_dollars(spent)}" + " (simulated)" * overview.is_simulated)
    return f"{', '.join(parts)}."


def _cohorts_text(overview: SeasonOverview) -> str:
    """Say how many cohorts there are, and how many of them still play."""
    cohorts = overview.cohorts
    live = sum(line.ended_at is None for line in cohorts)
    which = f"{live:,} playing"
    if not live:
        which = "finished"
    elif live == len(cohorts):
        which = "playing"
    return f"{count(len(cohorts), 'cohort')} ({which})"


def next_round(at: datetime, now: datetime, stamp: str) -> str:
    """Say when the next round is played.

    >>> at = datetime(2026, 1, 4)
    >>> next_round(at, datetime(2026, 1, 1), "live"), next_round(at, at, "simulated")
    ('next in 3 days', '“arena run --round” plays the next')
    >>> next_round(at, at, "replay")
    '“arena study replay” plays the rest'
    """
    if stamp == "replay":
        return "“arena study replay” plays the rest"
    if stamp != "live":
        return "“arena run --round” plays the next"
    seconds = (at - now).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"next in {count(int(seconds // size), unit)}"
    return "next due now"


def have_all_failed(lines: Lines) -> bool:
    """Tell whether agents were asked, and none of them has given a usable answer."""
    is_any_asked = False
    for line in lines:
        row = line.row
        if row.turns and not row.is_reference:
            is_any_asked = True
            if row.answered:
                return False
    return is_any_asked


def failures_box(
    failed: Sequence[FailedTurn], lines: Lines, overview: SeasonOverview, address: Address = in_app
) -> Markup:
    """Return why no agent gave a usable answer: the newest failed turn of each, and what to do."""
    newest_failure: dict[str, FailedTurn] = {}
    for failure in failed:
        newest_failure.setdefault(failure.agent, failure)

    quotations = []
    for line in lines:
        row = line.row
        if row.agent in newest_failure and not row.is_reference:
            turn = newest_failure[row.agent]
            place = f"cohort {turn.cohort}, round {turn.round}"
            place_text = f"{overview.about(row.agent)} · {turn.code or turn.status} in {place}"
            failure_text = f"gave no usable answer in {count(row.turns, 'turn')}: {WHY[turn.status]}"
            cause = shortened_reason(turn.message or "", CAUSE)
            quotations.append(
                Quotation(row.agent, failure_text, cause, place_text, address(way_to_turn(turn)))
            )

    page = linked(Markup("Operations"), address(way("operations")))
    advice = filled("%s lists every failed turn. “arena status” says what to do next.", page)
    return box("Why no agent gave a usable answer", quotes(quotations[:FAILED_SHOWN]), advice)


WHY = {
    "failed": "no answer came",
    "late": "answers came too late",
    "malformed": "answers could not be read",
    "declined": "its model refused",
    "waiting": "it waits for the key of its model",
    "out": "it had no money to bet",
}
"""Why a turn has no usable answer, by its status."""
FAILED_SHOWN = 8
"""Agents whose failures are shown."""


def positions_box(positions: HeldMarkets, address: Address = in_app) -> Markup:
    """Return the agents' positions: the largest markets with their closing times, and the totals."""
    rows = []
    position_count = 0
    total_value = 0
    soonest_close = None
    for market in positions.markets:
        position_count += market.yes + market.no
        total_value += market.value
        closes = "closed"
        if market.closes_at > positions.at:
            closes = far_text(market.closes_at, positions.at)
            soonest_close = min(soonest_close or market.closes_at, market.closes_at)
        rows.append(
            {
                "Market": market.question,
                "YES": market.yes or None,
                "NO": market.no or None,
                "Value $": market.value / ONE,
                "Gain $": market.gain / ONE,
                "Closes": closes,
                "href": address(way("market", market=market.id)),
            }
        )

    positions_text = f"{count(position_count, 'position')} in {count(len(rows), 'market')}"
    summary = f"{positions_text}, worth {in_dollars(total_value / ONE)} at mid."
    if soonest_close is not None:
        summary += f" The first market closes {far_text(soonest_close, positions.at)}."
    columns = columns_of_table("open markets")
    table = board_of({"": rows[:OPEN_MARKETS]}, columns, "Open positions by market")
    return box("Open positions", table, summary)


def decisions_boxes(newest: NewestDecisions, address: Address = in_app) -> Markup:
    """Return the latest decisions with their reasons, and the largest disagreements with the market."""
    traded = zip(newest.trades, newest.outcomes, strict=True)
    trades = quotes(_trade(trade, ended, address) for trade, ended in traded)
    if not trades:
        return NOTHING
    parts = [box("Largest recent trades", trades)]
    if newest.disputes:
        disputes = quotes(_dispute(dispute, address) for dispute in newest.disputes)
        parts.append(box("Furthest from the market", disputes))
    return beside(*parts, look="halves brief")


def onward(ways: Mapping[str, Way]) -> Markup:
    """Return links to related pages, in one line."""
    links = [linked(escape(text), to.href) for text, to in ways.items()]
    return quiet(Markup(" · ").join(links))


def _trade(trade: ExplainedTrade, ended: str | None, address: Address) -> Quotation:
    """Return a trade with its reason; its market's result, if it has one."""
    price = EMPTY
    if trade.shares:
        price = cents(round(trade.amount / trade.shares * 100) * 10_000)
    trade_text = f"{DONE[trade.action]} {trade.side} at {price}, {dollars(round(trade.amount, -6))}"

    belief_text = f"says {rounded_percent(trade.probability)}"
    if trade.mid is not None:
        belief_text += f", price {cents(trade.mid)}"
    if ended:
        belief_text += f"; result: {ended}"
    return Quotation(
        who=trade.agent,
        did=trade_text,
        why=shortened_reason(trade.reason),
        where=f"{belief_text} · {day(trade.at)} · {trade.question}",
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


def shortened_reason(text: str, most: int = LONGEST) -> str:
    """Return a reason as far as it is quoted."""
    whole = flat(text)
    if len(whole) <= most:
        return whole
    return f"{whole[:most].rsplit(' ', 1)[0]} …"
