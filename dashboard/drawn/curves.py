"""What accounts have gained, as curves over time."""

from collections.abc import Mapping, Sequence
from typing import Literal

import altair as alt

from dashboard.drawn.frame import Chart, colours, dashes, data, legend, rule
from dashboard.model import Decided, Point
from dashboard.palette import MARKET, Look

Unit = Literal["dollars", "percent"]
UNITS: dict[Unit, tuple[str, str, str]] = {
    "dollars": ("Profit or loss, $", "$~s", "$,.2f"),
    "percent": ("Profit or loss, % of bankroll", "+,~r", "+,.2f"),
}
"""Each unit's axis title, the format of its axis and that of its tooltips."""


def pnl_curves(
    points: Sequence[Point], rounds: Sequence[Decided], looks: Mapping[str, Look], unit: Unit
) -> Chart:
    """A curve for each agent, the start line, and a tick where each round was decided."""
    title, axis, exact = UNITS[unit]
    rows = [{"agent": p.agent, "at": p.at.isoformat(), "gain": getattr(p, unit)} for p in points]
    names = list(dict.fromkeys(point.agent for point in points))
    picked = alt.selection_point(fields=["agent"], bind="legend", name="picked")
    lines = (
        data(rows)
        .mark_line(strokeWidth=2, point=len({row["at"] for row in rows}) == 1)
        .encode(
            x=alt.X("at:T", title=None, axis=alt.Axis(format="%-d %b", grid=False, labelOverlap=True)),
            y=alt.Y("gain:Q", title=title, axis=alt.Axis(format=axis, tickCount=6)),
            color=alt.Color("agent:N", scale=colours(names, looks), legend=legend()),
            strokeDash=alt.StrokeDash("agent:N", scale=dashes(names, looks), legend=legend()),
            opacity=alt.condition(picked, alt.value(1), alt.value(0.1)),
            tooltip=[
                alt.Tooltip("agent:N", title="Agent"),
                alt.Tooltip("at:T", title="At", format="%-d %b %Y"),
                alt.Tooltip("gain:Q", title=title, format=exact),
            ],
        )
        .add_params(picked)
    )
    return alt.layer(_ticks(rounds), rule(y=0), lines).properties(height=420)


def _ticks(rounds: Sequence[Decided]) -> alt.Chart:
    rows = [{"at": decided.at.isoformat(), "round": decided.number} for decided in rounds]
    tip = [alt.Tooltip("round:Q", title="Round"), alt.Tooltip("at:T", title="Decided", format="%-d %b %Y")]
    ticks: alt.Chart = data(rows).mark_rule(color=MARKET, opacity=0.25, strokeWidth=1)
    return ticks.encode(x="at:T", tooltip=tip)
