"""The page of an agent: its figures are those of the ledger, the leaderboard and the portrait."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from streamlit.testing.v1 import AppTest

from arena.record.queries.accounts import read_equity_curves
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.database import Connection, open_read_only, reading
from arena.scores.comparisons import COMPARISONS, RankedAgent
from arena.scores.leaderboard import read_scores
from arena.scores.profiles.detailed_profile import PROFILE
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.lead import Verdict
from dashboard.record import kept, read_summed_curves, source
from dashboard.views.agent import (
    PARTS,
    AgentEvidence,
    conclusions,
    evidence_chart,
    read_agent_evidence,
    verdict,
)
from markets.millionths import ONE
from tests.dashboard.opening import Show, healthy, in_address, markup, tables, tiles, words
from tests.dashboard.records import shared
from tests.records.full_record import build
from tests.records.seasons import HOSTILE

NAMES = ["random", "oracle", HOSTILE]


@pytest.fixture
def connection(season: Path) -> Iterator[Connection]:
    with open_read_only(str(season)) as engine, reading(engine) as found:
        yield found


def headings(page: AppTest) -> list[str]:
    """The headings of the page's boxes."""
    return [each.text or "" for html in markup(page) for each in ET.fromstring(html).iter("h2")]


@pytest.mark.parametrize("name", NAMES)
def test_each_cohort_has_the_figures_of_its_leaderboard(
    season: Path, connection: Connection, show: Show, name: str
) -> None:
    page = show("agent", season, agent=name)
    table = tables(page)[0]
    assert list(table["Cohort"]) == [2, 1]
    for place, number in enumerate(table["Cohort"]):
        (row,) = [row for row in read_scores(connection, [int(number)]) if row.agent == name]
        line = table.iloc[place]
        assert math.isclose(line["P/L"], row.pnl or 0.0)
        assert math.isclose(line["Return %"], row.return_pct or 0.0)
        assert math.isclose(line["Brier"], row.brier_stated or 0.0)
        assert math.isclose(line["Skill"], row.skill or 0.0, abs_tol=1e-12)
        assert (line["Bets"], line["Sales"], line["Turns"]) == (row.bets, row.sold, row.turns)


def test_a_ranked_agent_has_its_evidence_drawn_and_its_verdict_said(
    season: Path, connection: Connection, show: Show
) -> None:
    page = show("agent", season, agent="random")
    found = kept(source(str(season)), read_agent_evidence, "random")
    cached = COMPARISONS.read(connection)
    assert found is not None
    assert cached is not None
    assert (found.points, found.bar) == (cached.value.evidence["random"], cached.value.bar)
    assert "Evidence" in headings(page)
    assert all(sentence in words(page) for sentence in conclusions(found))
    assert "bar ×160" in evidence_chart(replace(found, bar=160.0), "c1")
    assert not evidence_chart(None, "c1")


@pytest.mark.parametrize(
    ("verdict", "low", "said"),
    [
        (Verdict("proven", 170.0, 1.0, None), 0.01, ["**Proven.** Evidence is ×170."]),
        (Verdict("ahead", 6.0, None, None), 0.01, ["**Ahead, not yet proven**: too early, 5 of 8 weeks."]),
        (
            Verdict("close", 2.0, None, None),
            -0.01,
            ["**Too close to call.** Evidence is ×2.0; proof takes ×160."],
        ),
        (Verdict("none", 0.1, None, None), -0.02, ["**Behind the price.**"]),
        (Verdict("none", 1.0, None, None), None, []),
        (Verdict("none", 1.0, None, PRICE), 0.0, ["It copies the price, so there is no verdict."]),
    ],
)
def test_each_verdict_is_said_in_its_words(verdict: Verdict, low: float | None, said: list[str]) -> None:
    gain = Gain("ann", 9, 9, 9, 30.0, 0.02, 0.01, low, low and low + 0.02, 0.01, None, weeks=5)
    assert conclusions(AgentEvidence(RankedAgent(gain, verdict, 1, 1), 160.0, ())) == said


@pytest.mark.parametrize("part", ["record", "forecasts"])
def test_who_is_not_ranked_has_the_reason_in_place_of_its_skill(
    tmp_path_factory: pytest.TempPathFactory, show: Show, part: str
) -> None:
    page = show("agent", shared("all_failed", tmp_path_factory), agent="ann", part=part)
    assert "**Not ranked**: 5 of 5 turns failed, so nothing is said of its skill." in words(page)
    assert tiles(page)[0][1] == "–"
    assert "Evidence" not in headings(page)
    assert part == "record" or "It has answered nothing that has resolved" in words(page)
    duel = show("duel", shared("all_failed", tmp_path_factory), a="ann", b="bob")
    assert "Nothing to compare: no answer from `ann` or `bob` yet." in words(duel)


@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_the_sum_of_the_newest_marks_of_all_accounts(connection: Connection, name: str) -> None:
    marks = {
        one.cohort.number: [
            mark for mark in read_equity_curves(connection, one.cohort.number) if mark.agent == name
        ]
        for one in read_cohorts(connection)
    }
    curve = read_summed_curves(connection, [name], 200)[name]
    for point in curve:
        known = [[mark.total for mark in own if mark.at <= point.at] for own in marks.values()]
        gain = sum(totals[-1] - 10_000 * ONE for totals in known if totals)
        assert math.isclose(point.dollars, gain / ONE, abs_tol=1e-6)
    every = {mark.at for own in marks.values() for mark in own}
    assert [point.at for point in curve] == sorted(every)


def test_the_parts_of_the_profit_add_up_to_it(season: Path, connection: Connection, show: Show) -> None:
    page = show("agent", season, agent="oracle", part="money")
    table = tables(page)[0]
    assert list(table["Part"]) == [*(label for _, label, _ in PARTS), "P/L"]
    assert math.isclose(sum(table["Amount"][:-1]), table["Amount"].iloc[-1], abs_tol=1e-6)
    (row,) = [row for row in read_scores(connection) if row.agent == "oracle"]
    assert math.isclose(table["Amount"].iloc[-1], row.pnl or 0.0, abs_tol=0.01)


def test_the_forecasts_show_their_parts_a_histogram_and_cards(
    season: Path, connection: Connection, show: Show
) -> None:
    page = show("agent", season, agent="random", part="forecasts", by="price")
    shown = ["Skill in parts", "Calibration of its bets", "What it states"]
    assert [each.value for each in page.subheader][:3] == shown
    assert {"Anchored", "Implied"} <= set(headings(page))
    kept = PROFILE.read(connection, "random")
    assert kept is not None
    skills, parts = tables(page)[:2]
    assert list(parts["Price"]) == [one.label for one in kept.value.calibrated["price"]]
    assert list(parts["Brier"]) == [one.parts.brier for one in kept.value.calibrated["price"]]
    known = {one.slice: one.gain.skill for one in kept.value.slices["price"]}
    for part, skill in zip(skills["Part"], skills["Skill"], strict=True):
        assert math.isclose(skill, known[part] or 0.0)
    said = words(page)
    assert f"{sum(kept.value.histogram):,} forecasts stated; it calls no model" in said
    for remark in (*kept.value.best, *kept.value.worst):
        assert f"Said **{remark.forecast:.1%}**, price {remark.price:.1%}" in said
    page.segmented_control[1].select("horizon")
    assert in_address(healthy(page.run()), "by") == "horizon"


def test_who_never_answered_is_told_so_and_not_that_nothing_resolved() -> None:
    def stay(**statuses: int) -> Any:
        return SimpleNamespace(statuses=statuses)

    never = "It never gave a usable answer in "
    assert verdict(None, [stay(failed=9), stay(failed=6)]) == f"{never}15 turns: 15 failed."
    assert verdict(None, [stay(late=1, failed=9), stay(late=2)]) == f"{never}12 turns: 9 failed, 3 late."
    assert verdict(None, [stay(malformed=1)]) == f"{never}1 turn: 1 malformed."
    assert verdict(None, [stay(failed=9, partly=1)]).startswith("None of its forecasts has resolved yet")


def test_costs_failures_and_settings_are_told(tmp_path: Path, show: Show) -> None:
    file = tmp_path / "record.db"
    build(file).close()
    page = show("agent", file, agent="eve", part="setup")
    failures = tables(page)[0]
    assert {"malformed", "failed"} <= set(failures["Kind"])
    assert "Settings and reported model" in words(page)
