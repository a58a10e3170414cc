"""What the page of a duel asks of the record."""

from arena.prepared.duels import Fought, kept_duels
from arena.prepared.kept import Kept
from dashboard.source import Source, ask, cached


@cached
def duels(record: Source, agent: str) -> Kept[tuple[Fought, ...]] | None:
    """All duels of an agent, as `a`, as they were worked out last."""
    return ask(record, lambda connection: kept_duels(connection, agent))
