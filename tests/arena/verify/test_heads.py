"""The chain of heads: what is deleted contradicts it, and what is rewritten with it contradicts what left."""

import json
import sqlite3
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.exports.restore import restore
from tests.arena.exports.bent_exports import exported
from tests.arena.verify.test_verify import differences
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.oracles.chain import chain_by_the_page
from tests.records.chain import found_in, published, rechain
from tests.records.full_record import said
from tests.records.tampering import tamper

LAST_ROUND = "(SELECT max(id) FROM round WHERE done)"
OF_LAST_ROUND = f"(SELECT id FROM turn WHERE round_id = {LAST_ROUND})"
LAST_COHORT = "(SELECT max(id) FROM cohort)"
OF_LAST_COHORT = f"(SELECT id FROM entrant WHERE cohort_id = {LAST_COHORT})"
UNCOVERED = "should be a head that covers it: every fact is covered by the chain of heads"
DELETIONS = {
    "a last round": (
        [
            f"DELETE FROM call WHERE round_id = {LAST_ROUND}",
            f"DELETE FROM entry WHERE ref LIKE 'fill:3:%' AND entrant_id IN {OF_LAST_COHORT}",
            *(
                f"DELETE FROM {table} WHERE turn_id IN {OF_LAST_ROUND}"
                for table in ("forecast", "rejection", "second_quote", "fill")
            ),
            f"DELETE FROM turn WHERE round_id = {LAST_ROUND}",
            f"DELETE FROM round WHERE id = {LAST_ROUND}",
        ],
        "round (2, 3): row is nothing and should be one: a head covers it",
    ),
    "the last heads": (["DELETE FROM head WHERE number > 4"], UNCOVERED),
    "a head": (["DELETE FROM head WHERE number = 5"], "number is 6 and should be 5: there is no gap"),
    "all heads": (["DELETE FROM head"], UNCOVERED),
}


@pytest.mark.parametrize("what", DELETIONS)
def test_what_is_deleted_contradicts_the_chain(what: str, copy: Path) -> None:
    statements, words = DELETIONS[what]
    tamper(copy, *statements)
    assert any(words in x.message for x in differences(copy))


def test_a_record_that_is_rewritten_with_its_chain_contradicts_the_heads_that_left(copy: Path) -> None:
    left = published(copy)
    assert not found_in(copy, left).count
    tamper(copy, "DELETE FROM head")
    rechain(copy)
    assert not differences(copy)
    [found] = found_in(copy, left).listed
    assert (found.table, found.key) == ("head", "head 1")
    assert "it is the first that differs, by benchmark, cohort, ended, entry" in found.why


def test_an_export_has_the_chain_and_an_import_checks_it(copy: Path, tmp_path: Path) -> None:
    exported(copy, tmp_path / "whole")
    restore(tmp_path / "whole", str(tmp_path / "again.db"))
    assert published(tmp_path / "again.db") == published(copy)
    tamper(copy, "DELETE FROM head WHERE number > 4")
    exported(copy, tmp_path / "cut")
    with pytest.raises(ArenaError, match="the record would be inconsistent"):
        restore(tmp_path / "cut", str(tmp_path / "never.db"))


def test_a_published_file_that_was_changed_is_named_by_its_line(copy: Path) -> None:
    *others, last = published(copy)
    changed = json.dumps(json.loads(last) | {"parts": []})
    found = found_in(copy, [*others, "{broken", changed])
    assert [x.table for x in found.listed] == ["published"]
    assert found.unproved["lines that are no published head"] == 1


def test_a_head_that_left_and_is_gone_is_named(copy: Path) -> None:
    left = published(copy)
    tamper(copy, f"DELETE FROM head WHERE number = {len(left)}")
    assert "it was published" in found_in(copy, left).listed[-1].why


def test_an_answer_that_comes_after_its_round_is_covered_by_a_head_of_its_own(copy: Path) -> None:
    record = OpenedRecord.join(str(copy))
    record.add_call(1, 1, 1, said("late"), NOW)
    record.close()
    assert not differences(copy)
    tamper(copy, "DELETE FROM call WHERE id = (SELECT max(id) FROM call)")
    assert {x.table for x in differences(copy)} == {"call"}


def test_a_kind_that_is_not_known_is_counted_and_no_difference(copy: Path) -> None:
    record = OpenedRecord.join(str(copy))
    record.add_head(NOW, {"tool": [["search", "0" * 64], ["read", "1" * 64]]})
    record.close()
    found = found_in(copy, [])
    assert not found.count
    assert found.unproved["facts of a kind that this version does not know: tool"] == 2


def test_heads_are_those_that_anyone_can_work_out_by_the_page(built: Path) -> None:
    with sqlite3.connect(built) as database:
        heads = [head_hash for (head_hash,) in database.execute("SELECT hash FROM head ORDER BY number")]
    assert chain_by_the_page(built) == heads
