"""Charts as a reader would see them, read off the drawing as XML is: what is not escaped in it fails."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.record.model.cohort import Cohort, Entrant
from arena.record.queries.accounts import EquityPoint
from arena.scores.rules.reliability.diagram import diagram
from dashboard.html import (
    REST,
    Line,
    calibration_chart,
    columns_chart,
    gap_chart,
    line_chart,
    scatter,
    thin,
    ticks,
)
from dashboard.record import PnlPoint
from dashboard.views.cohort import gains
from markets.universe import Universe
from portfolio.rules import REALISTIC
from tests.builders import usd
from tests.records.seasons import HOSTILE

START = datetime(2026, 1, 4, tzinfo=UTC)


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


def wide(html: str) -> ET.Element:
    """The chart for a desk, of the two that are drawn."""
    return ET.fromstring(f"<div>{html}</div>")[0]


def texts(chart: ET.Element, look: str) -> list[str]:
    return [text.text or "" for text in chart.iter("text") if look in text.attrib["class"].split()]


def test_chosen_lines_are_named_at_their_ends_and_the_others_are_grey() -> None:
    start = START.timestamp()
    lines = [
        Line("ann", [(start, -500.0), (start + 9e5, 1250.0)], "c1", "+$1.3k"),
        Line(HOSTILE, [(start, 0.0), (start + 9e5, 0.0)], REST, dashed=True),
    ]
    chart = wide(line_chart(lines, "Profit", "short"))
    assert texts(chart, "name") == ["ann +$1.3k"]
    grey, chosen = chart.iter("polyline")
    assert (grey.attrib["class"], chosen.attrib["class"]) == ("rest line", "c1 line")
    assert "stroke-dasharray" in grey.attrib
    title = grey.find("title")
    assert title is not None
    assert title.text == HOSTILE
    assert len(texts(chart, "axis")) == 6
    assert not line_chart([Line("ann", [])], "Profit", "short")


def test_calibration_shows_the_curve_the_band_of_chance_and_the_price() -> None:
    own = diagram([0.7, 0.7, 0.1], [1, 0, 0], np.random.default_rng(1), draws=50)
    price = diagram([0.5], [1], np.random.default_rng(1), draws=50)
    chart = wide(calibration_chart([(HOSTILE, own, "c1"), ("price", price, REST)], "Calibration"))
    said = [title.text or "" for title in chart.iter("title")]
    assert f"{HOSTILE} says 70%, happens 50%, n = 2" in said
    assert len([shape for shape in chart.iter("polygon") if shape.attrib["class"] == "band"]) == 1
    assert texts(chart, "axis").count("50%") == 2


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


@pytest.mark.parametrize("reach", [0.004, 0.04, 0.4])
def test_no_two_ticks_of_a_gap_say_the_same(reach: float) -> None:
    shown = texts(wide(gap_chart(reach / 2, 0.0, reach, (HOSTILE, "ann"), ("c2", "c1"))), "axis")
    assert len(set(shown)) == len(shown) == 3
    edges = [reach * step / 8 for step in range(-8, 9)]
    chart = wide(columns_chart(edges, [1] * 16, "Events", "%+.3f"))
    assert len(list(chart.iter("rect"))) == 16
    assert len(set(texts(chart, "axis"))) == 5


@pytest.mark.parametrize(("low", "high"), [(-3.0, 8.0), (0.1, 0.9), (-1e6, 2e5), (5.0, 5.1)])
def test_an_axis_has_three_ticks_inside_it(low: float, high: float) -> None:
    found = ticks(low, high)
    assert len(set(found)) == 3
    assert low <= found[0] < found[-1] <= high
    assert (0.0 in found) == (low <= 0 <= high)


def test_points_of_a_plane_say_whose_they_are() -> None:
    chart = wide(
        scatter([("ann", 0.01, 12.5, "c1"), (HOSTILE, -0.02, -3.0, REST)], "Plane", "%+.3f", "%+.0f%")
    )
    assert texts(chart, "name") == ["ann"]
    assert {title.text for title in chart.iter("title")} == {
        "ann: +0.010, +12%",
        f"{HOSTILE}: −0.020, −3%",
    }


def test_a_name_of_eight_letters_is_whole_on_a_phone_beside_its_percentage() -> None:
    line = Line("constant", [(0.0, 0.0), (1.0, -74.1)], "one", "−74.1%")
    drawn = line_chart([line], "A race", "%+.0f%")
    assert drawn.count(">constant −74.1%</text>") == 2, "wide and narrow"
