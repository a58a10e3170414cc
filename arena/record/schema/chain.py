"""The chain that fixes what the record holds: a head for each step, which covers all before it."""

from datetime import datetime

from arena.record.schema.fields import (
    JSON,
    TableRow,
    hash_field,
    id_field,
    text_field,
    time_field,
    whole_field,
)


class HeadRow(TableRow, table=True):
    """Heads of the chain, one for each round that is over and each other addition of facts.

    Each covers what was added, and by the hash of the head before it all that was there.
    """

    id: int = id_field()
    number: int = whole_field("counts a record's heads, from 1 without a gap", unique=True)
    cohort: int | None = whole_field("its cohort", empty="of more than one")
    round: int | None = whole_field("the round that is over", empty="it is not about a round", index=True)
    at: datetime = time_field("the time of what was added: of the round, the settlement, the snapshot")
    parts: str = text_field("of each kind of fact its name, how many were added, and their SHA-256", JSON)
    members: str = text_field(
        "the facts themselves, by name and hash, of kinds that don't follow from cohort and round", JSON
    )
    previous: str = text_field("the hash of the head before, or nothing for the first")
    hash: str = hash_field("number, cohort, round, time, parts, and the head before")
