"""How the arena stands, as `arena status` has it: with the config, where the dashboard knows one."""

from arena.clock import now
from arena.standing import look_by
from arena.status import Status
from dashboard.config import known
from dashboard.source import Source, ask, cached


@cached
def standing(record: Source) -> Status:
    """The status now. A config that can't be read adds nothing; the page of operations says so."""
    config, _ = known()
    return ask(record, lambda connection: look_by(connection, now(), config))
