"""Slow direct transcriptions of formulas, a loop a sum: what the fast ones are held against."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

Cell = tuple[str, str, str, float, bool]
"""A forecaster, a question, its stratum, the Brier score, and whether that says how hard the question was."""

CLOSE = 1e-8


def redrawn(cells: Sequence[Cell], rng: random.Random) -> list[Cell]:
    """The cells of questions drawn anew, in each stratum as many as it has, copies named apart."""
    of_question: dict[str, list[Cell]] = defaultdict(list)
    strata: dict[str, dict[str, None]] = defaultdict(dict)
    for cell in cells:
        of_question[cell[1]].append(cell)
        strata[cell[2]][cell[1]] = None
    drawn = []
    for stratum in map(list, strata.values()):
        for copy, question in enumerate(rng.choices(stratum, k=len(stratum))):
            drawn += [(cell[0], f"{question} {copy}", *cell[2:]) for cell in of_question[question]]
    return drawn


def two_way_effects(cells: Sequence[Cell]) -> dict[str, float]:
    """How hard each question was: y = a + b by turns, the means of a given b, then of b given a."""
    fitting = [(who, what, y) for who, what, _, y, fits in cells if fits]
    a: dict[str, float] = defaultdict(float)
    while True:
        b = _means((what, y - a[who]) for who, what, y in fitting)
        better = _means((who, y - b[what]) for who, what, y in fitting)
        moved = max(abs(better[who] - a[who]) for who in better)
        a.update(better)
        if moved < CLOSE:
            return b


def adjusted(cells: Sequence[Cell]) -> dict[str, float]:
    """The difficulty-adjusted Brier score of each forecaster, always 0.5 being 0.25."""
    hard = two_way_effects(cells)
    means = _means((who, y - hard[what]) for who, what, _, y, _ in cells)
    half = sum(0.25 - b for b in hard.values()) / len(hard)
    return {who: mean + 0.25 - half for who, mean in means.items()}


def _means(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, list[float]] = defaultdict(list)
    for key, value in pairs:
        sums[key].append(value)
    return {key: sum(values) / len(values) for key, values in sums.items()}
