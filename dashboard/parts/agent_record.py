"""What it has made over time, and cohort by cohort."""

from collections.abc import Sequence

import streamlit as st

from arena.scores.profiles.detailed_profile import DetailedProfile
from dashboard.chart import draw
from dashboard.charts.agent import profit_curve
from dashboard.html_table import number
from dashboard.links import way
from dashboard.listing import listing
from dashboard.model import PnlPoint
from dashboard.palette import AgentLook
from dashboard.queries.agent import AgentCohort, AgentPage
from dashboard.words import day, escaped, gained
from markets.millionths import ONE

COLUMNS = {
    "Cohort": number("Cohort", "%d", "Its number."),
    "Skill": number(
        "Skill", "%+.4f", "Market Brier minus its own, on the same forecasts; above 0 beats the price."
    ),
    "from": number("from", "%+.4f", "The lower end of the 95% interval; a dash under 20 effective events."),
    "to": number("to", "%+.4f", "The upper end of the 95% interval."),
    "Events": number("Events", "localized", "Resolved ones. Markets of one event move together."),
    "Brier": number("Brier", "%.4f", "Mean squared error of what it stated; lower is better."),
    "P/L": number("P/L", "gain", "Profit or loss in dollars, open positions at mid."),
    "Return %": number("Return %", "%+.1f", "Profit or loss in percent of its bankroll."),
    "Bets": number("Bets", "localized", "Accepted, resolved or not."),
    "Sales": number("Sales", "localized", "Of positions, before their market ended."),
    "Forecasts": number("Forecasts", "localized", "Probabilities stated, resolved or not."),
    "Turns": number("Turns", "localized", "Decisions asked of it."),
}


def show(page: AgentPage, points: Sequence[PnlPoint], found: DetailedProfile | None, look: AgentLook) -> None:
    """The curve with its luck band, then a row a cohort."""
    st.subheader("Profit and loss", anchor=False)
    money = None if found is None else found.profile.money
    if not points:
        st.info(
            "Its account was not valued yet: the curve starts with the first round, `arena round`.",
            icon=":material/hourglass_empty:",
        )
    else:
        st.caption(
            "All its accounts together, each since its own start, open positions at mid. "
            "The grey bar at the end is what luck alone makes of 95 seasons in 100."
        )
        chart = profit_curve(points, None if money is None else money.luck, look)
        draw(chart, says="Profit and loss over all cohorts, with the luck band")
    if money is not None:
        st.markdown(escaped(_luck(money.luck.percentile, money.luck.low, money.luck.high, money.luck.reason)))
    st.subheader("Cohort by cohort", anchor=False)
    stays = list(reversed(page.stays))
    ways = [way("cohort", cohort=stay.cohort) for stay in stays]
    listing(_table(stays, found), "Its record, a row a cohort", COLUMNS, ways)


def _luck(percentile: float | None, low: int | None, high: int | None, reason: str) -> str:
    """How its profit stands among those of seasons without skill.

    >>> _luck(0.5, -1_000_000, 2_000_000, "")
    'By luck alone it would lie between −$1.00 and +$2.00 in 95 seasons of 100: this is no news.'
    """
    if percentile is None or low is None or high is None:
        return f"Nothing can be said of luck: {reason}."
    band = f"By luck alone it would lie between {gained(low)} and {gained(high)} in 95 seasons of 100"
    if 0.025 <= percentile <= 0.975:
        return f"{band}: this is no news."
    share = percentile if percentile > 0.5 else 1 - percentile
    side = "less" if percentile > 0.5 else "more"
    often = "more than 99.9%" if share > 0.999 else f"{share:.1%}"
    return f"{band}; {often} of such seasons end with {side}."


def _table(stays: Sequence[AgentCohort], found: DetailedProfile | None) -> dict[str, list[object]]:
    ranked = found.slices.get("cohort", ()) if found is not None and found.profile.gain is not None else ()
    gains = {one.slice: one.gain for one in ranked}
    parts = {} if found is None else {one.label: one.parts for one in found.calibrated.get("cohort", ())}
    names = [f"cohort {stay.cohort}" for stay in stays]
    known = [gains.get(name) for name in names]
    return {
        "Cohort": [stay.cohort for stay in stays],
        "Started": [day(stay.starts_at) for stay in stays],
        "Skill": [None if gain is None else gain.skill for gain in known],
        "from": [None if gain is None else gain.low for gain in known],
        "to": [None if gain is None else gain.high for gain in known],
        "Events": [None if gain is None else gain.events for gain in known],
        "Brier": [parts[name].brier if name in parts else None for name in names],
        "P/L": [None if stay.pnl is None else stay.pnl / ONE for stay in stays],
        "Return %": [None if stay.pnl is None else 100 * stay.pnl / stay.bankroll for stay in stays],
        "Bets": [stay.bets for stay in stays],
        "Sales": [stay.sales for stay in stays],
        "Forecasts": [stay.forecasts for stay in stays],
        "Turns": [sum(stay.statuses.values()) for stay in stays],
        "State": ["ended" if stay.ended else "goes on" for stay in stays],
    }
