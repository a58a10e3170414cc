"""Readings of whole catalogues: what they say they saw, and what is stored of it.

A sync's hash is taken over venue, stamp, number, time, how many markets had a price, the hash of those
prices, the hash of the sync before, and its sightings. The hash of the prices is that of an object with
the hash of each market's quote: the newest that is stored until the sync's time.
"""

from collections.abc import Iterator
from operator import itemgetter

from arena.store.tables import PRUNE, QUOTE, SET_ASIDE, SIGHTING, SYNC
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.seals import sha256_of, without

STAMPS = ("live", "replay", "simulated")
KINDS = ("article", "market", "page", "quote", "resolution")


def check_syncs(facts: Facts) -> Iterator[Difference]:
    """Syncs that are missing, out of order, not as they were sealed, or that saw what isn't there."""
    venues: dict[str, list[Row]] = {}
    for row in sorted(facts.rows(SYNC), key=itemgetter("number")):
        venues.setdefault(row["venue"], []).append(row)
    for rows in venues.values():
        yield from numbered(facts, SYNC, rows, "number", 1)
        yield from _sealed(facts, rows)
        yield from _seen(facts, rows)


def _sealed(facts: Facts, rows: list[Row]) -> Iterator[Difference]:
    """Every sync of a venue against its sightings and the sync before it."""
    sightings, previous = facts.grouped(SIGHTING, "sync_id"), None
    for row in rows:
        turned = {seen["market_id"]: seen["quoted"] for seen in sightings[row["id"]]}
        before = {"previous": previous["hash"] if previous else "", "sightings": turned}
        why = "it seals the sync, each sighting in it, and the hash of the one before"
        yield from compared(facts, SYNC, row, {"hash": (sha256_of(without(row, "id", "hash") | before), why)})
        if previous is not None and row["at"] <= previous["at"]:
            yield differs(facts, SYNC, row, "at", f"later than {previous['at']}", "syncs follow one another")
        if row["stamp"] not in STAMPS:
            yield differs(facts, SYNC, row, "stamp", " or ".join(STAMPS), "there is no other")
        previous = row


def _seen(facts: Facts, rows: list[Row]) -> Iterator[Difference]:
    """What each sync of a venue saw against the quotes, which are played back beside it."""
    sightings, edge = facts.grouped(SIGHTING, "sync_id"), _pruned_until(facts)
    quotes = sorted(facts.rows(QUOTE), key=itemgetter("at", "id"), reverse=True)
    prices, there = dict[str, str](), set[str]()
    for row in rows:
        while quotes and quotes[-1]["at"] <= row["at"]:
            quote = quotes.pop()
            prices[quote["market_id"]] = quote["hash"]
        for sighting in sightings[row["id"]]:
            yield from _turned(facts, sighting, there)
        yield from compared(facts, SYNC, row, {"markets": (len(there), "so say the sightings")})
        lost = sorted(there - prices.keys()) if row["at"] >= edge else []
        if lost:
            yield Difference("quote", lost[0], "at", None, f"{row['at']} or before", "a sync saw a price")
        elif row["at"] >= edge:
            found = sha256_of({market: prices[market] for market in sorted(there)})
            yield from compared(facts, SYNC, row, {"seen": (found, "so say the quotes until then")})


def _turned(facts: Facts, sighting: Row, there: set[str]) -> Iterator[Difference]:
    """A sighting, by which a market comes to be there, or is no more."""
    market, expected = sighting["market_id"], int(sighting["market_id"] not in there)
    if sighting["quoted"] != expected:
        yield differs(facts, SIGHTING, sighting, "quoted", expected, "it tells of a change")
    (there.add if sighting["quoted"] else there.discard)(market)


def _pruned_until(facts: Facts) -> str:
    """From when every quote that a sync has seen must be there: those from before may be pruned."""
    return max((row["older_than"] for row in facts.rows(PRUNE)), default="")


def check_prunes(facts: Facts) -> Iterator[Difference]:
    """Prunings that are missing, or that let nothing go or what was still to come."""
    rows = sorted(facts.rows(PRUNE), key=itemgetter("number"))
    yield from numbered(facts, PRUNE, rows, "number", 1)
    for row in rows:
        if row["quotes"] < 1:
            yield differs(facts, PRUNE, row, "quotes", "1 or more", "it is kept when a quote goes")
        if row["older_than"] > row["at"]:
            yield differs(facts, PRUNE, row, "older_than", f"{row['at']} or before", "it had passed")


def check_asides(facts: Facts) -> Iterator[Difference]:
    """What was set aside at times or as often as can't be."""
    for row in facts.rows(SET_ASIDE):
        if row["kind"] not in KINDS:
            yield differs(facts, SET_ASIDE, row, "kind", " or ".join(KINDS), "there is no other")
        if row["times"] < 1:
            yield differs(facts, SET_ASIDE, row, "times", "1 or more", "it was seen")
        if row["first_seen_at"] > row["last_seen_at"]:
            expected = f"{row['last_seen_at']} or before"
            yield differs(facts, SET_ASIDE, row, "first_seen_at", expected, "it was seen last after that")
