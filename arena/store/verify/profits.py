"""Profit by lot, worked out again from shares and cash alone, and the profit of every mark.

What a lot cost is what was paid for it, less the part that each sale released and all that a settlement
did: costs are at the average. What it realised is the cash that came in less the cost that was released.
The sums over the lots of a market or of an entrant are right where every lot is: a mark's cost and
realised are checked to be the sums over the same entries.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from arena.store.tables import ENTRANT, ENTRY, MARK
from arena.store.verify.books import Line
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs, key_of
from arena.store.verify.parts import Row

WHY = {
    "cost": "it is what was paid in, less what sales and settlements released",
    "realised": "it is what came in, less the cost that was released",
}


@dataclass
class Life:
    """A lot while its entries are added up: `said` by their columns, and as shares and cash have it."""

    shares: int = 0
    cost: int = 0
    realised: int = 0
    said_cost: int = 0
    said_realised: int = 0
    closed_at: int = 0

    def add(self, row: Row) -> None:
        """One more entry; its cost and realised are noted, and not used."""
        cost = self._moved(row)
        self.shares, self.cost = self.shares + row["shares"], self.cost + cost
        self.realised += row["cash"] + cost
        self.said_cost, self.said_realised = (
            self.said_cost + row["cost"],
            self.said_realised + row["realised"],
        )

    def _moved(self, row: Row) -> int:
        """The cost that an entry brings, or (below 0) releases."""
        match row["kind"]:
            case "buy":
                return -int(row["cash"])
            case "sell":
                return self.cost * row["shares"] // self.shares if self.shares else 0
            case "settle" | "refund":
                self.closed_at = self.cost
                return -self.cost
            case "reverse":
                return self.closed_at
        return 0

    def wrong(self) -> Iterator[tuple[str, int, int]]:
        """Columns whose sum is not what it must be: name, sum, and what it must be."""
        if self.said_cost != self.cost:
            yield "cost", self.said_cost, self.cost
        if self.said_realised != self.realised:
            yield "realised", self.said_realised, self.realised


def check_profits(facts: Facts, entrant: Row, lines: list[Line]) -> Iterator[Difference]:
    """The first time that a lot's cost is not what its shares and cash come to; the same for its profit."""
    lots, told = defaultdict[tuple[str, str], Life](Life), set[tuple[str, str, str]]()
    for row in (row for row, _ in lines if row["kind"] != "deposit"):
        key = row["market_id"], row["side"]
        lots[key].add(row)
        yield from _impossible(facts, row, lots[key])
        for column, found, expected in lots[key].wrong():
            if (*key, column) not in told:
                name = f"{key_of(facts, ENTRANT, entrant)}, {key[0]} {key[1]} after entry {row['number']}"
                yield Difference("entry", name, column, found, expected, WHY[column])
            told.add((*key, column))


def _impossible(facts: Facts, row: Row, lot: Life) -> Iterator[Difference]:
    if lot.said_cost < 0:
        expected = f"{row['cost'] - lot.said_cost} or more"
        yield differs(facts, ENTRY, row, "cost", expected, "what a lot cost is never below 0")
    if row["kind"] == "buy" and row["cash"] > 0:
        yield differs(facts, ENTRY, row, "cash", "0 or less", "nobody is paid to buy")
    if row["kind"] in ("sell", "settle", "refund") and row["cash"] < 0:
        yield differs(facts, ENTRY, row, "cash", "0 or more", "nobody pays to be rid of a lot")


def check_total(facts: Facts, mark: Row, given: int) -> Iterator[Difference]:
    """A mark that is not the bankroll and the profit."""
    total, unrealised = mark["cash"] + mark["value"], mark["value"] - mark["cost"]
    expected = given + mark["realised"] + unrealised
    if total != expected:
        why = "it is the bankroll, what was realised, and what is not"
        yield Difference("mark", key_of(facts, MARK, mark), "total", total, expected, why)
