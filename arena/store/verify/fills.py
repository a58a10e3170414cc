"""Fills against their levels and the snapshot that they were done on."""

from collections.abc import Iterator, Sequence

from arena.store.tables import FILL
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.levels import check_levels
from arena.store.verify.naming import Expected, compared, differs
from arena.store.verify.parts import moment
from arena.store.verify.seals import sealed, without


def check_fills(facts: Facts, deals: Sequence[Deal]) -> Iterator[Difference]:
    """Fills not as they were sealed, not the sum of their levels, or that their snapshot doesn't allow."""
    for deal in deals:
        parts = [without(level, "fill_id", "position") for level in deal.levels]
        content = without(deal.fill, "id", "turn_id", "position", "hash") | {"levels": parts}
        yield from sealed(facts, FILL, deal.fill, content, "it seals the fill and each fill_level of it")
        yield from compared(facts, FILL, deal.fill, _sums(deal) | _on_its_snapshot(deal))
        yield from _untimely(facts, deal)
        yield from check_levels(facts, deal)


def _sums(deal: Deal) -> Expected:
    sums = {name: sum(level[name] for level in deal.levels) for name in ("shares", "amount", "fee")}
    return {name: (total, "it is the sum of its levels") for name, total in sums.items()}


def _on_its_snapshot(deal: Deal) -> Expected:
    """What a fill repeats of the page and the quote that it was done on."""
    item, page, quote = deal.listed or (None, None, None)
    if item is None:
        return {"market_id": ("one of the snapshot", "nothing else can be traded")}
    if page is None or quote is None:
        return {"quote_hash": ("the hash of a quote", "without a quote there is no trade")}
    found: Expected = {
        "quote_at": (item["quoted_at"], "so says the snapshot"),
        "quote_hash": (quote["hash"], "so says the snapshot"),
    }
    if deal.frozen is not None:
        rate = page["fee_rate"] if deal.frozen.fee == "venue" else 0
        found["fee_rate"] = (rate, "so say the market and the cohort's rules")
    if deal.buys and not item["shown"]:
        found["action"] = ("sell", "the market was held and not on offer")
    return found


def _untimely(facts: Facts, deal: Deal) -> Iterator[Difference]:
    """A fill after the market closed, or on a quote from after the snapshot or too long before."""
    quoted, at = moment(deal.fill["quote_at"]), moment(deal.seen_at)
    if quoted is None or at is None:
        return
    if quoted > at:
        latest = f"{deal.seen_at} or before"
        yield differs(facts, FILL, deal.fill, "quote_at", latest, "nobody can know a price before its time")
    elif deal.frozen is not None and (at - quoted).total_seconds() > deal.frozen.max_quote_age:
        newer = f"{deal.frozen.max_quote_age} s before the snapshot at most"
        yield differs(facts, FILL, deal.fill, "quote_at", newer, "the quote was stale")
    page = deal.listed[1] if deal.listed else None
    if page is not None and deal.seen_at >= page["closes_at"]:
        yield differs(
            facts, FILL, deal.fill, "market_id", "an open market", f"it closed at {page['closes_at']}"
        )
