"""How often a config's cohorts decide: in all, in a month, on the busiest day."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from arena.config.model import Cohorts
from arena.timetable import WEEK

MONTH = timedelta(days=30.4)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Rounds in which one cohort decides, all cohorts in a month of 30.4 days, and all on the busiest day."""

    cohort: int
    month: Fraction
    day: int


def calendar(cohorts: Cohorts, number: int = 1) -> Calendar:
    """That of cohort `number` and of those that play beside it, one more each week.

    Only the newest `keep_deciding` decide, so a cohort stops when so many newer ones have started.
    A month is one in full swing, or the whole season where that has fewer rounds.
    """
    rounds, keep, count = cohorts.rounds, cohorts.keep_deciding, cohorts.count
    overtaken = min(rounds, -(-keep * WEEK // cohorts.decide))
    if count is None:
        return Calendar(overtaken, overtaken * _ratio(MONTH, WEEK), _busiest(cohorts))
    a_week = min(Fraction(overtaken if count > keep else rounds), count * _ratio(WEEK, cohorts.decide))
    in_all = max(0, count - keep) * overtaken + min(count, keep) * rounds
    mine = rounds if count - number < keep else overtaken
    return Calendar(mine, min(a_week * _ratio(MONTH, WEEK), Fraction(in_all)), _busiest(cohorts))


def _ratio(time: timedelta, other: timedelta) -> Fraction:
    return Fraction(time // SECOND, other // SECOND)


def _busiest(cohorts: Cohorts) -> int:
    """The most rounds of all cohorts on one day (UTC): those of one in its first week, one in its second …"""
    most = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    begins = timedelta(hours=cohorts.start.time.hour, minutes=cohorts.start.time.minute)
    days = Counter((begins + number * cohorts.decide) // DAY for number in range(cohorts.rounds))
    onward = Counter[int]()
    for day in range(max(days), -1, -1):
        onward[day] = days[day] + onward[day + 7]
    return max(onward[day] - onward[day + 7 * most] for day in days)
