"""The jobs of `arena run` between rounds, each for its scheduled time. A job done twice changes nothing more.

Beside them `do_step` takes the step that is due for a cohort: its start, its round or its snapshot.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from arena.cohorts.cohort import newest_cohort_numbers
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
from arena.record.schema.database import Connection, open_read_only, reading
from arena.record.schema.database_errors import record_name
from arena.record.write.listings import add_quotes, prune_quotes
from arena.record.write.operations import LeaseLost, add_incidents
from arena.record.write.sync import VenueSource, last_synced_at
from arena.rounds.error_text import error_text
from arena.rounds.round import close_round, play_round, track_cohort
from arena.rounds.season import begin_due_cohort, end_cohort_if_over, open_cohorts
from arena.rounds.settlement import settle_ended, sync_resolutions, sync_venue
from arena.rounds.world import World
from arena.scores.all_kinds import read_season_board
from arena.scores.refresh import refresh_cache
from arena.verify.content import verified_content, verify_next_part
from arena.verify.reader import PARTS, VerifiedHead
from markets.hashes import canonical
from markets.universe import filter_for
from markets.venue import QuarantinedRecord, Venue, VenueError


@dataclass(frozen=True, slots=True)
class JobContext:
    """What jobs need: the config, the world, the record, and the config's own venue.

    `quarantined` collects what that venue rejects. Cohorts in `blocked` have an earlier step to do: their
    venue is not looked at before, unless it is live. With `baselines` a cohort starts though no model has its
    key.
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
        """Return the time to ask a venue about for something scheduled: for a live one always now."""
        return self.world.now() if source.stamp == "live" else at


async def catalogue(context: JobContext, at: datetime) -> str:
    """Read the catalogue of the config's venue, without resolutions."""
    record = context.record
    source = context.source
    when = context.when(source, at)
    last = record.read(last_synced_at, source)
    if last is not None and last >= min(when, at) - TICK:  # a round reads it a moment before its prices
        return "read already"

    context.quarantined.clear()
    universe = filter_for([context.config.universe], when)
    report = await sync_venue(context.venue, source, record, when, context.quarantined, wanted=universe)

    markets = count_text(report.synced.markets, "market")
    prices = count_text(report.synced.quotes, "new price")
    left_out = sum(report.left_out.values())
    summary = f"{markets}, {report.synced.new:,} new, {prices}"
    if left_out:
        summary += f", {left_out:,} left out"
    if report.note:
        summary += f"; {report.note}"
    return summary


async def quotes(context: JobContext, at: datetime) -> str:
    """Read the prices of all markets shown or held whose resolution isn't known."""
    followed = context.record.read(read_followed_markets, at)

    async def look(source: VenueSource, venue: Venue) -> int:
        """Record the prices of one venue, and return how many are new."""
        listings = await venue.listings(context.when(source, at), followed)
        followed_ids = set(followed)
        listings = [listing for listing in listings if listing.market.id in followed_ids]
        return len(context.record.write(add_quotes, listings).fresh)

    new_prices = await _at_every_venue(context, at, look) if followed else 0
    return f"{count_text(len(followed), 'market')}, {count_text(new_prices, 'new price')}"


async def resolutions(context: JobContext, at: datetime) -> str:
    """Read the resolutions of markets that were played, or have lost their price."""

    async def look(source: VenueSource, venue: Venue) -> int:
        """Record how markets of one venue ended, and return how many ends are new."""
        within = context.world.corrected_within
        return await sync_resolutions(venue, source, context.record, context.when(source, at), within)

    new_ends = await _at_every_venue(context, at, look)
    return count_text(new_ends, "new end")


async def marks(context: JobContext, at: datetime) -> str:
    """Settle and value every open cohort that has no earlier step to do."""
    done = 0
    blocked = 0
    faults = []

    for stored in open_cohorts(context.record):
        number = stored.cohort.number
        if number in context.blocked:
            blocked += 1
            continue
        if not _is_behind(stored, at, context.record):
            continue
        try:
            await track_cohort(stored, at, context.world, context.record)
            done += 1
        except LeaseLost:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one cohort must not stop the others
            faults.append(f"cohort {number}: {error_text(error)}")

    if faults:
        raise ArenaError("not_marked", "; ".join(faults), status=2)
    return _marks_note(done, blocked)


def _marks_note(done: int, blocked: int) -> str:
    """Return how many cohorts the job has settled and marked: rounds do that too, so there may be none left.

    >>> _marks_note(2, 0), _marks_note(0, 0), _marks_note(0, 1)
    ('2 cohorts settled and marked', 'nothing was left to settle or mark', '1 cohort waits for its round')
    """
    if done:
        return f"{count_text(done, 'cohort')} settled and marked"
    if blocked:
        wait_for = "waits for its" if blocked == 1 else "wait for their"
        return f"{count_text(blocked, 'cohort')} {wait_for} round"
    return "nothing was left to settle or mark"


async def scores(context: JobContext, at: datetime) -> str:
    """Compute the leaderboards and what the dashboard shows of agents in depth, where they have changed."""
    done = await asyncio.to_thread(refresh_cache, context.record, at)
    return f"{count_text(done, 'figure')} computed" if done else "nothing has changed"


async def retention(context: JobContext, at: datetime) -> str:
    """Delete quotes that nothing refers to and that are older than the config keeps them."""
    seconds_kept = context.config.run.keep_quotes
    if seconds_kept is None:
        return "all quotes are kept"

    edge = at - timedelta(seconds=seconds_kept)
    thinned = await asyncio.to_thread(context.record.write, prune_quotes, edge, at)
    return f"{count_text(thinned.goes, 'quote')} from before {edge:%Y-%m-%d} went"


async def verify(context: JobContext, _at: datetime) -> str:
    """Verify what is new in the record, and the next part of its older rows."""
    config = context.config
    read_at = context.world.now()

    progress = _progress_that_stops(context, "verifying was interrupted; it is begun anew at the next start")

    def read() -> VerifiedHead:
        with open_read_only(config.database) as engine, reading(engine) as connection:
            name = record_name(engine.url)
            return verify_next_part(connection, config.file, name, read_at, progress)

    note = await asyncio.to_thread(read)
    if note.all_since == note.new_at:
        return "all rows are right"
    return f"new rows and part {note.part + 1} of {PARTS} of the older ones are right"


async def backup(context: JobContext, at: datetime) -> str:
    """Make a backup that is verified, named by its time, and delete the oldest ones."""
    config = context.config

    progress = _progress_that_stops(context, "the backup was interrupted; it is made at the next start")

    def make() -> Backup:
        with open_read_only(config.database) as engine:
            return make_backup(engine, config.backups, config.backup.keep, at, verified_content, progress)

    new = await asyncio.to_thread(make)
    return f"{new.path.name}, {new.size:,} bytes, verified; {len(new.gone)} old deleted"


async def publish(context: JobContext, _at: datetime) -> str:
    """Bring the web site up to the record, if a page may have changed."""
    config = context.config
    site = config.site
    if site is None:
        return "no directory"
    if context.record.read(season_version) == published_version(site):
        return "nothing has changed"

    progress = _progress_that_stops(context, "publishing was interrupted; the site was not changed")
    options = ["--prompts"] if config.publish.prompts else []
    drawn = await asyncio.to_thread(draw_pages, "publish", config.database, site, options, progress)
    return f"{count_text(drawn['files'], 'file')}, {drawn['written']:,} written, {drawn['removed']:,} removed"


async def digest(context: JobContext, at: datetime) -> str:
    """Send the operator the tasks and the leaderboard, if a full week has been played."""
    record = context.record
    first = min((stored.cohort.starts_at for stored in record.cohorts()), default=at)
    if at - first < WEEK:
        return "no full week has been played yet"

    def read(connection: Connection) -> Incident:
        status = read_status_by_config(connection, context.world.now(), context.config)
        tasks = read_tasks(connection, status)
        return weekly_digest(at, tasks, read_season_board(connection))

    incident = await asyncio.to_thread(record.read, read)
    add_incidents(record.engine, [incident])
    return incident.text


class Stopped(Exception):
    """A job was broken off because the arena is to stop. It is due again."""


def _progress_that_stops(context: JobContext, message: str) -> Callable[..., None]:
    """Return a progress function that raises `Stopped` with a message once the arena is to stop."""

    def progress(*_done: object) -> None:
        if context.world.under_way.closed:
            raise Stopped(message)

    return progress


class Unanswered(ArenaError):
    """Venues that gave no answer, each with what went wrong there."""

    def __init__(self, faults: Sequence[tuple[str, BaseException]]):
        self.faults = tuple(faults)
        messages = []
        hints = []
        for venue, fault in faults:
            messages.append(f"{venue}: {error_text(fault)}")
            if isinstance(fault, VenueError) and fault.hint and fault.hint not in hints:
                hints.append(fault.hint)

        super().__init__("no_answer", "; ".join(messages), "; ".join(hints))


JobFunction = Callable[[JobContext, datetime], Awaitable[str]]
JOB_FUNCTIONS: Mapping[str, JobFunction] = {
    job.__name__: job
    for job in (quotes, resolutions, marks, scores, catalogue, publish, retention, verify, backup, digest)
}
"""The jobs by name; each says in a few words what it did."""


def _is_behind(stored: StoredCohort, at: datetime, record: Record) -> bool:
    """Tell whether a cohort has no snapshot with marks of that time or later."""
    snapshot_at = record.read(read_newest_time, stored.id)
    if snapshot_at is None or snapshot_at < at:
        return stored.cohort.starts_at < at
    return snapshot_at == at and not record.read(has_marks, stored.id, at)


async def _at_every_venue(
    context: JobContext, at: datetime, look: Callable[[VenueSource, Venue], Awaitable[int]]
) -> int:
    """Call `look` with the venue of every open cohort, record what is rejected, and return the sum.

    Raise `Unanswered` in the end if some venues gave no answer.
    """
    cohorts = [stored.cohort for stored in open_cohorts(context.record)]
    # A simulated or recorded world is not read while a cohort has an earlier step to do there.
    is_blocked = any(cohort.stamp != "live" and cohort.number in context.blocked for cohort in cohorts)
    cohort_by_venue = {}
    for cohort in cohorts:
        if cohort.stamp == "live" or not is_blocked:
            venue_key = canonical([cohort.venue, cohort.venue_settings])
            cohort_by_venue[venue_key] = cohort

    total = 0
    faults = []
    for cohort in cohort_by_venue.values():
        source = VenueSource(cohort.venue, cohort.stamp)
        try:
            total += await look(source, context.world.venue(cohort))
        except ArenaError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one venue must not stop the others
            faults.append((source.venue, error))
        finally:
            context.record.quarantine(context.world.quarantined, at)
            context.world.quarantined.clear()

    if faults:
        raise Unanswered(faults)
    return total


LookState = tuple[datetime | None, datetime | None]
"""The time of a cohort's newest snapshot when it was last looked at, and since when it is stopped."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a step or job went, in words and as data.

    It is tried again where it has `failed`, and left alone for a while where another process has it in hand:
    then it is `busy`.
    """

    note: str
    failed: bool = False
    busy: bool = False
    report: RoundReport | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


async def do_step(due: Due, context: JobContext) -> StepOutcome:
    """Take a step that is due, and return its outcome.

    A step settles cohorts that have ended, plays or closes a round of a cohort, or starts a new cohort. If
    another process has taken the step, the outcome is `busy`.
    """
    try:
        if due.step == "settle":
            time_to_ask = context.when(context.source, due.at)
            await settle_ended(time_to_ask, context.world, context.record)
            return StepOutcome("corrections were read")

        if due.stored is not None:
            return await _play_step(due, due.stored, context)

        # A cohort of baselines alone may start: keys of models are looked for only without `--baselines`.
        environ = None if context.baselines else os.environ
        plan = plan_of(context.config, due.at, context.record.begun(), environ)
        begin_due_cohort(due.at, plan, context.record)
        number = context.record.cohorts()[-1].cohort.number
        return StepOutcome(f"cohort {number} has started", data={"cohort": number})
    except ArenaError as error:
        if error.code not in ("busy", "raced"):
            raise
        return StepOutcome(error.message, busy=True)


def end_cohorts(
    progress: Sequence[CohortProgress], last_looks: dict[int, LookState], keep: int, record: Record
) -> list[int]:
    """End the cohorts that are over, at the time of their newest snapshot, and return their numbers.

    `last_looks` has, by the id of a cohort, the state in which it was last looked at. It is brought up to
    date here, and a cohort in the same state is not looked at again.
    """
    all_stored = [cohort.stored for cohort in progress]
    ended = []

    for cohort in progress:
        stored = cohort.stored
        snapshot_at = cohort.snapshot_at
        if snapshot_at is None or stored.ended_at is not None:
            continue

        # Only a later snapshot, or a stop, can end a cohort that was not over before.
        look_state = (snapshot_at, stored.stopped_at)
        is_played = cohort.marked and all(begun.done for begun in cohort.rounds)
        if not is_played or last_looks.get(stored.id) == look_state:
            continue

        is_newest = stored.cohort.number in newest_cohort_numbers(all_stored, snapshot_at, keep)
        if end_cohort_if_over(stored, snapshot_at, is_newest, record):
            ended.append(stored.cohort.number)
        last_looks[stored.id] = look_state

    return ended


async def _play_step(due: Due, stored: StoredCohort, context: JobContext) -> StepOutcome:
    """Play or close a cohort's round, or settle and mark the cohort where it decides nothing."""
    number = due.number
    cohort = stored.cohort.number
    if number is None:
        await track_cohort(stored, due.at, context.world, context.record)
        return StepOutcome("settled and marked", data={"cohort": cohort})

    play = close_round if due.step == "close" else play_round
    report = await play(stored, number, context.world, context.record)
    return StepOutcome(
        note=f"round {number}: {_turns_text(report)}",
        failed=due.step == "play" and bool(report.failed),
        busy=bool(report.waiting),
        report=report,
        data={
            "cohort": cohort,
            "round": number,
            "turns": len(report.turns),
            "failed": list(report.failed),
        },
    )


def _turns_text(report: RoundReport) -> str:
    """Return in words how the turns of a round went."""
    if report.waiting:
        return f"another process is playing {', '.join(report.waiting)}"

    parts = [count_text(len(report.turns), "turn")]
    if report.stopped:
        parts.append(f"{', '.join(report.stopped)} stopped by the budget")

    failed = [name for name in report.failed if name not in report.stopped]
    if failed:
        parts.append(f"{', '.join(failed)} failed")

    late = [turn.entrant for turn in report.turns if turn.decision.status == "late"]
    if late:
        parts.append(f"{', '.join(late)} too late")

    if report.unproven and report.turns:
        parts.append(unproven_hint(report.unproven, report.codes))
    return "; ".join([*parts, *report.replaced, *report.trouble])
