"""Evidence that an agent is closer than the price, over time."""

import streamlit as st

from dashboard.chart import draw
from dashboard.charts.agent import evidence_curve
from dashboard.palette import AgentLook
from dashboard.queries.agent import AgentEvidence


def show(found: AgentEvidence | None, look: AgentLook) -> None:
    """The capital of a bet on its skill; nothing for an agent without any."""
    if found is None or not found.points:
        return
    st.subheader("Evidence", anchor=False)
    st.caption(
        "What a bet on its skill has made of 1, as outcomes came in. Without skill it reaches the bar in "
        f"at most 1 of {found.bar:,.0f} seasons, however often one looks."
    )
    draw(evidence_curve(found.points, found.bar, look), says="Evidence over time, with its bar")
