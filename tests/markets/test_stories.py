"""What is one story by its questions, and what only looks like it."""

from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.stories import subject

END = datetime(2026, 12, 31, tzinfo=UTC)
ONE_STORY = [
    ("Will Peru win the 2026 FIFA World Cup?", "Will Brazil win the 2026 FIFA World Cup?"),
    ("Kraken IPO by June 30?", "Kraken IPO in 2026?", "Kraken IPO before 2027?"),
    (
        "Will Bitcoin dip to $45,000 in March?",
        "BTC above $90k by December 31?",
        "Bitcoin all time high by June 30?",
    ),
    (
        "Will the Fed decrease interest rates by 50+ bps after the September 2026 meeting?",
        "Will there be no change in Federal Reserve rates after the September 2026 meeting?",
    ),
    (
        "Will Google have the top AI model on December 31?",
        "Will OpenAI have the top AI model on December 31?",
    ),
    (
        "Will Kaja Kallas be the next Prime Minister of Estonia?",
        "Will the next Prime Minister of Estonia be Mart Helme?",
    ),
    (
        "Will Trump nominate Kevin Hassett as the next Fed chair?",
        "Will Trump nominate Judy Shelton as the next Fed chair?",
    ),
    ("Ethereum above 1,690 on June 10, 9AM ET?", "Ethereum Up or Down on June 10?"),
    (
        "Will Lyon win the 2025-26 Champions League?",
        "Will a French team be the 2026 Champions League winner?",
    ),
    ("Will 2026 be the hottest year on record?", "Will 2026 be the third-hottest year on record?"),
]
OTHER_STORIES = [
    ("Will the Lakers win the 2026 NBA Finals?", "Will the Lakers win the 2027 NBA Finals?"),
    ("Will Bitcoin reach $100k in 2025?", "Will Bitcoin reach $150k in 2026?"),
    (
        "No change in Fed rates after the March 2026 meeting?",
        "No change in Fed rates after the July 2026 meeting?",
    ),
    ("Will Boston win the NBA Atlantic Division?", "Will Miami win the NBA Southeast Division?"),
    ("Will Russia invade Finland in 2026?", "Will Russia invade Latvia in 2026?"),
    ("Will the AfD win a majority in Saxony-Anhalt?", "Will the AfD win a majority in Thuringia?"),
    ("Will George Pickens be traded?", "Will Jalen Carter be traded?"),
    ("Ethereum Up or Down on June 10?", "Ethereum Up or Down on June 11?"),
    ("Will 2025 be the hottest year on record?", "Will 2026 be the hottest year on record?"),
    ("Will it rain in Oslo today?", "Will it rain in Oslo on May 3?"),
]


@pytest.mark.parametrize("questions", ONE_STORY, ids=lambda questions: questions[0])
def test_what_ends_together_has_one_key(questions: tuple[str, ...]) -> None:
    assert len({subject(question, END) for question in questions}) == 1


@pytest.mark.parametrize("questions", OTHER_STORIES, ids=lambda questions: questions[0])
def test_another_contest_or_time_has_another_key(questions: tuple[str, str]) -> None:
    assert subject(questions[0], END) != subject(questions[1], END)


def test_no_two_of_the_stories_here_are_one() -> None:
    for some, others in combinations(ONE_STORY, 2):
        assert subject(some[0], END) != subject(others[0], END)


@given(st.text(max_size=80), st.datetimes(timezones=st.just(UTC)))
def test_any_text_has_a_key_and_always_the_same(question: str, closes_at: datetime) -> None:
    assert subject(question, closes_at) == subject.__wrapped__(question, closes_at)
