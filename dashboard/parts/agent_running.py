"""How it runs: what it costs, what went wrong, how it is set up, and which model answered."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from arena.record.queries.agents import CallSums
from dashboard.cohort_rules import settings_of
from dashboard.html_table import number, words
from dashboard.listing import listing
from dashboard.numbers import in_dollars
from dashboard.queries.agent import AgentCohort, AgentPage
from dashboard.times import moment
from dashboard.words import count, day
from markets.millionths import ONE

TURNS = {
    "partly": "Turns that brought less than was asked for",
    "malformed": "Turns whose answer could not be used",
    "declined": "Turns that the model refused",
    "failed": "Turns without an answer",
    "late": "Turns that came after their window",
    "out": "Turns without money to bet",
    "waiting": "Turns that waited for the key of its model",
}
"""Turns that did not go as they should, in words."""


def cost(stays: Sequence[AgentCohort]) -> str:
    """What calls cost in dollars; with what is unknown of it said."""
    answers = [one for stay in stays for one in stay.answers]
    known = in_dollars(sum(one.cost for one in answers) / ONE)
    return f"{known} or more" if any(one.unknown for one in answers) else known


def costs(page: AgentPage, is_invented: bool) -> None:
    """What its calls cost, for each forecast and in tokens."""
    st.subheader("Cost", anchor=False)
    answers = [one for stay in page.stays for one in stay.answers]
    if not answers:
        st.info("It calls no model, so it costs nothing.", icon=":material/check:")
        return
    spent, unknown = sum(one.cost for one in answers), sum(one.unknown for one in answers)
    forecasts = sum(stay.forecasts for stay in page.stays)
    each = in_dollars(spent / ONE / forecasts) if forecasts and not unknown else "–"
    with st.container(horizontal=True, gap="medium"):
        for label, value, said in (
            ("Cost", cost(page.stays), "What all its calls cost, failed ones too."),
            ("Per forecast", each, "All of it, spread over the probabilities that it stated."),
            ("Calls", f"{sum(one.calls for one in answers):,}", "Attempts to get an answer."),
            ("Tokens in", f"{sum(one.tokens_in for one in answers):,}", "Of prompts."),
            ("Tokens out", f"{sum(one.tokens_out for one in answers):,}", "Of answers, thinking included."),
        ):
            st.metric(label, value, help=said, width="content")
    if is_invented:
        st.caption("These dollars are invented, as is the rest of a simulated season.")
    if unknown:
        st.caption(f"The cost of {count(unknown, 'call')} is unknown: `price` in the config says it.")


def failures(page: AgentPage) -> None:
    """What went wrong, by kind: turns, calls, orders."""
    st.subheader("Failures", anchor=False)
    rows = list(_failures(page.stays))
    turns = sum(sum(stay.statuses.values()) for stay in page.stays)
    if not rows:
        st.info(f"None in {count(turns, 'turn')}.", icon=":material/check:")
        return
    st.caption(f"Of {count(turns, 'turn')}, all cohorts together.")
    listing(
        {
            "What": [what for what, _, _ in rows],
            "Kind": [kind for _, kind, _ in rows],
            "Times": [times for _, _, times in rows],
        },
        "Failures by kind",
        {"Times": number("Times", "localized", "How often.")},
    )


def _failures(stays: Sequence[AgentCohort]) -> list[tuple[str, str, int]]:
    """What went wrong, its code, and how often: the most frequent of each first."""
    turns, calls, wishes = Counter[str](), Counter[str](), Counter[str]()
    for stay in stays:
        turns.update({key: stay.statuses[key] for key in stay.statuses if key in TURNS})
        wishes.update(stay.refused)
        calls.update({one.error: one.calls for one in stay.answers if one.error is not None})
    return [
        *((TURNS[key], key, times) for key, times in turns.most_common()),
        *(("Calls that ended in an error", key, times) for key, times in calls.most_common()),
        *(("Bets and sales that were refused", key, times) for key, times in wishes.most_common()),
    ]


def set_up(page: AgentPage, texts: Mapping[str, str]) -> None:
    """Its settings cohort by cohort, what was changed, as what its model reports itself, its prompts."""
    st.subheader("Settings and reported model", anchor=False)
    st.caption("Frozen at the start of each cohort; another model under the same name is another agent.")
    stays = list(reversed(page.stays))
    listing(
        {
            "Cohort": [stay.cohort for stay in stays],
            "From": [day(stay.starts_at) for stay in stays],
            "Changed": ["; ".join(stay.changed) or None for stay in stays],
            "Model as reported": [", ".join(reported(stay.answers)) for stay in stays],
            "Kind": [stay.setup.kind for stay in stays],
            "Settings": [settings_of(stay.setup.settings) for stay in stays],
        },
        "Settings by cohort",
        {
            "Changed": words("Changed", "Since the cohort before.", long=True),
            "Model as reported": words(
                "Model as reported",
                "As its provider calls it, with the fingerprint, in the order of the first answers.",
            ),
            "Settings": words("Settings", "As the config had them.", long=True),
        },
    )
    _last_heard(page.stays)
    _prompts(page.stays[-1].setup.prompts, texts)


def reported(answers: Sequence[CallSums]) -> list[str]:
    """The models that answered, each once, with their fingerprints."""
    said = ((one.model, f" ({one.fingerprint})" if one.fingerprint else "") for one in answers if one.model)
    return list(dict.fromkeys(model + mark for model, mark in said))


def _last_heard(stays: Sequence[AgentCohort]) -> None:
    last = max((one.last_at for stay in stays for one in stay.answers if one.model), default=None)
    if last is not None:
        st.caption(f"Last answer {moment(last)}.")


def _prompts(named: Mapping[str, str], texts: Mapping[str, str]) -> None:
    st.subheader("Prompt", anchor=False)
    if not named:
        st.info("It is a rule and is asked by no prompt.", icon=":material/info:")
        return
    st.caption("As the newest cohort has frozen it; what is in braces is filled in for each turn.")
    for place, (name, digest) in enumerate(named.items(), start=1):
        with st.expander("The text" if len(named) == 1 else f"Text {place} of {len(named)}"):
            st.text(f"{name}, sha256 {digest[:12]}…")
            st.code(texts.get(digest, ""), language=None, wrap_lines=True)
