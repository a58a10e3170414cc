"""The leaderboard as JSON: the verdict and its rows, with facts about the agents."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores.all_kinds import all_kinds_data, all_kinds_of, read_season_verdict
from arena.scores.leaderboard import (
    PROVISIONAL_NOTICE,
    compute_provisional,
    leaderboard_data,
    read_leaderboard,
)
from arena.scores.profiles.detailed_profile import read_sure_forecasts
from arena.scores.slices import read_slices
from arena.scores.verdict import verdict_data

Data = dict[str, Any]


def board_data(connection: Connection, cohort: int | None = None) -> Data:
    """Return the leaderboard of a record, or of one of its cohorts, as JSON."""
    data = leaderboard_data(read_leaderboard(connection, cohort))
    all_kinds = all_kinds_of(connection, cohort)
    if all_kinds is not None:
        data["all_kinds"] = all_kinds_data(all_kinds)
    if cohort is not None:
        verdict = read_season_verdict(connection)
        data["over_all_cohorts"] = verdict.sentence if verdict else None
    elif all_kinds is not None:
        data |= verdict_data(all_kinds.report.verdict)

    played_cohorts = [stored.cohort for stored in select_cohorts(read_cohorts(connection), cohort)]
    later_models: dict[str, date | None] = {}
    stamps = set[str]()
    for played_cohort in played_cohorts:
        later_models |= played_cohort.later_models
        stamps.add(played_cohort.stamp)

    calibration = []
    for name, sure_forecasts in read_sure_forecasts(connection, cohort).items():
        calibration.append({"agent": name} | asdict(sure_forecasts) | {"text": sure_forecasts.text})

    if played_cohorts and not any(played_cohort.rules.money for played_cohort in played_cohorts):
        data["money"] = False
    data["simulated"] = stamps == {"simulated"}
    data["thinking"] = _reasoning_efforts(played_cohorts)
    data["later_models"] = later_models
    data["calibration"] = calibration
    return data


def _reasoning_efforts(cohorts: Sequence[Cohort]) -> list[dict[str, str]]:
    """Return how much each model was last asked to think; the demo's models don't think."""
    effort_of = {}
    for cohort in cohorts:
        for entrant in cohort.entrants:
            # Agents without a model count as the demo's.
            model = str(entrant.settings.get("model") or "demo/")
            if not model.startswith("demo/"):
                effort_of[entrant.name] = str(entrant.settings.get("reasoning") or "provider's default")
    return [{"agent": name, "reasoning": effort} for name, effort in effort_of.items()]


def slices_data(connection: Connection, by: str, cohort: int | None) -> Data:
    """Return the skill of every agent in each slice of the markets as JSON."""
    parts = [{"slice": part.slice} | asdict(part.gain) for part in read_slices(connection, by, cohort)]
    return {"by": by, "slices": parts}


def provisional_data(connection: Connection, cohort: int | None) -> Data:
    """Return the scores of open markets at their latest price as JSON."""
    rows = [asdict(row) | {"skill": row.skill} for row in compute_provisional(connection, cohort)]
    return {"provisional": PROVISIONAL_NOTICE, "leaderboard": rows}
