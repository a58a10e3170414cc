"""Cohorts beside each other: the strip to choose one from, and the profit and calibration of its accounts.

The pages "Arena", "Cohorts" and "Agents" show the same of all cohorts together and of one.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import streamlit as st
from markupsafe import Markup

from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_marked_cohort, read_profits
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.queries.markets import read_listed_markets
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import col, column_of, func, joined, or_, select
from arena.record.schema.world import ResolutionRow
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import REFERENCES
from arena.scores.leaderboard import Leaderboard
from arena.scores.positions import Position, positions
from arena.scores.profiles.calibrations import CohortCalibrations, ForecasterCalibration
from arena.scores.profiles.detailed_profile import PROFILE, ProfileFigures
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from dashboard.board import (
    CALIBRATION,
    MEANT,
    SHADED,
    dashed_note,
    one_valuation_box,
    only_valuation,
    pnl_lines,
    pnl_values,
)
from dashboard.charts import (
    HALF,
    MARKET_PRICE,
    SQUARE,
    Rounds,
    calibration_chart,
    line_chart,
    luck_band,
)
from dashboard.html import CHOSEN_PILL, NOTHING, Rows, board_of, box, columns_of_table, venue_cell
from dashboard.long_names import short_forms
from dashboard.pages import ALL, Address, Way, in_app, no_such, way
from dashboard.pictures import REST, Scale
from dashboard.record import (
    CohortLine,
    Colours,
    LeaderboardLine,
    PnlPoint,
    RoundTime,
    SeasonOverview,
    cache_note,
    leaderboard_lines,
)
from dashboard.words import count, day, filled, percent, written
from markets.millionths import ONE
from markets.venue import venue_page

POINTS = 2_000
"""The most points of all curves in a chart."""
BACK = {
    "1d": timedelta(days=1),
    "1w": timedelta(days=7),
    "1m": timedelta(days=30),
    "3m": timedelta(days=91),
}
"""How far back from the newest mark a range of the curves goes."""
FEWEST_MARKS = 5
"""A range of fewer marks is not offered."""

Curves = Mapping[str, Sequence[PnlPoint]]
Diagrams = Mapping[str, ReliabilityDiagram]
"""Calibration diagrams, by agent."""


@dataclass(frozen=True, slots=True)
class CohortReturn:
    """The return of a cohort's agents in percent, None before the first mark.

    Where nobody bets, `ended` is how many of its questions have ended.
    """

    number: int
    starts_at: datetime
    percent: float | None
    is_playing: bool
    ended: int | None = None


@dataclass(frozen=True, slots=True)
class CohortReturns:
    """Every cohort with its return, oldest first, and the newest that has something to show.

    That is the newest in which a market has ended; where none has, the one that has played longest.
    """

    cohorts: tuple[CohortReturn, ...]
    telling: int


def read_cohort_returns(connection: Connection, agent: str | None = None) -> CohortReturns:
    """Return the cohorts to choose from, with the return of one agent or of all together.

    References count only where no agent plays beside them: what they make says nothing of the agents.
    """
    profits = read_profits(connection)
    returns = []
    for stored in read_cohorts(connection):
        cohort = stored.cohort
        if agent is not None and agent not in stored.entrant_ids:
            continue
        counted_agents = _players(cohort) if agent is None else [agent]
        profits_of_cohort = profits.get(cohort.number, {})
        counted_profits = [profit for name, profit in profits_of_cohort.items() if name in counted_agents]
        return_percent = None
        if counted_profits and cohort.rules.money:
            total_bankroll = cohort.bankroll * len(counted_profits)
            return_percent = 100 * sum(counted_profits) / total_bankroll
        ended_questions = None if cohort.rules.money else _count_ended(connection, stored.id)
        is_playing = stored.ended_at is None and stored.stopped_at is None
        returns.append(
            CohortReturn(cohort.number, cohort.starts_at, return_percent, is_playing, ended_questions)
        )

    for line in reversed(returns):
        if _is_any_settled(connection, line.number):
            return CohortReturns(tuple(returns), line.number)
    telling = next((line for line in returns if line.percent is not None), returns[-1])
    return CohortReturns(tuple(returns), telling.number)


def _count_ended(connection: Connection, cohort_id: int) -> int:
    """Return how many of the questions that a cohort was asked have ended."""
    asked_markets = select(SnapshotItemRow.market_id).join(
        RoundRow, RoundRow.snapshot_id == SnapshotItemRow.snapshot_id
    )
    ids = asked_markets.where(RoundRow.cohort_id == cohort_id)
    ended_count = select(func.count(func.distinct(ResolutionRow.market_id)))
    return connection.scalar(ended_count.where(col(ResolutionRow.market_id).in_(ids))) or 0


def _players(cohort: Cohort) -> list[str]:
    """Return the agents of a cohort, or its references if it has no others."""
    entrants = cohort.entrants
    agents = [entrant for entrant in entrants if entrant.kind not in REFERENCES]
    return [entrant.name for entrant in agents or entrants]


def _is_any_settled(connection: Connection, cohort: int) -> bool:
    """Return whether a market of a cohort was paid out or refunded to its accounts."""
    is_settled = col(EntryRow.kind).in_(("settle", "refund"))
    query = (
        select(EntryRow.at)
        .select_from(joined(CohortRow, EntrantRow, EntryRow))
        .where(CohortRow.number == cohort, is_settled)
    )
    row = connection.scalar(query.limit(1))
    return row is not None


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """An account at one instant, in millionths: cash with open positions at mid."""

    agent: str
    at: datetime
    total: int


def read_equity_curves(
    connection: Connection, cohort: int, points: int = POINTS, back: timedelta | None = None
) -> list[EquityPoint]:
    """Return a cohort's accounts by time and in line-up order, up to this many points in all.

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
    newest_mark = select(func.max(MarkRow.at)).where(MarkRow.entrant_id == line_up[0].id)
    newest = connection.scalar(newest_mark)
    if newest is None:
        return []

    snapshots = [SnapshotRow.cohort_id == line_up[0].cohort_id, SnapshotRow.at <= newest]
    if back is not None:
        snapshots.append(SnapshotRow.at >= newest - back)
    most = max(points // len(line_up), 2)
    times = _evenly_spaced_times(connection, snapshots, most)

    names = {row.id: row.name for row in line_up}
    marks = select(MarkRow.entrant_id, MarkRow.at, MarkRow.cash + MarkRow.value)
    is_named = col(MarkRow.entrant_id).in_(names)
    is_drawn = col(MarkRow.at).in_(times)
    rows = connection.execute(marks.where(is_named, is_drawn))
    totals = {(at, entrant_id): total for entrant_id, at, total in rows}

    curve = []
    for at in times:
        for entrant_id, name in names.items():
            if (at, entrant_id) in totals:
                curve.append(EquityPoint(name, at, totals[at, entrant_id]))
    return curve


def _evenly_spaced_times(
    connection: Connection, snapshots: Sequence[bool], wanted_count: int
) -> list[datetime]:
    """Return `wanted_count` of the times of snapshots, evenly spaced by position, with both ends."""
    row_number = func.row_number().over(order_by=column_of(SnapshotRow.at))
    position = row_number - 1
    count = func.count().over()
    numbered = (
        select(SnapshotRow.at, position.label("place"), count.label("count")).where(*snapshots).subquery()
    )

    snapshot = numbered.c
    step = (snapshot.place * (wanted_count - 1)) // (snapshot.count - 1)
    step_before = ((snapshot.place - 1) * (wanted_count - 1)) // (snapshot.count - 1)
    is_first = snapshot.place == 0
    is_picked = or_(is_first, snapshot.count <= wanted_count, step > step_before)
    picked = select(snapshot.at).where(is_picked).order_by(snapshot.at)
    return list(connection.scalars(picked))


def read_cohort_curves(
    connection: Connection, number: int, back: timedelta | None = None
) -> tuple[PnlPoint, ...]:
    """Return the profit of a cohort's accounts, since this time ago or since its start."""
    stored_cohorts = read_cohorts(connection)
    [stored] = select_cohorts(stored_cohorts, number)
    worth = read_equity_curves(connection, number, POINTS, back)
    return profit_points(stored.cohort, worth)


def read_ranges(connection: Connection, number: int) -> list[str]:
    """Return the ranges of a cohort's curves, without those that hold few of their marks or all of them."""
    first = select(func.min(EntrantRow.id)).select_from(joined(EntrantRow, CohortRow))
    entrant = connection.scalar(first.where(CohortRow.number == number))
    marks = select(MarkRow.at).where(MarkRow.entrant_id == entrant)
    newest_first = col(MarkRow.at).desc()
    newest = list(connection.scalars(marks.order_by(newest_first).limit(FEWEST_MARKS)))

    oldest_mark = select(func.min(MarkRow.at)).where(MarkRow.entrant_id == entrant)
    oldest = connection.scalar(oldest_mark)
    if oldest is None or len(newest) < FEWEST_MARKS:
        return []

    span = newest[0] - newest[-1]
    offered = []
    for name, back in BACK.items():
        if newest[0] - back > oldest and span <= back:
            offered.append(name)
    return offered


def profit_points(cohort: Cohort, equity_points: Iterable[EquityPoint]) -> tuple[PnlPoint, ...]:
    """Return the profit of each account at every mark, in dollars and in percent of its bankroll."""
    points = []
    for mark in equity_points:
        gain = mark.total - cohort.bankroll
        percent = 100 * gain / cohort.bankroll
        points.append(PnlPoint(mark.agent, mark.at, gain / ONE, percent))
    return tuple(points)


def curves_of(points: Sequence[PnlPoint]) -> dict[str, list[PnlPoint]]:
    """Return the curve of each agent."""
    curves: dict[str, list[PnlPoint]] = {}
    for point in points:
        curves.setdefault(point.agent, []).append(point)
    return curves


def by_gain(curves: Curves) -> list[str]:
    """Return the names of agents, the highest profit first."""
    return sorted(curves, key=lambda name: -curves[name][-1].dollars)


FEW = 11
"""Up to this many cohorts have their return and start below the bar; for more there is a list."""
HIGH = 30
"""Pixels that the bars of a strip reach up and down together."""
STRIP = (
    '<nav class="strip %s" aria-label="%s"><a class="all" href="%s"%s>All</a>'
    '<span class="bars">%s</span>%s</nav>'
)
LIST = '<details class="list"><summary>%s</summary><span>%s</span></details>'
BAR = (
    '<a class="%s" href="%s"%s title="%s">'
    '<svg viewBox="0 0 10 %s" preserveAspectRatio="none" aria-hidden="true">%s</svg>'
    "<span>%s</span><small>%s</small></a>"
)
EVERY_ACCOUNT = "Cohorts, with the return of all agents together, references left out"


def cohort_strip(
    returns: CohortReturns,
    chosen_number: int | None,
    way_of: Callable[[int | None], Way],
    label: str = EVERY_ACCOUNT,
    address: Address = in_app,
    bar_address: Address | None = None,
) -> Markup:
    """Return a link to all cohorts, and a bar for each, as high as its return, that links to its page.

    `way_of` gives the page of a cohort, or of all for None; `address` turns a page into a link, and
    `bar_address` does so for bars if it is given. The newest cohort comes first in the markup and stands
    at the right of the strip, which can be scrolled.
    """
    drawn_percents = [_drawn_percent(cohort) for cohort in returns.cohorts]
    low = min(0.0, *drawn_percents)
    high = max(0.0, *drawn_percents)
    height_scale = Scale(low, high, HIGH - 1, 1)
    is_few = len(drawn_percents) < FEW
    address_of_bar = bar_address or address

    bars = []
    list_links = NOTHING
    list_title = "All cohorts"
    month = ""
    for cohort in returns.cohorts:
        start_text = day(cohort.starts_at).rpartition(" ")[0]
        if not is_few:  # a word at the first cohort of each month, that of January the year
            previous_month = month
            form = "%b" if cohort.starts_at.month > 1 else "%Y"
            month = cohort.starts_at.strftime(form)
            start_text = month * (month != previous_month)
        href = address_of_bar(way_of(cohort.number)) or ""
        is_chosen = cohort.number == chosen_number
        bars.append(_cohort_bar(cohort, height_scale, start_text, href, is_chosen=is_chosen))

        name = cohort_name(cohort)
        list_links = filled('<a href="%s"%s>%s</a>', href, CHOSEN_PILL * is_chosen, name) + list_links
        if is_chosen:
            list_title = name

    bars.reverse()
    layout_class = "few" if is_few else "many"
    all_cohorts_href = address(way_of(None)) or ""
    all_cohorts_class = CHOSEN_PILL * (chosen_number is None)
    cohort_list = NOTHING if is_few else filled(LIST, list_title, list_links)
    return filled(
        STRIP, layout_class, label, all_cohorts_href, all_cohorts_class, NOTHING.join(bars), cohort_list
    )


def _drawn_percent(cohort: CohortReturn) -> float:
    """Return the return of a cohort, 0 if it is written as 0%."""
    percent = cohort.percent or 0.0
    if not round(percent):
        return 0.0
    return percent


def _cohort_bar(
    cohort: CohortReturn, height_scale: Scale, start_text: str, href: str, *, is_chosen: bool
) -> Markup:
    """Return the bar of a cohort over its number, its return and its start."""
    return_text = EMPTY_RETURN
    if cohort.ended is not None:
        return_text = f"{cohort.ended:,} ended"
    look = "rest"
    if cohort.percent is not None:
        return_text = written(cohort.percent, "%+.0f%")
        if _drawn_percent(cohort):
            look = "gain" if cohort.percent > 0 else "loss"

    end_y = height_scale.at(_drawn_percent(cohort))
    zero_y = height_scale.at(0.0)
    top, bottom = sorted((end_y, zero_y))
    height = max(bottom - top, 1.5)
    bar = filled('<rect class="%s part" x="0" y="%s" width="10" height="%s"/>', look, top, height)
    caption = filled("<b>%s</b> %s", cohort.number, return_text)
    live_class = "live" * cohort.is_playing
    chosen_attribute = CHOSEN_PILL * is_chosen
    return filled(
        BAR, live_class, href, chosen_attribute, cohort_name(cohort), HIGH, bar, caption, start_text
    )


EMPTY_RETURN = "no return"
"""Shown instead of the return of a cohort that was never valued."""


def cohort_name(cohort: CohortReturn) -> str:
    """Return a cohort in a line: its number, its start, its return, and whether it plays."""
    name = f"Cohort {cohort.number} · {day(cohort.starts_at)}"
    if cohort.percent is not None:
        name += f" · {written(cohort.percent, '%+.0f%')}"
    if cohort.ended is not None:
        name += f" · {count(cohort.ended, 'question')} ended"
    return name + " · playing" * cohort.is_playing


def asked_cohort(returns: CohortReturns, unavailable: Container[str] = ()) -> int | None:
    """Return the cohort that the address names; None for all of them, and for one of `unavailable`.

    `unavailable` are cohorts of the record that can't be chosen here.
    """
    asked_text = st.query_params.get("cohort", ALL)
    number_by_text = {str(cohort.number): cohort.number for cohort in returns.cohorts}
    if asked_text not in unavailable:
        no_such("cohort", [asked_text], {ALL, *number_by_text})
    return number_by_text.get(asked_text)


NOT_VALUED = "No account has been valued yet: the first round starts the curves."


Leads = Callable[[str], str | None]
"""A function from a line to the link of its marks."""


@dataclass(frozen=True, slots=True)
class MoneyLook:
    """How P/L is drawn: its unit, colours, height, and the links of its marks.

    `lucks` has by agent what luck makes of its bets: without it the ups and downs of its account say so.
    `rounds` are instants of rounds with what names each in the address of an agent's turn.
    """

    overview: SeasonOverview
    colours: Colours
    unit: str = "dollars"
    href_of: Leads = lambda _: None
    rounds: Rounds = ()
    lucks: Mapping[str, Luck | None] = field(default_factory=dict)
    height: int = HALF


def money_box(
    curves: Curves, look: MoneyLook, why_empty: str = NOT_VALUED, extra_sentence: str = ""
) -> Markup:
    """Return the profit of agents over time, with the luck band of the first coloured one.

    `extra_sentence` is said below it.
    """
    unit = look.unit
    axis_format, end_format = WRITTEN[unit]
    drawn_lines = pnl_lines(curves, look.colours, look.overview.is_reference, unit, end_format, look.href_of)
    if not drawn_lines:
        return box("Profit and loss", below=why_empty)
    at = only_valuation(curves)
    if at is not None:
        return one_valuation_box("Profit and loss", drawn_lines, at, extra_sentence)

    note = f"Open positions at mid{dashed_note(drawn_lines)}."
    first_agent = next((name for name in look.colours if name in curves), "")
    points = curves.get(first_agent, ())
    scale = 1.0
    if points and points[-1].dollars:
        scale = getattr(points[-1], unit) / points[-1].dollars

    first_values = pnl_values(points, unit)
    luck = look.lucks.get(first_agent)
    shaded_band = luck_band(first_values, luck, scale)
    if shaded_band:
        names = short_forms(look.colours, 18)
        note += f" Shaded: {names[first_agent]}’s bets by luck alone, 95 in 100."
    says = "Profit or loss of each agent over time"
    chart = line_chart(drawn_lines, says, axis_format, shaded_band, height=look.height, rounds=look.rounds)
    text = f"{note} {extra_sentence}".strip()
    return box("Profit and loss", chart, text)


def turns_of(cohort: int) -> Leads:
    """Return a function from the number of a round to the key in the address of an agent's turn."""
    return lambda agent: way("turn", cohort=cohort, agent=agent, round="").href


def rounds_of(times: Iterable[RoundTime], cohort: int) -> Rounds:
    """Return the instants of a cohort's rounds with their numbers."""
    return [(item.at.timestamp(), str(item.number)) for item in times if item.cohort == cohort]


WRITTEN = {"dollars": ("short", "short"), "percent": ("%+.0f%", "%+.1f%")}
"""How an axis, and the end of a line, are written in each unit."""


def read_diagrams(connection: Connection, names: Sequence[str]) -> dict[str, ReliabilityDiagram]:
    """Return the calibration of these agents over all cohorts, as it was computed last."""
    diagrams = {}
    for name in names:
        entry = PROFILE.read(connection, name)
        if entry is not None:
            diagrams[name] = entry.value.profile.calibration
    return diagrams


def cohort_calibration_box(
    entry: CacheEntry[CohortCalibrations] | None,
    colours: Colours,
    line: CohortLine,
    shown_markets: int | None,
    reading: str = "stated",
    height: int = SQUARE,
) -> Markup:
    """Return the calibration of agents in a cohort, in which this many markets were shown."""
    if entry is None:
        note = cache_note(None, "Calibration and its bands")
        return box(CALIBRATION, below=note)
    agents: tuple[ForecasterCalibration, ...] = getattr(entry.value, reading)
    diagrams = {}
    is_any_forecast_made = False
    for agent in agents:
        is_any_forecast_made = is_any_forecast_made or agent.made > 0
        if agent.scored:
            diagrams[agent.agent] = agent.diagram
    why_empty = why_uncalibrated(
        line, shown_markets, is_any_forecast_made=is_any_forecast_made, reading=reading
    )
    note = cache_note(entry)
    if reading != "stated":
        note = f"{MEANT[reading]} {note}".strip()
    price_diagram = entry.value.market.diagram
    return calibration_box(diagrams, colours, why_empty, price_diagram, note, height)


def why_uncalibrated(
    line: CohortLine, shown_markets: int | None, *, is_any_forecast_made: bool, reading: str
) -> str:
    """Say why calibration in a cohort can't be drawn yet."""
    is_over = line.ended_at is not None
    yet_text = "" if is_over else " yet"
    if not line.played:
        why = f"No round was played{yet_text}."
    elif is_any_forecast_made:
        why = f"No market that they forecast has resolved{yet_text}."
        if is_over:
            why = "No market that they forecast resolved YES or NO."
    elif shown_markets == 0:
        why = f"No market fitted the rules, so none was shown{yet_text}."
    elif reading == "stated":
        why = f"No agent stated a probability{yet_text}."
    else:
        why = f"No agent placed a bet{yet_text}."
    return f"{why} Calibration needs forecasts with an outcome."


def cohort_lines(
    board: Leaderboard, entry: CacheEntry[CohortCalibrations] | None
) -> tuple[LeaderboardLine, ...]:
    """Return the rows of a cohort's leaderboard with each agent's calibration in it."""
    lines = leaderboard_lines(board)
    if entry is None:
        return lines
    briefs = {}
    for agent in entry.value.stated:
        diagram = agent.diagram
        miscalibration = diagram.parts.miscalibration
        figures = ProfileFigures(agent.agent, None, miscalibration, diagram.null.p_value, diagram.sure)
        briefs[agent.agent] = figures
    return tuple(replace(line, brief=briefs.get(line.row.agent)) for line in lines)


MOST_CURVES = 12
"""The most agents with a calibration diagram, shown one at a time."""


def calibration_box(
    diagrams: Diagrams,
    colours: Colours,
    why_empty: str,
    price_diagram: ReliabilityDiagram | None = None,
    extra_note: str = "",
    height: int = SQUARE,
    *,
    is_named: bool = True,
) -> Markup:
    """Return the calibration of agents, one at a time, coloured ones first, and of the price.

    One by itself is not named where the page is about it.
    """
    scored = [name for name, diagram in diagrams.items() if diagram.deciles]
    coloured_first = sorted(scored, key=lambda name: name not in colours)
    drawn_names = coloured_first[:MOST_CURVES]
    curves = [(name, diagrams[name], colours.get(name, REST)) for name in drawn_names]
    if not curves:
        return box(CALIBRATION, below=why_empty)

    if price_diagram is not None and price_diagram.deciles:
        curves.append((MARKET_PRICE, price_diagram, REST))
    chart = calibration_chart(curves, "What was said against what happened", height, is_named=is_named)
    note = f"{SHADED} {extra_note}".strip()
    return box(CALIBRATION, chart, note)


@dataclass(frozen=True, slots=True)
class Holding:
    """A position with its cohort, and when its market closes."""

    cohort: int
    position: Position
    closes_at: datetime | None


def read_holdings(connection: Connection, name: str) -> tuple[Holding, ...]:
    """Return an agent's open positions as last marked, newest cohort first, the largest first."""
    return tuple(_read_open_holdings(connection, name))


def read_all_holdings(connection: Connection) -> dict[str, list[Holding]]:
    """Return the same for every agent with open positions; each cohort is read once for all of them."""
    holdings: dict[str, list[Holding]] = {}
    for holding in _read_open_holdings(connection):
        holdings.setdefault(holding.position.agent, []).append(holding)
    return holdings


def _read_open_holdings(connection: Connection, name: str | None = None) -> Iterator[Holding]:
    """Yield the open positions of one agent or of all, newest cohort first."""
    for stored in reversed(read_cohorts(connection)):
        is_asked = name is None or name in stored.entrant_ids
        if stored.ended_at is None and is_asked:
            for holding in _read_positions(connection, stored, name):
                if holding.position.lot.shares:
                    yield holding


def read_cohort_positions(connection: Connection, cohort: int, name: str | None = None) -> list[Holding]:
    """Return every position in a cohort, of one agent or of all: open ones first, then closed ones."""
    [stored] = select_cohorts(read_cohorts(connection), cohort)
    return _read_positions(connection, stored, name)


def _read_positions(connection: Connection, stored: StoredCohort, name: str | None) -> list[Holding]:
    """Return the positions in a cohort that has already been read."""
    marked = read_marked_cohort(connection, stored.id, name)
    if marked is None:
        return []
    age = timedelta(seconds=stored.cohort.rules.max_quote_age)
    all_positions = positions(marked, age)
    market_ids = [position.market_id for position in all_positions]
    closes = {}
    for market in read_listed_markets(connection, market_ids):
        closes[market.id] = market.closes_at
    number = stored.cohort.number
    return [Holding(number, position, closes.get(position.market_id)) for position in all_positions]


def holdings_table(
    holdings: Sequence[Holding],
    address: Address = in_app,
    says: str = "Open positions",
) -> Markup:
    """Return a row a position, which leads to its market."""
    rows = list(_position_rows(holdings, address))
    return board_of({"": rows}, columns_of_table("open positions"), says)


def _position_rows(holdings: Sequence[Holding], address: Address) -> Rows:
    """Yield the rows of positions: closed ones with their profit, those of several cohorts with theirs."""
    cohorts = {holding.cohort for holding in holdings}
    is_one_cohort = len(cohorts) == 1
    for holding in holdings:
        position = holding.position
        market_page = address(way("market", market=position.market_id))
        venue = venue_cell(venue_page(position.market_id))
        row: dict[str, object] = {
            "Market": position.question,
            "Side": position.side,
            "P/L": position.money.total / ONE,
            "Cohort": None if is_one_cohort else holding.cohort,
            "venue": venue,
            "href": market_page,
        }
        if position.lot.shares:
            row |= {
                "Shares": position.lot.shares / ONE,
                "Cost ¢": percent(position.lot.average_cost),
                "Price ¢": percent(position.price),
                "Value $": position.money.value / ONE,
                "Closes": holding.closes_at,
                "Quote": position.stale or "fresh",
            }
        yield row
