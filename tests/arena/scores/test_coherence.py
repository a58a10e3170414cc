"""Coherence and blind answers of agents, worked out on records whose figures are put in by hand."""

import pytest

from arena.scores.profiles.coherence import CoherenceTrade, blind_of, coherence_of, coherence_trades
from markets.ladders import MarketFamily
from markets.model import MarketId
from tests.arena.small_record import SmallRecord
from tests.rows import forecasts_seen

RED, BLUE, GREEN = (MarketId(name) for name in ("red", "blue", "green"))
RACE = MarketFamily("race", "exhaustive", (RED, BLUE, GREEN))
LADDER = MarketFamily("race", "nested", (RED, BLUE, GREEN))


@pytest.fixture
def record() -> SmallRecord:
    """Return three markets of one event over two rounds, and an agent that overclaims in the first."""
    record = SmallRecord()
    record.cohort(1, ann="llm", bob="llm")
    for name in (RED, BLUE, GREEN):
        record.market(name, "race")
    record.round(1, 1, red="0.5", blue="0.3", green="0.21")
    record.round(1, 2, red="0.5", blue="0.3", green="0.2")
    record.turn(1, 1, "ann", red="0.7", blue="0.5", green="0.2")
    record.turn(1, 2, "ann", red="0.6", blue="0.1")
    return record


def test_each_round_is_judged_by_itself_and_prices_beside_it(record: SmallRecord) -> None:
    with record:
        found = coherence_of(forecasts_seen(record.connection), "ann", [RACE])
    assert (found.events, found.incoherent) == (2, 1)
    assert (found.loss, found.market) == pytest.approx((0.4 / 2, 0.01 / 2))
    assert found.worst == pytest.approx(0.4)
    assert found.worst_event == "cohort 1, round 1: race (red …)"


def test_the_trades_that_make_the_sure_profit_are_named(record: SmallRecord) -> None:
    """0.7, 0.5 and 0.2 add up to 1.4: selling one share of each brings 1.4 and costs 1 at most."""
    with record:
        stated = forecasts_seen(record.connection)
        worst = coherence_of(stated, "ann", [RACE]).worst_event
        found = coherence_trades(stated, "ann", [RACE], worst)
        assert found == [
            CoherenceTrade("red", False, 0.7),
            CoherenceTrade("blue", False, 0.5),
            CoherenceTrade("green", False, 0.2),
        ]
        assert coherence_trades(stated, "ann", [RACE], None) == []
        record.turn(1, 1, "bob", red="0.3", blue="0.5", green="0.6")
        stated = forecasts_seen(record.connection)
        worst = coherence_of(stated, "bob", [LADDER]).worst_event
        assert coherence_trades(stated, "bob", [LADDER], worst) == [
            CoherenceTrade("red", True, 0.3),
            CoherenceTrade("green", False, 0.6),
        ]


def test_outcomes_that_were_not_all_stated_are_some_among_others(record: SmallRecord) -> None:
    """In the second round 0.6 and 0.1 were said of two: nothing is wrong with a sum of 0.7."""
    with record:
        record.turn(1, 2, "bob", red="0.6", blue="0.1", green="0.1")
        found = coherence_of(forecasts_seen(record.connection), "bob", [RACE])
    assert found.events == 1
    assert found.loss == pytest.approx(0.2)


@pytest.mark.parametrize("agent", ["bob", "nobody"])
def test_who_stated_nothing_or_no_family_gives_none_with_a_reason(record: SmallRecord, agent: str) -> None:
    with record:
        stated = forecasts_seen(record.connection)
        for found in (coherence_of(stated, agent, [RACE]), coherence_of(stated, "ann", [])):
            assert (found.loss, found.events) == (None, 0)
            assert found.reason


def test_answers_before_and_after_the_price_are_taken_in_pairs(record: SmallRecord) -> None:
    with record:
        for market, chance in (("red", "0.9"), ("blue", "0.3")):
            record.forecast(1, 1, "ann", market, chance, "blind")
        record.resolved("red", "1")
        record.resolved("blue", "0.5")
        found = blind_of(record.connection, "ann")
        other = blind_of(record.connection, "bob")
    assert (found.rows, found.resolved) == (2, 1)
    assert found.pull == pytest.approx(0.5)
    assert found.blind_skill == pytest.approx(0.25 - 0.01)
    assert found.final_skill == pytest.approx(0.25 - 0.09)
    assert (other.rows, other.pull) == (0, None)


def test_a_venues_correction_counts_and_a_market_without_a_mid_does_not(record: SmallRecord) -> None:
    with record:
        record.round(1, 3, red="0.5", blue=None)
        record.turn(1, 3, "bob", red="0.8", blue="0.8")
        for market in (RED, BLUE):
            record.forecast(1, 3, "bob", market, "0.6", "blind")
        record.resolved("red", "1")
        record.resolved("red", "0", version=2)
        found = blind_of(record.connection, "bob")
    assert found.rows == 1
    assert found.blind_skill == pytest.approx(0.25 - 0.36)
