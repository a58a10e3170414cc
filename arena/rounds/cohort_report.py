"""Everything that the record has about one cohort, for the command line and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.secrets import without_credentials
from arena.record.cohort_heads import CohortHead, read_head
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_cohort_depths
from arena.record.queries.audits import AuditCounts, read_audit_counts
from arena.record.queries.progress import (
    code_versions,
    read_frozen_cohort,
    read_played_turns,
    read_waiting_agents,
    status_counts,
)
from arena.record.schema.database import Connection
from arena.rounds.season import CohortOverview


@dataclass(frozen=True, slots=True)
class RoundStatuses:
    """A round that has begun, with the counts of its turns by status."""

    round: int
    at: datetime
    over: bool
    turns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReplacedEntrant:
    """An agent that took new settings before its first good turn, and from which round on it uses them."""

    name: str
    since: int
    prompts: Mapping[str, str]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CohortReport:
    """The rounds of a cohort, its newest head, and what it froze.

    `waiting` says of agents what they wait for; `audit` counts what their texts had; `depth` is the depth of
    the book to which its orders were filled.
    """

    config_hash: str | None
    frozen_hash: str
    head: CohortHead
    waiting: Mapping[str, str]
    code_versions: Mapping[int, Sequence[str]]
    played: Sequence[RoundStatuses]
    decide: str
    frozen: Mapping[str, Any]
    audit: AuditCounts | None
    depth: str | None
    replaced: Sequence[ReplacedEntrant]


def read_cohort_report(connection: Connection, overview: CohortOverview) -> CohortReport:
    """Return everything that the record has about a cohort."""
    cohort = overview.cohort
    cohort_id = overview.stored.id
    turns = read_played_turns(connection, cohort_id)
    frozen, frozen_hash = read_frozen_cohort(connection, cohort_id)

    ended = status_counts(turns)
    played = []
    for begun in overview.rounds:
        statuses = dict(sorted(ended.get(begun.number, {}).items()))
        played.append(RoundStatuses(begun.number, begun.at, begun.done, statuses))

    return CohortReport(
        config_hash=cohort.config_hash or None,
        frozen_hash=frozen_hash,
        head=read_head(connection, overview.stored),
        waiting=read_waiting_agents(connection).get(cohort_id, {}),
        code_versions=code_versions(turns),
        played=played,
        decide=str(cohort.cadence),
        frozen=frozen,
        audit=read_audit_counts(connection, [cohort.number]),
        depth=read_cohort_depths(connection).get(cohort.number),
        replaced=_replaced(cohort),
    )


def _replaced(cohort: Cohort) -> list[ReplacedEntrant]:
    """Return the agents of a cohort that took new settings."""
    replaced = []
    for entrant in cohort.entrants:
        if entrant.since:
            settings = without_credentials(entrant.settings)
            replaced.append(ReplacedEntrant(entrant.name, entrant.since, entrant.prompts, settings))
    return replaced
