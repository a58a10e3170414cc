"""How far each open cohort has come: its rounds, when it was last looked at, whose turns are missing.

Cohorts at a glance: rounds, turns and versions of the code, open positions, profit, in a few sums.

How far a record has come: which ends are known since when, and how often its cohorts were looked at.

What has ended of a cohort: how many of its markets, and when its accounts were paid out.

What tells one state of a record from the next, at the cost of a few looks into indices.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, exists, func, select

from arena.record.queries import cohorts
from arena.record.queries.cohorts import LineUps, StoredCohort
from arena.record.schema.tables import (
    CALL,
    COHORT,
    ENTRANT,
    ENTRY,
    INCIDENT,
    ITEM,
    JOB,
    MARK,
    QUOTE,
    RESOLUTION,
    ROLLUP,
    ROUND,
    SET_ASIDE,
    SNAPSHOT,
    TURN,
)

OPEN_COHORT_IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)


@dataclass(frozen=True, slots=True)
class BegunRound:
    """A round that has begun, when its prices were really looked at, and whether it is done.

    Of one that isn't, `silent` counts the turns that are missing, and `failed` those that have failed.
    """

    number: int
    at: datetime
    taken_at: datetime
    done: bool
    silent: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class CohortProgress:
    """A cohort, its rounds in order, and its newest snapshot: of what time, and whether it was marked."""

    stored: StoredCohort
    rounds: tuple[BegunRound, ...] = ()
    looked: datetime | None = None
    marked: bool = True


BEGUN_ROUNDS = (
    select(ROUND.c.id, ROUND.c.cohort_id, ROUND.c.number, ROUND.c.at, SNAPSHOT.c.taken_at, ROUND.c.done)
    .select_from(ROUND.join(SNAPSHOT, ROUND.c.snapshot_id == SNAPSHOT.c.id))
    .where(ROUND.c.cohort_id.in_(OPEN_COHORT_IDS))
    .order_by(ROUND.c.cohort_id, ROUND.c.number)
)
LAST_SNAPSHOTS = (
    select(SNAPSHOT.c.cohort_id, func.max(SNAPSHOT.c.at).label("at"))
    .where(SNAPSHOT.c.cohort_id.in_(OPEN_COHORT_IDS))
    .group_by(SNAPSHOT.c.cohort_id)
    .subquery()
)
IS_LAST_SNAPSHOT = (SNAPSHOT.c.cohort_id == LAST_SNAPSHOTS.c.cohort_id) & (
    SNAPSHOT.c.at == LAST_SNAPSHOTS.c.at
)
IS_MARKED = exists().where(MARK.c.at == SNAPSHOT.c.at, MARK.c.snapshot_id == SNAPSHOT.c.id)
NEWEST_SNAPSHOTS = select(SNAPSHOT.c.cohort_id, SNAPSHOT.c.at, IS_MARKED).select_from(
    SNAPSHOT.join(LAST_SNAPSHOTS, IS_LAST_SNAPSHOT)
)


def read_progress(connection: Connection, line_ups: LineUps) -> list[CohortProgress]:
    """All cohorts, oldest first; of those that have ended only the cohort itself."""
    known = cohorts.read_cohorts(connection, line_ups)
    ids = {"ids": [stored.id for stored in known if stored.ended_at is None]}
    looked = {cohort_id: rest for cohort_id, *rest in connection.execute(NEWEST_SNAPSHOTS, ids)}
    rounds: dict[int, list[BegunRound]] = defaultdict(list)
    size = {stored.id: len(stored.entrant_ids) for stored in known}
    for row in connection.execute(BEGUN_ROUNDS, ids).all():
        silent, failed = (0, 0) if row.done else _missing_turns(connection, row.id, size[row.cohort_id])
        rounds[row.cohort_id].append(
            BegunRound(row.number, row.at, row.taken_at, bool(row.done), silent, failed)
        )
    return [
        CohortProgress(stored, tuple(rounds[stored.id]), *looked.get(stored.id, (None, True)))
        for stored in known
    ]


def _missing_turns(connection: Connection, round_id: int, size: int) -> tuple[int, int]:
    statuses = cohorts.read_turn_statuses(connection, round_id)
    return size - len(statuses), sum(status == "failed" for status in statuses.values())


PLACED_TURNS = TURN.join(ROUND, TURN.c.round_id == ROUND.c.id).join(
    ENTRANT, TURN.c.entrant_id == ENTRANT.c.id
)


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn by its round and its entrant: how it ended, and by which version of the code."""

    round: int
    agent: str
    status: str
    version: str


TURN_COLUMNS = (ROUND.c.number, ENTRANT.c.name, TURN.c.verdict, TURN.c.code_version)
PLAYED_TURNS = (
    select(*TURN_COLUMNS, ROUND.c.cohort_id)
    .select_from(PLACED_TURNS)
    .order_by(ROUND.c.number, ENTRANT.c.position)
)


def read_played_turns(connection: Connection, cohort_id: int) -> list[PlayedTurn]:
    """Every turn of a cohort, round by round in line-up order."""
    rows = connection.execute(PLAYED_TURNS.where(ROUND.c.cohort_id == cohort_id))
    return [PlayedTurn(*turn) for *turn, _ in rows]


def read_agent_turns(connection: Connection, agent: str) -> dict[int, list[PlayedTurn]]:
    """Every turn of an agent, round by round, by the id of its cohort."""
    found: dict[int, list[PlayedTurn]] = defaultdict(list)
    for *turn, cohort_id in connection.execute(PLAYED_TURNS.where(ENTRANT.c.name == agent)):
        found[cohort_id].append(PlayedTurn(*turn))
    return found


def code_versions(turns: Sequence[PlayedTurn]) -> dict[int, tuple[str, ...]]:
    """The versions that played, by the rounds in which they are not those of the round before.

    >>> versions = {1: "1", 2: "1", 3: "2"}
    >>> code_versions([PlayedTurn(round, "ann", "out", code) for round, code in versions.items()])
    {1: ('1',), 3: ('2',)}
    """
    by_round: dict[int, dict[str, None]] = defaultdict(dict)
    for turn in turns:
        by_round[turn.round][turn.version] = None
    found: dict[int, tuple[str, ...]] = {}
    for number, known in by_round.items():
        if not found or tuple(known) != list(found.values())[-1]:
            found[number] = tuple(known)
    return found


def status_counts(turns: Sequence[PlayedTurn]) -> dict[int, Counter[str]]:
    """How many turns of each round ended in which way."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        found[turn.round][turn.status] += 1
    return found


def read_frozen_cohort(connection: Connection, cohort_id: int) -> tuple[dict[str, Any], str]:
    """What a cohort has frozen, as it was written, and the hash of that."""
    row = connection.execute(select(COHORT.c.frozen, COHORT.c.hash).where(COHORT.c.id == cohort_id)).one()
    return json.loads(row.frozen), row.hash


def read_newest_snapshot_times(connection: Connection) -> dict[int, datetime]:
    """The time of each cohort's newest snapshot, by the cohort's id."""
    query = select(SNAPSHOT.c.cohort_id, func.max(SNAPSHOT.c.at)).group_by(SNAPSHOT.c.cohort_id)
    return dict(connection.execute(query).all())


def count_open_positions(connection: Connection) -> Counter[int]:
    """How many positions are open in each cohort that has not ended, by its id."""
    lots: tuple[Any, ...] = (ENTRANT.c.cohort_id, ENTRY.c.entrant_id, ENTRY.c.market_id, ENTRY.c.side)
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    query = select(*lots).select_from(joined).where(COHORT.c.ended_at.is_(None)).group_by(*lots)
    return Counter(row.cohort_id for row in connection.execute(query.having(func.sum(ENTRY.c.shares) > 0)))


LEARNT_TIMES = select(RESOLUTION.c.market_id, func.min(RESOLUTION.c.learnt_at)).group_by(
    RESOLUTION.c.market_id
)


def read_learnt_times(connection: Connection) -> dict[str, datetime]:
    """When each market's first end was learnt; later versions correct it."""
    return {row.market_id: row[1] for row in connection.execute(LEARNT_TIMES)}


def is_cohort_over(connection: Connection, cohort: int) -> bool:
    """Whether a cohort has ended, so that its accounts stay as they are."""
    return connection.scalar(select(COHORT.c.ended_at).where(COHORT.c.number == cohort)) is not None


ACCOUNTS_BASIS = select(
    select(func.max(TURN.c.id)).scalar_subquery(),
    select(func.count()).where(TURN.c.verdict == "failed").scalar_subquery(),
    select(func.max(MARK.c.at)).scalar_subquery(),
    select(func.max(CALL.c.id)).scalar_subquery(),
)


def accounts_basis(connection: Connection) -> str:
    """How far turns, calls and marks have come: it changes with what accounts are worth and have cost."""
    turn, failed, mark, call = connection.execute(ACCOUNTS_BASIS).one()
    return f"turn {turn}, {failed} failed, call {call}, marked {mark}"


OF_COHORT = COHORT.c.number == bindparam("number")
SHOWN_MARKETS = (
    select(ITEM.c.market_id)
    .select_from(
        COHORT.join(ROUND, ROUND.c.cohort_id == COHORT.c.id).join(
            ITEM, ITEM.c.snapshot_id == ROUND.c.snapshot_id
        )
    )
    .where(OF_COHORT, ITEM.c.shown == 1)
)
SHOWN_RESOLUTIONS = select(func.count(), func.coalesce(func.max(RESOLUTION.c.id), 0)).where(
    RESOLUTION.c.market_id.in_(SHOWN_MARKETS)
)


def resolutions_basis(connection: Connection, cohort: int) -> str:
    """How far the ends of a cohort's own markets have come: another text with each end and each round."""
    count, last = connection.execute(SHOWN_RESOLUTIONS, {"number": cohort}).one()
    rounds = select(func.count()).select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    begun = connection.scalar(rounds.where(OF_COHORT), {"number": cohort})
    return f"{count} ends in {begun} rounds, the last is {last}"


@dataclass(frozen=True, slots=True)
class SettlementCount:
    """At an instant so many of a cohort's markets were paid out or refunded to its accounts."""

    at: datetime
    markets: int


SETTLEMENT_COUNTS = (
    select(ENTRY.c.at, func.count(ENTRY.c.market_id.distinct()))
    .select_from(
        COHORT.join(ENTRANT, ENTRANT.c.cohort_id == COHORT.c.id).join(
            ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id
        )
    )
    .where(OF_COHORT, ENTRY.c.kind.in_(("settle", "refund")))
    .group_by(ENTRY.c.at)
    .order_by(ENTRY.c.at)
)


def read_settlement_counts(connection: Connection, cohort: int) -> list[SettlementCount]:
    """When a cohort's accounts were paid, oldest first."""
    return [SettlementCount(*row) for row in connection.execute(SETTLEMENT_COUNTS, {"number": cohort})]


GROWING_TABLES = (TURN, ENTRY, QUOTE, RESOLUTION, SNAPSHOT, ROUND)
"""Tables whose rows get ever higher numbers; what else may change in a round comes with its marks."""
HALT_TIMES = (COHORT.c.ended_at, COHORT.c.paused_at, COHORT.c.stopped_at)
VERSION_PARTS = [
    *(func.max(table.c.id) for table in GROWING_TABLES),
    *(func.count(column) for column in HALT_TIMES),
    func.max(MARK.c.at),
    func.max(ROLLUP.c.made_at),
    func.max(JOB.c.started_at),
    func.max(JOB.c.ended_at),
    func.max(INCIDENT.c.id),
    func.count(INCIDENT.c.ended_at),
    func.count(INCIDENT.c.told_at),
    func.max(SET_ASIDE.c.last_seen_at),
]
RECORD_VERSION = select(*(select(part).scalar_subquery() for part in VERSION_PARTS))


def read_record_version(connection: Connection) -> tuple[str, ...]:
    """Changes with everything that a reader of the record would want to see."""
    return tuple(map(str, connection.execute(RECORD_VERSION).one()))
