"""The page of `arena score` on a file of forecasts.

In this order: the form in which the file was read, who is better than whom, the scores, calibration, copies,
the worst forecasts, what a board publishes about the same forecasts, and notes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.cli.output import plain, shortened
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn, between
from arena.errors import count_text, times_text
from arena.scores.files.calibration import OPTIONS, FileCalibration
from arena.scores.files.copies import FileCopy
from arena.scores.files.report import FileReport
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import ForecasterScores
from arena.scores.rules.calibration import BINS
from arena.scores.verdict import better_text, rank_text

FORECASTER = TableColumn("forecaster", show=plain, narrow="cut middle")


def interval_column(mean: str, show: str) -> TableColumn:
    """Return the column with the interval of a mean."""

    def write(row: ForecasterScores) -> str | None:
        interval = row.intervals.get(mean)
        if interval is None:
            return None
        low, high = interval
        return f"{low:{show}} to {high:{show}}"

    return TableColumn(f"{mean}_interval", f"{mean} 95%", value=write, gives_way=3)


RANK = TableColumn("rank", "ranks", value=lambda row: rank_text(row.rank_low, row.rank_high))


def _better_than(entries: int) -> TableColumn:
    """Return the column that says how many of the other entries a forecaster is better than."""
    return TableColumn(
        "better_than",
        "better than",
        value=lambda row: None if row.rank_low is None else better_text(row.better_than, entries),
        gives_way=1,
    )


SKILL = (
    TableColumn("skill", show="+.4f"),
    TableColumn("interval", "95% interval", value=between("skill_low", "skill_high")),
    TableColumn("evidence", show=times_text, gives_way=1),
)
FULL = {
    "brier": TableColumn("brier_filled", "Brier, all", ".4f", value="filled.brier"),
    "baseline": TableColumn("baseline_filled", "baseline, all", "+.2f", 3, value="filled.baseline"),
    "peer": TableColumn("peer_filled", "peer, all", "+.2f", 2, value="filled.peer"),
}
"""Means over all questions, shown beside the means over each forecaster's own if these differ."""
BRIER = (TableColumn("brier", "Brier", ".4f"), interval_column("brier", ".4f"))
ADJUSTED = (TableColumn("adjusted", show=".4f"), interval_column("adjusted", ".4f"))
LOG = TableColumn("log", show=".4f", gives_way=5)
METACULUS = (
    TableColumn("baseline", show="+.2f", gives_way=3),
    interval_column("baseline", "+z.1f"),
    TableColumn("peer", show="+.2f", gives_way=2),
    interval_column("peer", "+z.1f"),
    TableColumn("relative", show="+.3f", gives_way=6),
)
SPOT = (
    TableColumn("spot_baseline", "spot baseline", "+.2f", gives_way=4),
    TableColumn("spot_peer", "spot peer", "+.2f", gives_way=4),
)
AUTOCAST = (
    TableColumn("true_false", "T/F", ".4f", value="autocast.true_false"),
    TableColumn("multiple_choice", "MCQ", ".4f", value="autocast.multiple_choice"),
    TableColumn("numeric", show=".4f", value="autocast.numeric"),
    TableColumn("combined", show=".4f", value="autocast.combined"),
)
HALVES = (
    TableColumn("dataset", show=".4f", value="halves.dataset"),
    TableColumn("market", show=".4f", value="halves.market"),
    TableColumn("overall", show=".4f", value="halves.overall"),
    TableColumn("index", show=".1f", value="halves.index"),
)
FIRST = {"skill": (), "metaculus": METACULUS, "forecastbench": HALVES, "autocast": AUTOCAST}
"""The columns that come first by rule."""
PARTS = tuple(
    TableColumn(name, show=".4f", value=f"parts.{name}", gives_way=4)
    for name in ("reliability", "resolution", "uncertainty", "miscalibration", "discrimination")
)
COUNTS = (
    TableColumn("coverage", show=".0%", gives_way=5),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("questions", show=",d", gives_way=7),
    TableColumn("events", show=",d", gives_way=8),
)
UNRANKED = (
    FORECASTER,
    TableColumn("why_not", "why not", narrow="wrap"),
    FULL["brier"],
    TableColumn("brier", "Brier*", ".4f"),
    *COUNTS[1:3],
)
BESIDE = ("adjusted", "adjusted_interval", "gap", "gap_interval")
"""The columns that are also shown for forecasters without a rank."""
LEGEND = "Brier: lower is better, the others: higher. Mode {mode}."
SKILL_LEGEND = "Skill: the market's Brier − the forecaster's. "


def columns_of(rows: Sequence[ForecasterScores], choices: ScoreChoices) -> tuple[TableColumn, ...]:
    """Return the columns of scores and counts with a value in some row."""
    candidates = [FORECASTER]
    ranked = sum(row.rank_low is not None for row in rows)
    if choices.rule == "skill" and ranked:
        candidates = [RANK, FORECASTER, _better_than(ranked)]
    candidates += [*FIRST[choices.rule], *SKILL, *ADJUSTED, *_gap_columns(choices.against), *BRIER, LOG]
    if choices.rule != "metaculus":
        candidates += METACULUS
    candidates += [*SPOT, *PARTS, *COUNTS]

    # Where somebody left questions out, a mean over the answered ones is marked *, beside the mean over all.
    columns: list[TableColumn] = []
    some_left_out_questions = any(row.missing for row in rows)
    for column in candidates:
        if all(column.value_of(row) is None for row in rows):
            continue
        if some_left_out_questions:
            columns += _marked_with_mean_over_all(column, choices.rule)
        else:
            columns.append(column)
    return tuple(columns)


def _gap_columns(against: str | None) -> tuple[TableColumn, ...]:
    """Return the columns that compare everybody with one forecaster, if one is named."""
    if against is None:
        return ()
    return (
        TableColumn("gap", f"ahead of {plain(against)}", "+.4f", value="gap.gap"),
        TableColumn("gap_interval", "95% interval", value=between("gap.low", "gap.high")),
        TableColumn("gap_questions", "common", ",d", value="gap.questions", gives_way=6),
    )


def _marked_with_mean_over_all(column: TableColumn, rule: str) -> tuple[TableColumn, ...]:
    """Return a column; a mean over answered questions is marked, and preceded by the mean over all."""
    mean = column.name.removesuffix("_interval")
    if mean not in (*FULL, "log", "relative", "spot_baseline", "spot_peer"):
        return (column,)

    over_own = replace(column, heading=f"{column.title}*")
    if column.name in FULL and (mean == "brier" or rule == "metaculus"):
        over_all = FULL[mean]
        return (over_all, over_own)
    return (over_own,)


def score_page(
    report: FileReport, choices: ScoreChoices, choice: TableChoice, written: Mapping[str, Path]
) -> Page:
    """Yield the results on a file, its notes, and the files written."""
    yield from _first_lines(report)
    yield from _score_tables(report, choices, choice)
    yield from _explanation_blocks(report)
    for note in report.notes:
        yield f"- {plain(note)}"
    for file in written.values():
        yield f"Written: {file}"


def _first_lines(report: FileReport) -> Page:
    """Yield the rows left out, the form in which the file was read, and the verdict."""
    if report.skipped:
        yield f"{report.left_out}:"
        for fault in report.faults:
            yield f"- {plain(fault.place)}: {plain(fault.told)}"
        yield ""
    if report.form is not None:
        yield plain(f"Read as {report.form.title}: {report.form.why}.")
    if report.verdict is not None:
        for sentence in filter(None, (report.verdict.sentence, report.verdict.guarantee)):
            yield plain(sentence)
        yield ""


def _explanation_blocks(report: FileReport) -> Page:
    """Yield calibration, copies, the worst forecasts, and published figures."""
    if any((report.calibration, report.copies, report.worst, report.comparisons, report.notes)):
        yield ""

    ranked = {row.forecaster for row in report.rows if row.ranked and row.copies is None}
    yield from _calibration_blocks(report.calibration, len(ranked))
    yield from _copy_lines(report.copies)
    if report.worst:
        yield Table(WORST, report.worst, "Worst forecasts: furthest from what happened (loss: Brier score)")
    if report.comparisons:
        yield Table(PUBLISHED, report.comparisons, "What the board publishes, beside ours")


def _score_tables(report: FileReport, choices: ScoreChoices, choice: TableChoice) -> Page:
    """Yield the scores of each category, ranked and not ranked, and a legend."""
    shown = columns_of(report.rows, choices)
    also_for_unranked = [column for column in shown if column.name in BESIDE]
    unranked = (*UNRANKED, *also_for_unranked)

    for category, rows in report.by_category.items():
        title = ""
        not_ranked = "Not ranked"
        if category is not None:
            title = plain(category) or "(no category)"
            not_ranked = f"{title}: not ranked"

        ranked = [row for row in rows if row.ranked]
        others = [row for row in rows if not row.ranked]
        if ranked:
            yield Table(shown, ranked, title, choice)
        if others:
            yield Table(unranked, others, not_ranked)

    legend = LEGEND.format(mode=report.mode)
    if any(row.skill is not None for row in report.rows):
        legend = SKILL_LEGEND + legend
    yield legend


COUNTS_BELOW = "  forecasts"
MOST_SHOWN = 9_999
"""The largest count that is written in full."""
TENTHS = tuple(f"{10 * place}–\n{10 * (place + 1)}%" for place in range(BINS))
CALIBRATION: tuple[TableColumn | str, ...] = (
    TableColumn("said", value=lambda row: row[0], narrow="cut middle"),
    *TENTHS,
)


def _calibration_blocks(calibrations: Sequence[FileCalibration], ranked: int) -> Page:
    """Yield the share of forecasts that came true by tenths of the scale, and a sentence on each row."""
    if not calibrations:
        return

    rows: list[tuple[str, ...]] = []
    for calibration in calibrations:
        shares = [""] * BINS
        counts = [""] * BINS
        for decile in calibration.diagram.deciles:
            shares[decile.place] = f"{decile.observed:.0%}"
            counts[decile.place] = _short_count(decile.rows)
        rows += [(plain(calibration.forecaster), *shares), (COUNTS_BELOW, *counts)]

    title = "Calibration: how much came true of what was said, and of how many forecasts"
    forecasters = sum(not calibration.is_price for calibration in calibrations)
    if forecasters < ranked:
        title += f" ({forecasters} of {ranked:,} forecasters)"
    yield Table(CALIBRATION, rows, title, tells_hidden=False)

    # The first forecaster's fullest tenth, as an example of how to read the table.
    first = calibrations[0]
    fullest = max(first.diagram.deciles, key=lambda decile: decile.rows)
    tenth = f"{fullest.place * 10}–{(fullest.place + 1) * 10}%"
    says = f"{plain(first.forecaster)} says {tenth}: {count_text(fullest.rows, 'forecast')}"
    example = f"Read: {says}, {fullest.observed:.0%} came true."
    yield f"{example} {OPTIONS}" if first.with_options else example
    for calibration in calibrations:
        if calibration.diagram.sure is not None:
            yield f"- {plain(calibration.sentence)}"
    yield ""


def _short_count(count: int) -> str:
    """Return a count in five letters at most.

    >>> _short_count(31), _short_count(1_250), _short_count(25_400)
    ('31', '1,250', '25k')
    """
    if count <= MOST_SHOWN:
        return f"{count:,}"
    return f"{count / 1_000:.0f}k"


LETTERS = 60
"""The length to which a question's title and a reason are cut."""
WORST = (
    FORECASTER,
    TableColumn("question", value=lambda row: shortened(row.title or row.question, LETTERS), narrow="wrap"),
    TableColumn("said", show=".0%"),
    TableColumn("price", show=".0%"),
    TableColumn("outcome", "came to", value=lambda row: shortened(row.came_to, LETTERS), narrow="wrap"),
    TableColumn("loss", show=".2f"),
    TableColumn("reason", value=lambda row: shortened(row.reason, LETTERS) or None, narrow="wrap"),
)
PUBLISHED = (
    TableColumn("forecaster", show=plain, value="figure.forecaster", narrow="cut middle"),
    TableColumn("figure", show=plain, value="figure.name", narrow="cut"),
    TableColumn("published", show=".6g", value="figure.value"),
    TableColumn("ours", show=".6g"),
    TableColumn("cause", "why they differ", show=plain, narrow="wrap"),
)


def _copy_lines(copies: Sequence[FileCopy]) -> Page:
    """Yield who copies whom, a line each."""
    for copy in copies:
        yield f"- {plain(copy.sentence)}"
    if copies:
        yield ""
