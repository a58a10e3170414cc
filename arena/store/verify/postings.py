"""Fills and the entries that post them: one to one, and of the same money."""

from collections import defaultdict
from collections.abc import Iterator

from arena.store.tables import ENTRY, FILL
from arena.store.verify.books import Line
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import Expected, compared, differs, key_of
from arena.store.verify.parts import Row


def check_postings(facts: Facts, lines: list[Line], fills: list[tuple[Row, Row]]) -> Iterator[Difference]:
    """Fills without their entry, entries without their fill, and pairs that disagree."""
    entries: dict[str, list[Row]] = defaultdict(list)
    for row, _ in lines:
        if row["kind"] in ("buy", "sell"):
            entries[row["ref"]].append(row)
    for fill, round in fills:
        ref = f"fill:{round['number']}:{fill['position']}"
        posted = entries.pop(ref, [])
        if len(posted) != 1:
            key, why = key_of(facts, FILL, fill), f"it is posted once, as {ref}"
            yield Difference("fill", key, "turn_id", f"{len(posted)} entries", "1 entry", why)
        for entry in posted:
            yield from compared(facts, ENTRY, entry, _posted(fill, round))
    for entry in (entry for rows in entries.values() for entry in rows):
        yield differs(facts, ENTRY, entry, "ref", "the place of a fill", f"a {entry['kind']} posts a fill")


def _posted(fill: Row, round: Row) -> Expected:
    """What the entry of a fill must say."""
    sign, why = 1 if fill["action"] == "buy" else -1, "so says the fill that it posts"
    return {
        "kind": (fill["action"], why),
        "market_id": (fill["market_id"], why),
        "side": (fill["side"], why),
        "cash": (-sign * fill["amount"], why),
        "shares": (sign * fill["shares"], why),
        "at": (round["at"], "its round is decided then"),
    }
