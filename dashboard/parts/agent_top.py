"""The head of an agent's page: what it is, whether it beats the price, and its few figures."""

import streamlit as st

from arena.errors import times_text
from arena.scores.comparisons import p_value_text
from arena.scores.profiles.detailed_profile import DetailedProfile
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.lead import missing_text
from dashboard.model import LeaderboardLine
from dashboard.queries.agent import AgentCohort, AgentEvidence, AgentPage
from dashboard.words import code, count, gained, plain


def show(
    page: AgentPage,
    found: DetailedProfile | None,
    line: LeaderboardLine | None,
    evidence: AgentEvidence | None,
) -> None:
    """What it is, the verdict in a sentence or why there is none, and the figures that matter most."""
    st.caption(_line(page))
    if line is not None and not line.is_on_board:
        st.markdown(f"**Not ranked**: {line.row.why_not}. So nothing is said of its skill.")
    elif found is not None:
        st.markdown(" ".join([verdict(found.profile.gain), *(conclusions(evidence) if evidence else ())]))
    with st.container(horizontal=True, gap="medium"):
        for label, value, said in figures(page, found):
            st.metric(label, value, help=said, width="content")


def _line(page: AgentPage) -> str:
    newest = page.stays[-1]
    model = newest.setup.settings.get("model")
    asked = f", model {code(str(model))}" if model else ""
    return f"Kind {code(newest.setup.kind)}{asked} · in {count(len(page.stays), 'cohort')}"


def verdict(gain: Gain | None) -> str:
    """Whether it forecasts better than the price, and how far chance may account for it.

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
    return f"{said}: {span}, {p_value_text(gain.p)}."


def conclusions(found: AgentEvidence) -> list[str]:
    """The verdict on a ranked agent, what is still missing, and whom it copies."""
    gain, verdict = found.standing.gain, found.standing.verdict
    if verdict.copies == PRICE:
        return ["It copies the price, so there is no verdict."]
    evidence = f"Evidence is {times_text(verdict.evidence)}"
    said = {
        "proven": f"**Proven.** {evidence}.",
        "ahead": f"**Ahead, not yet proven**: {missing_text(gain, verdict, found.bar)}.",
        "close": f"**Too close to call.** {evidence} of {times_text(found.bar)}.",
        "none": "" if gain.low is None else "**Behind the price.**",
    }[verdict.name]
    copied = f"It copies {plain(verdict.copies)}: together they are one entry." if verdict.copies else ""
    return [sentence for sentence in (said, copied) if sentence]


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
