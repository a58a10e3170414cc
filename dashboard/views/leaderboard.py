"""All agents with all their figures: over every cohort, in one, or in a part of the season."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from arena.scores.slices import SLICES, Slice
from dashboard import board
from dashboard.html import REST, box, html_table, scatter
from dashboard.pages import choice, no_such, put, typed
from dashboard.record import (
    LeaderboardLine,
    LeaderboardPage,
    RecordSource,
    SeasonOverview,
    cache_note,
    kept,
    read_leaderboard_page,
    read_verdict,
    season,
)
from portfolio.rules import SEED

TITLE = "Full leaderboard"
NEEDS_A_COHORT = True
ORDER = None

BY_SEED = (
    "Played by the rules “seed”, so the board may be put in order of implied Brier or profit. The "
    "verdict is on stated skill: a stake also depends on the price and on the cash at hand."
)
ALL = "all"
WHOLE = "whole"
NAMED = 3
"""So many agents are named in the chart, the first of the board."""

PARTS = {
    WHOLE: "The whole season",
    "horizon": "By horizon",
    "category": "By category",
    "price": "By price",
    "release": "By age of the model",
}


def show(record: RecordSource) -> None:
    """The page: what it comes to, what is going on, the figures, then skill against return."""
    known = season(record)
    top = st.container()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        options = {ALL: "All cohorts"} | {
            str(c.number): board.cohort_label(c) for c in reversed(known.cohorts)
        }
        asked = st.query_params.get("cohort")
        chosen = choice("Cohorts", "cohort", options, ALL, "list")
        by = choice("Part of the season", "slice", PARTS, WHOLE, "list") if chosen == ALL else WHOLE
    shown = kept(record, read_leaderboard_page, None if chosen == ALL else int(chosen))
    with top:
        no_such("cohort", [asked], options)
        _lead(record, known, shown, chosen)
    if by != WHOLE:
        _part(record, by, shown, known)
    elif shown.board is None:
        put(board.money_table(shown.money, known.names), "table of money")
    else:
        _whole(shown, known, chosen)


def _verdict(record: RecordSource, shown: LeaderboardPage, chosen: str) -> str:
    """The verdict of the whole record, which a single cohort has none beside."""
    if chosen != ALL:
        return board.over_all_cohorts(kept(record, read_verdict))
    verdict = None if shown.board is None else shown.board.value.verdict
    return "" if verdict is None else board.whole_verdict(verdict)


def _lead(record: RecordSource, known: SeasonOverview, shown: LeaderboardPage, chosen: str) -> None:
    """The first words: the verdict, and what kind of season this is."""
    if said := _verdict(record, shown, chosen):
        st.markdown(board.leading(said))
    cohorts = [line for line in known.cohorts if chosen in (ALL, str(line.number))]
    for said in board.stamps(cohorts):
        st.caption(said)
    if any(line.rules.name == SEED.name for line in cohorts):
        st.caption(BY_SEED)
    if note := cache_note(shown.board):
        st.info(note, icon=":material/history:")


def _whole(shown: LeaderboardPage, known: SeasonOverview, chosen: str) -> None:
    """The board with all its figures, those that are not ranked, and the agents by skill and return."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        reading = choice("Reading", "reading", board.READINGS, "stated")
        sort = choice("Order", "sort", SORTS, "best", "list")
        words = typed("Search", "search", "Search names")
        groups = {"short": "Short"} | {name.lower(): name for name in board.GROUPS} | {ALL: "All columns"}
        group = groups[choice("Columns", "columns", groups, "short", "list")]
    if reading != "stated":
        st.caption(f"{board.MEANT[reading]} Skill and ranks always go by the stated probabilities.")
    lines = ordered(matching(shown.lines, words, lambda line: line.row.agent), sort, reading)
    shorter = board.columns_of(*board.GROUPS.get(group, board.SHORT))
    columns = board.COLUMNS if group == groups[ALL] else shorter
    if group == groups["short"] and board.is_provisional(shown.lines):
        look = board.BoardLook(known, {}, {})
        board.show_board(board.board_tables(lines, look, provisional=True))
    else:
        _boards(lines, columns, known)
    if not lines:
        st.info("No agent has such a name. Clear the search to see all.", icon=":material/search_off:")
    every = [line.row.agent for line in shown.lines]
    _download(board.as_csv(every, shown.lines, board.COLUMNS), f"leaderboard-{chosen}.csv")
    of = "skill" if reading == "stated" else f"brier_{reading}"
    points = [(line.row.agent, getattr(line.row, of), line.row.return_pct) for line in lines]
    _plane(points, known, "skill" if reading == "stated" else "score")


def _boards(
    lines: Sequence[LeaderboardLine], columns: Sequence[board.LeaderboardColumn], known: SeasonOverview
) -> None:
    """The agents that are ranked, then the references, then the other agents."""
    parts = board.board_parts(lines)
    if parts.ranked:
        put(board.board_table("Leaderboard: one row an agent", columns, parts.ranked, known.names), "table")
    if parts.references:
        st.subheader(board.REFERENCES, anchor=False)
        shown = board.reference_columns(columns)
        table = board.board_table("References, which are not ranked", shown, parts.references, known.names)
        put(table, "references")
    if parts.unranked:
        st.subheader("Not ranked", anchor=False)
        put(board.unranked_table(parts.unranked, known.names), "table of unranked")
    if any(column.key == "brier_implied" for column in columns):
        st.caption(f"\\* {board.IMPLIED_NOTE}")


def _download(text: str, name: str) -> None:
    st.download_button(
        "Download CSV",
        text,
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _part(record: RecordSource, by: str, shown: LeaderboardPage, known: SeasonOverview) -> None:
    """Every agent against the price in one part of the season."""
    entry = kept(record, SLICES.read, by)
    if entry is None:
        st.info(cache_note(None, "Parts of the season"), icon=":material/hourglass_empty:")
        return
    others = {line.row.agent for line in shown.lines if not line.row.ranked and not line.row.is_reference}
    every = [part for part in entry.value if part.gain.agent not in others]
    names = list(dict.fromkeys(part.slice for part in every))
    if not names:
        st.info("No market has resolved yet: parts come with the first results.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        chosen = choice("Part", "part", {name: name for name in names}, names[0], "list")
        words = typed("Search", "search", "Search names")
    here = [part for part in every if part.slice == chosen]
    rows = _surest(matching(here, words, lambda part: part.gain.agent))
    agents = [part.gain.agent for part in rows]
    data = (
        {"agent": [*agents]}
        | {"bar": board.intervals([(part.gain.skill, part.gain.low, part.gain.high) for part in rows])}
        | board.cells(rows, board.PART_COLUMNS)
    )
    said = "One row an agent, in this part of the season"
    hrefs = board.agent_hrefs(agents, known.names)
    put(html_table(data, board.config(board.PART_COLUMNS), said, hrefs), "table")
    _download(board.as_csv(agents, rows, board.PART_COLUMNS), f"leaderboard-{by}.csv")
    returns = {line.row.agent: line.row.return_pct for line in shown.lines}
    points = [(part.gain.agent, part.gain.skill, returns.get(part.gain.agent)) for part in rows]
    _plane(points, known, "skill", "Skill is that in this part, the return of the whole season. ")


def _plane(
    points: Sequence[tuple[str, float | None, float | None]], season: SeasonOverview, of: str, about: str = ""
) -> None:
    """Skill, or the score of another reading, against return; the first three are named."""
    known = [(name, x, y) for name, x, y in points if x is not None and y is not None]
    unit = "%+.3f" if of == "skill" else "%.2f"
    looks = season.colours(season.players(name for name, *_ in known)[:NAMED])
    spots = [(name, x, y, looks.get(name, REST)) for name, x, y in known]
    said = "Right of the line is closer than the price, above it earns money. Luck moves return far more."
    if of != "skill":
        said = "Left is the lower, better Brier score; above the line earns money."
    chart = scatter(spots, f"Each agent's {of} and return", unit, "%+.0f%")
    if spots:
        put(box(f"{of.capitalize()} against return", chart, about + said), "plane")


def _surest(rows: Sequence[Slice]) -> list[Slice]:
    """The surest skill first, as on the whole board."""

    def key(part: Slice) -> tuple[float, float, str]:
        low, skill = (float("inf") if x is None else -x for x in (part.gain.low, part.gain.skill))
        return low, skill, part.gain.agent

    return sorted(rows, key=key)


SORTS = {
    "best": "Best first",
    "evidence": "By evidence",
    "implied": "By implied Brier",
    "profit": "By profit",
    "return": "By return",
    "wins": "By bets won",
    "events": "By events",
    "cost": "By cost per forecast",
    "name": "By name",
}
Row = TypeVar("Row")


def ordered(lines: Sequence[LeaderboardLine], sort: str, reading: str) -> list[LeaderboardLine]:
    """The lines of a board: what is best first, and last what nothing is known of.

    Best is the surest skill, as the board stands; in another reading than the stated one, for which there is
    no price to compare with, it is the lowest Brier score.
    """
    if sort == "name":
        return sorted(lines, key=lambda line: line.row.agent)
    if sort == "best" and reading == "stated":
        return list(lines)
    return sorted(lines, key=_key(sort, reading))


def _key(sort: str, reading: str) -> Callable[[LeaderboardLine], float]:
    """What is sorted by: the smallest first."""
    name, sign = {
        "best": (f"brier_{reading}", 1),
        "evidence": ("evidence", -1),
        "implied": ("brier_implied", 1),
        "profit": ("pnl", -1),
        "return": ("return_pct", -1),
        "wins": ("win_rate", -1),
        "events": ("events", -1),
        "cost": ("cost_per_forecast", 1),
    }[sort]

    def key(line: LeaderboardLine) -> float:
        value = getattr(line.row, name)
        return math.inf if value is None else sign * value

    return key


def matching(rows: Sequence[Row], words: str, name: Callable[[Row], str]) -> list[Row]:
    """Those whose name has all of these words in it, whatever their case.

    >>> matching(["Ann", "bob", "annabel"], "AN n", str)
    ['Ann', 'annabel']
    """
    wanted = words.casefold().split()
    return [row for row in rows if all(word in name(row).casefold() for word in wanted)]
