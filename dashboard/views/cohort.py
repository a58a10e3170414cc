"""One cohort: how its accounts went, how well its forecasts were calibrated, and what was frozen."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from arena.record.model.cohort import Cohort
from arena.scores.profiles.calibrations import CohortCalibrations, ForecasterCalibration
from dashboard.cache import cache_note
from dashboard.chart import draw
from dashboard.charts.calibration import PANEL, calibration
from dashboard.charts.curves import Unit, pnl_curves
from dashboard.choice import choice
from dashboard.cohort_rules import rules, settings
from dashboard.columns import BRIEF, COLUMNS, with_bar
from dashboard.html_table import words
from dashboard.lead import cohort_label, progress, stamps
from dashboard.links import link
from dashboard.listing import listing
from dashboard.model import LeaderboardLine
from dashboard.order import MEANT, READINGS
from dashboard.palette import AgentLook, looks
from dashboard.parts.founding_scores import show_founding
from dashboard.parts.leaderboard_money import show_money
from dashboard.parts.leaderboard_unranked import show_unranked
from dashboard.queries.cohort import CohortPage, calibrations, cohort_page, curves_of
from dashboard.queries.season import season
from dashboard.source import RecordSource, cached
from dashboard.table import agent_ways, bars, cells, config, who
from dashboard.words import code

TITLE = "Cohorts"
NEEDS_A_COHORT = True
ORDER = 2

UNITS = {"dollars": "$", "percent": "%"}
RANGES = {"1d": "1D", "1w": "1W", "1m": "1M", "3m": "3M", "all": "All"}
PANELS = 12
"""So many calibration panels are drawn at once."""


def show(record: RecordSource) -> None:
    """The page: curves, standings, calibration, then the line-up, the rules, and what is new in them."""
    known = season(record)
    options = {str(c.number): cohort_label(c) for c in reversed(known.cohorts)}
    chosen = choice("Cohort", "cohort", options, str(known.cohorts[-1].number), "list")
    page = cohort_page(record, int(chosen))
    st.markdown(progress(page.line))
    for said in stamps([page.line]):
        st.caption(said)
    drawn = looks(known.agents)
    _curves(record, page, drawn)
    _standings(page, drawn)
    _calibration(record, page, drawn)
    _frozen(page.cohort, drawn)
    _changed(page)


def _curves(record: RecordSource, page: CohortPage, drawn: Mapping[str, AgentLook]) -> None:
    st.subheader("Profit and loss", anchor=False)
    with st.container(horizontal=True, gap="small"):
        unit = cast(Unit, choice("Unit", "unit", UNITS, "dollars"))
        back = choice("Range", "range", RANGES, "all")
    found = curves_of(record, page.line.number, back)
    if not found.points:
        st.info(
            "No account has been valued yet. The curves start with the first round: `arena round`.",
            icon=":material/hourglass_empty:",
        )
        return
    st.caption(
        "Open positions at mid. Upright lines are rounds, triangles below are markets that were paid out. "
        "Click names in the legend to see only these, and again to leave them out."
    )
    chart = pnl_curves(found.points, found.rounds, drawn, unit, found.settled)
    draw(chart, says="Profit and loss of each agent over time")


def _standings(page: CohortPage, drawn: Mapping[str, AgentLook]) -> None:
    st.subheader("Standings", anchor=False)
    if note := cache_note(page.board):
        st.info(note, icon=":material/history:")
    if page.board is None:
        show_money(page.money, drawn)
        return
    every = [LeaderboardLine(row) for row in page.board.value.rows]
    lines = [line for line in every if line.is_on_board]
    rows = [line.row for line in lines]
    names = [row.agent for row in rows]
    columns = with_bar((c for c in COLUMNS if c.key in BRIEF), page.board.value.bar)
    figures = cells(lines, columns)
    data = who(names, drawn) | {"place": figures.pop("place"), "bar": bars(rows, drawn)} | figures
    listing(data, "Standings of the cohort: one row an agent", config(columns), agent_ways(names, drawn))
    show_unranked([line for line in every if not line.is_on_board], drawn)
    link("All figures, to sort and to download", "leaderboard", cohort=page.line.number)
    show_founding(every, [page.line], drawn)


def _calibration(record: RecordSource, page: CohortPage, drawn: Mapping[str, AgentLook]) -> None:
    st.subheader("Calibration", anchor=False)
    reading = choice("Reading", "reading", READINGS, "stated")
    entry = calibrations(record, page.line.number)
    if entry is None:
        st.info(cache_note(None, "Calibration and its bands"), icon=":material/hourglass_empty:")
        return
    agents = _in_reading(entry.value, reading)
    if not any(agent.scored for agent in agents):
        waiting = sum(agent.made for agent in agents)
        why = "No market has resolved yet." if waiting else "Nobody has bet yet."
        st.info(f"{why} Calibration needs forecasts with an outcome.", icon=":material/hourglass_empty:")
        return
    if note := cache_note(entry):
        st.info(note, icon=":material/history:")
    st.caption(
        f"{MEANT[reading]} On the diagonal, what was called 70% likely came true 70% of the time. A line "
        "that stays in the shaded band is no further off than chance would have it in 90 of 100 seasons. "
        "Dashed grey is the price of every market shown."
    )
    drawn_now = _some(agents)
    with st.container(horizontal=True, gap="small"):
        for agent in drawn_now:
            panel = _panel(record, page.line.number, reading, agent.agent, drawn[agent.agent])
            draw(panel, width=PANEL[0], says=f"Calibration of {agent.agent}")


@cached
def _panel(record: RecordSource, number: int, reading: str, agent: str, look: AgentLook) -> dict[str, Any]:
    """An agent's calibration as it is drawn; a page has a dozen, and each takes its time to be made."""
    entry = calibrations(record, number)
    assert entry is not None
    [mine] = [one for one in _in_reading(entry.value, reading) if one.agent == agent]
    return calibration(mine, entry.value.market, look).to_dict(validate=False)


def _some(agents: Sequence[ForecasterCalibration]) -> Sequence[ForecasterCalibration]:
    """As many as a page can draw at once; which ones is chosen where there are more."""
    if len(agents) <= PANELS:
        return agents
    firsts = range(0, len(agents), PANELS)
    options = {str(n): f"Agents {n + 1} to {min(n + PANELS, len(agents))}" for n in firsts}
    first = int(choice("Agents", "agents", options, "0", "list"))
    return agents[first : first + PANELS]


def _in_reading(found: CohortCalibrations, reading: str) -> tuple[ForecasterCalibration, ...]:
    return {"anchored": found.anchored, "implied": found.implied}.get(reading, found.stated)


def _frozen(cohort: Cohort, drawn: Mapping[str, AgentLook]) -> None:
    st.subheader("Line-up and rules", anchor=False)
    st.caption("Frozen when the cohort started.")
    st.markdown("\n".join(f"- {sentence}" for sentence in rules(cohort)))
    entrants = cohort.entrants
    listing(
        {
            "look": [drawn[entrant.name].badge for entrant in entrants],
            "Agent": [entrant.name for entrant in entrants],
            "Kind": [entrant.kind for entrant in entrants],
            "Settings": [settings(entrant) for entrant in entrants],
        },
        "Line-up of the cohort",
        {"Settings": words("Settings", long=True)},
        agent_ways([entrant.name for entrant in entrants], drawn),
    )


def _changed(page: CohortPage) -> None:
    """What differs from the cohort before, as `arena cohorts diff` says it."""
    if page.before is None:
        return
    st.subheader(f"What differs from cohort {page.before}", anchor=False)
    if not page.changed:
        st.caption("Nothing that is played by has changed: the same agents, rules, markets and prompts.")
        return
    st.markdown("\n".join(f"- {code(line)}" for line in page.changed))
