"""Small tables to score, and the golden ones of the shared data."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena.scores.rules.forecastbench.difficulty_sample import sample
from arena.scores.rules.forecastbench.panel import Panel, panel

MARKETS = {"infer", "manifold", "metaculus", "polymarket"}


def a_panel(forecasts: Mapping[str, Sequence[float | None]], outcomes: list[float], **options: Any) -> Panel:
    """Return a table from each forecaster's forecasts in turn, None for one left out; options by question."""
    rows = [
        (name, f"q{place:03}", p, outcomes[place])
        for name, said in forecasts.items()
        for place, p in enumerate(said)
        if p is not None
    ]
    names, questions, p, o = map(list, zip(*rows, strict=True))
    per_row = {key: [value[int(q[1:])] for q in questions] for key, value in options.items()}
    return panel(names, questions, p, o, **per_row)


def some_panel(
    seed: int, forecasters: int, questions: int, missing: float = 0.0, outside: float = 0.0, strata: int = 1
) -> Panel:
    """Draw a table of forecasts with gaps; forecaster 0 answers all, and is always in the sample."""
    chance = np.random.default_rng(seed)
    who, what = (places.ravel() for places in np.indices((forecasters, questions)))
    kept = (chance.random(who.size) >= missing) | (who == 0)
    outcome = chance.integers(0, 2, questions).astype(float)
    outsider = chance.random(forecasters) < outside
    aged = chance.random(who.size) < outside
    fits = ~(outsider[who] | aged) | (who == 0)
    who = who[kept]
    what = what[kept]
    fits = fits[kept]
    return panel(
        [f"f{i:04}" for i in who],
        [f"q{j:05}" for j in what],
        chance.random(who.size).round(2),
        outcome[what],
        fits=fits,
        stratum=[f"s{j % strata}" for j in what],
        cluster=[f"c{j // 3}" if strata == 1 else f"c{j}" for j in what],
        forecasters=[f"f{i:04}" for i in range(forecasters)],
    )


def golden(shared_data: Path, order: int | None = None) -> tuple[Panel, Panel]:
    """Return the golden forecasts as two tables, datasets and markets, with the rows shuffled if asked."""
    with gzip.open(shared_data / "forecastbench" / "golden_forecasts.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if order is not None:
        rows = [rows[place] for place in np.random.default_rng(order).permutation(len(rows))]
    names = sorted({row["model"] for row in rows})
    parts = ([r for r in rows if (r["source"] in MARKETS) == market] for market in (False, True))
    dataset, market = (_golden(part, names) for part in parts)
    return dataset, market


def _golden(rows: list[dict[str, str]], names: list[str]) -> Panel:
    models = [row["model"] for row in rows]
    external = [row["external_submission"] == "True" for row in rows]
    comparison = [row["forecastbench_comparison_model"] == "True" for row in rows]
    return panel(
        models,
        [row["question_pk"] for row in rows],
        [float(row["forecast"]) for row in rows],
        [float(row["resolved_to"]) for row in rows],
        fits=sample(models, external, comparison, [float(row["model_age_at_due_date"]) for row in rows]),
        stratum=[f"{row['forecast_due_date']} {row['source']}" for row in rows],
        cluster=[f"{row['source']} {row['id']}" for row in rows],
        family=[row["source"] for row in rows],
        forecasters=names,
    )


def golden_scores(shared_data: Path) -> dict[str, Any]:
    text = (shared_data / "forecastbench" / "golden_scores.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
