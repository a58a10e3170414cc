"""How agents did on held-out questions compared with the others, once the held-out ones are opened.

An agent tuned on questions that were looked at repeatedly does worse on those that were not.
"""

from dataclasses import dataclass
from datetime import datetime
from math import hypot, isnan

import numpy as np

from arena.record.model.columns import Flags
from arena.record.queries.holdout import read_held_out
from arena.record.schema.database import Connection
from arena.scores.all_kinds import read_all_kinds
from arena.scores.files.by_question import QuestionScores, score_questions
from arena.scores.files.forecasts import ForecastTable
from arena.scores.rules._columns import none_for_nan
from arena.scores.rules.comparisons.mean_interval import MeanIntervals, mean_intervals


@dataclass(frozen=True, slots=True)
class HoldoutDrop:
    """An agent's mean error on open and on held-out questions, and how much larger the second is.

    Errors are Autocast's, from 0 to 1: half the Brier score over all options, and the distance of a median
    from the outcome as a share of the range. The 95% interval needs 20 events on either side.
    """

    agent: str
    open_questions: int
    held_out_questions: int
    open_error: float | None
    held_out_error: float | None
    drop: float | None
    drop_low: float | None
    drop_high: float | None


@dataclass(frozen=True, slots=True)
class HoldoutReport:
    """What opening the held-out questions showed; `opened_at` is since when anybody could know."""

    opened_at: datetime
    drops: tuple[HoldoutDrop, ...]


def holdout_report(connection: Connection) -> HoldoutReport | None:
    """Return how agents did on held-out questions; None while these are closed."""
    held_out = read_held_out(connection)
    if held_out.opened_at is None:
        return None

    table = read_all_kinds(connection)
    scored = score_questions(table, "exact", table.outside)
    names = [*table.questions, *(form.name for form in table.forms)]
    is_held = np.array([name in held_out.markets for name in names], dtype=np.bool_)
    return HoldoutReport(held_out.opened_at, tuple(_holdout_drops(table, scored, is_held)))


def _holdout_drops(table: ForecastTable, scored: QuestionScores, is_held: Flags) -> list[HoldoutDrop]:
    """Return every agent's errors on both parts."""
    is_number = scored.kind[scored.question] == "number"
    error = np.where(is_number, scored.values["distance"], scored.values["brier"])
    is_held_row = is_held[scored.question]

    # First the open questions, then those that were held out.
    means = []
    counts = []
    for is_part in (~is_held_row, is_held_row):
        rows = np.flatnonzero(is_part & ~np.isnan(error))
        who = scored.who[rows]
        means.append(mean_intervals(who, scored.event[rows], error[rows], len(scored.forecasters)))
        counts.append(np.bincount(who, minlength=len(scored.forecasters)))

    drops = []
    for place, agent in enumerate(table.forecasters):
        sizes = (int(counts[0][place]), int(counts[1][place]))
        drops.append(_holdout_drop(agent, place, means, sizes))
    return sorted(drops, key=lambda row: (row.drop is None, row.drop or 0.0, row.agent))


def _holdout_drop(
    agent: str, forecaster_number: int, means: list[MeanIntervals], sizes: tuple[int, int]
) -> HoldoutDrop:
    """Return an agent's errors and their difference.

    The two parts share no event, so the squares of the intervals' half widths add up.
    """
    open_error, held_out_error = (float(part.mean[forecaster_number]) for part in means)
    half_widths = [float(part.high[forecaster_number] - part.mean[forecaster_number]) for part in means]
    drop = held_out_error - open_error
    half_width = hypot(*half_widths)
    has_interval = not isnan(half_width)
    open_questions, held_out_questions = sizes
    return HoldoutDrop(
        agent=agent,
        open_questions=open_questions,
        held_out_questions=held_out_questions,
        open_error=none_for_nan(open_error),
        held_out_error=none_for_nan(held_out_error),
        drop=none_for_nan(drop),
        drop_low=drop - half_width if has_interval else None,
        drop_high=drop + half_width if has_interval else None,
    )
