"""One decision whole: what was forecast, what was wished and what came of it, and the words behind it."""

import json

import streamlit as st
from markupsafe import Markup

from dashboard.blocks import Quotation, box, folded, quotes
from dashboard.figures import outcome
from dashboard.links import link, step, way
from dashboard.listing import put
from dashboard.numbers import in_dollars
from dashboard.parts.turn_calls import cost_of, show_calls
from dashboard.parts.turn_evidence import show_evidence
from dashboard.parts.turn_forecasts import show_forecasts
from dashboard.parts.turn_list import MEANT
from dashboard.parts.turn_orders import show_fills, show_orders, show_rejections
from dashboard.queries.turn import Claim, TurnPage
from dashboard.source import RecordSource
from dashboard.times import moment
from dashboard.words import code, count, dollars, flat, plain
from markets.millionths import ONE
from portfolio.model import Fill

QUOTED = 4
"""So many reasons are read at once; the others are folded away."""


def show_turn(record: RecordSource, page: TurnPage) -> None:
    """The page of one turn, from how it ended down to the words of every call."""
    turn = page.turn
    _ways(page)
    st.subheader(plain(summary(page)), anchor=False)
    where = f"Decided {moment(turn.at)}, in round {turn.round} of cohort {turn.cohort}"
    st.caption(f"{where} · kind {code(turn.kind)} · version {code(turn.code_version)}")
    _figures(page)
    if turn.note:
        st.markdown(f"**Note:** {plain(turn.note, most=5_000)}")
    for failure in page.failures:
        when = f", {moment(failure.at)}" if failure.at else ""
        st.markdown(f"**Failure {failure.number}{when}:** {plain(failure.note, most=5_000)}")
    if repaired := json.loads(turn.repaired):
        st.markdown(f"**Read by repairs:** {plain(', '.join(repaired))}")
    put(reasons(page), "reasons")
    show_orders(page)
    show_rejections(page)
    show_forecasts(page)
    show_fills(page)
    show_calls(record, page)
    show_evidence(page)


def summary(page: TurnPage) -> str:
    """What the turn did, in a line."""
    turn, bought = page.turn, [fill for fill in page.fills if fill.action == "buy"]
    sold, did = len(page.fills) - len(bought), list[str]()
    if bought:
        spent = in_dollars(round(sum(fill.amount for fill in bought) / ONE)).removesuffix(".00")
        did.append(f"bet {spent} on {count(len({fill.market_id for fill in bought}), 'market')}")
    if sold:
        did.append(f"sold {sold:,}")
    if turn.status not in ("played", "partly"):
        did = [turn.status]
    return f"{turn.agent}, round {turn.round}: {', '.join(did) or 'traded nothing'}"


def reasons(page: TurnPage) -> Markup:
    """Why it said and did what it did, in its own words: what it traded first, then what is furthest off."""
    traded = {fill.market_id: fill for fill in page.fills}
    told = [claim for claim in page.claims if claim.said.reason and claim.said.final is not None]
    told.sort(key=lambda one: (-traded[one.seen.id].amount if one.seen.id in traded else 1, -_apart(one)))
    found = [_quotation(claim, traded.get(claim.seen.id)) for claim in told]
    if not found:
        return Markup("")
    rest = folded(count(len(found) - QUOTED, "more reason"), quotes(found[QUOTED:]))
    return box("Reasons", quotes(found[:QUOTED]) + (rest if len(found) > QUOTED else ""))


def _apart(claim: Claim) -> int:
    """How far what it stated is from the price that it saw."""
    final, mid = claim.said.final, claim.seen.mid
    return 0 if final is None or mid is None else abs(final - mid)


def _quotation(claim: Claim, fill: Fill | None) -> Quotation:
    price = "" if claim.seen.mid is None else f", price {claim.seen.mid / ONE:.0%}"
    did = f"says {(claim.said.final or 0) / ONE:.0%}{price}"
    if fill is not None:
        did += f"; {'bought' if fill.action == 'buy' else 'sold'} {fill.side} for {dollars(fill.amount)}"
    ended = outcome(claim.ended, claim.payout)
    where = f"resolved {ended}" if ended else "not resolved yet"
    href = way("market", market=claim.seen.id).href
    return Quotation(flat(claim.seen.question), did, flat(claim.said.reason), where, href)


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
        st.metric("Status", turn.status, help=MEANT.get(turn.status), border=True)
        st.metric("Forecasts", f"{said} of {shown}", help="Stated, of the markets shown.", border=True)
        spent = dollars(sum(fill.amount for fill in bought))
        st.metric("Bet", spent, help=f"{count(len(bought), 'purchase')}, fees included.", border=True)
        sold = len(page.fills) - len(bought)
        st.metric("Sales", f"{sold}", help="Of positions, in full or in part.", border=True)
        refused = f"{len(page.rejections)}"
        st.metric(
            "Rejected", refused, help="Orders, and items of the answer, that were refused.", border=True
        )
        st.metric("Cash before", dollars(turn.cash), help="What caps are measured by.", border=True)
        st.metric("Cost", cost_of(page.attempts), help="Of all its calls, in dollars.", border=True)
