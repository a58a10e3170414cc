"""Incidents: what an operator should hear of is written to the record, and from there sent to the webhook.

Each function may be called as often as one likes: an incident that is there is not written again. One that
lasts, such as an outage, ends when it is over, and the next one is reported again.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from arena.clock import now as this_instant
from arena.config import Config, environment
from arena.errors import ArenaError
from arena.operations.due import MissedRound
from arena.operations.http import serve_health
from arena.operations.jobs import Unanswered
from arena.operations.publisher import keep_publishing
from arena.operations.status import status_source
from arena.operations.webhook import keep_pinging, keep_sending, ping_of, webhook_of
from arena.record.model.incident import (
    FAILING,
    UNPRICED,
    CodedError,
    IncidentKind,
    RoundEnd,
    aborted_rounds,
    agent_incident,
    agent_over,
    backup_not_kept,
    catalogue_incomplete,
    market_unsettled,
    missed_round,
    records_rejected,
    round_incidents,
    site_unpublished,
    venue_outage,
)
from arena.record.queries.markets import read_unsettled_markets
from arena.record.queries.operations import read_catalogues
from arena.record.record import Record
from arena.record.write.operations import (
    add_incidents,
    end_incidents,
    read_recent_incidents,
    read_round_ends,
)
from arena.rounds.error_text import error_text, redact_keys
from arena.rounds.settlement import VenueUnavailable
from markets.venue import VenueError

COMPARED_READS = 11
"""The newest reading of a catalogue is compared with the ten before it."""
UNSETTLED_AFTER = timedelta(days=14)
"""How long after it closed a market that is held may be without a known end."""
SETTLING_JOBS = ("resolutions", "marks")
"""Jobs that learn how markets ended."""
VENUE_JOBS = ("catalogue", "quotes", "resolutions")
"""Jobs that ask a venue."""
MOST_WAITING = 1_000
"""So many incidents that go on are looked at for agents that have waited."""
RECORD_FAULTS = ("differs", "damaged")
"""What a backup says of a record that does not agree with itself."""


def note_rounds(record: Record, at: datetime) -> None:
    """Note what the newest rounds in the record tell: who failed, and whom a budget stopped.

    To be called after each decision time, and as one starts: then what was played just before is noted too.
    """
    ends = read_round_ends(record.engine)
    newest = max((one.at for one in ends), default=None)
    found = [incident for one in ends for incident in round_incidents(one, at, one.at == newest)]
    add_incidents(record.engine, found)
    failing = [incident.subject for incident in found if incident.kind == "all_agents_failed"]
    end_incidents(record.engine, "all_agents_failed", at, but=failing)
    note_agents(record, ends, at)


def note_agents(record: Record, ends: Sequence[RoundEnd], at: datetime) -> None:
    """Note who waits for a key, fails in all turns of late, or asks at no known price; and when that is over.

    Each is told once until it is over. Who fails has had two turns or more at the newest decision times.
    """
    turns: dict[str, list[RoundEnd]] = defaultdict(list)
    for one in ends:
        for name in (name for name, status in one.statuses.items() if status is not None):
            turns[name].append(one)
    newest = {name: own[-1] for name, own in turns.items()}
    waiting = {name: one.waiting[name] for name, one in newest.items() if name in one.waiting}
    failing = [name for name, own in turns.items() if len(own) > 1 and all(name in x.failed for x in own)]
    unpriced = [name for name, own in turns.items() if name in own[-1].unpriced]
    found: dict[IncidentKind, dict[str, str]] = {
        "agent_waiting": {name: f"{name} is {words}" for name, words in waiting.items()},
        "agent_failing": {name: f"{name}: {FAILING}" for name in failing},
        "cost_unknown": {name: f"{name}: {UNPRICED}" for name in unpriced},
    }
    for kind, agents in found.items():
        for name, words in agents.items():
            told = agent_incident(kind, name, words, newest[name], at)
            add_incidents(record.engine, [told], unless=f"{name}@")
    for open_one in record.read(read_recent_incidents, MOST_WAITING, only_open=True):
        was = open_one.incident
        agent = was.data.get("agent")
        fails = was.kind == "agent_failing" and agent in newest and agent in newest[agent].failed
        if was.kind in found and agent not in found[was.kind] and not fails:
            if agent in newest:
                add_incidents(record.engine, [agent_over(was, at)])
            end_incidents(record.engine, was.kind, at, about=was.subject)


def note_unsettled(record: Record, at: datetime) -> None:
    """Note which markets are held, closed for long and not settled, and that others no longer are."""
    unsettled = {one.id: one for one in record.read(read_unsettled_markets, at, UNSETTLED_AFTER)}
    for market in unsettled.values():
        told = market_unsettled(market.id, market.closed_at, market.agents, at)
        add_incidents(record.engine, [told], unless=f"{market.id}@")

    ongoing = record.read(read_recent_incidents, MOST_WAITING, only_open=True)
    for incident in (recorded.incident for recorded in ongoing):
        if incident.kind == "market_unsettled" and incident.data.get("market") not in unsettled:
            end_incidents(record.engine, "market_unsettled", at, about=incident.subject)


def note_played(record: Record, venue: str, due: datetime, at: datetime, fault: BaseException | None) -> None:
    """Note how the round of a cohort went at a decision time: played, without its venue, or broken off."""
    trouble = venue_trouble(fault)
    if fault is None or trouble is not None:
        note_venue(record, venue, at, trouble)
        note_rejected(record, venue, at)
    else:
        # Without words that may be anyone's.
        told = (
            ArenaError(fault.code, error_text(fault))
            if isinstance(fault, ArenaError)
            else ArenaError("broken", type(fault).__name__)
        )
        add_incidents(record.engine, [aborted_rounds(due, at, told)])
    note_rounds(record, at)
    note_unsettled(record, at)


def note_job(record: Record, name: str, venue: str, at: datetime, fault: BaseException | None) -> None:
    """Note how a job went: whether its venue gave an answer, or the record was found to agree with itself."""
    faults = fault.faults if isinstance(fault, Unanswered) else [(venue, fault)]
    for where, why in faults if name in VENUE_JOBS else ():
        trouble = venue_trouble(why)
        if why is None or trouble is not None:
            note_venue(record, where, at, trouble)
    if name == "catalogue" and fault is None:
        note_rejected(record, venue, at)
    if name in SETTLING_JOBS and fault is None:
        note_unsettled(record, at)
    if name == "publish":
        note_site(record, at, fault)
    if name == "backup":
        note_backup(record, at, fault)


def note_backup(record: Record, at: datetime, fault: BaseException | None) -> None:
    """Note whether a backup found that the record agrees with itself."""
    if fault is None:
        end_incidents(record.engine, "verify_failed", at)
    elif isinstance(fault, ArenaError) and fault.code in RECORD_FAULTS:
        add_incidents(record.engine, [backup_not_kept(at, fault)], unless="backup@")


def note_site(record: Record, at: datetime, fault: BaseException | None) -> None:
    """Note whether the web site was brought up to date."""
    if fault is None:
        end_incidents(record.engine, "site_unpublished", at)
    else:
        code = fault.code if isinstance(fault, ArenaError) else "broken"
        told = ArenaError(code, redact_keys(error_text(fault)))
        add_incidents(record.engine, [site_unpublished(at, told)], unless="site@")


def venue_trouble(fault: BaseException | None) -> CodedError | None:
    """What a venue said in place of an answer, where that is what went wrong."""
    cause = None if fault is None else fault.__cause__
    found = next((x for x in (cause, fault) if isinstance(x, VenueError)), None)
    return found or (fault if isinstance(fault, VenueUnavailable) else None)


def note_missed(record: Record, rounds: Iterable[MissedRound], at: datetime) -> None:
    """Note rounds that were not played in their time, and starts: of each cohort the newest."""
    newest = {one.cohort: one for one in sorted(rounds, key=lambda one: one.at)}
    add_incidents(
        record.engine, [missed_round(one.cohort, one.number, one.at, at) for one in newest.values()]
    )


def note_venue(record: Record, venue: str, at: datetime, trouble: CodedError | None) -> None:
    """Note that a venue gives no answer; without trouble, that it does, which ends an outage.

    A venue whose catalogue is incomplete does answer. A whole catalogue ends that, not any other answer.
    """
    if trouble is None or trouble.code == "incomplete":
        end_incidents(record.engine, "venue_down", at, about=f"{venue}@")
    if trouble is None:
        return

    told = ArenaError(trouble.code, redact_keys(trouble.message))
    make = catalogue_incomplete if trouble.code == "incomplete" else venue_outage
    add_incidents(record.engine, [make(venue, at, told)], unless=f"{venue}@")


def note_rejected(record: Record, venue: str, at: datetime) -> None:
    """Note that the share of a venue's records that are rejected rises, or that it does no longer."""
    told = records_rejected(record.read(read_catalogues, venue, COMPARED_READS), at)
    if told is None:
        end_incidents(record.engine, "records_rejected", at, about=f"{venue}@")
    else:
        add_incidents(record.engine, [told], unless=f"{venue}@")


async def report_decision_time(
    config: Config, record: Record, due: datetime, fault: BaseException | None, say: Callable[[str], None]
) -> None:
    """Note how a decision time went that was played by itself, and tell what should be heard of, once.

    What does not arrive is sent again by whoever plays next. That another process plays is no news.
    """
    if isinstance(fault, ArenaError) and fault.code == "busy":
        return
    webhook = webhook_of(config.watch, environment(config.folder, os.environ))
    venue = fault.venue if isinstance(fault, VenueUnavailable) else config.markets.venue
    try:
        note_played(record, venue, due, this_instant(), fault)
    except ArenaError as error:
        say(f"could not log an event: {error.message}")
    at_once = asyncio.Event()
    at_once.set()
    await keep_publishing(config, record, this_instant, at_once, say)
    await keep_sending(record, webhook, this_instant, at_once, say)


@asynccontextmanager
async def monitoring(
    config: Config,
    record: Record,
    now: Callable[[], datetime],
    me: str,
    say: Callable[[str], None],
    good_step: asyncio.Event,
) -> AsyncIterator[None]:
    """While the block lasts health can be asked for, and what should be heard of is told.

    After each `good_step` the address that is to be pinged hears of it. `now` is the arena's time, which may
    be pretended; messages are sent by the real one.
    """
    environ = environment(config.folder, os.environ)
    webhook, pinged = webhook_of(config.watch, environ), ping_of(environ)
    note_rounds(record, now())
    stop = asyncio.Event()
    async with serve_health(status_source(record, config, now, me), config.watch.health):
        tasks = asyncio.gather(
            keep_sending(record, webhook, this_instant, stop, say),
            keep_publishing(config, record, this_instant, stop, say),
            keep_pinging(record, pinged, good_step, this_instant, stop, say),
        )
        try:
            yield
        finally:
            stop.set()
            await tasks
