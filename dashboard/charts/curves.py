"""What accounts have gained, as curves over time."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal

import altair as alt

from arena.record.queries.progress import SettlementCount
from dashboard.charts.style import Chart, colours, dashes, data, legend, money_axis, rule, unchecked
from dashboard.model import PnlPoint, RoundDecision
from dashboard.palette import MARKET, AgentLook

Unit = Literal["dollars", "percent"]
UNITS: dict[Unit, tuple[str, str, str]] = {
    "dollars": ("Profit or loss, $", "$~s", "$,.2f"),
    "percent": ("Profit or loss, % of bankroll", "+,~r", "+,.2f"),
}
"""Each unit's axis title, the format of its axis and that of its tooltips."""
SHORT = timedelta(days=3)
"""A time span whose axis needs hours."""


@unchecked
def pnl_curves(
    points: Sequence[PnlPoint],
    rounds: Sequence[RoundDecision],
    looks: Mapping[str, AgentLook],
    unit: Unit,
    settled: Sequence[SettlementCount] = (),
) -> Chart:
    """A curve for each agent, the start line, a line for each round and a tick for each settlement."""
    title, axis, exact = UNITS[unit]
    rows = [{"agent": p.agent, "at": p.at.isoformat(), "gain": getattr(p, unit)} for p in points]
    names = list(dict.fromkeys(point.agent for point in points))
    picked = alt.selection_point(fields=["agent"], bind="legend", toggle="true", name="picked")
    lines = (
        data(rows)
        .mark_line(strokeWidth=2, point=len({row["at"] for row in rows}) == 1)
        .encode(
            x=alt.X("at:T", title=None, axis=_times(points), scale=alt.Scale(type="utc")),
            y=alt.Y("gain:Q", title=title, axis=money_axis(6, axis)),
            color=alt.Color("agent:N", scale=colours(names, looks), legend=legend()),
            strokeDash=alt.StrokeDash("agent:N", scale=dashes(names, looks), legend=legend()),
            opacity=alt.condition(picked, alt.value(1), alt.value(0.08)),
            tooltip=[
                alt.Tooltip("agent:N", title="Agent"),
                alt.Tooltip("utcmonthdatehoursminutes(at):T", title="At (UTC)", format="%-d %b %H:%M"),
                alt.Tooltip("gain:Q", title=title, format=exact),
            ],
        )
        .add_params(picked)
    )
    return alt.layer(_decided(rounds), _settled(settled), rule(y=0), lines).properties(height=420)


def _times(points: Sequence[PnlPoint]) -> alt.Axis:
    """Days, or hours where the curves are short."""
    span = points[-1].at - points[0].at if points else timedelta()
    form = "%-d %b %H:%M" if span <= SHORT else "%-d %b" if span <= timedelta(days=300) else "%b %Y"
    return alt.Axis(format=form, grid=False, labelOverlap=True)


def _decided(rounds: Sequence[RoundDecision]) -> alt.Chart:
    rows = [{"at": decided.at.isoformat(), "round": decided.number} for decided in rounds]
    tip = [
        alt.Tooltip("round:Q", title="Round"),
        alt.Tooltip("utcyearmonthdate(at):T", title="Decided", format="%-d %b %Y"),
    ]
    ticks: alt.Chart = data(rows).mark_rule(color=MARKET, opacity=0.25, strokeWidth=1)
    return ticks.encode(x=alt.X("at:T", scale=alt.Scale(type="utc")), tooltip=tip)


def _settled(settled: Sequence[SettlementCount]) -> alt.Chart:
    """Triangles along the lower edge, larger where more markets were paid out at once."""
    rows = [{"at": one.at.isoformat(), "markets": one.markets} for one in settled]
    tip = [
        alt.Tooltip("markets:Q", title="Markets settled"),
        alt.Tooltip("utcyearmonthdate(at):T", title="On", format="%-d %b %Y"),
    ]
    size = alt.Size("markets:Q", scale=alt.Scale(range=[25, 110]), legend=None)
    ticks: alt.Chart = data(rows).mark_point(shape="triangle-up", filled=True, color=MARKET, opacity=0.8)
    x = alt.X("at:T", scale=alt.Scale(type="utc"))
    return ticks.encode(x=x, y=alt.value(alt.ExprRef("height - 5")), size=size, tooltip=tip)
