"""What is played and what it costs: rounds under way, turns that failed, the bill of the calls."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from arena.operations.status import BudgetUse
from arena.record.model.status import RoundState
from arena.record.queries.calls import AgentSpending, FailedTurn
from dashboard.chart import draw
from dashboard.charts.operations import daily_cost
from dashboard.html_table import number, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.queries.operations import DAYS, FAILED, OperationsPage
from dashboard.words import escaped, plain, usd
from markets.millionths import ONE

SCOPES = {
    "day": "Today",
    "round": "The dearest round of those above",
    "agent": "The dearest agent of a cohort that plays",
    "arena": "All that was ever spent",
}


def show_rounds(rounds: Sequence[RoundState]) -> None:
    """The rounds of cohorts that play, each leading to its turns."""
    st.subheader("Rounds", anchor=False)
    if not rounds:
        st.caption("No round has begun. `arena round` plays the next one, `arena run` each in its time.")
        return
    st.caption(
        "Those of cohorts that play and of the newest decision time, the newest first, with their turns by "
        "how they ended."
    )
    newest = sorted(rounds, key=lambda one: (one.at, one.cohort), reverse=True)
    found = dict.fromkeys(status for one in newest for status in one.turns)
    data: dict[str, Any] = {
        "Decided": [one.at for one in newest],
        "Cohort": [one.cohort for one in newest],
        "Round": [one.number for one in newest],
        "State": ["done" if one.done else "under way" for one in newest],
    }
    data |= {status.capitalize(): [one.turns.get(status, 0) for one in newest] for status in found}
    data["Missing"] = [one.missing for one in newest]
    listing(data, "Rounds", {}, [way("turn", cohort=one.cohort, round=one.number) for one in newest])


def show_failed(turns: Sequence[FailedTurn]) -> None:
    """The newest turns that failed, each leading to the whole of it."""
    st.subheader("Failed turns", anchor=False)
    if not turns:
        st.caption("No failed turns.")
        return
    st.caption(
        f"The newest, at most {FAILED}. Failed: no answer came, and it counts for nothing. Malformed: what "
        "came could not be read, and counts as holding."
    )
    data: dict[str, Any] = {
        "Decided": [turn.at for turn in turns],
        "Agent": [turn.agent for turn in turns],
        "Cohort": [turn.cohort for turn in turns],
        "Round": [turn.round for turn in turns],
        "Turn": [turn.status for turn in turns],
        "Reason": [turn.code for turn in turns],
        "What was said": [turn.message for turn in turns],
    }
    ways = [way("turn", cohort=turn.cohort, round=turn.round, agent=turn.agent) for turn in turns]
    listing(data, "Failed turns", {"What was said": words("What was said", long=True)}, ways)


def show_spending(page: OperationsPage, budgets: Sequence[BudgetUse]) -> None:
    """What calls cost: of each budget, by day and by agent."""
    st.subheader("Spending", anchor=False)
    for budget in budgets:
        st.progress(budget.used, _of_budget(budget))
    if not budgets:
        st.caption("No budget is known here: they stand in the config, and its `budget` sets them.")
    if any(spent for _, spent in page.daily):
        draw(daily_cost(page.daily), says="Cost of calls on each of the last days")
    else:
        st.caption(f"No call of the last {DAYS} days has cost anything.")
    if page.spenders:
        st.caption("In the cohorts that play and in the newest.")
        worst = "At their worst where it is unknown."
        columns = {"Spent $": number("Spent", "dollar", worst), "A call $": number("A call", "dollar", worst)}
        listing(_by_agent(page.spenders), "Spending by agent", columns)


def _of_budget(budget: BudgetUse) -> str:
    whose = f", {plain(budget.whose, 60)}" if budget.whose else ""
    return f"{SCOPES[budget.scope]}{whose}: " + escaped(f"{usd(budget.spent)} of {usd(budget.limit)}")


def _by_agent(spenders: Sequence[AgentSpending]) -> dict[str, list[Any]]:
    """Of each agent the cohorts, calls and cost; the dearest first."""
    calls, spent, cohorts = Counter[str](), Counter[str](), Counter[str]()
    for one in spenders:
        calls[one.agent] += one.calls
        spent[one.agent] += one.spent
        cohorts[one.agent] += 1
    names = sorted(calls, key=lambda name: (-spent[name], name))
    return {
        "Agent": names,
        "Spent $": [spent[name] / ONE for name in names],
        "Calls": [calls[name] for name in names],
        "A call $": [spent[name] / ONE / calls[name] for name in names],
        "Cohorts": [cohorts[name] for name in names],
    }
