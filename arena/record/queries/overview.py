"""Cohorts at a glance: rounds, turns and versions of the code, open positions, profit, in a few sums."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from arena.record.schema.tables import COHORT, ENTRANT, ENTRY, ROUND, SNAPSHOT, TURN

PLACED = TURN.join(ROUND, TURN.c.round_id == ROUND.c.id).join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)


@dataclass(frozen=True, slots=True)
class Played:
    """A turn by its round and its entrant: how it ended, and by which version of the code."""

    round: int
    agent: str
    verdict: str
    version: str


COLUMNS = (ROUND.c.number, ENTRANT.c.name, TURN.c.verdict, TURN.c.code_version)
TURNS = select(*COLUMNS, ROUND.c.cohort_id).select_from(PLACED).order_by(ROUND.c.number, ENTRANT.c.position)


def read_turns(connection: Connection, cohort_id: int) -> list[Played]:
    """Every turn of a cohort, round by round in line-up order."""
    rows = connection.execute(TURNS.where(ROUND.c.cohort_id == cohort_id))
    return [Played(*turn) for *turn, _ in rows]


def read_turns_of(connection: Connection, agent: str) -> dict[int, list[Played]]:
    """Every turn of an agent, round by round, by the id of its cohort."""
    found: dict[int, list[Played]] = defaultdict(list)
    for *turn, cohort_id in connection.execute(TURNS.where(ENTRANT.c.name == agent)):
        found[cohort_id].append(Played(*turn))
    return found


def versions(turns: Sequence[Played]) -> dict[int, tuple[str, ...]]:
    """The versions that played, by the rounds in which they are not those of the round before.

    >>> versions([Played(1, "ann", "out", "1"), Played(2, "ann", "out", "1"), Played(3, "ann", "out", "2")])
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


def verdicts(turns: Sequence[Played]) -> dict[int, Counter[str]]:
    """How many turns of each round ended in which way."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        found[turn.round][turn.verdict] += 1
    return found


def read_frozen(connection: Connection, cohort_id: int) -> tuple[dict[str, Any], str]:
    """What a cohort has frozen, as it was written, and the hash of that."""
    row = connection.execute(select(COHORT.c.frozen, COHORT.c.hash).where(COHORT.c.id == cohort_id)).one()
    return json.loads(row.frozen), row.hash


def read_looked(connection: Connection) -> dict[int, datetime]:
    """The time of each cohort's newest snapshot, by the cohort's id."""
    query = select(SNAPSHOT.c.cohort_id, func.max(SNAPSHOT.c.at)).group_by(SNAPSHOT.c.cohort_id)
    return dict(connection.execute(query).all())


def read_open(connection: Connection) -> Counter[int]:
    """How many positions are open in each cohort that has not ended, by its id."""
    lots: tuple[Any, ...] = (ENTRANT.c.cohort_id, ENTRY.c.entrant_id, ENTRY.c.market_id, ENTRY.c.side)
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    query = select(*lots).select_from(joined).where(COHORT.c.ended_at.is_(None)).group_by(*lots)
    return Counter(row.cohort_id for row in connection.execute(query.having(func.sum(ENTRY.c.shares) > 0)))
