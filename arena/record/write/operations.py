"""What `arena run` writes of itself: its leases, how its jobs went last, and incidents to be sent.

A lease has one holder, a count of its renewals, and a token that grows by one with every holder. Who writes
under a lease has its token checked in the same transaction, so one that was taken for dead and wakes late
writes nothing. A job has one row. Incidents are an outbox, from which each is sent once.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, exists, func
from sqlmodel import and_, or_

from arena.errors import ArenaError
from arena.record.model.cohort import JobState
from arena.record.model.incident import (
    LASTING_KINDS,
    MOST_TRIES,
    Incident,
    IncidentKind,
    RecordedIncident,
    RoundEnd,
    cohort_finished,
)
from arena.record.model.lease import Hold
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.database import reading
from arena.record.schema.dialects import NOW
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.statements import attributes_of, new_rows
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import (
    AnySelect,
    Condition,
    clause,
    col,
    columns_of,
    joined,
    read_nouns,
    select,
    update,
)
from arena.record.schema.work import IncidentRow, JobRow, LeaseRow
from markets.hashes import canonical


@dataclass(frozen=True, slots=True)
class Fence:
    """A lease under which a record is written: its name, and the token that it must still have."""

    name: str
    token: int


class LeaseLost(ArenaError):
    """Another process has taken over the duty under which something was to be written."""

    def __init__(self, name: str):
        words = f"another process has taken over as {name}, so nothing was written"
        hint = "nothing is lost: the other goes on; stop this one, or restart it to stand by"
        super().__init__("superseded", words, hint)


FIRST_LEASE = {"token": 0, "holder": "", "beat": None}
OWN_LEASE = (LeaseRow.name == bindparam("duty"), LeaseRow.token == bindparam("held"))
HELD_LEASE = select(LeaseRow.token, LeaseRow.holder, LeaseRow.beat).where(LeaseRow.name == bindparam("duty"))
TAKE_LEASE = (
    update(LeaseRow)
    .where(LeaseRow.name == bindparam("duty"))
    .values(token=LeaseRow.token + 1, holder=bindparam("by"), beat=0, renewed_at=NOW)
)
RENEW_LEASE = (
    update(LeaseRow)
    .where(*OWN_LEASE, col(LeaseRow.beat).is_not(None))
    .values(beat=func.coalesce(LeaseRow.beat, 0) + 1, renewed_at=NOW)
)
RELEASE_LEASE = update(LeaseRow).where(*OWN_LEASE).values(beat=None, renewed_at=NOW)
FENCE_HOLDS = select(LeaseRow.token).where(*OWN_LEASE)


def take_lease(connection: Connection, name: str, holder: str, is_over: Callable[[Hold], bool]) -> int | None:
    """Take a duty that nobody has, or whose holder is dead; return its token, or None where it is held."""
    connection.execute(new_rows(LeaseRow).values(name=name, **FIRST_LEASE).on_conflict_do_nothing())
    row = connection.execute(HELD_LEASE.with_for_update(), {"duty": name}).one()
    is_held = row.beat is not None and row.holder != holder
    if is_held and not is_over(Hold(f"duty {name}", row.holder, (row.token, row.beat))):
        return None

    connection.execute(TAKE_LEASE, {"duty": name, "by": holder})
    return int(row.token) + 1


def renew_lease(connection: Connection, name: str, token: int) -> bool:
    """Renew a duty; return whether it is still one's own."""
    return connection.execute(RENEW_LEASE, {"duty": name, "held": token}).rowcount == 1


def release_lease(connection: Connection, name: str, token: int) -> None:
    """Let go of a lease, so that the next one need not wait; one that was taken over is left alone."""
    connection.execute(RELEASE_LEASE, {"duty": name, "held": token})


def check_fence(connection: Connection, fence: Fence) -> None:
    """That a lease still has its token, and keeps it until the transaction ends."""
    mine = {"duty": fence.name, "held": fence.token}
    if connection.execute(FENCE_HOLDS.with_for_update(read=True), mine).first() is None:
        raise LeaseLost(fence.name)


def read_jobs(connection: Connection) -> dict[str, JobState]:
    """All that is known of them, by name."""
    query = select(*columns_of(JobRow, JobState.__dataclass_fields__)).order_by(JobRow.name)
    return {job.name: job for job in read_nouns(JobState, connection.execute(query))}


def put_job(connection: Connection, state: JobState) -> None:
    """How a job goes."""
    row = asdict(state)
    add = new_rows(JobRow).values(**row)
    connection.execute(add.on_conflict_do_update(index_elements=["name"], set_=row))


IS_OPEN = col(IncidentRow.ended_at).is_(None)
IS_UNTOLD = (col(IncidentRow.told_at).is_(None), IncidentRow.tries < MOST_TRIES)


def add_incidents(engine: Engine, incidents: Sequence[Incident], unless: str = "") -> None:
    """Put in what isn't there yet, unless one of its kind goes on whose subject begins like that."""
    if not incidents:
        return
    with engine.begin() as connection:
        for incident in incidents:
            subject = col(IncidentRow.subject).startswith(unless, autoescape=True)
            ongoing = select(IncidentRow.id).where(IS_OPEN, IncidentRow.kind == incident.kind, subject)
            if not unless or connection.execute(ongoing.limit(1)).first() is None:
                add_incident(connection, incident)


def add_incident(connection: Connection, incident: Incident) -> None:
    """An incident, once."""
    row = {
        "kind": incident.kind,
        "subject": incident.subject,
        "at": incident.at,
        "body": canonical({"text": incident.text, "data": incident.data}),
        "tries": 0,
        "ended_at": None if incident.kind in LASTING_KINDS else incident.at,
    }
    connection.execute(new_rows(IncidentRow).values(**row).on_conflict_do_nothing())


def add_cohort_finished(connection: Connection, cohort_id: int, at: datetime) -> None:
    """That a cohort has ended, in the transaction in which it does."""
    rounds = select(func.count()).where(RoundRow.cohort_id == cohort_id).scalar_subquery()
    agents = select(func.count()).where(EntrantRow.cohort_id == cohort_id).scalar_subquery()
    query = select(CohortRow.number, rounds, agents).where(CohortRow.id == cohort_id)
    number, played, playing = connection.execute(query).one()
    add_incident(connection, cohort_finished(number, at, played, playing))


def end_incidents(
    engine: Engine, kind: IncidentKind, at: datetime, about: str = "", but: Collection[str] = ()
) -> None:
    """What goes on of a kind is over, where its subject begins so, except for these subjects."""
    subject = col(IncidentRow.subject)
    mine = (
        IS_OPEN,
        IncidentRow.kind == kind,
        subject.startswith(about, autoescape=True),
        subject.not_in(but),
    )
    _change_incidents(engine, mine, ended_at=at)


def _change_incidents(engine: Engine, which: Sequence[Condition], **values: Any) -> None:
    """Change some incidents. Nearly always there are none: nothing is written then."""
    with reading(engine) as connection:
        if connection.execute(select(IncidentRow.id).where(*which).limit(1)).first() is None:
            return
    with engine.begin() as connection:
        connection.execute(update(IncidentRow).where(*which).values(**values))


def read_untold(engine: Engine, now: datetime, most: int) -> list[RecordedIncident]:
    """What is to be told now, the oldest first."""
    ready = or_(col(IncidentRow.next_try_at).is_(None), col(IncidentRow.next_try_at) <= now)
    with reading(engine) as connection:
        return _read_incidents(
            connection,
            select(IncidentRow.__table__).where(*IS_UNTOLD, ready).order_by(IncidentRow.id).limit(most),
        )


def record_delivery(
    engine: Engine, incident_id: int, told_at: datetime | None, next_try_at: datetime | None
) -> None:
    """That somebody was told, or that it was tried in vain and is to be tried again."""
    values = {"tries": IncidentRow.tries + 1, "told_at": told_at, "next_try_at": next_try_at}
    with engine.begin() as connection:
        connection.execute(update(IncidentRow).where(IncidentRow.id == incident_id).values(**values))


def drop_untold(engine: Engine) -> None:
    """There is nobody to be told: whoever is, later, doesn't hear of it any more."""
    _change_incidents(engine, IS_UNTOLD, tries=MOST_TRIES)


def read_ongoing_incidents(connection: Connection, kind: IncidentKind, about: str) -> list[RecordedIncident]:
    """Return the incidents of a kind that go on and whose subject begins so, the oldest first."""
    subject = col(IncidentRow.subject).startswith(about, autoescape=True)
    rows = select(IncidentRow.__table__).where(IS_OPEN, IncidentRow.kind == kind, subject)
    return _read_incidents(connection, rows.order_by(IncidentRow.id))


def read_recent_incidents(
    connection: Connection, most: int, only_open: bool = False
) -> list[RecordedIncident]:
    """The newest incidents, or the newest of those that go on."""
    rows = select(IncidentRow.__table__).where(IS_OPEN) if only_open else select(IncidentRow.__table__)
    return _read_incidents(connection, rows.order_by(col(IncidentRow.id).desc()).limit(most))


def _read_incidents(connection: Connection, rows: AnySelect) -> list[RecordedIncident]:
    return [
        RecordedIncident(
            id=row.id,
            incident=Incident(row.kind, row.subject, row.at, body.get("text", ""), body.get("data", {})),
            **attributes_of(row, "ended_at", "told_at", "tries", "next_try_at"),
        )
        for row in connection.execute(rows)
        for body in [json.loads(row.body)]
    ]


TWO_NEWEST_TIMES = select(RoundRow.at).distinct().order_by(col(RoundRow.at).desc()).limit(2)
LAST_CALL = (
    select(func.max(CallRow.id))
    .where(CallRow.round_id == RoundRow.id, CallRow.entrant_id == EntrantRow.id)
    .correlate(RoundRow.__table__, EntrantRow.__table__)
    .scalar_subquery()
)
HAS_UNPRICED = (
    exists()
    .where(
        clause(CallRow.round_id == RoundRow.id),
        clause(CallRow.entrant_id == EntrantRow.id),
        col(CallRow.cost).is_(None),
        col(CallRow.error_code).is_(None),
    )
    .correlate(RoundRow.__table__, EntrantRow.__table__)
)
ROUND_ENDS = (
    select(
        RoundRow.id,
        col(CohortRow.number).label("cohort"),
        RoundRow.number,
        RoundRow.at,
        RoundRow.done,
        EntrantRow.name,
        PLAYED_SETTINGS,
        TurnRow.status,
        TurnRow.note,
        CallRow.error_message,
        HAS_UNPRICED.label("unpriced"),
    )
    .select_from(
        joined(RoundRow, CohortRow, EntrantRow)
        .outerjoin(
            TurnRow, clause(and_(TurnRow.round_id == RoundRow.id, TurnRow.entrant_id == EntrantRow.id))
        )
        .outerjoin(CallRow, clause(and_(CallRow.id == LAST_CALL, CallRow.error_code == "budget")))
    )
    .where(col(RoundRow.at).in_(TWO_NEWEST_TIMES))
    .order_by(RoundRow.at, CohortRow.number, EntrantRow.position)
)


def read_round_ends(engine: Engine) -> list[RoundEnd]:
    """The rounds of the two newest decision times: those before are over, and stay as they are."""
    rounds: dict[int, list[Any]] = defaultdict(list)
    with reading(engine) as connection:
        for row in connection.execute(ROUND_ENDS):
            rounds[row.id].append(row)
    return [_round_end(rows) for rows in rounds.values()]


def _round_end(rows: Sequence[Any]) -> RoundEnd:
    one = rows[0]
    return RoundEnd(
        cohort=one.cohort,
        number=one.number,
        at=one.at,
        done=bool(one.done),
        statuses={row.name: row.status for row in rows},
        models=frozenset(row.name for row in rows if json.loads(row.settings).get("model")),
        refused={row.name: row.error_message for row in rows if row.error_message},
        waiting={row.name: row.note for row in rows if row.status == "waiting"},
        unpriced=frozenset(row.name for row in rows if row.unpriced),
    )
