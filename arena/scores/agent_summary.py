"""What the record says of agents: a line for each, or all of one."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from arena.cohorts.diff import AgentSetup, agent_setup
from arena.record.model.cohort import Cohort
from arena.record.model.columns import AccountSummary
from arena.record.model.model_version import ModelChange, model_changes
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_cohorts
from arena.record.queries.progress import PlayedTurn, code_versions, read_agent_turns
from arena.record.schema.database import Connection
from arena.scores.agent_calls import (
    CallOutcomes,
    ServedModel,
    count_forecasts,
    read_call_outcomes,
    read_latencies,
    read_reported_models,
    read_served_models,
)
from markets.registry import ExtensionFolder

ExtensionFolders = Collection[ExtensionFolder]
LATE = 95
"""So many of a hundred answers take no longer than the latency that is called the 95th percentile."""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """What an agent has played, all cohorts together, and which models the provider says that it is.

    `cost` is None where that of a call is unknown. `setup` is how it was set up last.
    """

    name: str
    setup: AgentSetup
    cohorts: tuple[int, ...]
    turns: int
    malformed: int
    failed: int
    late: int
    cost: int | None
    models: tuple[str, ...]
    changes: tuple[ModelChange, ...]


@dataclass(frozen=True, slots=True)
class AgentInCohort:
    """An agent in a cohort: how it is set up there, how its turns ended, and which code played them.

    A version of the code stands under the round from which it played.
    """

    cohort: int
    starts_at: datetime
    setup: AgentSetup
    statuses: dict[str, int]
    versions: dict[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AgentDetails:
    """All that the record says of an agent; times in milliseconds, of answers only."""

    name: str
    cohorts: tuple[AgentInCohort, ...]
    calls: tuple[CallOutcomes, ...]
    forecasts: int
    median_ms: float | None
    late_ms: int | None
    models: tuple[ServedModel, ...]
    changes: tuple[ModelChange, ...]

    @property
    def rungs(self) -> dict[str, int]:
        """How many calls asked for the form of the answer in which way."""
        return _sums((each.rung, each.calls) for each in self.calls)

    @property
    def errors(self) -> dict[str, int]:
        """How many calls brought which error in place of an answer."""
        return _sums((each.error, each.calls) for each in self.calls if each.error is not None)

    @property
    def unknown(self) -> int:
        """Of how many calls the cost is unknown."""
        return sum(each.unknown for each in self.calls)

    @property
    def cost(self) -> int:
        """What all calls cost together, as far as that is known."""
        return sum(each.cost for each in self.calls)


def agent_summaries(connection: Connection, extra: ExtensionFolders = ()) -> dict[str, AgentSummary]:
    """Every agent that has ever played, in line-up order, the oldest cohort first.

    Kinds are also looked for in the extra folders.
    """
    accounts: dict[str, list[AccountSummary]] = {}
    for account in read_accounts(connection):
        accounts.setdefault(account.agent, []).append(account)
    entrants = {
        entrant.name: (stored.cohort, entrant)
        for stored in read_cohorts(connection)
        for entrant in stored.cohort.entrants
    }
    served, changed = read_served_models(connection), model_changes(read_reported_models(connection))
    summaries = {}
    for name, rows in accounts.items():
        costs = [row.cost for row in rows if row.cost is not None]
        summaries[name] = AgentSummary(
            name,
            agent_setup(*entrants[name], extra),
            tuple(row.cohort for row in rows),
            sum(row.turns for row in rows),
            sum(row.malformed for row in rows),
            sum(row.failed for row in rows),
            sum(row.late for row in rows),
            sum(costs) if len(costs) == len(rows) else None,
            tuple(dict.fromkeys(each.model for each in served if each.name == name)),
            tuple(change for change in changed if change.name == name),
        )
    return summaries


def agent_details(connection: Connection, name: str, extra: ExtensionFolders = ()) -> AgentDetails | None:
    """All of one agent; None where it has never played. Kinds are also looked for in the extra folders."""
    turns = read_agent_turns(connection, name)
    cohorts = tuple(
        _agent_in_cohort(stored.cohort, name, turns.get(stored.id, []), extra)
        for stored in read_cohorts(connection)
        if name in stored.entrant_ids
    )
    if not cohorts:
        return None
    took = read_latencies(connection, name)
    return AgentDetails(
        name,
        cohorts,
        tuple(read_call_outcomes(connection, name)),
        count_forecasts(connection, name),
        median(took) if took else None,
        percentile(took, LATE) if took else None,
        tuple(read_served_models(connection, name)),
        tuple(change for change in model_changes(read_reported_models(connection)) if change.name == name),
    )


def _agent_in_cohort(
    cohort: Cohort, name: str, turns: Sequence[PlayedTurn], extra: ExtensionFolders
) -> AgentInCohort:
    entrant = next(entrant for entrant in cohort.entrants if entrant.name == name)
    ended = dict(sorted(Counter(turn.status for turn in turns).items()))
    setup = agent_setup(cohort, entrant, extra)
    return AgentInCohort(cohort.number, cohort.starts_at, setup, ended, code_versions(turns))


def changed_since(connection: Connection, since: datetime) -> list[ModelChange]:
    """What has changed in what models report themselves as, in answers from an instant on.

    Of agents with the same model, one is told of with its fingerprints of a day.
    """
    recent = (each for each in model_changes(read_reported_models(connection)) if each.last_at >= since)
    told: dict[tuple[object, ...], ModelChange] = {}
    for change in recent:
        is_soft = change.what == "fingerprint"
        told.setdefault((change.model, change.first_at.date()) if is_soft else (change,), change)
    return list(told.values())


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest of these that so many of a hundred are no larger than.

    >>> percentile([10, 20, 30, 40], 50), percentile([10, 20, 30, 40], 95)
    (20, 40)
    """
    return ordered[-(-len(ordered) * percent // 100) - 1]


def _sums(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for key, count in counts:
        sums[key] += count
    return dict(sorted(sums.items()))
