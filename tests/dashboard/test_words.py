"""Sentences: what they claim, and that nothing foreign means anything in them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.cache import CacheEntry
from dashboard.board import leading, progress, stamps
from dashboard.record import CohortLine, cache_note
from dashboard.words import code, settings
from portfolio.rules import REALISTIC

START = datetime(2026, 1, 4, tzinfo=UTC)


def a_line(**changes: Any) -> CohortLine:
    line = CohortLine(1, START, None, rounds=5, played=2, stamp="live", venue="polymarket", rules=REALISTIC)
    return replace(line, **changes)


ENDED = {"ended_at": START}
PROGRESS: list[tuple[dict[str, Any], str]] = [
    ({}, "2 of 5 rounds decided"),
    ({"played": 0, "unfinished": 3}, "0 of 5 rounds decided, 3 with turns that failed or are to come"),
    ({"played": 5}, "5 of 5 rounds decided, open positions are still tracked"),
    ({"played": 5, **ENDED}, "5 of 5 rounds decided, ended 4 Jan 2026"),
    ({"paused": True}, "2 of 5 rounds decided, paused"),
    (
        {"stopped": True, "paused": True},
        "2 of 5 rounds decided, ended by hand, open positions are still tracked",
    ),
    ({"stopped": True, **ENDED}, "2 of 5 rounds decided, ended 4 Jan 2026"),
]


@pytest.mark.parametrize(("changes", "said"), PROGRESS)
def test_a_cohort_says_how_far_it_is_and_whether_it_was_halted(changes: dict[str, Any], said: str) -> None:
    assert progress(a_line(**changes)) == said


def test_the_sentence_that_leads_a_board_names_agents_as_plain_text() -> None:
    said = leading("**ann** is ahead of http://x.y/z :fire:.")
    assert said.startswith(r"\*\*ann\*\*")
    assert "http://" not in said
    assert ":fire:" not in said


def test_old_figures_say_since_when_and_ask_nobody_for_a_command() -> None:
    assert cache_note(CacheEntry(0, START, is_current=True)) == ""
    old = cache_note(CacheEntry(0, START, is_current=False))
    assert old.startswith("Figures of 4 Jan 2026, 00:00 UTC; newer results")
    assert cache_note(None).endswith("are being computed. This page shows it as soon as it is there.")
    assert "`" not in old + cache_note(None)


def test_a_replay_is_stamped_and_live_play_is_not() -> None:
    assert stamps([a_line(stamp="replay"), a_line(stamp="replay")]) == ["Replay: not evidence of skill."]
    assert stamps([a_line()]) == []


@given(st.text(alphabet="`ab \n*_", max_size=20))
def test_a_code_span_holds_its_text_whatever_ticks_are_in_it(text: str) -> None:
    span_ = code(text)
    fence = len(span_) - len(span_.lstrip("`"))
    inside = span_[fence:-fence]
    assert "\n" not in span_
    assert "`" * fence not in inside.replace(" ", "|")
    assert inside.strip() == " ".join(text.split())


def test_settings_leave_out_what_says_nothing() -> None:
    chosen = {"timeout": 120.0, "model": "x/y", "reasoning": None, "of": ["a", "b"], "search": True}
    assert settings(chosen) == "model x/y, timeout 120, of a, b, search yes"
