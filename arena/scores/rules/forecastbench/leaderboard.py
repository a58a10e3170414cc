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

from arena.scores.rules._columns import Floats, highest_first, none_for_nan
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
    """A figure for each type of question, and overall; None if undefined."""

    dataset: float | None
    market: float | None
    overall: float | None


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """The number of questions of each type, and in all."""

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
    """Return the leaderboard, best index of `part` first.

    Both tables need the same forecasters, see `panel`.
    """
    dataset_table = two_way(dataset)
    market_table = two_way(market) if difficulty == "two_way" else market_brier(market)
    chance = np.random.default_rng(seed)
    drawn = replicates((dataset, dataset_table), (market, market_table), chance, count, by)

    scores = stack_with_mean(score(dataset_table), score(market_table))
    indices = index(scores)
    peers = stack_with_mean(peer(dataset), peer(market))
    skills = stack_with_mean(_skill_or_nan(dataset, naive), _skill_or_nan(market, naive))
    interval_ends = [intervals.interval(values) for values in (drawn.dataset, drawn.market, drawn.overall)]
    # A row of each for every type, with a column for each forecaster.
    low, high = np.stack(interval_ends, axis=1)

    ranked_draws: Floats = getattr(drawn, part)
    first = intervals.share_first(ranked_draws)
    top = intervals.share_on_top(ranked_draws)
    p_values = {}
    for reference in references:
        p_values[reference] = intervals.share_at_least(ranked_draws, dataset.forecasters.index(reference))

    counts = _question_counts(dataset, market)
    rows = []
    for place, name in enumerate(dataset.forecasters):
        row = ForecastBenchScores(
            forecaster=name,
            n=counts[place],
            score=_score_by_type(scores[:, place]),
            index=_score_by_type(indices[:, place]),
            low=_score_by_type(low[:, place]),
            high=_score_by_type(high[:, place]),
            peer=_score_by_type(peers[:, place]),
            skill=_score_by_type(skills[:, place]),
            first=none_for_nan(first[place]),
            top=none_for_nan(top[place]),
            p={reference: none_for_nan(shares[place]) for reference, shares in p_values.items()},
        )
        rows.append(row)

    def order(row: ForecastBenchScores) -> tuple[float, str]:
        return highest_first(getattr(row.index, part)), row.forecaster

    return sorted(rows, key=order)


def _question_counts(dataset: Panel, market: Panel) -> list[QuestionCounts]:
    """Return the numbers of questions that each forecaster answered."""
    answered = [np.count_nonzero(~np.isnan(panel.brier), axis=1) for panel in (dataset, market)]
    columns = [*answered, sum(answered)]
    return [QuestionCounts(*counts) for counts in np.transpose(columns).tolist()]


def _skill_or_nan(panel: Panel, naive: str | None) -> Floats:
    """Return the skill of each forecaster; NaN without a naive one."""
    if naive is None:
        return np.full(len(panel.forecasters), np.nan)
    return skill(panel, naive)


def stack_with_mean(dataset: Floats, market: Floats) -> Floats:
    """Return three rows: dataset, market, and the mean of the two."""
    return np.vstack([dataset, market, (dataset + market) / 2])


def _score_by_type(dataset_market_overall: Floats) -> ScoreByType:
    """Return a figure for each type and overall."""
    return ScoreByType(*map(none_for_nan, dataset_market_overall))
