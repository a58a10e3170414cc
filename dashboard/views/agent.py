"""One agent over all its cohorts: its record, its forecasts, its money, and how it runs."""

from collections.abc import Callable

import streamlit as st

from arena.scores.profiles.detailed_profile import DetailedProfile
from dashboard.cache import show_cached
from dashboard.choice import choice
from dashboard.lead import stamps
from dashboard.links import link
from dashboard.palette import AgentLook, looks
from dashboard.parts import (
    agent_evidence,
    agent_forecasts,
    agent_money,
    agent_record,
    agent_running,
    agent_top,
)
from dashboard.parts.founding_scores import show_founding
from dashboard.queries import agent as queries
from dashboard.queries.agent import AgentPage
from dashboard.queries.leaderboard import by_leaderboard, leaderboard_page
from dashboard.queries.season import season
from dashboard.source import RecordSource
from dashboard.words import code, plain

TITLE = "Agents"
NEEDS_A_COHORT = True
ORDER = 3

PARTS = {"record": "Record", "forecasts": "Forecasts", "money": "Money", "setup": "Set-up"}
LATER = "What was worked out of its forecasts and money"


def show(source: RecordSource) -> None:
    """The choice of agent, its verdict and figures, then the part that was asked for."""
    known = season(source)
    names = {name: name for name in by_leaderboard(source)}
    asked = st.query_params.get("agent")
    if asked is not None and asked not in names:
        st.warning(f"The record has no agent {code(asked)}.", icon=":material/search_off:")
    name = choice("Agent", "agent", names, next(iter(names)), "list")
    page, entry = queries.agent_page(source, name), queries.profile(source, name)
    found = show_cached(entry, LATER)
    lines = [line for line in leaderboard_page(source).lines if line.row.agent == name]
    evidence = queries.agent_evidence(source, name)
    agent_top.show(page, found, lines[0] if lines else None, evidence)
    numbers = {stay.cohort for stay in page.stays}
    cohorts = [line for line in known.cohorts if line.number in numbers]
    for said in stamps(cohorts):
        st.caption(said)
    part = choice("Part", "part", PARTS, "record")
    faces = looks(known.agents)
    look = faces[name]

    def record() -> None:
        agent_evidence.show(evidence, look)
        agent_record.show(page, queries.equity_curves(source, (name,))[name], found, look)
        if lines:
            show_founding(lines, cohorts, faces)

    drawn: dict[str, Callable[[], None]] = {
        "record": record,
        "forecasts": lambda: _forecasts(source, found, name, look),
        "money": lambda: _money(source, found, name),
        "setup": lambda: _setup(source, page),
    }
    drawn[part]()
    _onward(name, [other for other in names if other != name])


def _forecasts(source: RecordSource, found: DetailedProfile | None, name: str, look: AgentLook) -> None:
    if found is not None:
        asked = tuple(deal.market_id for deal in found.profile.bargains)
        agent_forecasts.show(found, queries.questions(source, asked), name, look)


def _money(source: RecordSource, found: DetailedProfile | None, name: str) -> None:
    if found is not None:
        agent_money.show_split(found)
        stakes = found.profile.at_stake
        agent_money.show_stakes(stakes, queries.events(source, tuple(one.event for one in stakes)))
    agent_money.show_holdings(queries.holdings(source, name))


def _setup(source: RecordSource, page: AgentPage) -> None:
    agent_running.costs(page)
    agent_running.failures(page)
    agent_running.set_up(page, queries.texts(source, tuple(page.stays[-1].setup.prompts.values())))


def _onward(name: str, others: list[str]) -> None:
    """Where to go from here."""
    with st.container(horizontal=True, gap="medium"):
        if others:
            link(f"Duel {plain(name)} against another", "duel", a=name)
        link("Leaderboard", "leaderboard")
