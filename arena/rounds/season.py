"""A season: many decision times, at which cohorts start, play their rounds or are tracked, until all end."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from arena.cohorts.cohort import (
    CohortState,
    cohort_state,
    deciding_cohort_numbers,
    newest_cohort_numbers,
    next_round_number,
)
from arena.cohorts.freeze import plan_of, stamp_of
from arena.cohorts.schedule import MOST_TRIES, PLAY_WINDOW, Plan, pause_after
from arena.config import Config
from arena.errors import ArenaError
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import Cohort, RoundReport, UnansweredTurn, unanswered_text
from arena.record.model.lease import LEASE_LENGTH
from arena.record.queries.accounts import read_profits
from arena.record.queries.calls import read_rounds_by_cohort
from arena.record.queries.cohorts import (
    IS_TRADING,
    StoredCohort,
    StoredRound,
    has_marks,
    has_open_questions,
    next_cohort_number,
    read_cohorts,
    read_newest_time,
    read_rounds,
    read_taken_at,
    read_turn_statuses,
    read_unanswered_turns,
)
from arena.record.queries.settlements import read_unpaid_corrections
from arena.record.record import Record
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow
from arena.record.schema.typed import col, column_of, func, joined, or_, select
from arena.record.write.cohorts import add_cohort, end_cohort
from arena.rounds.round import LEAVE_FAILED_HINT, busy_error, play_round, track_cohort
from arena.rounds.settlement import VenueUnavailable, next_look, settle_ended
from arena.rounds.turns import is_late, unfinished_turns
from arena.rounds.world import World
from markets.garbage_collection import gc_seldom
from portfolio.ledger import open_account
from portfolio.quotes import duration_text

logger = logging.getLogger(__name__)

MINUTE_FORMAT = "%Y-%m-%dT%H:%MZ"
LOOK = 3.0
"""Seconds between two looks at turns whose holder may have died."""
LONGEST_TAIL = 26
"""How many weeks after its last decision a season keeps looking whether open positions have ended."""


async def play_season(
    plan: Plan,
    world: World,
    record: Record,
    most: int | None = None,
    played: Callable[[int, int], None] = print,
    tell: Callable[[str], None] = print,
) -> None:
    """Play every decision time of a plan in order, or only the first `most` of them.

    Without `most` the season goes on until all positions are settled and no correction can come any more.
    `played` is called after each time with how many decision times are done and how many there are, and
    `tell` with a message while the season waits for a model.
    """
    times = season_times(plan_as_begun(plan, record), most)
    weekly_looks = []
    if not most:
        weekly_looks = [times[-1] + number * WEEK for number in range(1, LONGEST_TAIL + 1)]
    newest = record.read(read_newest_time) or times[0]

    with gc_seldom():
        for number, at in enumerate((*times, *weekly_looks), 1):
            if number > len(times) and not open_cohorts(record):
                break
            # An older time is over, and must not be played with what has become known since.
            if at >= newest:
                await play_until_answered(at, plan, world, record, tell)
            played(min(number, len(times)), len(times))

        # Once all positions are settled, only corrections can still come.
        while not most:
            corrections_at = next_look(record, record.cohorts(), False, world.corrected_within)
            if corrections_at is None:
                break
            await settle_ended(corrections_at, world, record)


def plan_as_begun(plan: Plan, record: Record) -> Plan:
    """Return the plan with the cohorts that have begun by now."""
    begun = record.begun()
    return replace(plan, begun=begun, at_once=None if begun else plan.at_once)


async def play_until_answered(
    at: datetime, plan: Plan, world: World, record: Record, tell: Callable[[str], None]
) -> None:
    """Play one decision time, and play it again after a pause while a model is unavailable.

    No time passes in these worlds, so no answer comes too late. Raise `ArenaError` after `MOST_TRIES`, and
    at once for a failure that a person has to put right, such as a wrong key, or if another process plays.
    """
    for tries in range(1, MOST_TRIES + 1):
        reports = await play_time_when_free(at, plan, world, record)

        unanswered = list[UnansweredTurn]()
        for report in reports:
            # The season must not continue without a turn that another process holds.
            if report.waiting:
                raise busy_error(report.cohort, report.number, report.waiting)
            unanswered.extend(report.unanswered)

        if world.leaves_failed or not unanswered:
            return
        if tries == MOST_TRIES or not all(turn.passing for turn in unanswered):
            raise unanswered_error(at, unanswered)

        pause = pause_after(tries)
        tell(
            f"{unanswered_text(unanswered)}; next try in {duration_text(pause)}, Ctrl-C keeps what was played"
        )
        await world.sleep(pause.total_seconds())


def unanswered_error(at: datetime, unanswered: Sequence[UnansweredTurn]) -> ArenaError:
    """Return the error of a season that stops because models gave no answer; its hint continues it."""
    message = f"the season stopped at {at:{MINUTE_FORMAT}}: {unanswered_text(unanswered)}"
    hint = f"put that right, then give the same command: it tries these turns again; {LEAVE_FAILED_HINT}"
    return ArenaError("unanswered", message, hint, status=2)


def season_times(plan: Plan, most: int | None) -> list[datetime]:
    """Return the first `most` decision times of a plan, or all; raise `ArenaError` if it has no end."""
    until = None
    if most is not None:
        until = plan.first + most * max(WEEK, plan.decide.every)
    elif plan.count is None:
        hint = "give --rounds, or set cohorts.count in the config"
        raise ArenaError("endless", "this config never stops starting cohorts", hint)

    return plan.decision_times(until)[:most]


async def play_time(at: datetime, plan: Plan, world: World, record: Record) -> list[RoundReport]:
    """Play one decision time: start the cohort that is due, play the rounds that are due, track the rest.

    Raise `VenueUnavailable` if the venue of a cohort gives no answer, after playing all other cohorts.
    """
    begin_due_cohort(at, plan, record)
    end_cohorts_over(plan, record, before=at)
    begun = [stored for stored in record.cohorts() if stored.cohort.starts_at <= at]
    newest = newest_cohort_numbers(begun, at, plan.keep_deciding)
    deciding = deciding_cohort_numbers(begun, at, plan.keep_deciding)
    reports = []
    outages = []

    for stored in begun:
        if stored.ended_at is not None or _is_past(stored, at, record):
            continue
        number = None
        if stored.cohort.number in deciding:
            number = _number_to_play(stored, at, world, record)

        try:
            if number is None:
                await track_cohort(stored, at, world, record)
            else:
                reports.append(await play_round(stored, number, world, record))
        except VenueUnavailable as error:
            outages.append(error)
            continue
        end_cohort_if_over(stored, at, stored.cohort.number in newest, record)

    try:
        await settle_ended(at, world, record)
    except VenueUnavailable as error:
        outages.append(error)

    if outages:
        first = outages[0]
        status = 2 if reports else 1
        raise VenueUnavailable(first.code, first.message, first.hint, first.venue, status)
    return reports


def _is_past(stored: StoredCohort, at: datetime, record: Record) -> bool:
    """Tell whether a cohort has a snapshot of a later time, but none of this one."""
    newest = record.read(read_newest_time, stored.id)
    if newest is None or newest <= at:
        return False
    return record.read(read_taken_at, stored.id, at) is None


def _number_to_play(stored: StoredCohort, at: datetime, world: World, record: Record) -> int | None:
    """Return the number of the round that a cohort plays at a time; None if it is only tracked then."""
    number = stored.cohort.calendar.number_at(at)
    if number is None:
        return None

    if record.read(read_taken_at, stored.id, at) is None:
        # A live round that did not begin in time is missed.
        return None if is_late(stored.cohort, at, world.now()) else number

    # With a snapshot but no round, the cohort was only tracked at this time, and stays so.
    return number if _round_at(at, stored, record) else None


def _round_at(at: datetime, stored: StoredCohort, record: Record) -> StoredRound | None:
    """Return the round that a cohort has begun at a time; None if it has not."""
    rounds = record.read(read_rounds, stored.id)
    return next((stored_round for stored_round in rounds if stored_round.at == at), None)


async def play_time_when_free(at: datetime, plan: Plan, world: World, record: Record) -> list[RoundReport]:
    """Play one decision time, waiting for turns that are held by a process which may have died.

    Whether a process on another machine is alive can only be seen by the claims that it renews. If it
    renews one, its turns are left to it; if not, they are taken over after the length of a lease.
    """
    reports = list[RoundReport]()
    warned = False

    while True:
        try:
            reports = joined_reports(reports, await play_time(at, plan, world, record))
        except ArenaError as error:
            if error.code != "busy" or not record.watch.is_in_doubt():
                raise
            message = error.message
        else:
            busy = [report for report in reports if report.waiting]
            if not busy or not record.watch.is_in_doubt():
                return reports
            message = busy_error(busy[0].cohort, busy[0].number, busy[0].waiting).message

        if not warned:
            seconds = int(LEASE_LENGTH.total_seconds())
            logger.warning("%s, or has died; waiting up to %d s for a sign of it", message, seconds)
        warned = True
        await asyncio.sleep(LOOK)


def joined_reports(earlier: Sequence[RoundReport], later: Sequence[RoundReport]) -> list[RoundReport]:
    """Return the later reports of one decision time, with the turns that were played earlier.

    A cohort that has ended meanwhile has no later report: its earlier one is returned as it is.
    """
    unmatched = {(report.cohort, report.number): report for report in earlier}
    joined = []

    for report in later:
        first = unmatched.pop((report.cohort, report.number), None)
        if first is None:
            joined.append(report)
            continue

        turns = (*first.turns, *report.turns)
        trouble = tuple(dict.fromkeys((*first.trouble, *report.trouble)))
        replaced = first.replaced or report.replaced
        joined.append(replace(report, turns=turns, trouble=trouble, replaced=replaced))

    return sorted([*unmatched.values(), *joined], key=lambda report: report.cohort)


def begin_due_cohort(at: datetime, plan: Plan, record: Record) -> None:
    """Start the cohort that the plan starts at that time, unless it has begun."""
    begun = {stored.cohort.starts_at for stored in record.cohorts()}
    if plan.starts_at(at) and at not in begun:
        begin_cohort(at, plan, record)


def begin_cohort(at: datetime, plan: Plan, record: Record) -> Cohort:
    """Start the next cohort and return it; it is the schedule's own if the schedule has a start then."""
    planned, texts = plan.freeze(record.read(next_cohort_number), at)
    cohort = replace(planned, by_hand=plan.starts.number_at(at) is None)
    start_cohort(cohort, texts, record)
    return cohort


def start_cohort(cohort: Cohort, texts: Mapping[str, str], record: Record) -> None:
    """Write a cohort with the texts of its prompts, and deposit the bankroll of each entrant."""
    deposit = open_account(cohort.bankroll, cohort.starts_at)
    deposits = {entrant.name: deposit for entrant in cohort.entrants}
    record.write(add_cohort, cohort, texts, deposits)


def end_cohort_if_over(stored: StoredCohort, at: datetime, is_newest: bool, record: Record) -> bool:
    """End a cohort that has no round left to play, no position and no unpaid market; tell whether it did.

    Where there is no market, it goes on until all its questions have ended: no position would show that.

    A cohort that is among the newest may still decide, even if it is paused, unless it was stopped. A
    round that never began is past once the cohort has a snapshot of that round's time or later.
    """
    may_decide = is_newest and stored.stopped_at is None
    last_round_at = stored.cohort.calendar.time(stored.cohort.rounds)
    if may_decide and last_round_at > at:
        return False
    if not all(stored_round.done for stored_round in record.read(read_rounds, stored.id)):
        return False

    if may_decide:
        newest_snapshot_at = record.read(read_newest_time, stored.id)
        if newest_snapshot_at is None or newest_snapshot_at < last_round_at:
            return False

    if any(account.lots for account in record.holdings(stored.id, until=at).values()):
        return False
    if record.read(read_unpaid_corrections, stored.id):
        return False
    if not stored.cohort.rules.money and record.read(has_open_questions, stored.id, at):
        return False

    record.write(end_cohort, stored.id, at)
    return True


def end_cohorts_over(plan: Plan, record: Record, before: datetime | None = None) -> None:
    """End the cohorts that were over at their last snapshot, if that was before an instant.

    They are still open because a process was broken off, or because they were stopped since.
    """
    stored_cohorts = record.cohorts()
    for stored in open_cohorts(record):
        snapshot_at = record.read(read_newest_time, stored.id)
        if snapshot_at is None or (before is not None and snapshot_at >= before):
            continue

        if record.read(has_marks, stored.id, snapshot_at):
            newest = newest_cohort_numbers(stored_cohorts, snapshot_at, plan.keep_deciding)
            end_cohort_if_over(stored, snapshot_at, stored.cohort.number in newest, record)


def open_cohorts(record: Record) -> list[StoredCohort]:
    """Return the cohorts that have not ended."""
    return [stored for stored in record.cohorts() if stored.ended_at is None]


def next_decision_time(
    plan: Plan,
    record: Record,
    live: bool,
    now: datetime,
    corrections_at: datetime | None = None,
    leaves_failed: bool = False,
) -> datetime:
    """Return the default time to play: one that was interrupted, else the next or the due one.

    A round that waits for answers of models counts as interrupted, unless `leaves_failed`. `corrections_at`
    is when to ask for corrections once all cohorts have ended. Raise `ArenaError` if nothing is to be played.
    """
    newest = record.read(read_newest_time)
    newest_played = record.read(_read_newest_played_time)
    plan = plan_as_begun(plan, record)
    unended = open_cohorts(record)

    interrupted = _interrupted_times(unended, newest_played, record, leaves_failed)
    if interrupted:
        return min(interrupted)

    if live:
        due = plan.decision_times(now)
        if due and now - due[-1] <= PLAY_WINDOW:
            return due[-1]

        following = plan.next_after(now)
        if following is None and corrections_at is not None and corrections_at <= now:
            return now.replace(second=0, microsecond=0)

        if following is None:
            hint = "arena run settles what is open" if unended else "arena board shows the results"
            raise ArenaError("over", "every round is over", hint)

        message = f"no decision is due; the next is on {following:{MINUTE_FORMAT}}"
        raise ArenaError("not_due", message, "a round must be played within 6 hours of its time")

    following = plan.first if newest is None else next_time_after(newest, plan, record)
    if following is None and newest is not None and newest_played is not None:
        # Every round is over: open positions are settled a whole number of weeks after the first one.
        # `arena run` may have marked them in between.
        last_weekly = newest_played - (newest_played - plan.first) % WEEK
        weeks = max(1, -((last_weekly - newest) // WEEK))  # rounded up
        following = last_weekly + weeks * WEEK if unended else corrections_at

    if following is None:
        raise ArenaError("over", "every round has been played", "arena board shows the results")
    return following


def next_time_after(at: datetime, plan: Plan, record: Record) -> datetime | None:
    """Return the first time after an instant at which an open cohort decides, or one starts."""
    ended = {}
    for stored in record.cohorts():
        if stored.ended_at is not None:
            ended[stored.cohort.number] = stored.ended_at
    return plan.next_after(at, ended)


def _read_newest_played_time(connection: Connection) -> datetime | None:
    """Return the time of the newest snapshot of a cohort that was not taken to correct one that has ended."""
    is_open = col(CohortRow.ended_at).is_(None)
    is_before_end = column_of(SnapshotRow.at) <= column_of(CohortRow.ended_at)
    query = (
        select(func.max(SnapshotRow.at))
        .select_from(joined(SnapshotRow, CohortRow))
        .where(IS_TRADING, or_(is_open, is_before_end))
    )
    newest: datetime | None = connection.scalar(query)
    return newest


def _interrupted_times(
    unended: Sequence[StoredCohort], newest_played: datetime | None, record: Record, leaves_failed: bool
) -> list[datetime]:
    """Return the times at which playing one of these cohorts was interrupted."""
    interrupted = list[datetime]()

    for stored in unended:
        times = set(unplayed_times(stored, record))
        if newest_played is not None:
            times.add(newest_played)
        for at in times:
            if is_interrupted_at(at, stored, record, leaves_failed):
                interrupted.append(at)

    return interrupted


def season_time(plan: Plan, record: Record, now: datetime, corrected_within: timedelta) -> datetime:
    """Return the current time of a simulated or recorded season.

    It is now once everything due by now is played and settled, and no correction may come any more. Before
    that it is the time of the newest snapshot, or of the first start: anything later is still in the season's
    future.
    """
    newest = record.read(read_newest_time)
    if newest is None:
        return min(now, plan.first)

    unended = open_cohorts(record)
    following = next_time_after(newest, plan_as_begun(plan, record), record)
    # The last round is played, but not all is settled.
    if following is None and unended:
        return newest

    to_come = [following, next_look(record, unended, world_is_live=False, corrected_within=corrected_within)]
    for stored in unended:
        to_come.extend(unplayed_times(stored, record))

    first_to_come = min(filter(None, to_come), default=None)
    if first_to_come is None or first_to_come > now:
        return now
    return newest


def unplayed_times(stored: StoredCohort, record: Record) -> list[datetime]:
    """Return the times of a cohort's unfinished rounds; at a live venue they are past, so there are none."""
    if stored.cohort.stamp == "live":
        return []
    rounds = record.read(read_rounds, stored.id)
    return [stored_round.at for stored_round in rounds if not stored_round.done]


def is_interrupted_at(at: datetime, stored: StoredCohort, record: Record, leaves_failed: bool) -> bool:
    """Tell whether playing a cohort at a time was interrupted.

    With only failed turns left it was not. But where no time passes, failed turns of a model that was
    unavailable, or refused a key, are played again, unless `leaves_failed`.
    """
    if stored.cohort.starts_at > at:
        return False

    current = _round_at(at, stored, record)
    unfinished = current is not None and not current.done
    if unfinished and (stored.paused_at or stored.stopped_at):
        return False
    if not record.read(has_marks, stored.id, at):
        return True
    if current is None or current.done:
        return False

    statuses = record.read(read_turn_statuses, current.id)
    missing = unfinished_turns(stored.entrant_ids, statuses)
    missing_or_failed = unfinished_turns(stored.entrant_ids, statuses, {"failed"})
    if missing or not missing_or_failed:
        return True
    if leaves_failed or stored.cohort.stamp == "live":
        return False
    return any(turn.awaited for turn in record.read(read_unanswered_turns, current.id))


def check_decision_time(
    at: datetime,
    plan: Plan,
    record: Record,
    live: bool,
    now: datetime,
    corrections_at: datetime | None = None,
) -> None:
    """Raise `ArenaError` for a future time, one before the last played, or one with nothing to do."""
    newest = record.read(read_newest_time)
    cohorts = record.cohorts()
    plan = plan_as_begun(plan, record)

    decides = plan.starts_at(at) or any(stored.cohort.calendar.number_at(at) for stored in cohorts)
    is_weekly = not (at - plan.first) % WEEK
    settles = is_weekly and newest is not None and at >= newest and open_cohorts(record)
    corrects = corrections_at is not None and at >= corrections_at
    if not (decides or settles or corrects):
        following = plan.next_after(at)
        hint = "every round is over by then"
        if following is not None:
            hint = f"the next decision is on {following:{MINUTE_FORMAT}}"
        raise ArenaError("no_round", f"no cohort decides on {at:{MINUTE_FORMAT}}", hint)

    if live and at > now:
        message = f"{at:{MINUTE_FORMAT}} is in the future"
        raise ArenaError("not_due", message, "a live round is played at its own time")

    is_missed = live and now - at > PLAY_WINDOW
    is_past = newest is not None and at < newest
    if (is_missed or is_past) and not any(_round_at(at, stored, record) for stored in cohorts):
        message = f"{at:{MINUTE_FORMAT}} was missed: its prices are gone"
        raise ArenaError("too_late", message, "play the next round: arena run --round")


@dataclass(frozen=True, slots=True)
class CohortOverview:
    """A cohort at a glance: its state, its rounds so far, and when it decides next.

    `open` counts positions; `profits` are those of its agents by the newest mark, in millionths.
    """

    stored: StoredCohort
    state: CohortState
    rounds: tuple[StoredRound, ...]
    next_at: datetime | None
    open: int
    profits: Mapping[str, int]

    @property
    def cohort(self) -> Cohort:
        """Return the frozen cohort."""
        return self.stored.cohort

    @property
    def done(self) -> int:
        """Return how many of its rounds are over."""
        return sum(stored_round.done for stored_round in self.rounds)


def cohort_overviews(connection: Connection, keep: int, now: datetime) -> list[CohortOverview]:
    """Return the overviews of all cohorts, oldest first; the newest `keep` of them decide.

    A live cohort is seen as of now, a simulated or recorded one as of the newest snapshot.
    """
    cohorts = read_cohorts(connection)
    snapshot_times = read_newest_snapshot_times(connection)
    rounds = read_rounds_by_cohort(connection)
    open_positions = count_open_positions(connection)
    profits = read_profits(connection)
    newest_snapshot = max(snapshot_times.values(), default=None)

    overviews = []
    for stored in cohorts:
        cohort = stored.cohort
        seen_at = newest_snapshot
        missed_before = newest_snapshot
        if cohort.stamp == "live":
            seen_at = now
            missed_before = now - PLAY_WINDOW

        own_rounds = rounds.get(stored.id, [])
        done_by_number = {stored_round.number: stored_round.done for stored_round in own_rounds}
        own_snapshot_at = snapshot_times.get(stored.id)
        next_number = next_round_number(cohort, done_by_number, own_snapshot_at, missed_before)

        # A cohort that is yet to start is seen as of its start.
        state_at = max(cohort.starts_at, seen_at or cohort.starts_at)
        newest = newest_cohort_numbers(cohorts, state_at, keep)
        state = cohort_state(stored, newest, next_number is not None)
        next_at = None
        if next_number is not None and state == "playing":
            next_at = cohort.calendar.time(next_number)

        overviews.append(
            CohortOverview(
                stored=stored,
                state=state,
                rounds=tuple(own_rounds),
                next_at=next_at,
                open=open_positions[stored.id],
                profits=profits.get(cohort.number, {}) if cohort.rules.money else {},
            )
        )
    return overviews


def read_newest_snapshot_times(connection: Connection) -> dict[int, datetime]:
    """Return the time of each cohort's newest snapshot, by the cohort's id."""
    query = select(SnapshotRow.cohort_id, func.max(SnapshotRow.at)).group_by(SnapshotRow.cohort_id)
    return dict(connection.execute(query).all())


def count_open_positions(connection: Connection) -> Counter[int]:
    """Return how many positions are open in each cohort that has not ended, by its id."""
    lot: tuple[Any, ...] = (EntrantRow.cohort_id, EntryRow.entrant_id, EntryRow.market_id, EntryRow.side)
    query = (
        select(*lot)
        .select_from(joined(EntryRow, EntrantRow, CohortRow))
        .where(col(CohortRow.ended_at).is_(None))
        .group_by(*lot)
        .having(func.sum(EntryRow.shares) > 0)
    )
    return Counter(row.cohort_id for row in connection.execute(query))


def start_by_hand(
    config: Config, record: Record, wanted: datetime | None, environ: Mapping[str, str] | None, now: datetime
) -> Cohort:
    """Start a cohort of the config, at the wanted time or as soon as can be.

    With `environ` a model's key has to be in it. Raise `ArenaError` if none can start at that time.
    """
    live = stamp_of(config) == "live"
    plan = plan_of(config, now, record.begun(), environ)
    cohorts = record.cohorts()
    newest = record.read(read_newest_time)

    at = wanted or manual_start_time(plan, cohorts, newest, live, now)
    check_manual_start(at, cohorts, newest, live, now)
    return begin_cohort(at, plan, record)


def manual_start_time(
    plan: Plan, cohorts: Sequence[StoredCohort], newest: datetime | None, live: bool, now: datetime
) -> datetime:
    """Return the start of a cohort that is started by hand now; `newest` is the newest snapshot's time.

    At a live venue that is now, to the minute; elsewhere it is the next decision time.
    """
    if live:
        this_minute = now.replace(second=0, microsecond=0)
        if newest is not None and newest > this_minute:
            return this_minute + timedelta(minutes=1)
        return this_minute

    if newest is None:
        return plan.first

    starts = [stored.cohort.starts_at for stored in cohorts]
    return plan.next_after(newest) or max(newest, *starts) + WEEK


def check_manual_start(
    at: datetime, cohorts: Sequence[StoredCohort], newest: datetime | None, live: bool, now: datetime
) -> None:
    """Raise `ArenaError` if another cohort starts then, or if that time can no longer be decided."""
    for stored in cohorts:
        if stored.cohort.starts_at == at:
            message = f"cohort {stored.cohort.number} starts on {at:{MINUTE_FORMAT}} already"
            raise ArenaError("same_start", message, "name another time: --at TIME")

    this_minute = now.replace(second=0, microsecond=0)
    if live and at < max(this_minute, newest or at):
        message = f"{at:{MINUTE_FORMAT}} is past: its prices are no longer available"
        raise ArenaError("too_late", message, "leave out --at to start one now")
    if not live and newest is not None and at <= newest:
        message = f"{at:{MINUTE_FORMAT}} is past: the season has been played until {newest:{MINUTE_FORMAT}}"
        raise ArenaError("too_late", message, "leave out --at to start one at the next decision")
