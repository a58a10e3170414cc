"""What two agents of a duel cost, and what they got for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.steps import tool_requests
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, joined, select_as
from arena.scores.leaderboard import LEADERBOARD, LeaderboardRow, read_scores
from arena.scores.rules.comparisons.duel import Duel
from markets.millionths import ONE

TOOL_KEYS = ("tools", "steps", "tool_dollars")
LOCAL_TOOLS = ("price_history", "book", "notes")
"""Tools that don't query anything outside."""
FREE_SOURCES = ("none", "folder", "gdelt")
"""Sources of articles that need no key; the record doesn't have what others charge."""
UNKNOWN = "price unknown"


@dataclass(frozen=True, slots=True)
class DuelCosts:
    """An agent's costs in dollars, None where a price is unknown, and its skill per dollar.

    `steps_usd` are calls in which it requested tools, `answers_usd` all others, and `sources_usd` the charges
    of the sources it searched; `requests` counts its requests of tools.
    """

    agent: str
    tools: tuple[str, ...]
    requests: int
    steps_usd: float | None
    sources_usd: float | None
    answers_usd: float | None
    usd: float | None
    skill: float | None
    skill_per_dollar: float | None


@dataclass(frozen=True, slots=True)
class DuelSpending:
    """The costs of `a` and `b` of a duel.

    `tools_only` means that they share all settings except tools. For the only one with tools, or else for
    `a`, `extra_usd` is how much more it cost than the other, and `gain` how much more skill it had; the
    remaining fields are that gain and its interval per dollar, if it did cost more.
    """

    a: DuelCosts
    b: DuelCosts
    tools_only: bool
    buyer: str
    gain: float | None
    extra_usd: float | None
    gain_per_dollar: float | None
    low_per_dollar: float | None
    high_per_dollar: float | None


def read_spending(connection: Connection, duel: Duel, cohort: int | None = None) -> DuelSpending:
    """Return the costs of a duel's agents, in all cohorts or in one."""
    cohorts = select_cohorts(read_cohorts(connection), cohort)
    a = _agent_costs(connection, duel.a, cohorts, cohort)
    b = _agent_costs(connection, duel.b, cohorts, cohort)

    # The gain is that of the only one with tools, or else of a.
    buyer = a
    other = b
    if b.tools and not a.tools:
        buyer = b
        other = a
        duel = duel.reversed()

    extra_usd = None
    if buyer.usd is not None and other.usd is not None:
        extra_usd = buyer.usd - other.usd

    same_setups = _setups_without_tools(cohorts, a.agent) == _setups_without_tools(cohorts, b.agent)
    return DuelSpending(
        a=a,
        b=b,
        tools_only=a.tools != b.tools and same_setups,
        buyer=buyer.agent,
        gain=duel.gap,
        extra_usd=extra_usd,
        gain_per_dollar=_per_dollar(duel.gap, extra_usd),
        low_per_dollar=_per_dollar(duel.low, extra_usd),
        high_per_dollar=_per_dollar(duel.high, extra_usd),
    )


def _per_dollar(value: float | None, usd: float | None) -> float | None:
    """Return a value per dollar; None if nothing was spent, or if either is unknown."""
    if value is None or usd is None or usd <= 0:
        return None
    return value / usd


def _agent_costs(
    connection: Connection, agent: str, cohorts: Sequence[StoredCohort], cohort: int | None
) -> DuelCosts:
    """Return the costs of one agent."""
    scores = _agent_scores(connection, agent, cohort)
    article_source_of = {stored.cohort.number: stored.cohort.evidence for stored in cohorts}
    step_costs = []
    sources: set[str] = set()
    requests = 0

    for step in _read_tool_steps(connection, agent):
        if step.cohort not in article_source_of:
            continue
        requested_tools = tool_requests(step.reply)
        requests += len(requested_tools)
        if requested_tools:
            step_costs.append(step.cost)
        if any(request["function"]["name"] not in LOCAL_TOOLS for request in requested_tools):
            sources.add(article_source_of[step.cohort])

    # One unknown cost makes the total unknown.
    steps_usd = None
    answers_usd = None
    known_costs = [cost for cost in step_costs if cost is not None]
    if scores.cost_usd is not None and len(known_costs) == len(step_costs):
        steps_usd = sum(known_costs) / ONE
        answers_usd = scores.cost_usd - steps_usd

    # The record doesn't have what other sources charge.
    sources_usd = None
    usd = None
    if sources <= {*FREE_SOURCES}:
        sources_usd = 0.0
        usd = scores.cost_usd

    return DuelCosts(
        agent=agent,
        tools=scores.tools,
        requests=requests,
        steps_usd=steps_usd,
        sources_usd=sources_usd,
        answers_usd=answers_usd,
        usd=usd,
        skill=scores.skill,
        skill_per_dollar=_per_dollar(scores.skill, usd),
    )


def _agent_scores(connection: Connection, agent: str, cohort: int | None) -> LeaderboardRow:
    """Return an agent's scores, from the cached leaderboard if it is current."""
    board = LEADERBOARD.read_current(connection, cohort)
    if board is not None:
        rows: Sequence[LeaderboardRow] = board.rows
    else:
        rows = read_scores(connection, None if cohort is None else [cohort])
    return next(row for row in rows if row.agent == agent)


def _setups_without_tools(
    cohorts: Sequence[StoredCohort], agent: str
) -> list[tuple[int, str, dict[str, Any]]]:
    """Return an agent's setup in each cohort, without its tools."""
    setups = []
    for stored in cohorts:
        for entrant in stored.cohort.entrants:
            if entrant.name == agent:
                settings = {key: value for key, value in entrant.settings.items() if key not in TOOL_KEYS}
                setups.append((stored.cohort.number, entrant.kind, settings))
    return setups


def spending_sentences(spending: DuelSpending) -> list[str]:
    """Return sentences on what each agent cost and what that bought; none for two without a model."""
    both_costs = (spending.a, spending.b)
    # Agents without a model cost nothing, and have no tools.
    if not any(costs.usd is None or costs.usd or costs.tools for costs in both_costs):
        return []

    sentences = [f"Cost: {_cost_text(spending.a)}; {_cost_text(spending.b)}."]
    skill_texts = [
        f"{costs.agent} {_points_text(costs.skill_per_dollar)}" for costs in both_costs if costs.usd != 0
    ]
    if skill_texts:
        sentences.append(f"Skill per dollar: {'; '.join(skill_texts)}.")
        sentences += _tools_sentences(spending)
    return sentences


def _tools_sentences(spending: DuelSpending) -> list[str]:
    """Return a sentence on what the tools that only one has, or its extra dollars, have bought."""
    buyer = spending.buyer
    tools = spending.a.tools if buyer == spending.a.agent else spending.b.tools
    if spending.tools_only:
        difference = f"They differ in tools alone: {buyer} has {', '.join(tools) or 'none'}"
    elif tools:
        difference = f"They differ in more than the tools of {buyer}"
    else:
        return []

    extra_usd = spending.extra_usd
    if extra_usd is None:
        return [f"{difference}. Skill per dollar is unknown: {UNKNOWN}."]

    direction = "less" if extra_usd < 0 else "more"
    price = f"{_dollars_text(abs(extra_usd))} {direction}"
    sentence = f"{difference}; its skill is {_points_text(spending.gain)} for {price}"
    if spending.gain_per_dollar is not None:
        sentence += f": {_points_text(spending.gain_per_dollar)} a dollar"
        if spending.low_per_dollar is not None:
            low = _points_text(spending.low_per_dollar)
            sentence += f", from {low} to {_points_text(spending.high_per_dollar)}"
    return [f"{sentence}."]


def _cost_text(costs: DuelCosts) -> str:
    """Return an agent's cost in words."""
    total = f"{costs.agent} {_dollars_text(costs.usd)}"
    if not costs.tools:
        return total

    parts = f"{costs.requests:,} requests for tools {_dollars_text(costs.steps_usd)}"
    parts += f", answers {_dollars_text(costs.answers_usd)}"
    if costs.sources_usd is None:
        parts += f", sources {UNKNOWN}"
    return f"{total} ({parts})"


def _dollars_text(usd: float | None) -> str:
    """Return an amount in cents, or more exactly if it is only a few of them."""
    if usd is None:
        return UNKNOWN
    if usd >= 0.1 or not usd:
        return f"${usd:,.2f}"
    return f"${usd:.4f}"


def _points_text(value: float | None) -> str:
    """Return a difference in Brier points as text."""
    return "unknown" if value is None else f"{value:+.4f}"


def _read_tool_steps(connection: Connection, agent: str) -> Iterable[Any]:
    """Return the calls of an agent whose replies may request tools; `cost` is None if unknown."""
    query = (
        select_as(cohort=CohortRow.number, cost=CallRow.cost, reply=CallRow.reply)
        .select_from(joined(CallRow, EntrantRow, CohortRow))
        .where(col(CallRow.reply).contains('"tool_calls"'), EntrantRow.name == agent)
    )
    return connection.execute(query)
