"""`arena score` on a tournament: reads it, computes everyone's prize, and prints the page."""

from collections.abc import Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path

from arena.cli.options import Options
from arena.cli.output import Data
from arena.cli.page import Page
from arena.cli.score import read_text
from arena.cli.score_page import FORECASTER
from arena.cli.table import Table, TableChoice, TableColumn
from arena.operations.page_programs import check_output, writing
from arena.scores.cohort_tournament import read_cohort_tournament
from arena.scores.files.tournament import (
    PlayedTournament,
    TournamentResult,
    entries_text,
    prizes_by_weight,
    read_entries,
    read_settings,
    tournament_result,
)
from arena.scores.rules.metaculus.forecasts import Mode

PLACES = (
    TableColumn("rank"),
    FORECASTER,
    TableColumn("score", show="+.3f"),
    TableColumn("coverage", show=".0%", gives_way=1),
    TableColumn("take", show=",.3f", gives_way=1),
    TableColumn("share", show=".1%"),
    TableColumn("prize", "prize $", ",.2f"),
)
EXCLUDED = TableColumn("excluded", "", lambda yes: "excluded" if yes else "")
FORMS = {
    "peer": "score = sum of peer scores; take = its square, or 0 if the score is negative",
    "2022": "score = sum of relative log scores; take = e^score · coverage",
}
WEIGHTS = ("0", "0.25", "0.5", "0.75", "1")
"""The weights of the hidden period that a sweep tries."""
SWEEP = (
    FORECASTER,
    *(TableColumn(weight, f"{float(weight):.0%}", ",.2f", value=itemgetter(weight)) for weight in WEIGHTS),
)


def show_prizes(
    chosen: Options, file: Path, mode: Mode, sweep: bool, entries_file: Path | None, force: bool
) -> None:
    """Print everyone's place and prize in a tournament; also write its forecasts if a file is given."""
    read_text(file)  # a clearer error for a missing file than the config reader's
    settings = read_settings(file)
    if settings.cohort is None:
        entries = read_entries(settings.source, read_text(file.parent / settings.source))
        played = PlayedTournament(settings, entries)
    else:
        with chosen.reading() as connection:
            played = read_cohort_tournament(connection, settings, settings.cohort)

    result = tournament_result(played, mode)
    data = asdict(result)
    if entries_file is not None:
        check_output(entries_file, force)
        with writing(entries_file):
            entries_file.write_text(entries_text(played.entries), "utf-8")
        data["entries"] = str(entries_file)

    prizes_by_forecaster = []
    if sweep:
        for name, prizes in prizes_by_weight(played, WEIGHTS, mode).items():
            prizes_by_forecaster.append({"forecaster": name, "prizes": prizes})
        data["sweep"] = prizes_by_forecaster
    chosen.print_answer(data, tournament_page, result, prizes_by_forecaster, chosen.table_choice)


def tournament_page(
    result: TournamentResult, prizes_by_forecaster: Sequence[Data], choice: TableChoice
) -> Page:
    """Yield the board of a tournament, its rules, the sweep and the notes."""
    questions_column = TableColumn(
        "answered", "questions", gives_way=2, value=lambda place: f"{place.questions:,} of {result.asked:,}"
    )
    yield Table((*PLACES, questions_column, EXCLUDED), result.rows, choice=choice)
    yield f"Form {result.form}, mode {result.mode}: {FORMS[result.form]}; prizes are shared by take."
    if result.hidden_weight is not None:
        weighted = "scores and coverage" if result.form == "peer" else "coverage"
        yield f"The hidden period counts {result.hidden_weight:.0%} of {weighted}."

    if prizes_by_forecaster:
        rows = [{"forecaster": row["forecaster"]} | row["prizes"] for row in prizes_by_forecaster]
        yield Table(SWEEP, rows, "Prizes by the weight of the hidden period")
    for note in result.notes:
        yield f"- {note}"
