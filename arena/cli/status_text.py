"""A status for people: one line a subject, and a table of the jobs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from arena.cli.output import print_table
from arena.operations.status import RoundCalendar, Status
from arena.record.model.incident import RecordedIncident
from arena.record.model.status import RoundState
from arena.record.write.operations import MOST_TRIES
from markets.millionths import ONE

CLOCKS = {
    "pretended": "the rehearsal's: it is {:%Y-%m-%d %H:%M} UTC there",
    "mixed": "this machine's, but the record is a rehearsal's: --clock FILE judges it by its own",
}
"""Whose time it is, where that is not plain."""
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def print_status(status: Status) -> None:
    """All of it."""
    print(status.word)
    for reason in status.reasons:
        print(f"  {reason.text}")
    print()
    for name, words in _lines(status):
        print(f"{name:<12}{words}")
    print_jobs(status)
    for told in status.incidents:
        print(incident_line(told))


def _lines(status: Status) -> Iterator[tuple[str, str]]:
    at, calendar, held = status.at, status.calendar, status.held
    if status.clock != "real":
        yield "clock", CLOCKS[status.clock].format(at)
    yield "running", _leader(status)
    for name, coming in (("next round", calendar.next_round), ("next cohort", calendar.next_cohort)):
        yield name, _coming(coming, calendar, at)
    yield "last round", _last(status.last)
    late = f", {_length(status.lag)} late" if status.lag else ""
    yield "rounds", f"{calendar.due:,} due, {calendar.done:,} done{late}"
    yield "turns", _counted(status.turns) or "none"
    yield "spent", f"{_dollars(status.spend.today)} today, {_dollars(status.spend.month)} this month"
    for limit in status.spend.limits:
        whose = f" ({limit.whose})" if limit.whose else ""
        yield f"per {limit.scope}", f"{_dollars(limit.spent)} of {_dollars(limit.limit)}{whose}"
    yield "calls", _calls(status)
    yield "positions", f"{held.positions:,} open in {held.markets:,} markets, {held.stale:,} at an old price"
    oldest = "" if held.oldest is None else f"; the oldest of those held is from {when(held.oldest, at)}"
    yield "prices", f"last read {when(status.looked_at, at)}{oldest}"
    yield "quarantine", _rejected(status)
    yield "backup", when(status.backup.ended_at if status.backup else None, at)


def _coming(coming: datetime | None, calendar: RoundCalendar, at: datetime) -> str:
    """When something comes next: a made-up world has a time of its own, and a first cohort starts at once."""
    if coming is None:
        return "–"
    if not calendar.live:
        return f"{coming:%Y-%m-%d %H:%M} UTC in its own time: arena round plays it"
    if not calendar.cohorts and coming <= at:
        return "now: arena run or arena round starts it"
    return when(coming, at)


def _leader(status: Status) -> str:
    leader = status.leader
    if leader is None:
        return "no: arena run plays every round in its time"
    who = f"process {leader.process} on {leader.host}"
    return who if leader.alive else f"no; {who} was until {leader.until:%Y-%m-%d %H:%M} UTC"


def _last(rounds: Sequence[RoundState]) -> str:
    if not rounds:
        return "none"
    turns = sum((Counter(one.turns) for one in rounds), Counter[str]())
    missing = sum(one.missing for one in rounds)
    turns.update({"missing": missing} if missing else {})
    of = ", ".join(f"{one.number} of cohort {one.cohort}" for one in rounds)
    return f"{rounds[0].at:%Y-%m-%d %H:%M} UTC, {of}: {_counted(turns)}"


def _calls(status: Status) -> str:
    calls = status.under_way
    words = f"{calls.calls:,} under way"
    if calls.lost:
        words += f"; {calls.lost:,} were lost with their worker, and may cost {_dollars(calls.lost_worst)}"
    return words


def _rejected(status: Status) -> str:
    parts = [f"{x.records:,} {x.venue} {x.kind} {x.code}" for x in status.quarantined]
    return ", ".join(parts) + " in the last day" if parts else "nothing in the last day"


def print_jobs(status: Status) -> None:
    """When each job was last done, and how that went."""
    rows = [
        (
            job.name,
            when(job.ended_at, status.at),
            job.failures or None,
            when(status.next_jobs.get(job.name), status.at),
            job.note or None,
        )
        for job in status.jobs
    ]
    if rows:
        print_table(("job", "last done", "failed", "next", "note"), rows)


def incident_line(told: RecordedIncident) -> str:
    """Something that happened, in a line."""
    incident = told.incident
    state = "" if told.ended_at else ", goes on"
    return f"{incident.at:%Y-%m-%d %H:%M} UTC  {incident.text} ({incident.kind}, {_webhook(told)}{state})"


def _webhook(told: RecordedIncident) -> str:
    if told.told_at is not None:
        return "told"
    if told.tries >= MOST_TRIES:
        return "nobody could be told"
    return f"not told yet, {told.tries} tries" if told.tries else "not told yet"


def when(at: datetime | None, now: datetime) -> str:
    """An instant, and how far away it is.

    >>> from datetime import UTC
    >>> when(datetime(2026, 1, 4, tzinfo=UTC), datetime(2026, 1, 3, 21, 30, tzinfo=UTC))
    '2026-01-04 00:00 UTC (in 2.5 h)'
    """
    if at is None:
        return "–"
    far = f"in {_length(at - now)}" if at > now else f"{_length(now - at)} ago"
    return f"{at:%Y-%m-%d %H:%M} UTC ({far})"


def _length(length: timedelta) -> str:
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if length >= 2 * unit:
            return f"{length / unit:.1f} {name}"
    return f"{length.total_seconds():.0f} s"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.2f}"
