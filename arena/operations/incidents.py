"""Incidents: events for the operator, written to the record and from there sent to the webhook.

Each function may be called any number of times: an incident that was recorded is not recorded again. One that
lasts, such as an outage, is ended when it is over, and the next one is recorded anew.
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta

from arena.clock import now as this_instant
from arena.config import Config, environment
from arena.errors import ArenaError
from arena.operations.due import MissedRound
from arena.operations.health import Status
from arena.operations.http import serve_health
from arena.operations.jobs import Unanswered
from arena.operations.judge import incident_reason
from arena.operations.leader import FormerLead
from arena.operations.publisher import keep_publishing
from arena.operations.status import status_source
from arena.operations.webhook import (
    RecordTrouble,
    keep_pinging,
    keep_sending,
    ping_of,
    webhook_of,
)
from arena.record.model.incident import (
    FAILING,
    UNPRICED,
    CodedError,
    Incident,
    IncidentKind,
    RecordedIncident,
    RoundEnd,
    aborted_rounds,
    agent_incident,
    agent_over,
    catalogue_incomplete,
    job_failing,
    lead_taken,
    market_unsettled,
    missed_round,
    record_inconsistent,
    record_unusable,
    records_rejected,
    round_incidents,
    site_unpublished,
    venue_outage,
    workers_gone,
)
from arena.record.model.lease import is_gone
from arena.record.model.status import CatalogueRead
from arena.record.queries.cohorts import read_cohorts
from arena.record.record import Record
from arena.record.schema.cohort import EntrantRow
from arena.record.schema.database import Connection, open_read_only, reading
from arena.record.schema.database_errors import CODES as DATABASE_CODES
from arena.record.schema.ledger import EntryRow
from arena.record.schema.typed import col, columns_of, func, joined, select
from arena.record.schema.world import ResolutionRow, SyncRow
from arena.record.write.operations import (
    add_incidents,
    end_incidents,
    read_ongoing_incidents,
    read_recent_incidents,
    read_round_ends,
    record_delivery,
)
from arena.rounds.error_text import error_text, redact_keys, type_text
from arena.rounds.settled_by_hand import read_closed_since
from arena.rounds.settlement import VenueUnavailable
from markets.model import MarketId
from markets.venue import VenueError

COMPARED_READS = 11
"""The newest reading of a catalogue is compared with the ten before it."""
UNSETTLED_AFTER = timedelta(days=14)
"""How long after it closed a market that is held may be without a known end."""
SETTLING_JOBS = ("resolutions", "marks")
"""Jobs that learn how markets ended."""
VENUE_JOBS = ("catalogue", "quotes", "resolutions")
"""Jobs that ask a venue."""
MOST_ONGOING = 1_000
"""How many ongoing incidents are looked at for what is over."""
VERIFYING_JOBS = ("verify", "backup")
"""Jobs that find out whether the record is consistent."""
RECORD_FAULTS = ("differs", "damaged")
"""What these say of a record that is not."""
AWAY_CODES = ("locked", "unreachable")
"""Errors of a database that can't be asked at all."""


def note_rounds(record: Record, at: datetime) -> None:
    """Record what the newest rounds show: the agents that failed, and those stopped by a budget.

    To be called after each decision time, and at the start: then what was played just before is recorded too.
    """
    ends = read_round_ends(record.engine)
    newest = max((end.at for end in ends), default=None)

    incidents = []
    for end in ends:
        incidents += round_incidents(end, at, end.at == newest)
    add_incidents(record.engine, incidents)

    failing = [incident.subject for incident in incidents if incident.kind == "all_agents_failed"]
    end_incidents(record.engine, "all_agents_failed", at, but=failing)
    note_agents(record, ends, at)


def note_agents(record: Record, ends: Sequence[RoundEnd], at: datetime) -> None:
    """Record which agents wait for a key, keep failing or ask at no known price; and where that is over.

    Each is reported once until it is over. An agent keeps failing if it had two turns or more at the newest
    decision times, and all of them failed.
    """
    played: dict[str, list[RoundEnd]] = defaultdict(list)
    for end in ends:
        for name, status in end.statuses.items():
            if status is not None:
                played[name].append(end)

    texts = _agent_troubles_in_words(played)
    for kind, agents in texts.items():
        for name, text in agents.items():
            incident = agent_incident(kind, name, text, played[name][-1], at)
            add_incidents(record.engine, [incident], unless=f"{name}@")

    _end_agent_incidents(record, texts, played, at)


def _agent_troubles_in_words(played: dict[str, list[RoundEnd]]) -> dict[IncidentKind, dict[str, str]]:
    """Return the trouble of each agent in words, by the kind of incident and the agent's name."""
    waiting = {}
    failing = {}
    unpriced = {}
    for name, ends in played.items():
        newest = ends[-1]
        if name in newest.waiting:
            waiting[name] = f"{name} is {newest.waiting[name]}"
        if len(ends) > 1 and all(name in end.failed for end in ends):
            failing[name] = f"{name}: {FAILING}"
        if name in newest.unpriced:
            unpriced[name] = f"{name}: {UNPRICED}"

    return {"agent_waiting": waiting, "agent_failing": failing, "cost_unknown": unpriced}


def _end_agent_incidents(
    record: Record,
    texts: dict[IncidentKind, dict[str, str]],
    played: dict[str, list[RoundEnd]],
    at: datetime,
) -> None:
    """End the ongoing incidents of agents that `texts` no longer has, and record that they are over."""
    for recorded in record.read(read_recent_incidents, MOST_ONGOING, only_open=True):
        incident = recorded.incident
        agent = incident.data.get("agent")
        if incident.kind not in texts or agent in texts[incident.kind]:
            continue

        # An agent whose newest turn failed has not recovered, even if that turn is its only one.
        if incident.kind == "agent_failing" and agent in played and agent in played[agent][-1].failed:
            continue

        if agent in played:
            add_incidents(record.engine, [agent_over(incident, at)])
        end_incidents(record.engine, incident.kind, at, about=incident.subject)


def note_unsettled(record: Record, at: datetime) -> None:
    """Record which held markets have been closed for long without settling, and which no longer are."""
    unsettled = {incident.data["market"]: incident for incident in record.read(_read_unsettled, at)}
    for market, incident in unsettled.items():
        add_incidents(record.engine, [incident], unless=f"{market}@")

    for recorded in record.read(read_recent_incidents, MOST_ONGOING, only_open=True):
        incident = recorded.incident
        if incident.kind == "market_unsettled" and incident.data.get("market") not in unsettled:
            end_incidents(record.engine, "market_unsettled", at, about=incident.subject)


def _read_unsettled(connection: Connection, now: datetime) -> list[Incident]:
    """Return an incident for each held market of a live venue that closed long ago without a resolution."""
    open_cohorts = read_cohorts(connection, only_open=True)
    live_ids = [stored.id for stored in open_cohorts if stored.cohort.stamp == "live"]
    query = (
        select(EntryRow.market_id, EntrantRow.name)
        .select_from(joined(EntrantRow, EntryRow))
        .where(col(EntrantRow.cohort_id).in_(live_ids), EntryRow.market_id != "")
        .where(col(EntryRow.market_id).not_in(select(ResolutionRow.market_id)))
        .group_by(EntryRow.market_id, EntrantRow.id, EntrantRow.name)
        .having(func.sum(EntryRow.shares) > 0)
        .order_by(EntryRow.market_id, EntrantRow.name)
    )
    holders: dict[MarketId, list[str]] = defaultdict(list)
    for market, name in connection.execute(query):
        names = holders[MarketId(market)]
        if name not in names:
            names.append(name)
    if not holders:
        return []

    incidents = []
    for market_id, closed_at in read_closed_since(connection, list(holders), now).items():
        if now - closed_at >= UNSETTLED_AFTER:
            incidents.append(market_unsettled(market_id, closed_at, holders[market_id], now))
    return incidents


def note_played(record: Record, venue: str, due: datetime, at: datetime, fault: BaseException | None) -> None:
    """Record the outcome of a cohort's round: played, without its venue, or broken off."""
    trouble = venue_trouble(fault)
    if fault is None or trouble is not None:
        note_venue(record, venue, at, trouble)
        note_rejected(record, venue, at)
    else:
        add_incidents(record.engine, [aborted_rounds(due, at, coded_error(fault))])
        note_damage(record, at, fault)

    note_rounds(record, at)
    note_unsettled(record, at)


def note_job(record: Record, name: str, venue: str, at: datetime, fault: BaseException | None) -> None:
    """Record the outcome of a job: whether its venue answered, or the record was consistent."""
    _note_venues(record, name, venue, at, fault)
    if name == "catalogue" and fault is None:
        note_rejected(record, venue, at)
    if name in SETTLING_JOBS and fault is None:
        note_unsettled(record, at)
    if name == "publish":
        note_site(record, at, fault)
    if name in VERIFYING_JOBS:
        note_verified(record, name, at, fault)
    elif fault is not None:
        note_damage(record, at, fault)
    _note_failing(record, name, at, fault)


def _note_venues(record: Record, name: str, venue: str, at: datetime, fault: BaseException | None) -> None:
    """Record which venues gave an answer to a job that asks them."""
    if name in VENUE_JOBS:
        faults = fault.faults if isinstance(fault, Unanswered) else [(venue, fault)]
        for asked_venue, venue_fault in faults:
            trouble = venue_trouble(venue_fault)
            if venue_fault is None or trouble is not None:
                note_venue(record, asked_venue, at, trouble)


def _note_failing(record: Record, name: str, at: datetime, fault: BaseException | None) -> None:
    """Record that a job fails for a cause of its own, or that it no longer does."""
    if fault is None:
        end_incidents(record.engine, "job_failing", at, about=f"{name}@")
        return

    # Other incidents tell of a venue, of the record, and of the web site.
    is_venue = isinstance(fault, Unanswered) or venue_trouble(fault) is not None
    error = coded_error(fault)
    if is_venue or name == "publish" or error.code in (*RECORD_FAULTS, *DATABASE_CODES):
        return
    add_incidents(record.engine, [job_failing(name, at, error)], unless=f"{name}@")


def coded_error(fault: BaseException) -> ArenaError:
    """Return a fault as an error with a code, and with a message that may be stored.

    The message of a foreign error may hold anything, so only its type is kept, and that of its cause.
    """
    if isinstance(fault, ArenaError):
        return ArenaError(fault.code, redact_keys(error_text(fault)))
    return ArenaError("broken", f"an unexpected error: {type_text(fault)}")


def note_damage(record: Record, at: datetime, fault: BaseException) -> None:
    """Record that the record's file is damaged, if that is the fault."""
    if isinstance(fault, ArenaError) and fault.code == "damaged":
        add_incidents(record.engine, [record_inconsistent("file", at, coded_error(fault))], unless="file@")


def note_unusable(record: Record, at: datetime, fault: BaseException, trouble: RecordTrouble) -> None:
    """Keep in memory that the record can't be used, and write it to the record if possible."""
    if trouble.incident is not None:  # known already
        return

    error = coded_error(fault)
    incident = record_unusable(at, error)
    if error.code == "damaged":
        incident = record_inconsistent("file", at, error)

    trouble.incident = incident
    trouble.reason = incident_reason(RecordedIncident(0, incident, None, None, 0, None), Status(at))
    if error.code in AWAY_CODES:  # trying would take another half minute
        return
    try:
        add_incidents(record.engine, [incident], unless=incident.subject.partition("@")[0] + "@")
        trouble.is_written = True
    except Exception:  # noqa: BLE001 - it is what this is about, and is sent from memory
        trouble.is_written = False


def note_usable(record: Record, at: datetime, trouble: RecordTrouble) -> None:
    """Record that the record can be used again, and since when it could not be."""
    incident = trouble.incident
    if incident is None:
        return

    if not trouble.is_written:
        add_incidents(record.engine, [incident])
        if trouble.is_sent:
            for recorded in record.read(read_ongoing_incidents, incident.kind, incident.subject):
                record_delivery(record.engine, recorded.id, at, None)
    end_incidents(record.engine, "record_unusable", at)
    trouble.forget()


def note_takeover(record: Record, at: datetime, me: str, former: FormerLead) -> None:
    """Record that this process leads in place of one that had not let go of it."""
    why = "it has ended without letting go"
    if not is_gone(former.holder) and former.renewed_at is not None:
        why = f"no sign of it since {former.renewed_at:%Y-%m-%d %H:%M} UTC by the clock of the database"
    add_incidents(record.engine, [lead_taken(at, me, former.holder, why)])


def note_clock(record: Record, incident: Incident) -> None:
    """Record that the clock has stepped, or is behind the record."""
    add_incidents(record.engine, [incident])


def note_workers(record: Record, at: datetime, gone: bool) -> None:
    """Record that no worker gives a sign of life, or that one does again."""
    if gone:
        add_incidents(record.engine, [workers_gone(at)], unless="workers@")
    else:
        end_incidents(record.engine, "workers_gone", at)


def note_verified(record: Record, job: str, at: datetime, fault: BaseException | None) -> None:
    """Record whether a job found the record to be consistent.

    A backup has read all of it, so nothing is wrong any more. The daily check has read again what it found
    to be wrong before, and no more.
    """
    if fault is None:
        about = "" if job == "backup" else f"{job}@"
        end_incidents(record.engine, "verify_failed", at, about=about)
        return

    note_damage(record, at, fault)
    if isinstance(fault, ArenaError) and fault.code == "differs":
        add_incidents(record.engine, [record_inconsistent(job, at, fault)], unless=f"{job}@")


def end_trouble(address: str, kind: IncidentKind, at: datetime) -> None:
    """Note in a record that a trouble is over; open it for writing only if the trouble is ongoing."""
    with open_read_only(address) as engine, reading(engine) as connection:
        ongoing = read_ongoing_incidents(connection, kind, "")
    if ongoing:
        with closing(Record.open(address)) as record:
            end_incidents(record.engine, kind, at)


def note_site(record: Record, at: datetime, fault: BaseException | None) -> None:
    """Record whether the web site was brought up to date."""
    if fault is None:
        end_incidents(record.engine, "site_unpublished", at)
        return

    code = fault.code if isinstance(fault, ArenaError) else "broken"
    error = ArenaError(code, redact_keys(error_text(fault)))
    add_incidents(record.engine, [site_unpublished(at, error)], unless="site@")


def venue_trouble(fault: BaseException | None) -> CodedError | None:
    """Return the error of a venue that was the cause of a fault, if one was."""
    if fault is not None and isinstance(fault.__cause__, VenueError):
        return fault.__cause__
    if isinstance(fault, VenueError | VenueUnavailable):
        return fault
    return None


def venue_error_text(fault: BaseException) -> str:
    """Return the message of a fault; where a person has to correct a venue's file, with how."""
    trouble = venue_trouble(fault)
    text = error_text(fault)
    if isinstance(trouble, VenueError) and trouble.stops and trouble.hint:
        text += f" → {redact_keys(trouble.hint)}"
    return text


def note_missed(record: Record, missed: Iterable[MissedRound], at: datetime) -> None:
    """Record the newest of the missed rounds of each cohort, and the newest missed start."""
    newest = {}
    for skipped in sorted(missed, key=lambda skipped: skipped.at):
        newest[skipped.cohort] = missed_round(skipped.cohort, skipped.number, skipped.at, at)

    add_incidents(record.engine, list(newest.values()))


def note_venue(record: Record, venue: str, at: datetime, trouble: CodedError | None) -> None:
    """Record that a venue gives no answer; without trouble, that it does, which ends an outage.

    A venue whose catalogue is incomplete does answer. Only a complete catalogue ends that incident.
    """
    if trouble is None or trouble.code == "incomplete":
        end_incidents(record.engine, "venue_down", at, about=f"{venue}@")
    if trouble is None:
        return

    message = trouble.message
    if isinstance(trouble, VenueError):
        message = venue_error_text(trouble)
    error = ArenaError(trouble.code, redact_keys(message))
    make_incident = catalogue_incomplete if trouble.code == "incomplete" else venue_outage
    add_incidents(record.engine, [make_incident(venue, at, error)], unless=f"{venue}@")


def note_rejected(record: Record, venue: str, at: datetime) -> None:
    """Record that the share of a venue's records that are rejected rises, or that it no longer does."""
    incident = records_rejected(record.read(_read_catalogues, venue), at)
    if incident is None:
        end_incidents(record.engine, "records_rejected", at, about=f"{venue}@")
    else:
        add_incidents(record.engine, [incident], unless=f"{venue}@")


def _read_catalogues(connection: Connection, venue: str) -> list[CatalogueRead]:
    """Return the newest readings of a venue's catalogue, the last one first."""
    columns = columns_of(SyncRow, ("venue", "at", "markets", "left_out", "rejected"))
    query = select(*columns).where(SyncRow.venue == venue).order_by(col(SyncRow.number).desc())

    reads = []
    for venue_name, at, markets, left_out, rejected in connection.execute(query.limit(COMPARED_READS)):
        reads.append(CatalogueRead(venue_name, at, markets, json.loads(left_out), rejected))
    return reads


async def report_decision_time(
    config: Config, record: Record, due: datetime, fault: BaseException | None, say: Callable[[str], None]
) -> None:
    """Record how a decision time went that was played by itself, and send what is to be sent, once.

    What does not arrive is sent again by the next process that plays. Nothing is recorded where another
    process is playing.
    """
    if isinstance(fault, ArenaError) and fault.code == "busy":
        return

    webhook = webhook_of(config.watch, environment(config.folder, os.environ))
    venue = fault.venue if isinstance(fault, VenueUnavailable) else config.markets.venue
    try:
        note_played(record, venue, due, this_instant(), fault)
    except ArenaError as error:
        say(f"could not log an event: {error.message}")

    stop_at_once = asyncio.Event()
    stop_at_once.set()
    await keep_publishing(config, record, this_instant, stop_at_once, say)
    read_status = status_source(record, config, this_instant)
    await keep_sending(record, webhook, this_instant, stop_at_once, say, read_status)


@asynccontextmanager
async def monitoring(
    config: Config,
    record: Record,
    now: Callable[[], datetime],
    me: str,
    say: Callable[[str], None],
    good_step: asyncio.Event,
    trouble: RecordTrouble,
) -> AsyncIterator[None]:
    """Serve the health endpoint, send messages and publish heads, for as long as the block lasts.

    After each `good_step` the address for pings is pinged. `now` is the arena's time, which may be pretended;
    messages are sent by the real one. `trouble` has what can't be written to the record.
    """
    environ = environment(config.folder, os.environ)
    webhook = webhook_of(config.watch, environ)
    ping_address = ping_of(environ)
    note_rounds(record, now())

    stop = asyncio.Event()
    read_status = status_source(record, config, now, me)
    async with serve_health(read_status, config.watch.health):
        tasks = asyncio.gather(
            keep_sending(record, webhook, this_instant, stop, say, read_status, trouble),
            keep_publishing(config, record, this_instant, stop, say),
            keep_pinging(record, ping_address, good_step, this_instant, stop, say),
        )
        try:
            yield
        finally:
            stop.set()
            await tasks
