"""The state of the arena: its health, rounds, failures, costs and rejected venue data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import chain
from typing import Any

import streamlit as st
from markupsafe import Markup

from arena.clock import now
from arena.errors import far_text, natural_key
from arena.operations.health import BudgetUse, HealthReason, Status
from arena.record.model.incident import RecordedIncident
from arena.record.model.reservation import midnight
from arena.record.model.status import CallsUnderWay, RoundState
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
    read_objects,
    select,
    select_fields,
    total,
)
from arena.record.schema.typed import count as count_of
from arena.record.write.operations import read_recent_incidents
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from arena.record.write.reservations import COST
from dashboard.charts import LONG, Line, heat_map, line_chart
from dashboard.html import HtmlColumn, Rows, Tile, box, columns_of_table, health_light, meanings, tiles
from dashboard.pages import choice, put, put_section, put_table, subheading, way, way_to_turn
from dashboard.pictures import meter
from dashboard.record import (
    UNUSABLE,
    FailedTurn,
    RecordSource,
    arena_status,
    known_config,
    read_cached,
    read_failed_turns,
    season,
)
from dashboard.words import count, day, escaped, flat, moment, plain, usd, written
from markets.millionths import ONE

FAILED = 40
INCIDENTS = 30
REJECTED = 200
DAYS = 30
ROUNDS = 36
"""How many of the newest are shown."""
LONGEST = 300
"""A row shows this many characters of a reason; opened, it shows all."""


@dataclass(frozen=True, slots=True)
class AgentSpending:
    """An agent in a cohort: how many calls were made for it, and what they cost (at worst, if unknown)."""

    cohort: int
    agent: str
    calls: int
    spent: int


def read_agent_spending(connection: Connection) -> list[AgentSpending]:
    """Return the cost of calls by agent, in the cohorts still playing and in the newest."""
    newest = select(func.max(CohortRow.number)).scalar_subquery()
    calls = count_of(CallRow.id)
    spent = total(COST)
    is_playing = col(CohortRow.ended_at).is_(None)
    is_newest = CohortRow.number == newest
    query = (
        select_fields(AgentSpending, **PLACE, calls=calls, spent=spent)
        .select_from(joined(CohortRow, EntrantRow, CallRow))
        .where(or_(is_playing, is_newest))
        .group_by(CohortRow.number, EntrantRow.position, EntrantRow.name)
        .order_by(CohortRow.number, EntrantRow.position)
    )
    return read_objects(AgentSpending, connection.execute(query))


def read_daily_spending(connection: Connection, midnight: datetime, days: int) -> list[tuple[datetime, int]]:
    """Return what calls cost on each of so many days, the last of which begins at a midnight."""
    day = timedelta(days=1)
    starts = [midnight - place * day for place in reversed(range(days))]
    sums: list[Any] = []
    for start in starts:
        is_that_day = (CallRow.made_at >= start) & (CallRow.made_at < start + day)
        cost_of_day = case((clause(is_that_day), COST), else_=0)
        sums.append(total(cost_of_day))

    is_recent = CallRow.made_at >= starts[0]
    row = connection.execute(select(*sums).where(is_recent)).one()
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
    rounds = list(connection.scalars(newest))
    query = (
        select_fields(TurnOutcome, TurnRow, **PLACE)
        .select_from(joined(RoundRow, TurnRow, EntrantRow, CohortRow))
        .where(col(RoundRow.id).in_(rounds))
        .order_by(CohortRow.number, RoundRow.number, EntrantRow.position)
    )
    return read_objects(TurnOutcome, connection.execute(query))


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
    """Return everything on the page except rejected data."""
    statuses = (*UNUSABLE, "declined", "partly")
    last_midnight = midnight(now())
    return OperationsPage(
        failed=tuple(read_failed_turns(connection, FAILED, statuses)),
        spenders=tuple(read_agent_spending(connection)),
        daily=tuple(read_daily_spending(connection, last_midnight, DAYS)),
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
    "waiting": "Something is pending or postponed.",
    "late": "A round is overdue.",
    "trouble": "Something needs an operator.",
}
MEGABYTE = 1_000_000


def show(record: RecordSource) -> None:
    """Show the page, from the state of the arena down to a single rejected record of a venue."""
    status = arena_status(record)
    page = read_cached(record, read_operations)
    overview = season(record)
    has_cohorts = bool(overview.cohorts)
    simulated = " (simulated)" * (has_cohorts and overview.is_simulated)
    is_replay = has_cohorts and overview.cohorts[-1].stamp == "replay"
    starter = "“arena run” starts one"
    if is_replay:
        starter = "“arena study replay” plays a recording"

    _show_health(status, starter)
    put(tiles(figures(status, page.outcomes, simulated)), "tiles")
    outcomes = turn_map(page.outcomes, overview.kinds)
    put(outcomes, "map")
    facts = at_work(status, page, simulated, starter)
    put(box("At work", meanings(facts, "facts")), "work")

    show_failed(page.failed)
    show_rounds(status.rounds)
    show_spending(page, status.spend.limits)
    show_jobs(status, is_replay)
    recorder = "arena study replay" if is_replay else "arena run"
    show_incidents(page.incidents, recorder)
    show_rejected(record, status)


def _show_health(status: Status, starter: str) -> None:
    """Show how the arena is, and why."""
    reasons = [_reason_text(reason, status.at) for reason in status.reasons]
    word = status.word
    put(health_light(word, f"{word.capitalize()}.", _sentence(status, starter), reasons), "health")
    if status.clock == "mixed":
        st.caption(
            "This is a rehearsal's record, judged by the real time: `arena status --clock FILE` judges it "
            "by its own."
        )
    _, broken = known_config()
    if broken:
        st.warning(
            "The config can't be read, so budgets and the schedule are unknown: `arena check` says why."
        )


def _reason_text(reason: HealthReason, at: datetime) -> str:
    """Return a reason with its cause, since when, the next try and the command, as `arena status` has it."""
    text = "; ".join([reason.text, *reason.details(at)])
    return f"{text}: {reason.typed}" if reason.typed else text


def _sentence(status: Status, starter: str) -> str:
    """Return the sentence for the state, and a warning if no scheduler is running."""
    is_over = status.calendar.cohorts and not status.playing and status.calendar.next_round is None
    if is_over or status.running:
        return WORDS[status.word]
    return f"{WORDS[status.word]} No scheduler is running, so nothing happens by itself; {starter}."


def figures(status: Status, outcomes: Sequence[TurnOutcome], simulated: str) -> list[Tile]:
    """Return the four figures that an operator looks for first."""
    failed = sum(outcome.status in UNUSABLE for outcome in outcomes)
    share = f"{failed:,} of {len(outcomes):,}"
    look = "loss" * bool(failed)
    return [
        _next_round_tile(status),
        Tile(
            share,
            "turns failed, newest rounds",
            "Failed, late or malformed, in the rounds of the map below.",
            look,
        ),
        _spent_tile(status, simulated),
        _prices_tile(status, bool(outcomes)),
    ]


def _next_round_tile(status: Status) -> Tile:
    """Return when the next round is due; seasons that are not live have a time of their own."""
    coming = status.calendar.next_round
    is_live = status.calendar.live
    label = "next round, in the season’s own time"
    if is_live or not status.calendar.cohorts:
        label = "next round"
    if coming is None:
        return Tile("none", label, "None is planned.")

    when = day(coming)
    if is_live:
        when = "due now" if coming <= status.at else far_text(coming, status.at)
    return Tile(when, label, moment(coming))


def _spent_tile(status: Status, simulated: str) -> Tile:
    """Return what was spent today, and the budget if there is one."""
    meant = "On calls since midnight UTC; at worst where unknown."
    spent = usd(status.spend.today)
    for budget in status.spend.limits:
        if budget.scope == "day":
            label = f"spent today of {usd(budget.limit)}{simulated}"
            return Tile(spent, label, meant, picture=meter(budget.used))
    return Tile(spent, f"spent today{simulated}", meant)


def _prices_tile(status: Status, is_any_round_begun: bool) -> Tile:
    """Return when prices were read, and how many are too old."""
    label = "prices read"
    if status.held.stale:
        label += f", {count(status.held.stale, 'price')} stale"
    read_at = status.looked_at
    if read_at is None:
        return Tile(
            "no longer" if is_any_round_begun else "not yet", label, "Prices are read with each round."
        )
    when = far_text(read_at, status.at) if status.calendar.live else day(read_at)
    return Tile(when, label, moment(read_at))


def turn_map(outcomes: Sequence[TurnOutcome], agents: Iterable[str]) -> Markup:
    """Draw how each agent's turns ended in each of the newest rounds."""
    if not outcomes:
        return box("Turns", below="No turn has ended yet: “arena run --round” plays one.")

    outcome_of_agent: dict[str, dict[tuple[int, int], tuple[str, str]]] = {}
    cohorts: dict[tuple[int, int], str] = {}
    status_counts = Counter[str]()
    for outcome in outcomes:
        round_key = (outcome.cohort, outcome.round)
        text = f"{outcome.agent}, cohort {outcome.cohort}, round {outcome.round}: {outcome.status}"
        row = outcome_of_agent.setdefault(outcome.agent, {})
        row[round_key] = (outcome.status, text)
        cohorts[round_key] = str(outcome.cohort)
        status_counts[outcome.status] += 1
    rows = {
        agent: list(map(outcome_of_agent[agent].get, cohorts))
        for agent in agents
        if agent in outcome_of_agent
    }

    text = ", ".join(f"{number:,} {status}" for status, number in status_counts.items())
    title = f"Turns of each agent by round: {text}"
    groups = list(cohorts.values())
    chart = heat_map(rows, groups, title)
    introduction = "By round: "
    if len(cohorts) == ROUNDS:
        introduction = f"A column is a round, the newest {ROUNDS} at most: "
    letters = "Letters: F failed, M malformed, L late, D declined, W waiting."
    return box("Turns by agent and round", chart, f"{introduction}{text}. {letters}")


def at_work(status: Status, page: OperationsPage, simulated: str, starter: str) -> dict[str, str]:
    """Return the other facts about an arena at work, by label."""
    running = f"not running; {starter}"
    if status.leader is not None and status.leader.alive:
        running = f"on {status.leader.host}"
    held = status.held
    markets = count(held.markets, "market")
    positions = f"{held.positions:,} in {markets}, {held.stale:,} at stale prices"
    if held.stale:
        positions += f"; the oldest price is of {moment(held.oldest)}"

    calls = _calls_text(status.under_way)
    spent = usd(status.spend.month)
    backup = _backup_text(status)
    verified = _verification_text(status)
    megabytes = page.size / MEGABYTE
    return {
        "Scheduler": running,
        "Rounds": f"{status.calendar.done:,} of {status.calendar.due:,} due are done",
        "Calls in progress": calls,
        "Open positions": positions,
        f"Spent this month{simulated}": spent,
        "Backup": backup,
        "Record": f"{megabytes:,.1f} MB, schema {page.schema}. {verified}",
    }


def _calls_text(calls: CallsUnderWay) -> str:
    """Say how many calls are in progress, what they may cost, and what was lost."""
    text = f"{calls.calls:,}. "
    if calls.calls:
        text += f"They may cost {usd(calls.worst)} at most. "
    if not calls.lost:
        return f"{text}None was lost."
    lost = count(calls.lost, "call")
    worst_lost = usd(calls.lost_worst)
    return f"{text}{lost} lost with a worker may cost {worst_lost}."


def _verification_text(status: Status) -> str:
    """Say what was found when the record was verified."""
    for recorded in status.incidents:
        incident = recorded.incident
        if recorded.ended_at is None and incident.kind == "verify_failed":
            return f"{incident.text}, since {moment(incident.at)}: “arena admin verify” shows all of it."
    return "Each backup is verified as it is made; “arena admin verify” recomputes every balance at any time."


def _backup_text(status: Status) -> str:
    """Say when the last backup was made, or why there is none."""
    job = status.backup
    if job is None or job.ended_at is None:
        return "none by “arena run” yet; “arena admin backup” makes one"
    if job.failures:
        times = count(job.failures, "time")
        why = flat(job.note) or "see the log"
        return f"failed {times} in a row: {why}"
    ago = far_text(job.ended_at, status.at)
    return f"{moment(job.ended_at)}, {ago}"


SCOPES = {
    "day": "Today",
    "round": "The most expensive of the rounds above",
    "agent": "The most expensive agent of a cohort still playing",
    "arena": "All that was ever spent",
}


def show_rounds(rounds: Sequence[RoundState]) -> None:
    """Show the rounds of cohorts that play, each leading to its turns."""
    nothing = "No round has begun. `arena run --round` plays the next one, `arena run` each in its time."
    below = "Rounds of cohorts still playing, and those decided last, newest first."
    if not put_section("Rounds", rounds, nothing, below):
        return

    newest = sorted(rounds, key=lambda state: (state.at, state.cohort), reverse=True)
    every = chain.from_iterable(state.turns for state in newest)
    statuses = dict.fromkeys(every)
    columns = dict(columns_of_table("rounds"))
    for label in (*map(str.capitalize, statuses), "Missing"):
        columns[label] = HtmlColumn(label, format="localized")
    put_table(_round_rows(newest, statuses), columns, "Rounds")


def _round_rows(states: Iterable[RoundState], statuses: Iterable[str]) -> Rows:
    """Yield a row for each round, with its turns counted by status."""
    for state in states:
        turns = way("turn", cohort=state.cohort, round=state.number)
        row = {
            "Decided": state.at,
            "Cohort": state.cohort,
            "Round": state.number,
            "State": "done" if state.done else "under way",
            "Missing": state.missing,
            "href": turns.href,
        }
        for status in statuses:
            row[status.capitalize()] = state.turns.get(status, 0)
        yield row


def show_failed(turns: Sequence[FailedTurn]) -> None:
    """Show the newest turns that failed, each leading to the whole of it."""
    below = (
        f"The newest, at most {FAILED}. Failed turns got no answer and count as unanswered. Malformed "
        "answers could not be read and count as skips."
    )
    if put_section("Failed turns", turns, "No failed turns.", below):
        put_table(_failed_rows(turns), columns_of_table("failed turns"), "Failed turns")


def _failed_rows(turns: Iterable[FailedTurn]) -> Rows:
    """Yield a row for each failed turn."""
    for turn in turns:
        yield {
            "Decided": turn.at,
            "Agent": turn.agent,
            "Cohort": turn.cohort,
            "Round": turn.round,
            "Turn": turn.status,
            "Reason": turn.code,
            "What was said": turn.message,
            "href": way_to_turn(turn).href,
        }


def show_spending(page: OperationsPage, budgets: Sequence[BudgetUse]) -> None:
    """Show what calls cost: of each budget, by day and by agent."""
    subheading("Spending")
    for budget in budgets:
        st.progress(budget.used, _budget_text(budget))
    if not budgets and known_config()[0] is None:
        st.caption("Budgets are unknown: this dashboard has no readable config.")
    elif not budgets:
        st.caption("No budget is set: `budget` in the config limits what calls may cost.")

    if any(spent for _, spent in page.daily):
        days = [(at.timestamp(), spent / ONE) for at, spent in page.daily]
        newest = written(days[-1][1], "dollar")
        cost = Line("spent", days, "c1", newest)
        says = "Cost of calls on each of the last days"
        put(line_chart([cost], says, "dollar", height=LONG), "cost")
    else:
        st.caption(f"No call of the last {DAYS} days has cost anything.")
    if page.spenders:
        st.caption("By agent, in the cohorts still playing and in the newest.")
        put_table(_spending_rows(page.spenders), columns_of_table("spending"), "Spending by agent")


def _budget_text(budget: BudgetUse) -> str:
    """Say how much of a budget is spent."""
    whose = SCOPES[budget.scope]
    if budget.whose:
        whose += f", {plain(budget.whose, 60)}"
    amount = escaped(f"{usd(budget.spent)} of {usd(budget.limit)}")
    return f"{whose}: " + amount


def _spending_rows(spenders: Sequence[AgentSpending]) -> list[dict[str, object]]:
    """Return the cohorts, calls and cost of each agent; the dearest first."""
    calls = Counter[str]()
    spent = Counter[str]()
    for spending in spenders:
        calls[spending.agent] += spending.calls
        spent[spending.agent] += spending.spent
    cohorts = Counter(spending.agent for spending in spenders)

    rows: list[dict[str, object]] = []
    by_cost = sorted(calls, key=lambda name: (-spent[name], natural_key(name)))
    for name in by_cost:
        cost = spent[name] / ONE
        cost_per_call = cost / calls[name]
        row = {"Agent": name, "Spent $": cost, "Calls": calls[name], "A call $": cost_per_call}
        rows.append(row | {"Cohorts": cohorts[name]})
    return rows


KINDS = {
    "all": "All",
    "page": "Pages",
    "market": "Markets",
    "quote": "Prices",
    "resolution": "Results",
    "article": "Articles",
}


def show_jobs(status: Status, is_replay: bool) -> None:
    """Show how each job of `arena run` went last."""
    nothing = "No job has run yet. `arena run` runs them; `arena run --list` shows which, and when."
    if is_replay:
        nothing = "None: `arena study replay` plays its rounds without jobs."
    if put_section("Jobs", status.jobs, nothing, "What `arena run` does between rounds."):
        put_table(_job_rows(status), columns_of_table("jobs"), "Jobs")


def _job_rows(status: Status) -> Rows:
    """Yield a row for the last run of each job."""
    for job in status.jobs:
        yield {
            "Job": job.name,
            "Last begun": job.started_at,
            "Ended": job.ended_at,
            "For": job.due_at,
            "Next": status.next_jobs.get(job.name),
            "Failures": job.failures,
            "Note": job.note,
        }


def show_incidents(incidents: Sequence[RecordedIncident], recorder: str) -> None:
    """Show the incidents, and whether the operator was notified."""
    nothing = f"No incidents. `{recorder}` records them while it is at work."
    below = "Newest first. With `watch.webhook` in the config they are sent as they happen."
    if put_section("Incidents", incidents, nothing, below):
        put_table(_incident_rows(incidents), columns_of_table("incidents"), "Incidents")


def _incident_rows(incidents: Iterable[RecordedIncident]) -> Rows:
    """Yield a row for each incident."""
    for recorded in incidents:
        incident = recorded.incident
        yield {
            "At": incident.at,
            "What": incident.text or incident.subject,
            "Kind": incident.kind.replace("_", " "),
            "Ended": recorded.ended_at,
            "Ongoing": recorded.ended_at is None,
            "Webhook": recorded.delivery,
        }


def show_rejected(record: RecordSource, status: Status) -> None:
    """Show rejected records with the reasons, and the raw data of the chosen one."""
    subheading("Rejected venue data")
    kind = choice("Kind", "aside", KINDS, "all")
    asked_kind = None if kind == "all" else kind
    quarantined = read_cached(record, read_quarantine, kind=asked_kind, limit=REJECTED)
    if not quarantined:
        st.caption("No rejected data.")
        return

    text = "Nothing in the last day."
    recent_counts = [f"{x.records:,} {plain(x.venue)} {x.kind} {plain(x.code)}" for x in status.quarantined]
    if recent_counts:
        text = f"In the last day: {', '.join(recent_counts)}."
    st.caption(f"{text} Pages are requests without the expected answer. Open a row to read what was sent.")

    record_of_key = {_quarantine_key(aside): aside for aside in quarantined}
    rows = _rejected_rows(record_of_key, kind)
    put_table(rows, columns_of_table("rejected data"), "Rejected venue data")

    asked_key = st.query_params.get("sent", "")
    chosen = record_of_key.get(asked_key)
    if chosen is not None:
        st.text(chosen.reason)
        st.code(chosen.raw or "(nothing)", language=None, wrap_lines=True)


def _rejected_rows(record_of_key: Mapping[str, StoredQuarantine], kind: str) -> Rows:
    """Yield a row for each rejected record."""
    for key, rejected in record_of_key.items():
        row_page = way("operations", aside=kind, sent=key)
        yield {
            "Last seen": rejected.last_seen_at,
            "Times": rejected.times,
            "Venue": rejected.venue,
            "Kind": rejected.kind,
            "Code": rejected.code,
            "Reason": rejected.reason[:LONGEST],
            "Record": rejected.record,
            "First seen": rejected.first_seen_at,
            "href": row_page.href,
        }


def _quarantine_key(aside: StoredQuarantine) -> str:
    """Return the key of a rejected record in addresses."""
    text = repr((aside.venue, aside.kind, aside.code, aside.record))
    digest = sha256(text.encode()).hexdigest()
    return digest[:12]
