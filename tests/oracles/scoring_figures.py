"""Every figure that seeds 000 and 001 print, worked out by our own rules.

A figure is known by what the file of cases calls it: "die log p=0.05 average", "Q1 A day2".
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from arena.scores.rules import log
from arena.scores.rules.metaculus import baseline, peer
from arena.scores.rules.metaculus.community import median
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion, chance_forecasts
from arena.scores.rules.metaculus.limits import FLOOR, HIGHEST, LOWEST
from arena.scores.rules.metaculus.question_types import OUTSIDE, binary
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod, score
from tests.oracles import seed_001

SHARPEST = 35.0  # the sharpest density that the site takes
BOARDS = {"all days": None, "hidden period only": HiddenPeriod(2, 1.0)}
WEEKS = 52
REVIEW, LATER = 0.20, 0.05
"""Alex is fired at the review in the first week, or at the end of the year."""
STRATEGIES = {"honest": REVIEW + (1 - REVIEW) * LATER, "gaming": 0.99}


def points(chance: float) -> float:
    """Return a yes/no baseline score at an instant."""
    return float(baseline.points(chance))


def peers(chances: Sequence[float]) -> list[float]:
    """Return everyone's peer score, given the probability that each gave to the outcome."""
    forecasts = chance_forecasts([*map(str, range(len(chances)))], np.zeros(len(chances)), chances)
    found: list[float] = peer.score(MetaculusQuestion(0, 1, 1), forecasts).score.tolist()
    return found


def naive(p: float, six: bool) -> float:
    """Return the naive score of a forecast that a die shows six."""
    return p if six else 1 - p


def logarithmic(p: float, six: bool) -> float:
    """Return the log score of the same."""
    return float(log.each([p], [six])[0])


def die(rule: str, p: str, case: str) -> float:
    """Return a cell of the die's table: a forecast of six scored by one face, or on average."""
    scored = {"naive": naive, "log": logarithmic}[rule]
    if case == "average":
        return (scored(float(p), True) + 5 * scored(float(p), False)) / 6
    return scored(float(p), case == "outcome=6")


def step(what: str) -> float:
    """Return what it gains or costs to go from 99% to 99.9%."""
    if what == "gain 99->99.9 right":
        return logarithmic(0.999, True) - logarithmic(0.99, True)
    return logarithmic(0.999, False) - logarithmic(0.99, False)


def limit(rule: str, end: str, kind: str) -> float:
    """Return the best and the worst score that the site's limits allow."""
    best = end == "best"
    if rule == "peer":
        ends = (SHARPEST, FLOOR) if kind == "continuous" else (HIGHEST, LOWEST)
        return peers(ends)[0 if best else 1] * (0.5 if kind == "continuous" else 1)
    if kind == "continuous":
        return float(baseline.points(*((SHARPEST, 1 - 2 * OUTSIDE) if best else (FLOOR, 1.0)), 2.0))
    options = 8 if kind.startswith("MC-8") else 2
    return float(baseline.points(HIGHEST if best else LOWEST, 1 / options, np.log(options)))


def example(name: str) -> float:
    """Return the peer scores of three forecasters, as printed without the factor of 100."""
    scores = peers([float(np.exp(x)) for x in (-1, 1, 2)])
    found = dict(zip(("Alex", "Bailey", "Cory"), scores, strict=True))
    return (sum(scores) if name == "sum" else found[name]) / 100


def five_days(day: str) -> float:
    """Return the score of 40% on the second day, 70% on the third and fourth, 80% on the fifth."""
    said = binary(["a", "a", "a"], [1, 2, 4], [0.4, 0.7, 0.8], outcome=True)
    if day == "average":
        return float(baseline.score(MetaculusQuestion(0, 5, 5), said).score.sum())
    return float(
        baseline.spot(MetaculusQuestion(0, 5, 5, float(day.removeprefix("day")) - 0.5), said).score.sum()
    )


def expected(p: str, case: str) -> float:
    """Return the expected score of p where 80% is true."""
    yes = points(float(p))
    no = points(1 - float(p))
    return {"yes": yes, "no": no, "exp": 0.8 * yes + 0.2 * no}[case]


def fired(strategy: str, case: str) -> float:
    """Return Alex's score: one forecast for week 1, then 5%; "avg" is its expectation."""
    case, _, truncated = case.partition(", ")
    first = STRATEGIES[strategy]
    if case == "avg":
        cases = ("fired now" + f", {truncated}", "fired end", "not fired")
        chances = (REVIEW, (1 - REVIEW) * LATER, (1 - REVIEW) * (1 - LATER))
        return sum(chance * fired(strategy, one) for chance, one in zip(chances, cases, strict=True))
    closes = 1 if case == "fired now" else WEEKS
    life = closes if truncated != "trunc" else WEEKS
    said = binary(["a", "a"], [0, 1], [first, LATER], outcome=case != "not fired")
    return float(baseline.score(MetaculusQuestion(0, closes, life), said).score.sum())


def of_question(number: str, name: str, what: str) -> float:
    """Return a cell of seed 001: a day's median or score, a question's score or coverage."""
    table = seed_001.TABLES[int(number)]
    said = seed_001.forecasts_of(table)
    if what.startswith("day"):
        return _of_day(said, table, name, int(what.removeprefix("day")) - 1)
    found = seed_001.scored(table)
    if name not in found.forecaster:
        return 0.0
    return found.of(name)[0 if what == "question score" else 1]


def _of_day(said: Forecasts, table: seed_001.Days, name: str, day: int) -> float:
    if name == "median":
        steps = median(said)
        return float(np.exp(steps.level[steps.time == day][0]))
    own = score(seed_001.question_of(table), said).score[(said.forecaster == name) & (said.start == day)]
    return float(own.sum() * seed_001.LENGTH)


def of_board(rule: str, name: str, what: str) -> float:
    """Return a cell of the two leaderboards of seed 001."""
    places = seed_001.tournament(BOARDS[rule]).places
    if name == "total":
        return sum(line.take for line in places)
    (line,) = (line for line in places if line.forecaster == name)
    return float(getattr(line, "share" if what == "%prize" else what))


FIGURES: dict[str, Callable[..., float]] = {
    r"die (naive|log) p=([\d.]+) (outcome!?=6|average)": die,
    r"log (\.\d+)": lambda p: logarithmic(float(p), True),
    r"((?:gain|loss) 99->99.9 (?:right|wrong))": step,
    r"(baseline|peer) (best|worst) (binary|continuous|MC-8.*)": limit,
    r"peer example (\w+)": example,
    r"days table (day\d|average)": five_days,
    r"expected table p=([\d.]+) (yes|no|exp)": expected,
    r"trunc p this week": lambda: STRATEGIES["honest"],
    r"(honest|gaming) (.*)": fired,
    r"Q(\d) (\w+) (day\d|question score|coverage)": of_question,
    r"leaderboard\[(.*)\] (\w+) ([%\w]+)": of_board,
    r"(A) tournament (\w+)": lambda name, what: of_board("all days", name, what),
    r"twice the coverage ~ twice the bot's take": lambda: 2 * of_board("all days", "bot", "take"),
}


def figure(what: str) -> float:
    """Return the figure of that name."""
    for pattern, worked_out in FIGURES.items():
        if matched := re.fullmatch(pattern, what):
            return worked_out(*matched.groups())
    raise ValueError(f"no figure is called {what!r}")
