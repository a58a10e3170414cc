"""What `arena score` reads, and how it shows the scores of anyone's forecasts."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.cli.output import plain
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn, between
from arena.errors import ArenaError, times_text
from arena.exports.forecast_columns import is_export_at, read_export
from arena.forms.csv_columns import decode
from arena.scores.files.forecastbench_texts import NamedText, is_submission, read_submissions
from arena.scores.files.forecasts import ForecastTable, read_forecasts
from arena.scores.files.scores import FileScores, ForecasterScores, ScoreChoices
from arena.scores.verdict import better_text, rank_text


def text_of(file: Path) -> str:
    """Return the text of a file in UTF-8 or UTF-16; `-` is the standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        words = f"{file} can't be read: {error.strerror}"
        raise ArenaError("no_file", words, "name a file that exists") from error
    return decode(str(file), data)


def texts_of(files: Sequence[Path]) -> list[NamedText]:
    """Return the names of files and their texts."""
    return [(str(file), text_of(file)) for file in files]


def table_of(
    files: Sequence[Path],
    renamed: Mapping[str, str],
    questions: Sequence[Path],
    resolutions: Sequence[Path],
    provisional: bool,
) -> ForecastTable:
    """Return the forecasts of a file, of what `arena share export` wrote, or of files of ForecastBench."""
    if len(files) == 1 and is_export_at(files[0]):
        return read_export(files[0])

    texts = texts_of(files)
    if questions or resolutions or all(is_submission(text) for _, text in texts):
        return read_submissions(texts, texts_of(questions), texts_of(resolutions), provisional=provisional)
    if len(texts) > 1:
        hint = "put all forecasts into one file; only ForecastBench's may be several"
        raise ArenaError("many_files", f"{len(texts)} files of forecasts are given", hint, status=64)
    return read_forecasts(*texts[0], renamed)


def split_columns(text: str) -> tuple[dict[str, str], str]:
    """Return what --columns says: which columns of the file are ours, and which of the table to show.

    >>> split_columns("question=title,brier,peer")
    ({'question': 'title'}, 'brier,peer')
    """
    renamed = {}
    wanted = []
    for part in text.split(","):
        name, is_renamed, title = part.partition("=")
        if is_renamed:
            renamed[name.strip()] = title.strip()
        elif part.strip():
            wanted.append(part.strip())
    return renamed, ",".join(wanted)


FORECASTER = TableColumn("forecaster", show=plain, narrow="cut middle")


def span_of(mean: str, show: str) -> TableColumn:
    """Return the column with the interval of a mean, where it has one."""

    def write(row: ForecasterScores) -> str | None:
        span = row.intervals.get(mean)
        return span and f"{span[0]:{show}} to {span[1]:{show}}"

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
"""Means over all questions, beside those over each one's own where these differ."""
BRIER = (TableColumn("brier", "Brier", ".4f"), span_of("brier", ".4f"))
ADJUSTED = (TableColumn("adjusted", show=".4f"), span_of("adjusted", ".4f"))
LOG = TableColumn("log", show=".4f", gives_way=5)
METACULUS = (
    TableColumn("baseline", show="+.2f", gives_way=3),
    span_of("baseline", "+.1f"),
    TableColumn("peer", show="+.2f", gives_way=2),
    span_of("peer", "+.1f"),
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
"""What says something of those too who have answered less."""
LEGEND = "Brier: lower is better, the others: higher. Mode {mode}."
SKILL_LEGEND = "Skill: the market's Brier − the forecaster's. "


def columns_of(rows: Sequence[ForecasterScores], choices: ScoreChoices) -> tuple[TableColumn, ...]:
    """Return the columns of scores and counts that some row has something in."""
    shown = [FORECASTER]
    entries = sum(row.rank_low is not None for row in rows)
    if choices.rule == "skill" and entries:
        shown = [RANK, FORECASTER, _better_than(entries)]
    shown += [*FIRST[choices.rule], *SKILL, *ADJUSTED, *_gap_columns(choices.against), *BRIER, LOG]
    if choices.rule != "metaculus":
        shown += METACULUS
    shown += [*SPOT, *PARTS, *COUNTS]

    columns: list[TableColumn] = []
    has_missing = any(row.missing for row in rows)
    for column in shown:
        if all(column.value_of(row) is None for row in rows):
            continue
        if has_missing:
            columns += _with_all(column, choices.rule)
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


def _with_all(column: TableColumn, rule: str) -> tuple[TableColumn, ...]:
    """Return a column; a mean over the questions that were answered says so, beside that over all."""
    mean = column.name.removesuffix("_interval")
    if mean not in (*FULL, "log", "relative", "spot_baseline", "spot_peer"):
        return (column,)
    own = replace(column, heading=f"{column.title}*")
    if column.name in FULL and (mean == "brier" or rule == "metaculus"):
        return (FULL[mean], own)
    return (own,)


def score_page(scores: FileScores, choices: ScoreChoices, choice: TableChoice) -> Page:
    """Yield the verdict, a table for each category, and what there is to know."""
    if scores.verdict is not None:
        for sentence in filter(None, (scores.verdict.sentence, scores.verdict.guarantee)):
            yield plain(sentence)
        yield ""

    shown = columns_of(scores.rows, choices)
    for category in dict.fromkeys(row.category for row in scores.rows):
        rows = [row for row in scores.rows if row.category == category]
        title = "" if category is None else plain(category) or "(no category)"
        ranked = [row for row in rows if row.ranked]
        others = [row for row in rows if not row.ranked]
        if ranked:
            yield Table(shown, ranked, title, choice)
        if others:
            columns = (*UNRANKED, *(column for column in shown if column.name in BESIDE))
            yield Table(columns, others, f"{title}: not ranked" if title else "Not ranked")

    legend = LEGEND.format(mode=scores.mode)
    if any(row.skill is not None for row in scores.rows):
        legend = SKILL_LEGEND + legend
    yield legend
    for note in scores.notes:
        yield f"- {plain(note)}"
