"""The charts of an agent's page: data in, an Altair chart out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import altair as alt

from arena.errors import times_text
from arena.scores.comparisons import p_value_text
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.money.profit_split import ProfitSplit
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from arena.scores.slices import Slice
from dashboard.charts.style import Chart, data, money_axis, percent, rule, unchecked
from dashboard.model import PnlPoint
from dashboard.palette import MARKET, AgentLook
from dashboard.thin import thin
from dashboard.words import gained
from markets.millionths import ONE

PANEL = (310, 340)
"""The size of a reliability diagram in pixels, title included: one fits a phone, three a desk."""
DOTS = 60
"""The most points of a reliability diagram that are drawn."""
UP, DOWN = "#0072B2", "#D55E00"
"""Money made and money lost, told apart without colour vision."""
ROW = 30
"""The height of a line of a chart that has a line for each thing, in pixels."""
PARTS = (
    ("edge", "Edge", "What its stakes should earn at the mid, for as much of its claims as came true."),
    ("spread", "Spread", "What it paid over the mid, or got below it."),
    ("fee", "Fees", "Of the venue."),
    ("sizing", "Sizing", "Staking more or less than a quarter of Kelly's stake on its own word."),
    ("exit", "Selling early", "What selling brought beside holding on."),
    ("luck", "Luck", "What is left: what happened, less what was to be expected."),
)
"""The parts of a profit, in the order in which they are told."""


@unchecked
def profit_curve(points: Sequence[PnlPoint], band: Luck | None, look: AgentLook) -> Chart:
    """What all accounts had made over time; at its end what luck alone would make of 95 seasons in 100."""
    x = alt.X(
        "at:T",
        title=None,
        scale=alt.Scale(padding=10),
        axis=alt.Axis(format="%-d %b", grid=False, labelOverlap=True),
    )
    y = alt.Y("gain:Q", title="Profit or loss, $", axis=money_axis(6))
    told = [
        alt.Tooltip("at:T", title="At", format="%-d %b %Y"),
        alt.Tooltip("gain:Q", title="Profit or loss, $", format="$,.2f"),
        alt.Tooltip("percent:Q", title="% of its bankrolls", format="+,.2f"),
    ]
    rows = [{"at": p.at.isoformat(), "gain": p.dollars, "percent": p.percent} for p in points]
    line = data(rows).mark_line(strokeWidth=2, color=look.colour, point=len(rows) == 1)
    layers = [rule(y=0), line.encode(x=x, y=y, tooltip=told)]
    if band is not None and band.low is not None and band.high is not None and rows:
        layers.insert(1, _luck(points[-1].at.isoformat(), band))
    return alt.layer(*layers).properties(height=340)


def _luck(at: str, band: Luck) -> alt.Chart:
    row = {"at": at, "low": (band.low or 0) / ONE, "high": (band.high or 0) / ONE, "mean": band.mean / ONE}
    said = [
        alt.Tooltip("low:Q", title="By luck alone, from", format="$,.2f"),
        alt.Tooltip("high:Q", title="to", format="$,.2f"),
        alt.Tooltip("mean:Q", title="on average", format="$,.2f"),
    ]
    bar: alt.Chart = data([row]).mark_rule(strokeWidth=10, opacity=0.45, color=MARKET)
    return bar.encode(x="at:T", y=alt.Y("low:Q", title="Profit or loss, $"), y2="high:Q", tooltip=said)


DRAWN = (1e-3, 1e6)
"""Between these evidence is drawn; what lies beyond stands at the edge."""


@unchecked
def evidence_curve(points: Sequence[tuple[float, float]], bar: float, look: AgentLook) -> Chart:
    """The capital over time, on a log scale, with a line at the bar."""
    rows = [
        {
            "at": datetime.fromtimestamp(at, UTC).isoformat(),
            "capital": min(max(capital, DRAWN[0]), DRAWN[1]),
            "exact": times_text(capital),
        }
        for at, capital in points
    ]
    x = alt.X("at:T", title=None, axis=alt.Axis(format="%-d %b", grid=False, labelOverlap=True))
    powers = [10.0**power for power in range(-3, 7)]
    axis = alt.Axis(values=powers, labelExpr="'×' + format(datum.value, ',~r')", labelOverlap=True)
    y = alt.Y("capital:Q", title="Evidence", scale=alt.Scale(type="log"), axis=axis)
    told = [
        alt.Tooltip("at:T", title="At", format="%-d %b %Y"),
        alt.Tooltip("exact:N", title="Evidence"),
    ]
    line = data(rows).mark_line(
        strokeWidth=2, color=look.colour, interpolate="step-after", point=len(rows) == 1
    )
    wanted = data([{"capital": bar, "said": f"bar {times_text(bar)}"}])
    return alt.layer(
        wanted.mark_rule(color=MARKET, strokeWidth=1.5, strokeDash=[6, 4]).encode(y=y),
        wanted.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=MARKET).encode(
            x=alt.value(0), y=y, text="said:N"
        ),
        line.encode(x=x, y=y, tooltip=told),
    ).properties(height=260)


@unchecked
def reliability(found: ReliabilityDiagram, title: str, look: AgentLook) -> Chart:
    """How often YES came against how likely it was called, and the band in which chance alone would lie."""
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("forecast:Q", title="Forecast", scale=scale, axis=percent())
    y = alt.Y("came:Q", title="Came true", scale=scale, axis=percent())
    told = [
        alt.Tooltip("forecast:Q", title="Forecast", format=".1%"),
        alt.Tooltip("came:Q", title="Came true, smoothed", format=".1%"),
        alt.Tooltip("observed:Q", title="Came true, of these alone", format=".1%"),
        alt.Tooltip("rows:Q", title="Forecasts", format=","),
        alt.Tooltip("low:Q", title="Chance alone: from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    diagonal = data([{"forecast": 0, "came": 0}, {"forecast": 1, "came": 1}])
    own = alt.Chart()
    said = alt.Title(title, subtitle=_parts(found), subtitleColor=MARKET, subtitleFontSize=12)
    return alt.layer(
        own.mark_area(color=MARKET, opacity=0.22).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        diagonal.mark_line(color=MARKET, strokeWidth=1, opacity=0.6).encode(x=x, y=y),
        own.mark_line(color=look.colour, strokeWidth=1.5).encode(x=x, y=y),
        own.mark_point(color=look.colour, filled=True, size=22, opacity=1).encode(x=x, y=y, tooltip=told),
        data=alt.InlineData(values=_of_a_diagram(found)),
    ).properties(title=said, width=PANEL[0], height=PANEL[1])


def _of_a_diagram(found: ReliabilityDiagram) -> list[dict[str, Any]]:
    """The points that are drawn: no more than can be told apart, the first and the last among them."""
    return [
        {
            "forecast": p.forecast,
            "rows": p.rows,
            "came": p.recalibrated,
            "observed": p.observed,
            "low": p.low,
            "high": p.high,
        }
        for p in thin(found.points, DOTS)
    ]


def _parts(found: ReliabilityDiagram) -> str:
    own, null = found.parts.miscalibration, found.null
    return f"off by {own:.4f}, {p_value_text(null.p_value)}"


@unchecked
def histogram(counts: Sequence[int], look: AgentLook) -> alt.Chart:
    """How often it stated which probability, in bins of equal width."""
    width = 1 / max(len(counts), 1)
    rows = [
        {"low": place * width, "high": (place + 1) * width, "count": count}
        for place, count in enumerate(counts)
    ]
    told = [
        alt.Tooltip("low:Q", title="From", format=".0%"),
        alt.Tooltip("high:Q", title="to", format=".0%"),
        alt.Tooltip("count:Q", title="Forecasts", format=","),
    ]
    chart: alt.Chart = (
        data(rows)
        .mark_bar(color=look.colour, opacity=0.85)
        .encode(
            x=alt.X(
                "low:Q",
                bin="binned",
                title="Stated probability of YES",
                scale=alt.Scale(domain=[0, 1]),
                axis=percent(),
            ),
            x2="high:Q",
            y=alt.Y("count:Q", title="Forecasts", axis=alt.Axis(tickCount=4, tickMinStep=1)),
            tooltip=told,
        )
    )
    return chart.properties(height=200)


@unchecked
def skill_in_parts(found: Sequence[Slice], look: AgentLook) -> Chart:
    """Its skill on each part with the interval; hollow where there are too few events for one."""
    rows = [
        {
            "part": one.slice,
            "skill": one.gain.skill,
            "low": one.gain.low,
            "high": one.gain.high,
            "sure": one.gain.low is not None,
            "markets": one.gain.markets,
            "events": one.gain.events,
        }
        for one in found
    ]
    names = [one.slice for one in found]
    y = alt.Y("part:N", title=None, sort=names, axis=alt.Axis(labelLimit=130))
    x = alt.X(
        "skill:Q",
        title="Skill, Brier points better than the price",
        axis=alt.Axis(format="+.3~f", tickCount=6, labelOverlap=True),
    )
    told = [
        alt.Tooltip("part:N", title="Part"),
        alt.Tooltip("skill:Q", title="Skill", format="+.4f"),
        alt.Tooltip("low:Q", title="95% from", format="+.4f"),
        alt.Tooltip("high:Q", title="to", format="+.4f"),
        alt.Tooltip("events:Q", title="Events", format=","),
        alt.Tooltip("markets:Q", title="Markets", format=","),
    ]
    spans = data([row for row in rows if row["sure"]]).mark_rule(color=look.colour, strokeWidth=2)
    full = alt.condition("datum.sure", alt.value(1), alt.value(0))
    dots = data(rows).mark_point(color=look.colour, fill=look.colour, size=80, shape=look.shape, opacity=1)
    return alt.layer(
        rule(x=0),
        spans.encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        dots.encode(x=x, y=y, fillOpacity=full, tooltip=told),
    ).properties(height=ROW * max(len(rows), 2) + 20)


@unchecked
def waterfall(found: ProfitSplit) -> Chart:
    """The parts of a profit, each starting where the one before it ended, and their sum."""
    rows, total = list[dict[str, Any]](), 0
    for key, label, _ in PARTS:
        amount = getattr(found, key)
        rows.append(_step(label, total, total + amount))
        total += amount
    rows.append(_step("P/L", 0, found.pnl))
    y = alt.Y("part:N", title=None, sort=[row["part"] for row in rows])
    x = alt.X("start:Q", title="Dollars", axis=money_axis(5))
    kinds = alt.Scale(domain=["made", "lost", "in all"], range=[UP, DOWN, MARKET])
    told = [
        alt.Tooltip("part:N", title="Part"),
        alt.Tooltip("amount:Q", title="Dollars", format="+$,.2f"),
    ]
    colour = alt.Color("kind:N", scale=kinds, legend=None)
    bars = data(rows).mark_bar(height=18).encode(x=x, x2="end:Q", y=y, color=colour, tooltip=told)
    words = data(rows).mark_text(align="left", dx=5, color=MARKET, fontSize=12)
    said = words.encode(x=alt.X("right:Q", title="Dollars"), y=y, text="said:N", tooltip=told)
    return alt.layer(bars, said, rule(x=0)).properties(height=ROW * len(rows) + 20)


def _step(part: str, start: int, end: int) -> dict[str, Any]:
    kind = "in all" if part == "P/L" else "made" if end >= start else "lost"
    ends = {"start": start / ONE, "end": end / ONE, "right": max(start, end) / ONE}
    return {"part": part, **ends, "amount": (end - start) / ONE, "said": gained(end - start), "kind": kind}
