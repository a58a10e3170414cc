"""The charts of a duel: how large the gap is, and how the events spread around it."""

from collections.abc import Sequence
from itertools import pairwise

import altair as alt

from arena.scores.rules.comparisons.duel import Duel
from dashboard.charts.style import Chart, data, rule, unchecked
from dashboard.palette import AgentLook

AXIS = "Brier points"
NAME = 24
"""So much of a name stands beside an axis."""


@unchecked
def gap_line(found: Duel, look: AgentLook) -> Chart:
    """The gap with its interval, and 0, where neither is ahead."""
    row = {"gap": found.gap, "low": found.low, "high": found.high}
    reach = 1.15 * max(abs(value or 0.0) for value in (found.gap, found.low, found.high)) or 0.01
    x = alt.X(
        "gap:Q",
        title=_sides(found.a, found.b),
        scale=alt.Scale(domain=[-reach, reach]),
        axis=alt.Axis(format="+~f", tickCount=6),
    )
    told = [
        alt.Tooltip("gap:Q", title="Gap", format="+.4f"),
        alt.Tooltip("low:Q", title="95% from", format="+.4f"),
        alt.Tooltip("high:Q", title="to", format="+.4f"),
    ]
    dot = data([row]).mark_point(color=look.colour, filled=True, size=160, opacity=1, shape=look.shape)
    layers: list[alt.Chart] = [rule(x=0.0), dot.encode(x=x, tooltip=told)]
    if found.low is not None:
        span = data([row]).mark_rule(color=look.colour, strokeWidth=4, opacity=0.6)
        layers.insert(1, span.encode(x=alt.X("low:Q"), x2="high:Q", tooltip=told))
    return alt.layer(*layers).properties(height=100)


def _sides(right: str, left: str) -> str:
    return f"← {left[:NAME]} closer · {AXIS} · {right[:NAME]} closer →"


@unchecked
def differences(edges: Sequence[float], counts: Sequence[int], one: AgentLook, other: AgentLook) -> Chart:
    """Common events by how much closer one was than the other, in the colour of who was; 0 is an edge.

    Where both have the same colour, those of the other are paler.
    """
    rows = [
        {"low": low, "high": high, "count": count, "for": one.agent if low >= 0 else other.agent}
        for (low, high), count in zip(pairwise(edges), counts, strict=True)
    ]
    sides = alt.Scale(domain=[one.agent, other.agent], range=[one.colour, other.colour])
    pale = alt.Scale(domain=[one.agent, other.agent], range=[1, 0.45 if one.colour == other.colour else 1])
    axis = alt.Axis(format="+~f", tickCount=8, labelOverlap=True)
    bars = (
        data(rows)
        .mark_bar()
        .encode(
            x=alt.X("low:Q", bin="binned", title=_sides(one.agent, other.agent), axis=axis),
            x2="high:Q",
            y=alt.Y("count:Q", title="Events", axis=alt.Axis(tickMinStep=1, tickCount=5)),
            color=alt.Color("for:N", scale=sides, legend=None),
            opacity=alt.Opacity("for:N", scale=pale, legend=None),
            tooltip=[
                alt.Tooltip("low:Q", title="From", format="+.4f"),
                alt.Tooltip("high:Q", title="to", format="+.4f"),
                alt.Tooltip("count:Q", title="Events", format=","),
                alt.Tooltip("for:N", title="Closer"),
            ],
        )
    )
    return alt.layer(bars, rule(x=0.0)).properties(height=260)
