"""The decisions of agents: the newest in a list, and each of them whole, down to its words."""

import streamlit as st

from dashboard.links import step
from dashboard.parts.turn_list import show_list
from dashboard.parts.turn_one import show_turn
from dashboard.queries.turn import turn_page
from dashboard.source import RecordSource
from dashboard.words import code

TITLE = "Turn"
NEEDS_A_COHORT = True
ORDER = None


def show(record: RecordSource) -> None:
    """The turn that the address names, or the list of the newest."""
    cohort, round, agent = (st.query_params.get(key, "") for key in ("cohort", "round", "agent"))
    if not (cohort and round):
        show_list(record)
        return
    page = turn_page(record, _number(cohort), _number(round), agent)
    if page is None:
        whose = f" of {code(agent[:200])}" if agent else ""
        said = (
            f"The record holds no turn{whose} in round {code(round[:20])} of cohort {code(cohort[:20])}, "
            "or it is not in yet."
        )
        st.info(said, icon=":material/search_off:")
        step("All turns", "turn")
        return
    show_turn(record, page)


def _number(text: str) -> int:
    """The number in an address; 0, which nothing has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
