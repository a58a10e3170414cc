"""Fills and the entries that post them: one to one, and of the same money."""

from collections import defaultdict
from collections.abc import Iterator

from arena.store.tables import ENTRY, FILL
from arena.store.verify.deals import Deal, deals
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.naming import Expected, compared, differs, key_of


def check_postings(facts: Facts) -> Iterator[Difference]:
    """Fills without their entry, entries without their fill, and pairs that disagree."""
    entries: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in facts.rows(ENTRY):
        if row["kind"] in ("buy", "sell"):
            entries[row["entrant_id"], row["ref"]].append(row)
    for deal in deals(facts):
        ref = f"fill:{deal.round['number']}:{deal.fill['position']}"
        posted = entries.pop((deal.turn["entrant_id"], ref), [])
        if len(posted) != 1:
            key, why = key_of(facts, FILL, deal.fill), f"it is posted once, as {ref}"
            yield Difference("fill", key, "turn_id", f"{len(posted)} entries", "1 entry", why)
        for entry in posted:
            yield from compared(facts, ENTRY, entry, _posted(deal))
    for entry in (entry for rows in entries.values() for entry in rows):
        yield differs(facts, ENTRY, entry, "ref", "the place of a fill", f"a {entry['kind']} posts a fill")


def _posted(deal: Deal) -> Expected:
    """What the entry of a fill must say."""
    fill, sign, why = deal.fill, 1 if deal.buys else -1, "so says the fill that it posts"
    return {
        "kind": (fill["action"], why),
        "market_id": (fill["market_id"], why),
        "side": (fill["side"], why),
        "cash": (-sign * fill["amount"], why),
        "shares": (sign * fill["shares"], why),
        "at": (deal.round["at"], "its round is decided then"),
    }
