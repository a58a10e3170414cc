"""`arena score` and `arena tournament`: anyone's forecasts, scored from a file."""

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.leaderboard import between
from arena.cli.options import Options, command
from arena.cli.output import plain
from arena.cli.table import TableChoice, TableColumn, print_table, print_text
from arena.errors import VERDICTS, ArenaError, times_text


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
    from arena.scores.rules.metaculus.tournament import TournamentBoard

FORECASTER = TableColumn("forecaster", show=plain, narrow="cut middle")
COLUMNS = (
    FORECASTER,
    TableColumn("skill", show="+.4f"),
    TableColumn("interval", "95% interval", value=between("skill_low", "skill_high")),
    TableColumn("verdict", show=VERDICTS.__getitem__, gives_way=2),
    TableColumn("evidence", show=times_text, gives_way=1),
    TableColumn("brier", "Brier", ".4f"),
    TableColumn("log", show=".4f", gives_way=4),
    TableColumn("baseline", show="+.2f", gives_way=3),
    TableColumn("peer", show="+.2f", gives_way=2),
    TableColumn("relative", show="+.3f", gives_way=6),
    TableColumn("coverage", show=".0%", gives_way=5),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("questions", show=",d", gives_way=7),
    TableColumn("events", show=",d", gives_way=8),
)
UNRANKED = (
    FORECASTER,
    TableColumn("why_not", "why not", narrow="wrap"),
    TableColumn("brier", "Brier", ".4f"),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("questions", show=",d", gives_way=1),
)
LEGEND = (
    "Brier: lower is better, the others: higher. Skill: the market's Brier − the forecaster's. Mode {mode}."
)
PLACES = (
    TableColumn("rank"),
    FORECASTER,
    TableColumn("score", show="+.3f"),
    TableColumn("coverage", show=".2f", gives_way=1),
    TableColumn("take", show=",.3f", gives_way=1),
    TableColumn("share", show=".1%"),
    TableColumn("prize", "prize $", ",.2f"),
    TableColumn("questions", show=",d", gives_way=2),
    TableColumn("excluded", "", lambda yes: "excluded" if yes else ""),
)
FORMS = {
    "peer": "score = sum of peer scores; take = its square, or 0 if the score is negative",
    "2022": "score = sum of relative log scores; take = e^score · coverage",
}


class Modes(StrEnum):
    """How Metaculus's scores are computed."""

    exact = "exact"
    metaculus = "metaculus"


Mode = Annotated[
    Modes,
    typer.Option(help="Metaculus's scores as documented, or as its site computes them."),
]


class ScoreBy(StrEnum):
    """What the forecasts of a file can be told apart by."""

    category = "category"


@command(record=False, table=True)
def score(
    chosen: Options,
    file: Annotated[
        Path, typer.Argument(metavar="FILE.csv", help="A forecast a line; - reads standard input.")
    ],
    mode: Mode = Modes.exact,
    by: Annotated[ScoreBy | None, typer.Option(help="One table for each category.")] = None,
) -> None:
    """Score anyone's forecasts, without an arena.

    The first line of the CSV names its columns: question, forecaster, probability (of YES, 0 to 1) and
    outcome (1 for yes, 0 for no, empty while open). With market_probability there is skill against the
    market; with event, its interval allows for questions that move together. With time and resolved there is
    a verdict: who is proven to beat the market. With time, open, close and scheduled_close, baseline, peer
    and relative scores are averaged over each question's life. category is for --by. Who has forecast less
    than 80% of the questions is not ranked. A file with a mistake in it is not scored; the error names line,
    column and remedy.

    Example: arena score forecasts.csv

    Next: arena tournament shares out prizes.
    """
    from arena.scores.files.forecasts import read_forecasts
    from arena.scores.files.scores import score_file

    table = read_forecasts(str(file), text_of(file))
    if by is not None and table.category is None:
        raise ArenaError("no_category", f"{file} has no column category", "add it, or leave out --by")
    found = score_file(table, mode.value, by_category=by is not None)
    chosen.answer(as_data(found), say, found, chosen.table)


def as_data(found: "FileScores") -> dict[str, Any]:
    """The board for JSON, which has no infinity."""
    from arena.scores.files.scores import without_infinity

    return {
        "mode": found.mode,
        "sentence": found.sentence,
        "leader": found.leader,
        "bar": found.bar,
        "rows": [asdict(without_infinity(row)) for row in found.rows],
        "notes": list(found.notes),
    }


def say(found: "FileScores", choice: TableChoice) -> None:
    """The same in words: a table for each category, and what there is to know."""
    if found.sentence is not None:
        print_text(plain(found.sentence))
        print()
    for category in dict.fromkeys(row.category for row in found.rows):
        rows = [row for row in found.rows if row.category == category]
        title = "" if category is None else plain(category) or "(no category)"
        ranked, others = ([row for row in rows if row.ranked == wanted] for wanted in (True, False))
        if ranked:
            print_table(COLUMNS, ranked, title, choice)
        if others:
            print_table(UNRANKED, others, f"{title}: not ranked" if title else "Not ranked")
    print(LEGEND.format(mode=found.mode))
    for note in found.notes:
        print(f"- {note}")


@command(record=False, table=True)
def tournament(
    chosen: Options,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file: form, pool, forecasts.")],
    mode: Mode = Modes.exact,
) -> None:
    """Share out a tournament's prizes by Metaculus's rules.

    The file says `form: peer` (since 2024) or `form: 2022`, `pool:` in dollars and `forecasts:`, a CSV beside
    it with the columns question, forecaster, probability and outcome, and optionally time, end, open, close
    and scheduled_close. `form: peer` takes minimum_prize, exclude (from prizes), outside (of the comparison)
    and weights; `form: 2022` takes hidden_weight, for the time until hidden_until. Instead of probability and
    outcome the CSV may have chance, the probability or density given to what happened.

    Example: arena tournament cup.yaml

    Next: arena score FILE.csv gives everyone's other scores.
    """
    from arena.scores.files.tournament import read_entries, read_settings, score_tournament

    text_of(file)  # which says better than a config's reader that a file is not there
    said = read_settings(file)
    entries = read_entries(said.forecasts, text_of(file.parent / said.forecasts))
    found = tournament_data(
        score_tournament(said, entries, mode.value), said.form, said.pool, entries.left_out
    )
    chosen.answer(found, say_places, found, chosen.table)


def tournament_data(found: "TournamentBoard", form: str, pool: float, left_out: int) -> dict[str, Any]:
    """The board for JSON."""
    notes = []
    if left_out:
        count = "1 question" if left_out == 1 else f"{left_out:,} questions"
        notes.append(f"not scored: {count} without an outcome of 0 or 1")
    if not found.places:
        notes.append("nothing resolved: no question has an outcome of 0 or 1, so nobody wins anything")
    elif not any(place.share for place in found.places):
        notes.append("nobody has a take above 0, so nobody wins anything")
    return {
        "form": form,
        "mode": found.mode,
        "pool": pool,
        "rows": [asdict(place) for place in found.places],
        "notes": notes,
    }


def say_places(found: dict[str, Any], choice: TableChoice) -> None:
    """The same in words."""
    print_table(PLACES, found["rows"], choice=choice)
    print(f"Form {found['form']}, mode {found['mode']}: {FORMS[found['form']]}; prizes are shared by take.")
    for note in found["notes"]:
        print(f"- {note}")
