"""The records of `arena run` about itself: its leases, the states of its jobs, and incidents.

A lease has one holder, a count of its renewals, and a token that grows by one with every holder. Who writes
under a lease has its token checked in the same transaction, so one that was taken for dead and wakes late
writes nothing. A job has one row. Incidents are an outbox, from which each is sent once.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, Connection, Engine, bindparam, exists, func
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
from arena.record.schema.dialects import NOW, BigInt
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.statements import attributes_of, new_rows
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import (
    AnySelect,
    clause,
    col,
    columns_of,
    joined,
    read_objects,
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
OF_DUTY = LeaseRow.name == bindparam("duty")
OWN_LEASE = (OF_DUTY, LeaseRow.token == bindparam("held"))
HELD_LEASE = select(LeaseRow.token, LeaseRow.holder, LeaseRow.beat).where(OF_DUTY).with_for_update()
TAKE_LEASE = (
    update(LeaseRow)
    .where(OF_DUTY)
    .values(token=LeaseRow.token + 1, holder=bindparam("by"), beat=0, renewed_at=NOW)
)
RENEW_LEASE = (
    update(LeaseRow)
    .where(*OWN_LEASE, col(LeaseRow.beat).is_not(None))
    .values(beat=func.coalesce(LeaseRow.beat, 0) + 1, renewed_at=NOW)
)
RELEASE_LEASE = update(LeaseRow).where(*OWN_LEASE).values(beat=None, renewed_at=NOW)
FENCE_HOLDS = select(LeaseRow.token).where(*OWN_LEASE).with_for_update(read=True)


def take_lease(connection: Connection, name: str, holder: str, is_over: Callable[[Hold], bool]) -> int | None:
    """Take a lease that is free or whose holder is dead; return its token, or None if it is held."""
    connection.execute(new_rows(LeaseRow).values(name=name, **FIRST_LEASE).on_conflict_do_nothing())
    row = connection.execute(HELD_LEASE, {"duty": name}).one()
    is_held = row.beat is not None and row.holder != holder
    if is_held and not is_over(Hold(f"duty {name}", row.holder, (row.token, row.beat))):
        return None

    connection.execute(TAKE_LEASE, {"duty": name, "by": holder})
    return int(row.token) + 1


@dataclass(frozen=True, slots=True)
class LeaseState:
    """Who has a lease, or had it last; `beat` is None once it was let go of."""

    holder: str
    beat: int | None
    renewed_at: datetime | None


LEASE_STATE = select(*columns_of(LeaseRow, LeaseState.__dataclass_fields__)).where(OF_DUTY)


def read_lease(connection: Connection, name: str) -> LeaseState | None:
    """Return the state of a lease; None if nobody ever had it."""
    rows = read_objects(LeaseState, connection.execute(LEASE_STATE, {"duty": name}))
    return rows[0] if rows else None


def renew_lease(connection: Connection, name: str, token: int) -> bool:
    """Renew a lease; return whether it is still our own."""
    return connection.execute(RENEW_LEASE, {"duty": name, "held": token}).rowcount == 1


def release_lease(connection: Connection, name: str, token: int) -> None:
    """Release a lease, so that the next process need not wait, unless it was taken over."""
    connection.execute(RELEASE_LEASE, {"duty": name, "held": token})


def check_fence(connection: Connection, fence: Fence) -> None:
    """Raise `LeaseLost` unless a lease still has its token; it keeps it until the transaction ends."""
    mine = {"duty": fence.name, "held": fence.token}
    if connection.execute(FENCE_HOLDS, mine).first() is None:
        raise LeaseLost(fence.name)


JOB_COLUMNS = columns_of(JobRow, JobState.__dataclass_fields__)
JOBS = select(*JOB_COLUMNS).order_by(JobRow.name)
NEW_JOB = new_rows(JobRow)
PUT_JOB = NEW_JOB.on_conflict_do_update(
    index_elements=["name"], set_={column.name: NEW_JOB.excluded[column.name] for column in JOB_COLUMNS}
)


def read_jobs(connection: Connection) -> dict[str, JobState]:
    """Return the states of all jobs by name."""
    return {job.name: job for job in read_objects(JobState, connection.execute(JOBS))}


def put_job(connection: Connection, state: JobState) -> None:
    """Store the state of a job, replacing the earlier one."""
    connection.execute(PUT_JOB, asdict(state))


IS_OPEN = col(IncidentRow.ended_at).is_(None)
IS_UNTOLD = (col(IncidentRow.told_at).is_(None), IncidentRow.tries < MOST_TRIES)
ONGOING = (
    IS_OPEN,
    IncidentRow.kind == bindparam("of_kind"),
    col(IncidentRow.subject).startswith(bindparam("about"), escape="/"),
)
"""The conditions that an incident goes on, is of a kind, and has a subject that begins so."""
ANY_ONGOING = select(IncidentRow.id).where(*ONGOING).limit(1)
NEW_INCIDENT = new_rows(IncidentRow).on_conflict_do_nothing()


def _ongoing_parameters(kind: IncidentKind, about: str) -> dict[str, Any]:
    """Return the parameters of `ONGOING`; what stands for any letter in a pattern is taken as it is."""
    escaped = re.sub("[/%_]", r"/\g<0>", about)
    return {"of_kind": kind, "about": escaped}


def add_incidents(engine: Engine, incidents: Sequence[Incident], unless: str = "") -> None:
    """Add new incidents, unless one of the same kind and a subject with the same start is ongoing."""
    if not incidents:
        return

    with engine.begin() as connection:
        for incident in incidents:
            parameters = _ongoing_parameters(incident.kind, unless)
            if not unless or connection.execute(ANY_ONGOING, parameters).first() is None:
                add_incident(connection, incident)


def add_incident(connection: Connection, incident: Incident) -> None:
    """Add an incident, once."""
    row = {
        "kind": incident.kind,
        "subject": incident.subject,
        "at": incident.at,
        "body": canonical({"text": incident.text, "data": incident.data}),
        "tries": 0,
        "ended_at": None if incident.kind in LASTING_KINDS else incident.at,
    }
    connection.execute(NEW_INCIDENT, row)


COHORT_ID: BindParameter[int] = bindparam("cohort_id")
FINISHED_COHORT = select(
    CohortRow.number,
    select(func.count()).where(RoundRow.cohort_id == COHORT_ID).scalar_subquery(),
    select(func.count()).where(EntrantRow.cohort_id == COHORT_ID).scalar_subquery(),
).where(CohortRow.id == COHORT_ID)


def add_cohort_finished(connection: Connection, cohort_id: int, at: datetime) -> None:
    """Add the incident that a cohort has ended, in the transaction in which it does."""
    number, rounds, entrants = connection.execute(FINISHED_COHORT, {"cohort_id": cohort_id}).one()
    add_incident(connection, cohort_finished(number, at, rounds, entrants))


ENDING = (*ONGOING, col(IncidentRow.subject).not_in(bindparam("but", expanding=True)))
ANY_ENDING = select(IncidentRow.id).where(*ENDING).limit(1)
END_INCIDENTS = update(IncidentRow).where(*ENDING).values(ended_at=bindparam("ends"))


def end_incidents(
    engine: Engine, kind: IncidentKind, at: datetime, about: str = "", but: Collection[str] = ()
) -> None:
    """End ongoing incidents of a kind whose subject starts so, except for these subjects."""
    parameters = _ongoing_parameters(kind, about) | {"but": list(but)}
    with reading(engine) as connection:
        if connection.execute(ANY_ENDING, parameters).first() is None:
            return  # as is usual: nothing is written

    with engine.begin() as connection:
        connection.execute(END_INCIDENTS, parameters | {"ends": at})


LONGEST_REST = timedelta(hours=1)
"""After so long at most a message that did not arrive is sent again. If one has longer to go, the clock was
put back, and it is sent at once."""
INCIDENTS: AnySelect = select(IncidentRow.__table__)


MOST: BindParameter[int] = bindparam("most", type_=BigInt)
IS_READY = or_(
    col(IncidentRow.next_try_at).is_(None),
    col(IncidentRow.next_try_at) <= bindparam("now"),
    col(IncidentRow.next_try_at) > bindparam("latest"),
)
UNTOLD = INCIDENTS.where(*IS_UNTOLD, IS_READY).order_by(IncidentRow.id).limit(MOST)


def read_untold(engine: Engine, now: datetime, most: int) -> list[RecordedIncident]:
    """Return the incidents to send now, oldest first."""
    with reading(engine) as connection:
        return _read_incidents(connection, UNTOLD, now=now, latest=now + LONGEST_REST, most=most)


def record_delivery(
    engine: Engine, incident_id: int, told_at: datetime | None, next_try_at: datetime | None
) -> None:
    """Record that an incident was delivered, or that this failed and is to be retried."""
    values = {"tries": IncidentRow.tries + 1, "told_at": told_at, "next_try_at": next_try_at}
    with engine.begin() as connection:
        connection.execute(update(IncidentRow).where(IncidentRow.id == incident_id).values(**values))


ANY_UNTOLD = select(IncidentRow.id).where(*IS_UNTOLD).limit(1)
DROP_UNTOLD = update(IncidentRow).where(*IS_UNTOLD).values(tries=MOST_TRIES)


def drop_untold(engine: Engine) -> None:
    """Drop all unsent incidents, for an arena without a webhook."""
    with reading(engine) as connection:
        if connection.execute(ANY_UNTOLD).first() is None:
            return

    with engine.begin() as connection:
        connection.execute(DROP_UNTOLD)


ONGOING_INCIDENTS = INCIDENTS.where(*ONGOING).order_by(IncidentRow.id)


def read_ongoing_incidents(connection: Connection, kind: IncidentKind, about: str) -> list[RecordedIncident]:
    """Return the ongoing incidents of a kind whose subject starts so, oldest first."""
    return _read_incidents(connection, ONGOING_INCIDENTS, **_ongoing_parameters(kind, about))


RECENT_INCIDENTS = INCIDENTS.order_by(col(IncidentRow.id).desc()).limit(MOST)
RECENT_OPEN_INCIDENTS = RECENT_INCIDENTS.where(IS_OPEN)


def read_recent_incidents(
    connection: Connection, most: int, only_open: bool = False
) -> list[RecordedIncident]:
    """Return the newest incidents, or the newest of those that go on."""
    query = RECENT_OPEN_INCIDENTS if only_open else RECENT_INCIDENTS
    return _read_incidents(connection, query, most=most)


def _read_incidents(connection: Connection, query: AnySelect, **values: Any) -> list[RecordedIncident]:
    incidents = []
    for row in connection.execute(query, values):
        body = json.loads(row.body)
        incident = Incident(row.kind, row.subject, row.at, body.get("text", ""), body.get("data", {}))
        delivery = attributes_of(row, "ended_at", "told_at", "tries", "next_try_at")
        incidents.append(RecordedIncident(id=row.id, incident=incident, **delivery))
    return incidents


TWO_NEWEST_TIMES = select(RoundRow.at).distinct().order_by(col(RoundRow.at).desc()).limit(2)
OF_ENTRANT_IN_ROUND = (
    clause(CallRow.round_id == RoundRow.id),
    clause(CallRow.entrant_id == EntrantRow.id),
)
LAST_CALL = (
    select(func.max(CallRow.id))
    .where(*OF_ENTRANT_IN_ROUND)
    .correlate(RoundRow.__table__, EntrantRow.__table__)
    .scalar_subquery()
)
HAS_UNPRICED = (
    exists()
    .where(*OF_ENTRANT_IN_ROUND, col(CallRow.cost).is_(None), col(CallRow.error_code).is_(None))
    .correlate(RoundRow.__table__, EntrantRow.__table__)
)
IS_OWN_TURN = clause(and_(TurnRow.round_id == RoundRow.id, TurnRow.entrant_id == EntrantRow.id))
IS_BUDGET_REFUSAL = clause(and_(CallRow.id == LAST_CALL, CallRow.error_code == "budget"))
ROUND_ENDS = (
    select(RoundRow.id, col(CohortRow.number).label("cohort"), RoundRow.number, RoundRow.at, RoundRow.done)
    .add_columns(EntrantRow.name, PLAYED_SETTINGS, TurnRow.status, TurnRow.note)
    .add_columns(CallRow.error_message, HAS_UNPRICED.label("unpriced"))
    .select_from(
        joined(RoundRow, CohortRow, EntrantRow)
        .outerjoin(TurnRow, IS_OWN_TURN)
        .outerjoin(CallRow, IS_BUDGET_REFUSAL)
    )
    .where(col(RoundRow.at).in_(TWO_NEWEST_TIMES))
    .order_by(RoundRow.at, CohortRow.number, EntrantRow.position)
)


def read_round_ends(engine: Engine) -> list[RoundEnd]:
    """Return the rounds of the two newest decision times: those before are over, and stay as they are."""
    rounds: dict[int, list[Any]] = defaultdict(list)
    with reading(engine) as connection:
        for row in connection.execute(ROUND_ENDS):
            rounds[row.id].append(row)
    return [_round_end(rows) for rows in rounds.values()]


def _round_end(rows: Sequence[Any]) -> RoundEnd:
    """Return a round by the rows of its entrants."""
    statuses = {}
    models = set()
    refused_by_budget = {}
    waiting = {}
    unpriced = set()
    for row in rows:
        statuses[row.name] = row.status
        if json.loads(row.settings).get("model"):
            models.add(row.name)
        if row.error_message:
            refused_by_budget[row.name] = row.error_message
        if row.status == "waiting":
            waiting[row.name] = row.note
        if row.unpriced:
            unpriced.add(row.name)

    first = rows[0]
    return RoundEnd(
        cohort=first.cohort,
        number=first.number,
        at=first.at,
        done=bool(first.done),
        statuses=statuses,
        models=frozenset(models),
        refused=refused_by_budget,
        waiting=waiting,
        unpriced=frozenset(unpriced),
    )
