"""In which order agents are offered: as they stand on the board, models before rules."""

from arena.scores.leaderboard import LEADERBOARD
from dashboard.queries.season import season
from dashboard.source import RecordSource, ask, cached


@cached
def by_leaderboard(record: RecordSource) -> tuple[str, ...]:
    """The names of all agents; those that stand on no board yet come last, in line-up order."""
    board = ask(record, LEADERBOARD.read)
    kinds = dict(season(record).agents)
    ranked = [row.agent for row in board.value.rows if row.agent in kinds] if board is not None else []
    return tuple(sorted(dict.fromkeys([*ranked, *kinds]), key=lambda name: kinds[name] != "llm"))
