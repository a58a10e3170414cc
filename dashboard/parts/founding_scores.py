"""What the founding text says of agents: its scores, and its words for them."""

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.columns import FOUNDING
from dashboard.listing import listing
from dashboard.model import CohortLine, LeaderboardLine
from dashboard.palette import AgentLook
from dashboard.table import cells, config, who
from portfolio.rules import SEED

BASE = (
    "Implied confidence is a bet's share of the largest one allowed. Here that is taken from the cash at the "
    "start of a decision; the founding text takes the cash at the time of the bet."
)


def show_founding(
    lines: Sequence[LeaderboardLine], cohorts: Sequence[CohortLine], drawn: Mapping[str, AgentLook]
) -> None:
    """A row an agent; and where the rules take implied confidence from another base."""
    st.subheader("By the founding text", anchor=False)
    st.caption("Brier skill is the share of the reference's error that is gone: above 0 beats it.")
    data = who([line.row.agent for line in lines], drawn) | cells(lines, FOUNDING)
    listing(data, "Scores of the founding text, a row an agent", config(FOUNDING))
    if any(line.rules.base != SEED.base for line in cohorts):
        st.caption(BASE)
