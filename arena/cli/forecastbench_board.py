"""The boards of ForecastBench: as JSON, as tables of a terminal, and in the benchmark's own columns."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from arena.cli.output import Data, attributes, plain
from arena.cli.page import Page
from arena.cli.score import FORECASTER
from arena.cli.table import Table, TableChoice, TableColumn
from arena.exports.forms.cells import text_cell
from arena.scores.files.forecastbench_board import PUBLIC, SUPERS, BenchBoard

HALVES = ("dataset", "market")
PAPER_FIGURES = ("low", "high", "low_clustered", "high_clustered", "p", "better", "better_once")


def board_data(board: BenchBoard) -> dict[str, Any]:
    """Return a board for JSON."""
    return {
        "mode": board.mode,
        "rows": [_row_data(board, row) for row in board.scores],
        "groups": [asdict(group) for group in board.groups],
        "notes": list(board.notes),
    }


def _row_data(board: BenchBoard, row: Any) -> dict[str, Any]:
    """Return a forecaster's figures for JSON."""
    team, lab = board.teams[row.forecaster]
    data = {"forecaster": row.forecaster, "organization": team, "model_organization": lab}
    data |= {"n_dataset": row.n.dataset, "n_market": row.n.market, "n": row.n.overall}
    if board.mode == "paper":
        return data | by_type(row.brier) | attributes(row, *PAPER_FIGURES)

    data |= by_type(row.index)
    clustered = board.clustered[row.forecaster]
    part = "dataset" if board.mode == "preliminary" else "overall"
    for end in ("low", "high"):
        data[end] = getattr(getattr(row, end), part)
        data[f"{end}_clustered"] = getattr(getattr(clustered, end), part)
        for half in HALVES:
            data[f"{half}_{end}"] = getattr(getattr(row, end), half)
    data |= by_type(row.score, "brier_") | by_type(row.peer, "peer_") | by_type(row.skill, "skill_")
    return data | attributes(row, "first", "top", "p") | {"p_clustered": clustered.p}


def by_type(figures: Any, prefix: str = "") -> dict[str, float | None]:
    """Return a figure of both types of question, and overall."""
    return {f"{prefix}{part}": getattr(figures, part) for part in (*HALVES, "overall")}


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def interval(name: str, heading: str, places: int, gives_way: int = 0) -> TableColumn:
    """Return a column with an interval, whose ends are in `low` and `high` with the name behind them."""
    return TableColumn(
        f"interval{name}",
        heading,
        value=lambda row: ends_text(row, f"low{name}", f"high{name}", places) or None,
        gives_way=gives_way,
    )


def shared_columns(places: int) -> tuple[TableColumn, ...]:
    """Return the columns of every mode, with scores to so many places."""
    return (
        FORECASTER,
        TableColumn("n_dataset", "N data", ",d", 3),
        TableColumn("n_market", "N market", ",d", 3),
        *(TableColumn(name, show=f".{places}f") for name in ("dataset", "market", "overall")),
        interval("", "95% interval", places),
        interval("_clustered", "by cluster", places, 1),
    )


PAPER = (
    *shared_columns(4),
    TableColumn("p", show=lambda p: p_text(p, 3), gives_way=2),
    TableColumn("better", show=".1%", gives_way=4),
    TableColumn("better_once", "each market once", ".1%", 5),
)
SITE = (
    *shared_columns(1),
    TableColumn("brier_overall", "Brier", ".3f", 2),
    TableColumn("peer_overall", "peer", "+.3f", 4),
    TableColumn("skill_overall", "BSS", "+.3f", 5),
    TableColumn("first", show=".1%", gives_way=6),
)
GROUPS = (
    TableColumn("group", show=plain),
    FORECASTER,
    TableColumn("n", "N", ",d"),
    TableColumn("brier", "Brier", ".4f"),
    interval("", "95% interval", 4),
)
PAPER_LEGEND = (
    "Mean Brier scores: lower is better. Better: more accurate than {against}; p: of such a gap by chance."
)
SITE_LEGEND = "Brier Index: higher is better, 50 is always saying 0.5. Peer and BSS are in Brier points."
AGAINST_LEGEND = "At least {against}: the share of replicates in which it is at least as good."


def board_page(board: BenchBoard, data: Data, against: str | None, choice: TableChoice) -> Page:
    """Yield the board, the parts that were asked for, and what there is to know."""
    name = plain(against or "the first")
    columns: tuple[TableColumn, ...] = PAPER
    legend = PAPER_LEGEND.format(against=name)
    if board.mode != "paper":
        columns = SITE
        legend = SITE_LEGEND
        if against is not None:
            share = TableColumn("p", f"at least {name}", ".1%", value=lambda row: row["p"].get(against))
            columns = (*SITE, share)
            legend = f"{SITE_LEGEND} {AGAINST_LEGEND.format(against=name)}"

    yield Table(columns, data["rows"], choice=choice)
    if board.groups:
        yield Table(GROUPS, data["groups"])
    yield legend
    for note in board.notes:
        yield f"- {plain(note)}"


# ── the benchmark's own columns ──────────────────────────────────────────────────────────────────────────

PRELIMINARY_LEAVES_OUT = (
    "Market", "N market", "Market 95% CI", "Overall", "N", "Overall 95% CI", "Brier Dataset", "Brier Market",
    "Brier Overall",
)  # fmt: skip
"""The columns of the benchmark's own CSV that its preliminary board, of data questions alone, has not."""


def board_lines(board: BenchBoard, *, with_groups: bool) -> list[list[str]]:
    """Return the headings and lines of a board, or of its parts, as the benchmark's CSV has them."""
    rows = board_data(board)["rows"]
    if with_groups:
        lines = [_group_line(group) for group in board.groups]
        return [["Group", "Model", "N", "Brier", "Low", "High"], *lines]
    if board.mode == "paper":
        return _paper_lines(rows)

    part = "dataset" if board.mode == "preliminary" else "overall"
    shown = [figure(row[part], 1) for row in rows]
    cells = [_site_cells(row, 1 + shown.index(figure(row[part], 1)), part) for row in rows]
    columns = [*cells[0]]
    if board.mode == "preliminary":
        columns = [name for name in columns if name not in PRELIMINARY_LEAVES_OUT]
    return [columns, *([line[name] for name in columns] for line in cells)]


def _group_line(group: Any) -> list[str]:
    """Return a forecaster's figures on one part of the questions."""
    figures = (group.brier, group.low, group.high)
    return [group.group, group.forecaster, str(group.n), *(figure(value, 4) for value in figures)]


def _site_cells(row: Data, rank: int, part: str) -> dict[str, str]:
    """Return a forecaster's line by the headings of the benchmark's own CSV."""
    cells = {
        "Rank": str(rank),
        "Team": row["organization"],
        "Model Organization": row["model_organization"],
        "Model": row["forecaster"],
    }
    for half in HALVES:
        cells[half.capitalize()] = figure(row[half], 1)
        cells[f"N {half}"] = str(row[f"n_{half}"])
        cells[f"{half.capitalize()} 95% CI"] = ends_text(row, f"{half}_low", f"{half}_high")

    cells |= {"Overall": figure(row["overall"], 1), "N": str(row["n"])}
    cells["Overall 95% CI"] = ends_text(row, "low", "high")
    supers = row["p"].get(SUPERS)
    public = row["p"].get(PUBLIC)
    cells |= {"Supers > Forecaster?": verdict(supers), "p-val Supers > Forecaster?": p_text(supers)}
    cells |= {"Forecaster > Public?": verdict(public), "p-val Forecaster > Public?": p_text(public)}
    cells["Pct times № 1"] = figure(row["first"] and row["first"] * 100, 3)
    cells["Pct times top 5%"] = figure(row["top"] and row["top"] * 100, 3)
    cells |= {"Peer": figure(row[f"peer_{part}"], 3), "BSS": figure(row[f"skill_{part}"], 3)}
    for half in (*HALVES, "overall"):
        cells[f"Brier {half.capitalize()}"] = figure(row[f"brier_{half}"], 3)
    return cells


def _paper_lines(rows: Sequence[Data]) -> list[list[str]]:
    """Return the board of the paper."""
    head = ["Model", "Organization"]
    head += [f"{half.capitalize()} (N={rows[0][f'n_{half}']:,})" for half in HALVES]
    head += [f"Overall (N={rows[0]['n']:,})", "Confidence Interval"]
    lines = [[*head, "Pairwise p-value comparing to No. 1", "Pct. more accurate than No. 1"]]
    for row in rows:
        line = [row["forecaster"], row["model_organization"]]
        line += [f"{row[part]:.3f}" for part in (*HALVES, "overall")]
        p = "" if row["p"] is None else p_text(row["p"], 3)
        lines.append([*line, ends_text(row, "low", "high", 3), p, f"{row['better'] or 0:.0%}"])
    return lines


def verdict(p: float | None) -> str:
    """Return what a p-value means.

    >>> verdict(0.0004), verdict(0.02), verdict(0.5), verdict(None)
    ('Yes', 'Likely', 'No', '—')
    """
    if p is None:
        return "—"
    if p < 0.01:
        return "Yes"
    return "Likely" if p < 0.1 else "No"


def p_text(p: float | None, places: int = 2) -> str:
    """Return a p-value as boards write it; those of the paper have three places.

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


def figure(value: float | None, places: int) -> str:
    """Return a figure rounded, without zeros at its end."""
    return "" if value is None else repr(round(float(value), places))


def ends_text(row: Data, low: str, high: str, places: int = 1) -> str:
    """Return an interval as boards write it."""
    return "" if row[low] is None else f"[{row[low]:.{places}f}, {row[high]:.{places}f}]"


FIGURE = re.compile(r"-?[\d.]+(?:e-?\d+)?")


def csv_text(lines: Sequence[Sequence[str]]) -> str:
    """Return lines as CSV; names that a spreadsheet takes for formulas are quoted.

    >>> csv_text([["=1+1", "-0.5"]])
    "'=1+1,-0.5\\n"
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for line in lines:
        writer.writerow([cell if FIGURE.fullmatch(cell) else text_cell(cell) for cell in line])
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
    """Return lines as a page that needs nothing else."""
    head = _html_row(lines[0], "th")
    rows = "\n".join(_html_row(line, "td") for line in lines[1:])
    return PAGE.format(title=escape(title), head=head, rows=rows)


def _html_row(line: Sequence[str], tag: str) -> str:
    """Return a line as a row of a table."""
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in line)}</tr>"
