"""Verifying takes no more memory for a record that was played for longer, and misses nothing for that."""

import json
import re
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.verify import find, verify
from arena.verify.parts import PartCheck
from arena.verify.reader import NOTHING_VERIFIED
from markets.hashes import digest
from tests.arena.verify.test_parts import fork_context
from tests.arena.verify.test_verify import differences
from tests.builders import NOW
from tests.opened_record import OpenedRecord, moved
from tests.records.full_record import SUN, build, week
from tests.records.tampering import tamper, unguarded
from tests.rows import changing, hash_seen, read_only, rows_in, stored_instant

INSTANT = re.compile(r"'(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\+00'")
BOOK = '{"asks":[[420000,1000000],[430000,2000000]],"bids":[]}'
SIDES = {"asks": [{"price": 420_000, "shares": 10**6}, {"price": 430_000, "shares": 2 * 10**6}], "bids": []}


def longer(path: Path, quotes: int, looks: int) -> None:
    """Lengthen a small record by unused prices, and by looks at a cohort that holds nothing more."""
    build(path, watched=True).close()
    with closing(sqlite3.connect(path)) as base, unguarded(base):
        base.executemany(
            "INSERT INTO quote (market_id, at, ask, volume, book, hash) VALUES (?, ?, ?, ?, ?, ?)",
            (unused(number) for number in range(quotes)),
        )
        seen = [look(base, week(4) + timedelta(minutes=number + 1)) for number in range(looks)]
        base.execute("UPDATE cohort SET ended_at = (SELECT max(at) FROM snapshot) WHERE number = 1")
        base.commit()
    record = OpenedRecord.join(str(path))
    for line in seen:
        record.add_head(NOW, {"snapshot": [line]}, 1)
    record.add_head(NOW, {"ended": [[1, seen[-1][1]]]}, 1)
    record.close()


def unused(number: int) -> tuple[object, ...]:
    """Return a price from before anybody played."""
    said = {"market_id": SUN, "bid": None, "ask": 420_000, "mid": None, "last": None, "volume": number}
    at = stored_instant(NOW - timedelta(days=20) + timedelta(seconds=number))
    return SUN, at, 420_000, number, BOOK, digest(said | SIDES)


def look(base: sqlite3.Connection, at: datetime) -> list[object]:
    """Write an empty snapshot of the first cohort, and everyone's mark, which repeats the last one."""
    said = {"at": stored_instant(at), "taken_at": stored_instant(at)}
    sealed = digest(said | {"cohort": 1, "items": []})
    statement = "INSERT INTO snapshot (cohort_id, at, taken_at, catalogue, hash) VALUES (1, ?, ?, '', ?)"
    key = base.execute(statement, (*said.values(), sealed)).lastrowid
    base.execute(
        """INSERT INTO mark SELECT entrant_id, ?, ?, cash, value, liquidation, cost, realised, stale, age
        FROM mark JOIN entrant ON entrant.id = entrant_id
        WHERE cohort_id = 1 AND at = (SELECT max(at) FROM snapshot WHERE id < ?)""",
        (stored_instant(at), key, key),
    )
    return [1, stored_instant(at), sealed]


def peak(path: Path, work: Callable[[Connection], object]) -> int:
    """Return the peak memory of some work on a record."""
    try:
        with read_only(path) as connection:
            work(connection)  # what is made once, is made now
            tracemalloc.start()
            work(connection)
            return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def agrees(connection: Connection) -> None:
    assert find(connection, most=1).listed == []


@pytest.fixture(scope="module")
def short_and_long(tmp_path_factory: pytest.TempPathFactory, thorough: bool) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("streams")
    longer(folder / "short.db", quotes=1_500, looks=1_050)
    longer(folder / "long.db", quotes=9_000 if thorough else 4_000, looks=2_100)
    return folder / "short.db", folder / "long.db"


@pytest.mark.parametrize("work", [agrees, hash_seen])
def test_memory_does_not_grow_with_prices_and_marks(
    work: Callable[[Connection], object], short_and_long: tuple[Path, Path]
) -> None:
    short, long = (peak(path, work) for path in short_and_long)
    assert long < 1.25 * short


TAMPERED = (
    "UPDATE mark SET value = value + 1 WHERE snapshot_id = 2",
    "UPDATE mark SET snapshot_id = 1 WHERE snapshot_id = 3 AND entrant_id = 4",
    "UPDATE entry SET balance = balance + 1 WHERE number = 2",
    "UPDATE quote SET volume = 7 WHERE id = 9",
    "UPDATE sync SET markets = 9 WHERE number = 2",
    "UPDATE snapshot_item SET quoted_at = '2026-01-04 11:00:00+00' WHERE snapshot_id = 1",
    "UPDATE market_version SET at = '2026-01-04 11:00:00+00' WHERE market_id = 'sim:sun'",
    "UPDATE fill_level SET price = price - 10000 WHERE position = 1",
    "UPDATE resolution SET known_at = '2026-02-01 11:00:00+00' WHERE market_id = 'sim:rain'",
    "UPDATE article SET dated = '2025-12-25' WHERE source = 'Old Paper'",
    "UPDATE call SET attempt = 5 WHERE attempt = 2",
    "DELETE FROM forecast WHERE turn_id = 4",
    "DELETE FROM prune",
)


def test_on_postgresql_the_same_differences_are_found(
    copy: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.verify.parts.get_context", fork_context)
    there = moved(copy, new_database())
    with changing(there) as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")  # no trigger and no key
        for statement in TAMPERED:
            connection.exec_driver_sql(statement)
    with read_only(there) as connection:
        found = {difference.message for difference in verify(connection)}
        parted = find(connection, None, address=there, processes=2).listed
    assert found == {difference.message for difference in parted}
    tamper(copy, *(INSTANT.sub(r"'\1T\2.000000Z'", statement) for statement in TAMPERED))
    assert found == {difference.message for difference in differences(copy)}
    assert {message.split()[0] for message in found} >= {
        "mark", "entry", "quote", "sync", "snapshot_item", "market_version", "fill_level", "article", "call",
        "turn",
    }  # fmt: skip


FITS = {
    "UPDATE snapshot_item SET quoted_at = '2026-01-01T00:00:00.000000Z'": "from when it was first seen",
    "UPDATE snapshot_item SET quoted_at = NULL": "each comes with the other",
    "UPDATE snapshot_item SET shown = 2": "a market is on offer or it is not",
    "UPDATE snapshot_item SET position = position + 10": "there is no gap",
    "UPDATE snapshot_item SET quote_id = 2 WHERE quote_id > 2": "a price is one of its market",
}


@pytest.mark.parametrize(("statement", "why"), FITS.items(), ids=FITS.values())
def test_places_that_do_not_fit_together_are_named_beside_the_broken_seal(
    statement: str, why: str, copy: Path
) -> None:
    tamper(copy, statement)
    assert any(why in difference.why for difference in differences(copy) if difference.field != "hash")


@pytest.mark.parametrize(
    "book",
    [
        '{"asks":[],"bids":[]}',
        '{"asks":[[410000,5]],"bids":[[390000,7],[380000,1]]}',
        '{"bids": [[390000, 7]], "asks": [[410000, 5]]}',
        '{"asks":[[410000,0],[-5,1]],"bids":[[0,-1]]}',
    ],
)
def test_a_price_has_one_hash_however_its_book_is_written(book: str, copy: Path) -> None:
    [(market, at, volume)] = rows_in(copy, "SELECT market_id, at, volume FROM quote WHERE id = 9")
    said = {"market_id": market, "bid": None, "ask": 5, "mid": None, "last": 0, "volume": volume}
    read = json.loads(book)
    sides = {side: [{"price": price, "shares": shares} for price, shares in read[side]] for side in read}
    change = "UPDATE quote SET bid = NULL, ask = 5, mid = NULL, last = 0, book = ?, hash = ? WHERE id = 9"
    tamper(copy, change, values=(book, digest(said | sides)))
    assert wrong_quotes(copy) == []
    for other in (("]}", ",[1,2]]}"), ("]}", "]]}"), ("]]", "}]"), ("[]", "[[]]"), ("}", "]"), ("[[", "[{")):
        if (changed := book.replace(*other)) != book:
            tamper(copy, "UPDATE quote SET book = ? WHERE id = 9", values=(changed,))
            assert wrong_quotes(copy) == [f"{market} at {at}"], changed


def wrong_quotes(path: Path) -> list[str]:
    """Return quotes with a hash that is not theirs."""
    check = PartCheck(NOTHING_VERIFIED, None, unpaid=True)
    with read_only(path) as connection:
        return [d.key for d in check.find(connection, "check_prices").listed if d.field == "hash"]
