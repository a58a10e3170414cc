"""How the arena stands, as `arena status` has it: with the config, where the dashboard knows one."""

from arena.clock import now
from arena.operations.status import Status, read_status_by_config
from dashboard.config import known_config
from dashboard.source import RecordSource, ask, cached


@cached
def arena_status(record: RecordSource) -> Status:
    """The status now. A config that can't be read adds nothing; the page of operations says so."""
    config, _ = known_config()
    return ask(record, lambda connection: read_status_by_config(connection, now(), config))
