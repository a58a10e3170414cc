"""One cohort: what its accounts made, beside how well it was calibrated; then standings and rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import streamlit as st
from markupsafe import Markup

from arena.cohorts.diff import changes_in_words, cohort_changes
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import AccountEquity, read_account_equity, read_cohort_depths, read_profits
from arena.record.queries.audits import AuditCounts, read_audit_counts
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import col, column_of, func, joined, or_, select
from arena.scores.cache import CacheEntry
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS, CohortCalibrations, ForecasterCalibration
from arena.scores.verdict import Verdict
from dashboard import html
from dashboard.board import (
    MEANT,
    METACULUS_SAID,
    RATINGS,
    READINGS,
    BoardLook,
    board_tables,
    columns_of,
    dashed_note,
    is_provisional,
    leading,
    metaculus_table,
    money_table,
    over_all_cohorts,
    pnl_lines,
    pnl_values,
    progress,
    says_and_happens,
    show_board,
    show_ratings,
    stamps,
)
from dashboard.pages import Address, choice, in_app, link, no_such, put, way
from dashboard.record import (
    CohortLine,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    cache_note,
    kept,
    leaderboard_lines,
    line_of,
    read_verdict,
    season,
)
from dashboard.words import arrow_of, code, count, day, plain, rules, settings, written
from markets.millionths import ONE

POINTS = 2_000
"""The most points that the curves of a chart have together."""
BACK = {
    "1d": timedelta(days=1),
    "1w": timedelta(days=7),
    "1m": timedelta(days=30),
    "3m": timedelta(days=91),
}
"""How far back from the newest mark a range of the curves goes."""


@dataclass(frozen=True, slots=True)
class CohortPage:
    """One cohort: what was frozen, what differs from the cohort before, and its standings.

    `changed` is None for the first cohort; `money` is there where the standings were never computed.
    """

    line: CohortLine
    cohort: Cohort
    before: int | None
    changed: tuple[str, ...]
    board: CacheEntry[Leaderboard] | None
    money: tuple[AccountEquity, ...]
    audit: AuditCounts | None


@dataclass(frozen=True, slots=True)
class CohortReturn:
    """What all accounts of a cohort together have made of what they were given, in percent; None before."""

    number: int
    percent: float | None
    is_playing: bool


@dataclass(frozen=True, slots=True)
class CohortReturns:
    """Every cohort with its return, oldest first, and the newest that tells something.

    That is the newest in which a market has ended; where none has, the one that has played longest.
    """

    cohorts: tuple[CohortReturn, ...]
    telling: int


def read_cohort_returns(connection: Connection) -> CohortReturns:
    """What can be chosen."""
    profits, stored = read_profits(connection), read_cohorts(connection)
    found = []
    for one in stored:
        mine, given = profits.get(one.cohort.number, {}), one.cohort.bankroll
        percent = 100 * sum(mine.values()) / (given * len(mine)) if mine and given else None
        is_playing = one.ended_at is None and one.stopped_at is None
        found.append(CohortReturn(one.cohort.number, percent, is_playing))
    newest = [one.number for one in reversed(found)]
    ended = next((number for number in newest if _is_any_settled(connection, number)), None)
    valued = next((one.number for one in found if one.percent is not None), newest[0])
    return CohortReturns(tuple(found), ended or valued)


def _is_any_settled(connection: Connection, cohort: int) -> bool:
    """Return whether a market of a cohort was paid out or refunded to its accounts."""
    query = (
        select(EntryRow.at)
        .select_from(joined(CohortRow, EntrantRow, EntryRow))
        .where(CohortRow.number == cohort, col(EntryRow.kind).in_(("settle", "refund")))
    )
    return connection.scalar(query.limit(1)) is not None


def read_cohort_page(connection: Connection, number: int) -> CohortPage:
    """One cohort, but for its curves and its calibration."""
    known = read_cohorts(connection)
    place = next(place for place, one in enumerate(known) if one.cohort.number == number)
    stored, before = known[place], known[place - 1].cohort if place else None
    board = LEADERBOARD.read(connection, number)
    return CohortPage(
        line=line_of(connection, stored, read_cohort_depths(connection)),
        cohort=stored.cohort,
        before=None if before is None else before.number,
        changed=() if before is None else tuple(changes_in_words(cohort_changes(before, stored.cohort))),
        board=board,
        money=tuple(read_account_equity(connection, number)) if board is None else (),
        audit=read_audit_counts(connection, [number]),
    )


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """An account at one instant, in millionths: cash with open positions at mid."""

    agent: str
    at: datetime
    total: int


def read_equity_curves(
    connection: Connection, cohort: int, points: int = POINTS, back: timedelta | None = None
) -> list[EquityPoint]:
    """Return a cohort's accounts by time and in line-up order, so many points in all.

    `back` is how far to go from the newest mark; without it the curves begin at the first one.
    """
    query = (
        select(EntrantRow.id, EntrantRow.name, EntrantRow.cohort_id)
        .select_from(joined(EntrantRow, CohortRow))
        .where(CohortRow.number == cohort)
        .order_by(EntrantRow.position)
    )
    line_up = connection.execute(query).all()
    if not line_up:
        return []
    newest = connection.scalar(select(func.max(MarkRow.at)).where(MarkRow.entrant_id == line_up[0].id))
    if newest is None:
        return []

    snapshots = [SnapshotRow.cohort_id == line_up[0].cohort_id, SnapshotRow.at <= newest]
    if back is not None:
        snapshots.append(SnapshotRow.at >= newest - back)
    times = _evenly(connection, snapshots, max(points // len(line_up), 2))

    names = {row.id: row.name for row in line_up}
    marks = select(MarkRow.entrant_id, MarkRow.at, MarkRow.cash + MarkRow.value)
    marks = marks.where(col(MarkRow.entrant_id).in_(names), col(MarkRow.at).in_(times))
    totals = {(at, entrant_id): total for entrant_id, at, total in connection.execute(marks)}

    curve = []
    for at in times:
        for entrant_id, name in names.items():
            if (at, entrant_id) in totals:
                curve.append(EquityPoint(name, at, totals[at, entrant_id]))
    return curve


def _evenly(connection: Connection, snapshots: Sequence[bool], most: int) -> list[datetime]:
    """Return `most` of the times of snapshots, evenly by their place, the first and the last among them."""
    place = func.row_number().over(order_by=column_of(SnapshotRow.at)) - 1
    count = func.count().over()
    numbered = select(SnapshotRow.at, place.label("place"), count.label("count")).where(*snapshots).subquery()

    snapshot = numbered.c
    step = (snapshot.place * (most - 1)) // (snapshot.count - 1)
    step_before = ((snapshot.place - 1) * (most - 1)) // (snapshot.count - 1)
    is_picked = or_(snapshot.place == 0, snapshot.count <= most, step > step_before)
    return list(connection.scalars(select(snapshot.at).where(is_picked).order_by(snapshot.at)))


def read_cohort_curves(
    connection: Connection, number: int, back: timedelta | None = None
) -> tuple[PnlPoint, ...]:
    """What the accounts of a cohort have gained, from so far back or from its start."""
    stored = next(one for one in read_cohorts(connection) if one.cohort.number == number)
    return gains(stored.cohort, read_equity_curves(connection, number, POINTS, back))


def gains(cohort: Cohort, worth: Iterable[EquityPoint]) -> tuple[PnlPoint, ...]:
    """What each account has gained at every mark, in dollars and in percent of its bankroll."""
    found = ((mark.agent, mark.at, mark.total - cohort.bankroll) for mark in worth)
    return tuple(PnlPoint(agent, at, gain / ONE, 100 * gain / cohort.bankroll) for agent, at, gain in found)


TITLE = "Cohorts"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 2

UNITS = {"dollars": "$", "percent": "%"}
WRITTEN = {"dollars": ("short", "short"), "percent": ("%+.0f%", "%+.1f%")}
"""How an axis, and the end of a line, are written in each unit."""
RANGES = {"1d": "1D", "1w": "1W", "1m": "1M", "3m": "3M", "all": "All"}

FIRST, SHOWN = "first three", "cohort that is shown"
PLAYING = " •"
NAMED = 3
"""So many agents are coloured, those that made most, unless one is highlighted."""

COHORT_COLUMNS = columns_of("return_pct", "bets", "resolved")
"""What the board of a cohort has in place of what is known of all cohorts alone."""

Curves = Mapping[str, Sequence[PnlPoint]]


def show(record: RecordSource) -> None:
    """The page: which cohort, the verdict, money beside calibration, standings, and what was frozen."""
    known, offered = season(record), kept(record, read_cohort_returns)
    number = _asked([one.number for one in offered.cohorts], offered.telling)
    put(cohort_pills(offered, number), "cohorts")
    page = kept(record, read_cohort_page, number)
    whole = by_agent(kept(record, read_cohort_curves, number))
    st.title(plain(heading(number, known, whole)), anchor=False)
    _lead(page, kept(record, read_verdict))
    ranked = by_gain(whole)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        unit = choice("Unit", "unit", UNITS, "dollars")
        back = choice("Range", "range", RANGES, "all")
        reading = choice("Reading", "reading", READINGS, "stated")
        agents = {FIRST: "Highlight one agent"} | {name: name for name in ranked}
        one = choice("Highlight", "agent", agents, FIRST, "list")
    chosen = [one] if one != FIRST else known.first(ranked, NAMED)
    colours = known.colours(chosen)
    found = whole if back == "all" else by_agent(kept(record, read_cohort_curves, number, BACK[back]))
    put(
        html.columns(
            money_box(found, colours, unit, known),
            calibration_box(kept(record, CALIBRATIONS.read, number), reading, colours),
        ),
        "charts",
    )
    _standings(page, known, whole, colours)
    _frozen(page)
    _changed(page)


def _asked(numbers: Sequence[int], default: int) -> int:
    """The cohort that the address names, or the one that tells most; it stays while the page is open."""
    named, known = st.query_params.get("cohort", ""), st.session_state.get(SHOWN)
    no_such("cohort", [named or None], list(map(str, numbers)))
    chosen = next((number for number in numbers if str(number) == named), None)
    st.session_state[SHOWN] = chosen or (known if known in numbers else default)
    return int(st.session_state[SHOWN])


def cohort_pills(offered: CohortReturns, chosen: int, address: Address = in_app) -> Markup:
    """Every cohort with what all its accounts together have made, and whether it still plays."""
    found = [
        (
            f"{one.number} {_return_words(one)}",
            address(way("cohort", cohort=one.number)) or "",
            one.number == chosen,
        )
        for one in offered.cohorts
    ]
    dotted = any(one.is_playing and one.percent is not None for one in offered.cohorts)
    return html.pills(
        found,
        f"Cohorts, with the return of all accounts together{f' ({PLAYING[1:]} still playing)' * dotted}",
    )


def _return_words(one: CohortReturn) -> str:
    if one.percent is None:
        return "playing" if one.is_playing else "–"
    return f"{arrow_of(one.percent)}{written(abs(one.percent), '%.0f%')}{PLAYING * one.is_playing}"


def heading(number: int, known: SeasonOverview, curves: Curves) -> str:
    """How many of its agents have made money."""
    ends = [curves[name][-1].dollars for name in known.players(curves) if curves[name]]
    if not ends:
        return f"Cohort {number}"
    made = sum(end > 0.005 for end in ends)
    return f"Cohort {number}: {made:,} of {count(len(ends), 'agent')} made money"


def _lead(page: CohortPage, verdict: Verdict | None) -> None:
    said = [f"Started {day(page.line.starts_at)}: {progress(page.line)}.", *stamps([page.line])]
    st.caption(" ".join(said))
    if verdict is not None:
        st.caption(leading(over_all_cohorts(verdict)))
    if note := cache_note(page.board):
        st.info(note, icon=":material/history:")


def by_agent(points: Sequence[PnlPoint]) -> dict[str, list[PnlPoint]]:
    """The curve of each agent."""
    found: dict[str, list[PnlPoint]] = {}
    for point in points:
        found.setdefault(point.agent, []).append(point)
    return found


def by_gain(curves: Curves) -> list[str]:
    """The names of agents, who made most first."""
    return sorted(curves, key=lambda name: -curves[name][-1].dollars)


def money_box(curves: Curves, colours: Mapping[str, str], unit: str, known: SeasonOverview) -> Markup:
    """The curves, and what they come to."""
    axis, end = WRITTEN[unit]
    shown = pnl_lines(curves, colours, known.is_reference, unit, end)
    if not shown:
        below = "No account has been valued yet: the first round starts the curves."
        return html.box("Profit and loss", below=below)
    first = next((name for name in colours if name in curves), "")
    band = html.luck_band(pnl_values(curves[first], unit)) if first else ()
    says = "Profit or loss of each agent over time"
    chart = html.line_chart(shown, says, axis, band, frames=html.HALVES)
    said = _said_of_money(curves, next(iter(colours), ""), dashed_note(shown))
    return html.box("Profit and loss", chart, said)


def _said_of_money(curves: Curves, first: str, note: str) -> str:
    said = f"Open positions at mid{note}."
    if len({point.dollars for point in curves.get(first, ())}) < 2:  # luck makes nothing of no ups and downs
        return said
    return f"{said} Shaded: what luck alone would make of the ups and downs of {first}, 95 times in 100."


def calibration_box(
    entry: CacheEntry[CohortCalibrations] | None, reading: str, colours: Mapping[str, str]
) -> Markup:
    """How well those that are coloured are calibrated, and in words."""
    title = "Calibration: what it says, what happens"
    if entry is None:
        return html.box(title, below=cache_note(None, "Calibration and its bands"))
    of_all: tuple[ForecasterCalibration, ...] = getattr(entry.value, reading)
    agents = [agent for agent in of_all if agent.agent in colours and agent.scored]
    if not agents:
        made = any(agent.made for agent in of_all)
        nobody = "Nobody has answered yet." if reading == "stated" else "Nobody has bet yet."
        why = "No market has resolved yet." if made else nobody
        return html.box(title, below=f"{why} Calibration needs forecasts with an outcome.")
    agents.sort(key=lambda agent: list(colours).index(agent.agent))
    curves = [(agent.agent, agent.diagram, colours[agent.agent]) for agent in agents]
    market = entry.value.market
    if market.scored:
        curves.append(("price", market.diagram, html.REST))
    chart = html.calibration_chart(curves, "What was said against what happened")
    told = [f"{agent.agent}: {says_and_happens(agent.diagram)}." for agent in agents]
    band = (
        f"Shaded: where 90 of 100 calibrated forecasters would lie with the forecasts of {agents[0].agent}."
    )
    return html.box(title, chart, html.lines([*told, band, MEANT[reading], cache_note(entry)]))


def _standings(page: CohortPage, known: SeasonOverview, curves: Curves, colours: Mapping[str, str]) -> None:
    if page.board is None:
        put(money_table(page.money, known.names), "table of money")
        return
    every = leaderboard_lines(page.board.value)
    equity = {name: [point.dollars for point in points] for name, points in curves.items()}
    look = BoardLook(known, equity, colours)
    show_board(board_tables(every, look, COHORT_COLUMNS, provisional=is_provisional(every)))
    link("All columns, CSV", "leaderboard", cohort=page.line.number)
    with st.expander(RATINGS):
        show_ratings(every, [page.line])
    if page.board.value.metaculus:
        with st.expander("By Metaculus's scores"):
            put(metaculus_table(page.board.value.metaculus, known.names), "Metaculus's scores")
            st.caption(METACULUS_SAID)


def _frozen(page: CohortPage) -> None:
    with st.expander("How this cohort plays: rules and line-up, frozen at its start"):
        if page.before is not None and not page.changed:
            st.caption(f"Identical to cohort {page.before}: same agents, rules, markets and prompts.")
        put(html.points(rules(page.cohort)), "rules")
        if page.audit is not None:
            st.caption(plain(page.audit.words))
        put(line_up(page.cohort), "line-up")


def line_up(cohort: Cohort, address: Address = in_app) -> Markup:
    """Who plays, a row an agent, with its frozen settings."""
    entrants = cohort.entrants
    data = {
        "Agent": [entrant.name for entrant in entrants],
        "Kind": [entrant.kind for entrant in entrants],
        "Settings": [settings(entrant) for entrant in entrants],
    }
    hrefs = [address(way("agent", agent=entrant.name)) for entrant in entrants]
    told = {"Settings": html.words("Settings", long=True)}
    return html.html_table(data, told, "Line-up of the cohort", hrefs)


def _changed(page: CohortPage) -> None:
    """What differs from the cohort before, as `arena cohorts diff` says it."""
    if page.changed:
        with st.expander(f"What differs from cohort {page.before}"):
            st.markdown("\n".join(f"- {code(line)}" for line in page.changed))
