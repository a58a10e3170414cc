"""One cohort: how its accounts went, how well its forecasts were calibrated, and what was frozen."""

from collections.abc import Mapping
from typing import cast

import streamlit as st

from arena.model import Cohort
from dashboard.choice import choice
from dashboard.drawn.calibration import PANEL, calibration
from dashboard.drawn.curves import Unit, pnl_curves
from dashboard.frozen import rules, settings
from dashboard.lead import cohort_label, progress, stamps
from dashboard.model import CohortPage
from dashboard.palette import Look, looks
from dashboard.queries.cohort import Reading, calibrations, cohort_page
from dashboard.queries.season import season
from dashboard.source import Source
from dashboard.table import BRIEF, show_board

TITLE = "Cohort"
ICON = ":material/groups:"
NEEDS_A_COHORT = True
ORDER = 2

UNITS = {"dollars": "$", "percent": "%"}
READINGS = {"stated": "Stated", "anchored": "Anchored", "implied": "Implied"}
MEANT = {
    "stated": "Stated: the probabilities that the agents gave, for every market shown.",
    "anchored": "Anchored: bets read as a move away from the price paid; a full stake is certainty.",
    "implied": "Implied: bets read as confidence by stake alone, whatever the price.",
}


def show(record: Source) -> None:
    """The page: curves, calibration, standings, then the line-up and the rules."""
    known = season(record)
    options = {str(c.number): cohort_label(c) for c in reversed(known.cohorts)}
    chosen = choice("Cohort", "cohort", options, str(known.cohorts[-1].number), "list")
    page = cohort_page(record, int(chosen))
    st.markdown(progress(page.line))
    for said in stamps([page.line]):
        st.caption(said)
    drawn = looks(known.agents)
    _curves(page, drawn)
    _calibration(record, page, drawn)
    st.subheader("Standings", anchor=False)
    show_board(page.rows, drawn, BRIEF)
    _frozen(page.cohort, drawn)


def _curves(page: CohortPage, drawn: Mapping[str, Look]) -> None:
    st.subheader("Profit and loss", anchor=False)
    if not page.curves:
        st.info(
            "No account has been valued yet. The curves start with the first round: `arena round`.",
            icon=":material/hourglass_empty:",
        )
        return
    unit = cast(Unit, choice("Unit", "unit", UNITS, "dollars"))
    st.caption(
        "Open positions at mid; thin upright lines are rounds. Click the legend to single an agent out."
    )
    chart = pnl_curves(page.curves, page.rounds, drawn, unit)
    st.altair_chart(chart, alt="Profit and loss of each agent over time")


def _calibration(record: Source, page: CohortPage, drawn: Mapping[str, Look]) -> None:
    st.subheader("Calibration", anchor=False)
    reading = cast(Reading, choice("Reading", "reading", READINGS, "stated"))
    found = calibrations(record, page.line.number, reading)
    if not any(agent.scored for agent in found.agents):
        waiting = sum(agent.made for agent in found.agents)
        why = "No market has resolved yet." if waiting else "Nobody has bet yet."
        st.info(f"{why} Calibration needs forecasts with an outcome.", icon=":material/hourglass_empty:")
        return
    st.caption(
        f"{MEANT[reading]} On the diagonal, what was called 70% likely came true 70% of the time. Bars are "
        "95% intervals that take forecasts as independent: too short where many are on one event. "
        "Dashed grey is the price of every market shown."
    )
    with st.container(horizontal=True, gap="small"):
        for agent in found.agents:
            panel = calibration(agent, found.market, drawn[agent.agent])
            st.altair_chart(panel, width=PANEL[0], alt=f"Calibration of {agent.agent}")


def _frozen(cohort: Cohort, drawn: Mapping[str, Look]) -> None:
    st.subheader("Line-up and rules", anchor=False)
    st.caption("Frozen when the cohort started.")
    st.markdown("\n".join(f"- {sentence}" for sentence in rules(cohort)))
    entrants = cohort.entrants
    st.dataframe(
        {
            "look": [drawn[entrant.name].badge for entrant in entrants],
            "Agent": [entrant.name for entrant in entrants],
            "Kind": [entrant.kind for entrant in entrants],
            "Settings": [settings(entrant) for entrant in entrants],
        },
        hide_index=True,
        height="content",
        column_config={
            "look": st.column_config.ImageColumn("", width=28, pinned=True),
            "Agent": st.column_config.TextColumn(pinned=True),
            "Settings": st.column_config.TextColumn(width="large"),
        },
        alt="Line-up of the cohort",
    )
