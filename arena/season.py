"""Many decision times: cohorts started when due, each played or tracked, until all is over."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from arena.answers import NoAnswer
from arena.cohort import deciding, newest, number_at
from arena.errors import ArenaError
from arena.model import Cohort, RoundReport
from arena.round import busy, play_round, track
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.timetable import WEEK, Plan
from arena.turns import is_late
from arena.world import World
from markets.collector import searched_seldom
from portfolio.ledger import open_account

LONGEST_TAIL = 26
"""How many more times a season looks whether what is still open has ended."""


async def play_season(
    plan: Plan,
    world: World,
    record: Record,
    most: int | None = None,
    played: Callable[[int, int], None] = print,
) -> None:
    """Every decision time in turn, then, unless bounded by `most`, time enough for all to settle.

    `played` is told after each decision time how many of how many are done.
    """
    times = season_times(as_begun(plan, record), most)
    tail = [] if most else [times[-1] + number * WEEK for number in range(1, LONGEST_TAIL + 1)]
    newest = record.newest_time() or times[0]
    with searched_seldom():
        for number, at in enumerate((*times, *tail), 1):
            if number > len(times) and not open_cohorts(record):
                break
            if at >= newest:  # what is older is over, and must not be looked at with what is known since
                stop_if_busy(await play_time(at, plan, world, record))
            played(min(number, len(times)), len(times))


def as_begun(plan: Plan, record: Record) -> Plan:
    """The plan as it is now that some cohorts have begun."""
    return replace(plan, begun=tuple(stored.cohort for stored in record.cohorts()))


def stop_if_busy(reports: Sequence[RoundReport]) -> None:
    """A season does not walk past a turn that another process holds."""
    for report in reports:
        if report.waiting:
            raise busy(report.cohort, report.number, report.waiting)


def season_times(plan: Plan, most: int | None) -> list[datetime]:
    """The first so many decision times, or all of a plan that ends."""
    if most is None and plan.count is None:
        mend = "say how many decision times to play with --rounds, or set cohorts.count in the config"
        raise ArenaError("endless", "cohorts start without end in this config", mend)
    until = None if most is None else plan.first + most * max(WEEK, plan.decide)
    return plan.decision_times(until)[:most]


async def play_time(at: datetime, plan: Plan, world: World, record: Record) -> list[RoundReport]:
    """One decision time: start the cohort that is due, play the rounds that are due, track the rest.

    Where one cohort's venue has no answer the others are played all the same, and then that is told.
    """
    start_due(at, plan, record)
    begun = [stored for stored in record.cohorts() if stored.cohort.starts_at <= at]
    among, ready = newest(begun, at, plan.keep_deciding), deciding(begun, at, plan.keep_deciding)
    reports, trouble = list[RoundReport](), list[NoAnswer]()
    for stored in begun:
        if stored.ended_at is not None:
            continue
        plays = stored.cohort.number in ready and not missed(stored, at, world, record)
        number = number_due(stored, at, record) if plays else None
        try:
            if number is None:
                await track(stored, at, world, record)
            else:
                reports.append(await play_round(stored, number, world, record))
        except NoAnswer as error:
            trouble.append(error)
            continue
        end_if_over(stored, at, stored.cohort.number in among, record)
    if trouble:
        first = trouble[0]
        raise NoAnswer(first.code, first.message, first.mend, first.venue, 2 if reports else 1)
    return reports


def number_due(stored: StoredCohort, at: datetime, record: Record) -> int | None:
    """The number of the round that a cohort decides at that time; None when it was only tracked then."""
    number = number_at(stored.cohort, at)
    if number is None or record.taken(stored.id, at) is None:
        return number
    return number if any(round.number == number for round in record.rounds(stored.id)) else None


def missed(stored: StoredCohort, at: datetime, world: World, record: Record) -> bool:
    """Whether a live cohort's round was not begun in time: then the cohort is only tracked at that time."""
    return is_late(stored.cohort, at, world.now()) and record.taken(stored.id, at) is None


def start_due(at: datetime, plan: Plan, record: Record) -> None:
    """Start the cohort that the plan wants at that time, once."""
    begun = {stored.cohort.starts_at for stored in record.cohorts()}
    if plan.starting(at) is not None and at not in begun:
        start(at, plan, record)


def start(at: datetime, plan: Plan, record: Record) -> Cohort:
    """Start the next cohort; where the schedule starts one at that time, it is that one."""
    planned, texts = plan.freeze(len(record.cohorts()) + 1, at)
    cohort = replace(planned, by_hand=plan.starting(at) is None)
    deposits = {entrant.name: open_account(cohort.bankroll, at) for entrant in cohort.entrants}
    record.add_cohort(cohort, texts, deposits)
    return cohort


def end_if_over(stored: StoredCohort, at: datetime, newest: bool, record: Record) -> bool:
    """End a cohort that has no round to come, none that is not done, and where nobody holds anything.

    One that is `newest` may still decide, also after a pause, unless it was stopped. A round that was never
    begun is past once the cohort was looked at, at its time or later, without it.
    """
    if not all(round.done for round in record.rounds(stored.id)):
        return False
    if newest and stored.stopped_at is None:
        last, looked = stored.cohort.decides_at(stored.cohort.rounds), record.newest_time(stored.id)
        if last > at or looked is None or looked < last:
            return False
    if any(account.lots for account in record.holdings(stored.id, until=at).values()):
        return False
    record.end_cohort(stored.id, at)
    return True


def open_cohorts(record: Record) -> list[StoredCohort]:
    """Cohorts that still have something to come."""
    return [stored for stored in record.cohorts() if stored.ended_at is None]
