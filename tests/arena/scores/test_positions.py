"""Trades read back from the record: what they come to is the leaderboard's P/L, to the last millionth."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection

from arena.record.queries.accounts import read_newest_pages
from arena.scores.leaderboard import read_scores
from arena.scores.positions import (
    AccountTrades,
    event_ties,
    merge_trades,
    read_account_trades,
)
from arena.scores.rules.money.event_exposure import event_exposure
from arena.scores.rules.money.luck import luck
from arena.scores.rules.money.profit_split import split_profit
from markets.ladders import MarketFamily
from markets.millionths import ONE
from tests.builders import usd
from tests.records.full_record import RAIN, SNOW, SUN, WIND, build
from tests.rows import cohorts_seen, read_only


@pytest.fixture(scope="module", params=range(1, 6), ids=lambda weeks: f"{weeks} weeks")
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Yield the small record that has everything in it, after each of its weeks."""
    path = tmp_path_factory.mktemp("traded") / "record.db"
    build(path, request.param).close()
    with read_only(path) as connection:
        yield connection


def accounts(record: Connection, agent: str | None = None) -> list[AccountTrades]:
    mine = [stored for stored in cohorts_seen(record) if agent in (None, *stored.entrant_ids)]
    return [account for stored in mine for account in read_account_trades(record, stored, agent)]


def test_every_split_adds_up_to_the_profit_of_the_account(record: Connection) -> None:
    found = accounts(record)
    assert found
    for account in found:
        parts = split_profit([trade for _, trade in account.trades], account.ends)
        assert parts.pnl == account.pnl


def test_the_accounts_of_an_agent_add_up_to_the_leaderboard(record: Connection) -> None:
    for line in read_scores(record):
        mine = accounts(record, line.agent) if line.turns else []
        if mine:
            trades, ends = merge_trades(mine)
            assert split_profit(trades, ends).pnl == round((line.pnl or 0) * ONE) == sum(a.pnl for a in mine)
            found = luck(trades, ends, {}, np.random.default_rng(1), seasons=200)
            assert found.pnl == split_profit(trades, ends).pnl


def test_what_is_held_is_at_stake_for_as_much_as_it_is_worth(record: Connection) -> None:
    for account in accounts(record):
        value = sum(event.value for event in event_exposure(account.lots, {}, account.values[-1]))
        open_ends = sum(end.paid for end in account.ends.values() if end.state == "open")
        assert value >= open_ends - 2 * len(account.lots)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = tmp_path_factory.mktemp("traded") / "whole.db"
    build(path).close()
    with read_only(path) as connection:
        yield connection


def test_each_market_ended_as_the_record_says(whole: Connection) -> None:
    """The sun was corrected from YES to NO, the rain refunded, the snow paid half, the wind a quarter."""
    ends = {market: end for account in accounts(whole) for market, end in account.ends.items()}
    assert (ends[SUN].state, ends[SUN].value) == ("settled", 0)
    assert ends[RAIN].state == "refunded"
    assert (ends[SNOW].state, ends[SNOW].value) == ("settled", usd("0.5"))
    assert (ends[WIND].state, ends[WIND].value) == ("settled", usd("0.25"))


def test_a_trade_knows_what_was_stated_and_seen_and_paid(whole: Connection) -> None:
    (ann, *_) = accounts(whole, "ann")
    _, first = next(timed for timed in ann.trades if timed[1].market == SUN)
    assert (first.yes, first.buy, first.belief, first.mid) == (True, True, usd("0.6"), usd("0.4"))
    assert first.gross + first.fee <= usd(300)
    assert (first.fee > 0, first.cash) == (True, usd(10_000))


def test_before_the_first_cohort_there_is_nothing(tmp_path: Path) -> None:
    build(tmp_path / "empty.db", 0).close()
    with read_only(tmp_path / "empty.db") as connection:
        assert accounts(connection) == []
        assert read_newest_pages(connection) == []


def test_an_event_is_tied_where_one_family_has_all_that_was_traded_of_it(whole: Connection) -> None:
    (ann, *_) = accounts(whole, "ann")
    sky = MarketFamily("sky", "exhaustive", (SUN, WIND))
    assert event_ties([sky], ann.ends) == {"sky": "exclusive"}
    assert event_ties([MarketFamily("sky", "nested", (SUN,))], ann.ends) == {}
    assert event_ties([], ann.ends) == {}
