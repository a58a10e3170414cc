"""What the leaderboard page asks of the record."""

from dataclasses import dataclass
from datetime import datetime

from arena.record.queries.accounts import AccountEquity, read_account_equity
from arena.record.queries.forecasts import Connection
from arena.scores.cache.entry import CacheEntry
from arena.scores.cache.leaderboards import cached_leaderboard, cached_slices
from arena.scores.cache.profiles import ProfileFigures, cached_figures
from arena.scores.leaderboard import Leaderboard
from arena.scores.slices import Slice
from dashboard.model import LeaderboardLine
from dashboard.source import RecordSource, ask, cached


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A leaderboard as it was worked out last; without one, what every account is worth.

    `briefs` are of all cohorts together, whatever the board is of. `made_at` is that of what is older.
    """

    ranking: Leaderboard | None
    lines: tuple[LeaderboardLine, ...]
    money: tuple[AccountEquity, ...]
    made_at: datetime | None
    fresh: bool


@cached
def leaderboard_page(record: RecordSource, cohort: int | None = None) -> LeaderboardPage:
    """The leaderboard of all cohorts, or of one."""
    return ask(record, lambda connection: _read_leaderboard(connection, cohort))


@cached
def parts(record: RecordSource, by: str) -> CacheEntry[tuple[Slice, ...]] | None:
    """Every agent against the market in each part of the season by something."""
    return ask(record, lambda connection: cached_slices(connection, by))


def _read_leaderboard(connection: Connection, cohort: int | None) -> LeaderboardPage:
    found = cached_leaderboard(connection, cohort)
    if found is None:
        return LeaderboardPage(None, (), tuple(read_account_equity(connection, cohort)), None, fresh=False)
    briefs = cached_figures(connection) if cohort is None else None
    made = [found.made_at, *([] if briefs is None else [briefs.made_at])]
    fresh = found.fresh and (briefs is None or briefs.fresh)
    return LeaderboardPage(found.value, lines(found.value, briefs), (), min(made), fresh)


def lines(
    ranking: Leaderboard, briefs: CacheEntry[tuple[ProfileFigures, ...]] | None
) -> tuple[LeaderboardLine, ...]:
    """The rows of a ranking, each with its brief where there is one."""
    known = {} if briefs is None else {brief.agent: brief for brief in briefs.value}
    return tuple(LeaderboardLine(row, known.get(row.agent)) for row in ranking.rows)
