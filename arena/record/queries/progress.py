"""How far a record has come: rounds, missing turns, newest snapshots, ended markets, payouts by cohort.

From these follows what is due, and by what one state of a record differs from the next, at the cost of a few
look-ups in indices.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func

from agents.secrets import without_credentials
from arena.record.queries import cohorts
from arena.record.queries.cohorts import LineUps, StoredCohort
from arena.record.queries.operations import IS_LAST_SNAPSHOT, LAST_SNAPSHOT_TIMES
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.scores import RollupRow
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import AttemptRow, CallRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    col,
    count,
    joined,
    read_grouped_nouns,
    read_nouns,
    select,
    select_as,
)
from arena.record.schema.work import IncidentRow, JobRow
from arena.record.schema.world import QuarantineRow, QuoteRow, ResolutionRow
from markets.hashes import digest


@dataclass(frozen=True, slots=True)
class BegunRound:
    """A round that has begun, when its prices were really looked at, and whether it is done.

    Of one that isn't, `pending` counts the turns that are missing, and `failed` those that have failed;
    `unanswered` are those of the failed whose model gave no answer.
    """

    number: int
    at: datetime
    taken_at: datetime
    done: bool
    pending: int = 0
    failed: int = 0
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class CohortProgress:
    """A cohort, its rounds in order, and its newest snapshot: of what time, and whether it was marked."""

    stored: StoredCohort
    rounds: tuple[BegunRound, ...] = ()
    snapshot_at: datetime | None = None
    marked: bool = True


BEGUN_ROUNDS = (
    select(RoundRow.id, RoundRow.cohort_id, RoundRow.number, RoundRow.at, SnapshotRow.taken_at, RoundRow.done)
    .select_from(joined(RoundRow, SnapshotRow))
    .where(col(RoundRow.cohort_id).in_(IDS))
    .order_by(RoundRow.cohort_id, RoundRow.number)
)
HAS_MARKS = select(MarkRow.at).where(MarkRow.at == SnapshotRow.at, MarkRow.snapshot_id == SnapshotRow.id)
NEWEST_SNAPSHOTS = select(SnapshotRow.cohort_id, SnapshotRow.at, HAS_MARKS.exists().label("marked")).join(
    LAST_SNAPSHOT_TIMES, IS_LAST_SNAPSHOT
)


def read_progress(connection: Connection, line_ups: LineUps) -> list[CohortProgress]:
    """All cohorts, oldest first; of those that have ended only the cohort itself."""
    known = cohorts.read_cohorts(connection, line_ups)
    ids = {"ids": [stored.id for stored in known if stored.ended_at is None]}
    newest = {row.cohort_id: row for row in connection.execute(NEWEST_SNAPSHOTS, ids)}
    rounds: dict[int, list[BegunRound]] = defaultdict(list)
    size = {stored.id: len(stored.entrant_ids) for stored in known}
    for row in connection.execute(BEGUN_ROUNDS, ids).all():
        begun_round = BegunRound(**attributes_of(row, "number", "at", "taken_at"), done=bool(row.done))
        if not begun_round.done:
            statuses = list(cohorts.read_turn_statuses(connection, row.id).values())
            pending = size[row.cohort_id] - len(statuses)
            failed = statuses.count("failed")
            unanswered = len(cohorts.read_unanswered_turns(connection, row.id)) if failed else 0
            begun_round = replace(begun_round, pending=pending, failed=failed, unanswered=unanswered)
        rounds[row.cohort_id].append(begun_round)
    return [
        CohortProgress(
            stored,
            tuple(rounds[stored.id]),
            snapshot_at=newest[stored.id].at if stored.id in newest else None,
            marked=stored.id not in newest or newest[stored.id].marked,
        )
        for stored in known
    ]


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


def read_played_turns(connection: Connection, cohort_id: int) -> list[PlayedTurn]:
    """Every turn of a cohort, round by round in line-up order."""
    rows = connection.execute(PLAYED_TURNS.where(RoundRow.cohort_id == cohort_id))
    return read_grouped_nouns(PlayedTurn, rows)[cohort_id]


LAST_ROUNDS = (
    select(TurnRow.entrant_id, func.max(RoundRow.at).label("at"))
    .select_from(joined(TurnRow, RoundRow, EntrantRow, CohortRow))
    .where(col(CohortRow.ended_at).is_(None))
    .group_by(TurnRow.entrant_id)
    .subquery()
)
WAITING_TURNS = (
    select(RoundRow.cohort_id, EntrantRow.name, TurnRow.note)
    .select_from(PLACED_TURNS)
    .join(LAST_ROUNDS, (LAST_ROUNDS.c.entrant_id == EntrantRow.id) & (LAST_ROUNDS.c.at == RoundRow.at))
    .where(TurnRow.status == "waiting")
)


def read_waiting_agents(connection: Connection) -> dict[int, dict[str, str]]:
    """For what agents of open cohorts wait by their last turns, in words; by cohort id and name."""
    waiting: dict[int, dict[str, str]] = defaultdict(dict)
    for cohort_id, name, note in connection.execute(WAITING_TURNS):
        waiting[cohort_id][name] = note
    return waiting


def read_agent_turns(connection: Connection, agent: str) -> dict[int, list[PlayedTurn]]:
    """Every turn of an agent, round by round, by the id of its cohort."""
    return read_grouped_nouns(PlayedTurn, connection.execute(PLAYED_TURNS.where(EntrantRow.name == agent)))


def code_versions(turns: Sequence[PlayedTurn]) -> dict[int, tuple[str, ...]]:
    """The versions that played, by the rounds in which they are not those of the round before.

    >>> versions = {1: "1", 2: "1", 3: "2"}
    >>> code_versions([PlayedTurn(round, "ann", "out", code) for round, code in versions.items()])
    {1: ('1',), 3: ('2',)}
    """
    by_round: dict[int, dict[str, None]] = defaultdict(dict)
    for turn in turns:
        by_round[turn.round][turn.version] = None
    versions: dict[int, tuple[str, ...]] = {}
    for number, known in by_round.items():
        if not versions or tuple(known) != list(versions.values())[-1]:
            versions[number] = tuple(known)
    return versions


def status_counts(turns: Sequence[PlayedTurn]) -> dict[int, Counter[str]]:
    """How many turns of each round ended in which way."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        counts[turn.round][turn.status] += 1
    return counts


def read_frozen_cohort(connection: Connection, cohort_id: int) -> tuple[dict[str, Any], str]:
    """What a cohort has frozen, but for credentials in addresses, and the hash of it as it was written."""
    row = connection.execute(select(CohortRow.frozen, CohortRow.hash).where(CohortRow.id == cohort_id)).one()
    return without_credentials(json.loads(row.frozen)), row.hash


def read_newest_snapshot_times(connection: Connection) -> dict[int, datetime]:
    """The time of each cohort's newest snapshot, by the cohort's id."""
    query = select(SnapshotRow.cohort_id, func.max(SnapshotRow.at)).group_by(SnapshotRow.cohort_id)
    return dict(connection.execute(query).all())


def count_open_positions(connection: Connection) -> Counter[int]:
    """How many positions are open in each cohort that has not ended, by its id."""
    lots: tuple[Any, ...] = (EntrantRow.cohort_id, EntryRow.entrant_id, EntryRow.market_id, EntryRow.side)
    query = select(*lots).select_from(joined(EntryRow, EntrantRow, CohortRow)).group_by(*lots)
    query = query.where(col(CohortRow.ended_at).is_(None))
    return Counter(row.cohort_id for row in connection.execute(query.having(func.sum(EntryRow.shares) > 0)))


def is_cohort_over(connection: Connection, cohort: int) -> bool:
    """Whether a cohort has ended, so that its accounts stay as they are."""
    return connection.scalar(select(CohortRow.ended_at).where(CohortRow.number == cohort)) is not None


NEWEST_MARK = select(func.max(MarkRow.at)).scalar_subquery()
ACCOUNTS_BASIS = select(
    select(func.count()).select_from(CohortRow).scalar_subquery(),
    select(func.max(TurnRow.id)).scalar_subquery(),
    select(func.count()).where(TurnRow.status == "failed").scalar_subquery(),
    select(func.max(AttemptRow.id)).scalar_subquery(),
    select(func.max(CallRow.id)).scalar_subquery(),
    select(func.count()).where(MarkRow.at == NEWEST_MARK).scalar_subquery(),
    NEWEST_MARK,
)


def accounts_basis(connection: Connection) -> str:
    """How far cohorts, turns, calls and marks have come: it changes with what accounts are worth and cost."""
    cohorts, turn, failed, attempt, call, marks, at = connection.execute(ACCOUNTS_BASIS).one()
    tries = f", attempt {attempt}" if attempt else ""
    return f"{cohorts} cohorts, turn {turn}, {failed} failed{tries}, call {call}, {marks} marked {at}"


TURNS_BASIS = select(
    func.max(TurnRow.id), select(func.count()).where(TurnRow.status == "failed").scalar_subquery()
)


def turns_basis(connection: Connection) -> str:
    """How far turns have come: another text with each one that is played, and each that failed till then."""
    turn, failed = connection.execute(TURNS_BASIS).one()
    return f"turn {turn}, {failed} failed"


OF_COHORT = CohortRow.number == bindparam("number")
SHOWN_MARKETS = (
    select(SnapshotItemRow.market_id)
    .select_from(joined(CohortRow, RoundRow))
    .join(SnapshotItemRow, SnapshotItemRow.snapshot_id == RoundRow.snapshot_id)
    .where(OF_COHORT, SnapshotItemRow.shown == 1)
)
SHOWN_RESOLUTIONS = select(func.count(), func.coalesce(func.max(ResolutionRow.id), 0)).where(
    col(ResolutionRow.market_id).in_(SHOWN_MARKETS)
)


def resolutions_basis(connection: Connection, cohort: int) -> str:
    """How far the ends of a cohort's own markets have come: another text with each end and each round."""
    count, last = connection.execute(SHOWN_RESOLUTIONS, {"number": cohort}).one()
    rounds = select(func.count()).select_from(joined(RoundRow, CohortRow))
    begun = connection.scalar(rounds.where(OF_COHORT), {"number": cohort})
    return f"{count} ends in {begun} rounds, the last is {last}"


@dataclass(frozen=True, slots=True)
class SettlementCount:
    """At an instant so many of a cohort's markets were paid out or refunded to its accounts."""

    at: datetime
    markets: int


SETTLEMENT_COUNTS = (
    select_as(at=EntryRow.at, markets=func.count(col(EntryRow.market_id).distinct()))
    .select_from(joined(CohortRow, EntrantRow, EntryRow))
    .where(OF_COHORT, col(EntryRow.kind).in_(("settle", "refund")))
    .group_by(EntryRow.at)
    .order_by(EntryRow.at)
)


def read_settlement_counts(connection: Connection, cohort: int) -> list[SettlementCount]:
    """When a cohort's accounts were paid, oldest first."""
    return read_nouns(SettlementCount, connection.execute(SETTLEMENT_COUNTS, {"number": cohort}))


GROWING_TABLES = (
    TurnRow.__table__,
    AttemptRow.__table__,
    EntryRow.__table__,
    QuoteRow.__table__,
    ResolutionRow.__table__,
    SnapshotRow.__table__,
    RoundRow.__table__,
)
"""Tables whose rows get ever higher numbers; what else may change in a round comes with its marks."""
HALT_TIMES = (CohortRow.ended_at, CohortRow.paused_at, CohortRow.stopped_at)
SEASON_PARTS = [
    *(func.max(table.c.id) for table in GROWING_TABLES),
    *(count(column) for column in HALT_TIMES),
    func.max(MarkRow.at),
    func.max(RollupRow.made_at),
]
VERSION_PARTS = [
    *SEASON_PARTS,
    func.max(JobRow.started_at),
    func.max(JobRow.ended_at),
    func.max(IncidentRow.id),
    count(IncidentRow.ended_at),
    count(IncidentRow.told_at),
    func.max(QuarantineRow.last_seen_at),
]
SEASON_VERSION, RECORD_VERSION = (
    select(*(select(part).scalar_subquery() for part in parts)) for parts in (SEASON_PARTS, VERSION_PARTS)
)


def read_record_version(connection: Connection) -> tuple[str, ...]:
    """Changes with everything that a reader of the record would want to see."""
    return tuple(map(str, connection.execute(RECORD_VERSION).one()))


def season_version(connection: Connection) -> str:
    """The same in short, without what an operator looks at: jobs, incidents, quarantined records."""
    return digest([str(part) for part in connection.execute(SEASON_VERSION).one()])
