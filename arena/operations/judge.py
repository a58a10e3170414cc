"""Judges the health of an arena by its status, in pure functions.

A reason is formed by cause: fifty agents whose key one provider refuses are one, and a job that fails since
its venue is down is part of that outage.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from shlex import quote

from agents.text import one_line
from arena.calls.wait_reports import wait_text
from arena.cohorts.replacements import codes_of, unproven_hint
from arena.cohorts.schedule import PLAY_WINDOW, retry_at
from arena.errors import count_text, first_names
from arena.operations.health import (
    HEALTH_WORDS,
    PRUNE,
    HealthReason,
    HealthWord,
    Status,
    awaited_text,
    merged_reasons,
)
from arena.record.model.cohort import JobState, UnansweredTurn
from arena.record.model.incident import FILE_CODES, IncidentKind, RecordedIncident
from arena.record.model.reservation import midnight
from arena.record.model.status import RoundState
from arena.record.queries.cohorts import StoredCohort

GRACE = timedelta(minutes=15)
"""How long after its time a round may begin."""
PATIENCE = timedelta(hours=1)
"""How long a round may take."""
FAILURES = 3
"""After so many in a row a job is not expected to recover by itself."""
DAY = timedelta(days=1)
SHOWN_FOR = timedelta(hours=1)
"""How long something is told that was over as it happened."""
BACKUP_AGE = timedelta(days=2)
CLOCK_TOLERANCE = timedelta(minutes=2)
LEAST_FREE = 1_000_000_000
"""This many bytes should be free beside the record, or twice its size: backups and the log need room."""
RECORD_RETRY = timedelta(seconds=10)
"""After so long `arena run` tries again to use a record that can't be used."""
DISK_FAULTS = ("disk_full", "disk_error")
DISK_WORDS = ("the disk is full", "the disk failed")
"""How the notes of jobs begin that could not write."""
NEARLY_FULL = 16_000_000
"""With fewer bytes the disk is nearly full: the log of a round may need as many."""
FULL = 1_000_000
"""With fewer bytes the disk is full."""
FREE_SOME = "delete old backups or other files, or move the record"
"""What makes room on a disk at once."""
PRUNING = "pruning makes room for new rows in the record, but frees none on the disk"
"""What the command beside it does for a disk."""
PRICE_JOBS = ("quotes", "catalogue")
"""The jobs that read prices."""
LATE_CODES = ("due", "late", "playing", "unfinished")
"""The reasons for which a round that should have been played counts as late."""
LONGEST_CAUSE = 200
"""So many characters of what a server said are shown: some repeat the whole question."""
MOST_AGENTS = 3
"""So many agents of a reason are named; the others are counted."""

AGENT_TROUBLES = ("all_agents_failed", "agent_failing")
"""Incidents of agents, which end with a turn that is played well."""
VENUE_TROUBLES = ("venue_down", "catalogue_incomplete")
"""Incidents of venues for which rounds wait."""
RETRYING_JOBS: Mapping[str, tuple[str, ...]] = {
    "venue_down": (*PRICE_JOBS, "resolutions"),
    "catalogue_incomplete": ("catalogue",),
    "records_rejected": ("catalogue",),
    "market_unsettled": ("resolutions", "marks"),
    "site_unpublished": ("publish",),
    "verify_failed": ("verify", "backup"),
}
"""The jobs that try again what failed, by the code of the trouble."""
MODEL_TROUBLES: Mapping[str, tuple[str, str]] = {
    "auth": ("key_refused", "refuses the key"),
    "no_key": ("key_refused", "is asked without a key"),
    "payment": ("no_credit", "has no credit left"),
    "quota": ("quota_spent", "says that a quota is used up"),
    "rate_limit": ("rate_limited", "limits requests"),
    "refused": ("request_refused", "refuses the request"),
    "unreachable": ("server_gone", "can't be reached"),
    "timeout": ("server_gone", "does not answer in time"),
    "overloaded": ("server_failing", "answers with errors"),
}
"""The code of a reason, and what a model's server does, by the code of the calls' errors."""
OTHER_TROUBLE = ("server_failing", "gives no usable answer")

DueRounds = Mapping[int, tuple[int, datetime]]
"""The last round whose time has come, number and time, by the number of its cohort."""


def judge_health(status: Status, due: DueRounds) -> Status:
    """Return the status with the reasons of its health, the worst first, and with its lag."""
    begun = {(state.cohort, state.number): state for state in status.rounds}
    waiting_rounds = []
    lag = timedelta()

    for stored in status.playing:
        cohort = stored.cohort
        if cohort.number not in due or stored.paused_at is not None:
            continue

        number, at = due[cohort.number]
        reason = _round_reason(stored, number, at, begun.get((cohort.number, number)), status)
        if reason is not None:
            waiting_rounds.append(reason)
            if reason.code in LATE_CODES and cohort.stamp == "live":
                lag = max(lag, status.at - at)

    reasons = [*_record_reasons(status), *_model_reasons(status)]
    reasons += [*_incident_reasons(status), *_job_reasons(status)]
    for round_reason in waiting_rounds:
        reasons = _with_round(reasons, round_reason)
    reasons += _step_reasons(status, [reason.cause for reason in reasons if reason.cause])
    reasons += [*_machine_reasons(status), *_waiting_reasons(status), *_unproven_agent_reasons(status)]
    reasons = merged_reasons(reasons)
    reasons.sort(key=lambda reason: HEALTH_WORDS.index(reason.word), reverse=True)
    return replace(status, reasons=tuple(reasons), lag=lag)


def _with_round(reasons: Sequence[HealthReason], waiting: HealthReason) -> list[HealthReason]:
    """Return the reasons with that of a round; or with the round as what waits, where one has its cause."""
    merged = []
    is_merged = False
    for reason in reasons:
        has_same_cause = waiting.cause != "" and reason.cause == waiting.cause
        if waiting.waits and (reason.waits == waiting.waits or has_same_cause):
            merged.append(replace(reason, waits=waiting.waits))
            is_merged = True
        else:
            merged.append(reason)

    if not is_merged:
        merged.append(waiting)
    return merged


def _round_reason(
    stored: StoredCohort, number: int, at: datetime, state: RoundState | None, status: Status
) -> HealthReason | None:
    """Return the reason from a cohort's last due round; None if the round is done."""
    which = f"round {number} of cohort {stored.cohort.number}"
    if state is not None and state.done:
        return None

    if stored.cohort.stamp != "live":
        if state is None or state.missing:
            reason = HealthReason("waiting", "unfinished", "not finished yet", where=which)
            return _with_failure(reason, stored, status)
        command = f"run --round --at {at:%Y-%m-%dT%H:%MZ}"
        message = "turns failed, and can be tried again"
        return HealthReason("waiting", "failed_turns", message, where=which, instead=command)

    if state is not None:
        return _begun_round_reason(which, state, stored, status)

    since = status.at - at
    if since <= GRACE:
        reason = HealthReason("waiting", "due", f"{which} is due")
    elif since <= PLAY_WINDOW or not status.running:
        text = f"{which} was due at {at:%Y-%m-%d %H:%M} UTC and has not begun"
        reason = HealthReason("late", "late", text)
    else:
        # The running process has passed over the round: nothing is to be done but to wait for the next one.
        return HealthReason("waiting", "missed", f"{which} was missed: {at:%Y-%m-%d %H:%M} UTC")

    return _with_failure(replace(reason, waits=which), stored, status)


def _with_failure(reason: HealthReason, stored: StoredCohort, status: Status) -> HealthReason:
    """Return the reason with the error of its round's last try, if that failed."""
    step = status.steps.get(f"cohort {stored.cohort.number}")
    if step is None or not step.failures:
        return reason
    return replace(reason, cause=step.note, since=step.due_at, next_try=retry_at(step))


def _begun_round_reason(
    which: str, state: RoundState, stored: StoredCohort, status: Status
) -> HealthReason | None:
    """Return the reason from a live round that has begun and isn't done."""
    since = status.at - state.taken_at
    if since > PLAY_WINDOW + GRACE:
        reason = HealthReason("late", "unfinished", "not finished yet", where=which)
        return _with_failure(reason, stored, status)

    if not state.missing:
        failed = state.turns.get("failed", 0)
        if failed <= len(status.unanswered.get(state.id, ())):
            return None  # their models' reasons say more
        text = f"{count_text(failed, 'turn')} in {which} failed and will be tried again"
        return HealthReason("waiting", "failed_turns", text)

    message = f"{count_text(state.missing, 'turn')} still to come in {which}"
    if since > PATIENCE:
        return _with_failure(HealthReason("late", "unfinished", message), stored, status)
    return _with_failure(HealthReason("waiting", "playing", message), stored, status)


@dataclass
class FailedModels:
    """Agents whose models failed in the same way at the same server, with the rounds that miss them."""

    turns: list[UnansweredTurn] = field(default_factory=list)
    rounds: list[RoundState] = field(default_factory=list)

    @property
    def agents(self) -> list[str]:
        """Return the agents, each once."""
        return list(dict.fromkeys(turn.agent for turn in self.turns))

    @property
    def cause(self) -> str:
        """Return the server's message, and the number of turns that it ended."""
        counts = Counter(f"{turn.code}: {turn.message}" for turn in self.turns)
        texts = []
        for error, count in counts.most_common(2):
            texts.append(f"{one_line(error, LONGEST_CAUSE)} ({count_text(count, 'turn')})")
        return "; ".join(texts)


def _model_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield a reason for each server and kind of failure, however many agents are affected."""
    groups: dict[tuple[str, str], FailedModels] = {}
    for state in status.rounds:
        for turn in status.unanswered.get(state.id, ()):
            server = status.around.servers.get(turn.agent) or turn.server
            group = groups.setdefault((server, turn.code), FailedModels())
            group.turns.append(turn)
            if state not in group.rounds:
                group.rounds.append(state)

    for (server, error), group in groups.items():
        code, _ = MODEL_TROUBLES.get(error, OTHER_TROUBLE)
        agents = group.agents
        ongoing = list(_ongoing_incidents_of(agents, status))
        lasts = bool(ongoing) or not all(turn.passing for turn in group.turns)
        starts = [turn.since for turn in group.turns]
        starts += [recorded.incident.at for recorded in ongoing if recorded.incident.kind == "agent_failing"]
        tries = [_next_asked(state, status) for state in group.rounds]
        waits = [f"round {state.number} of cohort {state.cohort}" for state in group.rounds if not state.done]
        yield HealthReason(
            word="trouble" if lasts else "waiting",
            code=code,
            text=_model_text(server or "the model", error, agents, status),
            about=agents[0],
            cause=group.cause,
            since=min(starts),
            next_try=min((at for at in tries if at is not None), default=None),
            waits=", ".join(waits),
            incidents=tuple(recorded.id for recorded in ongoing),
        )


def _model_text(server: str, error: str, agents: Sequence[str], status: Status) -> str:
    """Return what a model's server does to these agents; of a refused key, where that is read from."""
    _, words = MODEL_TROUBLES.get(error, OTHER_TROUBLE)
    if error != "auth":
        return f"{server} {words}: {agents_text(agents)}"

    place_by_agent = status.around.key_places
    places = list(dict.fromkeys(place_by_agent[agent] for agent in agents if agent in place_by_agent))
    keys = "keys" if len(places) > 1 else "key"
    text = f"{server} refuses the {keys} of {agents_text(agents)}"
    if places:
        text += f": {', '.join(places)}"
    return text


def agents_text(agents: Sequence[str]) -> str:
    """Return the names of agents, or of many their number and the first names.

    >>> agents_text(["eve"]), agents_text(["a", "b", "c", "d", "e"])
    ('eve', '5 agents (a, b, c and 2 more)')
    """
    names = first_names(agents, MOST_AGENTS)
    return names if len(agents) <= MOST_AGENTS else f"{len(agents):,} agents ({names})"


def _ongoing_incidents_of(agents: Sequence[str], status: Status) -> Iterator[RecordedIncident]:
    """Yield the ongoing incidents about some of these agents."""
    for recorded in _ongoing(status, AGENT_TROUBLES):
        if not set(_agents_of(recorded)).isdisjoint(agents):
            yield recorded


def _agents_of(recorded: RecordedIncident) -> Sequence[str]:
    """Return the agents that an incident is about, if it is about any."""
    data = recorded.incident.data
    if "agent" in data:
        return [data["agent"]]
    agents: Sequence[str] = data.get("agents", ())
    return agents


def _next_asked(state: RoundState, status: Status) -> datetime | None:
    """Return when the failed models of a round are asked again: in it, or in the next round."""
    step = status.steps.get(f"cohort {state.cohort}")
    retried_at = None
    if step is not None and step.failures and not state.done:
        retried_at = retry_at(step)

    stored = next((stored for stored in status.playing if stored.cohort.number == state.cohort), None)
    if stored is None or stored.cohort.stamp != "live":
        return retried_at

    # A live round is not played any more once its window is over.
    if retried_at is None or retried_at > state.taken_at + PLAY_WINDOW:
        return status.calendar.next_round
    return retried_at


def _ongoing(status: Status, kinds: Iterable[str]) -> Iterator[RecordedIncident]:
    """Yield the ongoing incidents of some kinds."""
    for recorded in status.incidents:
        if recorded.ended_at is None and recorded.incident.kind in kinds:
            yield recorded


def _incident_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield ongoing incidents that do not pass by themselves, and some that were just over.

    Calls at an unknown price are no trouble, and an agent without a key only waits. Agents whose models
    failed are named by their models' reasons.
    """
    explained_agents = {turn.agent for turn in chain.from_iterable(status.unanswered.values())}
    disk_incidents = list(_disk_incidents(status))
    for recorded in status.incidents:
        kind = recorded.incident.kind
        if recorded.ended_at is not None:
            if kind in ("lead_taken", "clock_stepped") and status.at - recorded.incident.at <= SHOWN_FOR:
                yield incident_reason(recorded, status)
            continue

        agents = _agents_of(recorded)
        if kind in AGENT_TROUBLES and agents and explained_agents.issuperset(agents):
            continue
        if kind in ("job_failing", "cost_unknown"):
            continue
        if _is_disk_nearly_full(status) and recorded in disk_incidents:  # the disk has a reason of its own
            continue
        yield incident_reason(recorded, status)


WAITING_KINDS: frozenset[IncidentKind] = frozenset(
    {"agent_waiting", "lead_taken", "clock_stepped", "workers_gone"}
)
"""Incidents for which nothing has to be done."""


def incident_reason(recorded: RecordedIncident, status: Status) -> HealthReason:
    """Return an incident as a reason, with its cause, the next try, and what waits for that."""
    incident = recorded.incident
    data = incident.data
    text = incident.text
    where = ""
    if incident.kind == "all_agents_failed":  # its text names one round, a merged line names all
        if "round" in data:
            where = f"round {data['round']} of cohort {data['cohort']}"
        text = text.removesuffix(f" ({where})")

    # What the sentence says already is no further cause.
    cause = str(data.get("message") or "")
    if cause in text:
        cause = ""
    if incident.kind == "records_rejected":
        own_counts = [count for count in status.quarantined if count.venue == data.get("venue")]
        cause = ", ".join(f"{count.records:,} {count.kind} {count.code}" for count in own_counts)

    reason = HealthReason(
        word="waiting" if incident.kind in WAITING_KINDS else "trouble",
        code=incident.kind,
        text=text,
        about=str(data.get("agent") or data.get("market") or data.get("job") or ""),
        where=where,
        cause=cause,
        since=incident.at,
        next_try=_next_try(recorded, status),
        waits=_waiting_text(recorded, status),
        instead=_mending_command(recorded, status),
        incidents=(recorded.id,),
    )
    if incident.kind == "heads_unpublished":
        since = status.heads.failing_since or incident.at
        heads = count_text(status.heads.newest - status.heads.published, "head")
        return replace(reason, since=since, cause=status.heads.error, waits=heads, text=UNPUBLISHED)
    return reason


UNPUBLISHED = "heads of the record can't be published"


def _restore_command(status: Status) -> str:
    """Return the command that puts the newest backup in the place of the record."""
    return f"admin restore {status.around.backup_file or '…'} --force"


def _clock_command(file: str) -> str:
    """Return the command that looks at a rehearsal's clock again; empty without its file."""
    return f"status --clock {quote(file)}" if file else ""


def _mending_command(recorded: RecordedIncident, status: Status) -> str:
    """Return the command of an incident if it doesn't follow from the code alone, else an empty text."""
    kind = recorded.incident.kind
    fault = recorded.incident.data.get("reason")
    if kind == "clock_stepped":
        return _clock_command(recorded.incident.data.get("clock", ""))
    if kind == "venue_down" and recorded.incident.data.get("code") in FILE_CODES:
        return "run --round"
    if kind not in ("verify_failed", "record_unusable"):
        return ""
    if fault == "damaged":
        return _restore_command(status)
    if fault in DISK_FAULTS:
        return PRUNE
    return ""


def _next_try(recorded: RecordedIncident, status: Status) -> datetime | None:
    """Return when an incident's cause is retried by itself; None if it isn't, or nothing runs."""
    kind = recorded.incident.kind
    if kind in (*AGENT_TROUBLES, "agent_waiting"):
        next_round = status.calendar.next_round
        # A round of a season with its own time comes as soon as somebody plays on.
        return next_round if next_round is None or status.calendar.live else status.at
    if kind == "heads_unpublished":
        return status.heads.next_try_at
    if kind == "record_unusable":
        return status.at + RECORD_RETRY

    names = RETRYING_JOBS.get(kind, ())
    if kind == "job_failing":
        names = (str(recorded.incident.data.get("job")),)
    tries = [status.next_jobs[name] for name in names if name in status.next_jobs]
    if kind in VENUE_TROUBLES:
        for stored in status.playing:
            step = status.steps.get(f"cohort {stored.cohort.number}")
            if stored.cohort.venue == recorded.incident.data.get("venue") and step and step.failures:
                tries.append(retry_at(step))
    return min(tries, default=None)


def _waiting_text(recorded: RecordedIncident, status: Status) -> str:
    """Return what waits for the end of an incident: everything, rounds that a venue stopped, or nothing."""
    if recorded.incident.kind == "record_unusable":
        return "everything"
    if recorded.incident.kind not in VENUE_TROUBLES:
        return ""

    waiting = []
    begun = {(state.cohort, state.at) for state in status.rounds}
    for stored in status.playing:
        cohort = stored.cohort
        step = status.steps.get(f"cohort {cohort.number}")
        if cohort.venue != recorded.incident.data.get("venue") or step is None or not step.failures:
            continue
        number = cohort.calendar.number_at(step.due_at)
        if number is not None and (cohort.number, step.due_at) not in begun:
            waiting.append(f"round {number} of cohort {cohort.number}")
    return ", ".join(waiting)


def _job_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield the jobs that fail for a cause of their own, which no ongoing incident names."""
    explained_jobs = set[str]()
    for recorded in status.incidents:
        if recorded.ended_at is None:
            explained_jobs.update(RETRYING_JOBS.get(recorded.incident.kind, ()))
    explained_notes = {
        str(unusable.incident.data.get("message"))
        for unusable in _ongoing(status, ("record_unusable", "verify_failed"))
    }

    incident_by_job = {
        failing.incident.data.get("job"): failing for failing in _ongoing(status, ("job_failing",))
    }
    for job in status.jobs:
        incident = incident_by_job.get(job.name)
        is_for_disk = _is_disk_nearly_full(status) and job.note.startswith(DISK_WORDS)
        is_explained = job.name in explained_jobs or job.note in explained_notes or is_for_disk
        is_failing = job.failures >= FAILURES or (job.failures > 0 and incident is not None)
        if is_failing and not is_explained:
            yield _failing_job_reason(job, incident, status)


def _step_reasons(status: Status, causes: Sequence[str]) -> Iterator[HealthReason]:
    """Yield the steps of cohorts that fail for a cause which no other reason names.

    A round that was played with failed turns counts as a failure too: its note says how its turns went.
    """
    playing = {f"cohort {stored.cohort.number}" for stored in status.playing}
    for step in status.steps.values():
        if not step.failures:
            continue
        is_named = step.note.startswith("round ") or any(step.note.endswith(cause) for cause in causes)
        is_over = step.name not in {*playing, "start"} or retry_at(step) + SHOWN_FOR < status.at
        if is_named or is_over:
            continue
        yield HealthReason(
            word="trouble" if step.failures >= FAILURES else "waiting",
            code="job_failing",
            text=f"{step.name} has failed {count_text(step.failures, 'time')} in a row",
            about=step.name,
            cause=step.note,
            since=step.due_at,
            next_try=retry_at(step),
        )


def _failing_job_reason(job: JobState, recorded: RecordedIncident | None, status: Status) -> HealthReason:
    """Return the reason from a failing job, which at first only waits for the next try."""
    times = count_text(job.failures, "time")
    text = f"the job {job.name} has failed {times} in a row"
    if job.failures == 1:
        text = f"the job {job.name} has failed"
    waits = ""
    if job.name == "backup":
        last = status.backup_at
        waits = "the first backup" if last is None else f"a backup since {last:%Y-%m-%d %H:%M} UTC"
    return HealthReason(
        word="trouble" if job.failures >= FAILURES else "waiting",
        code="job_failing",
        text=text,
        about=job.name,
        cause=job.note,
        since=job.ended_at if recorded is None else recorded.incident.at,
        next_try=status.next_jobs.get(job.name),
        waits=waits,
        instead="admin backup" if job.name == "backup" else "",
        incidents=() if recorded is None else (recorded.id,),
    )


def _record_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield the problems of the record's file and its disk."""
    around = status.around
    verify_incidents = _ongoing(status, ("verify_failed",))
    is_noted = any(recorded.incident.data.get("reason") == "damaged" for recorded in verify_incidents)
    if around.damage and not is_noted:
        yield HealthReason(
            word="trouble",
            code="damaged",
            text="the file of the record is damaged",
            cause=f"SQLite: {around.damage}",
            waits="whatever reads that page",
            instead=_restore_command(status),
        )
    if around.free is not None and _is_disk_nearly_full(status):
        disk_incidents = list(_disk_incidents(status))
        is_full = around.free < FULL
        is_stuck = is_full or bool(disk_incidents)  # nothing can be written any more
        level = "full" if is_full else "nearly full"
        yield HealthReason(
            word="trouble",
            code="disk_full",
            text=f"the disk of the record is {level}: {megabytes(around.free)} is free; {FREE_SOME}",
            cause=PRUNING,
            since=min((recorded.incident.at for recorded in disk_incidents), default=None),
            next_try=status.at + RECORD_RETRY if status.running and is_stuck else None,
            waits="everything" if is_stuck else "",
            incidents=tuple(recorded.id for recorded in disk_incidents),
        )
    elif around.free is not None and around.free < max(LEAST_FREE, 2 * around.size):
        text = f"{megabytes(around.free)} is free for a record of {megabytes(around.size)}; {FREE_SOME}"
        yield HealthReason("waiting", "disk", text, cause=PRUNING)


def _is_disk_nearly_full(status: Status) -> bool:
    """Tell whether the disk of the record is full or nearly full."""
    free = status.around.free
    return free is not None and free < NEARLY_FULL


def _disk_incidents(status: Status) -> Iterator[RecordedIncident]:
    """Yield the ongoing incidents of a record that can't be written since its disk is full."""
    for recorded in _ongoing(status, ("record_unusable",)):
        if recorded.incident.data.get("reason") in DISK_FAULTS:
            yield recorded


def megabytes(size: int) -> str:
    """Return a number of bytes as text, in MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def _machine_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield the problems of the clock, workers, backups and heads."""
    looked_at = status.looked_at
    by_clock = status.clock != "mixed" and status.calendar.live
    if by_clock and looked_at is not None and looked_at > status.at + CLOCK_TOLERANCE:
        read_at = f"{looked_at:%Y-%m-%d %H:%M} UTC"
        file = status.around.clock_file
        clock = "this machine's clock"
        cause = "the clock is wrong now, or was ahead when they were read"
        if file:
            clock = f"the time in {file}"
            cause = "write a later time in its first line, or name the clock of this record"
        yield HealthReason(
            word="trouble",
            code="clock",
            text=f"{clock} is behind the record: prices were read at {read_at}",
            cause=cause,
            next_try=looked_at,
            waits="what is due before then",
            instead=_clock_command(file),
        )

    workers = status.workers
    if workers is not None and workers.silent and not any(_ongoing(status, ("workers_gone",))):
        text = f"{workers.silent:,} of {count_text(workers.silent + workers.alive, 'worker')} gives no sign"
        yield HealthReason(
            word="waiting",
            code="workers_gone",
            text=text,
            cause="it died, was stopped, or can't reach the database",
            since=workers.silent_since,
            next_try=workers.given_up_at,
            waits=count_text(workers.jobs, "turn") if workers.jobs else "",
        )

    heads = status.heads
    if heads.failing_since is not None and not any(_ongoing(status, ("heads_unpublished",))):
        yield HealthReason(
            word="waiting",
            code="heads_unpublished",
            text=UNPUBLISHED,
            cause=heads.error,
            since=heads.failing_since,
            next_try=heads.next_try_at,
            waits=count_text(heads.newest - heads.published, "head"),
        )

    if status.around.expects_backups and status.calendar.cohorts and status.calendar.live:
        yield from _backup_reasons(status)


def _backup_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield that backups are missing, unless their job says why."""
    if status.backup is not None and status.backup.failures:
        return

    last = status.backup_at
    if last is None:
        yield HealthReason("waiting", "backup", "there is no backup yet")
    elif status.at - last > BACKUP_AGE:
        yield HealthReason("waiting", "backup", f"the last backup is {(status.at - last).days} days old")
    elif status.backup_is_away:
        yield HealthReason("waiting", "backup", "the file of the last backup is not here")


def _unproven_agent_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield agents without a good turn, which may still change; after `FAILURES` rounds that is trouble."""
    played_rounds = Counter(state.cohort for state in status.rounds if state.turns)
    codes: dict[str, str] = {}
    for stored in status.playing:
        codes |= codes_of(stored.cohort)

    # The same agents of several cohorts are one reason.
    numbers_by_agents: dict[tuple[str, ...], list[int]] = {}
    for number, names in status.unproven.items():
        if names:
            numbers_by_agents.setdefault(tuple(names), []).append(number)

    for agents, numbers in numbers_by_agents.items():
        word: HealthWord = "waiting"
        if any(played_rounds[number] >= FAILURES for number in numbers):
            word = "trouble"
        where = f"cohort {numbers[0]}"
        if len(numbers) > 1:
            where = f"cohorts {', '.join(map(str, numbers))}"
        next_try = None
        if status.calendar.live:  # the rounds of other seasons are not of this clock
            next_try = status.calendar.next_round
        yield HealthReason(
            word=word,
            code="no_good_turn",
            text=unproven_hint(agents, codes),
            about=min(agents),
            where=where,
            next_try=next_try,
        )


def _waiting_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield what is still to come, or left to the operator."""
    if not status.calendar.cohorts:
        yield HealthReason("waiting", "nothing_begun", "no cohort has started yet")

    plays_live = any(stored.cohort.stamp == "live" for stored in status.playing)
    awaits = status.awaited > 0 and status.calendar.live
    if not status.running and (plays_live or awaits):
        to_come = awaited_text(status.awaited)
        if plays_live:
            to_come = "rounds start once it does, or cron starts it"
        since = None
        cause = ""
        if status.leader is not None and status.clock == "real":
            since = status.leader.until
            cause = f"process {status.leader.process} on {status.leader.host} led last"
        yield HealthReason(
            word="waiting",
            code="not_running",
            text=f"`arena run` is not running: {to_come}",
            cause=cause,
            since=since,
        )

    for stored in status.playing:
        if stored.paused_at is not None:
            yield HealthReason("waiting", "paused", f"cohort {stored.cohort.number} is paused")

    for paused in status.pauses:
        message = wait_text(paused.name, status.at + timedelta(seconds=paused.seconds))
        yield HealthReason("waiting", "rate_limit", message, paused.name)

    yield from _spent_budget_reasons(status)


def _spent_budget_reasons(status: Status) -> Iterator[HealthReason]:
    """Yield the budgets that are spent. That of the day is new at midnight; others have to be raised."""
    for budget in status.spend.limits:
        if budget.spent < budget.limit:
            continue

        whose = f" of {budget.whose}" if budget.whose else ""
        text = f"the budget per {budget.scope}{whose} is spent"
        if budget.scope == "day":
            tomorrow = midnight(status.at) + DAY
            yield HealthReason("waiting", "budget_spent_today", text, next_try=tomorrow)
        else:
            text += f": raise budget.{budget.scope} in the config"
            yield HealthReason("waiting", "budget_spent", text)
