"""The boards of ForecastBench as JSON and as tables of a terminal."""

from typing import Any

from arena.cli.output import Data, plain
from arena.cli.page import Page
from arena.cli.score_page import FORECASTER
from arena.cli.table import Table, TableChoice, TableColumn
from arena.exports.forecastbench_forms import (
    board_lines,
    board_rows,
    csv_text,
    html_text,
    interval_text,
    p_text,
)
from arena.scores.files.forecastbench_board import BenchBoard


def board_data(board: BenchBoard) -> dict[str, Any]:
    """Return a board for JSON."""
    return {"mode": board.mode, "rows": board_rows(board), "groups": board.groups, "notes": board.notes}


def print_board(board: BenchBoard, as_csv: bool, with_groups: bool) -> None:
    """Print a board as CSV or as an HTML page, in the columns of the source."""
    lines = board_lines(board, with_groups=with_groups)
    text = csv_text(lines) if as_csv else html_text(lines, f"{board.mode.capitalize()} board")
    print(text, end="")


def interval(places: int, name: str = "", heading: str = "95% interval", gives_way: int = 0) -> TableColumn:
    """Return the column of an interval whose ends are under `low` and `high` followed by `name`."""

    def write(row: Data) -> str | None:
        return interval_text(row[f"low{name}"], row[f"high{name}"], places) or None

    return TableColumn(f"interval{name}", heading, value=write, gives_way=gives_way)


def shared_columns(places: int) -> tuple[TableColumn, ...]:
    """Return the columns that all modes have, with scores to `places` decimals."""
    show = f".{places}f"
    return (
        FORECASTER,
        TableColumn("n_dataset", "N data", ",d", 3),
        TableColumn("n_market", "N market", ",d", 3),
        TableColumn("dataset", show=show),
        TableColumn("market", show=show),
        TableColumn("overall", show=show),
        interval(places),
        interval(places, "_clustered", "by cluster", 1),
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
    TableColumn(
        "interval", "95% interval", value=lambda group: interval_text(group.low, group.high, 4) or None
    ),
)
PAPER_LEGEND = (
    "Mean Brier scores: lower is better. Better: more accurate than {against}; p: of such a gap by chance."
)
SITE_LEGEND = "Brier Index: higher is better, 50 is always saying 0.5. Peer and BSS are in Brier points."
AGAINST_LEGEND = "At least {against}: the share of replicates in which it is at least as good."


def board_page(data: Data, against: str | None, choice: TableChoice) -> Page:
    """Yield the board, its groups if any were asked for, the legend and the notes."""
    name = plain(against or "the first")
    columns: tuple[TableColumn, ...] = PAPER
    legend = PAPER_LEGEND.format(against=name)
    if data["mode"] != "paper":
        columns = SITE
        legend = SITE_LEGEND
        if against is not None:
            share = TableColumn("p", f"at least {name}", ".1%", value=lambda row: row["p"].get(against))
            columns = (*SITE, share)
            legend = f"{SITE_LEGEND} {AGAINST_LEGEND.format(against=name)}"

    yield Table(columns, data["rows"], choice=choice)
    if data["groups"]:
        yield Table(GROUPS, data["groups"])
    yield legend
    for note in data["notes"]:
        yield f"- {plain(note)}"
