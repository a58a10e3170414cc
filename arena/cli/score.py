"""`arena score`: anyone's forecasts, scored from a file."""

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.leaderboard import print_cells
from arena.cli.options import Json
from arena.cli.output import print_json
from arena.errors import ArenaError


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, with or without a mark at its beginning; `-` is the standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise ArenaError(
            "no_file", f"{file} can't be read: {error.strerror}", "name a file that exists"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ArenaError("bad_file", f"{file}:{line}: this is not UTF-8", "save the file as UTF-8") from error


if TYPE_CHECKING:
    from arena.scores.files.scores import FileScores

COLUMNS = (
    ("forecaster", "forecaster", None),
    ("skill", "skill", "+.4f"),
    ("from", "skill_low", "+.4f"),
    ("to", "skill_high", "+.4f"),
    ("Brier", "brier", ".4f"),
    ("log", "log", ".4f"),
    ("baseline", "baseline", "+.2f"),
    ("peer", "peer", "+.2f"),
    ("relative", "relative", "+.3f"),
    ("cover", "coverage", ".0%"),
    ("forecasts", "forecasts", ",d"),
    ("questions", "questions", ",d"),
    ("events", "events", ",d"),
)
LEGEND = (
    "Brier: lower is better; the other scores: higher. skill = the market's Brier − the forecaster's, and\n"
    "in 95% of cases the true one lies between from and to. baseline, peer and relative: mode {mode}."
)


class Modes(StrEnum):
    """How Metaculus's rules are played."""

    exact = "exact"
    metaculus = "metaculus"


Mode = Annotated[
    Modes,
    typer.Option(help="Metaculus's scores as their text says, or as its site works them out."),
]


class ScoreBy(StrEnum):
    """What the forecasts of a file can be told apart by."""

    category = "category"


def score(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A forecast a line; - reads the input.")],
    mode: Mode = Modes.exact,
    by: Annotated[ScoreBy | None, typer.Option(help="A board for each category of the file.")] = None,
    as_json: Json = False,
) -> None:
    """Score anyone's forecasts, without an arena.

    The file is a CSV whose first line names its columns: question, forecaster, probability (of YES, from 0 to
    1) and outcome (1 for yes, 0 for no, empty while open). With market_probability beside each forecast there
    is skill, how much closer than the market, and with event (what several questions are about) its interval
    is honest about questions that move together. With time, open, close and scheduled_close, baseline, peer
    and relative scores are means over the life of each question. category is for --by. A file with anything
    wrong in it is not scored: the line, the column and the mend are named.

    Example: arena score forecasts.csv

    Next: arena score forecasts.csv --json for programs; arena tournament shares out prizes.
    """
    from arena.scores.files.forecasts import read_forecasts
    from arena.scores.files.scores import score_file

    table = read_forecasts(str(file), text_of(file))
    if by is not None and table.category is None:
        raise ArenaError("no_category", f"{file} has no column category", "add it, or leave out --by")
    found = score_file(table, mode.value, by_category=by is not None)
    if as_json:
        print_json(as_data(found))
    else:
        say(found)


def as_data(found: "FileScores") -> dict[str, Any]:
    """The board for JSON, which has no infinity."""
    from arena.scores.files.scores import without_infinity

    return {
        "mode": found.mode,
        "rows": [asdict(without_infinity(row)) for row in found.rows],
        "notes": list(found.notes),
    }


def say(found: "FileScores") -> None:
    """The same in words: a table for each category, and what there is to know."""
    for category in dict.fromkeys(row.category for row in found.rows):
        rows = [asdict(row) for row in found.rows if row.category == category]
        print_cells(COLUMNS, rows, title=None if category is None else category or "(no category)")
    print(LEGEND.format(mode=found.mode))
    for note in found.notes:
        print(f"- {note}")
