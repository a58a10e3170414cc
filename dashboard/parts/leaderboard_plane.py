"""Below the leaderboard: every agent's score against its return."""

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from arena.scores.leaderboard import LeaderboardRow
from arena.scores.rules.comparisons.gain import Gain
from dashboard.chart import draw
from dashboard.charts.skill import Spot, skill_and_return, spots_of
from dashboard.palette import AgentLook


def show_all(rows: Iterable[LeaderboardRow], looks: Mapping[str, AgentLook], reading: str) -> None:
    """Over all markets: skill against return, or the score of another reading."""
    of = "skill" if reading == "stated" else reading
    said = "Right of the line beats the price, above it earns money. Luck moves return far more than skill."
    other = "Further right is a better score, above the line earns money."
    _show(spots_of(rows, of), looks, of, said if of == "skill" else other)


def show_part(
    gains: Iterable[Gain], returns: Mapping[str, float | None], looks: Mapping[str, AgentLook]
) -> None:
    """In a part of the season, whose returns nobody knows apart."""
    found = [(gain, gain.skill, returns.get(gain.agent)) for gain in gains]
    spots = [
        Spot(gain.agent, skill, gain.low, gain.high, earned, gain.events)
        for gain, skill, earned in found
        if skill is not None and earned is not None
    ]
    _show(spots, looks, "skill", "Skill in this part; the return is that of the whole season.")


def _show(spots: Sequence[Spot], looks: Mapping[str, AgentLook], of: str, said: str) -> None:
    st.subheader("Skill against return" if of == "skill" else "Score against return", anchor=False)
    known = [spot for spot in spots if spot.agent in looks]
    if known:
        st.caption(said)
        draw(skill_and_return(known, looks, of), says="Skill against return, a point an agent")
    else:
        st.info("It appears with the first resolved market.", icon=":material/hourglass_empty:")
