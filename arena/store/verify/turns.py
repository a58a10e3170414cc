"""Turns: what they were sealed with, the cash before them, and what may be behind them."""

from collections.abc import Iterator
from typing import Any

from arena.store.tables import REJECTION, TURN
from arena.store.verify.books import Books
from arena.store.verify.calls import of_the_cohort, place_of
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.seals import sealed, without
from arena.store.verify.shown import Turn

EMPTY = {
    "played": (),
    "malformed": ("fill",),
    "out": ("fill", "forecast"),
    "failed": ("fill", "forecast", "rejection"),
}
"""Verdicts, and the tables in which turns of that verdict have no row."""


def check_turn(
    facts: Facts, turn: Turn, wishes: Any, number: int, books: Books | None
) -> Iterator[Difference]:
    """A turn of a stranger, with a wrong cash, or with more behind it than its verdict allows."""
    row = turn.row
    yield from _sealed(facts, turn)
    yield from of_the_cohort(facts, TURN, row)
    if books is not None:
        yield from compared(
            facts, TURN, row, {"cash": (books.cash[number], "it is the balance before its fills")}
        )
    if not _are_wishes(wishes):
        yield differs(facts, TURN, row, "wishes", "bets and sales", "it is JSON of two lists")
    if row["verdict"] not in EMPTY:
        yield differs(facts, TURN, row, "verdict", " or ".join(EMPTY), "there is no other")
    behind = {"fill": turn.fills, "forecast": turn.forecasts, "rejection": turn.rejections}
    for table in EMPTY.get(row["verdict"], ()):
        if behind[table]:
            yield differs(facts, TURN, row, "verdict", "played", f"there is a {table} of it")
    yield from numbered(facts, REJECTION, turn.rejections, "position", 0)


def _sealed(facts: Facts, turn: Turn) -> Iterator[Difference]:
    row = turn.row
    said = [[f["market_id"], f["stage"], f["probability"], f["reason"]] for f in turn.forecasts]
    refused = [[r["code"], r["message"], r["market_id"]] for r in turn.rejections]
    content = without(row, "id", "round_id", "entrant_id", "code_version", "hash") | place_of(facts, row)
    content |= {"forecasts": sorted(said), "rejections": refused}
    why = "it seals the turn, each forecast and each rejection in it"
    yield from sealed(facts, TURN, row, content, why)


def _are_wishes(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), list) for name in ("bets", "sales"))
