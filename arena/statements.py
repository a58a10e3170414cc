"""What an agent's statements show by themselves: whether they contradict each other, and whose they are."""

from collections.abc import Sequence

import numpy as np

from arena.belief import stated as probability
from arena.frame import Ints, Stated, of_agent, take
from arena.scoring.stating.blind import Blind, blind
from arena.scoring.stating.coherence import Coherence, coherence
from arena.store.answers import read_answers
from arena.store.frame import Connection
from markets.shapes import Family


def coherence_of(stated: Stated, agent: str, found: Sequence[Family]) -> Coherence:
    """The sure profit against what an agent stated in each round, and against the prices that it saw.

    What it left out was not stated and is no part of it. Outcomes of which one must come true are judged
    as such where it stated all of them, and as some among others where it did not.
    """
    mine = of_agent(stated, agent)
    places = {market: place for place, market in enumerate(mine.markets)}
    family, rung = np.full(len(places), -1), np.zeros(len(places), np.int64)
    for number, one in enumerate(found):
        known = [(places[market], step) for step, market in enumerate(one.market_ids) if market in places]
        for place, step in known:
            family[place], rung[place] = number, step
    mine = take(mine, np.flatnonzero(mine.stated & (family[mine.market] >= 0)))
    return _judged(mine, family[mine.market], rung[mine.market], found)


def _judged(rows: Stated, family: Ints, rung: Ints, found: Sequence[Family]) -> Coherence:
    shapes = np.array([*(one.shape for one in found), "none"], np.str_)
    sizes = np.array([*(len(one.market_ids) for one in found), 0])
    labels = [
        f"cohort {cohort}, round {number}: {found[one].event_id} ({found[one].market_ids[0]} …)"
        for cohort, number, one in zip(rows.cohort, rows.round, family, strict=True)
    ]
    _, group, counts = np.unique(np.array(labels, np.str_), return_inverse=True, return_counts=True)
    shape, missing = shapes[family], counts[group] < sizes[family]
    shape = np.where((shape == "exhaustive") & missing, "exclusive", shape)
    return coherence(probability(rows.forecast), labels, shape, rung, probability(rows.mid))


def blind_of(connection: Connection, agent: str, cohort: int | None = None) -> Blind:
    """An agent's answers before and after it was shown the prices, over all its cohorts or in one."""
    rows = read_answers(connection, agent, cohort)
    return blind(
        probability(rows.before), probability(rows.after), probability(rows.price), rows.outcome, rows.market
    )
