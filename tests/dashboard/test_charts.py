"""Charts as data: what a reader would see, read off the specification."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.model import Cohort, Entrant
from arena.scoring.calibration import bins
from arena.store.curves import Worth
from dashboard.drawn.calibration import calibration
from dashboard.drawn.curves import Unit, pnl_curves
from dashboard.drawn.frame import Chart
from dashboard.model import Calibration, Decided, Point
from dashboard.palette import MARKET, looks
from dashboard.queries.cohort import POINTS, curves
from dashboard.thin import thin
from markets.universe import Universe
from portfolio.rules import REALISTIC
from tests.builders import usd
from tests.dashboard.seasons import HOSTILE

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
    points = [Point("ann", START, -500.0, -5.0), Point("ann", START + timedelta(days=7), 1250.0, 12.5)]
    return layers(pnl_curves(points, [Decided(1, START)], LOOKS, unit))


@pytest.mark.parametrize(("unit", "gains"), [("dollars", [-500, 1250]), ("percent", [-5, 12.5])])
def test_curves_show_gains_in_the_unit_asked_for(unit: Unit, gains: list[float]) -> None:
    rounds, start, lines = curve(unit)
    assert [row["gain"] for row in lines["rows"]] == gains
    assert start["rows"] == [{"y": 0}]
    assert [row["round"] for row in rounds["rows"]] == [1]


def test_an_agent_has_its_colour_in_every_chart() -> None:
    *_, lines = curve("dollars")
    scale = lines["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["ann"] == LOOKS["ann"].colour
    own, price = calibration_of([0.7, 0.7], [1, 0]), calibration_of([0.5], [1])
    *_, dots = layers(calibration(own, price, LOOKS["ann"]))
    assert dots["mark"]["color"] == LOOKS["ann"].colour


def calibration_of(forecasts: list[float], outcomes: list[int]) -> Calibration:
    found = tuple(bins(forecasts, outcomes))
    return Calibration("ann", found, len(outcomes), len(outcomes))


def test_calibration_shows_counts_intervals_and_the_price() -> None:
    own, price = calibration_of([0.7, 0.72, 0.1], [1, 0, 0]), calibration_of([0.5], [1])
    _, market, bars, dots = layers(calibration(own, price, LOOKS["ann"]))
    low, high = dots["rows"]
    assert (low["count"], high["count"], high["called"]) == (1, 2, "70% to 80%")
    assert high["forecast"] == pytest.approx(0.71)
    assert high["low"] < high["observed"] == 0.5 < high["high"]
    assert low["area"] < high["area"]
    assert (market["rows"][0]["forecast"], market["mark"]["color"]) == (0.5, MARKET)
    assert bars["encoding"]["y2"] == {"field": "high"}


def test_foreign_names_are_data_and_never_expressions() -> None:
    points = [Point(HOSTILE, START, 1.0, 1.0)]
    *_, lines = layers(pnl_curves(points, [], LOOKS, "dollars"))
    assert lines["rows"][0]["agent"] == HOSTILE
    own = Calibration(HOSTILE, (), 0, 0)
    assert calibration(own, own, LOOKS[HOSTILE]).to_dict()["title"]["text"] == HOSTILE


def test_profit_is_what_an_account_is_worth_above_its_bankroll() -> None:
    worth = [Worth("ann", START, usd("12500")), Worth("market", START, usd("9999.50"))]
    assert curves(a_cohort("market", "ann"), worth) == (
        Point("ann", START, 2500.0, 25.0),
        Point("market", START, -0.5, -0.005),
    )


def test_curves_of_years_are_thinned_to_what_a_chart_can_take_and_keep_their_ends() -> None:
    days = [START + timedelta(days=n) for n in range(3_000)]
    worth = [Worth(agent, day, usd(10_000)) for day in days for agent in ("market", "ann")]
    found = curves(a_cohort("market", "ann"), worth)
    assert len(found) == POINTS
    assert (found[0].at, found[-1].at) == (days[0], days[-1])
    assert len({p.at for p in found if p.agent == "ann"}) == POINTS // 2


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 7, 100])
def test_thinning_keeps_order_ends_and_the_limit(limit: int) -> None:
    found = thin(range(50), limit)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, 49)
    assert len(found) == min(max(limit, 2), 50)
