"""Ledgers added up again, entry by entry: numbers, chain, balances, and what each kind may do."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.store.tables import ENTRANT, ENTRY
from arena.store.verify.books import Line
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import Frozen
from arena.store.verify.naming import Expected, compared, differs, key_of
from arena.store.verify.parts import Row
from arena.store.verify.payments import Paid, payment, reversal
from arena.store.verify.seals import sealed, without

KINDS = ("deposit", "buy", "sell", "settle", "refund", "reverse")
SIGNS = {"buy": 1, "reverse": 1, "sell": -1, "settle": -1, "refund": -1}
"""Whether shares come or go."""


@dataclass
class Account:
    """An entrant's account while its entries are added up. A lot is its shares and their cost."""

    cash: int = 0
    number: int = 0
    head: str = ""
    at: str = ""
    lots: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    paid: dict[tuple[str, str], Paid] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Go on from an entry as it stands."""
        key, (shares, cost) = (row["market_id"], row["side"]), self.lot(row)
        self.lots[key] = shares + row["shares"], cost + row["cost"]
        self.cash, self.number, self.head, self.at = (
            self.cash + row["cash"],
            row["number"],
            row["hash"],
            row["at"],
        )
        if row["kind"] in ("settle", "refund"):
            self.paid[key] = Paid(row["ref"], row["cash"], row["shares"], row["cost"])
        elif row["kind"] == "reverse":
            self.paid.pop(key, None)

    def lot(self, row: Row) -> tuple[int, int]:
        """Shares and cost of the lot that an entry is about."""
        return self.lots.get((row["market_id"], row["side"]), (0, 0))


def check_ledger(
    facts: Facts, entrant: Row, lines: list[Line], frozen: Frozen | None
) -> Iterator[Difference]:
    """Entries that don't follow from those before them, or that are not as they were sealed."""
    account = Account()
    for row, resolution in lines:
        content = without(row, "id", "entrant_id", "hash")
        yield from sealed(facts, ENTRY, row, content, "it seals what the row says")
        expected = _follows(account, row) | _of_its_kind(account, row, frozen, resolution)
        yield from compared(facts, ENTRY, row, expected)
        yield from _impossible(facts, account, row)
        account.add(row)
    if not account.number:
        key = f"{key_of(facts, ENTRANT, entrant)}, entry 1"
        yield Difference("entry", key, "kind", None, "deposit", "a ledger starts with the bankroll")


def _follows(account: Account, row: Row) -> Expected:
    gained = 0 if row["kind"] == "deposit" else row["cash"] + row["cost"]
    return {
        "number": (account.number + 1, "entries are numbered without a gap"),
        "previous": (account.head, "it is the hash of the entry before"),
        "balance": (account.cash + row["cash"], "it is the sum of all cash"),
        "held": (account.lot(row)[0] + row["shares"], "it is the sum of the lot's shares"),
        "realised": (gained, "it is the cash that no cost stands against"),
    }


def _of_its_kind(account: Account, row: Row, frozen: Frozen | None, resolution: Row | None) -> Expected:
    """What an entry of this kind must say."""
    shares, cost = account.lot(row)
    if (row["kind"] == "deposit") != (account.number == 0):
        return {"kind": ("a deposit first and only then", "a ledger starts with the bankroll")}
    match row["kind"]:
        case "deposit":
            return _deposit(frozen)
        case "buy":
            return {"cost": (-row["cash"], "shares cost what was paid for them")}
        case "sell":
            released = -(-cost * -row["shares"] // shares) if shares else 0
            return {"cost": (-released, "a sale releases its part of the lot's cost, rounded up")}
        case "settle" | "refund":
            return payment(row, shares, cost, resolution) | _once(account, row)
        case "reverse":
            paid = account.paid.get((row["market_id"], row["side"]))
            return reversal(row, paid, resolution is not None)
    return {"kind": (f"one of {', '.join(KINDS)}", "there is no other")}


def _deposit(frozen: Frozen | None) -> Expected:
    found: Expected = {"ref": ("bankroll", "that is what a deposit is")}
    found |= dict.fromkeys(("shares", "cost"), (0, "a deposit is cash alone"))
    found |= dict.fromkeys(("market_id", "side"), ("", "a deposit is cash alone"))
    if frozen is not None:
        found["cash"] = (frozen.bankroll, "so the cohort froze its bankroll")
        found["at"] = (frozen.starts_at, "the cohort starts then")
    return found


def _once(account: Account, row: Row) -> Expected:
    paid = account.paid.get((row["market_id"], row["side"]))
    return {"kind": ("reverse", f"the lot was settled before, by {paid.ref}")} if paid else {}


def _impossible(facts: Facts, account: Account, row: Row) -> Iterator[Difference]:
    """What no entry may ever do."""
    if row["at"] < account.at:
        yield differs(facts, ENTRY, row, "at", f"{account.at} or later", "a ledger goes on in time")
    if row["balance"] < 0 and row["cash"] < 0 and row["kind"] != "reverse":
        yield differs(facts, ENTRY, row, "balance", "0 or more", "only a correction may cause debt")
    if row["held"] < 0:
        yield differs(facts, ENTRY, row, "held", "0 or more", "nobody holds less than nothing")
    if row["kind"] != "deposit" and row["side"] not in ("YES", "NO"):
        yield differs(facts, ENTRY, row, "side", "YES or NO", "a lot is of one side")
    sign = SIGNS.get(row["kind"], 0)
    if sign and row["shares"] * sign <= 0:
        expected = "above 0" if sign > 0 else "below 0"
        yield differs(facts, ENTRY, row, "shares", expected, f"such is a {row['kind']}")
