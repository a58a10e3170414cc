"""One decision whole: what was forecast, what was wished and what came of it, and the words behind it."""

import json

import streamlit as st

from dashboard.links import link, step
from dashboard.parts.turn_calls import cost_of, show_calls
from dashboard.parts.turn_evidence import show_evidence
from dashboard.parts.turn_forecasts import show_forecasts
from dashboard.parts.turn_list import MEANT
from dashboard.parts.turn_orders import show_fills, show_orders, show_rejections
from dashboard.queries.turn import TurnPage
from dashboard.source import RecordSource
from dashboard.times import moment
from dashboard.words import code, count, dollars, plain


def show_turn(record: RecordSource, page: TurnPage) -> None:
    """The page of one turn, from how it ended down to the words of every call."""
    turn = page.turn
    _ways(page)
    st.subheader(f"{plain(turn.agent)} in round {turn.round} of cohort {turn.cohort}", anchor=False)
    st.caption(f"Decided {moment(turn.at)} · kind {code(turn.kind)} · version {code(turn.code_version)}")
    _figures(page)
    if turn.note:
        st.markdown(f"**Note:** {plain(turn.note, most=5_000)}")
    for failure in page.failures:
        when = f", {moment(failure.at)}" if failure.at else ""
        st.markdown(f"**Failure {failure.number}{when}:** {plain(failure.note, most=5_000)}")
    if repaired := json.loads(turn.repaired):
        st.markdown(f"**Read by repairs:** {plain(', '.join(repaired))}")
    show_forecasts(page)
    show_orders(page)
    show_fills(page)
    show_rejections(page)
    show_calls(record, page)
    show_evidence(page)


def _ways(page: TurnPage) -> None:
    """To the turns before and after, to the agent and to the cohort."""
    turn, place = page.turn, page.rounds.index(page.turn.round)
    around = {"← Round before": page.rounds[:place][-1:], "Round after →": page.rounds[place + 1 :][:1]}
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, rounds in around.items():
            for round in rounds:
                step(label, "turn", cohort=turn.cohort, round=round, agent=turn.agent)
        link("Its agent", "agent", agent=turn.agent)
        link("Its cohort", "cohort", cohort=turn.cohort)
        step("All turns", "turn")


def _figures(page: TurnPage) -> None:
    turn = page.turn
    bought = [fill for fill in page.fills if fill.action == "buy"]
    said = sum(claim.said.final is not None for claim in page.claims)
    shown = sum(claim.seen.shown for claim in page.claims)
    with st.container(horizontal=True):
        st.metric("Verdict", turn.status, help=MEANT.get(turn.status), border=True)
        st.metric("Forecasts", f"{said} of {shown}", help="Stated, of the markets shown.", border=True)
        spent = dollars(sum(fill.amount for fill in bought))
        st.metric("Bet", spent, help=f"{count(len(bought), 'purchase')}, fees included.", border=True)
        sold = len(page.fills) - len(bought)
        st.metric("Sales", f"{sold}", help="Of positions, in full or in part.", border=True)
        refused = f"{len(page.rejections)}"
        st.metric("Rejected", refused, help="Wishes, and items of the answer, refused.", border=True)
        st.metric("Cash before", dollars(turn.cash), help="What caps are measured by.", border=True)
        st.metric("Cost", cost_of(page.attempts), help="Of all its calls, in dollars.", border=True)
