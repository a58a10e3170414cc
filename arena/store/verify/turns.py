"""Turns: the cash before them, what may be behind them, and the calls that were made for them."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table

from arena.store.tables import CALL, ENTRANT, ENTRY, FILL, FORECAST, REJECTION, ROUND, TURN
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.seals import parsed

EMPTY = {"played": (), "malformed": (FILL,), "out": (FILL, FORECAST), "failed": (FILL, FORECAST, REJECTION)}
"""Verdicts, and the tables in which turns of that verdict have no row."""


def check_turns(facts: Facts) -> Iterator[Difference]:
    """Turns of strangers, with a wrong cash, or with more behind them than their verdict allows."""
    rounds, ledgers = facts.by_id(ROUND), facts.grouped(ENTRY, "entrant_id")
    behind = {table: facts.grouped(table, "turn_id") for table in (FILL, FORECAST, REJECTION)}
    for row in facts.rows(TURN):
        yield from _of_the_cohort(facts, TURN, row)
        if (round := rounds.get(row["round_id"])) is not None:
            cash = _cash_before(round, ledgers[row["entrant_id"]])
            yield from compared(facts, TURN, row, {"cash": (cash, "it is the balance before its fills")})
        if not _are_wishes(parsed(row["wishes"])):
            yield differs(facts, TURN, row, "wishes", "bets and sales", "it is JSON of two lists")
        if row["verdict"] not in EMPTY:
            yield differs(facts, TURN, row, "verdict", " or ".join(EMPTY), "there is no other")
        for table in EMPTY.get(row["verdict"], ()):
            if behind[table][row["id"]]:
                yield differs(facts, TURN, row, "verdict", "played", f"there is a {table.name} of it")
        yield from numbered(facts, REJECTION, behind[REJECTION][row["id"]], "position", 0)


def _of_the_cohort(facts: Facts, table: Table, row: Row) -> Iterator[Difference]:
    round, entrant = facts.by_id(ROUND).get(row["round_id"]), facts.by_id(ENTRANT).get(row["entrant_id"])
    if round is not None and entrant is not None and round["cohort_id"] != entrant["cohort_id"]:
        yield differs(facts, table, row, "entrant_id", "one of the cohort", "nobody else plays its rounds")


def _cash_before(round: Row, ledger: list[Row]) -> int:
    """The sum of the cash that moved before an entrant's fills of a round."""
    mine = f"fill:{round['number']}:"
    before = (row for row in ledger if row["at"] <= round["at"])
    return sum(row["cash"] for row in before if not row["ref"].startswith(mine))


def _are_wishes(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), list) for name in ("bets", "sales"))


def check_calls(facts: Facts) -> Iterator[Difference]:
    """Calls of strangers, and attempts that leave a gap."""
    attempts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in facts.stream(CALL):
        yield from _of_the_cohort(facts, CALL, row)
        brief = {name: row[name] for name in ("round_id", "entrant_id", "stage", "sample", "attempt")}
        attempts[tuple(brief.values())[:-1]].append(brief)
    for rows in attempts.values():
        yield from numbered(facts, CALL, sorted(rows, key=lambda row: int(row["attempt"])), "attempt", 1)
