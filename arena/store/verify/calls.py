"""Calls of models: what was asked and answered, for whom, and that no attempt is missing."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Table, select

from arena.store.tables import CALL, ENTRANT, ROUND
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs, numbered
from arena.store.verify.parts import Part, Row
from arena.store.verify.query import Query, rows_of
from arena.store.verify.seals import parsed, sealed, without

QUESTION = ("round_id", "entrant_id", "stage", "sample")
CALLS, ATTEMPT = rows_of(CALL), Part(CALL, *QUESTION, "attempt")
ATTEMPTS = Query(select().order_by(*(CALL.c[name] for name in ATTEMPT.names)), ATTEMPT, again=True)


def check_calls(facts: Facts) -> Iterator[Difference]:
    """Calls of strangers or of other words than were sealed, and attempts that leave a gap."""
    for row in facts.rows(CALLS):
        content = without(row, "id", "round_id", "entrant_id", "made_at", "hash") | place_of(facts, row)
        yield from sealed(facts, CALL, row, content, "it seals what was asked and answered")
        asked = {"messages": parsed(row["messages"]), "seed": row["seed"]}
        yield from sealed(facts, CALL, row, asked, "it is the hash of messages and seed", "prompt_hash")
        yield from of_the_cohort(facts, CALL, row)
    for _, rows in groupby(facts.rows(ATTEMPTS), key=itemgetter(*QUESTION)):
        yield from numbered(facts, CALL, rows, "attempt", 1)


def place_of(facts: Facts, row: Row) -> dict[str, Any]:
    """Cohort, round and entrant as the hashes of calls and turns have them."""
    cohort, number, name = facts.place(row) or (None, None, None)
    return {"cohort": cohort, "round": number, "entrant": name}


def of_the_cohort(facts: Facts, table: Table, row: Row) -> Iterator[Difference]:
    """A call or a turn of an entrant whose cohort the round isn't of."""
    round, entrant = facts.find(ROUND, row["round_id"]), facts.find(ENTRANT, row["entrant_id"])
    if round is not None and entrant is not None and round["cohort_id"] != entrant["cohort_id"]:
        yield differs(facts, table, row, "entrant_id", "one of the cohort", "nobody else plays its rounds")
