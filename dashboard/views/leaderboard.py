"""All agents against the price: over every cohort, or in one."""

import streamlit as st

from dashboard.choice import choice
from dashboard.drawn.skill import skill_and_return
from dashboard.lead import cohort_label, lead, stamps
from dashboard.palette import looks
from dashboard.queries.leaderboard import board
from dashboard.queries.season import season
from dashboard.source import Source
from dashboard.table import COLUMNS, as_csv, show_board

TITLE = "Leaderboard"
ICON = ":material/leaderboard:"
NEEDS_A_COHORT = True
ORDER = 1

ALL = "all"


def show(record: Source) -> None:
    """The page: what it comes to, then the figures, then skill against return."""
    known = season(record)
    options = {ALL: "All cohorts"} | {str(c.number): cohort_label(c) for c in reversed(known.cohorts)}
    chosen = choice("Cohorts", "cohort", options, ALL, "list")
    number = None if chosen == ALL else int(chosen)
    rows = board(record, number)
    st.markdown(lead(rows))
    for said in stamps(c for c in known.cohorts if number in (None, c.number)):
        st.caption(said)
    drawn = looks(known.agents)
    show_board(rows, drawn)
    st.download_button(
        "Download CSV",
        as_csv(rows),
        file_name=f"leaderboard-{chosen}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    with st.expander("What the columns say"):
        st.markdown("\n".join(f"- **{column.label}**: {column.help}" for column in COLUMNS))
    st.subheader("Skill against return", anchor=False)
    if any(row.skill is not None for row in rows):
        st.caption(
            "Right of the line beats the price, above it earns money. Luck moves return far more than skill."
        )
        st.altair_chart(skill_and_return(rows, drawn), alt="Skill against return, a point an agent")
    else:
        st.info("It appears with the first resolved market.", icon=":material/hourglass_empty:")
