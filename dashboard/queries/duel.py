"""What the page of a duel asks of the record."""

from arena.scores.cache import CacheEntry
from arena.scores.profiles.duels import DUELS, DuelDetails
from dashboard.source import RecordSource, ask, cached


@cached
def duels(record: RecordSource, agent: str) -> CacheEntry[tuple[DuelDetails, ...]] | None:
    """All duels of an agent, as `a`, as they were worked out last."""
    return ask(record, lambda connection: DUELS.read(connection, agent))
