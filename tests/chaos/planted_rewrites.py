"""Rewrites of a finished record that verifying must find: one is planted at the end of every seed.

They are those of `tests/records/attacks.py` that any season can have. One that only hashes or the chain give
away is tried again with these rewritten, until the heads that had left the machine are what gives it away.
"""

from contextlib import closing
from pathlib import Path
from random import Random

from markets.hashes import sha256
from tests.chaos.record_reads import Broken
from tests.records.attacks import ATTACKS, assert_found
from tests.records.chain import published_by
from tests.records.tampered import TamperedRecord

PLANTED = (
    "forecasts as it ended",
    "a forecast deleted",
    "an answer rewritten",
    "an answer that never came",
    "the last call deleted",
    "all calls of an agent deleted",
    "what a call cost",
    "when an answer came",
    "a note",
    "a fill's price",
    "a mark deleted",
    "a turn deleted",
    "the cash of a turn",
    "a fill's shares",
    "a fill deleted",
    "an entry's cash",
    "a settlement deleted",
    "a deposit",
    "an entry added",
    "a mark",
    "a price",
    "a page",
    "an outcome turned",
    "when an outcome was learnt",
    "a paid outcome deleted",
    "a look deleted",
    "rounds swapped",
    "the last round deleted",
    "what a head covers",
    "the frozen seed",
)
"""By the names that they have among the attacks."""
REWRITES_HEADS = "what a head covers"
"""Making the chain anew would take this one back."""


def plant_rewrite(file: Path, chance: Random) -> str:
    """Plant one of the rewrites, and return which; raise `Broken` if verifying doesn't find it."""
    names = chance.sample(PLANTED, len(PLANTED))
    with closing(TamperedRecord(file)) as record:
        for name in names:
            if is_found(record, name):
                return name
    raise Broken("none of the rewrites changes anything in the record")


def is_found(record: TamperedRecord, name: str) -> bool:
    """Return whether a rewrite changes something in a record; raise `Broken` if it does and isn't found."""
    heads = published_by(record.connection)
    agent = record.driver.execute("SELECT name FROM entrant WHERE kind = 'llm' ORDER BY id").fetchone()
    statements = ATTACKS[name]
    if agent is not None:
        statements = tuple(words.replace("name = 'sharp'", f"name = '{agent[0]}'") for words in statements)

    before = digest_of(record)
    with record.undone():
        for statement in statements:
            record.driver.execute(statement)
        if digest_of(record) == before:
            return False

        try:
            assert_found(record, heads, rewritten=name != REWRITES_HEADS)
        except AssertionError as error:
            raise Broken(f"verify does not find a planted rewrite: {name}") from error
    return True


def digest_of(record: TamperedRecord) -> str:
    """Return a hash of all that is in a record."""
    return sha256("\n".join(record.driver.iterdump()))
