"""Below a board: the agents that are not ranked, and why."""

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.columns import UNRANKED
from dashboard.listing import listing
from dashboard.model import LeaderboardLine
from dashboard.palette import AgentLook
from dashboard.table import agent_ways, cells, config, who


def show_unranked(lines: Sequence[LeaderboardLine], drawn: Mapping[str, AgentLook]) -> None:
    """One row an agent, which leads to the agent's page: no skill and no place, only bets and cost."""
    if not lines:
        return
    st.subheader("Not ranked", anchor=False)
    names = [line.row.agent for line in lines]
    data = who(names, drawn) | cells(lines, UNRANKED)
    listing(data, "Agents that are not ranked, and why", config(UNRANKED), agent_ways(names, drawn))
