"""What the leaderboard page asks of the record."""

from arena.ranking import Ranked
from arena.scores import ranking
from dashboard.source import Source, ask, cached


@cached
def board(record: Source, cohort: int | None = None) -> tuple[Ranked, ...]:
    """The leaderboard of all cohorts, or of one."""
    return ask(record, lambda connection: ranking(connection, cohort).rows)
