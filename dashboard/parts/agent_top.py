"""The head of an agent's page: what it is, whether it beats the price, and its few figures."""

import streamlit as st

from arena.scores.comparisons import p_value_text
from arena.scores.profiles.detailed_profile import DetailedProfile
from arena.scores.rules.comparisons.gain import Gain
from dashboard.queries.agent import AgentCohort, AgentPage
from dashboard.words import code, count, gained

SURE = 0.05
"""From what chance of luck alone down a skill is called one."""


def show(page: AgentPage, found: DetailedProfile | None) -> None:
    """What it is, the verdict in a sentence, and the figures that matter most."""
    st.caption(_line(page))
    if found is not None:
        st.markdown(verdict(found.profile.gain))
    with st.container(horizontal=True, gap="medium"):
        for label, value, said in figures(page, found):
            st.metric(label, value, help=said, width="content")


def _line(page: AgentPage) -> str:
    newest = page.stays[-1]
    model = newest.setup.settings.get("model")
    asked = f", model {code(str(model))}" if model else ""
    return f"Kind {code(newest.setup.kind)}{asked} · in {count(len(page.stays), 'cohort')}"


def verdict(gain: Gain | None) -> str:
    """Whether it forecasts better than the price, and whether that is more than chance.

    >>> verdict(None)
    'Nothing that it was shown has resolved yet, so nothing can be said of its skill.'
    """
    if gain is None or gain.skill is None:
        return "Nothing that it was shown has resolved yet, so nothing can be said of its skill."
    if gain.is_market:
        return "It says what the price says: its skill is 0 by definition."
    side = "better" if gain.skill > 0 else "worse"
    said = f"It forecasts **{abs(gain.skill):.4f} Brier points {side} than the price** on the same forecasts"
    if gain.low is None or gain.high is None or gain.p is None:
        return f"{said}, over {count(gain.events, 'event')}. Too early to tell: {gain.reason}."
    span = f"95% from {gain.low:+.4f} to {gain.high:+.4f} over {count(gain.events, 'event')}"
    sure = "more than chance would explain" if gain.p <= SURE else "chance alone may explain it"
    return f"{said}: {span}, {p_value_text(gain.p)}; {sure}."


def figures(page: AgentPage, found: DetailedProfile | None) -> list[tuple[str, str, str]]:
    """Label, value and what it says, of each figure at the head of the page."""
    gain = None if found is None else found.profile.gain
    brier = None if found is None else found.profile.calibration.parts.brier
    known = [stay.pnl for stay in page.stays if stay.pnl is not None]
    return [
        (
            "Skill",
            "–" if gain is None or gain.skill is None else f"{gain.skill:+.4f}",
            "Market Brier minus its own, on the same forecasts; above 0 beats the price.",
        ),
        (
            "Brier",
            "–" if brier is None or brier != brier else f"{brier:.4f}",
            "Mean squared error of the probabilities that it stated, each market the same; lower is better.",
        ),
        ("P/L", gained(sum(known)) if known else "–", "Over all its cohorts, open positions at mid."),
        (
            "Forecasts",
            f"{sum(stay.forecasts for stay in page.stays):,}",
            "Probabilities stated, resolved or not. The leaderboard counts those that can be judged.",
        ),
        ("Bets", f"{sum(stay.bets for stay in page.stays):,}", "Accepted, resolved or not."),
        ("Cost", cost(page.stays), "What all its calls to models cost together."),
    ]


def cost(stays: tuple[AgentCohort, ...]) -> str:
    """What calls cost in dollars; with what is unknown of it said."""
    answers = [one for stay in stays for one in stay.answers]
    known = f"${sum(one.cost for one in answers) / 1_000_000:,.4f}"
    return f"{known} or more" if any(one.unknown for one in answers) else known
