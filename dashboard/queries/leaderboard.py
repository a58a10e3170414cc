"""What the leaderboard page asks of the record, and the order in which agents are offered on others."""

from dataclasses import dataclass, replace

from arena.record.queries.accounts import AccountEquity, read_account_equity
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.leaderboard import LEADERBOARD, Leaderboard
from arena.scores.profiles.detailed_profile import FIGURES
from arena.scores.slices import SLICES, Slice
from dashboard.model import LeaderboardLine
from dashboard.queries.season import season
from dashboard.source import RecordSource, ask, cached


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A leaderboard as it was computed last; without one, the equity of every account.

    The figures beside the rows are of all cohorts together: the leaderboard of one has none. The entry has
    the time of what is older.
    """

    board: CacheEntry[Leaderboard] | None
    lines: tuple[LeaderboardLine, ...]
    money: tuple[AccountEquity, ...]


@cached
def leaderboard_page(record: RecordSource, cohort: int | None = None) -> LeaderboardPage:
    """The leaderboard of all cohorts, or of one."""
    return ask(record, lambda connection: _read_leaderboard(connection, cohort))


@cached
def parts(record: RecordSource, by: str) -> CacheEntry[tuple[Slice, ...]] | None:
    """Every agent against the market in each part of the season by something."""
    return ask(record, lambda connection: SLICES.read(connection, by))


def _read_leaderboard(connection: Connection, cohort: int | None) -> LeaderboardPage:
    board = LEADERBOARD.read(connection, cohort)
    if board is None:
        return LeaderboardPage(None, (), tuple(read_account_equity(connection, cohort)))
    figures = FIGURES.read(connection) if cohort is None else None
    by_agent = {} if figures is None else {one.agent: one for one in figures.value}
    if figures is not None:
        made_at = min(board.made_at, figures.made_at)
        board = replace(board, made_at=made_at, is_current=board.is_current and figures.is_current)
    lines = (LeaderboardLine(row, by_agent.get(row.agent)) for row in board.value.rows)
    return LeaderboardPage(board, tuple(lines), ())


@cached
def by_leaderboard(record: RecordSource) -> tuple[str, ...]:
    """The names of all agents; those that stand on no board yet come last, in line-up order."""
    board = ask(record, LEADERBOARD.read)
    kinds = dict(season(record).agents)
    ranked = [row.agent for row in board.value.rows if row.agent in kinds] if board is not None else []
    return tuple(sorted(dict.fromkeys([*ranked, *kinds]), key=lambda name: kinds[name] != "llm"))
