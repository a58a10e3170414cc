"""The report on a file of forecasts: its scores, and what explains them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from arena.errors import ArenaError, count_text
from arena.scores.files.calibration import FileCalibration, calibration_data, file_calibrations
from arena.scores.files.compared import compared_rows
from arena.scores.files.copies import FileCopy, file_copies
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.published import PublishedComparison, comparison_data, published_comparisons
from arena.scores.files.score_choices import PLAIN, ScoreChoices
from arena.scores.files.scores import FileScores, ForecasterScores, score_file
from arena.scores.files.scores_data import scores_data
from arena.scores.files.worst import WorstForecast, worst_forecasts
from arena.scores.notebook import Cells, brief, figure, notebook_html, span
from arena.scores.rules.metaculus.forecasts import Mode
from arena.scores.verdict import rank_text

SHOWN: Cells = {
    "ranks": lambda row: rank_text(row.rank_low, row.rank_high),
    "forecaster": lambda row: row.forecaster,
    "skill": lambda row: figure(row.skill, "+.4f"),
    "95% interval": lambda row: span(row.skill_low, row.skill_high, "+.4f"),
    "Brier": lambda row: figure(row.filled["brier"], ".4f"),
    "forecasts": lambda row: f"{row.forecasts:,}",
}
"""The columns that a notebook shows."""
MOST_LEADERS = 3
"""The number of leaders whose worst forecasts are reported."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class FileReport(FileScores):
    """The report on a file of forecasts: its scores, and what explains them.

    Calibration covers ranked forecasters who copy nobody, and the price; the worst forecasts are those of the
    possible leaders. `comparisons` set a board's published figures against ours. `name` is the file's.
    """

    name: str
    calibration: tuple[FileCalibration, ...]
    copies: tuple[FileCopy, ...]
    worst: tuple[WorstForecast, ...]
    comparisons: tuple[PublishedComparison, ...]

    @property
    def left_out(self) -> str:
        """Return a note on skipped rows; an empty text if there are none."""
        if not self.skipped:
            return ""
        return f"{count_text(self.skipped, 'faulty row')} skipped, counted as unanswered"

    def __repr__(self) -> str:
        """Return the number of forecasters, and the verdict's sentence."""
        return brief(f"FileReport of {count_text(len(self.rows), 'forecaster')}", self.verdict)

    def _repr_html_(self) -> str:
        """Return the verdict's sentence and the scores for a notebook."""
        return notebook_html(self.verdict, SHOWN, self.rows)


def report_file(
    table: ForecastTable,
    mode: Mode = "exact",
    by_category: bool = False,
    choices: ScoreChoices = PLAIN,
) -> FileReport:
    """Score a table of forecasts, and return the report."""
    if by_category and table.category is None:
        raise ArenaError("no_category", f"{table.name} has no column category", "add it, or leave out --by")
    scores = score_file(table, mode, by_category, choices)
    # The community, which is no forecaster of the file, is not part of what explains the scores.
    rows = [row for row in scores.rows if row.forecaster in table.forecasters]
    ranked_originals = dict.fromkeys(row.forecaster for row in rows if row.ranked and row.copies is None)
    copied_by = {row.forecaster: row.copies for row in rows if row.copies is not None}
    rows_compared = compared_rows(table)

    @cache
    def other_mode() -> Sequence[ForecasterScores]:
        """Return the scores by the other mode, computed once."""
        return score_file(table, "metaculus" if mode == "exact" else "exact", choices=choices).rows

    return FileReport(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        name=table.name,
        calibration=file_calibrations(rows_compared, ranked_originals),
        copies=file_copies(rows_compared, copied_by),
        worst=worst_forecasts(table, _leaders(rows)),
        comparisons=published_comparisons(table, rows, other_mode),
    )


def _leaders(rows: Sequence[ForecasterScores]) -> list[str]:
    """Return the forecasters who may be first by rank; without ranks, the first of the board."""
    leaders = [row.forecaster for row in rows if row.rank_low == 1]
    if not leaders:
        leaders = list(dict.fromkeys(row.forecaster for row in rows if row.ranked))
    return leaders[:MOST_LEADERS]


def report_data(report: FileReport) -> dict[str, Any]:
    """Return a report as JSON."""
    return scores_data(report) | {
        "name": report.name,
        "calibration": [calibration_data(calibration) for calibration in report.calibration],
        "copies": [asdict(copy) for copy in report.copies],
        "worst": [asdict(forecast) for forecast in report.worst],
        "published": [comparison_data(comparison) for comparison in report.comparisons],
    }


REPORT = TypeAdapter(FileReport)


def report_text(report: FileReport) -> str:
    """Return a report as JSON text, from which it can be read again."""
    return json.dumps(REPORT.dump_python(report, mode="json"))


def read_report(text: str) -> FileReport:
    """Return the report that a text holds."""
    return REPORT.validate_python(json.loads(text))
