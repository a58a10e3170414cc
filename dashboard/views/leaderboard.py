"""All agents with all their figures: over every cohort, in one, or in a part of the season."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st
from markupsafe import Markup

from arena.errors import natural_key
from arena.scores.rules._columns import highest_first
from arena.scores.slices import SLICES, Slice
from dashboard.board import (
    COLUMNS,
    GROUPS,
    IMPLIED_NOTE,
    MEANT,
    NOT_RANKED,
    PART_COLUMNS,
    READINGS,
    REFERENCE_TABLE,
    REFERENCES_ARE,
    SHORT,
    BoardLook,
    LeaderboardColumn,
    agent_page,
    as_csv,
    board_parts,
    board_table,
    cohort_label,
    columns_of,
    draw_span,
    figures_of,
    is_any_known,
    is_provisional,
    leading,
    money_table,
    over_all_cohorts,
    season_board,
    span_scale,
    stamps,
    unranked_table,
    whole_verdict,
    without_ranks,
)
from dashboard.charts import scatter
from dashboard.html import box, columns_of_table, html_table
from dashboard.pages import (
    ALL,
    choice,
    controls,
    no_such,
    not_yet,
    nothing_found,
    options_of,
    put,
    show_age,
    subheading,
    typed,
)
from dashboard.pictures import REST
from dashboard.record import (
    LeaderboardLine,
    LeaderboardPage,
    Lines,
    RecordSource,
    SeasonOverview,
    cache_note,
    read_cached,
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
WHOLE = "whole"
SEARCH = "Search names"
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
    """Show the page: what it comes to, what is going on, the figures, then skill against return."""
    overview = season(record)
    top = st.container()
    options = {ALL: "All cohorts"}
    for line in reversed(overview.cohorts):
        options[str(line.number)] = cohort_label(line)

    no_such("cohort", [st.query_params.get("cohort")], options)
    number = None
    by = WHOLE
    with controls():
        chosen = choice("Cohorts", "cohort", options, ALL, "list")
        if chosen == ALL:
            by = choice("Part of the season", "slice", PARTS, WHOLE, "list")
        else:
            number = int(chosen)

    shown = read_cached(record, read_leaderboard_page, number)
    with top:
        _show_lead(record, overview, shown, chosen)
    if by != WHOLE:
        _show_part(record, by, shown, overview)
    elif shown.board is None:
        put(money_table(shown.money, overview.names), "table of money")
    else:
        _show_whole_board(shown, overview, chosen)


def _verdict_text(record: RecordSource, shown: LeaderboardPage, chosen: str) -> str:
    """Return the verdict of the whole record, which a single cohort has none beside."""
    if chosen != ALL:
        return over_all_cohorts(read_cached(record, read_verdict))
    if shown.board is None:
        return ""
    return whole_verdict(read_cached(record, read_verdict))


def _show_lead(record: RecordSource, overview: SeasonOverview, shown: LeaderboardPage, chosen: str) -> None:
    """Show the first words: the verdict, and what kind of season this is."""
    verdict = _verdict_text(record, shown, chosen)
    if verdict:
        st.markdown(leading(verdict))

    cohorts = [line for line in overview.cohorts if chosen in (ALL, str(line.number))]
    for stamp in stamps(cohorts):
        st.caption(leading(stamp))
    if any(line.rules.name == SEED.name for line in cohorts):
        st.caption(BY_SEED)
    show_age(shown.board)


def _show_whole_board(shown: LeaderboardPage, overview: SeasonOverview, chosen: str) -> None:
    """Show the board with all its figures, those that are not ranked, and the agents by skill and return."""
    with controls():
        reading = choice("Reading", "reading", READINGS, "stated")
        sort = choice("Order", "sort", SORTS, "best", "list")
        search = typed("Search", "search", SEARCH)
        groups = {"short": "Short"} | {name.lower(): name for name in GROUPS} | {ALL: "All columns"}
        group = choice("Columns", "columns", groups, "short", "list")
    if reading != "stated":
        st.caption(f"{MEANT[reading]} Skill and ranks always go by the stated probabilities.")

    lines = ordered(matching(shown.lines, search, lambda line: line.row.agent), sort, reading)
    if group == "short" and is_provisional(shown.lines):
        look = BoardLook(overview, {}, {})
        put(season_board(lines, look, provisional=True), "board")
    elif group == ALL:
        _show_boards(lines, COLUMNS, overview)
    else:
        _show_boards(lines, columns_of(*GROUPS.get(groups[group], SHORT)), overview)
    if not lines:
        nothing_found("No agent has a matching name. Clear the search to see all.")

    every = [line.row.agent for line in shown.lines]
    _download(as_csv(every, shown.lines, COLUMNS), f"leaderboard-{chosen}.csv")
    figure, of = ("skill", "skill") if reading == "stated" else (f"brier_{reading}", "score")
    _show_scatter(lines, {line.row.agent: getattr(line.row, figure) for line in lines}, overview, of)


def _show_boards(lines: Lines, columns: Sequence[LeaderboardColumn], overview: SeasonOverview) -> None:
    """Show the agents that are ranked, then the references, then the other agents."""
    parts = board_parts(lines)
    if parts.ranked:
        put(board_table("Leaderboard: one row an agent", columns, parts.ranked, overview.names), "table")
    if parts.references:
        subheading(REFERENCES_ARE)
        shown = without_ranks(columns)
        put(board_table(REFERENCE_TABLE, shown, parts.references, overview.names), "references")
    if parts.unranked:
        subheading(NOT_RANKED)
        put(unranked_table(parts.unranked, overview.names), "table of unranked")
    implied = [column for column in columns if column.key == "brier_implied"]
    if is_any_known(lines, implied):
        st.caption(f"\\* {IMPLIED_NOTE}")


def _download(text: str, name: str) -> None:
    """Draw a button that downloads a file."""
    st.download_button(
        "Download all columns as CSV",
        text,
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _show_part(
    record: RecordSource, part_kind: str, shown: LeaderboardPage, overview: SeasonOverview
) -> None:
    """Show every agent against the price in one part of the season."""
    entry = read_cached(record, SLICES.read, part_kind)
    if entry is None:
        not_yet(cache_note(None, "Parts of the season"))
        return
    unranked_agents = {line.row.agent for line in board_parts(shown.lines).unranked}
    ranked_parts = [part for part in entry.value if part.gain.agent not in unranked_agents]
    names = options_of(part.slice for part in ranked_parts)
    if not names:
        st.info("No forecast has a result yet: parts come with the first results.")
        return

    with controls():
        chosen = choice("Part", "part", names, next(iter(names)), "list")
        search = typed("Search", "search", SEARCH)
    chosen_parts = [part for part in ranked_parts if part.slice == chosen]
    rows = sorted(matching(chosen_parts, search, lambda part: part.gain.agent), key=_by_skill)
    put(_part_table(rows, overview), "table")

    agents = [part.gain.agent for part in rows]
    _download(as_csv(agents, rows, PART_COLUMNS), f"leaderboard-{part_kind}.csv")
    skills = {part.gain.agent: part.gain.skill for part in rows}
    _show_scatter(
        shown.lines, skills, overview, introduction="Skill is of this part, return of the whole season. "
    )


def _part_table(parts: Sequence[Slice], overview: SeasonOverview) -> Markup:
    """Return one row an agent, with its skill in a part of the season as a picture and in figures."""
    spans = {part.gain.agent: (part.gain.skill, part.gain.low, part.gain.high) for part in parts}
    scale = span_scale(spans.values())

    rows = []
    for part in parts:
        agent = part.gain.agent
        drawn = {"agent": agent, "bar": draw_span(spans[agent], scale)}
        rows.append(drawn | figures_of(part, PART_COLUMNS) | {"href": agent_page(agent, overview.names)})
    columns = columns_of_table("parts of the season")
    return html_table(rows, columns, "One row an agent, in this part of the season")


def _by_skill(part: Slice) -> tuple[float, float, str]:
    """Return what puts the surest skill first, as on the whole board."""
    gain = part.gain
    return highest_first(gain.low), highest_first(gain.skill), gain.agent


def _show_scatter(
    lines: Lines,
    values: Mapping[str, float | None],
    season: SeasonOverview,
    figure_name: str = "skill",
    introduction: str = "",
) -> None:
    """Show skill, or the score of another reading, against return; the first three are named."""
    returns = {line.row.agent: line.row.return_pct for line in lines}
    drawn = {}
    for name, value in values.items():
        return_percent = returns.get(name)
        if value is not None and return_percent is not None:
            drawn[name] = (value, return_percent)
    if not drawn:
        return

    colours = season.colours(season.players(drawn)[:NAMED])
    spots = [(name, x, y, colours.get(name, REST)) for name, (x, y) in drawn.items()]

    unit = "%+.3f"
    explanation = (
        "Across: skill, in Brier points closer than the price. Up: return, which luck moves far more. "
        "Grey: references and others; point at a dot for its name."
    )
    if figure_name != "skill":
        unit = "%.2f"
        explanation = "Across: Brier score, better to the left. Up: return. Grey: references and others."
    chart = scatter(spots, f"Each agent's {figure_name} and return", unit)
    put(box(f"{figure_name.capitalize()} against return", chart, introduction + explanation), "plane")


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


def ordered(lines: Lines, sort: str, reading: str) -> list[LeaderboardLine]:
    """Return the lines of a board: what is best first, and last what nothing is known of.

    Best is the surest skill, as the board stands; in another reading than the stated one, for which there is
    no price to compare with, it is the lowest Brier score.
    """
    if sort == "name":
        return sorted(lines, key=lambda line: natural_key(line.row.agent))
    if sort == "best" and reading == "stated":
        return list(lines)
    return sorted(lines, key=_sort_key(sort, reading))


def _sort_key(sort: str, reading: str) -> Callable[[LeaderboardLine], float]:
    """Return what lines are sorted by: the smallest first."""
    smallest_first = {"best": f"brier_{reading}", "implied": "brier_implied", "cost": "cost_per_forecast"}
    largest_first = {
        "evidence": "evidence",
        "profit": "pnl",
        "return": "return_pct",
        "wins": "win_rate",
        "events": "events",
    }
    figure_name = smallest_first.get(sort) or largest_first[sort]

    def key(line: LeaderboardLine) -> float:
        value: float | None = getattr(line.row, figure_name)
        if value is None:
            return math.inf
        if sort in smallest_first:
            return value
        return -value

    return key


def matching(rows: Sequence[Row], search: str, name_of: Callable[[Row], str]) -> list[Row]:
    """Return those whose name has all of these words in it, whatever their case.

    >>> matching(["Ann", "bob", "annabel"], "AN n", str)
    ['Ann', 'annabel']
    """
    wanted_words = search.casefold().split()
    matching_rows = []
    for row in rows:
        text = name_of(row).casefold()
        if all(word in text for word in wanted_words):
            matching_rows.append(row)
    return matching_rows
