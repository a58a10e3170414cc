"""Date and threshold ladders are one event; questions that only look alike are not."""

import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.ladders import event_key, event_of, ladders
from markets.model import MarketId

ONE_EVENT = [
    (
        "Will BTC reach $100k by March 31?",
        "Will BTC reach $120k by March 31?",
        "Will BTC reach $100k by June 30?",
        "Will BTC reach $1.2M before 2030?",
        "Will BTC reach $95,000 in February?",
    ),
    (
        "Starmer out in 2025?",
        "Starmer out by June 30, 2026?",
        "Starmer out by end of 2026?",
        "Starmer out by 30 June 2026?",
        "Starmer out by 2026-06-30?",
        "Starmer out before Jul 1st?",
        "Starmer out by the end of the year?",
        "Starmer out this year?",
        "Starmer out by Q3 2026?",
    ),
    ("Will 3 Fed rate cuts happen in 2026?", "Will 11 Fed rate cuts happen in 2026?"),
    ("Will inflation reach more than 3.5% in 2026?", "Will inflation reach more than 4% in 2025?"),
    ("Will Meta close above $440 end of August?", "Will Meta close at $440-460 end of August?"),
    ("X hits 5 million users by May 1?", "X hits 10 million users by May 1?"),
    ("Fed cuts by 25 bps in March?", "Fed cuts by 50+ bps in March?", "Fed cuts by >75bps in March?"),
    (
        "Sentenced to less than 5 years in prison?",
        "Sentenced to between 5 and 10 years in prison?",
        "Sentenced to 20 or more years in prison?",
    ),
    ("10.0 or above earthquake before 2027?", "9.0 or above earthquake before 2027?"),
    ("Will it be #1 for 14 straight weeks?", "Will it be #1 for 16 straight weeks?"),
    ("Will Greece be in the top 5 at Eurovision?", "Will Greece be in the top 10 at Eurovision?"),
    (
        "Will she post 200-219 tweets from May 1 to May 8?",
        "Will she post 220-239 tweets from May 9 to May 16?",
    ),
    (
        "Will the highest temperature in New York be between 45-46°F on May 1?",
        "Will the highest temperature in New York be 47°F or higher on May 2?",
        "Will the highest temperature in New York be between 26-27F on January 26?",
        "Will the highest temperature in New York be 25F or below on January 26?",
    ),
    ("Rate cut by the April 2026 meeting?", "Rate cut by the June 2026 meeting?"),
    ("Up or down on November 21, 3PM ET?", "Up or down on November 22, 11:30 AM ET?"),
    ("Will  the moon’s base open by May 1?", "will the moon's base open by June 1"),
]
OTHER_EVENTS = [
    ("Will the 49ers win game 3?", "Will the 49ers win game 4?"),
    ("Will the 49ers win?", "Will the 76ers win?"),
    ("2026 FIFA World Cup: Brazil?", "2026 FIFA World Cup: France?"),
    ("Will Brazil win the 2026 FIFA World Cup?", "Will Brazil win the 2030 FIFA World Cup?"),
    ("Will the Jets win Super Bowl 2026?", "Will the Jets win Super Bowl 2027?"),
    ("Will Napoli win the 2025–26 Serie A?", "Will Napoli win the 2026–27 Serie A?"),
    ("Top Spotify artist for 2025: Bad Bunny?", "Top Spotify artist for 2026: Bad Bunny?"),
    ("Best Film at the 98th Academy Awards?", "Best Film at the 99th Academy Awards?"),
    ("Will the Democrats win the CA-14 House seat?", "Will the Democrats win the CA-24 House seat?"),
    ("GPT-5 released by May 1?", "GPT-6 released by May 1?"),
    ("Will Claude 5 be released by May 1?", "Will Claude 6 be released by May 1?"),
    ("Will the Pixel 9C be released by May 1?", "Will the Pixel 8C be released by May 1?"),
    ("Will Zootopia 2 win?", "Will Zootopia 3 win?"),
    ("Will iPhone 18 be released before June?", "Will iPhone 19 be released before June?"),
    ("Will she win Survivor Season 50?", "Will she win Survivor Season 51?"),
    ("Will she win the 100m at the games?", "Will she win the 200m at the games?"),
    ("Will England win the Under 19 World Cup?", "Will England win the Under 17 World Cup?"),
    ("Will BTC reach $100k by May 1?", "Will ETH reach $100k by May 1?"),
    ("Will BTC reach $100k by May 1?", "Will BTC dip to $100k by May 1?"),
    ("Will the Fed cut rates by 25bps?", "Will the Fed hike rates by 25bps?"),
    ("Will it be #1 this year?", "Will it be #2 this year?"),
    ("Will a Boeing 737 crash in 2026?", "Will a Boeing 787 crash in 2026?"),
    ("Will the NY 12 seat flip in 2026?", "Will the NY 17 seat flip in 2026?"),
    ("Will Theresa May resign?", "Will Theresa June resign?"),
    ("Will Apple be the most valuable on May 1?", "Will Tesla be the most valuable on May 1?"),
    ("$100?", "$200?"),
    ("2026?", "2027?"),
    ("Will Trump meet Xi by May 1?", "Will Trump not meet Xi by May 1?"),
]


@pytest.mark.parametrize("questions", ONE_EVENT, ids=lambda questions: questions[0])
def test_the_rungs_of_a_ladder_are_one_event(questions: tuple[str, ...]) -> None:
    assert len({event_key(question) for question in questions}) == 1


@pytest.mark.parametrize("questions", OTHER_EVENTS, ids=lambda questions: questions[0])
def test_what_differs_in_more_than_date_and_amount_is_another_event(questions: tuple[str, str]) -> None:
    assert event_key(questions[0]) != event_key(questions[1])


def test_no_two_of_the_ladders_here_are_one() -> None:
    for some, others in combinations(ONE_EVENT, 2):
        assert event_key(some[0]) != event_key(others[0])


def test_only_what_shares_its_key_is_a_ladder() -> None:
    asked = {
        MarketId("a"): "Kraken IPO in 2025?",
        MarketId("b"): "Kraken IPO by June 30?",
        MarketId("c"): "Opensea IPO by June 30?",
        MarketId("d"): "?",
        MarketId("e"): "!",
    }
    assert ladders(asked) == {MarketId("a"): "kraken ipo @when", MarketId("b"): "kraken ipo @when"}
    assert ladders({}) == {}


def test_the_event_of_a_market_is_its_ladder_at_its_venue_else_itself() -> None:
    rungs = [event_of(MarketId(f"here:{n}"), f"Will BTC reach ${n}k by May {n}?") for n in (1, 2)]
    assert rungs == ["here:ladder:will btc reach @much @when"] * 2
    assert event_of(MarketId("there:1"), "Will BTC reach $1k by May 1?") != rungs[0]
    for question in ("Will it rain?", "?", "", "2026?"):
        assert event_of(MarketId("here:3"), question) == "here:3"


@given(st.text())
def test_every_question_has_one_key(question: str) -> None:
    assert event_key(question) == event_key(f"  {question} ")


@pytest.mark.parametrize(
    "piece", ["1,234", "$1-", " by May 1", "end of ", "5 or more ", "12:30", "(((", "to "]
)
def test_a_question_without_end_has_a_key_too(piece: str) -> None:
    assert event_key(piece * 5_000) == event_key(f" {piece * 5_000} ")


def recorded_questions(shared_data: Path) -> list[str]:
    with gzip.open(shared_data / "replay/polymarket-daily/markets.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["question"] for line in lines]


def grouped(questions: Iterable[str]) -> dict[str, set[str]]:
    """Return the questions of each ladder, each once."""
    groups: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        groups[event_key(question)].add(question)
    return {key: found for key, found in groups.items() if len(found) > 1}


def test_the_recorded_season_has_29_ladders_all_read_by_eye(shared_data: Path) -> None:
    questions = recorded_questions(shared_data)
    groups = grouped(questions)
    assert (len(questions), len(groups), sum(map(len, groups.values()))) == (561, 29, 74)
    assert len(groups["starmer out @when"]) == 3
    assert len(groups["will @much fed rate cuts happen @when"]) == 5
    assert len(groups["will bitcoin dip to @much @when"]) == 4
    assert not any("world cup" in key or "house seat" in key or "nominee" in key for key in groups)


def venue_events(shared_data: Path, name: str) -> dict[str, list[str]]:
    """Return the questions of each event of a recorded Polymarket answer."""
    path = shared_data / f"venues/polymarket/pmskill-2026-08/{name}.json"
    return {
        event["slug"]: [market["question"] for market in event["markets"]]
        for event in objects(json.loads(path.read_text(encoding="utf-8")))
        if isinstance(event.get("markets"), list)
    }


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


@pytest.mark.parametrize(
    ("name", "slug", "keys"),
    [
        ("poly_event_ladder_nonmonotonic", "meta-above-in-august-2026", 1),
        ("poly_event_touch_ladder", "what-price-will-meta-hit-in-august-2026", 2),
        ("poly_search_nested_windows", "will-meta-hit-week-of-august-17-2026", 2),
        ("poly_event_mixed_live_and_resolved", "fed-rate-cut-by-629", 1),
        ("poly_search_polluted", "fed-rate-cut-by", 1),
    ],
)
def test_a_recorded_ladder_is_one_event_or_one_each_way(
    shared_data: Path, name: str, slug: str, keys: int
) -> None:
    """A ladder of prices touched has one key for the highs and one for the lows."""
    questions = venue_events(shared_data, name)[slug]
    assert len(questions) > 5
    assert len({event_key(question) for question in questions}) == keys


def test_a_month_and_a_week_within_it_are_one_event(shared_data: Path) -> None:
    found = venue_events(shared_data, "poly_search_nested_windows")
    month, week = (
        {event_key(question) for question in found[slug]}
        for slug in ("what-price-will-meta-hit-in-august-2026", "will-meta-hit-week-of-august-17-2026")
    )
    assert month == week


def test_the_recorded_meetings_are_one_ladder_of_cuts_and_one_of_hikes(shared_data: Path) -> None:
    path = shared_data / "venues/kalshi/eco395-2026-02/kalshi_fed_markets_with_settled.csv"
    with path.open(encoding="utf-8") as lines:
        groups = grouped(row["title"] for row in csv.DictReader(lines))
    assert {key: len(found) for key, found in groups.items()} == {
        "will the federal reserve cut rates by @much at their @when meeting": 40,
        "will the federal reserve hike rates by @much at their @when meeting": 60,
    }


COMMON = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december|week|month|year"
    r"|by|in|on|before|of|at|end|the|a|be|or|and|to|more|less|fewer|than|above|below|under|over|between"
    r"|least|most|higher|lower|greater|\w*\d\w*"
)


def bare(question: str) -> tuple[str, ...]:
    """Strip a question of numbers, months and words of comparison, as a coarse rule to compare with."""
    words = re.findall(r"[^\W_]+", question.casefold())
    return tuple(word for word in words if not COMMON.fullmatch(word))


def real_events(shared_data: Path) -> dict[str, set[tuple[str, str]]]:
    """Return the venue's own events of each question in the recorded answers: its series and full name."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path in sorted((shared_data / "venues/polymarket").rglob("*.json")):
        for event in objects(json.loads(path.read_text(encoding="utf-8"))):
            if isinstance(event.get("slug"), str) and isinstance(event.get("markets"), list):
                names = "-".join(bare(event["slug"])), event["slug"]
                for question in (market["question"] for market in event["markets"] if "question" in market):
                    found[question].add(names)
    path = shared_data / "venues/kalshi/eco395-2026-02/kalshi_fed_markets_with_settled.csv"
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            found[row["title"]].add((row["event_ticker"].partition("-")[0], row["event_ticker"]))
    return found


def test_the_rule_against_the_events_of_the_venues(shared_data: Path) -> None:
    """Every pair of rungs within an event is found, and no pair is taken for one of two different series.

    Only a month and a week within it, of which a venue makes two series, are one ladder here.
    """
    events = real_events(shared_data)
    assert (len(events), len({full for names in events.values() for _, full in names})) == (186, 39)
    rungs = missed = pairs = nested = strangers = 0
    said = {question: (event_key(question), bare(question)) for question in events}
    for one, other in combinations(sorted(events), 2):
        alike = said[one][0] == said[other][0]
        series = {name for name, _ in events[one]} & {name for name, _ in events[other]}
        if said[one][1] == said[other][1] and events[one] & events[other]:
            rungs += 1
            missed += not alike
        if alike:
            pairs += 1
            nested += not series and "Week of August" in one + other
            strangers += not series and "Week of August" not in one + other
    assert (rungs, missed) == (323, 0)
    assert (pairs, nested, strangers) == (2_945, 98, 0)
