"""`arena admin verify`: what it prints, and how it ends."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.program.in_process import invoke
from tests.records.full_record import build
from tests.records.tampering import unguarded


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return a record of one week."""
    build(tmp_path / "record.db", 1).close()
    return tmp_path / "record.db"


def corrupt(record: Path) -> None:
    database = sqlite3.connect(record)
    database.execute("UPDATE mark SET value = value + 1 WHERE entrant_id = 2")
    database.commit()
    database.close()


UNPROVED = {
    "cached figures of other pages, or out of date": 1,
    "turns of an earlier reader, checked by hash only": 3,
}


def test_a_good_record(record: Path) -> None:
    answer = invoke("admin", "verify", "--database", str(record), "--json")
    nothing: dict[str, object] = {
        "from_head": 0,
        "older_rows": 0,
        "older_read_at": None,
        "ok": True,
        "count": 0,
        "differences": [],
        "left_out": {},
        "unproved": UNPROVED,
        "draws": None,
        "referee": None,
    }
    assert (answer.exit_code, json.loads(answer.stdout)) == (0, nothing)
    answer = invoke("admin", "verify", "--database", str(record))
    assert answer.exit_code == 0
    assert "What is new" in answer.stdout
    answer = invoke("admin", "verify", "--all", "--database", str(record))
    assert "agrees with itself: every hash, balance, fill, settlement and mark is right." in answer.stdout


def test_what_was_not_read_again_is_counted_and_nothing_is_claimed_of_it(record: Path) -> None:
    """An answer of before that rots is only found by reading all of it again."""
    words = ("admin", "verify", "--database", str(record))
    invoke(*words)
    with closing(sqlite3.connect(record)) as database, unguarded(database):
        assert database.execute("UPDATE call SET reply = reply || '!'").rowcount
    partial = json.loads(invoke(*words, "--json").stdout)
    assert (partial["ok"], partial["older_rows"] > 30) == (True, True)
    read_on = partial["older_read_at"][:10]
    said = invoke(*words).stdout
    older = f"The {partial['older_rows']:,} older rows were not read again; all were last read on {read_on}"
    assert older in said
    assert "`arena admin verify --all` reads them" in said
    assert "every hash" not in said
    assert invoke(*words, "--all").exit_code == 1


def test_after_a_note_that_does_not_say_what_was_read_when_all_is_read(record: Path) -> None:
    """So it is after that of an earlier version."""
    words = ("admin", "verify", "--database", str(record))
    invoke(*words)
    note = Path(f"{record}.verified")
    known = json.loads(note.read_text("utf-8"))
    others: tuple[dict[str, object], ...] = (
        {"whole_at": known["new_at"]},
        {"parts_at": [7] * 14},
        {"parts_at": []},
        {"part": 14},
    )
    for other in others:
        note.write_text(json.dumps(known | other), "utf-8")
        told = json.loads(invoke(*words, "--json").stdout)
        assert (told["from_head"], told["older_rows"], told["older_read_at"]) == (0, 0, None)


def test_a_bad_record(record: Path) -> None:
    corrupt(record)
    answer = invoke("admin", "verify", "--database", str(record), "--json")
    assert answer.exit_code == 1
    key, why = "cohort 1, bob, 2026-01-04T12:00:00.000000Z", "by the ledger and the snapshot"
    difference = {
        "table": "mark",
        "key": key,
        "field": "value",
        "found": 194_445_293,
        "expected": 194_445_292,
        "why": why,
        "message": f"mark ({key}): value is 194445293 and should be 194445292: {why}",
    }
    found = {"ok": False, "count": 1, "differences": [difference], "left_out": {}}
    found |= {"from_head": 0, "older_rows": 0, "older_read_at": None, "unproved": UNPROVED, "draws": None}
    found["referee"] = None
    assert json.loads(answer.stdout) == found
    answer = invoke("admin", "verify", "--database", str(record))
    assert answer.exit_code == 1
    assert "194445293" in answer.stdout
    assert "1 difference" in answer.stdout


def test_more_differences_than_anybody_reads_are_counted(record: Path) -> None:
    """The hashes of 1,200 quotes are not their own, and one time is one at which nobody looked."""
    database = sqlite3.connect(record)
    database.execute(
        """INSERT INTO quote (market_id, at, volume, book, hash)
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 1200)
        SELECT market.id, '2026-01-03T12:00:00.000000Z', 0, '{"asks":[],"bids":[]}', k
        FROM n, market WHERE market.id = 'sim:sun'"""
    )
    database.commit()
    database.close()
    corrupt(record)
    answer = invoke("admin", "verify", "--database", str(record), "--json")
    said = json.loads(answer.stdout)
    assert (answer.exit_code, said["ok"], said["count"], len(said["differences"])) == (1, False, 1_202, 1_000)
    assert said["left_out"] == {"mark": 1, "quote": 201}
    whole = json.loads(invoke("admin", "verify", "--database", str(record), "--json", "--all").stdout)
    assert (whole["count"], len(whole["differences"]), whole["left_out"]) == (1_202, 1_202, {})
    answer = invoke("admin", "verify", "--database", str(record))
    assert answer.exit_code == 1
    assert answer.stdout.endswith(
        "mark: 1 more\nquote: 201 more\n1,202 differences. --all lists them all.\n"
        "Next: find out what changed the record, and restore a backup.\n"
    )


def test_the_referee_has_a_word_of_its_own_where_it_is_asked(record: Path) -> None:
    """A leaderboard in an export is worked out from the facts: what is in the record must come out."""
    words = ("admin", "verify", "--all", "--referee", "--database", str(record))
    told = json.loads(invoke(*words, "--json").stdout)
    assert (told["ok"], told["referee"]) == (True, [])
    assert "Referee: 0 differences in an export, by code of its own." in invoke(*words).stdout
    with closing(sqlite3.connect(record)) as database, unguarded(database):
        assert database.execute("UPDATE mark SET value = value + 7 WHERE entrant_id = 2").rowcount
    answer = invoke(*words)
    assert answer.exit_code == 1
    assert "Referee: mark (1, 'bob', '2026-01-04T12:00:00.000000Z'): value is" in answer.stdout
