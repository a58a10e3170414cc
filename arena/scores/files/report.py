"""All that is told of a file of forecasts: its scores, and what explains them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.scores.files.calibration import FileCalibration, calibration_data, file_calibrations
from arena.scores.files.copies import FileCopy, file_copies
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.published import PublishedComparison, published_comparisons
from arena.scores.files.scores import FileScores, ForecasterScores, ScoreChoices, score_file, scores_data
from arena.scores.files.worst import WorstForecast, worst_forecasts
from arena.scores.rules.metaculus.forecasts import Mode

PLAIN = ScoreChoices()
MOST_LEADERS = 3
"""The worst forecasts of so many are told."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a file of forecasts comes to.

    `form` says as what it was read. Calibration is that of ranked forecasters who copy nobody, and of the
    price; the worst forecasts are those of whoever may be first.
    """

    form: str
    scores: FileScores
    calibration: tuple[FileCalibration, ...]
    copies: tuple[FileCopy, ...]
    worst: tuple[WorstForecast, ...]
    published: tuple[PublishedComparison, ...]


def report_file(
    table: ForecastTable,
    mode: Mode = "exact",
    by_category: bool = False,
    choices: ScoreChoices = PLAIN,
) -> FileReport:
    """Score a table of forecasts, and return all that is said of it."""
    scores = score_file(table, mode, by_category, choices)
    rows = [row for row in scores.rows if row.forecaster in table.forecasters]
    own = dict.fromkeys(row.forecaster for row in rows if row.ranked and row.copies is None)
    copies = {row.forecaster: row.copies for row in rows if row.copies is not None}
    return FileReport(
        form="",
        scores=scores,
        calibration=file_calibrations(table, own),
        copies=file_copies(table, copies),
        worst=worst_forecasts(table, _leaders(rows)),
        published=published_comparisons(table, rows, ()),
    )


def _leaders(rows: Sequence[ForecasterScores]) -> list[str]:
    """Return those who may be first, as far as it is told; without ranks the first of the board."""
    leaders = [row.forecaster for row in rows if row.rank_low == 1]
    if not leaders:
        leaders = list(dict.fromkeys(row.forecaster for row in rows if row.ranked))
    return leaders[:MOST_LEADERS]


def report_data(report: FileReport) -> dict[str, Any]:
    """Return all of it for JSON."""
    return scores_data(report.scores) | {
        "form": report.form,
        "calibration": [calibration_data(one) for one in report.calibration],
        "copies": [asdict(copy) for copy in report.copies],
        "worst": [asdict(forecast) for forecast in report.worst],
        "published": [asdict(figure) for figure in report.published],
    }
