"""How our rules are played on the questions, tournaments and small formulas of a file of cases."""

from typing import Any

import numpy as np

from arena.scores.rules.metaculus import baseline, community, peer, relative, tournament
from arena.scores.rules.metaculus._timeline import Steps
from arena.scores.rules.metaculus.forecasts import (
    Forecasts,
    ForecastScores,
    MetaculusQuestion,
    Totals,
    chance_forecasts,
    total_by_forecaster,
)
from arena.scores.rules.metaculus.question_types import OUTSIDE, binary, continuous, multiple_choice
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod
from tests.oracles import seed_001

Found = dict[str, Any]

SCORES = {
    "baseline": baseline.score,
    "spot_baseline": baseline.spot,
    "peer": peer.score,
    "spot_peer": peer.spot,
}


def question_of(given: Found) -> MetaculusQuestion:
    """Return the question of a case."""
    opened, closed, scheduled = (
        given[f"{name}_time"] for name in ("open", "actual_close", "scheduled_close")
    )
    return MetaculusQuestion(opened, closed, scheduled, given.get("spot_time"))


def forecasts_of(given: Found) -> Forecasts:
    """Return the forecasts of a case, for any kind of question."""
    rows = given["forecasts"]
    outcome = given["resolution_bucket"]
    names = [row["forecaster"] for row in rows]
    starts = [row["start"] for row in rows]
    ends = np.array([row["end"] for row in rows], dtype=float)
    base = np.isin(names, given["base_forecasters"]) if "base_forecasters" in given else None
    if given["question_type"] == "binary":
        yes = [row["pmf"][1] for row in rows]
        return binary(names, starts, yes, outcome == 1, ends, base)
    if given["question_type"] == "multiple_choice":
        options = np.array([row["pmf"] for row in rows], dtype=float)
        return multiple_choice(names, starts, options, outcome, ends, base)
    cdfs = [row["cdf"] for row in rows]
    return continuous(names, starts, cdfs, outcome, given["open_bounds_count"], ends, base)


def question(given: Found) -> Found:
    """Return all scores of a question as the site has them."""
    asked = question_of(given)
    forecasts = forecasts_of(given)
    found = {name: rule(asked, forecasts, "metaculus") for name, rule in SCORES.items()}
    return {
        "per_forecast": {name: _rows(scores) for name, scores in found.items()},
        "per_forecaster": {
            name: _named(total_by_forecaster(forecasts, scores)) for name, scores in found.items()
        },
    }


def legacy_relative(given: Found) -> Found:
    """Return relative scores as the site has them, against the community's history in the file."""
    forecasts = forecasts_of(given)
    history = given["aggregate_history"]
    then = np.array([entry["pmf"][given["resolution_bucket"]] for entry in history])
    steps = Steps(np.array([entry["start"] for entry in history], float), np.log(then), np.ones(then.size))
    found = relative.score(question_of(given), forecasts, "metaculus", steps)
    return {"per_forecaster": _named(total_by_forecaster(forecasts, found))}


def _rows(scores: ForecastScores) -> list[list[float]]:
    rows: list[list[float]] = np.column_stack([scores.score, scores.coverage]).tolist()
    return rows


def _named(found: Totals) -> Found:
    names = found.forecaster
    return {name: dict(zip(("score", "coverage"), found.of(name), strict=True)) for name in names}


def median(given: Found) -> Found:
    """Return the site's median."""
    oldest_first = given["values_oldest_first"]
    places = range(len(oldest_first))
    steps = community.recency_weighted(
        chance_forecasts([f"{place:03d}" for place in places], places, oldest_first)
    )
    return {"median": float(np.exp(steps.level[-1]))}


def prizes(given: Found) -> Found:
    """Return shares of a prize by take."""
    excluded = given["excluded_indices"]
    return {
        "percent": tournament.prize_shares(given["takes_ranked"], given["minimum_percent"], excluded).tolist()
    }


def peer_prizes(given: Found) -> Found:
    """Return takes and shares by sums of peer scores."""
    take = tournament.takes(given["total_peer_scores_ranked"])
    excluded = given["excluded_indices"]
    shares = tournament.prize_shares(take, given["minimum_percent"], excluded)
    return {"take": take.tolist(), "percent": shares.tolist()}


def binary_instant(given: Found) -> Found:
    """Return a baseline score at an instant, yes/no."""
    return {"score": float(baseline.points(given["p_outcome"]))}


def options_instant(given: Found) -> Found:
    """Return a baseline score at an instant, several options."""
    count = given["n_options"]
    return {"score": float(baseline.points(given["p_outcome"], 1 / count, np.log(count)))}


def number_instant(given: Found) -> Found:
    """Return a baseline score at an instant, a number within its range."""
    unknown = 1 - OUTSIDE * given["open_bounds"]
    return {"score": float(baseline.points(given["pdf_outcome"], unknown, 2.0))}


def of_2022(given: Found) -> Found:
    """Return a question of 2022's tournament: medians by day, scores in both logarithms, coverage."""
    table = given["values_at_outcome"]
    days = given["days"]
    found = seed_001.scored(table)
    steps = community.median(seed_001.forecasts_of(table))
    level = dict(zip(steps.time.tolist(), np.exp(steps.level), strict=True))
    known = dict(zip(steps.time.tolist(), steps.weight > 0, strict=True))
    scores = {name: found.of(name) if name in found.forecaster else (0.0, 0.0) for name in table}
    return {
        "daily_median": [float(level[day]) if known.get(day) else None for day in range(days)],
        "question_score_ln": {name: score for name, (score, _) in scores.items()},
        "question_score_log2": {name: float(score / np.log(2)) for name, (score, _) in scores.items()},
        "coverage": {name: coverage for name, (_, coverage) in scores.items()},
    }


def board_of_2022(given: Found) -> Found:
    """Return the board of 2022's tournament, with coverage counted on the first days or on all."""
    counted = given["coverage_days"]
    if counted != list(range(1, len(counted) + 1)):
        raise ValueError(f"coverage_days must be the first days, not {counted}")
    hidden = None if len(counted) == seed_001.LENGTH else HiddenPeriod(len(counted), 1.0)
    places = {line.forecaster: line for line in seed_001.tournament(hidden, given["prize_pool"]).places}
    lines = [places[name] for name in given["forecasters"]]
    columns = {
        name: [getattr(line, name) for line in lines] for name in ("score", "coverage", "take", "prize")
    }
    shares = [line.share for line in lines]
    return {
        "exact": columns | {"percent_prize": shares},
        "published": columns | {"percent": shares, "total_take": sum(columns["take"])},
    }
