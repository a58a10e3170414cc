"""Below a board: the agents that are not ranked, and why."""

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.columns import UNRANKED
from dashboard.links import go
from dashboard.model import LeaderboardLine
from dashboard.palette import AgentLook
from dashboard.row_choice import clicked_row
from dashboard.table import cells, config, who


def show_unranked(lines: Sequence[LeaderboardLine], drawn: Mapping[str, AgentLook]) -> None:
    """One row an agent, which leads to the agent's page: no skill and no place, only bets and cost."""
    if not lines:
        return
    st.subheader("Not ranked", anchor=False)
    names = [line.row.agent for line in lines]
    data = who(names, drawn) | cells(lines, UNRANKED)
    row = clicked_row(data, "not ranked", config(UNRANKED), "Agents that are not ranked, and why")
    if row is not None:
        go("agent", agent=names[row])
