"""How likely what was called likely came true, and what chance alone would draw: a diagram an agent."""

from typing import Any

import altair as alt

from arena.scores.comparisons import p_value_text
from arena.scores.profiles.calibrations import ForecasterCalibration
from dashboard.charts.style import Chart, data, percent, unchecked
from dashboard.palette import MARKET, MARKET_DASH, AgentLook
from dashboard.words import count

PANEL = (236, 300)
"""The size of a calibration panel in pixels, title included: one fits a phone, five a desk."""
BIGGEST = 160
"""The area of the largest point of a calibration panel, in square pixels."""


@unchecked
def calibration(agent: ForecasterCalibration, market: ForecasterCalibration, look: AgentLook) -> Chart:
    """How often YES came against how likely it was called; shaded what chance makes of one who is right."""
    own = _points(agent)
    x = alt.X("forecast:Q", title="Forecast", scale=alt.Scale(domain=[0, 1]), axis=percent())
    y = alt.Y("came:Q", title="Came true", scale=alt.Scale(domain=[0, 1]), axis=percent())
    diagonal = data([{"forecast": 0, "came": 0}, {"forecast": 1, "came": 1}]).encode(x=x, y=y)
    chance = data(own).encode(x=x, y=alt.Y("low:Q", title="Came true"), y2="high:Q")
    price = data(_points(market)).encode(x=x, y=y)
    line = data(own).encode(x=x, y=y)
    dots = line.encode(size=alt.Size("area:Q", scale=None), tooltip=_of_a_point())
    return alt.layer(
        chance.mark_area(color=look.colour, opacity=0.18),
        diagonal.mark_line(color=MARKET, strokeWidth=1, opacity=0.5),
        price.mark_line(color=MARKET, strokeWidth=1.5, strokeDash=list(MARKET_DASH)),
        line.mark_line(color=look.colour, strokeWidth=1.5),
        dots.mark_point(color=look.colour, filled=True, opacity=1, shape=look.shape),
    ).properties(title=_title(agent), width=PANEL[0], height=PANEL[1])


def _title(agent: ForecasterCalibration) -> alt.Title:
    said = [f"{agent.scored:,} of {count(agent.made, 'forecast')} resolved"]
    if agent.scored:
        null = agent.diagram.null
        off = f"off by {agent.diagram.parts.miscalibration:.3f}"
        said.append(f"{off}, by chance {null.expected:.3f} ({p_value_text(null.p_value)})")
    return alt.Title(
        agent.agent, subtitle=said, subtitleColor=MARKET, subtitleFontSize=12, limit=PANEL[0] - 10
    )


def _points(of: ForecasterCalibration) -> list[dict[str, Any]]:
    most = max((point.weight for point in of.diagram.points), default=1.0)
    return [
        {
            "rows": point.rows,
            "area": 12 + (BIGGEST - 12) * point.weight / most,
            "forecast": point.forecast,
            "came": point.recalibrated,
            "low": point.low,
            "high": point.high,
        }
        for point in of.diagram.points
    ]


def _of_a_point() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("forecast:Q", title="Called", format=".1%"),
        alt.Tooltip("came:Q", title="Came true", format=".1%"),
        alt.Tooltip("rows:Q", title="Forecasts of just this", format=","),
        alt.Tooltip("low:Q", title="By chance from", format=".1%"),
        alt.Tooltip("high:Q", title="By chance to", format=".1%"),
    ]
