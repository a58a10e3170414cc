"""One cohort: profit of its accounts beside their calibration, then standings and rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from markupsafe import Markup

from arena.cohorts.diff import changes_in_words, cohort_changes
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import AccountEquity, read_account_equity, read_cohort_depths
from arena.record.queries.audits import AuditCounts, read_audit_counts
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.schema.database import Connection
from arena.scores.all_kinds import ALL_KINDS, AllKinds
from arena.scores.cache import CacheEntry
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.verdict import Verdict
from dashboard.board import (
    METACULUS_TITLE,
    RATINGS,
    READINGS,
    BoardLook,
    equity_values,
    is_provisional,
    leading,
    money_table,
    over_all_cohorts,
    progress,
    season_board,
    show_metaculus,
    show_ratings,
    stamps,
)
from dashboard.cohorts import (
    BACK,
    NOT_VALUED,
    Curves,
    MoneyLook,
    asked_cohort,
    by_gain,
    cohort_calibration_box,
    cohort_lines,
    cohort_strip,
    curves_of,
    money_box,
    read_cohort_curves,
    read_cohort_returns,
    read_ranges,
    rounds_of,
    turns_of,
)
from dashboard.html import beside, bullets, columns_of_table, html_table
from dashboard.kinds_board import all_kinds_boxes, costs_of
from dashboard.pages import (
    Address,
    Way,
    choice,
    controls,
    in_app,
    link,
    on_demand,
    options_of,
    put,
    show_age,
    staying,
    way,
)
from dashboard.record import (
    CohortLine,
    LeaderboardLine,
    RecordSource,
    SeasonOverview,
    line_of,
    read_cached,
    read_round_times,
    read_verdict,
    season,
)
from dashboard.words import code, count, day, plain, rules, settings, written


@dataclass(frozen=True, slots=True)
class CohortPage:
    """One cohort: what was frozen, what differs from the cohort before, and its standings.

    `changed` is empty for the first cohort; `money` is filled only if the standings were never computed.
    """

    line: CohortLine
    cohort: Cohort
    before: int | None
    changed: tuple[str, ...]
    board: CacheEntry[Leaderboard] | None
    money: tuple[AccountEquity, ...]
    audit: AuditCounts | None

    @property
    def shown(self) -> int | None:
        """Return how many markets were shown to its agents, or None if that was never computed."""
        if self.board is None:
            return None
        return sum(row.shown for row in self.board.value.rows)


def read_cohort_page(connection: Connection, number: int) -> CohortPage:
    """Return one cohort, without its curves and its calibration."""
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


TITLE = "Cohorts"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 2

UNITS = {"dollars": "$", "percent": "%"}
RANGES = {"1d": "1D", "1w": "1W", "1m": "1M", "3m": "3M", "all": "All"}

FIRST = "first three"
NAMED = 3
"""Agents with a colour, those with the highest profit, unless one is highlighted."""

ALSO = ("bets", "resolved")
"""Additional columns on the board of a cohort."""


def page_of(number: int | None) -> Way:
    """Return where a cohort is shown, or all of them together."""
    if number is None:
        return way("arena")
    return way("cohort", cohort=number)


def show(record: RecordSource) -> None:
    """Show the page: the choice of cohort, the verdict, money and calibration, standings, frozen rules."""
    overview = season(record)
    returns = read_cached(record, read_cohort_returns)
    top = st.container()
    number = asked_cohort(returns) or returns.telling
    put(cohort_strip(returns, number, page_of, bar_address=staying), "cohorts")
    page = read_cached(record, read_cohort_page, number)
    all_curves = curves_of(read_cached(record, read_cohort_curves, number))
    with top:
        st.title(plain(heading(page.line, overview, all_curves)), anchor=False)
        _show_lead(page, read_cached(record, read_verdict))

    by_profit = by_gain(all_curves)
    has_money = page.cohort.rules.money
    with controls():
        unit = choice("Unit", "unit", UNITS, "dollars") if has_money else "dollars"
        offered_ranges = read_cached(record, read_ranges, number) if has_money else ()
        ranges = {key: RANGES[key] for key in (*offered_ranges, "all")}
        back = choice("Range", "range", ranges, "all") if len(ranges) > 1 else "all"
        readings = {key: label for key, label in READINGS.items() if key != "implied" or has_money}
        reading = choice("Reading", "reading", readings, "stated")
        agents = {FIRST: "Highlight one agent"} | options_of(by_profit)
        agent = choice("Highlight", "agent", agents, FIRST, "list")
    colours = overview.colours([agent])
    if agent == FIRST:
        colours = overview.colours(overview.first(by_profit, NAMED))
    curves = all_curves
    if back != "all":
        curves = curves_of(read_cached(record, read_cohort_curves, number, BACK[back]))
    rounds = rounds_of(read_cached(record, read_round_times), number)
    money_look = MoneyLook(overview, colours, unit, turns_of(number), rounds)
    money = money_box(curves, money_look, not_valued(page.line))
    entry = read_cached(record, CALIBRATIONS.read, number)
    calibration = cohort_calibration_box(entry, colours, page.line, page.shown, reading)
    put(beside(money, calibration) if has_money else calibration, "charts")

    look = BoardLook(overview, equity_values(all_curves if has_money else {}, "dollars"), colours)
    lines = cohort_lines(page.board.value, entry) if page.board else ()
    _show_standings(page, lines, look, read_cached(record, ALL_KINDS.read, number))
    on_demand(FROZEN, "rules", partial(_show_frozen_rules, page))
    _show_changes(page)


def heading(line: CohortLine, overview: SeasonOverview, curves: Curves) -> str:
    """Say which of its agents has the highest profit, and how many have one."""
    title = f"Cohort {line.number}"
    if not line.rules.money:
        return f"{title}: forecasts alone, without money"
    players = overview.players(by_gain(curves))
    if not curves:
        return f"{title}: nothing was played" + " yet" * (line.ended_at is None)
    if not players:
        return f"{title}: only references play"

    gains = {name: curves[name][-1].dollars for name in players}
    leader = players[0]
    winner_count = sum(gain > CENT for gain in gains.values())
    so_far = " so far" * (line.ended_at is None)
    profit_text = written(gains[leader], "short")
    if winner_count:
        winners_text = f"{winner_count:,} of {count(len(players), 'agent')} made money"
        return f"{title}: {leader} made most{so_far}, {profit_text}; {winners_text}"
    if not any(abs(gain) > CENT for gain in gains.values()):
        return f"{title}: no agent made or lost money{so_far}"
    if gains[leader] < -CENT:
        return f"{title}: every agent lost money{so_far}; {leader} lost least, {profit_text}"
    return f"{title}: no agent made money{so_far}; {leader} lost none"


CENT = 0.005
"""Smaller gains and losses in dollars count as none."""


def not_valued(line: CohortLine) -> str:
    """Say why there are no curves."""
    if line.ended_at is not None:
        return "No account was valued: no round was played."
    return NOT_VALUED


def _show_lead(page: CohortPage, verdict: Verdict | None) -> None:
    """Show how far the cohort is, and the verdict."""
    sentences = [f"Started {day(page.line.starts_at)}: {progress(page.line)}.", *stamps([page.line])]
    st.caption(leading(" ".join(sentences)))
    if verdict is not None:
        st.caption(leading(over_all_cohorts(verdict)))
    show_age(page.board)


def _show_standings(
    page: CohortPage,
    lines: Sequence[LeaderboardLine],
    look: BoardLook,
    all_kinds: CacheEntry[AllKinds] | None,
) -> None:
    """Show the board, and below it the other scores of its agents."""
    names = look.overview.names
    if page.board is None:
        put(money_table(page.money, names), "table of money")
        return

    has_money = page.cohort.rules.money
    kinds_value = None if all_kinds is None else all_kinds.value
    if kinds_value is None or has_money:
        extra_columns = ALSO if has_money else ("resolved",)
        put(season_board(lines, look, extra_columns, provisional=is_provisional(lines)), "board")
    put(
        all_kinds_boxes(kinds_value, look.overview, costs=None if has_money else costs_of(lines)), "all kinds"
    )
    link("All columns, CSV", "leaderboard", cohort=page.line.number)
    on_demand(RATINGS, "ratings", partial(show_ratings, lines, [page.line]))
    if page.board.value.metaculus:
        on_demand(METACULUS_TITLE, "Metaculus", partial(show_metaculus, page.board.value.metaculus, names))


FROZEN = "How this cohort plays: rules and line-up, frozen at its start"


def _show_frozen_rules(page: CohortPage) -> None:
    """Show the rules of the cohort, and who plays."""
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


def _show_changes(page: CohortPage) -> None:
    """Show what differs from the cohort before, as `arena show cohort` says it."""
    if page.changed:
        with st.expander(f"What differs from cohort {page.before}"):
            st.markdown("\n".join(f"- {code(line)}" for line in page.changed))
