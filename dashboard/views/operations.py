"""How the arena works: is it well, what is played, what failed, what it costs, rejected venue data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import streamlit as st
from markupsafe import Markup

from arena.clock import now
from arena.errors import far_text
from arena.operations.status import BudgetUse, Status
from arena.record.model.cohort import JobState
from arena.record.model.incident import RecordedIncident
from arena.record.model.reservation import midnight
from arena.record.model.status import RoundState
from arena.record.queries.calls import record_size
from arena.record.queries.cohorts import IS_TRADING, PLACE
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.database import Connection, schema_version
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import (
    case,
    clause,
    col,
    func,
    joined,
    or_,
    read_nouns,
    select,
    select_noun,
    total,
)
from arena.record.schema.typed import count as count_of
from arena.record.write.operations import read_recent_incidents
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from arena.record.write.reservations import COST
from dashboard import html
from dashboard.pages import choice, listing, put, section, way
from dashboard.record import RecordSource, arena_status, kept, known_config, season
from dashboard.words import count, day, escaped, flat, moment, plain, usd, written
from markets.millionths import ONE

FAILED = 40
INCIDENTS = 30
REJECTED = 200
DAYS = 30
ROUNDS = 36
"""How many of the newest are shown."""
LONGEST = 300
"""So many characters of a reason are in its row; who opens it reads all."""
UNUSABLE = ("failed", "late", "malformed")
"""How turns end from which nothing can be taken."""


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn without a usable answer: whose, when, and what its last call was told, or its rule said."""

    cohort: int
    round: int
    agent: str
    at: datetime
    status: str
    code: str | None
    message: str | None


def read_failed_turns(
    connection: Connection, most: int, statuses: Sequence[str] = ("failed",)
) -> list[FailedTurn]:
    """Return the newest turns that ended so, of each status at most so many."""
    last_call = (
        select(func.max(CallRow.id))
        .where(CallRow.round_id == TurnRow.round_id, CallRow.entrant_id == TurnRow.entrant_id)
        .correlate(TurnRow.__table__)
        .scalar_subquery()
    )
    message = func.coalesce(CallRow.error_message, TurnRow.note)
    query = (
        select_noun(FailedTurn, TurnRow, **PLACE, code=CallRow.error_code, message=message)
        .select_from(joined(TurnRow, EntrantRow, RoundRow, CohortRow))
        .outerjoin(CallRow, CallRow.id == last_call)
        .order_by(col(TurnRow.id).desc())
        .limit(most)
    )
    turns = list[FailedTurn]()
    for status in statuses:
        turns += read_nouns(FailedTurn, connection.execute(query.where(TurnRow.status == status)))
    return sorted(turns, key=lambda turn: turn.at, reverse=True)[:most]


@dataclass(frozen=True, slots=True)
class AgentSpending:
    """An agent in a cohort: how many calls were made for it, and what they cost (at worst, if unknown)."""

    cohort: int
    agent: str
    calls: int
    spent: int


def read_agent_spending(connection: Connection) -> list[AgentSpending]:
    """Return whose calls cost what in the cohorts that play, and in the newest."""
    newest = select(func.max(CohortRow.number)).scalar_subquery()
    query = (
        select_noun(AgentSpending, **PLACE, calls=count_of(CallRow.id), spent=total(COST))
        .select_from(joined(CohortRow, EntrantRow, CallRow))
        .where(or_(col(CohortRow.ended_at).is_(None), CohortRow.number == newest))
        .group_by(CohortRow.number, EntrantRow.position, EntrantRow.name)
        .order_by(CohortRow.number, EntrantRow.position)
    )
    return read_nouns(AgentSpending, connection.execute(query))


def read_daily_spending(connection: Connection, midnight: datetime, days: int) -> list[tuple[datetime, int]]:
    """Return what calls cost on each of so many days, the last of which begins at a midnight."""
    day = timedelta(days=1)
    starts = [midnight - place * day for place in reversed(range(days))]
    sums: list[Any] = []
    for start in starts:
        is_that_day = (CallRow.made_at >= start) & (CallRow.made_at < start + day)
        sums.append(total(case((clause(is_that_day), COST), else_=0)))

    row = connection.execute(select(*sums).where(CallRow.made_at >= starts[0])).one()
    return list(zip(starts, row, strict=True))


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended: whose it is, and in which round of which cohort."""

    cohort: int
    round: int
    agent: str
    status: str


def _read_turn_outcomes(connection: Connection) -> list[TurnOutcome]:
    """Return how the turns of the newest rounds ended, by cohort, round and agent."""
    newest = (
        select(RoundRow.id)
        .join(CohortRow)
        .where(IS_TRADING)
        .order_by(col(RoundRow.at).desc(), col(RoundRow.id).desc())
        .limit(ROUNDS)
    )
    query = (
        select_noun(TurnOutcome, TurnRow, **PLACE)
        .select_from(joined(RoundRow, TurnRow, EntrantRow, CohortRow))
        .where(col(RoundRow.id).in_(list(connection.scalars(newest))))
        .order_by(CohortRow.number, RoundRow.number, EntrantRow.position)
    )
    return read_nouns(TurnOutcome, connection.execute(query))


@dataclass(frozen=True, slots=True)
class OperationsPage:
    """How an arena works; `daily` is what calls cost on each of the last days."""

    failed: tuple[FailedTurn, ...]
    spenders: tuple[AgentSpending, ...]
    daily: tuple[tuple[datetime, int], ...]
    incidents: tuple[RecordedIncident, ...]
    outcomes: tuple[TurnOutcome, ...]
    size: int
    schema: str


def read_operations(connection: Connection) -> OperationsPage:
    """All that the page says but what was set aside."""
    return OperationsPage(
        failed=tuple(
            read_failed_turns(connection, FAILED, ("failed", "late", "malformed", "declined", "partly"))
        ),
        spenders=tuple(read_agent_spending(connection)),
        daily=tuple(read_daily_spending(connection, midnight(now()), DAYS)),
        incidents=tuple(read_recent_incidents(connection, INCIDENTS)),
        outcomes=tuple(_read_turn_outcomes(connection)),
        size=record_size(connection),
        schema=schema_version(connection) or "",
    )


TITLE = "Operations"
NEEDS_A_COHORT = False
ORDER = 7

WORDS = {
    "ok": "Everything is up to date.",
    "waiting": "Something is pending, or was put off.",
    "late": "A round is overdue.",
    "trouble": "Something needs an operator.",
}
MEGABYTE = 1_000_000


def show(record: RecordSource) -> None:
    """The page, from the word that says how the arena is to what one record of a venue said."""
    status, page = arena_status(record), kept(record, read_operations)
    known = season(record)
    simulated = " (simulated)" if known.cohorts and known.is_simulated else ""
    is_replay = bool(known.cohorts) and known.cohorts[-1].stamp == "replay"
    starter = "“arena study replay” plays a recording" if is_replay else "“arena run” starts one"
    _health(status, starter)
    put(html.tiles(figures(status, page.outcomes, simulated)), "tiles")
    agents = [name for name, _ in known.agents]
    put(turn_map(page.outcomes, agents), "map")
    put(html.box("At work", html.meanings(at_work(status, page, simulated, starter), "facts")), "work")
    show_failed(page.failed)
    show_rounds(status.rounds)
    show_spending(page, status.spend.limits)
    show_jobs(status, is_replay)
    show_incidents(page.incidents, "arena study replay" if is_replay else "arena run")
    show_rejected(record, status)


def _health(status: Status, starter: str) -> None:
    reasons = [reason.text for reason in status.reasons]
    put(
        html.light(status.word, f"{status.word.capitalize()}.", _sentence(status, starter), reasons), "health"
    )
    if status.clock == "mixed":
        st.caption(
            "This is a rehearsal's record, judged by the real time: `arena status --clock FILE` judges it "
            "by its own."
        )
    _, broken = known_config()
    if broken:
        st.warning(
            "The config can't be read, so budgets and what is to come are not known: `arena check` says why."
        )


def _sentence(status: Status, starter: str) -> str:
    """What the word says, and what it does not where nothing goes on by itself."""
    over = status.calendar.cohorts and not status.playing and status.calendar.next_round is None
    idle = f" No scheduler is running, so nothing happens by itself; {starter}."
    return WORDS[status.word] + ("" if over or status.running else idle)


def figures(status: Status, outcomes: Sequence[TurnOutcome], simulated: str) -> list[html.Tile]:
    """The four figures that an operator looks for first."""
    at, today = status.at, next((one for one in status.spend.limits if one.scope == "day"), None)
    failed = sum(one.status in UNUSABLE for one in outcomes)
    coming, read_at = status.calendar.next_round, status.looked_at
    of_budget = f" of {usd(today.limit)}" if today else ""
    if read_at is None:
        ago = "no longer" if outcomes else "not yet"
    else:
        ago = far_text(read_at, at) if status.calendar.live else day(read_at)
    stale = f", {count(status.held.stale, 'price')} stale" if status.held.stale else ""
    return [
        html.Tile(
            _when(coming, at, status.calendar.live),
            "next round" if status.calendar.live else "next round, in the season’s own time",
            "None is planned." if coming is None else moment(coming),
        ),
        html.Tile(
            f"{failed:,} of {len(outcomes):,}",
            "turns failed, newest rounds",
            "Failed, late or malformed, in the rounds of the map below.",
            "loss" if failed else "",
        ),
        html.Tile(
            usd(status.spend.today),
            f"spent today{of_budget}{simulated}",
            "On calls since midnight UTC; at worst where unknown.",
            picture=html.meter(today.used) if today else None,
        ),
        html.Tile(
            ago,
            f"prices read{stale}",
            "Prices are read with each round." if read_at is None else moment(read_at),
        ),
    ]


def _when(coming: datetime | None, now: datetime, is_live: bool) -> str:
    """When a round comes: what is not live has a time of its own."""
    if coming is None:
        return "none"
    if not is_live:
        return day(coming)
    return "due now" if coming <= now else far_text(coming, now)


def turn_map(outcomes: Sequence[TurnOutcome], agents: Sequence[str]) -> Markup:
    """How each agent's turns ended in each of the newest rounds."""
    places = list(dict.fromkeys((one.cohort, one.round) for one in outcomes))
    ended = {(one.agent, one.cohort, one.round): one.status for one in outcomes}
    rows = {
        agent: [
            (status, f"{agent}, cohort {cohort}, round {round_number}: {status}")
            if (status := ended.get((agent, cohort, round_number)))
            else None
            for cohort, round_number in places
        ]
        for agent in agents
        if any(one.agent == agent for one in outcomes)
    }
    if not rows:
        return html.box("Turns", below="No turn has ended yet: “arena run --round” plays one.")
    found = Counter(one.status for one in outcomes)
    said = ", ".join(f"{found[status]:,} {status}" for status in found)
    chart = html.heat_map(
        rows, [str(cohort) for cohort, _ in places], f"Turns of each agent by round: {said}"
    )
    newest = f"A column is a round, the newest {ROUNDS} at most: " if len(places) == ROUNDS else "By round: "
    letters = "Letters: F failed, M malformed, L late, D declined, W waiting."
    return html.box("Turns by agent and round", chart, f"{newest}{said}. {letters}")


def at_work(status: Status, page: OperationsPage, simulated: str, starter: str) -> dict[str, str]:
    """What else is to be known of an arena at work: each thing, and how it stands."""
    leader, held, calendar = status.leader, status.held, status.calendar
    running = f"on {leader.host}" if leader is not None and leader.alive else f"not running; {starter}"
    oldest = f"; the oldest price is of {moment(held.oldest)}" if held.stale else ""
    wrong = [told for told in status.incidents if told.ended_at is None]
    bad = [told for told in wrong if told.incident.kind == "verify_failed"]
    return {
        "Scheduler": running,
        "Rounds": f"{calendar.done:,} of {calendar.due:,} due are done",
        "Calls in progress": f"{status.under_way.calls:,}. {_lost(status)}",
        "Open positions": f"{held.positions:,} in {count(held.markets, 'market')}, {held.stale:,} at stale "
        f"prices{oldest}",
        f"Spent this month{simulated}": usd(status.spend.month),
        "Backup": _backup(status.backup, status),
        "Record": f"{page.size / MEGABYTE:,.1f} MB, schema {page.schema}. "
        + (
            f"{bad[0].incident.text}, since {moment(bad[0].incident.at)}: “arena admin verify” shows all."
            if bad
            else "Each backup is verified as it is made; “arena admin verify” recomputes every balance."
        ),
    }


def _lost(status: Status) -> str:
    calls = status.under_way
    worst = f"They may cost {usd(calls.worst)} at most. " if calls.calls else ""
    lost = f"{count(calls.lost, 'call')} lost with a worker may cost {usd(calls.lost_worst)}."
    return f"{worst}{lost if calls.lost else 'None was lost.'}"


def _backup(job: JobState | None, status: Status) -> str:
    if job is None or job.ended_at is None:
        return "none by “arena run” yet; “arena admin backup” makes one"
    if job.failures:
        return f"failed {count(job.failures, 'time')} in a row: {flat(job.note) or 'see the log'}"
    return f"{moment(job.ended_at)}, {far_text(job.ended_at, status.at)}"


SCOPES = {
    "day": "Today",
    "round": "The dearest round of those above",
    "agent": "The dearest agent of a cohort still playing",
    "arena": "All that was ever spent",
}


def show_rounds(rounds: Sequence[RoundState]) -> None:
    """The rounds of cohorts that play, each leading to its turns."""
    nothing = "No round has begun. `arena run --round` plays the next one, `arena run` each in its time."
    said = "Rounds of cohorts still playing, and those decided last, newest first."
    if not section("Rounds", rounds, nothing, said):
        return
    newest = sorted(rounds, key=lambda one: (one.at, one.cohort), reverse=True)
    found = dict.fromkeys(status for one in newest for status in one.turns)
    data: dict[str, Any] = {
        "Decided": [one.at for one in newest],
        "Cohort": [one.cohort for one in newest],
        "Round": [one.number for one in newest],
        "State": ["done" if one.done else "under way" for one in newest],
    }
    data |= {status.capitalize(): [one.turns.get(status, 0) for one in newest] for status in found}
    data["Missing"] = [one.missing for one in newest]
    listing(data, "Rounds", {}, [way("turn", cohort=one.cohort, round=one.number) for one in newest])


def show_failed(turns: Sequence[FailedTurn]) -> None:
    """The newest turns that failed, each leading to the whole of it."""
    said = (
        f"The newest, at most {FAILED}. Failed turns got no answer and count as unanswered. Malformed "
        "answers could not be read and count as skips."
    )
    if not section("Failed turns", turns, "No failed turns.", said):
        return
    data: dict[str, Any] = {
        "Decided": [turn.at for turn in turns],
        "Agent": [turn.agent for turn in turns],
        "Cohort": [turn.cohort for turn in turns],
        "Round": [turn.round for turn in turns],
        "Turn": [turn.status for turn in turns],
        "Reason": [turn.code for turn in turns],
        "What was said": [turn.message for turn in turns],
    }
    ways = [way("turn", cohort=turn.cohort, round=turn.round, agent=turn.agent) for turn in turns]
    listing(data, "Failed turns", {"What was said": html.words("What was said", long=True)}, ways)


def show_spending(page: OperationsPage, budgets: Sequence[BudgetUse]) -> None:
    """What calls cost: of each budget, by day and by agent."""
    st.subheader("Spending", anchor=False)
    for budget in budgets:
        st.progress(budget.used, _of_budget(budget))
    if not budgets:
        no_config = "Budgets are not known: this dashboard has no config that it can read."
        no_budget = "No budget is set: `budget` in the config limits what calls may cost."
        st.caption(no_config if known_config()[0] is None else no_budget)
    if any(spent for _, spent in page.daily):
        days = [(at.timestamp(), spent / ONE) for at, spent in page.daily]
        cost = html.Line("", days, "c1", written(days[-1][1], "dollar"))
        put(
            html.line_chart([cost], "Cost of calls on each of the last days", "dollar", frames=html.LONG),
            "cost",
        )
    else:
        st.caption(f"No call of the last {DAYS} days has cost anything.")
    if page.spenders:
        st.caption("By agent, in the cohorts still playing and in the newest.")
        worst = "At their worst where it is unknown."
        columns = {
            "Spent $": html.number("Spent", "dollar", worst),
            "A call $": html.number("Per call", "dollar", worst),
        }
        listing(_by_agent(page.spenders), "Spending by agent", columns)


def _of_budget(budget: BudgetUse) -> str:
    whose = f", {plain(budget.whose, 60)}" if budget.whose else ""
    return f"{SCOPES[budget.scope]}{whose}: " + escaped(f"{usd(budget.spent)} of {usd(budget.limit)}")


def _by_agent(spenders: Sequence[AgentSpending]) -> dict[str, list[Any]]:
    """Of each agent the cohorts, calls and cost; the dearest first."""
    calls, spent, cohorts = Counter[str](), Counter[str](), Counter[str]()
    for one in spenders:
        calls[one.agent] += one.calls
        spent[one.agent] += one.spent
        cohorts[one.agent] += 1
    names = sorted(calls, key=lambda name: (-spent[name], name))
    return {
        "Agent": names,
        "Spent $": [spent[name] / ONE for name in names],
        "Calls": [calls[name] for name in names],
        "A call $": [spent[name] / ONE / calls[name] for name in names],
        "Cohorts": [cohorts[name] for name in names],
    }


KINDS = {
    "all": "All",
    "page": "Pages",
    "market": "Markets",
    "quote": "Prices",
    "resolution": "Results",
    "article": "Articles",
}


def show_jobs(status: Status, is_replay: bool) -> None:
    """How each job of `arena run` went last."""
    nothing = "No job has run yet. `arena run` runs them; `arena run --list` shows which, and when."
    if is_replay:
        nothing = "None: `arena study replay` plays its rounds without jobs."
    jobs = status.jobs
    if not section("Jobs", jobs, nothing, "What `arena run` does between rounds."):
        return
    data: dict[str, Any] = {
        "Job": [job.name for job in jobs],
        "Last begun": [job.started_at for job in jobs],
        "Ended": [job.ended_at for job in jobs],
        "For": [job.due_at for job in jobs],
        "Next": [status.next_jobs.get(job.name) for job in jobs],
        "Failures": [job.failures for job in jobs],
        "Note": [job.note for job in jobs],
    }
    listing(
        data, "Jobs", {"Failures": html.number("Failures", "localized", "In a row; 0 when it went well.")}
    )


def show_incidents(incidents: Sequence[RecordedIncident], recorder: str) -> None:
    """What an operator should hear of, and whether they were told."""
    nothing = f"No incidents. `{recorder}` records them while it is at work."
    said = "Newest first. With `watch.webhook` in the config they are sent as they happen."
    if not section("Incidents", incidents, nothing, said):
        return
    data: dict[str, Any] = {
        "At": [told.incident.at for told in incidents],
        "What": [told.incident.text or told.incident.subject for told in incidents],
        "Kind": [told.incident.kind.replace("_", " ") for told in incidents],
        "Ended": [told.ended_at for told in incidents],
        "Ongoing": [told.ended_at is None for told in incidents],
        "Webhook": [told.delivery for told in incidents],
    }
    listing(data, "Incidents", {"What": html.words("What", long=True)})


def show_rejected(record: RecordSource, status: Status) -> None:
    """What was set aside and why; of the one that is chosen, what was sent."""
    st.subheader("Rejected venue data", anchor=False)
    kind = choice("Kind", "aside", KINDS, "all")
    asked = None if kind == "all" else kind
    quarantined = kept(record, read_quarantine, kind=asked, limit=REJECTED)
    if not quarantined:
        st.caption("No rejected data.")
        return
    lately = [f"{x.records:,} {plain(x.venue)} {x.kind} {plain(x.code)}" for x in status.quarantined]
    said = f"In the last day: {', '.join(lately)}. " if lately else "Nothing in the last day. "
    st.caption(f"{said}Pages are requests without the expected answer. Open a row to read what was sent.")
    data: dict[str, Any] = {
        "Last seen": [aside.last_seen_at for aside in quarantined],
        "Times": [aside.times for aside in quarantined],
        "Venue": [aside.venue for aside in quarantined],
        "Kind": [aside.kind for aside in quarantined],
        "Code": [aside.code for aside in quarantined],
        "Reason": [aside.reason[:LONGEST] for aside in quarantined],
        "Record": [aside.record for aside in quarantined],
        "First seen": [aside.first_seen_at for aside in quarantined],
    }
    marks = [_mark(aside) for aside in quarantined]
    told = {name: html.words(name, long=True) for name in ("Reason", "Record")}
    listing(data, "Rejected venue data", told, [way("operations", aside=kind, sent=mark) for mark in marks])
    if (asked := st.query_params.get("sent")) in marks:
        chosen = quarantined[marks.index(asked)]
        st.text(chosen.reason)
        st.code(chosen.raw or "(nothing)", language=None, wrap_lines=True)


def _mark(aside: StoredQuarantine) -> str:
    """By what an address names a rejected record."""
    return sha256(repr((aside.venue, aside.kind, aside.code, aside.record)).encode()).hexdigest()[:12]
