"""What two agents cost that are held against each other, and what tools bought for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.steps import tool_requests
from arena.record.model.cohort import Entrant
from arena.record.queries.cohorts import StoredCohort, read_cohorts, select_cohorts
from arena.record.schema.cohort import CohortRow, EntrantRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, joined, select_as
from arena.scores.leaderboard import LEADERBOARD, read_scores
from arena.scores.rules.comparisons.duel import Duel
from markets.millionths import ONE

TOOL_KEYS = ("tools", "steps", "tool_dollars")
LOCAL_TOOLS = ("price_history", "book", "notes")
"""They ask nobody outside."""
FREE_SOURCES = ("none", "folder", "gdelt")
"""Sources of articles that want no key. What others charge is in no record."""
UNKNOWN = "price unknown"


@dataclass(frozen=True, slots=True)
class DuelCosts:
    """What an agent cost in dollars, None where a price is unknown, and its skill for each.

    `steps_usd` are the calls in which it asked for tools, `answers_usd` all others, and `sources_usd` what
    the sources charged in which it looked; `requests` counts the tools that it asked for.
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
    """What `a` and `b` of a duel cost.

    `tools_only` says that they share all settings but for tools. Where one alone has tools, or else for `a`,
    `extra_usd` is what it cost more than the other, and `gain` by how much more skill; the rest is that gain
    and its interval for a dollar, where it did cost more.
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
    """What the two of a duel cost, in all cohorts or in one."""
    cohorts = select_cohorts(read_cohorts(connection), cohort)
    a, b = (_spending(connection, name, cohorts, cohort) for name in (duel.a, duel.b))
    buyer = b if b.tools and not a.tools else a
    other, sign = (a, -1) if buyer is b else (b, 1)
    gain = None if duel.gap is None else sign * duel.gap
    extra = None if buyer.usd is None or other.usd is None else buyer.usd - other.usd
    low, high = (duel.low, duel.high) if buyer is a else (duel.high, duel.low)
    ends = (None if end is None else sign * end for end in (low, high))
    each = [None if x is None or extra is None or extra <= 0 else x / extra for x in (gain, *ends)]
    alike = _alike(_settings(cohorts, a.agent), _settings(cohorts, b.agent))
    return DuelSpending(a, b, alike and a.tools != b.tools, buyer.agent, gain, extra, *each)


def _spending(
    connection: Connection, agent: str, cohorts: Sequence[StoredCohort], cohort: int | None
) -> DuelCosts:
    board = LEADERBOARD.read_current(connection, cohort)
    rows = read_scores(connection, None if cohort is None else [cohort]) if board is None else board.rows
    row = next(row for row in rows if row.agent == agent)
    numbers = {stored.cohort.number: stored.cohort.evidence for stored in cohorts}
    steps, looked, requests = list[int | None](), set[str](), 0
    for step in _read_tool_steps(connection, agent):
        asked = tool_requests(step.reply) if step.cohort in numbers else ()
        if asked:
            steps.append(step.cost)
            requests += len(asked)
        if any(each["function"]["name"] not in LOCAL_TOOLS for each in asked):
            looked.add(numbers[step.cohort])
    known = [cost for cost in steps if cost is not None]
    spent = None if row.cost_usd is None or len(known) < len(steps) else sum(known) / ONE
    answers = None if row.cost_usd is None or spent is None else row.cost_usd - spent
    sources = 0.0 if looked <= {*FREE_SOURCES} else None
    usd = None if row.cost_usd is None or sources is None else row.cost_usd + sources
    each = row.skill / usd if row.skill is not None and usd else None
    return DuelCosts(agent, row.tools, requests, spent, sources, answers, usd, row.skill, each)


def _settings(cohorts: Sequence[StoredCohort], agent: str) -> list[tuple[int, Entrant]]:
    return [
        (stored.cohort.number, entrant)
        for stored in cohorts
        for entrant in stored.cohort.entrants
        if entrant.name == agent
    ]


def _alike(one: Sequence[tuple[int, Entrant]], other: Sequence[tuple[int, Entrant]]) -> bool:
    """Whether two agents played the same cohorts with the same settings, but for their tools."""

    def rest(entrant: Entrant) -> dict[str, Any]:
        return {key: value for key, value in entrant.settings.items() if key not in TOOL_KEYS}

    mine, others = ([(number, x.kind, rest(x)) for number, x in each] for each in (one, other))
    return mine == others


def spending_sentences(found: DuelSpending) -> list[str]:
    """What each cost and, unless it was free, what that brought; nothing of two that ask no model."""
    if not any(x.usd is None or x.usd or x.tools for x in (found.a, found.b)):
        return []
    cost = f"Cost: {_cost_text(found.a)}; {_cost_text(found.b)}."
    bought = "; ".join(f"{x.agent} {_number(x.skill_per_dollar)}" for x in (found.a, found.b) if x.usd != 0)
    return [cost, f"Skill per dollar: {bought}.", *_tools_sentence(found)] if bought else [cost]


def _tools_sentence(found: DuelSpending) -> list[str]:
    """What the tools of one have bought that the other lacks, or what its extra dollars have."""
    tools = found.a.tools if found.buyer == found.a.agent else found.b.tools
    if found.tools_only:
        about = f"They differ in tools alone: {found.buyer} has {', '.join(tools) or 'none'}"
    elif tools:
        about = f"They differ in more than the tools of {found.buyer}"
    else:
        return []
    if found.extra_usd is None:
        return [f"{about}. Skill per dollar is unknown: {UNKNOWN}."]
    more = f"for {_dollars(abs(found.extra_usd))} {'less' if found.extra_usd < 0 else 'more'}"
    words = f"{about}; its skill is {_number(found.gain)} {more}"
    if found.gain_per_dollar is None:
        return [f"{words}."]
    words += f": {_number(found.gain_per_dollar)} a dollar"
    if found.low_per_dollar is not None:
        words += f", from {_number(found.low_per_dollar)} to {_number(found.high_per_dollar)}"
    return [f"{words}."]


def _cost_text(spending: DuelCosts) -> str:
    if not spending.tools:
        return f"{spending.agent} {_dollars(spending.usd)}"
    parts = f"{spending.requests:,} requests for tools {_dollars(spending.steps_usd)}"
    parts += f", answers {_dollars(spending.answers_usd)}"
    if spending.sources_usd is None:
        parts += f", sources {UNKNOWN}"
    return f"{spending.agent} {_dollars(spending.usd)} ({parts})"


def _dollars(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"${usd:,.2f}" if usd >= 0.1 or not usd else f"${usd:.4f}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.4f}"


def _read_tool_steps(connection: Connection, agent: str) -> Iterable[Any]:
    """Return the calls of an agent whose replies may ask for tools; `cost` is None where it is unknown."""
    query = (
        select_as(cohort=CohortRow.number, cost=CallRow.cost, reply=CallRow.reply)
        .select_from(joined(CallRow, EntrantRow, CohortRow))
        .where(col(CallRow.reply).contains('"tool_calls"'), EntrantRow.name == agent)
    )
    return connection.execute(query)
