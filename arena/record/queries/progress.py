"""The progress of a record: rounds, missing turns, newest snapshots and versions of the code.

From these follows what is due, and by what one state of a record differs from the next, at the cost of a few
look-ups in indices.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func

from agents.secrets import without_credentials
from arena.record.queries.cohorts import (
    COHORT_ID,
    LineUps,
    StoredCohort,
    read_cohorts,
    read_retried_turns,
    read_turn_statuses,
    read_unanswered_turns,
)
from arena.record.queries.operations import IS_LAST_SNAPSHOT, LAST_SNAPSHOT_TIMES
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.scores import RollupRow
from arena.record.schema.turn import AttemptRow, TurnRow
from arena.record.schema.typed import IDS, col, count, joined, read_objects_by_key, select, select_as
from arena.record.schema.world import QuoteRow, ResolutionRow
from markets.hashes import digest


@dataclass(frozen=True, slots=True)
class BegunRound:
    """A round that has begun, when its prices were really looked at, and whether it is done.

    Of one that isn't, `pending` counts the turns that are missing, and `failed` those that have failed;
    `unanswered` are those of the failed whose model gave no answer, `retried` those that a process tries
    again, or died trying, and those that can be played now that others were.
    """

    number: int
    at: datetime
    taken_at: datetime
    done: bool
    pending: int = 0
    failed: int = 0
    unanswered: int = 0
    retried: int = 0


@dataclass(frozen=True, slots=True)
class CohortProgress:
    """A cohort, its rounds in order, and its newest snapshot: of what time, and whether it was marked."""

    stored: StoredCohort
    rounds: tuple[BegunRound, ...] = ()
    snapshot_at: datetime | None = None
    marked: bool = True


HAS_MARKS = select(MarkRow.at).where(MarkRow.at == SnapshotRow.at, MarkRow.snapshot_id == SnapshotRow.id)
NEWEST_SNAPSHOTS = select(SnapshotRow.cohort_id, SnapshotRow.at, HAS_MARKS.exists().label("marked")).join(
    LAST_SNAPSHOT_TIMES, IS_LAST_SNAPSHOT
)


def read_progress(connection: Connection, line_ups: LineUps) -> list[CohortProgress]:
    """Return all cohorts, oldest first; of those that have ended only the cohort itself."""
    cohorts = read_cohorts(connection, line_ups)
    ongoing = {stored.id: stored for stored in cohorts if stored.ended_at is None}
    newest = {row.cohort_id: row for row in connection.execute(NEWEST_SNAPSHOTS, {"ids": list(ongoing)})}
    rounds = _read_begun_rounds(connection, ongoing)

    progress = []
    for stored in cohorts:
        own_rounds = tuple(rounds[stored.id])
        snapshot = newest.get(stored.id)
        if snapshot is None:
            progress.append(CohortProgress(stored, own_rounds))
        else:
            progress.append(CohortProgress(stored, own_rounds, snapshot.at, snapshot.marked))
    return progress


BEGUN_ROUNDS = (
    select(RoundRow.id, RoundRow.cohort_id, RoundRow.number, RoundRow.at)
    .add_columns(SnapshotRow.taken_at, RoundRow.done)
    .from_joined(RoundRow, SnapshotRow)
    .where(col(RoundRow.cohort_id).in_(IDS))
    .order_by(RoundRow.cohort_id, RoundRow.number)
)


def _read_begun_rounds(
    connection: Connection, cohorts: Mapping[int, StoredCohort]
) -> dict[int, list[BegunRound]]:
    """Return the rounds that have begun of these cohorts, by the id of the cohort."""
    rounds: dict[int, list[BegunRound]] = defaultdict(list)
    for row in connection.execute(BEGUN_ROUNDS, {"ids": list(cohorts)}).all():
        stored = cohorts[row.cohort_id]
        pending = 0
        failed = 0
        unanswered = 0
        retried = 0
        if not row.done:
            statuses = list(read_turn_statuses(connection, row.id).values())
            pending = len(stored.entrant_ids) - len(statuses)
            failed = statuses.count("failed")
        if failed:
            unanswered = len(read_unanswered_turns(connection, row.id))
            retried = len(read_retried_turns(connection, stored, row.id))

        is_done = bool(row.done)
        counts = pending, failed, unanswered, retried
        rounds[stored.id].append(BegunRound(row.number, row.at, row.taken_at, is_done, *counts))
    return rounds


PLACED_TURNS = joined(TurnRow, RoundRow, EntrantRow)


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn by its round and its entrant: how it ended, and by which version of the code."""

    round: int
    agent: str
    status: str
    version: str


PLAYED_TURNS = (
    select_as(
        cohort_id=RoundRow.cohort_id,
        round=RoundRow.number,
        agent=EntrantRow.name,
        status=TurnRow.status,
        version=TurnRow.code_version,
    )
    .select_from(PLACED_TURNS)
    .order_by(RoundRow.number, EntrantRow.position)
)


TURNS_OF_COHORT = PLAYED_TURNS.where(RoundRow.cohort_id == COHORT_ID)
TURNS_OF_AGENT = PLAYED_TURNS.where(EntrantRow.name == bindparam("agent"))


def read_played_turns(connection: Connection, cohort_id: int) -> list[PlayedTurn]:
    """Return every turn of a cohort, round by round in line-up order."""
    rows = connection.execute(TURNS_OF_COHORT, {"cohort_id": cohort_id})
    return read_objects_by_key(PlayedTurn, rows)[cohort_id]


def read_agent_turns(connection: Connection, agent: str) -> dict[int, list[PlayedTurn]]:
    """Return every turn of an agent, round by round, by the id of its cohort."""
    return read_objects_by_key(PlayedTurn, connection.execute(TURNS_OF_AGENT, {"agent": agent}))


LAST_TURNS = (
    select(TurnRow.entrant_id, func.max(RoundRow.at).label("at"))
    .from_joined(TurnRow, RoundRow, EntrantRow, CohortRow)
    .where(col(CohortRow.ended_at).is_(None))
    .group_by(TurnRow.entrant_id)
    .subquery()
)
WAITING_AGENTS = (
    select(RoundRow.cohort_id, EntrantRow.name, TurnRow.note)
    .select_from(PLACED_TURNS)
    .join(LAST_TURNS, (LAST_TURNS.c.entrant_id == EntrantRow.id) & (LAST_TURNS.c.at == RoundRow.at))
    .where(TurnRow.status == "waiting")
)


def read_waiting_agents(connection: Connection) -> dict[int, dict[str, str]]:
    """Return what agents of open cohorts wait for, from their last turns, by cohort id and name."""
    waiting: dict[int, dict[str, str]] = defaultdict(dict)
    for cohort_id, name, note in connection.execute(WAITING_AGENTS):
        waiting[cohort_id][name] = note
    return waiting


def code_versions(turns: Sequence[PlayedTurn]) -> dict[int, tuple[str, ...]]:
    """Return the code versions that played, by each round in which they changed.

    >>> versions = {1: "1", 2: "1", 3: "2"}
    >>> code_versions([PlayedTurn(round, "ann", "out", code) for round, code in versions.items()])
    {1: ('1',), 3: ('2',)}
    """
    by_round: dict[int, dict[str, None]] = defaultdict(dict)
    for turn in turns:
        by_round[turn.round][turn.version] = None

    changes: dict[int, tuple[str, ...]] = {}
    last_versions: tuple[str, ...] = ()
    for number, versions in by_round.items():
        if tuple(versions) != last_versions:
            last_versions = tuple(versions)
            changes[number] = last_versions
    return changes


def status_counts(turns: Sequence[PlayedTurn]) -> dict[int, Counter[str]]:
    """Return the counts of each round's turns by status."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        counts[turn.round][turn.status] += 1
    return counts


FROZEN_COHORT = select(CohortRow.frozen, CohortRow.hash).where(CohortRow.id == COHORT_ID)


def read_frozen_cohort(connection: Connection, cohort_id: int) -> tuple[dict[str, Any], str]:
    """Return what a cohort has frozen, without credentials in addresses, and the hash of what it froze."""
    frozen, frozen_hash = connection.execute(FROZEN_COHORT, {"cohort_id": cohort_id}).one()
    return without_credentials(json.loads(frozen)), frozen_hash


GROWING_TABLES = (TurnRow, AttemptRow, EntryRow, QuoteRow, ResolutionRow, SnapshotRow, RoundRow)
"""Tables whose rows get ever higher numbers; what else may change in a round comes with its marks."""
SEASON_PARTS = [
    *(func.max(row.__table__.c.id) for row in GROWING_TABLES),
    count(CohortRow.ended_at),
    count(CohortRow.paused_at),
    count(CohortRow.stopped_at),
    func.max(MarkRow.at),
    func.max(RollupRow.made_at),
]
"""What changes with all that pages show, but for what an operator looks at."""
SEASON_VERSION = select(*(select(part).scalar_subquery() for part in SEASON_PARTS))


def season_version(connection: Connection) -> str:
    """Return a hash of all that pages show, without jobs, incidents and quarantined records."""
    return digest([str(part) for part in connection.execute(SEASON_VERSION).one()])
