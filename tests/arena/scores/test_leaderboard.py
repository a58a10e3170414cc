"""The leaderboard over small records whose figures are worked by hand, and against a slow transcription."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.record.model.columns import take_rows
from arena.record.queries.accounts import read_accounts
from arena.record.queries.forecasts import read_bet_columns
from arena.scores.leaderboard import LeaderboardRow, read_scores, score_agents
from markets.millionths import ONE
from tests.arena.small_record import SmallRecord
from tests.rows import forecasts_seen

ROUGHLY = 1e-12


@pytest.fixture
def record() -> Iterator[SmallRecord]:
    """Yield two rounds of ann and bob, in which rain came, snow did not, and the vote is open.

    ann, squared errors: rain .3² and .1², in the mean .05; snow .1²; so (.05 + .01) / 2 = .03.
    The market on the same rows: rain .6² and .4², in the mean .26; snow .2²; so (.26 + .04) / 2 = .15.
    bob is malformed in round 1 (rain .36, snow .04) and failed in round 2: .20, as the market does there.
    """
    with SmallRecord() as record:
        record.cohort(1, bob="llm", ann="llm")
        record.market("rain", "weather")
        record.market("snow", "weather")
        record.market("vote")
        record.round(1, 1, rain="0.40", snow="0.20", vote="0.50")
        record.round(1, 2, rain="0.60", vote="0.50")
        record.turn(1, 1, "ann", rain="0.7", snow="0.1")
        record.turn(1, 2, "ann", rain="0.9", vote="0.5")
        record.turn(1, 1, "bob", "malformed")
        record.turn(1, 2, "bob", "failed")
        record.resolved("rain", "1")
        record.resolved("snow", "0")
        yield record


def rows_of(record: SmallRecord, cohort: int | None = None) -> dict[str, LeaderboardRow]:
    return {row.agent: row for row in read_scores(record.connection, None if cohort is None else [cohort])}


def test_what_was_stated_against_the_market(record: SmallRecord) -> None:
    ann = rows_of(record)["ann"]
    assert (ann.turns, ann.resolved, ann.events, ann.coverage) == (2, 3, 1, 1.0)
    assert ann.brier_stated == pytest.approx(0.03, abs=ROUGHLY)
    assert ann.brier_market == pytest.approx(0.15, abs=ROUGHLY)
    assert ann.skill == pytest.approx(0.12, abs=ROUGHLY)
    assert ann.skill_ratio == pytest.approx(0.8, abs=ROUGHLY)


def test_a_malformed_turn_and_a_failed_one_agree_with_the_market(record: SmallRecord) -> None:
    bob = rows_of(record)["bob"]
    assert (bob.turns, bob.malformed, bob.failed, bob.resolved, bob.coverage) == (2, 1, 1, 3, 0.0)
    assert (bob.shown, bob.answered) == (5, 0)
    assert bob.brier_stated == bob.brier_market == pytest.approx(0.15, abs=ROUGHLY)
    assert (bob.ranked, bob.why_not) == (False, "no usable forecast of 5 markets shown")
    assert (bob.skill, bob.skill_ratio) == (None, None)


def test_a_missing_answer_does_not_improve_a_score(record: SmallRecord) -> None:
    """A skip takes the market's error on; who skips too much is not ranked."""
    record.round(1, 3, rain="0.10")
    record.turn(1, 3, "ann")
    after = rows_of(record)["ann"]
    assert after.coverage == pytest.approx(3 / 4)
    assert after.brier_stated == pytest.approx(((0.09 + 0.01 + 0.81) / 3 + 0.01) / 2, abs=ROUGHLY)
    assert (after.ranked, after.why_not, after.skill) == (False, "covers 75% of what has resolved", None)


def test_a_cohort_says_how_much_is_enough_and_the_newest_says_so_for_all(record: SmallRecord) -> None:
    record.round(1, 3, rain="0.10")
    record.turn(1, 3, "ann")
    record.cohort(2, min_coverage="0.7", ann="llm")
    assert rows_of(record)["ann"].ranked
    assert not next(row for row in read_scores(record.connection, [1]) if row.agent == "ann").ranked


def test_where_nobody_plays_the_market_it_is_a_row_over_all_that_was_shown(record: SmallRecord) -> None:
    market = rows_of(record)["market"]
    assert (market.kind, market.cohorts, market.turns, market.bets) == ("market", 1, 0, 0)
    assert (market.resolved, market.events, market.coverage, market.cost_usd) == (3, 1, 1.0, 0)
    assert market.brier_stated == market.brier_market == pytest.approx(0.15, abs=ROUGHLY)
    assert (market.skill, market.pnl, market.return_pct) == (0, None, None)


def test_where_the_market_plays_its_row_is_not_added_and_its_skill_is_exactly_0(record: SmallRecord) -> None:
    record.cohort(2, price="market")
    record.round(2, 1, rain="0.333333", snow="0.777777", vote="0.1")
    record.round(2, 2, rain="0.123457")
    record.turn(2, 1, "price", rain="0.333333", snow="0.777777")
    record.turn(2, 2, "price", rain="0.123457")
    rows = rows_of(record)
    assert sorted(rows) == ["ann", "bob", "price"]
    assert rows["price"].skill == 0.0
    assert (rows["price"].shown, rows["price"].answered, rows["price"].coverage) == (4, 3, 1.0)


def test_bets_are_read_twice_and_every_resolved_one_counts_once(record: SmallRecord) -> None:
    """$500 of YES at .40 says .2 or .52; $1,250 of NO at .80 says .5 or .1; the third is open."""
    record.fill((1, 1, "ann"), "rain", "YES", "500", ("0.39", "600"), ("0.41", "600"))
    record.fill((1, 1, "ann"), "snow", "NO", "1250", ("0.80", "1500"))
    record.fill((1, 2, "ann"), "vote", "YES", "50", ("0.50", "100"))
    record.fill((1, 2, "ann"), "rain", "YES", "600", ("0.60", "600"), action="sell")
    ann = rows_of(record)["ann"]
    assert (ann.bets, ann.sold, ann.win_rate) == (3, 1, 1.0)
    assert ann.brier_implied == pytest.approx((0.8**2 + 0.5**2) / 2, abs=ROUGHLY)
    assert ann.brier_anchored == pytest.approx((0.48**2 + 0.1**2) / 2, abs=ROUGHLY)


def test_money_is_the_newest_mark_less_the_bankroll(record: SmallRecord) -> None:
    entry = {"entrant_id": record.entrants[1, "ann"], "number": 2, "kind": "buy", "cash": -500 * ONE}
    record.add("entry", **entry)
    record.mark(1, "ann", 7, cash="9000", value="900")
    record.mark(1, "ann", 14, cash="7500", value="3200")
    ann = rows_of(record)["ann"]
    assert (ann.pnl, ann.return_pct) == (700.0, 7.0)


def test_before_the_first_mark_there_is_no_profit_and_none_is_not_0(record: SmallRecord) -> None:
    ann = rows_of(record)["ann"]
    assert (ann.pnl, ann.return_pct) == (None, None)


def test_cost_is_every_attempt_and_unknown_if_one_is(record: SmallRecord) -> None:
    record.cohort(2, coin="random")
    record.call(1, 1, "ann", "1.25")
    record.call(1, 1, "ann", "0.000001")
    record.call(1, 2, "ann", "0.25")
    record.call(1, 1, "bob", "3")
    record.call(1, 2, "bob", None)
    rows = rows_of(record)
    assert (rows["ann"].cost_usd, rows["bob"].cost_usd, rows["coin"].cost_usd) == (1.500001, None, 0)


def test_a_forecast_costs_what_all_calls_did_over_what_was_stated(record: SmallRecord) -> None:
    record.cohort(2, coin="random")
    record.call(1, 1, "ann", "1.25")
    record.call(1, 1, "ann", "0.000001")  # a repeat, say
    record.call(1, 2, "ann", "0.25")
    record.call(1, 1, "bob", "3")
    rows = rows_of(record)
    assert rows["ann"].cost_per_forecast == pytest.approx(1.500001 / 4, abs=ROUGHLY)  # of 5 shown
    assert rows["bob"].cost_per_forecast is None, "it never stated anything"
    assert rows["market"].cost_per_forecast == 0, "it states every market for nothing"
    assert rows["coin"].cost_per_forecast is None, "it has not played"
    record.forecast(1, 1, "ann", "vote", "0.5", "blind")
    record.call(1, 2, "ann", None)
    rows = rows_of(record)
    assert (rows["ann"].cost_usd, rows["ann"].cost_per_forecast) == (None, None)


def test_fractions_and_refunds_are_counted_apart(record: SmallRecord) -> None:
    record.fill((1, 1, "ann"), "vote", "YES", "500", ("0.50", "1000"))
    before = rows_of(record)["ann"]
    record.resolved("vote", "0.5")
    after = rows_of(record)["ann"]
    assert (before.unscored, after.unscored) == (0, 2)
    assert after.resolved == before.resolved
    assert (after.bets, after.win_rate, after.brier_implied) == (1, None, None)
    assert after.brier_stated == before.brier_stated


def test_a_venue_that_takes_its_word_back_takes_the_score_back(record: SmallRecord) -> None:
    record.resolved("rain", None, version=2)
    ann = rows_of(record)["ann"]
    assert (ann.resolved, ann.unscored) == (1, 2)
    assert ann.brier_stated == pytest.approx(0.01, abs=ROUGHLY)


def test_cohorts_are_pooled_within_a_market_and_money_is_summed(record: SmallRecord) -> None:
    """Rain: .3², .1² and .5² in the mean .35 / 3, snow .01. P/L 700 − 100 on 10,000 + 30,000."""
    record.cohort(2, bankroll="30000", ann="llm")
    record.round(2, 1, rain="0.50")
    record.turn(2, 1, "ann", rain="0.5")
    record.mark(1, "ann", 7, cash="7500", value="3200")
    record.mark(2, "ann", 7, cash="29900", value="0")
    ann = rows_of(record)["ann"]
    assert (ann.cohorts, ann.turns, ann.resolved, ann.events) == (2, 3, 4, 1)
    assert ann.brier_stated == pytest.approx((0.35 / 3 + 0.01) / 2, abs=ROUGHLY)
    assert (ann.pnl, ann.return_pct) == (600.0, 1.5)


def test_one_cohort_alone(record: SmallRecord) -> None:
    record.cohort(2, ann="llm")
    record.round(2, 1, rain="0.50")
    record.turn(2, 1, "ann", rain="0.5")
    record.call(1, 1, "ann", "1")
    rows = rows_of(record, cohort=2)
    assert sorted(rows) == ["ann", "market"]
    assert (rows["ann"].cohorts, rows["ann"].turns, rows["ann"].cost_usd) == (1, 1, 0)
    assert rows["ann"].brier_stated == rows["market"].brier_stated == 0.25


def test_with_nothing_resolved_scores_are_none_and_come_last(record: SmallRecord) -> None:
    record.cohort(2, carl="llm")
    record.round(2, 1, vote="0.5")
    record.turn(2, 1, "carl", vote="0.9")
    record.fill((2, 1, "carl"), "vote", "YES", "500", ("0.50", "1000"))
    rows = read_scores(record.connection)
    assert [row.agent for row in rows] == ["ann", "market", "bob", "carl"]
    carl = rows[-1]
    assert (carl.bets, carl.resolved, carl.events, carl.coverage) == (1, 0, 0, None)
    scores = (carl.brier_implied, carl.brier_anchored, carl.brier_stated, carl.brier_market)
    assert (*scores, carl.skill, carl.skill_ratio, carl.win_rate) == (None,) * 7


def test_an_empty_record_has_no_rows() -> None:
    with SmallRecord() as record:
        assert read_scores(record.connection) == []


def test_a_cohort_before_its_first_round_is_all_none() -> None:
    with SmallRecord() as record:
        record.cohort(1, ann="llm")
        ann, market = read_scores(record.connection)
    assert (ann.agent, ann.turns, ann.coverage, ann.skill) == ("ann", 0, None, None)
    assert (market.agent, market.coverage, market.skill) == ("market", None, None)


def a_random_record(seed: int) -> SmallRecord:
    """Draw some cohorts, agents, markets and rounds, with each thing that can be missing missing at times."""
    chance = random.Random(f"{seed}/record")

    def number() -> str:
        return f"{chance.randint(0, 1000) / 1000}"

    record = SmallRecord()
    names = [f"m{k}" for k in range(6)]
    for k, name in enumerate(names):
        record.market(name, f"e{k // 2}")
        for version in range(1, chance.randint(1, 3)):
            record.resolved(name, chance.choice(["1", "0", "1", "0", "0.5", None]), version)
    for cohort in range(1, chance.randint(2, 4)):
        record.cohort(cohort, max_bet=chance.choice(["0.25", "0.1"]), ann="llm", bob="llm", price="constant")
        for turn in range(1, chance.randint(2, 4)):
            shown = {name: chance.choice([number(), number(), None, ""]) for name in names}
            listed: dict[str, Any] = {k: v for k, v in shown.items() if chance.random() < 0.7}
            record.round(cohort, turn, **listed)
            for agent in ("ann", "bob", "price"):
                status = chance.choice(["played", "played", "played", "malformed", "failed", "out"])
                said = {name: number() for name in names if chance.random() < 0.6}
                record.turn(cohort, turn, agent, status, **said)
                for name in chance.sample(names, chance.randint(0, 3)):
                    paid = [(f"0.{chance.randint(1, 9)}", f"{chance.randint(1, 900)}") for _ in range(2)]
                    side = chance.choice(["YES", "NO"])
                    action = chance.choice(["buy", "buy", "sell"])
                    base = f"{chance.randint(5000, 15000)}"
                    size = f"{chance.randint(50, 3000)}"
                    record.fill((cohort, turn, agent), name, side, size, *paid, base=base, action=action)
    return record


@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_rows_changes_no_digit(seed: int, chance: random.Random) -> None:
    with a_random_record(seed) as record:
        accounts = read_accounts(record.connection)
        stated = forecasts_seen(record.connection)
        bets = read_bet_columns(record.connection)
    orders = (np.array(chance.sample(range(n), n), dtype=int) for n in (stated.agent.size, bets.agent.size))
    mixed = take_rows(stated, next(orders)), take_rows(bets, next(orders))
    assert score_agents(accounts, *mixed) == score_agents(accounts, stated, bets)


def test_bets_are_not_weighted_by_market(record: SmallRecord) -> None:
    """Two full bets on YES of rain (right: 0) and one on YES of snow (wrong: 1): a third, not a half."""
    for number in (1, 2):
        record.fill((1, number, "ann"), "rain", "YES", "2500", ("0.40", "6250"))
    record.fill((1, 1, "ann"), "snow", "YES", "2500", ("0.20", "12500"))
    ann = rows_of(record)["ann"]
    assert ann.brier_implied == pytest.approx(1 / 3)
    assert ann.win_rate == pytest.approx(2 / 3)


def test_a_turn_that_is_out_is_a_turn_without_forecasts(record: SmallRecord) -> None:
    record.round(1, 3, rain="0.5")
    record.turn(1, 3, "ann", "out")
    ann = rows_of(record)["ann"]
    assert (ann.turns, ann.resolved, ann.coverage) == (3, 3, 1.0)
