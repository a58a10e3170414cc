"""Families are read from questions and rules only where they leave no doubt."""

import gzip
import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from markets.ladders import event_of, families
from markets.model import Market, MarketId
from markets.simulation.settings import Settings, seeded_chance
from markets.simulation.world import build_world

DAY = datetime(2026, 6, 30, tzinfo=UTC)


def market(question: str, event: str = "e", rules: str = "", month: int = 6) -> Market:
    closes = DAY.replace(month=month)
    return Market(MarketId(question), event, question, rules, "", closes.replace(year=2025), closes)


def found(*questions: str) -> list[tuple[str, list[str]]]:
    read = families([market(question) for question in questions])
    return [(family.shape, list(family.market_ids)) for family in read]


@pytest.mark.parametrize(
    "rungs",
    [
        ("Will BTC reach $90k in March?", "Will BTC reach $100k in March?", "Will BTC reach $1.2m in March?"),
        ("Will it be above 20°C in Oslo?", "Will it be above 30°C in Oslo?"),
        ("Will ETH dip to $2,000 by June 30?", "Will ETH dip to $1,500 by June 30?"),
        ("8.0 or above earthquake before 2027?", "9.0 or above earthquake before 2027?"),
        ("Token worth more than $700M a day after launch?", "Token worth more than $1B a day after launch?"),
        ("Will Malta be in the top 10 at the contest?", "Will Malta be in the top 5 at the contest?"),
    ],
)
def test_amounts_to_pass_are_a_ladder_from_the_widest_to_the_narrowest(rungs: tuple[str, ...]) -> None:
    assert found(*rungs) == found(*reversed(rungs)) == [("nested", list(rungs))]


def test_dates_to_happen_by_are_a_ladder_the_latest_first() -> None:
    months = [("by March 31", 3), ("by December 31", 12), ("by June 30", 6)]
    (family,) = families([market(f"Truce in Freedonia {words}?", month=month) for words, month in months])
    assert family.shape == "nested"
    assert [name.split()[4] for name in family.market_ids] == ["December", "June", "March"]


def test_two_ladders_of_one_event_are_two_families() -> None:
    up = ("Will BTC reach $90k in March?", "Will BTC reach $100k in March?")
    down = ("Will BTC dip to $60k in March?", "Will BTC dip to $50k in March?")
    assert found(*up, *down) == [("nested", list(up)), ("nested", list(down))]


@pytest.mark.parametrize(
    "names",
    [
        ("Will Ruritania win the 2026 FIFA World Cup?", "Will Freedonia win the 2026 FIFA World Cup?"),
        (
            "Will A. Ash win the Sylvania mayoral election?",
            "Will B. Birch win the Sylvania mayoral election?",
        ),
    ],
)
def test_names_that_could_win_one_contest_exclude_each_other(names: tuple[str, ...]) -> None:
    assert found(*names) == [("exclusive", list(names))]


@pytest.mark.parametrize(
    "loose",
    [
        ("Will 3 rate cuts happen in 2026?", "Will 5 rate cuts happen in 2026?"),
        ("Will BTC be between $90k and $95k?", "Will BTC be between $95k and $100k?"),
        ("Will BTC reach $90k in March?", "Will BTC dip to $90k in March?"),
        ("Will Rovers win Group I in the 2026 World Cup?", "Will Rangers win Group I in the 2026 World Cup?"),
        ("Will Ash win the Peace Prize in 2026?", "Will Birch win the Peace Prize in 2026?"),
        ("Will Rovers win the East Division final?", "Will Rangers win the West Division final?"),
        ("Will Ash be nominated?", "Will Birch be nominated?"),
        ("Is it the largest firm on June 30?", "Is it the largest firm on May 31?"),
        ("Will it rain?", "Will it snow?"),
        ("Will BTC reach $90k in March?",),
    ],
)
def test_what_may_hang_together_otherwise_is_no_family(loose: tuple[str, ...]) -> None:
    assert found(*loose) == []


def test_amounts_by_different_times_are_no_ladder() -> None:
    two = [market("Will BTC reach $90k by June 30?"), market("Will BTC reach $80k by May 31?", month=5)]
    assert families(two) == []


def test_markets_of_two_events_are_never_one_family() -> None:
    one = market("Will BTC reach $90k?", "a")
    other = market("Will BTC reach $95k?", "b")
    assert families([one, other]) == []


def test_rules_that_say_exactly_one_are_exhaustive_when_all_are_there() -> None:
    rules = "Of the 3 that are listed, exactly one comes true."
    three = [market(name, rules=rules) for name in ("A?", "B?", "C?")]
    assert [family.shape for family in families(three)] == ["exhaustive"]
    assert [family.shape for family in families(three[:2])] == ["exclusive"]


def test_the_simulators_families_are_found_and_nothing_else() -> None:
    settings = Settings(markets=300, events=90, exclusive_share=0.3, ladder_share=0.3)
    world = build_world(settings, seeded_chance(1))
    truth = {
        life.story.event.id: life.story.event.family
        for life in world.values()
        if life.story.event.markets > 1
    }
    read = {family.event_id: family for family in families([life.market for life in world.values()])}
    names = {"exclusive": "exhaustive", "ladder": "nested"}
    assert {event: family.shape for event, family in read.items()} == {
        event: names[family] for event, family in truth.items() if family != "plain"
    }
    for family in read.values():
        assert family.shape == "exhaustive" or list(family.market_ids) == sorted(family.market_ids)


def test_real_markets_that_have_ended_bear_the_families_out(shared_data: Path) -> None:
    text = gzip.decompress((shared_data / "replay/polymarket-daily/markets.jsonl.gz").read_bytes()).decode()
    rows = [json.loads(line) for line in text.splitlines()]
    ended = {row["id"]: row["resolution"] for row in rows}
    read = families(
        Market(
            row["id"],
            row["background"] or event_of(row["id"], row["question"]),
            row["question"],
            "",
            "",
            DAY,
            datetime.fromisoformat(row["close"] or "2027-01-01T00:00:00+00:00"),
        )
        for row in rows
    )
    assert sum(family.shape == "exclusive" for family in read) > 20
    assert sum(family.shape == "nested" for family in read) > 8
    for family in read:
        known = [ended[name] for name in family.market_ids if ended[name] is not None]
        if family.shape == "exclusive":
            assert sum(known) <= 1, family
        else:
            assert all(wide >= narrow for wide, narrow in pairwise(known)), family
