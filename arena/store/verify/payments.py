"""What a market's end pays for a lot, and what a correction takes back."""

from dataclasses import dataclass

from arena.store.verify.frozen import ONE
from arena.store.verify.naming import Expected
from arena.store.verify.parts import Row


@dataclass(frozen=True, slots=True)
class Paid:
    """What a lot's settlement did."""

    ref: str
    cash: int
    shares: int
    cost: int


def payment(row: Row, shares: int, cost: int, resolution: Row | None) -> Expected:
    """What an entry that settles or refunds a lot must say."""
    found: Expected = {
        "shares": (-shares, "a settlement closes the whole lot"),
        "cost": (-cost, "a settlement closes the whole lot"),
    }
    if resolution is None or resolution["known_at"] > row["at"]:
        return found | {"ref": ("a resolution known by then", "it names how the market ended")}
    payout = resolution["payout"]
    if payout is None:
        return found | {
            "kind": ("refund", "the resolution is a refund"),
            "cash": (cost, "a refund returns the cost"),
        }
    share = payout if row["side"] == "YES" else ONE - payout
    paid = shares * share // ONE
    return found | {
        "kind": ("settle", "the resolution is a payout"),
        "cash": (paid, "it is the shares times the payout, rounded down"),
    }


def reversal(row: Row, paid: Paid | None, known: bool) -> Expected:
    """What an entry that takes back a settlement must say."""
    if paid is None:
        return {"kind": ("no reverse", "nothing of this lot was settled before")}
    found: Expected = {
        "cash": (-paid.cash, f"it takes back {paid.ref}"),
        "shares": (-paid.shares, f"it takes back {paid.ref}"),
        "cost": (-paid.cost, f"it takes back {paid.ref}"),
    }
    if not known or _version(row["ref"]) <= _version(paid.ref):
        found["ref"] = (f"a resolution newer than {paid.ref}", "a correction is a newer version")
    return found


def _version(ref: str) -> int:
    number = ref.rpartition(":")[2]
    return int(number) if number.isdecimal() and len(number) < 19 else 0
