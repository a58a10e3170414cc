"""What the record says about agents: a summary of each, and the details of one."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from arena.cohorts.diff import AgentSetup, agent_setup
from arena.record.model.cohort import Cohort
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
"""The percentile of latencies that is reported beside the median."""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """What an agent has played in all cohorts together, and the models that its provider reports.

    `cost` is None if that of a call is unknown. `setup` is its latest setup.
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
    """An agent in a cohort: its setup there, how its turns ended, and which code played them.

    A version of the code is keyed by the round from which it played.
    """

    cohort: int
    starts_at: datetime
    setup: AgentSetup
    statuses: dict[str, int]
    versions: dict[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AgentDetails:
    """Everything that the record says about an agent; times are in milliseconds, of answers only."""

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
        """Return the number of calls by the way in which they requested the form of the answer."""
        return _sum_by_label((outcome.rung, outcome.calls) for outcome in self.calls)

    @property
    def errors(self) -> dict[str, int]:
        """Return the number of calls that brought an error instead of an answer, by error."""
        return _sum_by_label(
            (outcome.error, outcome.calls) for outcome in self.calls if outcome.error is not None
        )

    @property
    def unknown(self) -> int:
        """Return the number of calls whose cost is unknown."""
        return sum(outcome.unknown for outcome in self.calls)

    @property
    def cost(self) -> int:
        """Return the total of the known costs of all calls."""
        return sum(outcome.cost for outcome in self.calls)


def agent_summaries(connection: Connection, extra: ExtensionFolders = ()) -> dict[str, AgentSummary]:
    """Return a summary of every agent that has ever played, in line-up order, the oldest cohort first.

    Kinds are also searched for in the extra folders.
    """
    accounts_of = defaultdict(list)
    for account in read_accounts(connection):
        accounts_of[account.agent].append(account)

    # Cohorts come in order, so that the newest one overwrites the others.
    newest_setups = {}
    for stored in read_cohorts(connection):
        for entrant in stored.cohort.entrants:
            newest_setups[entrant.name] = (stored.cohort, entrant)

    models_of = defaultdict(list)
    for served in read_served_models(connection):
        models_of[served.name].append(served.model)
    changes_of = defaultdict(list)
    for change in model_changes(read_reported_models(connection)):
        changes_of[change.name].append(change)

    summaries = {}
    for name, own_accounts in accounts_of.items():
        turns = 0
        malformed = 0
        failed = 0
        late = 0
        costs = []
        for account in own_accounts:
            turns += account.turns
            malformed += account.malformed
            failed += account.failed
            late += account.late
            costs.append(account.cost)

        # One unknown cost makes the total unknown.
        known_costs = [cost for cost in costs if cost is not None]
        cost = sum(known_costs) if len(known_costs) == len(costs) else None
        summaries[name] = AgentSummary(
            name=name,
            setup=agent_setup(*newest_setups[name], extra),
            cohorts=tuple(account.cohort for account in own_accounts),
            turns=turns,
            malformed=malformed,
            failed=failed,
            late=late,
            cost=cost,
            models=tuple(dict.fromkeys(models_of[name])),
            changes=tuple(changes_of[name]),
        )
    return summaries


def agent_details(connection: Connection, name: str, extra: ExtensionFolders = ()) -> AgentDetails | None:
    """Return the details of one agent; None if it has never played.

    Kinds are also searched for in the extra folders.
    """
    turns = read_agent_turns(connection, name)
    played_cohorts = [stored for stored in read_cohorts(connection) if name in stored.entrant_ids]
    if not played_cohorts:
        return None

    cohorts = [
        _agent_in_cohort(stored.cohort, name, turns.get(stored.id, []), extra) for stored in played_cohorts
    ]
    median_ms = None
    percentile_ms = None
    latencies = read_latencies(connection, name)
    if latencies:
        median_ms = median(latencies)
        percentile_ms = percentile(latencies, LATE)

    all_changes = model_changes(read_reported_models(connection))
    return AgentDetails(
        name=name,
        cohorts=tuple(cohorts),
        calls=tuple(read_call_outcomes(connection, name)),
        forecasts=count_forecasts(connection, name),
        median_ms=median_ms,
        late_ms=percentile_ms,
        models=tuple(read_served_models(connection, name)),
        changes=tuple(change for change in all_changes if change.name == name),
    )


def _agent_in_cohort(
    cohort: Cohort, name: str, turns: Sequence[PlayedTurn], extra: ExtensionFolders
) -> AgentInCohort:
    """Return an agent's setup in a cohort, and how its turns ended."""
    entrant = next(entrant for entrant in cohort.entrants if entrant.name == name)
    setup = agent_setup(cohort, entrant, extra)
    statuses = Counter(turn.status for turn in turns)
    return AgentInCohort(
        cohort=cohort.number,
        starts_at=cohort.starts_at,
        setup=setup,
        statuses=dict(sorted(statuses.items())),
        versions=code_versions(turns),
    )


def model_changes_since(connection: Connection, since: datetime) -> list[ModelChange]:
    """Return the changes in the models that answers report, from an instant on.

    Among agents with the same model, one is listed with its fingerprints of a day.
    """
    changes_by_key: dict[object, ModelChange] = {}
    for change in model_changes(read_reported_models(connection)):
        if change.last_at < since:
            continue
        change_key: object = change
        if change.what == "fingerprint":
            # A provider changes the fingerprint of a model for all agents that use it: one a day is listed.
            change_key = (change.model, change.first_at.date())
        changes_by_key.setdefault(change_key, change)
    return list(changes_by_key.values())


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the smallest value that at least `percent` of the sorted values don't exceed.

    >>> percentile([10, 20, 30, 40], 50), percentile([10, 20, 30, 40], 95)
    (20, 40)
    """
    # `-(-a // b)` is a / b, rounded up.
    rank = -(-len(ordered) * percent // 100)
    return ordered[rank - 1]


def _sum_by_label(labelled_counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sums of counts by their labels."""
    sums: Counter[str] = Counter()
    for label, count in labelled_counts:
        sums[label] += count
    return dict(sorted(sums.items()))
