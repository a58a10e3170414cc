"""Skill against return: are those who forecast well those who earn?"""

from collections.abc import Mapping, Sequence

import altair as alt

from arena.leaderboard import Row
from dashboard.drawn.frame import Chart, colours, data, legend, rule
from dashboard.palette import Look


def skill_and_return(rows: Sequence[Row], looks: Mapping[str, Look]) -> Chart:
    """Each agent's skill against its return: are those who forecast well those who earn?"""
    known = [row for row in rows if row.skill is not None and row.return_pct is not None]
    names = [row.agent for row in known]
    points = [{"agent": r.agent, "skill": r.skill, "return": r.return_pct, "events": r.events} for r in known]
    placed = data(points).encode(
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
        color=alt.Color("agent:N", scale=colours(names, looks), legend=legend()),
        shape=alt.Shape("agent:N", scale=shapes, legend=legend()),
    )
    return alt.layer(rule(x=0), rule(y=0), marks).properties(height=420)
