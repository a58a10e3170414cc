"""Marks worked out again from the ledger and the quotes of their snapshot.

A lot is worth its shares at the mid, or at the last trade where there is no mid, or its cost where there
is neither; sold at once it brings its shares at the bid, or nothing. The price of a NO share is 1 less
that of a YES share. A lot is stale without a mid, or if its quote is older than the cohort's rules allow. The
age of a mark is that of the oldest quote that prices a lot.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from arena.store.tables import ENTRANT, ENTRY, MARK, SNAPSHOT
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row, moment
from arena.store.verify.frozen import ONE, frozen_cohorts
from arena.store.verify.naming import compared, key_of

Key = tuple[str, str]


class Price(NamedTuple):
    """A quote, how old it was at the snapshot, and whether a mark must call it stale."""

    quote: Row
    age: timedelta
    stale: bool


NOTHING = Price({}, timedelta(), True)


@dataclass
class Held:
    """What a ledger comes to at some time: cash, what was realised, and lots of shares and their cost."""

    cash: int = 0
    realised: int = 0
    lots: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """One more entry."""
        key = row["market_id"], row["side"]
        shares, cost = self.lots.pop(key, (0, 0))
        self.cash, self.realised = self.cash + row["cash"], self.realised + row["realised"]
        if shares + row["shares"]:
            self.lots[key] = shares + row["shares"], cost + row["cost"]


def check_marks(facts: Facts) -> Iterator[Difference]:
    """Marks that are not what the ledger and the quotes come to."""
    snapshots, marks, entries = facts.by_id(SNAPSHOT), facts.grouped(MARK, "entrant_id"), _in_time(facts)
    prices, why = _prices(facts), "so say the ledger and the snapshot"
    for entrant in facts.rows(ENTRANT):
        held, ledger = Held(), entries.get(entrant["id"], [])
        for row in sorted(marks[entrant["id"]], key=lambda row: str(row["at"])):
            while ledger and ledger[-1]["at"] <= row["at"]:
                held.add(ledger.pop())
            if (snapshot := snapshots.get(row["snapshot_id"])) is not None:
                expected = valued(held, prices.get(row["snapshot_id"], {})) | {"at": snapshot["at"]}
                yield from compared(
                    facts, MARK, row, {name: (value, why) for name, value in expected.items()}
                )


def _in_time(facts: Facts) -> dict[int, list[Row]]:
    """Every entrant's entries, the first one last, to be taken off in the order of time."""
    ledgers = facts.grouped(ENTRY, "entrant_id").items()
    return {
        id: sorted(rows, key=lambda row: (row["at"], row["number"]), reverse=True) for id, rows in ledgers
    }


def _prices(facts: Facts) -> dict[int, dict[str, Price]]:
    """What each snapshot says of each market's price."""
    cohorts, found = frozen_cohorts(facts), dict[int, dict[str, Price]]()
    for snapshot in facts.rows(SNAPSHOT):
        frozen = cohorts.get(snapshot["cohort_id"])
        prices = found[snapshot["id"]] = {}
        for item, _, quote in facts.listed.get(snapshot["id"], ()):
            if quote is not None:
                age = _age(item, snapshot)
                aged = frozen is not None and age.total_seconds() > frozen.max_quote_age
                prices[item["market_id"]] = Price(quote, age, aged or quote["mid"] is None)
    return found


def _age(item: Row, snapshot: Row) -> timedelta:
    """How old a quote was at its snapshot."""
    quoted, at = moment(item["quoted_at"] or ""), moment(snapshot["taken_at"])
    return at - quoted if quoted and at else timedelta()


def valued(held: Held, prices: Mapping[str, Price]) -> dict[str, int | str]:
    """What a mark of these holdings must say."""
    value = liquidation = stale = age = 0
    for (market, side), (shares, cost) in held.lots.items():
        quote, past, is_stale = prices.get(market, NOTHING)
        mid, bid = quote.get("mid"), quote.get("bid" if side == "YES" else "ask")
        price = quote.get("last") if mid is None else mid
        value += cost if price is None else _at(shares, price, side)
        liquidation += 0 if bid is None else _at(shares, bid, side)
        stale += is_stale
        age = age if price is None else max(age, past // timedelta(seconds=1))
    return {
        "cash": held.cash,
        "value": value,
        "liquidation": liquidation,
        "cost": sum(cost for _, cost in held.lots.values()),
        "realised": held.realised,
        "stale": stale,
        "age": age,
    }


def _at(shares: int, price: int, side: str) -> int:
    return shares * (price if side == "YES" else ONE - price) // ONE


def check_marked(facts: Facts) -> Iterator[Difference]:
    """Snapshots at which some of a cohort were marked and others were not."""
    entrants, marks = facts.grouped(ENTRANT, "cohort_id"), facts.grouped(MARK, "snapshot_id")
    names = {row["id"]: row["name"] for row in facts.rows(ENTRANT)}
    for snapshot in facts.rows(SNAPSHOT):
        found = {row["entrant_id"] for row in marks[snapshot["id"]]}
        everyone = {row["id"] for row in entrants[snapshot["cohort_id"]]}
        for entrant in sorted(found ^ everyone) if found else ():
            key = f"{key_of(facts, SNAPSHOT, snapshot)}, {names.get(entrant, 'nobody')}"
            there, expected = ("a mark", None) if entrant in found else (None, "a mark")
            yield Difference(
                "mark", key, "entrant_id", there, expected, "all of a cohort are marked, and only they"
            )
