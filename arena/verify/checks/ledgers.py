"""Ledgers added up again, entry by entry: numbers, chain, balances, and what each kind may do.

What a market's end pays for a lot, and what a correction takes back. Fills and the entries that post them.

Costs are at the average: what a lot cost is what was paid for it, less the part that each sale released and
all that a settlement did. What an entry realised is its cash less the cost that it released. Each entry is
held to that, so sums over a lot, an entrant or a mark need no check of their own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import Text, bindparam, cast

from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.typed import clause, joined
from arena.record.schema.world import ResolutionRow
from arena.verify.cohort import ONE, CheckedCohort, FrozenCohort
from arena.verify.differences import Difference, Expected, Found, Row
from arena.verify.hashes import check_hash, without
from arena.verify.reader import RecordReader, RowPart, RowsByParent, rows_query
from arena.verify.row_names import key_of

Line = tuple[Row, Row | None]
"""An entry, and the resolution that it names."""

ENTRIES = rows_query(
    joined(EntrantRow, EntryRow).outerjoin(
        ResolutionRow.__table__,
        clause(
            (ResolutionRow.market_id == EntryRow.market_id)
            & (EntryRow.ref == "resolution:" + cast(ResolutionRow.version, Text))
        ),
    ),
    EntryRow,
    RowPart(ResolutionRow, "id", "market_id", "version", "known_at", "payout"),
    where=EntrantRow.cohort_id == bindparam("cohort"),
    order=(EntryRow.entrant_id, EntryRow.number),
)
FILLS = rows_query(
    joined(RoundRow, TurnRow, FillRow),
    RowPart(FillRow, "id", "turn_id", "position", "market_id", "side", "action", "shares", "amount"),
    RowPart(TurnRow, "id", "round_id", "entrant_id"),
    where=RoundRow.cohort_id == bindparam("cohort"),
    order=(TurnRow.entrant_id, FillRow.turn_id, FillRow.position),
    again=True,
)


@dataclass(frozen=True, slots=True)
class LedgerSums:
    """An entrant's cash before the fills of each round by its number.

    By their refs the shares before each sale, and what had been `traded` in the market before each fill.
    """

    cash: dict[int, int]
    held: dict[str, int]
    traded: dict[str, int]


def read_ledgers(
    facts: RecordReader, cohort: CheckedCohort
) -> Iterator[tuple[Row, list[Line], list[tuple[Row, Row]]]]:
    """Every entrant of a cohort with its entries, and with its fills and their rounds, each in order."""
    rounds = {round_row["id"]: round_row for round_row in cohort.rounds}
    read = facts.read(ENTRIES, cohort=cohort.id)
    entries = RowsByParent((row["entrant_id"], (row, resolution)) for row, resolution in read)
    known = ((fill, turn) for fill, turn in facts.read(FILLS, cohort=cohort.id) if turn is not None)
    found = ((fill, turn, rounds.get(turn["round_id"])) for fill, turn in known)
    fills = RowsByParent(
        (turn["entrant_id"], (fill, round_row)) for fill, turn, round_row in found if round_row
    )
    for entrant_id, entrant in cohort.entrants.items():
        yield entrant, entries.of(entrant_id), fills.of(entrant_id)


def ledger_sums(rounds: Iterable[Row], lines: list[Line]) -> LedgerSums:
    """What a ledger says to others, of some rounds."""
    rows = [row for row, _ in lines]
    held = {row["ref"]: row["held"] - row["shares"] for row in rows if row["kind"] == "sell"}
    traded, sums = dict[str, int](), defaultdict[str, int](int)
    for row in rows:
        if row["kind"] in ("buy", "sell"):
            traded[row["ref"]] = sums[row["market_id"]]
            sums[row["market_id"]] += abs(row["cash"])
    cash = {round_row["number"]: _cash_before(round_row, rows) for round_row in rounds}
    return LedgerSums(cash, held, traded)


def _cash_before(round_row: Row, ledger: list[Row]) -> int:
    """The sum of the cash that moved before an entrant's fills of a round."""
    mine = f"fill:{round_row['number']}:"
    before = (row for row in ledger if row["at"] <= round_row["at"])
    return sum(row["cash"] for row in before if not row["ref"].startswith(mine))


@dataclass(frozen=True, slots=True)
class LotPayment:
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


def reversal(row: Row, paid: LotPayment | None, known: bool) -> Expected:
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


KINDS = ("deposit", "buy", "sell", "settle", "refund", "reverse")
SIGNS = {"buy": 1, "reverse": 1, "sell": -1, "settle": -1, "refund": -1}
"""Whether shares come or go."""


@dataclass
class CheckedAccount:
    """An entrant's account while its entries are added up. A lot is its shares and their cost."""

    cash: int = 0
    number: int = 0
    head: str = ""
    at: str = ""
    lots: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    paid: dict[tuple[str, str], LotPayment] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Go on from an entry as it stands."""
        key, (shares, cost) = (row["market_id"], row["side"]), self.lot(row)
        self.lots[key] = shares + row["shares"], cost + row["cost"]
        self.cash += row["cash"]
        self.number, self.head, self.at = row["number"], row["hash"], row["at"]
        if row["kind"] in ("settle", "refund"):
            self.paid[key] = LotPayment(row["ref"], row["cash"], row["shares"], row["cost"])
        elif row["kind"] == "reverse":
            self.paid.pop(key, None)

    def lot(self, row: Row) -> tuple[int, int]:
        """Shares and cost of the lot that an entry is about."""
        return self.lots.get((row["market_id"], row["side"]), (0, 0))


def check_ledger(facts: RecordReader, entrant: Row, lines: list[Line], frozen: FrozenCohort | None) -> Found:
    """Entries that don't follow from those before them, or that are not as they were sealed.

    Those verified before are added up again: a cost that was forged in them is believed by all that follow.
    """
    account, after = CheckedAccount(), facts.after(EntryRow)
    for row, resolution in lines:
        if row["id"] > after:
            content = without(row, "id", "entrant_id", "hash")
            yield from check_hash(row, content, "it seals what the row says")
        gained = 0 if row["kind"] == "deposit" else row["cash"] + row["cost"]
        expected = {
            "number": (account.number + 1, "entries are numbered without a gap"),
            "previous": (account.head, "it is the hash of the entry before"),
            "balance": (account.cash + row["cash"], "it is the sum of all cash"),
            "held": (account.lot(row)[0] + row["shares"], "it is the sum of the lot's shares"),
            "realised": (gained, "it is the cash not set against any cost"),
        } | _of_its_kind(account, row, frozen, resolution)
        yield from row.check(expected)
        yield from _impossible(account, row)
        account.add(row)
    if not account.number:
        key = f"{key_of(facts, entrant)}, entry 1"
        yield Difference("entry", key, "kind", None, "deposit", "a ledger starts with the bankroll")


def _of_its_kind(
    account: CheckedAccount, row: Row, frozen: FrozenCohort | None, resolution: Row | None
) -> Expected:
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


def _deposit(frozen: FrozenCohort | None) -> Expected:
    found: Expected = {"ref": ("bankroll", "that is what a deposit is")}
    found |= dict.fromkeys(("shares", "cost"), (0, "a deposit is cash alone"))
    found |= dict.fromkeys(("market_id", "side"), ("", "a deposit is cash alone"))
    if frozen is not None:
        found["cash"] = (frozen.bankroll, "the frozen bankroll")
        found["at"] = (frozen.starts_at, "the cohort starts then")
    return found


def _once(account: CheckedAccount, row: Row) -> Expected:
    paid = account.paid.get((row["market_id"], row["side"]))
    return {"kind": ("reverse", f"the lot was settled before, by {paid.ref}")} if paid else {}


def _impossible(account: CheckedAccount, row: Row) -> Found:
    """What no entry may ever do."""
    if row["at"] < account.at:
        yield row.differs("at", f"{account.at} or later", "a ledger is in order of time")
    if row["balance"] < 0 and row["cash"] < 0 and row["kind"] != "reverse":
        yield row.differs("balance", "0 or more", "only a correction may cause debt")
    if row["held"] < 0:
        yield row.differs("held", "0 or more", "holdings are never negative")
    if row["kind"] == "buy" and row["cash"] > 0:
        yield row.differs("cash", "0 or less", "nobody is paid to buy")
    if row["kind"] in ("sell", "settle", "refund") and row["cash"] < 0:
        yield row.differs("cash", "0 or more", "nobody pays to be rid of a lot")
    if row["kind"] != "deposit" and row["side"] not in ("YES", "NO"):
        yield row.differs("side", "YES or NO", "a lot is of one side")
    sign = SIGNS.get(row["kind"], 0)
    if sign and row["shares"] * sign <= 0:
        expected = "above 0" if sign > 0 else "below 0"
        yield row.differs("shares", expected, f"by the rules of a {row['kind']}")


def check_postings(facts: RecordReader, lines: list[Line], fills: list[tuple[Row, Row]]) -> Found:
    """Fills without their entry, entries without their fill, and pairs that disagree."""
    entries: dict[str, list[Row]] = defaultdict(list)
    for row, _ in lines:
        if row["kind"] in ("buy", "sell"):
            entries[row["ref"]].append(row)
    for fill, round_row in fills:
        ref = f"fill:{round_row['number']}:{fill['position']}"
        posted = entries.pop(ref, [])
        if len(posted) != 1:
            key, why = key_of(facts, fill), f"it is posted once, as {ref}"
            yield Difference("fill", key, "turn_id", f"{len(posted)} entries", "1 entry", why)
        for entry in posted:
            yield from entry.check(_posted(fill, round_row))
    for entry in (entry for rows in entries.values() for entry in rows):
        yield entry.differs("ref", "the place of a fill", f"a {entry['kind']} posts a fill")


def _posted(fill: Row, round_row: Row) -> Expected:
    """What the entry of a fill must say."""
    sign, why = 1 if fill["action"] == "buy" else -1, "by the fill it posts"
    return {
        "kind": (fill["action"], why),
        "market_id": (fill["market_id"], why),
        "side": (fill["side"], why),
        "cash": (-sign * fill["amount"], why),
        "shares": (sign * fill["shares"], why),
        "at": (round_row["at"], "its round is decided then"),
    }
