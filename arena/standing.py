"""The status of an arena, from one look at its record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from arena.budget import midnight
from arena.condition import Due, judged
from arena.expected import KEEP_DECIDING, Expected, Starts, next_cohort, next_round, rounds_of
from arena.incidents import Told
from arena.lease import is_gone
from arena.model import REHEARSAL, JobState
from arena.schedule import JOBS, next_time
from arena.status import Calendar, JobLine, Limit, Playing, RoundState, Spend, Status
from arena.store import costs, status
from arena.store.database import reading
from arena.store.held import read_held
from arena.store.incidents import recent
from arena.store.jobs import read_jobs

if TYPE_CHECKING:
    from arena.config import Config
    from arena.store.frame import Connection
    from arena.store.record import Record

DAY = timedelta(days=1)
NEWEST = 5
"""So many of the newest incidents are shown, and so many of those that go on."""
PRICES = ("quotes", "catalogue")
"""The jobs that read prices."""


def source_of(
    record: "Record",
    config: "Config",
    now: Callable[[], datetime],
    me: str = "",
) -> Callable[[], Status]:
    """What looks up the status of a config's record each time it is called, from any thread."""

    def source() -> Status:
        at = now()
        with reading(record.engine) as connection:
            return look_by(connection, at, config, me)

    return source


def look_by(
    connection: "Connection", now: datetime, config: "Config | None", me: str = "", pretended: bool = False
) -> Status:
    """How an arena stands at a time by its config; by its record alone, where there is none."""
    began = next((starts_at for _, starts_at in status.read_starts(connection)), None)
    return look(connection, now, _wanted(config, now, began, me), pretended)


def _wanted(config: "Config | None", now: datetime, began: datetime | None, me: str) -> Expected:
    if config is None:
        return Expected()
    from arena.plan import expected_of  # with all that cohorts are made of: not for those who have no config

    return expected_of(config, now, began, me)


def look(connection: "Connection", now: datetime, expected: Expected, pretended: bool = False) -> Status:
    """How an arena stands at a time, which may be only `pretended`."""
    playing, rounds = status.read_playing(connection), status.read_rounds(connection)
    calendar, due = _calendar(connection, playing, rounds, now, expected)
    held, looked_at = read_held(connection, {one.id: one.quote_age for one in playing})
    states = read_jobs(connection)
    jobs = _jobs(states, now, expected)
    read = (status.last_sync(connection, {one.venue for one in playing}), looked_at, *_read(jobs))
    found = Status(
        at=now,
        clock="pretended" if pretended else "mixed" if REHEARSAL in states else "real",
        duty=status.read_duty(connection, lambda holder: holder == expected.me or not is_gone(holder)),
        calendar=calendar,
        playing=tuple(playing),
        rounds=tuple(rounds),
        turns=status.count_turns(connection),
        spend=_spend(connection, now, expected, rounds),
        under_way=costs.read_under_way(connection),
        held=held,
        looked_at=max((at for at in read if at is not None), default=None),
        asides=tuple(status.read_asides(connection, now - DAY)),
        jobs=tuple(jobs),
        incidents=_incidents(connection),
    )
    return judged(found, due)


def _calendar(
    connection: "Connection",
    playing: Sequence[Playing],
    rounds: Sequence[RoundState],
    now: datetime,
    expected: Expected,
) -> tuple[Calendar, Due]:
    """What was due and what is to come, and the last round of each cohort whose time has come.

    A world that is made up or recorded has come as far as it was played.
    """
    starts: Starts = status.read_starts(connection)
    newest = max((round.at for round in rounds), default=None)
    live = any(one.live for one in playing) if expected.live is None else expected.live
    until = now if live or newest is None else newest
    keep = expected.plan.keep_deciding if expected.plan else KEEP_DECIDING
    to_play = {one.number: rounds_of(one, starts, keep) for one in playing}
    due = {cohort: [round for round in found if round[1] <= until] for cohort, found in to_play.items()}
    begun, done = status.count_ended_rounds(connection)
    calendar = Calendar(
        cohorts=len(starts),
        due=begun + sum(map(len, due.values())),
        done=done + sum(round.done and round.cohort in to_play for round in rounds),
        next_round=next_round([at for found in to_play.values() for _, at in found], expected, until),
        next_cohort=next_cohort(starts, newest, expected, now),
    )
    return calendar, {cohort: found[-1] for cohort, found in due.items() if found}


def _spend(
    connection: "Connection", now: datetime, expected: Expected, rounds: Sequence[RoundState]
) -> Spend:
    """What was spent, also of each budget; of those that there are several of, of the one that is nearest."""
    day = midnight(now)
    today = costs.spent_since(connection, day)
    limits = list[Limit]()
    for scope, limit in expected.limits.items():
        if scope == "day":
            limits.append(Limit(scope, "", today, limit))
        elif scope == "round":
            limits.append(Limit(scope, *costs.dearest_round(connection, [x.id for x in rounds]), limit))
        elif scope == "agent":
            limits.append(Limit(scope, *costs.dearest_agent(connection), limit))
        elif scope == "arena":
            limits.append(Limit(scope, "", costs.spent_ever(connection), limit))
    return Spend(today, costs.spent_since(connection, day.replace(day=1)), tuple(limits))


def _jobs(states: Mapping[str, JobState], now: datetime, expected: Expected) -> list[JobLine]:
    """How each job went last, and when the config's are due next."""
    known = {job.name: job for job in expected.jobs}
    return [
        JobLine(**asdict(state), next_at=next_time(known[name], state, now) if name in known else None)
        for name, state in states.items()
        if name in JOBS
    ]


def _read(jobs: Sequence[JobLine]) -> Iterator[datetime | None]:
    """When jobs last read prices."""
    return (job.ended_at for job in jobs if job.name in PRICES and not job.failures)


def _incidents(connection: "Connection") -> tuple[Told, ...]:
    """The newest incidents, and before them those that go on."""
    found = [*recent(connection, NEWEST, only_open=True), *recent(connection, NEWEST)]
    return tuple({told.id: told for told in found}.values())
