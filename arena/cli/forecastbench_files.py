"""ForecastBench's files, on disk and in the record: question sets, resolutions, and submissions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from arena.cli.options import Options, clock_opener
from arena.cli.output import Data, plain, prints_to_stderr, progress
from arena.cli.page import Page, print_page
from arena.cli.score import read_text, read_texts
from arena.cli.table import Table, TableChoice, TableColumn
from arena.errors import ArenaError, FileFault, count_text
from arena.exports.forecastbench_forms import WrittenSubmission
from arena.forms.bench.combinations import without_combinations
from arena.forms.bench.model import ForecastFile, QuestionSet
from arena.record.queries.benchmark import newest_files
from arena.record.schema.database import NoRecord
from arena.rounds.benchmark_rounds import PUBLISHED, FileSource, ResolvedRound, resolve_rounds
from arena.rounds.forecasting import answers_csv, newest_answers, read_recorded_answers
from arena.scores.files.forecastbench_rows import Forecasters
from arena.scores.files.forecastbench_texts import (
    CheckedSubmission,
    NamedText,
    check_submission,
    gather_texts,
    read_joined_table,
    read_sets,
)

FAULTS = (
    TableColumn("file", narrow="cut middle", gives_way=2),
    TableColumn("row"),
    TableColumn("field", show=plain),
    TableColumn("message", "fault", plain, narrow="wrap"),
    TableColumn("mend", "remedy", plain, narrow="wrap"),
)


# ── sets ─────────────────────────────────────────────────────────────────────────────────────────────────


def texts_or_stored(chosen: Options, files: Sequence[Path], kind: str) -> list[NamedText]:
    """Return the names and texts of files, by default the record's newest files of a kind."""
    if files:
        return read_texts(files)
    if chosen.database is None and not chosen.has_config:
        return []
    try:
        with chosen.reading() as connection:
            return [(file.name, file.text) for file in newest_files(connection, kind)]
    except NoRecord:
        return []


def recorded_files(chosen: Options, combinations: bool) -> list[ForecastFile]:
    """Return the answers of the record's agents; an empty list without a record."""
    try:
        with chosen.reading() as connection:
            files = [answers.filed for answers in read_recorded_answers(connection)]
    except NoRecord:
        return []
    if combinations:
        return files
    return [without_combinations(filed) for filed in files]


def question_sets(chosen: Options, files: Sequence[Path], combinations: bool = False) -> list[QuestionSet]:
    """Return the question sets of files, by default the record's; raise `ArenaError` for a fault in one."""
    return read_sets(texts_or_stored(chosen, files, "questions"), combinations)


def fetch_resolutions(chosen: Options, source: str | None, clock: Path | None) -> dict[str, Any]:
    """Store the resolutions of all stored rounds; print what is new in them, and return it for JSON."""
    at = clock_opener(clock)().now()
    with chosen.writing() as record, progress("Fetching resolutions"):
        resolved, waiting = resolve_rounds(record, FileSource(source or PUBLISHED), at)
    with prints_to_stderr():
        print_page(resolutions_page(resolved, waiting))
    return {"rounds": resolved, "waiting": waiting}


def resolutions_page(rounds: Sequence[ResolvedRound], waiting: Sequence[str]) -> Page:
    """Yield what is new in the resolutions of each round, and the rounds without any."""
    for row in rounds:
        news = "new" if row.is_new else "as before"
        yield f"{row.name}: version {row.version}, {news}"

        still_open = f"{row.open:,}"
        if row.open:
            still_open += f" at the crowd's probability of {row.priced_at}"
        markets = count_text(row.market, "market")
        yield f"  resolved: {row.dataset:,} data rows, {markets}; open: {still_open}"
        if row.is_new and row.version > 1:
            yield f"  new rows: {row.added:,}; prices moved: {row.moved:,}; gone: {row.gone:,}"
        for change in row.corrected:
            yield f"  changed: {plain(change)}"
    for name in waiting:
        yield f"{name}: no resolutions yet"


# ── submissions ──────────────────────────────────────────────────────────────────────────────────────────


def submission_page(written: WrittenSubmission) -> Page:
    """Yield the file written, and the number of its forecasts."""
    count = count_text(written.forecasts, "forecast")
    yield f"{written.file}: {count} for {written.question_set}, due {written.due}"


def recorded_answers(
    chosen: Options, question_set: QuestionSet, agent: str, cohort: int | None, combinations: bool
) -> NamedText:
    """Return an agent's newest answers to a question set as a CSV, and the file that they are filed as."""
    with chosen.reading() as connection:
        answers = newest_answers(connection, question_set, agent, cohort)
    return answers.filed.file, answers_csv(answers, combinations)


def check_submissions(
    chosen: Options, files: Sequence[Path], questions: Sequence[Path], combinations: bool
) -> None:
    """Print the faults of submissions; raise `typer.Exit` with status 1 if there are any."""
    if not files:
        raise ArenaError("no_file", "--check is given no file", "name files of forecasts", status=64)

    sets = question_sets(chosen, questions, combinations)
    checked, faults = check_files(files, sets, combinations)
    fault_rows = [fault.as_data() for fault in faults]
    chosen.print_answer(
        {"files": checked, "faults": fault_rows}, check_page, checked, fault_rows, chosen.table_choice
    )
    if faults:
        raise typer.Exit(1)


def check_files(
    files: Sequence[Path], sets: Sequence[QuestionSet], combinations: bool
) -> tuple[list[CheckedSubmission], list[FileFault]]:
    """Return the contents of submissions, and all faults in them."""
    checked: list[CheckedSubmission] = []
    faults: list[FileFault] = []
    for file in files:
        name = str(file)
        try:
            submission, submission_faults = check_submission(name, read_text(file), sets, combinations)
        except ArenaError as error:  # continue with the other files
            faults.append(FileFault(name, "file", error.message, error.hint))
            continue
        checked.append(submission)
        faults += submission_faults
    return checked, faults


def check_page(checked: Sequence[CheckedSubmission], faults: Sequence[Data], choice: TableChoice) -> Page:
    """Yield the faults of submissions, and the question set that each was checked against."""
    if faults:
        yield Table(FAULTS, faults, choice=choice)
    for row in checked:
        left_out = ""
        if row.combinations:
            left_out = f", {row.combinations:,} about two questions left out"
        verdict = count_text(row.faults, "fault") if row.faults else "no fault"
        yield f"{row.file}: {count_text(row.forecasts, 'forecast')}{left_out}: {verdict}"
        against = row.question_set or "no question set, so ids and coverage are not checked"
        yield f"  checked against {against}"


# ── what is scored ───────────────────────────────────────────────────────────────────────────────────────


def gather(
    chosen: Options,
    files: Sequence[Path],
    questions: Sequence[Path],
    resolutions: Sequence[Path],
    combinations: bool,
    mode: str,
    median: str | None,
    agents: bool,
) -> Forecasters:
    """Return the forecasts of files and of the record's agents, with the outcomes of their questions.

    With files, the agents are left out unless `agents` is set. Sets that are not named are taken from the
    record.
    """
    recorded: list[ForecastFile] = []
    if agents or not files:
        recorded = recorded_files(chosen, combinations)

    # A single file may be a table that joins forecasts with their outcomes: it needs no other file.
    texts = read_texts(files)
    is_alone = len(texts) == 1 and not any((questions, resolutions, median))
    joined_table = read_joined_table(texts, is_alone)
    if joined_table is not None:
        return joined_table

    outcomes: list[NamedText] = []
    if resolutions or not questions:
        outcomes = texts_or_stored(chosen, resolutions, "resolutions")
    sets = question_sets(chosen, questions, combinations)
    return gather_texts(texts, sets, outcomes, recorded, combinations=combinations, mode=mode, median=median)
