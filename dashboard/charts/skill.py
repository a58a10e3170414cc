"""Skill against return: are those who forecast well those who earn?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from arena.scores.leaderboard import LeaderboardRow
from dashboard.charts.style import Chart, colours, data, legend, rule, unchecked
from dashboard.palette import AgentLook

AXES = {
    "skill": "Skill: Brier points better than the price",
    "anchored": "Brier score, anchored reading (better to the right)",
    "implied": "Brier score, implied reading (better to the right)",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """An agent in the plane: its score, the interval around it where there is one, its return, its events."""

    agent: str
    score: float
    low: float | None
    high: float | None
    gain: float
    events: int


def spots_of(rows: Iterable[LeaderboardRow], of: str = "skill") -> list[Spot]:
    """The agents that have a score and a return."""
    found = list[Spot]()
    for row in rows:
        score: float | None = row.skill if of == "skill" else getattr(row, f"brier_{of}")
        if score is not None and row.return_pct is not None:
            found.append(Spot(row.agent, score, row.skill_low, row.skill_high, row.return_pct, row.events))
    return found


@unchecked
def skill_and_return(spots: Sequence[Spot], looks: Mapping[str, AgentLook], of: str = "skill") -> Chart:
    """Each agent's score against its return, with its interval; better stands further to the right."""
    names = [spot.agent for spot in spots]
    rows = [
        {
            "agent": s.agent,
            "score": s.score,
            "low": s.low,
            "high": s.high,
            "return": s.gain,
            "events": s.events,
        }
        for s in spots
    ]
    is_skill = of == "skill"
    form = "+~f" if is_skill else "~f"
    x = alt.X(
        "score:Q",
        title=AXES[of],
        axis=alt.Axis(format=form, tickCount=8),
        scale=alt.Scale(reverse=not is_skill, zero=is_skill),
    )
    y = alt.Y("return:Q", title="Return, %", axis=alt.Axis(format="+,~r", tickCount=6))
    colour = alt.Color("agent:N", scale=colours(names, looks), legend=legend())
    shapes = alt.Scale(domain=names, range=[looks[name].shape for name in names])
    marks = (
        data(rows)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("agent:N", scale=shapes, legend=legend()),
            tooltip=_told(of),
        )
    )
    whiskers = data([row for row in rows if row["low"] is not None]).mark_rule(strokeWidth=1.5, opacity=0.5)
    spans = (
        [whiskers.encode(x=alt.X("low:Q", title=AXES[of]), x2="high:Q", y=y, color=colour)]
        if is_skill
        else []
    )
    lines = [rule(x=0)] if is_skill else []
    return alt.layer(*lines, rule(y=0), *spans, marks).properties(height=420)


def _told(of: str) -> list[alt.Tooltip]:
    skill = of == "skill"
    ends = [
        alt.Tooltip("low:Q", title="95% from", format="+.4f"),
        alt.Tooltip("high:Q", title="95% to", format="+.4f"),
    ]
    return [
        alt.Tooltip("agent:N", title="Agent"),
        alt.Tooltip("score:Q", title="Skill" if skill else "Brier score", format="+.4f" if skill else ".4f"),
        *(ends if skill else []),
        alt.Tooltip("return:Q", title="Return, %", format="+,.1f"),
        alt.Tooltip("events:Q", title="Events"),
    ]
