"""Ledgers read back: whole, or only what is new in them."""

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from arena.record.schema.tables import ENTRANT, ENTRY
from portfolio.model import Entry

COHORT_ID: BindParameter[int] = bindparam("cohort_id")
FIELDS = [ENTRY.c[name] for name in Entry.__dataclass_fields__]
LEDGERS = (
    select(ENTRANT.c.name, *FIELDS)
    .select_from(ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id))
    .where(ENTRANT.c.cohort_id == COHORT_ID)
    .order_by(ENTRANT.c.position, ENTRY.c.number)
)
OF_ONE = LEDGERS.where(ENTRANT.c.name == bindparam("agent"))
NEWER = (
    select(ENTRY.c.entrant_id, *FIELDS)
    .where(ENTRY.c.entrant_id.in_(bindparam("ids", expanding=True)), ENTRY.c.number > bindparam("known"))
    .order_by(ENTRY.c.entrant_id, ENTRY.c.number)
)
NEWEST = select(func.max(ENTRY.c.number)).where(ENTRY.c.entrant_id == ENTRANT.c.id)
HEADS = (
    select(ENTRANT.c.name, ENTRANT.c.id, NEWEST.scalar_subquery())
    .where(ENTRANT.c.cohort_id == COHORT_ID)
    .order_by(ENTRANT.c.position)
)


def read_ledgers(connection: Connection, cohort_id: int, agent: str | None = None) -> dict[str, list[Entry]]:
    """Every entrant's ledger, in line-up order, or that of one."""
    found: dict[str, list[Entry]] = defaultdict(list)
    wanted = LEDGERS if agent is None else OF_ONE
    for name, *values in connection.execute(wanted, {"cohort_id": cohort_id, "agent": agent}).all():
        found[name].append(Entry(*values))
    return dict(found)


def entries_after(connection: Connection, known: Mapping[int, int]) -> dict[int, list[Entry]]:
    """The entries of entrants, by id, that come after those up to a number."""
    found: dict[int, list[Entry]] = {entrant_id: [] for entrant_id in known}
    wanted = {"ids": list(known), "known": min(known.values(), default=0)}
    for entrant_id, number, *values in connection.execute(NEWER, wanted).all():
        if number > known[entrant_id]:
            found[entrant_id].append(Entry(number, *values))
    return found


def heads(connection: Connection, cohort_id: int) -> dict[str, tuple[int, int]]:
    """The id of every entrant and the number of its newest entry, in line-up order."""
    rows = connection.execute(HEADS, {"cohort_id": cohort_id}).all()
    return {name: (id, number) for name, id, number in rows if number is not None}
