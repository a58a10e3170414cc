"""Charts as a reader would see them, read off the drawing as XML is: what is not escaped in it fails."""

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.scores.rules.reliability.diagram import diagram
from dashboard.charts import Line, calibration_chart, columns_chart, gap_chart, line_chart, scatter, thin
from dashboard.pictures import REST
from tests.records.seasons import HOSTILE

START = datetime(2026, 1, 4, tzinfo=UTC)


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
