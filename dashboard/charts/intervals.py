"""The skill of every agent as a point with its interval, on a line each."""

from collections.abc import Mapping, Sequence

import altair as alt

from arena.scores.leaderboard import LeaderboardRow
from dashboard.charts.style import Chart, colours, data, rule, unchecked
from dashboard.palette import AgentLook

ROW = 26
"""Pixels a line."""


@unchecked
def skill_intervals(rows: Sequence[LeaderboardRow], looks: Mapping[str, AgentLook]) -> Chart:
    """A point, and a bar from the low end of the skill to the high one; right of the line beats the price."""
    known = [row for row in rows if row.skill is not None]
    names = [row.agent for row in known]
    placed = [{"agent": r.agent, "skill": r.skill, "low": r.skill_low, "high": r.skill_high} for r in known]
    sure = [one for one in placed if one["low"] is not None]
    title = "Skill, Brier points better than the price, with 95% interval"
    y = alt.Y("agent:N", sort=names, title=None, axis=alt.Axis(labelLimit=200, ticks=False))
    colour = alt.Color("agent:N", scale=colours(names, looks), legend=None)
    shapes = alt.Scale(domain=names, range=[looks[name].shape for name in names])
    bars = (
        data(sure)
        .mark_rule(strokeWidth=3, opacity=0.5)
        .encode(
            x=alt.X("low:Q", title=title, axis=alt.Axis(format="+~f", tickCount=8)),
            x2="high:Q",
            y=y,
            color=colour,
        )
    )
    points = (
        data(placed)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=alt.X("skill:Q", title=title),
            y=y,
            color=colour,
            shape=alt.Shape("agent:N", scale=shapes, legend=None),
        )
    )
    return alt.layer(rule(x=0), bars, points).properties(height=ROW * max(len(known), 1))
