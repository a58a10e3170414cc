"""ForecastBench's leaderboard: every score of every forecaster on both types of question, with intervals.

- Formula: overall is the mean of the two types. Rows are sorted by the overall index. `difficulty` says how
  hard market questions were, `two_way` or `market_brier`, as in `adjusted`; dataset questions are always
  `two_way`.
- Direction: the index, peer, skill and both shares: higher is better; the score: lower.
- Range: that of each rule. `n` counts the questions that a forecaster is scored on.
- Edge cases: a forecaster without questions of one type has None there and overall, and comes last.
  `by="cluster"` draws series or events, see `bootstrap`. `part` says by which index rows are sorted and
  compared, such as `dataset` where there are no markets. Without a `naive` there is no skill.
- Source: seed 004 section 3.4; columns as on the benchmark's leaderboard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arena.scores.rules._columns import Floats, none_for_nan
from arena.scores.rules.forecastbench import intervals
from arena.scores.rules.forecastbench.adjusted_brier import market_brier, score, two_way
from arena.scores.rules.forecastbench.bootstrap import REPLICATES, Unit, replicates
from arena.scores.rules.forecastbench.brier_index import index
from arena.scores.rules.forecastbench.difficulty_sample import NAIVE
from arena.scores.rules.forecastbench.panel import Panel
from arena.scores.rules.forecastbench.peer import peer
from arena.scores.rules.forecastbench.skill import skill

Difficulty = Literal["two_way", "market_brier"]


@dataclass(frozen=True, slots=True)
class ScoreByType:
    """A figure for each type of question, and overall; None where nothing can be said."""

    dataset: float | None
    market: float | None
    overall: float | None


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """How many questions of each type, and in all."""

    dataset: int
    market: int
    overall: int


@dataclass(frozen=True, slots=True)
class ForecastBenchScores:
    """A forecaster's figures: `low` and `high` of its index, `p` against each reference by its name."""

    forecaster: str
    n: QuestionCounts
    score: ScoreByType
    index: ScoreByType
    low: ScoreByType
    high: ScoreByType
    peer: ScoreByType
    skill: ScoreByType
    first: float | None
    top: float | None
    p: dict[str, float | None]


def forecastbench_leaderboard(
    dataset: Panel,
    market: Panel,
    *,
    difficulty: Difficulty = "two_way",
    naive: str | None = NAIVE,
    references: Sequence[str] = (),
    count: int = REPLICATES,
    seed: int = 0,
    by: Unit = "question",
    part: str = "overall",
) -> list[ForecastBenchScores]:
    """The leaderboard, best index of `part` first. Both tables need the same forecasters, see `panel`."""
    is_estimated = difficulty == "two_way"
    parts = (dataset, two_way(dataset)), (market, two_way(market) if is_estimated else market_brier(market))
    drawn = replicates(*parts, np.random.default_rng(seed), count, by)
    sizes = [np.count_nonzero(~np.isnan(panel.brier), axis=1).tolist() for panel in (dataset, market)]
    scores, peers = both(score(parts[0][1]), score(parts[1][1])), both(peer(dataset), peer(market))
    skills = both(*(_skill(panel, naive) for panel in (dataset, market)))
    ends = [intervals.interval(each) for each in (drawn.dataset, drawn.market, drawn.overall)]
    low, high = (np.vstack(each) for each in zip(*ends, strict=True))
    ranked: Floats = getattr(drawn, part)
    first, top = intervals.first(ranked), intervals.top(ranked)
    p = {name: intervals.at_least(ranked, dataset.forecasters.index(name)) for name in references}
    rows = [
        ForecastBenchScores(
            forecaster=name,
            n=QuestionCounts(sizes[0][i], sizes[1][i], sizes[0][i] + sizes[1][i]),
            score=_by_type(scores[:, i]),
            index=_by_type(index(scores[:, i])),
            low=_by_type(low[:, i]),
            high=_by_type(high[:, i]),
            peer=_by_type(peers[:, i]),
            skill=_by_type(skills[:, i]),
            first=none_for_nan(first[i]),
            top=none_for_nan(top[i]),
            p={reference: none_for_nan(shares[i]) for reference, shares in p.items()},
        )
        for i, name in enumerate(dataset.forecasters)
    ]

    def place(row: ForecastBenchScores) -> tuple[bool, float, str]:
        index: float | None = getattr(row.index, part)
        return index is None, -(index or 0), row.forecaster

    return sorted(rows, key=place)


def _skill(panel: Panel, naive: str | None) -> Floats:
    return np.full(len(panel.forecasters), np.nan) if naive is None else skill(panel, naive)


def both(dataset: Floats, market: Floats) -> Floats:
    """Three rows: dataset, market, and the mean of the two."""
    return np.vstack([dataset, market, (dataset + market) / 2])


def _by_type(three: Floats) -> ScoreByType:
    return ScoreByType(*map(none_for_nan, three))
