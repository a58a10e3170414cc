"""How well what was called likely came true: a reliability diagram an agent."""

from typing import Any

import altair as alt

from dashboard.drawn.frame import Chart, data, percent
from dashboard.model import Calibration
from dashboard.palette import MARKET, MARKET_DASH, Look
from dashboard.words import count

PANEL = (236, 290)
"""The size of a calibration panel in pixels, title included: one fits a phone, five a desk."""

BIGGEST = 220
"""The area of the largest point of a calibration panel, in square pixels."""


def calibration(agent: Calibration, market: Calibration, look: Look) -> Chart:
    """How often YES came against how likely it was called, with 95% intervals; the price's in grey."""
    most = max((b.count for b in agent.bins), default=1)
    own = _bins(agent, most)
    x = alt.X("forecast:Q", title="Forecast", scale=alt.Scale(domain=[0, 1]), axis=percent())
    y = alt.Y("observed:Q", title="Came true", scale=alt.Scale(domain=[0, 1]), axis=percent())
    diagonal = data([{"forecast": 0, "observed": 0}, {"forecast": 1, "observed": 1}])
    price = data(_bins(market, 1)).encode(x=x, y=y)
    bars = data(own).encode(x=x, y=alt.Y("low:Q", title="Came true"), y2="high:Q")
    dots = data(own).encode(x=x, y=y, size=alt.Size("area:Q", scale=None), tooltip=_of_a_bin())
    said = f"{agent.scored:,} of {count(agent.made, 'forecast')} resolved"
    title = alt.Title(agent.agent, subtitle=said, subtitleColor=MARKET, subtitleFontSize=12)
    return alt.layer(
        diagonal.mark_line(color=MARKET, strokeWidth=1, opacity=0.5).encode(x=x, y=y),
        price.mark_line(color=MARKET, strokeWidth=1.5, strokeDash=list(MARKET_DASH)),
        bars.mark_rule(color=look.colour, strokeWidth=1.5, opacity=0.6),
        dots.mark_point(color=look.colour, filled=True, opacity=1, shape=look.shape),
    ).properties(title=title, width=PANEL[0], height=PANEL[1])


def _bins(of: Calibration, most: int) -> list[dict[str, Any]]:
    return [
        {
            "called": f"{b.low:.0%} to {b.high:.0%}",
            "count": b.count,
            "area": 20 + (BIGGEST - 20) * b.count / most,
            "forecast": b.forecast,
            "observed": b.observed,
            "low": b.observed_low,
            "high": b.observed_high,
        }
        for b in of.bins
    ]


def _of_a_bin() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("called:N", title="Called"),
        alt.Tooltip("count:Q", title="Forecasts", format=","),
        alt.Tooltip("forecast:Q", title="Mean forecast", format=".1%"),
        alt.Tooltip("observed:Q", title="Came true", format=".1%"),
        alt.Tooltip("low:Q", title="95% from", format=".1%"),
        alt.Tooltip("high:Q", title="95% to", format=".1%"),
    ]
