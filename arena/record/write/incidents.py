"""Incidents in the record: an outbox, of which each is told once, and a look at the rounds they come from."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, and_, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from arena.record.model.incident import LASTING, Incident, Kind, RoundEnd, Told, finished
from arena.record.schema.database import reading
from arena.record.schema.tables import CALL, COHORT, ENTRANT, INCIDENT, ROUND, TURN
from markets.hashes import canonical

MOST_TRIES = 30
"""After so many tries, which take a day, nobody is told any more."""
OPEN = INCIDENT.c.ended_at.is_(None)
UNTOLD = (INCIDENT.c.told_at.is_(None), INCIDENT.c.tries < MOST_TRIES)


def note(engine: Engine, found: Sequence[Incident], unless: str = "") -> None:
    """Put in what isn't there yet, unless one of its kind goes on whose subject begins like that."""
    if not found:
        return
    with engine.begin() as connection:
        for incident in found:
            if not (unless and _goes_on(connection, incident.kind, unless)):
                add(connection, incident)


def add(connection: Connection, incident: Incident) -> None:
    """An incident, once."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = {
        "kind": incident.kind,
        "subject": incident.subject,
        "at": incident.at,
        "body": canonical({"text": incident.text, "data": incident.data}),
        "tries": 0,
        "ended_at": None if incident.kind in LASTING else incident.at,
    }
    connection.execute(insert(INCIDENT).values(**row).on_conflict_do_nothing())


def add_finished(connection: Connection, cohort_id: int, at: datetime) -> None:
    """That a cohort has ended, in the transaction in which it does."""
    rounds = select(func.count()).where(ROUND.c.cohort_id == cohort_id).scalar_subquery()
    agents = select(func.count()).where(ENTRANT.c.cohort_id == cohort_id).scalar_subquery()
    row = connection.execute(select(COHORT.c.number, rounds, agents).where(COHORT.c.id == cohort_id)).one()
    number, played, playing = row
    add(connection, finished(number, at, played, playing))


def _goes_on(connection: Connection, kind: Kind, prefix: str) -> bool:
    mine = (OPEN, INCIDENT.c.kind == kind, INCIDENT.c.subject.startswith(prefix, autoescape=True))
    return connection.execute(select(INCIDENT.c.id).where(*mine).limit(1)).first() is not None


def end(engine: Engine, kind: Kind, at: datetime, about: str = "", but: Collection[str] = ()) -> None:
    """What goes on of a kind is over, where its subject begins so, except for these subjects."""
    mine = [OPEN, INCIDENT.c.kind == kind, INCIDENT.c.subject.startswith(about, autoescape=True)]
    mine += [INCIDENT.c.subject.not_in(but)] if but else []
    with reading(engine) as connection:
        if connection.execute(select(INCIDENT.c.id).where(*mine).limit(1)).first() is None:
            return  # as nearly always: nothing is written then
    with engine.begin() as connection:
        connection.execute(update(INCIDENT).where(*mine).values(ended_at=at))


def to_tell(engine: Engine, now: datetime, most: int) -> list[Told]:
    """What is to be told now, the oldest first."""
    ready = or_(INCIDENT.c.next_try_at.is_(None), INCIDENT.c.next_try_at <= now)
    with reading(engine) as connection:
        return _read(connection, select(INCIDENT).where(*UNTOLD, ready).order_by(INCIDENT.c.id).limit(most))


def tried(engine: Engine, id: int, told_at: datetime | None, next_try_at: datetime | None) -> None:
    """That somebody was told, or that it was tried in vain and is to be tried again."""
    values = {"tries": INCIDENT.c.tries + 1, "told_at": told_at, "next_try_at": next_try_at}
    with engine.begin() as connection:
        connection.execute(update(INCIDENT).where(INCIDENT.c.id == id).values(**values))


def let_go(engine: Engine) -> None:
    """There is nobody to be told: whoever is, later, doesn't hear of it any more."""
    with reading(engine) as connection:
        if connection.execute(select(INCIDENT.c.id).where(*UNTOLD).limit(1)).first() is None:
            return
    with engine.begin() as connection:
        connection.execute(update(INCIDENT).where(*UNTOLD).values(tries=MOST_TRIES))


def recent(connection: Connection, most: int, only_open: bool = False) -> list[Told]:
    """The newest incidents, or the newest of those that go on."""
    rows = select(INCIDENT).where(OPEN) if only_open else select(INCIDENT)
    return _read(connection, rows.order_by(INCIDENT.c.id.desc()).limit(most))


def _read(connection: Connection, rows: Select[Any]) -> list[Told]:
    return [_told(row) for row in connection.execute(rows)]


def _told(row: Row[Any]) -> Told:
    body = json.loads(row.body)
    incident = Incident(row.kind, row.subject, row.at, body.get("text", ""), body.get("data", {}))
    return Told(row.id, incident, row.ended_at, row.told_at, row.tries, row.next_try_at)


TWO_NEWEST = select(ROUND.c.at).distinct().order_by(ROUND.c.at.desc()).limit(2)
LAST_CALL = (
    select(func.max(CALL.c.id))
    .where(CALL.c.round_id == ROUND.c.id, CALL.c.entrant_id == ENTRANT.c.id)
    .correlate(ROUND, ENTRANT)
    .scalar_subquery()
)
ENDS = (
    select(
        ROUND.c.id,
        COHORT.c.number.label("cohort"),
        ROUND.c.number,
        ROUND.c.at,
        ROUND.c.done,
        ENTRANT.c.name,
        ENTRANT.c.settings,
        TURN.c.verdict,
        CALL.c.error_message,
    )
    .select_from(
        ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .join(ENTRANT, ENTRANT.c.cohort_id == COHORT.c.id)
        .outerjoin(TURN, and_(TURN.c.round_id == ROUND.c.id, TURN.c.entrant_id == ENTRANT.c.id))
        .outerjoin(CALL, and_(CALL.c.id == LAST_CALL, CALL.c.error_code == "budget"))
    )
    .where(ROUND.c.at.in_(TWO_NEWEST))
    .order_by(ROUND.c.at, COHORT.c.number, ENTRANT.c.position)
)


def newest_rounds(engine: Engine) -> list[RoundEnd]:
    """The rounds of the two newest decision times: those before are over, and stay as they are."""
    rounds: dict[int, list[Any]] = defaultdict(list)
    with reading(engine) as connection:
        for row in connection.execute(ENDS):
            rounds[row.id].append(row)
    return [_round_end(rows) for rows in rounds.values()]


def _round_end(rows: Sequence[Any]) -> RoundEnd:
    one = rows[0]
    return RoundEnd(
        cohort=one.cohort,
        number=one.number,
        at=one.at,
        done=bool(one.done),
        verdicts={row.name: row.verdict for row in rows},
        models=frozenset(row.name for row in rows if json.loads(row.settings).get("model")),
        refused={row.name: row.error_message for row in rows if row.error_message},
    )
