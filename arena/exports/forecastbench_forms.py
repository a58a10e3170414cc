"""ForecastBench's own formats: a board as its CSV or as a page, and answers as a submission."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from arena.errors import ArenaError, FileFaults
from arena.exports.forms.cells import text_cell
from arena.forms.bench.answers import Submitter, submission
from arena.forms.bench.model import QuestionSet
from arena.scores.files.forecastbench_board import BenchBoard, GroupScore
from arena.scores.files.forecastbench_rows import PUBLIC, SUPERS
from arena.scores.rules.forecastbench.leaderboard import ForecastBenchScores

HALVES = ("dataset", "market")
PARTS = (*HALVES, "overall")
PREFIXES = {"index": "", "brier": "", "score": "brier_", "peer": "peer_", "skill": "skill_"}
"""The prefix of figures by question type in a row, such as `brier_` in `brier_dataset`."""
PRELIMINARY = "preliminary"
"""The mode whose board has data questions only."""
FIGURE = re.compile(r"-?[\d.]+(?:e-?\d+)?")
TEAM = re.compile(r"[\w-][\w -]*")
"""A team's name, which is part of the name of its files."""

Row = dict[str, Any]


# ── a board's figures ────────────────────────────────────────────────────────────────────────────────────


def board_rows(board: BenchBoard) -> list[Row]:
    """Return each forecaster's figures by name, the best forecaster first."""
    rows: list[Row] = []
    for scores in board.scores:
        organization, model_organization = board.teams[scores.forecaster]
        row: Row = {"organization": organization, "model_organization": model_organization}
        for name, value in asdict(scores).items():
            if name in PREFIXES:
                for part, score in value.items():
                    row[f"{PREFIXES[name]}{part}"] = score
            else:
                row[name] = value

        row |= {"n": scores.n.overall, "n_dataset": scores.n.dataset, "n_market": scores.n.market}
        if isinstance(scores, ForecastBenchScores):
            row |= _site_intervals(scores, board)
        rows.append(row)
    return rows


def _site_intervals(scores: ForecastBenchScores, board: BenchBoard) -> Row:
    """Return the intervals of the site's boards, by question and by cluster."""
    part = ranked_part(board.mode)
    clustered = board.clustered[scores.forecaster]
    row: Row = {"p_clustered": clustered.p}
    for end in ("low", "high"):
        ends = getattr(scores, end)
        row[end] = getattr(ends, part)
        clustered_ends = getattr(clustered, end)
        row[f"{end}_clustered"] = getattr(clustered_ends, part)
        row[f"dataset_{end}"] = ends.dataset
        row[f"market_{end}"] = ends.market
    return row


def ranked_part(mode: str) -> str:
    """Return the part of the questions that ranks the site's board of a mode."""
    if mode == PRELIMINARY:
        return "dataset"
    return "overall"


# ── its own columns ──────────────────────────────────────────────────────────────────────────────────────


def board_lines(board: BenchBoard, *, with_groups: bool) -> list[list[str]]:
    """Return the heading and lines of a board, or of its groups, as in the benchmark's CSV."""
    if with_groups:
        head = ["Group", "Model", "N", "Brier", "Low", "High"]
        return [head, *map(_group_line, board.groups)]

    rows = board_rows(board)
    if board.mode == "paper":
        return _paper_lines(rows)

    # Forecasters whose figures look the same share a rank.
    part = ranked_part(board.mode)
    shown = [rounded_figure(row[part], 1) for row in rows]
    lines = []
    for row, text in zip(rows, shown, strict=True):
        rank = 1 + shown.index(text)
        lines.append(_site_cells(row, rank, board.mode))
    headings = list(lines[0])
    return [headings, *(list(line.values()) for line in lines)]


def _group_line(group: GroupScore) -> list[str]:
    """Return a forecaster's figures on one group of questions."""
    figures = [rounded_figure(value, 4) for value in (group.brier, group.low, group.high)]
    return [group.group, group.forecaster, str(group.n), *figures]


def _site_cells(row: Row, rank: int, mode: str) -> dict[str, str]:
    """Return a forecaster's line under the headings of the benchmark's CSV.

    The preliminary board leaves out the columns of market questions.
    """
    cells = {
        "Rank": str(rank),
        "Team": row["organization"],
        "Model Organization": row["model_organization"],
        "Model": row["forecaster"],
    }
    halves = HALVES[:1] if mode == PRELIMINARY else HALVES
    for half in halves:
        title = half.capitalize()
        cells[title] = rounded_figure(row[half], 1)
        cells[f"N {half}"] = str(row[f"n_{half}"])
        cells[f"{title} 95% CI"] = interval_text(row[f"{half}_low"], row[f"{half}_high"], 1)
    if mode != PRELIMINARY:
        cells |= {
            "Overall": rounded_figure(row["overall"], 1),
            "N": str(row["n"]),
            "Overall 95% CI": interval_text(row["low"], row["high"], 1),
        }

    for name, title in ((SUPERS, "Supers > Forecaster?"), (PUBLIC, "Forecaster > Public?")):
        p_value = row["p"].get(name)
        cells[title] = p_verdict(p_value)
        cells[f"p-val {title}"] = p_text(p_value)
    for name, title in (("first", "Pct times № 1"), ("top", "Pct times top 5%")):
        share = row[name]
        cells[title] = rounded_figure(share and share * 100, 3)

    part = ranked_part(mode)
    cells["Peer"] = rounded_figure(row[f"peer_{part}"], 3)
    cells["BSS"] = rounded_figure(row[f"skill_{part}"], 3)
    if mode != PRELIMINARY:
        for name in PARTS:
            cells[f"Brier {name.capitalize()}"] = rounded_figure(row[f"brier_{name}"], 3)
    return cells


def _paper_lines(rows: Sequence[Row]) -> list[list[str]]:
    """Return the lines of the paper's board."""
    first = rows[0]
    head = ["Model", "Organization"]
    head += [f"{half.capitalize()} (N={first[f'n_{half}']:,})" for half in HALVES]
    head += [f"Overall (N={first['n']:,})", "Confidence Interval"]
    head += ["Pairwise p-value comparing to No. 1", "Pct. more accurate than No. 1"]

    lines = [head]
    for row in rows:
        line = [row["forecaster"], row["model_organization"]]
        line += [f"{row[part]:.3f}" for part in PARTS]
        p_value = row["p"]
        line.append(interval_text(row["low"], row["high"], 3))
        line.append("" if p_value is None else p_text(p_value, 3))
        line.append(f"{row['better'] or 0:.0%}")
        lines.append(line)
    return lines


def p_verdict(p: float | None) -> str:
    """Return a p-value as a verdict.

    >>> p_verdict(0.0004), p_verdict(0.02), p_verdict(0.5), p_verdict(None)
    ('Yes', 'Likely', 'No', '—')
    """
    if p is None:
        return "—"
    if p < 0.01:
        return "Yes"
    if p < 0.1:
        return "Likely"
    return "No"


def p_text(p: float | None, places: int = 2) -> str:
    """Return a p-value as boards print it; the paper's board uses three places.

    >>> p_text(0.0004), p_text(0.0042), p_text(0.0042, 3), p_text(0.5), p_text(None)
    ('<0.001', '<0.01', '0.004', '0.50', '—')
    """
    if p is None:
        return "—"
    if p < 0.001:
        return "<0.001"
    if p < 0.01 and places == 2:
        return "<0.01"
    return f"{p:.{places}f}"


def rounded_figure(value: float | None, places: int) -> str:
    """Return a rounded figure without trailing zeros."""
    if value is None:
        return ""
    return repr(round(float(value), places))


def interval_text(low: float | None, high: float | None, places: int) -> str:
    """Return an interval as boards print it; an empty text if there is none."""
    if low is None:
        return ""
    return f"[{low:.{places}f}, {high:.{places}f}]"


# ── forms ────────────────────────────────────────────────────────────────────────────────────────────────


def csv_text(lines: Sequence[Sequence[str]]) -> str:
    """Return lines as CSV; texts that a spreadsheet would take for formulas are quoted.

    >>> csv_text([["=1+1", "-0.5"]])
    "'=1+1,-0.5\\n"
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for line in lines:
        cells = []
        for cell in line:
            is_figure = FIGURE.fullmatch(cell) is not None  # -0.5 is no formula
            cells.append(cell if is_figure else text_cell(cell))
        writer.writerow(cells)
    return out.getvalue()


PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>body{{font-family:sans-serif;\
margin:2rem}}table{{border-collapse:collapse}}th,td{{padding:.3rem .6rem;border-bottom:1px solid #ccc;\
text-align:left}}</style></head>
<body><h1>{title}</h1>
<table><thead>{head}</thead><tbody>
{rows}
</tbody></table></body></html>
"""


def html_text(lines: Sequence[Sequence[str]], title: str) -> str:
    """Return lines as a self-contained HTML page."""
    head = _html_row(lines[0], "th")
    rows = "\n".join(_html_row(line, "td") for line in lines[1:])
    return PAGE.format(title=escape(title), head=head, rows=rows)


def _html_row(line: Sequence[str], tag: str) -> str:
    """Return a line as a row of a table."""
    cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line)
    return f"<tr>{cells}</tr>"


# ── submissions ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class WrittenSubmission:
    """A submission that was written: its file, its number of forecasts, and its question set."""

    file: Path
    forecasts: int
    question_set: str
    due: str


def write_submission(
    name: str, answers: str, submitter: Submitter, question_set: QuestionSet, folder: Path
) -> WrittenSubmission:
    """Write a CSV of answers as a submission; raise `FileFaults` if something in it is wrong."""
    if not TEAM.fullmatch(submitter.organization):
        message = f"{submitter.organization!r} can't be part of a file's name"
        raise ArenaError("bad_name", message, "use letters, digits, spaces, - and _", status=64)
    document, forecast_file, faults = submission(name, answers, submitter, question_set)
    if faults:
        raise FileFaults(faults)

    target = folder / f"{question_set.due}.{submitter.organization}.{submitter.number}.json"
    content = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.read_bytes() != content:
            message = f"{target} already exists with other content"
            raise ArenaError("exists", message, "choose another --n")
        target.write_bytes(content)
    except OSError as error:
        raise ArenaError("unwritable", f"{target}: {error.strerror}", "name a writable folder") from error
    return WrittenSubmission(target, len(forecast_file.rows), question_set.name, question_set.due)
