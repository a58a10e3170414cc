"""How an arena stands, read by indices alone: what goes on counts, not how much the record holds.

Nothing here reads a whole table that grows with prices, marks, calls, forecasts or ledgers.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from arena.record.model.status import Asides, Duty, Playing, RoundState
from arena.record.schema.clock import NOW
from arena.record.schema.codec import cohort_of
from arena.record.schema.tables import COHORT, ENTRANT, LEASE, ROUND, SET_ASIDE, SNAPSHOT, SYNC, TURN

DUTY = "scheduler"
OPEN = COHORT.c.ended_at.is_(None)
IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
NAMES: BindParameter[Sequence[str]] = bindparam("names", expanding=True)

LEASED = select(LEASE.c.holder, LEASE.c.expires_at, LEASE.c.expires_at > NOW).where(LEASE.c.name == DUTY)


def read_duty(connection: Connection, is_alive: Callable[[str], bool]) -> Duty | None:
    """Who schedules, or did last. Whether a holder whose lease holds is alive, the caller may know better."""
    row = connection.execute(LEASED).one_or_none()
    if row is None or not row.holder:
        return None
    holder, until, leased = row
    host, _, rest = holder.partition("/")
    return Duty(host, rest.partition("/")[0], bool(leased) and is_alive(holder), until)


STOOD = (COHORT.c.paused_at, COHORT.c.stopped_at)
PLAYING = select(COHORT.c.id, COHORT.c.frozen, *STOOD).where(OPEN).order_by(COHORT.c.number)


def read_playing(connection: Connection) -> list[Playing]:
    """The cohorts that have not ended, oldest first."""
    found = []
    for key, frozen, paused_at, stopped_at in connection.execute(PLAYING):
        cohort = cohort_of(frozen)
        age = cohort.rules.quote_age
        place = (cohort.starts_at, cohort.every, cohort.rounds, cohort.stamp, cohort.venue)
        agents = len(cohort.entrants)
        found.append(Playing(key, cohort.number, *place, age, agents, paused_at, stopped_at))
    return found


STARTS = select(COHORT.c.number, COHORT.c.starts_at).order_by(COHORT.c.number)


def read_starts(connection: Connection) -> list[tuple[int, datetime]]:
    """The number of every cohort, and when it started."""
    return [(number, starts_at) for number, starts_at in connection.execute(STARTS)]


NEWEST = select(func.max(ROUND.c.at)).scalar_subquery()
ROUNDS = (
    select(
        ROUND.c.id,
        COHORT.c.number.label("cohort"),
        ROUND.c.number,
        ROUND.c.at,
        SNAPSHOT.c.taken_at,
        ROUND.c.done,
        select(func.count()).where(ENTRANT.c.cohort_id == COHORT.c.id).scalar_subquery().label("agents"),
    )
    .select_from(
        ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id).join(
            SNAPSHOT, ROUND.c.snapshot_id == SNAPSHOT.c.id
        )
    )
    .where(OPEN | (ROUND.c.at == NEWEST))
    .order_by(ROUND.c.at, COHORT.c.number)
)
VERDICTS = (
    select(TURN.c.round_id, TURN.c.verdict, func.count())
    .where(TURN.c.round_id.in_(IDS))
    .group_by(TURN.c.round_id, TURN.c.verdict)
    .order_by(TURN.c.round_id, TURN.c.verdict)
)


def read_rounds(connection: Connection) -> list[RoundState]:
    """The rounds of cohorts that have not ended, and of the newest decision time, oldest first."""
    rows = connection.execute(ROUNDS).all()
    turns: dict[int, dict[str, int]] = {row.id: {} for row in rows}
    for key, verdict, count in connection.execute(VERDICTS, {"ids": list(turns)}):
        turns[key][verdict] = count
    return [RoundState(*row[:5], done=bool(row.done), agents=row.agents, turns=turns[row.id]) for row in rows]


ENDED_ROUNDS = (
    select(func.count(), func.coalesce(func.sum(ROUND.c.done), 0))
    .select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    .where(COHORT.c.ended_at.is_not(None))
)


def count_ended_rounds(connection: Connection) -> tuple[int, int]:
    """How many rounds cohorts that have ended began, and how many of them are done."""
    begun, done = connection.execute(ENDED_ROUNDS).one()
    return int(begun), int(done)


ALL_VERDICTS = select(TURN.c.verdict, func.count()).group_by(TURN.c.verdict).order_by(TURN.c.verdict)


def count_turns(connection: Connection) -> dict[str, int]:
    """How all turns ended."""
    return dict(connection.execute(ALL_VERDICTS).all())


SYNCED = select(func.max(SYNC.c.at)).where(SYNC.c.venue.in_(NAMES))


def last_sync(connection: Connection, venues: Collection[str]) -> datetime | None:
    """When a catalogue of these venues was last read."""
    found: datetime | None = connection.scalar(SYNCED, {"names": sorted(venues)})
    return found


ASIDES = (
    select(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code, func.count())
    .where(SET_ASIDE.c.last_seen_at >= bindparam("since", type_=SET_ASIDE.c.last_seen_at.type))
    .group_by(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code)
    .order_by(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code)
)


def read_asides(connection: Connection, since: datetime) -> list[Asides]:
    """What was set aside since an instant."""
    return [Asides(*row) for row in connection.execute(ASIDES, {"since": since})]
