"""A copy of a bundle with another future: what became known after an instant is changed, nothing before."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from markets.bundle.files import BOOKS, ENDS, MARKETS, PRICES, find_files
from markets.bundle.model import Bundle, Mistakes
from markets.bundle.read import records
from markets.bundle.rows import COLUMNS, REFUND, bears_date, known_from, market_id, moment
from markets.distributions import YES_NO, form_of
from markets.hashes import timestamp_text
from markets.model import MarketId

Row = dict[str, Any]
LATEST_SHIFT = 72
"""The most hours by which a resolution is delayed."""
ENDS_TAKEN = 5
"""One of this many future resolutions is removed."""
STEP = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Alteration:
    """A seeded change of all that became known after an instant.

    Prices and books are turned round and squeezed, volumes scaled, payouts turned round, pages reworded. An
    end comes later, or not at all; not where a market bears days only, whose end may decide whether it takes
    bets, nor where a later version corrects one that stays.
    """

    bundle: Bundle
    after: datetime
    seed: int

    def price(self, row: Row) -> Row:
        """Return a row of `prices.csv`, changed if it became known later."""
        if known_from(row, "date") <= self.after:
            return row

        invert = self._turn(row, "date")
        changed = {name: invert(row[name]) for name in ("prob_yes", "last") if row.get(name)}
        swapped_sides = {"bid": row.get("ask") or row.get("bid"), "ask": row.get("bid") or row.get("ask")}
        for name, value in swapped_sides.items():
            if name in row:
                changed[name] = invert(value) if value else ""

        if row.get("volume"):
            changed["volume"] = str((Decimal(row["volume"]) * (1 + self._part(row, "volume"))).quantize(STEP))

        return row | changed

    def book(self, row: Row) -> Row:
        """Return a line of `books.jsonl`, changed if it became known later."""
        if known_from(row, "at") <= self.after:
            return row

        invert = self._turn(row, "at")
        return row | {
            "bids": [[invert(price), shares] for price, shares in row["asks"]],
            "asks": [[invert(price), shares] for price, shares in row["bids"]],
        }

    def page(self, row: Row) -> Row | None:
        """Return a line of `markets.jsonl`, changed if its page or its resolution became known later."""
        if row.get("resolved") and known_from(row, "resolution_date") > self.after:
            if self._ends_never(row):
                row = row | {"resolved": False, "resolution": None}
            else:
                row = row | {
                    "resolution": self._turned_end(row, row["resolution"]),
                    "resolution_date": self._shifted(row, "resolution_date"),
                }

        if row.get("seen") and moment(row, "seen") > self.after:
            text = f"As it was changed, {sha256(f'{self.seed}'.encode()).hexdigest()[:8]}"
            row = row | {"rules": text, "question": f"{row['question']} ({text})"}

        return row

    def end(self, row: Row) -> Row | None:
        """Return a row of `resolutions.csv`, changed if it became known later, or None if it is removed."""
        if known_from(row, "known_at") <= self.after:
            return row
        if self._ends_never(row):
            return None

        changed = row | {
            "payout": _turned_payout(row["payout"]),
            "known_at": self._shifted(row, "known_at"),
        }
        if row.get("answer"):
            changed["answer"] = self._turned_end(row, row["answer"])
        return changed

    def _turn(self, row: Row, key: str) -> Callable[[Any], str]:
        """Return the function that inverts and shrinks a market's prices at an instant, bid and ask alike."""
        factor = 1 - self._part(row, timestamp_text(known_from(row, key))) / 2
        return lambda price: str(max(STEP, ((1 - Decimal(price)) * factor).quantize(STEP)))

    def _ends_never(self, row: Row) -> bool:
        record = self.bundle.markets[_market(row)]
        may_change = record.ends[0].known_at > self.after and not record.daily
        return may_change and self._part(row, "end") * ENDS_TAKEN < 1

    def _turned_end(self, row: Row, end: Any) -> Any:
        """Return the inverted payout; for a question that isn't yes or no, another of its answers."""
        form = form_of(self.bundle.markets[_market(row)].pages[-1].form)
        if form.kind == YES_NO or end == REFUND:
            return _turned_payout(end)
        other_answers = [answer for answer in (*form.options, form.low, form.high) if answer not in ("", end)]
        return other_answers[int(self._part(row, "answer") * len(other_answers))]

    def _shifted(self, row: Row, key: str) -> str:
        if bears_date(row, key) or self.bundle.markets[_market(row)].daily:
            return str(row[key])
        hours = 1 + int(self._part(row, "shift") * LATEST_SHIFT)
        return timestamp_text(known_from(row, key) + timedelta(hours=hours))

    def _part(self, row: Row, about: str) -> Decimal:
        """Return a pseudo-random number in [0, 1) for a market and a purpose."""
        text = f"{self.seed} {_market(row)} {about}"
        return Decimal(int.from_bytes(sha256(text.encode()).digest()[:4])) / (1 << 32)


def alter(folder: Path, bundle: Bundle, after: datetime, seed: int, new_folder: Path) -> None:
    """Write a bundle, which `bundle` holds as it was read, with another future into a new folder."""
    alteration = Alteration(bundle, after, seed)
    new_folder.mkdir(parents=True)
    changes: Mapping[str, Callable[[Row], Row | None]] = {
        MARKETS: alteration.page,
        PRICES: alteration.price,
        BOOKS: alteration.book,
        ENDS: alteration.end,
    }

    for name, part in find_files(folder, Mistakes()).items():
        changed = (changes[name](row) for _, row in records(name, part, sha256(), _no_mistake))
        remaining_rows = (row for row in changed if row is not None)
        with (new_folder / name).open("w", encoding="utf-8", newline="") as file:
            if name in COLUMNS:
                _write_table(file, remaining_rows, COLUMNS[name][0])
            else:
                file.writelines(
                    f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in remaining_rows
                )


def _write_table(file: TextIO, rows: Iterator[Row], columns: Sequence[str]) -> None:
    """Write rows as CSV with the columns of the first; without any row, with these."""
    first = [*islice(rows, 1)]
    table = csv.DictWriter(file, first[0] if first else columns, lineterminator="\n")
    table.writeheader()
    table.writerows(chain(first, rows))


def _market(row: Row) -> MarketId:
    if "market" in row:
        return MarketId(row["market"])
    return market_id(row)


def _turned_payout(payout: Any) -> Any:
    if payout == REFUND:
        return payout
    return str(1 - Decimal(payout))


def _no_mistake(line: int, wrong: str, meant: str) -> None:
    """Raise ValueError: the folder was valid when it was read, so it has changed since."""
    raise ValueError(f"line {line}: found {wrong}, expected {meant}")
