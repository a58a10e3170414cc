"""A status for programs: what `arena status --json` and the health endpoint say. Amounts are in dollars."""

from datetime import datetime
from typing import Any

from arena.incidents import Told
from arena.status import JobLine, RoundState, Status
from markets.millionths import ONE


def as_data(status: Status) -> dict[str, Any]:
    """All of it."""
    spend, held = status.spend, status.held
    return brief(status) | {
        "clock": status.clock,
        "cohorts": {
            "started": status.calendar.cohorts,
            "playing": [one.number for one in status.playing],
            "next": _time(status.calendar.next_cohort),
        },
        "turns": dict(status.turns),
        "spend": {
            "today_usd": spend.today / ONE,
            "month_usd": spend.month / ONE,
            "budgets": [
                {"per": x.scope, "of": x.whose, "spent_usd": x.spent / ONE, "limit_usd": x.limit / ONE}
                for x in spend.limits
            ],
        },
        "calls": {
            "under_way": status.under_way.calls,
            "worst_usd": status.under_way.worst / ONE,
            "lost": status.under_way.lost,
            "lost_worst_usd": status.under_way.lost_worst / ONE,
        },
        "positions": {"open": held.positions, "markets": held.markets, "stale_markets": held.stale},
        "prices": {"read_at": _time(status.looked_at), "oldest_held": _time(held.oldest)},
        "set_aside": [
            {"venue": x.venue, "kind": x.kind, "code": x.code, "records": x.records} for x in status.asides
        ],
        "jobs": [_job(job) for job in status.jobs],
        "incidents": [as_incident(told) for told in status.incidents],
        "backup": None if status.backup is None else _time(status.backup.ended_at),
    }


def brief(status: Status) -> dict[str, Any]:
    """What a health check asks for: the word and why, who is on duty, and how the rounds go."""
    duty, calendar = status.duty, status.calendar
    return {
        "health": status.word,
        "reasons": [{"health": x.word, "code": x.code, "text": x.text} for x in status.reasons],
        "at": _time(status.at),
        "duty": duty
        and {
            "host": duty.host,
            "process": duty.process,
            "alive": duty.alive,
            "until": _time(duty.until),
        },
        "rounds": {
            "due": calendar.due,
            "done": calendar.done,
            "lag_seconds": status.lag.total_seconds(),
            "next": _time(calendar.next_round),
            "last": [_round(one) for one in status.last],
        },
    }


def as_incident(told: Told) -> dict[str, Any]:
    """Something that happened, and whether anyone was told."""
    return {
        "kind": told.incident.kind,
        "subject": told.incident.subject,
        "at": _time(told.incident.at),
        "text": told.incident.text,
        "data": dict(told.incident.data),
        "ended_at": _time(told.ended_at),
        "told_at": _time(told.told_at),
        "tries": told.tries,
        "next_try_at": _time(told.next_try_at),
    }


def _round(one: RoundState) -> dict[str, Any]:
    turns = dict(one.turns) | ({"missing": one.missing} if one.missing else {})
    place = {"cohort": one.cohort, "round": one.number, "at": _time(one.at)}
    return place | {"done": one.done, "turns": turns}


def _job(job: JobLine) -> dict[str, Any]:
    times = ("due_at", "started_at", "ended_at", "next_at")
    found = {name: _time(getattr(job, name)) for name in times}
    return {"name": job.name, "failures": job.failures, "note": job.note} | found


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
