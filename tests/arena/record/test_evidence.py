"""Evidence in the record: stored once, read back as it was, and held against the guard's rule."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.verify.test_verify import differences
from tests.opened_record import OpenedRecord
from tests.records.full_record import RAIN, SUN, build, the_news, week
from tests.records.tampering import tamper


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    built = build(tmp_path / "record.db", weeks=1)
    yield built
    built.close()


def test_evidence_is_read_back_as_it_was_written(record: OpenedRecord) -> None:
    stored_round = record.rounds(record.cohorts()[0].id)[0]
    assert record.is_gathered(stored_round.id)
    assert record.evidence(stored_round.id)[SUN] == the_news(SUN, week(0))
    assert len(record.evidence(stored_round.id)) == 4


def test_what_was_gathered_first_stays(record: OpenedRecord) -> None:
    stored_round = record.rounds(record.cohorts()[0].id)[0]
    before = record.evidence(stored_round.id)
    record.gather(stored_round.id, (1, 1), {RAIN: the_news(RAIN, week(3))}, 2)
    assert record.evidence(stored_round.id) == before


def test_an_article_that_is_shown_again_is_stored_once(built: Path) -> None:
    with sqlite3.connect(built) as connection:
        shown = connection.execute("SELECT count(*) FROM evidence WHERE market_id = 'sim:wind'").fetchone()
        stored = connection.execute("SELECT count(*) FROM article WHERE title LIKE '%sim:wind'").fetchone()
    assert (shown, stored) == ((6,), (4,))


def test_a_gathering_without_articles_is_one(tmp_path: Path, record: OpenedRecord) -> None:
    stored_round = record.rounds(record.cohorts()[0].id)[0]
    tamper(
        tmp_path / "record.db", "DELETE FROM evidence", "DELETE FROM gathering", "UPDATE round SET done = 0"
    )
    record.gather(stored_round.id, (1, 1))
    assert (record.is_gathered(stored_round.id), record.evidence(stored_round.id)) == (
        True,
        {},
    )


def test_decisions_on_evidence_that_was_never_gathered_are_named(copy: Path) -> None:
    tamper(copy, "DELETE FROM evidence", "DELETE FROM gathering")
    assert any("agents decided on evidence" in x.message for x in differences(copy))


DAY = "title = 'News of sim:sun' AND dated LIKE '2026-01-03%'"
FORGERIES = {
    "it was the round's time": [
        f"UPDATE article SET published_at = '2026-01-04T12:00:01.000000Z' WHERE {DAY}",
    ],
    "so it is dated": [f"UPDATE article SET dated = '2026-01-01 00:00 UTC' WHERE {DAY}"],
    "nobody saw it": [
        "UPDATE snapshot_item SET market_id = 'sky:fog' WHERE market_id = 'sim:sun' AND snapshot_id = 1"
    ],
    "its market closes then": ["UPDATE market_version SET closes_at = '2026-01-03T10:19:00.000000Z'"],
    "the newest comes first": [
        "UPDATE evidence SET position = position + 100",
        "UPDATE evidence SET position = CASE position % 2 WHEN 0 THEN position - 99 ELSE position - 101 END",
    ],
    "the number shown or dropped": ["UPDATE gathering SET found = found + 1"],
    "there is no gap": ["UPDATE evidence SET position = position + 1 WHERE position = 7"],
}


@pytest.mark.parametrize("rule", FORGERIES)
def test_evidence_that_breaks_a_rule_is_named_with_the_rule(rule: str, copy: Path) -> None:
    tamper(copy, *FORGERIES[rule])
    messages = [x.message for x in differences(copy)]
    assert any(rule in words for words in messages), messages


def test_more_articles_than_were_frozen_are_named(copy: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(copy, tmp_path / "fewer.db"))
    with sqlite3.connect(path) as connection:
        frozen = json.loads(connection.execute("SELECT frozen FROM cohort WHERE number = 1").fetchone()[0])
    frozen["guard"]["per_market"] = 1
    tamper(path, "UPDATE cohort SET frozen = ? WHERE number = 1", values=(json.dumps(frozen),))
    assert any("the frozen limit per market" in x.message for x in differences(path))
