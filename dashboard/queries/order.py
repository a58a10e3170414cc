"""In which order agents are offered: as they stand on the board, models before rules."""

from arena.prepared.boards import kept_ranking
from dashboard.queries.season import season
from dashboard.source import Source, ask, cached


@cached
def by_board(record: Source) -> tuple[str, ...]:
    """The names of all agents; those that stand on no board yet come last, in line-up order."""
    kept = ask(record, kept_ranking)
    kinds = dict(season(record).agents)
    ranked = [row.agent for row in kept.value.rows if row.agent in kinds] if kept is not None else []
    return tuple(sorted(dict.fromkeys([*ranked, *kinds]), key=lambda name: kinds[name] != "llm"))
