"""Charts as data: what a reader would see, read off the specification."""

from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from vl_convert import vegalite_to_svg

from arena.record.model.cohort import Cohort, Entrant
from arena.record.queries.accounts import EquityPoint
from arena.record.queries.progress import SettlementCount
from arena.scores.profiles.calibrations import ForecasterCalibration
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.reliability.diagram import diagram
from dashboard.charts.calibration import calibration
from dashboard.charts.curves import Unit, pnl_curves
from dashboard.charts.duel import differences, gap_line
from dashboard.charts.style import Chart
from dashboard.model import PnlPoint, RoundDecision
from dashboard.palette import MARKET, looks
from dashboard.queries.cohort import gains
from dashboard.thin import thin
from markets.universe import Universe
from portfolio.rules import REALISTIC
from tests.builders import usd
from tests.records.seasons import HOSTILE

START = datetime(2026, 1, 4, tzinfo=UTC)
LOOKS = looks([("market", "market"), ("ann", "llm"), (HOSTILE, "llm")])


def a_cohort(*agents: str) -> Cohort:
    """A cohort that starts with $10,000 each."""
    return Cohort(
        number=1,
        starts_at=START,
        rounds=4,
        every=timedelta(days=7),
        bankroll=usd(10_000),
        rules=REALISTIC,
        universe=Universe(show=1, per_event=1, closes_within=1, min_volume=0, max_spread=1),
        seed=1,
        venue="simulator",
        venue_settings={},
        stamp="simulated",
        prompts={},
        entrants=tuple(Entrant(place, name, "llm", {}) for place, name in enumerate(agents)),
    )


def layers(chart: Chart) -> list[dict[str, Any]]:
    """What is drawn, back to front, each with its rows."""
    spec = chart.to_dict()
    return [layer | {"rows": spec["datasets"][layer["data"]["name"]]} for layer in spec["layer"]]


def curve(unit: Unit) -> list[dict[str, Any]]:
    points = [PnlPoint("ann", START, -500.0, -5.0), PnlPoint("ann", START + timedelta(days=7), 1250.0, 12.5)]
    return layers(pnl_curves(points, [RoundDecision(1, START)], LOOKS, unit, [SettlementCount(START, 3)]))


@pytest.mark.parametrize(("unit", "gains"), [("dollars", [-500, 1250]), ("percent", [-5, 12.5])])
def test_curves_show_gains_in_the_unit_asked_for(unit: Unit, gains: list[float]) -> None:
    rounds, settled, start, lines = curve(unit)
    assert [row["gain"] for row in lines["rows"]] == gains
    assert start["rows"] == [{"y": 0}]
    assert [row["round"] for row in rounds["rows"]] == [1]
    assert [row["markets"] for row in settled["rows"]] == [3]


def test_an_agent_has_its_colour_in_every_chart() -> None:
    *_, lines = curve("dollars")
    scale = lines["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["ann"] == LOOKS["ann"].colour
    own, price = calibration_of([0.7, 0.7], [1, 0]), calibration_of([0.5], [1])
    *_, dots = layers(calibration(own, price, LOOKS["ann"]))
    assert dots["mark"]["color"] == LOOKS["ann"].colour


def calibration_of(forecasts: list[float], outcomes: list[int], agent: str = "ann") -> ForecasterCalibration:
    found = diagram(forecasts, outcomes, np.random.default_rng(1), draws=50)
    return ForecasterCalibration(agent, len(outcomes), len(outcomes), found)


def test_calibration_shows_the_curve_the_band_of_chance_and_the_price() -> None:
    own, price = calibration_of([0.7, 0.7, 0.1], [1, 0, 0]), calibration_of([0.5], [1])
    chance, _, market, line, dots = layers(calibration(own, price, LOOKS["ann"]))
    low, high = dots["rows"]
    assert (low["forecast"], high["forecast"]) == (0.1, 0.7)
    assert (low["came"], high["came"]) == (0.0, 0.5)
    assert high["low"] <= 0.7 <= high["high"]
    assert low["area"] < high["area"]
    assert line["mark"]["color"] == LOOKS["ann"].colour
    assert (market["rows"][0]["forecast"], market["mark"]["color"]) == (0.5, MARKET)
    assert chance["encoding"]["y2"] == {"field": "high"}


def test_foreign_names_are_data_and_never_expressions() -> None:
    points = [PnlPoint(HOSTILE, START, 1.0, 1.0)]
    *_, lines = layers(pnl_curves(points, [], LOOKS, "dollars"))
    assert lines["rows"][0]["agent"] == HOSTILE
    own = calibration_of([0.5], [1], HOSTILE)
    assert calibration(own, own, LOOKS[HOSTILE]).to_dict()["title"]["text"] == HOSTILE


def test_profit_is_what_an_account_is_worth_above_its_bankroll() -> None:
    worth = [EquityPoint("ann", START, usd("12500")), EquityPoint("market", START, usd("9999.50"))]
    assert gains(a_cohort("market", "ann"), worth) == (
        PnlPoint("ann", START, 2500.0, 25.0),
        PnlPoint("market", START, -0.5, -0.005),
    )


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 7, 100])
def test_thinning_keeps_order_ends_and_the_limit(limit: int) -> None:
    found = thin(range(50), limit)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, 49)
    assert len(found) == min(max(limit, 2), 50)


def ticks(chart: Chart) -> list[str]:
    """What stands at the axis below a chart, as it is drawn."""
    drawn = ET.fromstring(vegalite_to_svg(chart.to_dict()))
    axis = next(group for group in drawn.iter() if "X-axis" in group.get("aria-label", ""))
    return [text.text or "" for text in axis.iter() if text.tag.endswith("text")][:-1]


@pytest.mark.parametrize("reach", [0.004, 0.04, 0.4])
def test_no_two_ticks_of_a_gap_say_the_same(reach: float) -> None:
    ann, hostile = LOOKS["ann"], LOOKS[HOSTILE]
    found = Duel("ann", HOSTILE, 9, 9, 9, 9.0, reach / 2, reach / 4, 0.05, None, low=0.0, high=reach)
    shown = ticks(gap_line(found, ann))
    assert len(set(shown)) == len(shown) >= 4
    edges = [reach * step / 8 for step in range(-8, 9)]
    shown = ticks(differences(edges, [1] * 16, ann, hostile))
    assert len(set(shown)) == len(shown) >= 4
