"""A cohort: its curves are its marks, its calibration what would be worked out now, its rules as frozen."""

import math
import re
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from streamlit.testing.v1 import AppTest

from arena.cohorts.diff import changes_in_words, cohort_changes
from arena.scores.leaderboard import compute_leaderboard, read_leaderboard
from arena.scores.rules import brier, returns
from dashboard.board import BASE
from dashboard.charts import MARKET_PRICE
from dashboard.cohorts import BACK, read_cohort_curves, read_equity_curves, why_uncalibrated
from dashboard.record import CohortLine, PnlPoint, SeasonOverview
from dashboard.views.cohort import heading
from dashboard.words import JOINER, plain
from markets.millionths import ONE
from portfolio.rules import REALISTIC
from tests.dashboard.opening import Show, markup, tables, words
from tests.dashboard.records import shared
from tests.rows import cohorts_seen, read_only


def test_the_founding_texts_scores_are_in_its_words(season: Path, show: Show) -> None:
    page = show("cohort", season, cohort="1")
    [founding] = [table.set_index("agent") for table in tables(page) if "implied_band" in table]
    with read_only(season) as connection:
        rows = {row.agent: row for row in compute_leaderboard(connection, 1).rows}
    assert set(founding.index) == set(rows)
    for name, shown in founding.drop("market").iterrows():
        row = rows[str(name)]
        score = row.brier_implied or 0.0
        back = row.return_pct or 0.0
        stated = row.brier_stated or 0.0
        market = row.brier_market or 0.0
        assert (shown["implied_band"], shown["return_band"]) == (brier.band(score), returns.band(back))
        assert math.isclose(shown["implied_skill"], 1 - score / 0.25)
        assert math.isclose(shown["stated_skill"], 1 - stated / 0.25)
        assert math.isclose(shown["skill_ratio"], 1 - stated / market, abs_tol=1e-12)
    assert BASE in words(page)


def test_its_board_has_no_ranks_and_says_the_verdict_over_all(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    demo = shared("demo", tmp_path_factory)
    with read_only(demo) as connection:
        verdict = read_leaderboard(connection).verdict
        rows = read_leaderboard(connection, 1).rows
    assert verdict is not None
    page = show("cohort", demo, cohort="1")
    board = tables(page)[0]
    assert list(board["agent"]) == [row.agent for row in rows if row.ranked and not row.is_reference]
    assert not {"rank", "better"} & set(board.columns)
    assert plain(f"Over all cohorts: {verdict.sentence}", 2_000).replace(JOINER, "") in words(page)
    title = page.title[0].value.replace(JOINER, "").replace("\\", "")
    assert re.fullmatch(r"Cohort 1: \w+ made most so far, \+\$\S+; \d of \d agents made money", title)


def test_it_says_what_was_frozen(season: Path, show: Show) -> None:
    page = show("cohort", season)
    said = words(page)
    assert "Every agent starts with $10,000 and decides 4 times, every 7 days." in said
    assert "A bet is at most 25% of the cash at the start of the decision, and each is $50 or more." in said
    assert "4 of 4 rounds decided, ended" in said
    line_up = tables(page)[-1]
    assert list(line_up["Agent"])[:4] == ["market", "constant", "random", "oracle"]
    assert list(line_up["Settings"])[3] == "noise 0.1"


def test_it_says_what_differs_from_the_cohort_before(season: Path, show: Show) -> None:
    assert "cohort 0" not in words(show("cohort", season, cohort="1"))
    page = show("cohort", season, cohort="2")
    said = words(page)
    with read_only(season) as connection:
        first, second = (stored.cohort for stored in cohorts_seen(connection))
    lines = changes_in_words(cohort_changes(first, second))
    assert not lines
    [rules] = [fold for fold in page.expander if fold.label.startswith("How this cohort plays")]
    assert "Identical to cohort 1: same agents" in rules.caption[0].value, "beside what is the same"
    assert said.count("Identical to cohort") == 1


@pytest.mark.parametrize("back", ["all", *BACK])
def test_curves_are_the_marks_of_the_range_and_end_with_the_newest(season: Path, back: str) -> None:
    with read_only(season) as connection:
        found = read_cohort_curves(connection, 2, BACK.get(back))
        rows = connection.exec_driver_sql(
            "SELECT e.name, m.at, m.cash + m.value - 10000000000 FROM mark m"
            " JOIN entrant e ON e.id = m.entrant_id JOIN cohort c ON c.id = e.cohort_id WHERE c.number = 2"
        ).all()
    newest = found[-1].at
    wanted = {
        (name, at): gain / ONE
        for name, at, gain in rows
        if back == "all" or at >= f"{newest - BACK[back]:%Y-%m-%dT%H:%M:%S}"
    }
    shown = {(p.agent, f"{p.at:%Y-%m-%dT%H:%M:%S.%fZ}"): p.dollars for p in found}
    assert shown == wanted
    assert all(p.percent == pytest.approx(p.dollars / 100) for p in found)


@pytest.mark.parametrize("points", [10, 20, 25, 1_000])
def test_few_instants_are_picked_evenly_with_both_ends_and_for_every_agent(season: Path, points: int) -> None:
    with read_only(season) as connection:
        every = read_equity_curves(connection, 1)
        some = read_equity_curves(connection, 1, points)
    times = sorted({mark.at for mark in every})
    picked = sorted({mark.at for mark in some})
    assert len(picked) == min(points // 5, len(times))
    assert (picked[0], picked[-1]) == (times[0], times[-1])
    assert set(some) <= set(every)
    assert len(some) == 5 * len(picked)


@pytest.mark.parametrize("reading_", ["stated", "anchored", "implied"])
def test_calibration_is_drawn_beside_the_money_in_every_reading(
    season: Path, show: Show, reading_: str
) -> None:
    page = show("cohort", season, cohort="1", reading=reading_)
    assert labels(page) == ["Profit or loss of each agent over time", "What was said against what happened"]
    one = show("cohort", season, cohort="1", reading=reading_, agent="constant")
    [figure] = [figure for html in markup(one) for figure in ET.fromstring(html).iter("figure")][1:]
    shown = {chip.get("title"): chip.get("aria-pressed") for chip in figure.iter("button")}
    assert (shown["constant"], shown["random"], shown[MARKET_PRICE]) == ("true", "false", "false")


def labels(page: AppTest) -> list[str]:
    """Return the alternative texts of a page's charts."""
    drawn = (svg for html in markup(page) for svg in ET.fromstring(html).iter("svg"))
    return [svg.attrib["aria-label"] for svg in drawn if svg.get("role") == "img"]


def test_it_opens_on_the_newest_cohort_with_something_to_see(
    season: Path, tmp_path: Path, show: Show
) -> None:
    assert show("cohort", season).title[0].value.startswith("Cohort 2")
    record = Path(shutil.copy(season, tmp_path / "record.db"))
    with sqlite3.connect(record) as base:
        for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            base.execute(f'DROP TRIGGER "{name}"')
        base.execute(
            "DELETE FROM entry WHERE kind IN ('settle', 'refund') AND entrant_id IN (SELECT entrant.id FROM "
            "entrant JOIN cohort ON cohort.id = cohort_id WHERE number = 2)"
        )
    base.close()
    assert show("cohort", record).title[0].value.startswith("Cohort 1")


def test_without_anything_worked_out_it_says_so_and_shows_curves_and_money(raw: Path, show: Show) -> None:
    page = show("cohort", raw)
    said = words(page)
    assert "Skill, intervals and calibration are being computed" in said
    assert "Calibration and its bands are being computed" in said
    assert labels(page) == ["Profit or loss of each agent over time"]
    assert "pnl" in tables(page)[0]


def test_nothing_is_said_of_ranks_where_a_board_has_none(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demo = shared("demo", tmp_path_factory)
    before = "Before it the ranks that it may have"
    assert before in "".join(markup(show("arena", demo)))
    assert before not in "".join(markup(show("cohort", demo, cohort="1")))


START = datetime(2026, 1, 4, tzinfo=UTC)
OPEN = CohortLine(7, START, None, 4, 4, "live", "simulator", REALISTIC)
OVER = replace(OPEN, ended_at=START + timedelta(days=40))
TWO = SeasonOverview((), (("ann", "llm"), ("bob", "llm"), ("oracle", "oracle")), {})


@pytest.mark.parametrize(
    ("line", "gains", "said"),
    [
        (OVER, {}, "Cohort 7: nothing was played"),
        (OPEN, {}, "Cohort 7: nothing was played yet"),
        (OVER, {"oracle": 9.0}, "Cohort 7: only references play"),
        (OVER, {"ann": 0.0, "bob": 0.0}, "Cohort 7: no agent made or lost money"),
        (OPEN, {"ann": 0.0, "bob": 0.0}, "Cohort 7: no agent made or lost money so far"),
        (OVER, {"ann": -5.0, "bob": -2.0}, "Cohort 7: every agent lost money; bob lost least, −$2"),
        (OVER, {"ann": -5.0, "bob": 0.0}, "Cohort 7: no agent made money; bob lost none"),
        (OPEN, {"ann": 7.0, "bob": -2.0}, "Cohort 7: ann made most so far, +$7; 1 of 2 agents made money"),
    ],
)
def test_the_heading_says_who_made_most_whatever_was_played(
    line: CohortLine, gains: dict[str, float], said: str
) -> None:
    curves = {name: [PnlPoint(name, START, gain, gain / 100)] for name, gain in gains.items()}
    assert heading(line, TWO, curves) == said


@pytest.mark.parametrize(
    ("line", "shown", "is_made", "reading_", "why"),
    [
        (replace(OPEN, played=0), 0, False, "stated", "No round was played yet."),
        (replace(OVER, played=0), 0, False, "stated", "No round was played."),
        (OVER, 0, False, "stated", "No market fitted the rules, so none was shown."),
        (OPEN, 0, False, "implied", "No market fitted the rules, so none was shown yet."),
        (OPEN, 9, False, "stated", "No agent stated a probability yet."),
        (OVER, 9, False, "implied", "No agent placed a bet."),
        (OPEN, 9, True, "stated", "No market that they forecast has resolved yet."),
        (OVER, 9, True, "stated", "No market that they forecast resolved YES or NO."),
    ],
)
def test_why_there_is_no_calibration_is_what_happened(
    line: CohortLine, shown: int, is_made: bool, reading_: str, why: str
) -> None:
    said = why_uncalibrated(line, shown, is_any_forecast_made=is_made, reading=reading_)
    assert said == f"{why} Calibration needs forecasts with an outcome."
