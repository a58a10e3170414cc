"""Many decision times: cohorts started when due or by hand, each played or tracked, until all is over."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from arena.cohorts.cohort import (
    CohortState,
    cohort_state,
    deciding_numbers,
    newest_numbers,
    next_round_number,
)
from arena.cohorts.schedule import MOST_TRIES, PLAY_WINDOW, Plan, pause_after
from arena.errors import ArenaError
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import Cohort, RoundReport, UnansweredTurn, unanswered_text
from arena.record.model.lease import LEASE_LENGTH
from arena.record.queries.accounts import read_profits
from arena.record.queries.calls import read_rounds_by_cohort
from arena.record.queries.cohorts import (
    StoredCohort,
    StoredRound,
    has_marks,
    next_cohort_number,
    read_cohorts,
    read_newest_played_time,
    read_newest_time,
    read_rounds,
    read_taken_at,
    read_turn_statuses,
    read_unanswered_turns,
)
from arena.record.queries.progress import count_open_positions, read_newest_snapshot_times
from arena.record.queries.settlements import read_unpaid_markets
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.cohorts import add_cohort, end_cohort
from arena.rounds.round import LEAVE_FAILED_HINT, busy_error, play_round, track_cohort
from arena.rounds.settlement import VenueUnavailable, next_look, settle_ended
from arena.rounds.turns import is_late, unfinished_turns
from arena.rounds.world import World
from markets.garbage_collection import gc_seldom
from portfolio.ledger import open_account
from portfolio.quotes import duration_text

logger = logging.getLogger(__name__)

LOOK = 3.0
"""Seconds between two looks at turns whose holder may have died."""
LONGEST_TAIL = 26
"""How many more times a season looks whether what is still open has ended."""


async def play_season(
    plan: Plan,
    world: World,
    record: Record,
    most: int | None = None,
    played: Callable[[int, int], None] = print,
    tell: Callable[[str], None] = print,
) -> None:
    """Every decision time in turn, then, unless bounded by `most`, time enough for all to settle.

    After that corrections are waited for, as long as they may come.

    `played` is told after each decision time how many of how many are done, and `tell` which models are
    waited for.
    """
    times = season_times(plan_as_begun(plan, record), most)
    tail = [] if most else [times[-1] + number * WEEK for number in range(1, LONGEST_TAIL + 1)]
    newest = record.read(read_newest_time) or times[0]
    with gc_seldom():
        for number, at in enumerate((*times, *tail), 1):
            if number > len(times) and not open_cohorts(record):
                break
            if at >= newest:  # what is older is over, and must not be looked at with what is known since
                await play_until_answered(at, plan, world, record, tell)
            played(min(number, len(times)), len(times))
        while not most and (look := next_look(record, record.cohorts(), False, world.corrected_within)):
            await settle_ended(look, world, record)


def plan_as_begun(plan: Plan, record: Record) -> Plan:
    """The plan as it is now that some cohorts have begun."""
    begun = record.begun()
    return replace(plan, begun=begun, at_once=None if begun else plan.at_once)


async def play_until_answered(
    at: datetime, plan: Plan, world: World, record: Record, tell: Callable[[str], None]
) -> None:
    """Play one decision time, again after a pause while a model is away; raise once that was tried too often.

    No time passes in these worlds, so no answer comes too late. What a person has to put right, such as a
    wrong key, is not waited for.
    """
    for tries in range(1, MOST_TRIES + 1):
        reports = await play_time_when_free(at, plan, world, record)
        stop_if_busy(reports)
        unanswered = [turn for report in reports for turn in report.unanswered]
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
    """Return the error of a season that stops because models gave no answer, with how to go on."""
    words = f"the season stopped at {at:{MINUTE_FORMAT}}: {unanswered_text(unanswered)}"
    hint = f"put that right, then give the same command: it tries these turns again; {LEAVE_FAILED_HINT}"
    return ArenaError("unanswered", words, hint, status=2)


def stop_if_busy(reports: Sequence[RoundReport]) -> None:
    """A season does not walk past a turn that another process holds."""
    for report in reports:
        if report.waiting:
            raise busy_error(report.cohort, report.number, report.waiting)


def season_times(plan: Plan, most: int | None) -> list[datetime]:
    """The first so many decision times, or all of a plan that ends."""
    if most is None and plan.count is None:
        hint = "give --rounds, or set cohorts.count in the config"
        raise ArenaError("endless", "this config never stops starting cohorts", hint)
    until = None if most is None else plan.first + most * max(WEEK, plan.decide.every)
    return plan.decision_times(until)[:most]


async def play_time(at: datetime, plan: Plan, world: World, record: Record) -> list[RoundReport]:
    """One decision time: start the cohort that is due, play the rounds that are due, track the rest.

    Where one cohort's venue has no answer the others are played all the same, and then that is told.
    """
    begin_due_cohort(at, plan, record)
    begun = [stored for stored in record.cohorts() if stored.cohort.starts_at <= at]
    newest = newest_numbers(begun, at, plan.keep_deciding)
    deciding = deciding_numbers(begun, at, plan.keep_deciding)
    reports, trouble = list[RoundReport](), list[VenueUnavailable]()
    for stored in begun:
        looked = record.read(read_newest_time, stored.id)
        past = looked is not None and looked > at and record.read(read_taken_at, stored.id, at) is None
        if stored.ended_at is not None or past:
            continue
        # A live cohort whose round was not begun in time is only tracked at that time.
        late = is_late(stored.cohort, at, world.now())
        missed = late and record.read(read_taken_at, stored.id, at) is None
        plays = stored.cohort.number in deciding and not missed
        number = stored.cohort.calendar.number_at(at) if plays else None
        if number is not None and record.read(read_taken_at, stored.id, at) is not None:
            begun_rounds = {round.number for round in record.read(read_rounds, stored.id)}
            number = number if number in begun_rounds else None  # else it was only tracked then
        try:
            if number is None:
                await track_cohort(stored, at, world, record)
            else:
                reports.append(await play_round(stored, number, world, record))
        except VenueUnavailable as error:
            trouble.append(error)
            continue
        end_cohort_if_over(stored, at, stored.cohort.number in newest, record)
    try:
        await settle_ended(at, world, record)
    except VenueUnavailable as error:
        trouble.append(error)
    if trouble:
        first = trouble[0]
        raise VenueUnavailable(first.code, first.message, first.hint, first.venue, 2 if reports else 1)
    return reports


async def play_time_when_free(at: datetime, plan: Plan, world: World, record: Record) -> list[RoundReport]:
    """Play one decision time; turns that are held by a process which may have died are waited for.

    Of a process on another machine nothing is known. It lives if it renews a claim meanwhile, and then its
    turns are left to it; else they are taken over after a lease.
    """
    reports = list[RoundReport]()
    told = False
    while True:
        try:
            reports = joined_reports(reports, await play_time(at, plan, world, record))
        except ArenaError as error:
            if error.code != "busy" or not record.watch.is_in_doubt():
                raise
            waiting = error.message
        else:
            busy = [report for report in reports if report.waiting]
            if not busy or not record.watch.is_in_doubt():
                return reports
            waiting = busy_error(busy[0].cohort, busy[0].number, busy[0].waiting).message

        if not told:
            length = int(LEASE_LENGTH.total_seconds())
            logger.warning("%s, or has died; waiting up to %d s for a sign of it", waiting, length)
        told = True
        await asyncio.sleep(LOOK)


def joined_reports(earlier: Sequence[RoundReport], later: Sequence[RoundReport]) -> list[RoundReport]:
    """Return the later reports of one decision time, with the turns that were played earlier.

    A cohort that has ended meanwhile is not reported on again.
    """
    before = {(report.cohort, report.number): report for report in earlier}
    joined = list[RoundReport]()
    for report in later:
        first = before.pop((report.cohort, report.number), None)
        if first is None:
            joined.append(report)
            continue
        trouble = tuple(dict.fromkeys((*first.trouble, *report.trouble)))
        turns = (*first.turns, *report.turns)
        replaced = first.replaced or report.replaced
        joined.append(replace(report, turns=turns, trouble=trouble, replaced=replaced))
    return sorted([*before.values(), *joined], key=lambda report: report.cohort)


def begin_due_cohort(at: datetime, plan: Plan, record: Record) -> None:
    """Start the cohort that the plan wants at that time, once."""
    begun = {stored.cohort.starts_at for stored in record.cohorts()}
    if plan.starts_at(at) and at not in begun:
        begin_cohort(at, plan, record)


def begin_cohort(at: datetime, plan: Plan, record: Record) -> Cohort:
    """Start the next cohort; where the schedule starts one at that time, it is that one."""
    planned, texts = plan.freeze(record.read(next_cohort_number), at)
    cohort = replace(planned, by_hand=plan.starts.number_at(at) is None)
    deposits = {entrant.name: open_account(cohort.bankroll, at) for entrant in cohort.entrants}
    record.write(add_cohort, cohort, texts, deposits)
    return cohort


def end_cohort_if_over(stored: StoredCohort, at: datetime, newest: bool, record: Record) -> bool:
    """End a cohort that has no round to come, none that is not done, and where all is sold and paid.

    One of `newest_numbers` may still decide, also after a pause, unless it was stopped. A round that was
    never begun is past once the cohort was looked at, at its time or later, without it.
    """
    if not all(round.done for round in record.read(read_rounds, stored.id)):
        return False
    if newest and stored.stopped_at is None:
        last = stored.cohort.calendar.time(stored.cohort.rounds)
        seen_until = record.read(read_newest_time, stored.id)
        if last > at or seen_until is None or seen_until < last:
            return False
    if any(account.lots for account in record.holdings(stored.id, until=at).values()):
        return False
    if record.read(read_unpaid_markets, stored.id):
        return False
    record.write(end_cohort, stored.id, at)
    return True


def open_cohorts(record: Record) -> list[StoredCohort]:
    """Cohorts that still have something to come."""
    return [stored for stored in record.cohorts() if stored.ended_at is None]


MINUTE_FORMAT = "%Y-%m-%dT%H:%MZ"


def next_decision_time(
    plan: Plan,
    record: Record,
    live: bool,
    now: datetime,
    look: datetime | None = None,
    leaves_failed: bool = False,
) -> datetime:
    """The time to play when none is named: what was broken off, else what comes next, else what is due.

    A round whose models were away was broken off too, unless failed turns are left as they are. With `look`,
    where all have ended, corrections may come: then they are asked for.
    """
    newest, played = record.read(read_newest_time), record.read(read_newest_played_time)
    plan, still_open = plan_as_begun(plan, record), open_cohorts(record)
    interrupted = [
        at
        for stored in still_open
        for at in {*unplayed_times(stored, record), *([] if played is None else [played])}
        if is_interrupted_at(at, stored, record, leaves_failed)
    ]
    if interrupted:
        return min(interrupted)
    if live:
        due = plan.decision_times(now)
        if due and now - due[-1] <= PLAY_WINDOW:
            return due[-1]
        after = plan.next_after(now)
        if look is not None and look <= now and after is None:
            return now.replace(second=0, microsecond=0)
        words = "every round is over"
        if after is not None:
            words = f"no decision is due; the next is on {after:{MINUTE_FORMAT}}"
        raise ArenaError("not_due", words, "a round must be played within 6 hours of its time")
    following = plan.first if newest is None else plan.next_after(newest)
    if following is None and newest is not None and played is not None:
        # every round is over, and what is open is still to be settled
        weeks = max(1, -((played - newest) // WEEK))
        following = played + weeks * WEEK if still_open else look
    if following is None:
        raise ArenaError("over", "every round has been played", "arena leaderboard shows the results")
    return following


def season_time(plan: Plan, record: Record, now: datetime, within: timedelta) -> datetime:
    """Return what time it is in a simulated or recorded season.

    That is now once all until now is played, settled, and corrected `within` so long. Before that it is the
    time of the newest look, or of the first start: whatever is read later would be in the season's future.
    """
    newest = record.read(read_newest_time)
    if newest is None:
        return min(now, plan.first)

    undone = [at for stored in open_cohorts(record) for at in unplayed_times(stored, record)]
    following = plan_as_begun(plan, record).next_after(newest)
    if following is None and open_cohorts(record):
        return newest
    look = next_look(record, record.cohorts(), False, within)
    coming = [at for at in (following, look) if at is not None]
    return newest if any(at <= now for at in (*undone, *coming)) else now


def unplayed_times(stored: StoredCohort, record: Record) -> list[datetime]:
    """The times of its rounds that are not over; where prices are live they are past."""
    if stored.cohort.stamp == "live":
        return []
    return [round.at for round in record.read(read_rounds, stored.id) if not round.done]


def is_interrupted_at(
    newest: datetime, stored: StoredCohort, record: Record, leaves_failed: bool = False
) -> bool:
    """Whether a time was broken off for a cohort.

    One that only has failed turns left was not, but where no time passes a model that was away is asked
    again.
    """
    if stored.cohort.starts_at > newest:
        return False
    round = next((round for round in record.read(read_rounds, stored.id) if round.at == newest), None)
    if round is not None and not round.done and (stored.paused_at or stored.stopped_at):
        return False
    if not record.read(has_marks, stored.id, newest):
        return True
    if round is None or round.done:
        return False
    statuses = record.read(read_turn_statuses, round.id)
    if not unfinished_turns(stored, statuses, {"failed"}) or unfinished_turns(stored, statuses):
        return True
    if leaves_failed or stored.cohort.stamp == "live":
        return False
    return any(turn.passing for turn in record.read(read_unanswered_turns, round.id))


def check_decision_time(
    at: datetime, plan: Plan, record: Record, live: bool, now: datetime, look: datetime | None = None
) -> None:
    """A time to come, one before the last played, or one at which nothing is to be done is a mistake."""
    newest, cohorts, plan = record.read(read_newest_time), record.cohorts(), plan_as_begun(plan, record)
    decides = plan.starts_at(at) or any(x.cohort.calendar.number_at(at) for x in cohorts)
    settles = newest is not None and at >= newest and open_cohorts(record) and not (at - plan.first) % WEEK
    if not decides and not settles and (look is None or at < look):
        near = plan.next_after(at)
        hint = f"the next decision is on {near:{MINUTE_FORMAT}}" if near else "every round is over by then"
        raise ArenaError("no_round", f"no cohort decides on {at:{MINUTE_FORMAT}}", hint)
    if live and at > now:
        words = f"{at:{MINUTE_FORMAT}} is in the future"
        raise ArenaError("not_due", words, "a live round is played at its own time")
    times = {round.at for stored in cohorts for round in record.read(read_rounds, stored.id)}
    late = (live and now - at > PLAY_WINDOW) or (newest is not None and at < newest)
    if late and at not in times:
        words = f"{at:{MINUTE_FORMAT}} was missed: its prices are gone"
        raise ArenaError("too_late", words, "play the next round: arena round")


@dataclass(frozen=True, slots=True)
class CohortOverview:
    """A cohort at a glance: what it is doing, its rounds so far, when it decides next.

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
        """What it froze."""
        return self.stored.cohort

    @property
    def done(self) -> int:
        """How many of its rounds are over."""
        return sum(round.done for round in self.rounds)


def cohort_overviews(connection: Connection, keep: int, now: datetime) -> list[CohortOverview]:
    """All cohorts, oldest first, of which the newest `keep` decide, as of the clock.

    In a made-up or recorded world time is that of the newest snapshot.
    """
    cohorts, snapshot_times = read_cohorts(connection), read_newest_snapshot_times(connection)
    rounds, held = read_rounds_by_cohort(connection), count_open_positions(connection)
    profits = read_profits(connection)
    latest = max(snapshot_times.values(), default=None)
    overviews = []
    for stored in cohorts:
        live, own = stored.cohort.stamp == "live", rounds.get(stored.id, [])
        since = now - PLAY_WINDOW if live else latest
        begun = {round.number: round.done for round in own}
        number = next_round_number(stored.cohort, begun, snapshot_times.get(stored.id), since)
        at = max(stored.cohort.starts_at, now if live else latest or stored.cohort.starts_at)
        state = cohort_state(stored, newest_numbers(cohorts, at, keep), number is not None)
        next_at = stored.cohort.calendar.time(number) if number is not None and state == "playing" else None
        own_profits = profits.get(stored.cohort.number, {})
        overviews.append(CohortOverview(stored, state, tuple(own), next_at, held[stored.id], own_profits))
    return overviews


def manual_start_time(
    plan: Plan, cohorts: Sequence[StoredCohort], newest: datetime | None, live: bool, now: datetime
) -> datetime:
    """When a cohort starts that is started now; `newest` is the time of the newest snapshot.

    With a live venue that is now, to the minute; else the next decision time.
    """
    if live:
        minute = now.replace(second=0, microsecond=0)
        return minute if newest is None or newest <= minute else minute + timedelta(minutes=1)
    if newest is None:
        return plan.first
    return plan.next_after(newest) or max(newest, *(each.cohort.starts_at for each in cohorts)) + WEEK


def check_manual_start(
    at: datetime, cohorts: Sequence[StoredCohort], newest: datetime | None, live: bool, now: datetime
) -> None:
    """A start that another cohort has, or at which nothing can be decided any more, is a mistake."""
    for stored in cohorts:
        if stored.cohort.starts_at == at:
            message = f"cohort {stored.cohort.number} starts on {at:{MINUTE_FORMAT}} already"
            raise ArenaError("same_start", message, "name another time: --at TIME")
    if live and at < max(now.replace(second=0, microsecond=0), newest or at):
        message = f"{at:{MINUTE_FORMAT}} is past: its prices are no longer available"
        raise ArenaError("too_late", message, "leave out --at to start one now")
    if not live and newest is not None and at <= newest:
        message = f"{at:{MINUTE_FORMAT}} is past: the season has been played until {newest:{MINUTE_FORMAT}}"
        raise ArenaError("too_late", message, "leave out --at to start one at the next decision")
