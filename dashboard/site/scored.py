"""The page of a file of forecasts: the verdict, the scores, calibration, and the worst forecasts."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath

from markupsafe import Markup

from arena.scores.files.calibration import OPTIONS, FileCalibration
from arena.scores.files.report import FileReport
from arena.scores.files.scores import ForecasterScores
from arena.scores.verdict import better_text, rank_text
from dashboard.board import CALIBRATION, SHADED, span_text
from dashboard.charts import calibration_chart
from dashboard.html import Rows, box, bullets, columns_of_table, html_table, quiet
from dashboard.pictures import CHOSEN, REST
from dashboard.site.shell import one_file
from dashboard.words import filled, flat, moment, with_true_minus


def scored_page(report: FileReport, at: datetime) -> str:
    """Return the page of a file, as it was scored at an instant."""
    # a page is shown to others, who need not know in which folder the file lay
    name = PurePath(report.name).name or report.name
    title = f"Paper Arena · {flat(name)}"
    top = filled("<h1>%s</h1>", title) + quiet(f"Made {moment(at)}.")
    if report.form is not None:
        top += quiet(f"Read as {report.form.title}: {report.form.why}.")
    if report.left_out:
        top += filled('<p class="stamp">%s.</p>', flat(report.left_out))
    return one_file(title, top + Markup("\n").join(_parts(report)))


def _parts(report: FileReport) -> Iterator[Markup]:
    """Yield the parts of the page, without empty ones."""
    if report.verdict is not None:
        yield filled('<p class="sentence">%s</p>', with_true_minus(flat(report.verdict.sentence)))
        yield quiet(report.verdict.guarantee)
    for category, rows in report.by_category.items():
        title = "Scores" if category is None else f"Scores: {category}"
        yield box(title, html_table(_score_rows(rows), columns_of_table("scores of a file"), title))

    if report.calibration:
        yield _calibration_box(report.calibration)
    if report.copies:
        yield box("Copies", bullets(flat(copy.sentence) for copy in report.copies))
    if report.worst:
        table = html_table(_worst_rows(report), columns_of_table("worst forecasts"), "The worst forecasts")
        yield box("Worst forecasts", table, "Of those who may be first: furthest from what happened.")
    if report.comparisons:
        table = html_table(
            _published_rows(report), columns_of_table("published figures"), "Published figures"
        )
        yield box("What the board publishes, beside ours", table)
    if report.notes:
        yield box("Notes", bullets(flat(note) for note in report.notes))


def _calibration_box(calibration: Sequence[FileCalibration]) -> Markup:
    """Return the calibration of all forecasters, one at a time, and of the price."""
    free = iter(CHOSEN)
    curves = []
    for row in calibration:
        look = REST if row.is_price else next(free, REST)
        curves.append((row.forecaster, row.diagram, look))
    chart = calibration_chart(curves, "What was said against what happened")
    below = f"{SHADED} {OPTIONS}" if calibration[0].with_options else SHADED
    return box(CALIBRATION, chart, below)


def _score_rows(rows: list[ForecasterScores]) -> Rows:
    """Yield everybody's scores."""
    entries = sum(row.rank_low is not None for row in rows)
    for row in rows:
        asked = row.questions + row.missing
        better = None
        if row.rank_low is not None and entries > 1:
            better = better_text(row.better_than, entries)
        price = None if row.price == "none" else row.price
        answered = 100 * row.questions / asked if asked else None
        interval = span_text(row.skill_low, row.skill_high, "%+.4f")
        ranks = rank_text(row.rank_low, row.rank_high)
        yield {
            "ranks": ranks,
            "forecaster": row.forecaster,
            "better": better,
            "skill": row.skill,
            "interval": interval,
            "price": price,
            "brier": row.filled["brier"],
            "baseline": row.baseline,
            "peer": row.peer,
            "answered": answered,
            "forecasts": row.forecasts,
            "note": _note(row),
        }


def _note(row: ForecasterScores) -> str | None:
    """Return why a forecaster has no rank of its own, if it has none."""
    if row.copies is not None:
        return f"copies {row.copies}"
    return row.why_not


def _worst_rows(report: FileReport) -> Rows:
    """Yield the worst forecasts, question first."""
    for worst in report.worst:
        price = None if worst.price is None else 100 * worst.price
        yield {
            "question": worst.title or worst.question,
            "forecaster": worst.forecaster,
            "said": 100 * worst.said,
            "price": price,
            "outcome": worst.came_to,
            "loss": worst.loss,
            "reason": worst.reason,
        }


def _published_rows(report: FileReport) -> Rows:
    """Yield the scores that a board publishes, beside ours."""
    for comparison in report.comparisons:
        yield {
            "forecaster": comparison.figure.forecaster,
            "name": comparison.figure.name,
            "published": comparison.figure.value,
            "ours": comparison.ours,
            "cause": comparison.cause,
        }
