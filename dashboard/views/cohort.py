"""One cohort: what its accounts made, beside how well it was calibrated; then standings and rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import streamlit as st
from markupsafe import Markup

from arena.cohorts.diff import changes_in_words, cohort_changes
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import AccountEquity, read_account_equity, read_cohort_depths, read_profits
from arena.record.queries.audits import AuditCounts, read_audit_counts
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import col, column_of, func, joined, or_, select
from arena.scores.cache import CacheEntry
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS, CohortCalibrations, ForecasterCalibration
from arena.scores.verdict import Verdict
from dashboard.board import (
    CALIBRATION,
    MEANT,
    METACULUS_SAID,
    METACULUS_TITLE,
    RATINGS,
    READINGS,
    SHADED,
    BoardLook,
    board_tables,
    columns_of,
    dashed_note,
    equity_values,
    is_provisional,
    leading,
    metaculus_table,
    money_table,
    over_all_cohorts,
    pnl_lines,
    pnl_values,
    progress,
    show_board,
    show_ratings,
    stamps,
)
from dashboard.charts import Rounds, calibration_chart, line_chart, luck_band
from dashboard.html import EMPTY, beside, box, bullets, columns_of_table, html_table, lines, pills
from dashboard.pages import (
    Address,
    choice,
    controls,
    in_app,
    link,
    named,
    no_such,
    put,
    show_age,
    staying,
    way,
)
from dashboard.pictures import REST
from dashboard.record import (
    CohortLine,
    Colours,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    by_agent,
    cache_note,
    kept,
    leaderboard_lines,
    line_of,
    read_round_times,
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
FEWEST_MARKS = 5
"""A range of fewer marks is not offered."""


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
    """Return what can be chosen."""
    profits = read_profits(connection)
    returns = []
    for stored in read_cohorts(connection):
        number = stored.cohort.number
        mine = profits.get(number, {})
        given = stored.cohort.bankroll * len(mine)
        percent = 100 * sum(mine.values()) / given if given else None
        is_playing = stored.ended_at is None and stored.stopped_at is None
        returns.append(CohortReturn(number, percent, is_playing))

    for cohort in reversed(returns):
        if _is_any_settled(connection, cohort.number):
            return CohortReturns(tuple(returns), cohort.number)
    valued = next((cohort for cohort in returns if cohort.percent is not None), returns[-1])
    return CohortReturns(tuple(returns), valued.number)


def _is_any_settled(connection: Connection, cohort: int) -> bool:
    """Return whether a market of a cohort was paid out or refunded to its accounts."""
    query = (
        select(EntryRow.at)
        .select_from(joined(CohortRow, EntrantRow, EntryRow))
        .where(CohortRow.number == cohort, col(EntryRow.kind).in_(("settle", "refund")))
    )
    return connection.scalar(query.limit(1)) is not None


def read_cohort_page(connection: Connection, number: int) -> CohortPage:
    """Return one cohort, but for its curves and its calibration."""
    stored, before = _cohort_and_before(connection, number)
    changed: tuple[str, ...] = ()
    if before is not None:
        changed = tuple(changes_in_words(cohort_changes(before, stored.cohort)))
    board = LEADERBOARD.read(connection, number)
    money: tuple[AccountEquity, ...] = ()
    if board is None:
        money = tuple(read_account_equity(connection, number))
    return CohortPage(
        line=line_of(connection, stored, read_cohort_depths(connection)),
        cohort=stored.cohort,
        before=None if before is None else before.number,
        changed=changed,
        board=board,
        money=money,
        audit=read_audit_counts(connection, [number]),
    )


def _cohort_and_before(connection: Connection, number: int) -> tuple[StoredCohort, Cohort | None]:
    """Return a cohort by its number, and the one before it, if it is not the first."""
    before = None
    for stored in read_cohorts(connection):
        if stored.cohort.number == number:
            return stored, before
        before = stored.cohort
    raise LookupError(number)


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
    """Return what the accounts of a cohort have gained, from so far back or from its start."""
    stored, _ = _cohort_and_before(connection, number)
    return gains(stored.cohort, read_equity_curves(connection, number, POINTS, back))


def read_ranges(connection: Connection, number: int) -> dict[str, str]:
    """Return the ranges that a cohort's curves can have, without those of few marks or of all."""
    first = select(func.min(EntrantRow.id)).select_from(joined(EntrantRow, CohortRow))
    entrant = connection.scalar(first.where(CohortRow.number == number))
    marks = select(MarkRow.at).where(MarkRow.entrant_id == entrant)
    newest = list(connection.scalars(marks.order_by(col(MarkRow.at).desc()).limit(FEWEST_MARKS)))
    oldest = connection.scalar(select(func.min(MarkRow.at)).where(MarkRow.entrant_id == entrant))

    offered = {}
    for name, words in RANGES.items():
        back = BACK.get(name)
        is_part = back is not None and oldest is not None and newest[0] - back > oldest
        if back is None or (is_part and len(newest) == FEWEST_MARKS and newest[0] - newest[-1] <= back):
            offered[name] = words
    return offered


def gains(cohort: Cohort, worth: Iterable[EquityPoint]) -> tuple[PnlPoint, ...]:
    """Return what each account has gained at every mark, in dollars and in percent of its bankroll."""
    points = []
    for mark in worth:
        gain = mark.total - cohort.bankroll
        points.append(PnlPoint(mark.agent, mark.at, gain / ONE, 100 * gain / cohort.bankroll))
    return tuple(points)


TITLE = "Cohorts"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 2

UNITS = {"dollars": "$", "percent": "%"}
WRITTEN = {"dollars": ("short", "short"), "percent": ("%+.0f%", "%+.1f%")}
"""How an axis, and the end of a line, are written in each unit."""
RANGES = {"1d": "1D", "1w": "1W", "1m": "1M", "3m": "3M", "all": "All"}

FIRST = "first three"
PLAYING = " •"
MOST_CURVES = 12
"""Of so many agents it is shown how well they are calibrated, one at a time."""
NAMED = 3
"""So many agents are coloured, those that made most, unless one is highlighted."""

COHORT_COLUMNS = columns_of("return_pct", "bets", "resolved")
"""What the board of a cohort has in place of what is known of all cohorts alone."""

Curves = Mapping[str, Sequence[PnlPoint]]


def show(record: RecordSource) -> None:
    """Show the page: which cohort, the verdict, money beside calibration, standings, and what was frozen."""
    overview = season(record)
    offered = kept(record, read_cohort_returns)
    number = _asked([cohort.number for cohort in offered.cohorts], offered.telling)
    put(cohort_pills(offered, number, staying), "cohorts")
    page = kept(record, read_cohort_page, number)
    whole = curves_of(kept(record, read_cohort_curves, number))
    st.title(plain(heading(number, overview, whole)), anchor=False)
    _lead(page, kept(record, read_verdict))

    ranked = by_gain(whole)
    with controls():
        unit = choice("Unit", "unit", UNITS, "dollars")
        ranges = kept(record, read_ranges, number)
        back = choice("Range", "range", ranges, "all") if len(ranges) > 1 else "all"
        reading = choice("Reading", "reading", READINGS, "stated")
        agents = {FIRST: "Highlight one agent"} | named(ranked)
        agent = choice("Highlight", "agent", agents, FIRST, "list")
    colours = overview.colours([agent])
    if agent == FIRST:
        colours = overview.colours(overview.first(ranked, NAMED))
    curves = whole
    if back != "all":
        curves = curves_of(kept(record, read_cohort_curves, number, BACK[back]))
    played = [item for item in kept(record, read_round_times) if item.cohort == number]
    rounds = [(item.at.timestamp(), str(item.number)) for item in played]
    money = money_box(curves, colours, unit, overview, partial(turns_of, number), rounds)
    calibration = calibration_box(kept(record, CALIBRATIONS.read, number), reading, colours)
    put(beside(money, calibration), "charts")

    _standings(page, overview, whole, colours)
    _frozen(page)
    _changed(page)


def _asked(numbers: Sequence[int], default: int) -> int:
    """Return the cohort that the address names, or the one that tells most."""
    named = st.query_params.get("cohort", "")
    by_name = {str(number): number for number in numbers}
    no_such("cohort", [named or None], by_name)
    return by_name.get(named, default)


def cohort_pills(offered: CohortReturns, chosen: int, address: Address = in_app) -> Markup:
    """Return every cohort with what all its accounts together have made, and whether it still plays."""
    shown = []
    is_dotted = False
    for cohort in offered.cohorts:
        is_dotted = is_dotted or (cohort.is_playing and cohort.percent is not None)
        href = address(way("cohort", cohort=cohort.number)) or ""
        shown.append((f"{cohort.number} {_return_words(cohort)}", href, cohort.number == chosen))
    says = "Cohorts, with the return of all accounts together"
    if is_dotted:
        says += f" ({PLAYING[1:]} still playing)"
    return pills(shown, says)


def _return_words(cohort: CohortReturn) -> str:
    """Say what a cohort has made, and whether it still plays."""
    if cohort.percent is None:
        if cohort.is_playing:
            return "playing"
        return EMPTY
    size = written(abs(cohort.percent), "%.0f%")
    return f"{arrow_of(cohort.percent)}{size}{PLAYING * cohort.is_playing}"


def heading(number: int, overview: SeasonOverview, curves: Curves) -> str:
    """Say how many of its agents have made money."""
    agents = 0
    winners = 0
    for name in overview.players(curves):
        agents += 1
        winners += curves[name][-1].dollars > 0.005
    if not agents:
        return f"Cohort {number}"
    return f"Cohort {number}: {winners:,} of {count(agents, 'agent')} made money"


def _lead(page: CohortPage, verdict: Verdict | None) -> None:
    """Show how far the cohort is, and the verdict."""
    sentences = [f"Started {day(page.line.starts_at)}: {progress(page.line)}.", *stamps([page.line])]
    st.caption(" ".join(sentences))
    if verdict is not None:
        st.caption(leading(over_all_cohorts(verdict)))
    show_age(page.board)


def curves_of(points: Sequence[PnlPoint]) -> dict[str, list[PnlPoint]]:
    """Return the curve of each agent."""
    curves: dict[str, list[PnlPoint]] = {}
    for point in points:
        curves.setdefault(point.agent, []).append(point)
    return curves


def by_gain(curves: Curves) -> list[str]:
    """Return the names of agents, who made most first."""
    return sorted(curves, key=lambda name: -curves[name][-1].dollars)


def turns_of(cohort: int, agent: str) -> str:
    """Return what the number of a round makes the address of an agent's turn."""
    return way("turn", cohort=cohort, agent=agent, round="").href


def money_box(
    curves: Curves,
    colours: Colours,
    unit: str,
    overview: SeasonOverview,
    leads: Callable[[str], str | None],
    rounds: Rounds = (),
) -> Markup:
    """Return the curves, what they come to, and the way from each mark: to an agent or its turn."""
    axis, end = WRITTEN[unit]
    shown = pnl_lines(curves, colours, overview.is_reference, unit, end, leads)
    if not shown:
        below = "No account has been valued yet: the first round starts the curves."
        return box("Profit and loss", below=below)

    said = f"Open positions at mid{dashed_note(shown)}."
    first = next((name for name in colours if name in curves), "")
    band = luck_band(pnl_values(curves.get(first, ()), unit))
    if band:
        said += f" Shaded: what luck alone would make of the ups and downs of {first}, 95 times in 100."
    chart = line_chart(shown, "Profit or loss of each agent over time", axis, band, rounds=rounds)
    return box("Profit and loss", chart, said)


def calibration_box(entry: CacheEntry[CohortCalibrations] | None, reading: str, colours: Colours) -> Markup:
    """Return how well those that are coloured are calibrated, drawn and in words."""
    if entry is None:
        return box(CALIBRATION, below=cache_note(None, "Calibration and its bands"))

    every: tuple[ForecasterCalibration, ...] = getattr(entry.value, reading)
    by_name = by_agent(every)
    curves = []
    for name in list(dict.fromkeys((*colours, *by_name)))[:MOST_CURVES]:
        if name in by_name and by_name[name].scored:
            diagram = by_name[name].diagram
            curves.append((name, diagram, colours.get(name, REST)))
    if not curves:
        return box(CALIBRATION, below=_why_uncalibrated(every, reading))

    market = entry.value.market
    if market.scored:
        curves.append(("price", market.diagram, REST))
    chart = calibration_chart(curves, "What was said against what happened")
    return box(CALIBRATION, chart, lines([SHADED, MEANT[reading], cache_note(entry)]))


def _why_uncalibrated(every: Sequence[ForecasterCalibration], reading: str) -> str:
    """Say why nothing can be drawn of calibration."""
    why = "Nobody has bet yet."
    if reading == "stated":
        why = "Nobody has answered yet."
    if any(agent.made for agent in every):
        why = "No market has resolved yet."
    return f"{why} Calibration needs forecasts with an outcome."


def _standings(page: CohortPage, overview: SeasonOverview, curves: Curves, colours: Colours) -> None:
    """Show the board, and below it what else is known of its agents."""
    if page.board is None:
        put(money_table(page.money, overview.names), "table of money")
        return

    every = leaderboard_lines(page.board.value)
    look = BoardLook(overview, equity_values(curves, "dollars"), colours)
    show_board(board_tables(every, look, COHORT_COLUMNS, provisional=is_provisional(every)))
    link("All columns, CSV", "leaderboard", cohort=page.line.number)
    with st.expander(RATINGS):
        show_ratings(every, [page.line])
    if page.board.value.metaculus:
        with st.expander(METACULUS_TITLE):
            put(metaculus_table(page.board.value.metaculus, overview.names), "Metaculus's scores")
            st.caption(METACULUS_SAID)


FROZEN = "How this cohort plays: rules and line-up, frozen at its start"


def _frozen(page: CohortPage) -> None:
    """Show the rules of the cohort, and who plays."""
    with st.expander(FROZEN):
        if page.before is not None and not page.changed:
            st.caption(f"Identical to cohort {page.before}: same agents, rules, markets and prompts.")
        put(bullets(rules(page.cohort)), "rules")
        if page.audit is not None:
            st.caption(plain(page.audit.words))
        put(line_up(page.cohort), "line-up")


def line_up(cohort: Cohort, address: Address = in_app) -> Markup:
    """Return who plays, a row an agent, with its frozen settings."""
    rows = []
    for entrant in cohort.entrants:
        href = address(way("agent", agent=entrant.name))
        text = settings(entrant.settings)
        rows.append({"Agent": entrant.name, "Kind": entrant.kind, "Settings": text, "href": href})
    return html_table(rows, columns_of_table("line-up"), "Line-up of the cohort")


def _changed(page: CohortPage) -> None:
    """Show what differs from the cohort before, as `arena show cohort` says it."""
    if page.changed:
        with st.expander(f"What differs from cohort {page.before}"):
            st.markdown("\n".join(f"- {code(line)}" for line in page.changed))
