"""Charts as a reader would see them, read off the drawing as XML is: what is not escaped in it fails."""

import json
import re
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.config.lineup import NAME
from arena.scores.rules.reliability.diagram import diagram
from dashboard import charts
from dashboard.charts import (
    MARKET_PRICE,
    MEDIAN,
    YES_PRICE,
    Line,
    calibration_chart,
    columns_chart,
    evenly_spaced,
    gap_chart,
    line_chart,
    scatter,
)
from dashboard.pictures import REST
from tests.records.seasons import HOSTILE

START = datetime(2026, 1, 4, tzinfo=UTC)


def drawn(html: str) -> ET.Element:
    """Return the figure of a chart."""
    return ET.fromstring(f"<div>{html}</div>")[0]


def texts(chart: ET.Element, look: str) -> list[str]:
    return [text.text or "" for text in chart.iter("text") if look in text.get("class", "").split()]


def test_chosen_lines_are_named_at_their_ends_and_the_others_are_grey() -> None:
    start = START.timestamp()
    lines = [
        Line("ann", [(start, -500.0), (start + 9e5, 1250.0)], "c1", "+$1.3k"),
        Line(HOSTILE, [(start, 0.0), (start + 9e5, 0.0)], REST, dashed=True),
    ]
    chart = drawn(line_chart(lines, "Profit", "short"))
    assert texts(chart, "name") == ["ann +$1.3k"]
    grey, chosen = chart.iter("polyline")
    assert (grey.attrib["class"], chosen.attrib["class"]) == ("rest line", "c1 line")
    assert "stroke-dasharray" in grey.attrib
    title = grey.find("title")
    assert title is not None
    assert title.text == HOSTILE
    assert texts(chart, "axis") == [
        "−$500",
        "$0",
        "+$500",
        "+$1k",
        "5 Jan",
        "7 Jan",
        "9 Jan",
        "11 Jan",
        "13 Jan",
    ]
    assert [chip.get("title") for chip in chart.iter("button")][:2] == ["ann", HOSTILE]
    assert not line_chart([Line("ann", [])], "Profit", "short")


def test_the_marks_beside_a_chart_are_its_values_to_the_cent_and_the_round_of_each() -> None:
    values = [0.0, -1234.565, 1e6 + 0.01, 0.1 + 0.2]
    whole = [(60.0 * place, value) for place, value in enumerate(values)]
    lines = [Line("ann", whole, "c1", href="turn?round="), Line("'bob' & <b>", whole[2:])]
    chart = drawn(line_chart(lines, "Profit", "short", rounds=[(30.0, "1"), (120.0, "2")]))
    marks = json.loads(chart.attrib["data-marks"])
    assert list(accumulate(marks["at"])) == [0, 60, 120, 180]
    ann, bob = marks["lines"]
    assert list(accumulate(ann["by"])) == [round(float(f"{value:.2f}") * 100) for value in values]
    assert (bob["name"], bob["from"], list(accumulate(bob["by"]))) == ("'bob' & <b>", 2, [100_000_001, 30])
    assert (marks["rounds"], ann["href"], "href" in bob) == (["", "1", "2", "2"], "turn?round=", False)


def test_calibration_shows_the_curve_the_band_of_chance_and_the_price() -> None:
    own = diagram([0.7, 0.7, 0.1], [1, 0, 0], np.random.default_rng(1), draws=50)
    price = diagram([0.5], [1], np.random.default_rng(1), draws=50)
    chart = drawn(calibration_chart([(HOSTILE, own, "c1"), ("price", price, REST)], "Calibration"))
    assert {"happened ↑", "probability →", "count"} < set(texts(chart, "axis"))
    assert texts(chart, "axis").count("50%") == 2
    groups = [group.attrib["class"] for group in chart.iter("g")]
    assert groups == ["counts", "counts off", "c1", "ink off"]
    assert [text.text for text in next(chart.iter("g")).iter("text")] == ["1", "2"]
    hostile, _ = json.loads(chart.attrib["data-marks"])["lines"]
    assert hostile["name"] == HOSTILE
    assert [tenth[:4] for tenth in hostile["tenths"]] == [[1, 1, 100, 0], [7, 2, 700, 500]]
    assert [chip.get("aria-pressed") for chip in chart.iter("button")][:2] == ["true", "false"]
    assert "70% sure of a side in fewer than 20 events." in chart.itertext()


@pytest.mark.parametrize("name", [MARKET_PRICE, YES_PRICE, MEDIAN])
def test_no_agent_shares_its_chip_with_a_line_of_the_market(name: str) -> None:
    """Chips, rows and lines are told from each other by their names."""
    assert re.fullmatch(NAME, name) is None


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 7, 100])
def test_thinning_keeps_order_ends_and_the_limit(limit: int) -> None:
    found = evenly_spaced(range(50), limit)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, 49)
    assert len(found) == min(max(limit, 2), 50)


def test_of_more_marks_than_are_drawn_each_is_told_as_it_was_at_its_instant() -> None:
    """One line is longer than the other, and half an hour beside it."""
    start = START.timestamp()
    points = {
        "long": [(start + 3600 * hour, float(hour)) for hour in range(901)],
        "short": [(start + 1800 + 3600 * hour, float(hour)) for hour in range(200, 700)],
    }
    lines = [Line(name, each, "c1", "") for name, each in points.items()]
    marks = json.loads(drawn(line_chart(lines, "Profit", "short")).attrib["data-marks"])
    instants = list(accumulate(marks["at"]))
    assert (instants[0], instants[-1]) == (start, start + 3600 * 900)
    assert len(instants) < 310
    for line in marks["lines"]:
        told = dict(zip(instants[line["from"] :], accumulate(line["by"]), strict=True))
        for at, value in told.items():
            newest = max(point for point in points[line["name"]] if point[0] <= at)
            assert value == 100 * newest[1]


def test_marks_within_an_hour_have_their_time_below_them() -> None:
    ten = START.timestamp() + 10 * 3_600
    chart = drawn(line_chart([Line("ann", [(ten + 60, 1.0), (ten + 2_700, 5.0)], "c1")], "Profit", "short"))
    assert texts(chart, "axis")[-3:] == ["4 Jan 10:15", "10:30", "10:45"]
    midnight = START.timestamp()
    chart = drawn(line_chart([Line("ann", [(midnight, 1.0), (midnight + 240, 5.0)])], "Profit", "short"))
    assert texts(chart, "axis")[-5:] == ["4 Jan", "00:01", "00:02", "00:03", "00:04"]
    chart = drawn(line_chart([Line("ann", [(ten + 1, 1.0), (ten + 9, 5.0)])], "Profit", "short"))
    assert texts(chart, "axis")[-1] == "4 Jan 2026"


@pytest.mark.parametrize("unit", ["short", "%.0f%", "%+.0f%", "power"])
@pytest.mark.parametrize("reach", [-2.9, 0.0, 0.004, 0.03, 0.7, 1.3, 2.4, 6.0])
def test_each_tick_of_a_chart_says_another_value_and_none_is_rounded_to_it(unit: str, reach: float) -> None:
    chart = drawn(line_chart([Line("ann", [(0.0, 0.0), (60.0, reach)], "c1")], "Profit", unit))
    levels = [text.text or "" for text in chart.iter("text") if text.get("dx") == "-8"]
    assert len(levels) == len(set(levels)) > 2
    ticks = [float(re.sub("[^0-9.−]", "", text).replace("−", "-")) for text in levels]
    if unit == "power":
        assert all(str(tick).strip("0.")[:2] in ("1", "2", "5") for tick in ticks)
        return
    apart = [after - before for before, after in pairwise(ticks)]
    assert apart == pytest.approx([apart[0]] * len(apart))


def test_the_least_evidence_that_is_drawn_is_not_told_as_none() -> None:
    chart = drawn(line_chart([Line("now", [(0.0, -3.0), (60.0, 6.0)], "c1")], "Evidence", "power"))
    marks = json.loads(chart.attrib["data-marks"])
    places = marks["unit"][2]
    assert [value / 10**places for value in accumulate(marks["lines"][0]["by"])] == [0.001, 1e6]


@pytest.mark.parametrize("reach", [0.004, 0.04, 0.4])
def test_no_two_ticks_of_a_gap_say_the_same(reach: float) -> None:
    shown = texts(drawn(gap_chart(reach / 2, 0.0, reach, (HOSTILE, "ann"), ("c2", "c1"))), "axis")
    assert len(set(shown)) == len(shown) == 5
    edges = [reach * step / 8 for step in range(-8, 9)]
    chart = drawn(columns_chart(edges, [1] * 16, "Events", "%+.2f"))
    assert len(list(chart.iter("rect"))) == 16
    levels = texts(chart, "axis")[:2]
    below = texts(chart, "axis")[2:]
    assert levels == ["0", "1"]
    assert len(set(below)) == len(below) == 5


def test_points_of_a_plane_say_whose_they_are() -> None:
    chart = drawn(scatter([("ann", 0.01, 12.5, "c1"), (HOSTILE, -0.02, -3.0, REST)], "Plane", "%+.3f"))
    assert texts(chart, "name") == ["ann"]
    assert {title.text for title in chart.iter("title")} == {
        "ann: +0.010, +12%",
        f"{HOSTILE}: −0.020, −3%",
    }


def test_a_chip_has_the_whole_name_beside_its_end_and_many_of_them_are_folded() -> None:
    lines = [
        Line(f"{'constant' * 5}{place}", [(0.0, 0.0), (1.0, -74.1)], REST, "−74.1%") for place in range(40)
    ]
    chart = drawn(line_chart(lines, "A race", "%+.0f%"))
    chips = [chip for chip in chart.iter("button") if chip.get("data-line")]
    assert [chip.get("title") for chip in chips] == [line.name for line in lines]
    assert all("−74.1%" in "".join(chip.itertext()) for chip in chips)
    assert "24 more" in chart.itertext()


def test_calibration_of_one_agent_says_whose_it_is_where_the_page_does_not() -> None:
    own = diagram([0.7, 0.7, 0.1], [1, 0, 0], np.random.default_rng(1), draws=50)
    named = drawn(calibration_chart([("ann", own, "c1")], "Calibration"))
    assert [chip.get("title") for chip in named.iter("button") if chip.get("data-line")] == ["ann"]
    bare = drawn(calibration_chart([("ann", own, "c1")], "Calibration", is_named=False))
    assert not [chip for chip in bare.iter("button") if chip.get("data-line")]


def test_the_script_of_charts_is_small_and_without_a_dependency() -> None:
    script = (Path(charts.__file__).parent / "assets" / "marks.js").read_text("utf-8")
    assert len(script.encode()) <= 10 * 1_024
    assert "import" not in script
    assert "innerHTML" not in script


@pytest.mark.parametrize("returns", [(0.0, 0.0), (0.5, 2.5)])
def test_ticks_of_a_plane_have_names_of_their_own(returns: tuple[float, float]) -> None:
    spots = [("ann", 0.01, returns[0], "c1"), ("bob", 0.02, returns[1], REST)]
    plane = ET.fromstring(scatter(spots, "Plane", "%+.3f"))
    levels = [text.text for text in plane.iter("text") if (text.text or "").endswith("%")]
    assert levels
    assert len(set(levels)) == len(levels)
