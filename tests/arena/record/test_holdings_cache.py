"""What is held is known from memory only as far as this process has written it; the rest is read."""

from dataclasses import replace
from pathlib import Path

import pytest

from portfolio.ledger import LedgerError, fold, post
from portfolio.rules import REALISTIC
from tests.builders import NOW, a_bet, usd
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, Season, a_cohort, decides, the_book, week


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture
def season(path: Path) -> Season:
    """Return a record in which ann and bob have a round to play, and whose accounts were read before."""
    season = Season(OpenedRecord.at(path))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    season.look(1, NOW, the_book(SUN, NOW))
    assert season.record.holdings(1)["ann"].cash == usd(10_000)
    return season


def test_what_was_written_here_is_held_as_if_it_was_read_anew(season: Season, path: Path) -> None:
    season.turn(1, "ann", decides(a_bet(100, market=SUN), sun="0.5"))
    season.turn(1, "bob", decides(a_bet(200, market=SUN), sun="0.5"))
    assert season.record.holdings(1) == OpenedRecord.at(path).holdings(1)
    assert [held.cash for held in season.record.holdings(1).values()] == [usd(9_900), usd(9_800)]


def test_what_another_process_writes_in_between_is_read(season: Season, path: Path) -> None:
    other = Season(OpenedRecord.at(path))
    other.turn(1, "ann", decides(a_bet(100, market=SUN), sun="0.5"))
    assert season.record.holdings(1)["ann"].cash == usd(9_900)
    season.look(1, week(1), the_book(SUN, week(1)))
    season.turn(1, "ann", decides(a_bet(300, market=SUN), sun="0.5"))
    other.look(1, week(2), the_book(SUN, week(2)))
    other.turn(1, "ann", decides(a_bet(400, market=SUN), sun="0.5"))
    assert season.record.holdings(1) == other.record.holdings(1)
    assert season.record.holdings(1)["ann"].number == 4


def test_a_turn_that_was_lost_to_another_leaves_nothing_in_memory(season: Season) -> None:
    account = season.record.holdings(1)["ann"]
    turn = season.turn(1, "bob", decides(a_bet(100, market=SUN), sun="0.5"))
    entries = tuple(post(turn.fills, account, NOW, "fill:1"))
    assert not season.record.write_turn(1, 99, replace(turn, entrant="ann", entries=entries))
    assert season.record.holdings(1)["ann"] == account


def test_a_hash_that_is_not_an_entry_s_own_is_found_when_it_is_read(season: Season, path: Path) -> None:
    account = season.record.holdings(1)["ann"]
    turn = season.turn(1, "bob", decides(a_bet(100, market=SUN), sun="0.5"))
    (entry,) = post(turn.fills, account, NOW, "fill:1")
    season.record.add_entries({1: [replace(entry, hash="0" * 64)]})
    with pytest.raises(LedgerError, match="has the wrong hash"):
        OpenedRecord.at(path).holdings(1)


def test_folding_what_is_sealed_asks_all_but_the_hash(season: Season) -> None:
    account = season.record.holdings(1)["ann"]
    (entry,) = season.turn(1, "ann", decides(a_bet(100, market=SUN), sun="0.5")).entries
    assert fold([entry], account, sealed=True) == fold([entry], account)
    with pytest.raises(LedgerError, match="has a balance that is not the sum of its cash"):
        fold([replace(entry, balance=entry.balance + 1)], account, sealed=True)
