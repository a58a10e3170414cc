"""What the cohorts of a record that is made up have played, in the order of time, as rows of its tables.

Each round shows markets that end in the next eight weeks; agents buy YES of most of the first twelve at the
ask, and hold it until the market ends. Everyone is marked at every snapshot.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from markets.hashes import digest
from tests.year.ledger import Seen, YearAccount
from tests.year.world import ENDS, HOUR, WEEK, Line, YearPrice, YearWorld, text

ROUNDS, LIFE, LAST = 5, 12, 52 * WEEK - HOUR
"""Rounds of a cohort, the weeks until its last position has settled, and when the record is looked at."""
SHOWN, AHEAD = 40, 8
"""How many markets a round shows, and in how many weeks they end."""
FRESH, OLD, SELDOM = 60, 7_200, 40
"""The age of a quote when it is looked at; every so often, between rounds, one is older."""


@dataclass(frozen=True)
class Team:
    """A cohort, and everyone's account in the order of the line-up."""

    number: int
    accounts: list[YearAccount]

    def looks(self, marks: int) -> Iterator[tuple[int, int]]:
        """The seconds at which it looks at the markets, each with its number, from 0."""
        for number in range(LIFE * marks + 1):
            second = (self.number - 1) * WEEK + number * WEEK // marks
            if second <= LAST:
                yield second, number

    def is_over(self, second: int) -> bool:
        """Whether nothing comes after that."""
        return second == (self.number - 1 + LIFE) * WEEK


@dataclass(frozen=True)
class YearSnapshot:
    """A snapshot: its id and time, the markets it shows, those that are held besides, and all prices."""

    id: int
    second: int
    shown: list[int]
    held: list[int]
    seen: dict[int, tuple[YearPrice, int]] = field(default_factory=dict)


@dataclass
class Pages:
    """Rows that wait to be written, by their table."""

    rows: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    ids: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def next_id(self, table: str) -> int:
        """The id of a new row."""
        self.ids[table] += 1
        return self.ids[table]


def snapshot_at(world: YearWorld, pages: Pages, team: Team, second: int, number: int) -> YearSnapshot:
    """Settle what has ended, and take a snapshot of what is shown and held."""
    for account in team.accounts:
        pages.rows["entry"] += account.settle(world, second)
    week, part = divmod(number, world.size.marks)
    shown = markets_of(world, team.number, week) if part == 0 and week < ROUNDS else []
    held = dict.fromkeys(market for account in team.accounts for market in account.lots)
    look = YearSnapshot(
        pages.next_id("snapshot"), second, shown, [market for market in held if market not in shown]
    )
    is_old = not shown and number % SELDOM == SELDOM - 1
    _snapshot(world, pages, team, look, OLD if is_old else FRESH)
    return look


def markets_of(world: YearWorld, cohort: int, week: int) -> list[int]:
    """The markets of a round: of each of the next weeks' ends a few."""
    kinds, now = world.size.kinds, cohort - 1 + week
    places = range(min(SHOWN, AHEAD * kinds))
    return [
        (cohort * 5 + week * 3 + place // AHEAD) % kinds * ENDS + now + 1 + place % AHEAD for place in places
    ]


def _snapshot(world: YearWorld, pages: Pages, team: Team, look: YearSnapshot, first: int) -> None:
    """Its rows; the first of its quotes is so many seconds old."""
    newest, sealed, shown = world.newest(look.second), [], len(look.shown)
    for place, market in enumerate((*look.shown, *look.held)):
        quoted = max(newest * world.size.step, look.second - (FRESH if place else first))
        price = world.prices[market][world.level(market, newest)]
        look.seen[market] = price, look.second + 2 - quoted
        item = world.names[market], text(quoted), int(place < shown)
        quote = newest * world.size.markets + market + 1
        pages.rows["snapshot_item"].append((look.id, place, item[0], market + 1, quote, *item[1:]))
        sealed.append([item[0], world.pages[market][-1], price.hash, *item[1:]])
    times = {"at": text(look.second), "taken_at": text(look.second + 2)}
    hash = digest(times | {"cohort": team.number, "items": sealed})
    pages.rows["snapshot"].append((look.id, team.number, *times.values(), hash))


def mark(pages: Pages, team: Team, look: YearSnapshot) -> None:
    """Everyone's holdings at a snapshot."""
    seen: Seen = look.seen
    pages.rows["mark"] += [account.mark(look.second, look.id, seen) for account in team.accounts]
