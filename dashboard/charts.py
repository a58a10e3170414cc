"""Every chart: data in, an Altair chart out. Agents look alike in all of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from arena.leaderboard import Row
from dashboard.model import Calibration, Decided, Point
from dashboard.palette import MARKET, MARKET_DASH, Look
from dashboard.words import count

Chart = alt.LayerChart | alt.FacetChart
Unit = Literal["dollars", "percent"]
UNITS: dict[Unit, tuple[str, str, str]] = {
    "dollars": ("Profit or loss, $", "$~s", "$,.2f"),
    "percent": ("Profit or loss, % of bankroll", "+,~r", "+,.2f"),
}
"""Each unit's axis title, the format of its axis and that of its tooltips."""

PANEL = (236, 290)
"""The size of a calibration panel in pixels, title included: one fits a phone, five a desk."""

BIGGEST = 220
"""The area of the largest point of a calibration panel, in square pixels."""


def pnl_curves(
    points: Sequence[Point], rounds: Sequence[Decided], looks: Mapping[str, Look], unit: Unit
) -> Chart:
    """A curve for each agent, the start line, and a tick where each round was decided."""
    title, axis, exact = UNITS[unit]
    rows = [{"agent": p.agent, "at": p.at.isoformat(), "gain": getattr(p, unit)} for p in points]
    names = list(dict.fromkeys(point.agent for point in points))
    picked = alt.selection_point(fields=["agent"], bind="legend", name="picked")
    lines = (
        _data(rows)
        .mark_line(strokeWidth=2, point=len({row["at"] for row in rows}) == 1)
        .encode(
            x=alt.X("at:T", title=None, axis=alt.Axis(format="%-d %b", grid=False, labelOverlap=True)),
            y=alt.Y("gain:Q", title=title, axis=alt.Axis(format=axis, tickCount=6)),
            color=alt.Color("agent:N", scale=_colours(names, looks), legend=_legend()),
            strokeDash=alt.StrokeDash("agent:N", scale=_dashes(names, looks), legend=_legend()),
            opacity=alt.condition(picked, alt.value(1), alt.value(0.1)),
            tooltip=[
                alt.Tooltip("agent:N", title="Agent"),
                alt.Tooltip("at:T", title="At", format="%-d %b %Y"),
                alt.Tooltip("gain:Q", title=title, format=exact),
            ],
        )
        .add_params(picked)
    )
    return alt.layer(_ticks(rounds), _rule(y=0), lines).properties(height=420)


def _ticks(rounds: Sequence[Decided]) -> alt.Chart:
    rows = [{"at": decided.at.isoformat(), "round": decided.number} for decided in rounds]
    tip = [alt.Tooltip("round:Q", title="Round"), alt.Tooltip("at:T", title="Decided", format="%-d %b %Y")]
    ticks: alt.Chart = _data(rows).mark_rule(color=MARKET, opacity=0.25, strokeWidth=1)
    return ticks.encode(x="at:T", tooltip=tip)


def _rule(**at: float) -> alt.Chart:
    """A quiet line where something starts: of no gain, of no skill."""
    ((axis, value),) = at.items()
    line: alt.Chart = _data([{axis: value}]).mark_rule(color=MARKET, strokeWidth=1.5)
    return line.encode(**{axis: f"{axis}:Q"})


def calibration(agent: Calibration, market: Calibration, look: Look) -> Chart:
    """How often YES came against how likely it was called, with 95% intervals; the price's in grey."""
    most = max((b.count for b in agent.bins), default=1)
    own = _bins(agent, most)
    x = alt.X("forecast:Q", title="Forecast", scale=alt.Scale(domain=[0, 1]), axis=_percent())
    y = alt.Y("observed:Q", title="Came true", scale=alt.Scale(domain=[0, 1]), axis=_percent())
    diagonal = _data([{"forecast": 0, "observed": 0}, {"forecast": 1, "observed": 1}])
    price = _data(_bins(market, 1)).encode(x=x, y=y)
    bars = _data(own).encode(x=x, y=alt.Y("low:Q", title="Came true"), y2="high:Q")
    dots = _data(own).encode(x=x, y=y, size=alt.Size("area:Q", scale=None), tooltip=_of_a_bin())
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


def _percent() -> alt.Axis:
    return alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelOverlap=True)


def skill_and_return(rows: Sequence[Row], looks: Mapping[str, Look]) -> Chart:
    """Each agent's skill against its return: are those who forecast well those who earn?"""
    known = [row for row in rows if row.skill is not None and row.return_pct is not None]
    names = [row.agent for row in known]
    data = [{"agent": r.agent, "skill": r.skill, "return": r.return_pct, "events": r.events} for r in known]
    placed = _data(data).encode(
        x=alt.X(
            "skill:Q",
            title="Skill, Brier points better than the price",
            axis=alt.Axis(format="+.2~f", tickCount=8),
        ),
        y=alt.Y("return:Q", title="Return, %", axis=alt.Axis(format="+,~r", tickCount=6)),
        tooltip=[
            alt.Tooltip("agent:N", title="Agent"),
            alt.Tooltip("skill:Q", title="Skill", format="+.4f"),
            alt.Tooltip("return:Q", title="Return, %", format="+,.1f"),
            alt.Tooltip("events:Q", title="Events"),
        ],
    )
    shapes = alt.Scale(domain=names, range=[looks[name].shape for name in names])
    marks = placed.mark_point(filled=True, size=110, opacity=1).encode(
        color=alt.Color("agent:N", scale=_colours(names, looks), legend=_legend()),
        shape=alt.Shape("agent:N", scale=shapes, legend=_legend()),
    )
    return alt.layer(_rule(x=0), _rule(y=0), marks).properties(height=420)


def _data(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _colours(names: Sequence[str], looks: Mapping[str, Look]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[looks[name].colour for name in names])


def _dashes(names: Sequence[str], looks: Mapping[str, Look]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[list(looks[name].dash) for name in names])


def _legend() -> alt.Legend:
    """Below the chart, in as many columns as its width has room for."""
    columns = alt.ExprRef("max(2, floor(width / 165))")
    return alt.Legend(title=None, orient="bottom", columns=columns, labelLimit=140, symbolStrokeWidth=2)
