"""What accounts come to by an export alone: its fills, the newest end of each market, and the newest prices.

Nothing of the arena is used, and no entry, mark or settlement is read: a lot is what was bought less what was
sold, and pays by the newest version in `resolutions.csv`.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

ONE = 1_000_000
Rows = list[dict[str, str]]


def rows(folder: Path, name: str) -> Rows:
    """Return a table of an export."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        before = csv.field_size_limit(1 << 30)
        try:
            return list(csv.DictReader(file))
        finally:
            csv.field_size_limit(before)


def newest_ends(folder: Path) -> dict[str, int | None]:
    """Return what a YES share of each ended market pays by the newest version; None for a refund."""
    found = sorted(rows(folder, "resolutions"), key=lambda row: int(row["version"]))
    return {row["market_id"]: int(row["payout"]) if row["payout"] else None for row in found}


def prices(folder: Path) -> dict[tuple[str, str], int]:
    """Return the price of a YES share at the newest mark of each cohort, by cohort and market."""
    marked: dict[str, str] = {}
    for row in rows(folder, "marks"):
        marked[row["cohort"]] = max(marked.get(row["cohort"], ""), row["at"])
    quotes = {(q["market_id"], q["at"], q["hash"]): q["mid"] or q["last"] for q in rows(folder, "quotes")}
    return {
        (item["cohort"], item["market_id"]): int(price)
        for item in rows(folder, "snapshot_items")
        if item["at"] == marked.get(item["cohort"])
        and (price := quotes.get((item["market_id"], item["quote_at"], item["quote_hash"]), ""))
    }


def profits(folder: Path) -> dict[str, Fraction]:
    """Return profit and loss of each agent over all cohorts, in dollars."""
    ends = newest_ends(folder)
    now = prices(folder)
    lots: dict[tuple[str, str, str, str], list[dict[str, str]]] = defaultdict(list)
    for fill in rows(folder, "fills"):
        lots[fill["cohort"], fill["agent"], fill["market_id"], fill["side"]].append(fill)
    made: dict[str, Fraction] = defaultdict(Fraction)
    for (cohort, agent, market, side), fills in lots.items():
        price = ends[market] if market in ends else now.get((cohort, market))
        made[agent] += Fraction(_lot(fills, price, side), ONE)
    return made


def _lot(fills: Rows, price: int | None, side: str) -> int:
    cash = shares = cost = 0
    for fill in sorted(fills, key=lambda fill: (int(fill["round"]), int(fill["fill"]))):
        amount = int(fill["amount"])
        some = int(fill["shares"])
        if fill["action"] == "buy":
            cash = cash - amount
            shares = shares + some
            cost = cost + amount
        else:
            cash, shares, cost = cash + amount, shares - some, cost - -(-cost * some // shares)
    if price is None:
        return cash + cost
    return cash + shares * (price if side == "YES" else ONE - price) // ONE


def win_rates(folder: Path) -> dict[str, float]:
    """Return the share of each agent's bets on markets that ended YES or NO whose side won."""
    ends = newest_ends(folder)
    won = defaultdict[str, list[bool]](list)
    for fill in rows(folder, "fills"):
        if fill["action"] == "buy" and ends.get(fill["market_id"]) in (0, ONE):
            won[fill["agent"]].append((ends[fill["market_id"]] == ONE) == (fill["side"] == "YES"))
    return {agent: sum(bets) / len(bets) for agent, bets in won.items()}


def unpaid(folder: Path) -> list[Mapping[str, str]]:
    """Return the last settlements of lots that were paid by another version than the newest."""
    newest = {row["market_id"]: 0 for row in rows(folder, "resolutions")}
    for row in rows(folder, "resolutions"):
        newest[row["market_id"]] = max(newest[row["market_id"]], int(row["version"]))
    last = {
        (row["cohort"], row["agent"], row["market_id"], row["side"]): row
        for row in rows(folder, "entries")
        if row["ref"].startswith("resolution:")
    }
    return [row for row in last.values() if row["ref"] != f"resolution:{newest[row['market_id']]}"]
