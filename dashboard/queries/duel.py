"""What the page of a duel asks of the record."""

from arena.scores.cache.duels import DuelDetails, cached_duels
from arena.scores.cache.entry import CacheEntry
from dashboard.source import RecordSource, ask, cached


@cached
def duels(record: RecordSource, agent: str) -> CacheEntry[tuple[DuelDetails, ...]] | None:
    """All duels of an agent, as `a`, as they were worked out last."""
    return ask(record, lambda connection: cached_duels(connection, agent))
