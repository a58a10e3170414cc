"""What the jobs of `arena run` do between rounds, each at its scheduled time. Done twice, they do nothing.

Beside them the one function that does whatever is due: a cohort's start, its round or snapshot, or a job.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from arena.cohorts.cohort import newest_numbers
from arena.cohorts.freeze import plan_of
from arena.cohorts.replacements import unproven_hint
from arena.cohorts.schedule import TICK
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.operations.due import Due
from arena.operations.page_programs import draw_pages, published_version
from arena.operations.status import read_status_by_config
from arena.operations.today import read_tasks, weekly_digest
from arena.record.files.backup import Backup
from arena.record.files.backup import backup as make_backup
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import RoundReport
from arena.record.model.incident import Incident
from arena.record.queries.cohorts import StoredCohort, has_marks, read_followed_markets, read_newest_time
from arena.record.queries.progress import CohortProgress, season_version
from arena.record.record import Record
from arena.record.schema.database import Connection, open_read_only
from arena.record.write.listings import add_quotes, prune_quotes
from arena.record.write.operations import LeaseLost, add_incidents
from arena.record.write.sync import VenueSource, last_synced_at
from arena.rounds.error_text import error_text
from arena.rounds.round import close_round, play_round, track_cohort
from arena.rounds.season import begin_due_cohort, end_cohort_if_over, open_cohorts
from arena.rounds.settlement import settle_ended, sync_resolutions, sync_venue
from arena.rounds.world import World
from arena.scores.leaderboard import read_leaderboard
from arena.scores.refresh import refresh_cache, refresh_leaderboards
from arena.verify.content import verified_content
from markets.hashes import canonical
from markets.universe import filter_for
from markets.venue import QuarantinedRecord, Venue, VenueError


@dataclass(frozen=True, slots=True)
class JobContext:
    """Where jobs are done: the config, the doors, the record, and the config's own venue.

    `quarantined` is where that venue reports to. Cohorts in `blocked` have something earlier to do: a venue
    that isn't live is not looked at before they have.
    With `baselines` a cohort starts though no model has its key.
    """

    config: Config
    world: World
    record: Record
    source: VenueSource
    venue: Venue
    quarantined: list[QuarantinedRecord] = field(default_factory=list)
    blocked: Collection[int] = ()
    baselines: bool = False

    def when(self, source: VenueSource, at: datetime) -> datetime:
        """What time a venue is looked at for something scheduled: a live one only shows the present."""
        return self.world.now() if source.stamp == "live" else at


async def catalogue(context: JobContext, at: datetime) -> str:
    """Read all that the config's venue has on offer, without asking how markets ended."""
    when, last = context.when(context.source, at), context.record.read(last_synced_at, context.source)
    if last is not None and last >= min(when, at) - TICK:  # a round reads it a moment before its prices
        return "read already"
    context.quarantined.clear()
    wanted = filter_for([context.config.markets.universe], when)
    found = await sync_venue(
        context.venue, context.source, context.record, when, context.quarantined, wanted=wanted
    )
    synced, left_out = found.synced, sum(found.left_out.values())
    markets, prices = count_text(synced.markets, "market"), count_text(synced.quotes, "new price")
    words = f"{markets}, {synced.new:,} new, {prices}" + (f", {left_out:,} left out" if left_out else "")
    return f"{words}; {found.note}" if found.note else words


async def quotes(context: JobContext, at: datetime) -> str:
    """Read the prices of all markets that were shown or are held, and of which no end is known."""
    asked = context.record.read(read_followed_markets, at)
    known = set(asked)

    async def look(source: VenueSource, venue: Venue) -> int:
        listings = await venue.listings(context.when(source, at), asked)
        known_listings = [listing for listing in listings if listing.market.id in known]
        return len(context.record.write(add_quotes, known_listings).fresh)

    fresh = await _at_every_venue(context, at, look) if asked else 0
    return f"{count_text(len(asked), 'market')}, {count_text(fresh, 'new price')}"


async def resolutions(context: JobContext, at: datetime) -> str:
    """Ask how markets ended that were played, or have lost their price."""

    async def look(source: VenueSource, venue: Venue) -> int:
        within = context.world.corrected_within
        return await sync_resolutions(venue, source, context.record, context.when(source, at), within)

    return f"{count_text(await _at_every_venue(context, at, look), 'new end')}"


async def marks(context: JobContext, at: datetime) -> str:
    """Settle and value every open cohort that has nothing earlier to do; the others are paid corrections."""
    done, troubles = 0, list[str]()
    for stored in open_cohorts(context.record):
        number = stored.cohort.number
        if number in context.blocked or not _behind(stored, at, context.record):
            continue
        try:
            await track_cohort(stored, at, context.world, context.record)
            done += 1
        except LeaseLost:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one cohort must not stop the others
            troubles.append(f"cohort {number}: {error_text(error)}")
    if troubles:
        raise ArenaError("not_marked", "; ".join(troubles), status=2)
    return f"{count_text(done, 'cohort')} settled and marked"


async def boards(context: JobContext, at: datetime) -> str:
    """Bring the leaderboards up to date, where a round was played, an account marked, or a market ended."""
    done = await asyncio.to_thread(refresh_leaderboards, context.record, at)
    return f"{count_text(done, 'board')} computed" if done else "nothing has changed"


async def scores(context: JobContext, at: datetime) -> str:
    """Work out what the dashboard shows of agents in depth, where a market has ended since the last time."""
    done = await asyncio.to_thread(refresh_cache, context.record, at)
    return f"{count_text(done, 'figure')} computed" if done else "nothing has changed"


async def retention(context: JobContext, at: datetime) -> str:
    """Let quotes go that are older than the config keeps them, and that nothing stands on."""
    edge = at - timedelta(seconds=context.config.run.keep_quotes)
    thinned = await asyncio.to_thread(context.record.write, prune_quotes, edge, at)
    return f"{count_text(thinned.goes, 'quote')} from before {edge:%Y-%m-%d} went"


async def backup(context: JobContext, at: datetime) -> str:
    """Make a backup that is verified, named by its time; the oldest ones go."""
    config = context.config

    def progress(_what: str, _done: int, _of: int | None) -> None:
        if context.world.under_way.closed:
            raise Stopped("the backup was interrupted; it is made at the next start")

    def make() -> Backup:
        with open_read_only(config.database) as engine:
            return make_backup(engine, config.backups, config.backup.keep, at, verified_content, progress)

    new = await asyncio.to_thread(make)
    return f"{new.path.name}, {new.size:,} bytes, verified; {len(new.gone)} old deleted"


async def publish(context: JobContext, _at: datetime) -> str:
    """Bring the web site up to the record, where a page may have changed."""
    config, site = context.config, context.config.site
    if site is None:
        return "no directory"
    if context.record.read(season_version) == published_version(site):
        return "nothing has changed"

    def moved(_done: int, _of: int | None) -> None:
        if context.world.under_way.closed:
            raise Stopped("publishing was interrupted; the site was not changed")

    more = ["--prompts"] if config.publish.prompts else []
    drawn = await asyncio.to_thread(draw_pages, "publish", config.database, site, more, moved)
    return f"{count_text(drawn['files'], 'file')}, {drawn['written']:,} written, {drawn['removed']:,} removed"


async def digest(context: JobContext, at: datetime) -> str:
    """Tell the operator what is to be done and who leads, where there is a webhook."""
    config, record = context.config, context.record
    first = min((one.cohort.starts_at for one in record.cohorts()), default=at)
    if at - first < WEEK:
        return "no full week has been played yet"

    def read(connection: Connection) -> Incident:
        status = read_status_by_config(connection, context.world.now(), config)
        return weekly_digest(at, read_tasks(connection, status, config), read_leaderboard(connection))

    found = await asyncio.to_thread(record.read, read)
    add_incidents(record.engine, [found])
    return found.text


class Stopped(Exception):
    """A job was broken off, for the arena is to stop. It is due again."""


class Unanswered(ArenaError):
    """Venues that gave no answer, each with what went wrong there."""

    def __init__(self, faults: Sequence[tuple[str, BaseException]]):
        words = "; ".join(f"{venue}: {error_text(fault)}" for venue, fault in faults)
        hints = (fault.hint for _, fault in faults if isinstance(fault, VenueError))
        super().__init__("no_answer", words, "; ".join(dict.fromkeys(hint for hint in hints if hint)))
        self.faults = tuple(faults)


JobFunction = Callable[[JobContext, datetime], Awaitable[str]]
JOB_FUNCTIONS: Mapping[str, JobFunction] = {
    job.__name__: job
    for job in (quotes, resolutions, marks, boards, scores, catalogue, publish, retention, backup, digest)
}
"""The jobs by name; each says in a few words what it did."""


def _behind(stored: StoredCohort, at: datetime, record: Record) -> bool:
    """Whether a cohort was not yet looked at, and marked, at that time or later."""
    looked = record.read(read_newest_time, stored.id)
    if looked is None or looked < at:
        return stored.cohort.starts_at < at
    return looked == at and not record.read(has_marks, stored.id, at)


async def _at_every_venue(
    context: JobContext, at: datetime, look: Callable[[VenueSource, Venue], Awaitable[int]]
) -> int:
    """Look at every venue, and say in the end which of them had no answer. What they quarantined is kept."""
    found, faults = 0, list[tuple[str, BaseException]]()
    cohorts = [stored.cohort for stored in open_cohorts(context.record)]
    behind = any(cohort.stamp != "live" and cohort.number in context.blocked for cohort in cohorts)
    if behind:
        cohorts = [cohort for cohort in cohorts if cohort.stamp == "live"]
    for cohort in {canonical([one.venue, one.venue_settings]): one for one in cohorts}.values():
        source = VenueSource(cohort.venue, cohort.stamp)
        try:
            found += await look(source, context.world.venue(cohort))
        except ArenaError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one venue must not stop the others
            faults.append((source.venue, error))
        finally:
            context.record.quarantine(context.world.quarantined, at)
            context.world.quarantined.clear()
    if faults:
        raise Unanswered(faults)
    return found


LastLook = tuple[datetime | None, datetime | None]
"""When a cohort was last looked at, and since when it is stopped."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How it went, in words and as data. What has `failed` is tried again; `busy` is in another's hands."""

    note: str
    failed: bool = False
    busy: bool = False
    report: RoundReport | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


async def do_step(due: Due, config: Config, context: JobContext) -> StepOutcome:
    """What is due of the cohorts."""
    try:
        if due.step == "settle":
            await settle_ended(context.when(context.source, due.at), context.world, context.record)
            return StepOutcome("corrections were read")
        if due.stored is not None:
            return await _play_step(due, due.stored, context)
        plan = plan_of(config, due.at, context.record.begun(), None if context.baselines else os.environ)
        begin_due_cohort(due.at, plan, context.record)
        number = context.record.cohorts()[-1].cohort.number
        return StepOutcome(f"cohort {number} has started", data={"cohort": number})
    except ArenaError as error:
        if error.code not in ("busy", "raced"):
            raise
        return StepOutcome(error.message, busy=True)


def end_cohorts(
    progress: Sequence[CohortProgress], known: dict[int, LastLook], keep: int, record: Record
) -> list[int]:
    """End the cohorts that are over, at the time of their last look; their numbers.

    `known` are looks after which a cohort was not over: only a later one, or a stop, can make it so.
    """
    everyone, ended = [one.stored for one in progress], list[int]()
    for one in progress:
        stored, looked = one.stored, one.snapshot_at
        may_be_over = stored.ended_at is None and one.marked and all(round.done for round in one.rounds)
        seen = looked, stored.stopped_at
        if looked is None or not may_be_over or known.get(stored.id) == seen:
            continue
        among = newest_numbers(everyone, looked, keep)
        if end_cohort_if_over(stored, looked, stored.cohort.number in among, record):
            ended.append(stored.cohort.number)
        known[stored.id] = seen
    return ended


async def _play_step(due: Due, stored: StoredCohort, context: JobContext) -> StepOutcome:
    number, cohort = due.number, stored.cohort.number
    if number is None:
        await track_cohort(stored, due.at, context.world, context.record)
        return StepOutcome("settled and marked", data={"cohort": cohort})
    play = close_round if due.step == "close" else play_round
    report = await play(stored, number, context.world, context.record)
    again = bool(report.failed) and due.step == "play"
    note = f"round {number}: {_turns_text(report)}"
    data = {"cohort": cohort, "round": number, "turns": len(report.turns), "failed": list(report.failed)}
    return StepOutcome(note, again, bool(report.waiting), report, data)


def _turns_text(report: RoundReport) -> str:
    """A round's turns in words."""
    if report.waiting:
        return f"another process is playing {', '.join(report.waiting)}"
    words = [count_text(len(report.turns), "turn")]
    if report.stopped:
        words.append(f"{', '.join(report.stopped)} stopped by the budget")
    if others := [name for name in report.failed if name not in report.stopped]:
        words.append(f"{', '.join(others)} failed")
    if late := [turn.entrant for turn in report.turns if turn.decision.status == "late"]:
        words.append(f"{', '.join(late)} too late")
    if report.unproven and report.turns:
        words.append(unproven_hint(report.unproven))
    return "; ".join([*words, *report.replaced, *report.trouble])
