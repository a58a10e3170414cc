"""What all charts share: their data inline, their scales by agent, their legend and their quiet lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from dashboard.palette import MARKET, AgentLook

Chart = alt.LayerChart | alt.FacetChart
unchecked = debug_mode(False)
"""Stands over what makes a chart: charts are held against their schema by the tests, not by each page."""


def rule(**at: float) -> alt.Chart:
    """A quiet line where something starts: of no gain, of no skill."""
    ((axis, value),) = at.items()
    line: alt.Chart = data([{axis: value}]).mark_rule(color=MARKET, strokeWidth=1.5)
    return line.encode(**{axis: f"{axis}:Q"})


def percent() -> alt.Axis:
    """An axis of shares, from none to all."""
    return alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelOverlap=True)


def money_axis(count: int, format: str = "$~s", **more: Any) -> alt.Axis:
    """An axis of amounts in short, of which none is $0 and not $0k."""
    none = "datum.value == 0 ? replace(datum.label, 'k', '') : datum.label"
    return alt.Axis(format=format, tickCount=count, labelExpr=none, **more)


def data(rows: list[dict[str, Any]]) -> alt.Chart:
    """A chart of these rows, which travel with it."""
    return alt.Chart(alt.InlineData(values=rows))


def colours(names: Sequence[str], looks: Mapping[str, AgentLook]) -> alt.Scale:
    """Every agent's own colour."""
    return alt.Scale(domain=list(names), range=[looks[name].colour for name in names])


def dashes(names: Sequence[str], looks: Mapping[str, AgentLook]) -> alt.Scale:
    """Every agent's own dash."""
    return alt.Scale(domain=list(names), range=[list(looks[name].dash) for name in names])


def legend() -> alt.Legend:
    """Below the chart, in as many columns as its width has room for."""
    columns = alt.ExprRef("max(2, floor(width / 165))")
    return alt.Legend(title=None, orient="bottom", columns=columns, labelLimit=140, symbolStrokeWidth=2)
