"""The first page: the verdict, the race, what was decided last, and the short board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from markupsafe import Markup

from arena.operations.status import Status
from arena.record.queries.markets import ListedMarket, read_listed_markets
from arena.record.queries.turns import ExplainedTrade, FarForecast, read_explained_trades, read_far_forecasts
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard
from arena.scores.verdict import day_text
from dashboard import html
from dashboard.board import (
    BoardLook,
    board_tables,
    dashed_note,
    headline,
    is_provisional,
    leading,
    money_table,
    pnl_lines,
    pnl_values,
    show_board,
    stamps,
)
from dashboard.pages import Address, choice, in_app, link, put, way
from dashboard.record import (
    MODELS,
    NULLS,
    LeaderboardLine,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    arena_status,
    cache_note,
    kept,
    read_leaderboard_page,
    read_summed_curves,
    season,
)
from dashboard.words import (
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
)

ROUNDS = 4
"""So many rounds, the newest, are looked through."""
LOOKED = 120
"""Among so many trades or forecasts those are chosen that are shown."""

SHOWN, DISPUTED = 3, 2
"""So many of each are shown."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A forecast far from its market, how the market stands, and what YES costs now, in millionths."""

    forecast: FarForecast
    market: ListedMarket
    price: int


@dataclass(frozen=True, slots=True)
class NewestDecisions:
    """Trades with their reasons, an agent each, and what lay furthest from the market, a market each.

    `outcomes` are of the markets of these trades, None of one that goes on.
    """

    trades: tuple[ExplainedTrade, ...]
    outcomes: tuple[str | None, ...]
    disputes: tuple[Dispute, ...]


def read_newest_decisions(connection: Connection) -> NewestDecisions:
    """What was decided in the newest rounds: of each agent the largest trade, and the boldest forecasts."""
    trades: dict[str, ExplainedTrade] = {}
    found = read_explained_trades(connection, ROUNDS, LOOKED)
    for trade in sorted(found, key=lambda one: one.kind not in MODELS):
        trades.setdefault(trade.agent, trade)
    far = read_far_forecasts(connection, ROUNDS, LOOKED)
    by_models = [one for one in far if one.kind in MODELS] or [one for one in far if one.kind not in NULLS]
    disputes: dict[str, FarForecast] = {}
    for forecast in by_models:
        disputes.setdefault(forecast.market_id, forecast)
    shown = tuple(trades.values())[:SHOWN]
    listed = {one.id: one for one in read_listed_markets(connection, [one.market_id for one in shown])}
    markets = [listed[one.market_id] for one in shown]
    outcomes = tuple(outcome(market.ended, market.payout) for market in markets)
    return NewestDecisions(shown, outcomes, _disputes(connection, list(disputes.values())))


def _disputes(connection: Connection, far: list[FarForecast]) -> tuple[Dispute, ...]:
    """Of markets that go on, those first whose price is now the furthest off."""
    ids = [one.market_id for one in far]
    listed = {market.id: market for market in read_listed_markets(connection, ids)}
    quotes = newest_rows(connection, QuoteRow, ids, "at", "mid")
    found = [
        Dispute(one, listed[one.market_id], price)
        for one in far
        if one.market_id in quotes and (price := quotes[one.market_id].mid) is not None
    ]
    found.sort(key=lambda one: (one.market.ended, -abs(one.forecast.probability - one.price)))
    by_agent: dict[str, Dispute] = {}
    for one in found:
        by_agent.setdefault(one.forecast.agent, one)
    firsts = list(by_agent.values())
    return tuple([*firsts, *(one for one in found if one not in firsts)][:DISPUTED])


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
    """The page, from the verdict to the board."""
    known, shown = season(record), kept(record, read_leaderboard_page)
    status, board = arena_status(record), shown.board
    verdict = board.value.verdict if board else None
    st.title(plain(headline(verdict)[0]) if verdict else "Scores are being computed.", anchor=False)
    st.caption(_about(known, status, board.value if board else None))
    if note := cache_note(board):
        st.info(note, icon=":material/history:")
    names = racing(known, shown.lines)
    curves = kept(record, read_summed_curves, names, INSTANTS)
    colours = known.colours(known.first(names, NAMED))
    drawn = race(known, curves, colours, shown.lines)
    put(
        opening(drawn, board.value if board else None, decisions(kept(record, read_newest_decisions))), "head"
    )
    if board is None:
        put(money_table(shown.money, known.names), "table of money")
        return
    players = [line for line in shown.lines if not line.row.is_reference]
    there = {known.group(line.row.agent) for line in players}
    options = {key: label for key, label in GROUPS.items() if key == "all" or key in there}
    group = choice("Agents", "show", options, "all") if len(there) > 1 else "all"
    chosen = [line for line in shown.lines if _is_chosen(line, group, known)]
    equity = {name: [point.percent for point in points] for name, points in curves.items()}
    look = BoardLook(known, equity, colours)
    show_board(board_tables(chosen, look, provisional=is_provisional(shown.lines)))
    with st.container(horizontal=True, gap="medium"):
        link("Full leaderboard: all columns, parts of the season, CSV", "leaderboard")


def _is_chosen(line: LeaderboardLine, group: str, known: SeasonOverview) -> bool:
    """Whether a line is shown where this group of agents is asked for; references always are."""
    return line.row.is_reference or group in ("all", known.group(line.row.agent))


def racing(known: SeasonOverview, lines: Sequence[LeaderboardLine]) -> list[str]:
    """Whose curves are drawn: the first of the board or of the line-up, references last."""
    board = [line.row.agent for line in lines if line.row.kind != MARKET]
    names = board or [name for name, kind in known.agents if kind != MARKET]
    players = known.players(names)
    return [*players, *(name for name in names if name in known.names and name not in players)][:RACED]


def opening(drawn: Markup, board: Leaderboard | None, newest: Markup) -> Markup:
    """The tiles over the race, beside the newest decisions."""
    left = html.box("Equity, all cohorts", drawn)
    shown = figures(board) if board else []
    return html.columns(html.tiles(shown) + left if shown else left, newest, look="lead")


def _about(known: SeasonOverview, status: Status, board: Leaderboard | None) -> str:
    """What this is, in a line: play money, how much was played, when it goes on; then the whole verdict."""
    said = escaped(what_this_is(known, board))
    newest = max((one.at for one in status.last), default=None)
    if newest:
        said += f" Newest round: {moment(newest)}"
        at = status.calendar.next_round
        said += f"; {next_round(at, status.at, known.cohorts[-1].stamp)}." if at else "."
    marks = stamps(known.cohorts)
    rest = headline(board.verdict)[1] if board and board.verdict else ""
    return "  \n".join(part for part in [" ".join([said, *marks]), leading(rest)] if part)


def what_this_is(known: SeasonOverview, board: Leaderboard | None) -> str:
    """Say that this is play money, how much was played and by whom, and what it cost."""
    players = len(known.players(known.names))
    references = count(len(known.agents) - players, "reference")
    said = [f"{count(players, 'agent')} and {references}", "play money", _cohorts_text(known)]

    rows = board.rows if board else ()
    if events := max((row.events for row in rows), default=0):
        said.append(f"{count(events, 'event')} resolved")
    if spent := sum(row.cost_usd or 0.0 for row in rows):
        said.append(f"calls cost {in_dollars(spent)}" + " (simulated)" * known.is_simulated)
    return f"{', '.join(said)}."


def _cohorts_text(known: SeasonOverview) -> str:
    """Say how many cohorts there are, and which of them still play."""
    live = [line.number for line in known.cohorts if line.ended_at is None]
    which = "finished"
    if live:
        first_and_last = dict.fromkeys((live[0], live[-1]))
        which = f"{'–'.join(map(str, first_and_last))} playing"
    return f"{count(len(known.cohorts), 'cohort')} ({which})"


def next_round(at: datetime, now: datetime, stamp: str) -> str:
    """When it goes on.

    >>> at = datetime(2026, 1, 4)
    >>> next_round(at, datetime(2026, 1, 1), "live"), next_round(at, at, "simulated")
    ('next in 3 days', '`arena round` plays the next')
    >>> next_round(at, at, "replay")
    '`arena replay` plays the rest'
    """
    if stamp != "live":
        return "`arena replay` plays the rest" if stamp == "replay" else "`arena round` plays the next"
    seconds = (at - now).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"next in {count(int(seconds // size), unit)}"
    return "next due now"


def figures(board: Leaderboard) -> list[html.Tile]:
    """Of how many pairs the better one is told and since when, and among how many entries."""
    verdict = board.verdict
    if verdict is None:
        return []
    entries = [one for one in verdict.agents if one.rank_low is not None]
    pairs = len(entries) * (len(entries) - 1) // 2
    events = max((row.events for row in board.rows), default=0)
    if not pairs:
        return []

    told = sum(len(one.better_than) for one in entries)
    shown = [
        html.Tile(f"{told} of {pairs}", "pairs told", "Pairs of entries of which one is told to be better."),
        html.Tile(f"{len(entries)}", "entries", "Agents that are ranked; copies count once."),
    ]
    if days := [datetime.fromisoformat(pair.since) for pair in verdict.told if pair.since]:
        shown.append(html.Tile(day_text(max(days)), "newest pair told"))
    return [*shown, html.Tile(f"{events:,}", "events resolved", "Markets of one event move together.")]


def race(
    known: SeasonOverview, curves: Curves, colours: Mapping[str, str], lines: Sequence[LeaderboardLine]
) -> Markup:
    """The equity of all agents, the first coloured, on the band that luck makes of the first one's bets."""
    drawn = pnl_lines(curves, colours, known.is_reference)
    first = next(iter(colours), "")
    luck = next((line.luck for line in lines if line.row.agent == first), None)
    points = curves.get(first, ())
    scale = points[-1].percent / points[-1].dollars if points and points[-1].dollars else 0.0
    band = html.luck_band(pnl_values(points), luck if scale > 0 else None, scale)
    if not drawn:
        return html.quiet("The race starts when the first round is over: “arena round” plays it.")
    says = f"Profit or loss of {count(len(drawn), 'agent')} in percent of their bankrolls, over time"
    luck_note = f"shaded: what luck alone makes of {html.shortened(first, 24)}’s bets, 95 seasons in 100"
    notes = luck_note * bool(band) + dashed_note(drawn)
    return html.line_chart(drawn, says, "%+.0f%", band, notes.removeprefix("; "))


def decisions(found: NewestDecisions, address: Address = in_app) -> Markup:
    """What was decided last, with a reason each, and the largest disagreements with the market."""
    made = zip(found.trades, found.outcomes, strict=True)
    trades = html.quotes(_trade(trade, ended, address) for trade, ended in made)
    parts = [html.box("Largest recent trades", trades, "" if trades else "Nobody has traded yet.")]
    if found.disputes:
        disputes = html.quotes(_dispute(dispute, address) for dispute in found.disputes)
        parts.append(html.box("Furthest from the market", disputes))
    return Markup().join(parts)


def _trade(trade: ExplainedTrade, ended: str | None, address: Address) -> html.Quotation:
    did = "bought" if trade.action == "buy" else "sold"
    price = cents(round(trade.amount / trade.shares * 100) * 10_000) if trade.shares else "–"
    seen = "" if trade.mid is None else f", price {cents(trade.mid)}"
    seen += f"; result: {ended}" if ended else ""
    return html.Quotation(
        who=trade.agent,
        did=f"{did} {trade.side} at {price}, {dollars(round(trade.amount, -6))}",
        why=shortened_reason(trade.reason),
        where=f"{trade.question} · says {_percent(trade.probability)}{seen} · {day(trade.at)}",
        href=address(way("turn", cohort=trade.cohort, round=trade.round, agent=trade.agent)),
    )


def _dispute(found: Dispute, address: Address) -> html.Quotation:
    forecast, market = found.forecast, found.market
    ended = outcome(market.ended, market.payout)
    now = f"price {cents(forecast.mid)}; result: {ended}" if ended else f"price now {cents(found.price)}"
    return html.Quotation(
        who=forecast.agent,
        did=f"says {_percent(forecast.probability)}, {now}",
        why=shortened_reason(forecast.reason),
        where=forecast.question,
        href=address(way("market", market=forecast.market_id)),
    )


def _percent(millionths: int) -> str:
    return f"{millionths / 1_000_000:.0%}"


def shortened_reason(text: str) -> str:
    """A reason as far as it is quoted."""
    whole = flat(text)
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST].rsplit(' ', 1)[0]} …"
