"""Sentences: what they claim, and that nothing foreign means anything in them."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.leaderboard import Row
from arena.model import Entrant
from dashboard.frozen import settings
from dashboard.lead import lead, progress, stamps
from dashboard.model import CohortLine
from dashboard.table import COLUMNS, as_csv
from dashboard.words import cents, code, dollars, share, span
from tests.builders import usd

START = datetime(2026, 1, 4, tzinfo=UTC)


def a_row(agent: str, skill: float | None, kind: str = "llm", forecasts: int = 100) -> Row:
    counts = dict.fromkeys(
        ("cohorts", "turns", "malformed", "failed", "bets", "sold", "events", "unscored", "early"), 10
    )
    figures = dict.fromkeys(
        ("coverage", "brier_implied", "brier_anchored", "brier_stated", "brier_market", "skill_ratio")
    )
    money = dict.fromkeys(("pnl", "return_pct", "win_rate", "cost_usd", "cost_per_forecast"))
    return Row(agent=agent, kind=kind, forecasts=forecasts, skill=skill, **counts, **figures, **money)


def a_line(**changes: Any) -> CohortLine:
    line = CohortLine(1, START, None, rounds=5, played=2, stamp="live")
    return replace(line, **changes)


def test_the_leader_is_named_with_its_skill_and_a_warning() -> None:
    said = lead([a_row("ann", 0.02), a_row("market", 0.0, "market"), a_row("bob", -0.1)])
    assert said.startswith(
        "**200 forecasts** on **10 events** have resolved so far. In skill, `ann` leads: 0.0200"
    )
    assert said.endswith("read the order as what has happened, not as proof of who is better.")


def test_an_oracle_that_leads_is_called_one_and_the_best_model_is_named_too() -> None:
    said = lead([a_row("seer", 0.05, "oracle"), a_row("ann", 0.02)])
    assert "`seer` (which is told the truth, with noise) leads" in said
    assert "Of the language models, `ann` is ahead with +0.0200." in said


def test_those_who_are_level_lead_together() -> None:
    assert "`ann`, `bob` and `eve` lead together" in lead(
        [a_row(name, 0.01) for name in ("ann", "bob", "eve")]
    )


@pytest.mark.parametrize("best", [0.0, -0.01])
def test_whoever_does_not_beat_the_price_does_not_lead(best: float) -> None:
    said = lead([a_row("market", 0.0, "market"), a_row("ann", best)])
    assert "Nobody beats the market's price." in said
    assert "ann" not in said


def test_before_anything_resolves_nobody_is_ranked() -> None:
    said = lead([a_row("ann", None, forecasts=0)])
    assert said == "No market has resolved yet, so nobody can be ranked: figures come with the first results."
    assert lead([]) == said


def test_a_replay_is_stamped_and_live_play_is_not() -> None:
    assert stamps([a_line(stamp="replay"), a_line(stamp="replay")]) == ["Replay: not evidence of skill."]
    assert stamps([a_line()]) == []


def test_a_cohort_is_deciding_then_tracked_then_ended() -> None:
    assert progress(a_line()) == "2 of 5 rounds decided"
    assert progress(a_line(played=5)) == "5 of 5 rounds decided, open positions are still tracked"
    assert progress(a_line(played=5, ended_at=START)) == "5 of 5 rounds decided, ended 4 Jan 2026"


def test_a_cohort_that_was_halted_says_so() -> None:
    assert progress(a_line(paused=True)) == "2 of 5 rounds decided, paused"
    assert progress(a_line(stopped=True, paused=True)) == (
        "2 of 5 rounds decided, ended by hand, open positions are still tracked"
    )
    assert progress(a_line(stopped=True, ended_at=START)) == "2 of 5 rounds decided, ended 4 Jan 2026"


@given(st.text(alphabet="`ab \n*_", max_size=20))
def test_a_code_span_holds_its_text_whatever_ticks_are_in_it(text: str) -> None:
    span_ = code(text)
    fence = len(span_) - len(span_.lstrip("`"))
    inside = span_[fence:-fence]
    assert "\n" not in span_
    assert "`" * fence not in inside.replace(" ", "|")
    assert inside.strip() == " ".join(text.split())


def test_money_prices_shares_and_times_read_as_people_write_them() -> None:
    assert (dollars(usd("1234.5")), cents(usd("0.055")), share(usd("0.25"))) == ("$1,234.50", "5.5¢", "25%")
    assert [span(timedelta(hours=h)) for h in (1, 36, 168)] == ["1 hour", "36 hours", "7 days"]


def test_settings_leave_out_what_says_nothing() -> None:
    entrant = Entrant(
        0, "ann", "llm", {"timeout": 120.0, "model": "x/y", "reasoning": None, "of": ["a", "b"]}
    )
    assert settings(entrant) == "model x/y, timeout 120, of a, b"


def test_the_file_holds_every_figure_unrounded_and_no_formula() -> None:
    rows = [a_row("=HYPERLINK(1)", 1 / 3), a_row("ann", None)]
    first, second = csv.DictReader(io.StringIO(as_csv(rows)))
    assert set(first) == {"agent", "kind", *(column.key for column in COLUMNS)}
    assert (first["agent"], float(first["skill"])) == ("'=HYPERLINK(1)", 1 / 3)
    assert second["skill"] == ""
