"""ForecastBench's files, on disk and in the record: question sets, resolutions, and submissions."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.cli.options import DEFAULT, Options, clock_of
from arena.cli.output import Data, plain, progress
from arena.cli.page import Page
from arena.cli.score import text_of, texts_of
from arena.cli.table import Table, TableChoice, TableColumn
from arena.errors import ArenaError, FileFault, FileFaults, count_text
from arena.record.model.benchmark import BenchmarkFile
from arena.record.queries.benchmark import newest_files
from arena.record.schema.database import NoRecord
from arena.rounds.benchmark_rounds import PUBLISHED, FileSource, resolve_rounds
from arena.rounds.forecasting import answers_csv, read_recorded_answers
from arena.scores.files.forecastbench import (
    ForecastFile,
    QuestionSet,
    Submitter,
    check_answers,
    in_row_order,
    read_forecast_file,
    read_question_set,
    read_resolution_set,
    strictly,
    submission,
)
from arena.scores.files.forecastbench_board import Forecasters, gather, read_table

TEAM = re.compile(r"[\w-][\w -]*")
FAULTS = (
    TableColumn("file", narrow="cut middle", gives_way=2),
    TableColumn("row"),
    TableColumn("field", show=plain),
    TableColumn("message", "fault", plain, narrow="wrap"),
    TableColumn("mend", "remedy", plain, narrow="wrap"),
)


# ── sets ─────────────────────────────────────────────────────────────────────────────────────────────────


def stored_files(chosen: Options, kind: str) -> list[BenchmarkFile]:
    """Return the newest files of a kind in the record; none where there is no record."""
    if chosen.config is None and chosen.database is None and not DEFAULT.exists():
        return []
    try:
        with chosen.reading() as connection:
            return newest_files(connection, kind)
    except NoRecord:
        return []


def texts_or_stored(chosen: Options, files: Sequence[Path], kind: str) -> list[tuple[str, str]]:
    """Return the names and texts of files, or of those of a kind in the record if none are named."""
    if files:
        return texts_of(files)
    return [(stored.name, stored.text) for stored in stored_files(chosen, kind)]


def question_sets(chosen: Options, files: Sequence[Path], combinations: bool = False) -> list[QuestionSet]:
    """Return the question sets of files, else of the record; raise `ArenaError` for a fault in one."""
    sets: dict[str, QuestionSet] = {}
    for name, text in texts_or_stored(chosen, files, "questions"):
        questions: QuestionSet = strictly(read_question_set, name, text, combinations)
        if questions.due in sets:
            words = f"there are two question sets of {questions.due}"
            raise ArenaError("two_sets", words, "name one of a round")
        sets[questions.due] = questions
    return list(sets.values())


def newest_set(chosen: Options, files: Sequence[Path], due: str | None) -> QuestionSet:
    """Return the question set due on a day, or the newest."""
    sets = [questions for questions in question_sets(chosen, files) if due in (None, questions.due)]
    if not sets:
        words = f"there is no question set due {due}" if due else "there is no question set"
        hint = "arena study forecastbench run reads one, or name it with --questions"
        raise ArenaError("no_questions", words, hint)
    return max(sets, key=lambda questions: questions.due)


def fetch_resolutions(chosen: Options, source: str | None, clock: Path | None) -> dict[str, Any]:
    """Store the resolutions of all stored rounds, and return what is new in them."""
    with chosen.writing() as record, progress("Fetching resolutions"):
        resolved, waiting = resolve_rounds(record, FileSource(source or PUBLISHED), clock_of(clock)().now())
    return {"rounds": [asdict(one) for one in resolved], "waiting": waiting}


def resolutions_page(fetched: Data) -> Page:
    """Yield what is new in the resolutions of each round, and which rounds have none."""
    for row in fetched["rounds"]:
        yield f"{row['name']}: version {row['version']}, {'new' if row['is_new'] else 'as before'}"
        at = f" at the crowd's probability of {row['priced_at']}" if row["open"] else ""
        markets = count_text(row["market"], "market")
        yield f"  resolved: {row['dataset']:,} data rows, {markets}; open: {row['open']:,}{at}"
        if row["is_new"] and row["version"] > 1:
            yield f"  new rows: {row['added']:,}; prices moved: {row['moved']:,}; gone: {row['gone']:,}"
        for change in row["corrected"]:
            yield f"  changed: {plain(change)}"
    for name in fetched["waiting"]:
        yield f"{name}: no resolutions yet"


# ── submissions ──────────────────────────────────────────────────────────────────────────────────────────


def answers_of(chosen: Options, asked: QuestionSet, agent: str, cohort: int | None) -> tuple[str, str]:
    """Return where an agent's newest answers to a set are from, and the answers as a CSV."""
    with chosen.reading() as connection:
        every = read_recorded_answers(connection, [asked.due])
    answers = [one for one in every if cohort in (None, one.cohort)]
    own = [one for one in answers if agent in (one.agent, one.filed.model)]
    if not own:
        names = ", ".join(dict.fromkeys(one.agent for one in answers))
        words = f"there are no answers of {agent!r} to {asked.name}"
        hint = f"agents with answers: {names or 'none yet: arena study forecastbench run'}"
        raise ArenaError("no_answers", words, hint)
    newest = max(own, key=lambda one: one.cohort)
    return newest.filed.file, answers_csv(newest)


def write_submission(
    answers: tuple[str, str], by: Submitter, asked: QuestionSet, folder: Path
) -> dict[str, Any]:
    """Write answers in the published form, and return what was written; raise `FileFaults` for a fault."""
    if not TEAM.fullmatch(by.organization):
        words = f"{by.organization!r} can't be part of a file's name"
        raise ArenaError("bad_name", words, "use letters, digits, spaces, - and _", status=64)
    document, filed, faults = submission(*answers, by, asked)
    if faults:
        raise FileFaults(faults)

    target = folder / f"{asked.due}.{by.organization}.{by.number}.json"
    text = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.read_bytes() != text:
            words = f"{target} already exists with other content"
            raise ArenaError("exists", words, "choose another --n")
        target.write_bytes(text)
    except OSError as error:
        raise ArenaError("unwritable", f"{target}: {error.strerror}", "name a writable folder") from error
    return {"file": target, "forecasts": len(filed.rows), "question_set": asked.name, "due": asked.due}


def submission_page(data: Data) -> Page:
    """Yield what was written."""
    count = count_text(data["forecasts"], "forecast")
    yield f"{data['file']}: {count} for {data['question_set']}, due {data['due']}"


def check_files(
    chosen: Options, files: Sequence[Path], questions: Sequence[Path], combinations: bool
) -> dict[str, Any]:
    """Return what submissions hold, and all that is wrong with them, for JSON."""
    sets = {one.due: one for one in question_sets(chosen, questions, combinations)}
    checked = []
    faults: list[FileFault] = []
    for file in files:
        name = str(file)
        try:
            filed, wrong = read_forecast_file(name, text_of(file), combinations)
        except ArenaError as error:  # the other files are checked all the same
            faults.append(FileFault(name, "file", error.message, error.hint))
            continue

        asked = sets.get(filed.due)
        if asked is None and len(sets) == 1:
            [asked] = sets.values()
        if asked is not None:
            wrong = [*wrong, *check_answers(filed, asked)]
        elif sets:
            words = f"no set is of {filed.due or 'no day'}"
            wrong = [*wrong, FileFault(name, "forecast_due_date", words, "name it")]

        faults += in_row_order(wrong)
        counts = {"forecasts": len(filed.rows), "combinations": filed.combinations}
        checked.append({"file": file, **counts, "question_set": asked.name if asked else None})
    return {"files": checked, "faults": [fault.as_data() for fault in faults]}


def check_page(data: Data, choice: TableChoice) -> Page:
    """Yield the faults of submissions, and what each submission was checked against."""
    if data["faults"]:
        yield Table(FAULTS, data["faults"], choice=choice)
    for row in data["files"]:
        wrong = sum(fault["file"] == str(row["file"]) for fault in data["faults"])
        verdict = count_text(wrong, "fault") if wrong else "no fault"
        left_out = f", {row['combinations']:,} about two questions left out" if row["combinations"] else ""
        yield f"{row['file']}: {count_text(row['forecasts'], 'forecast')}{left_out}: {verdict}"
        against = row["question_set"] or "no question set, so ids and coverage are not checked"
        yield f"  checked against {against}"


# ── what is scored ───────────────────────────────────────────────────────────────────────────────────────


def gathered(
    chosen: Options,
    files: Sequence[Path],
    questions: Sequence[Path],
    resolutions: Sequence[Path],
    combinations: bool,
    mode: str,
    median: str | None,
    recorded: Sequence[ForecastFile],
) -> Forecasters:
    """Return the forecasts of files and of the record's agents beside what their questions came to.

    Sets that are not named are those of the record.
    """
    texts = texts_of(files)
    named = bool(questions or resolutions)
    for name, text in texts:
        if not text.lstrip().startswith(("{", "[")):
            if len(texts) > 1 or named or median:
                hint = "name it alone: it already has outcomes and forecasters"
                raise ArenaError("bad_file", f"{name} is a CSV that joins forecasts", hint)
            return read_table(name, text)

    sets = question_sets(chosen, questions, combinations)
    outcomes = texts_of(resolutions) if named else texts_or_stored(chosen, (), "resolutions")
    resolved = [strictly(read_resolution_set, name, text, combinations) for name, text in outcomes]
    filed = [strictly(read_forecast_file, name, text, combinations) for name, text in texts]

    dues = {one.due for one in resolved}
    if sets:
        dues &= {one.due for one in sets}
    filed += [one for one in recorded if one.due in dues]
    if not filed:
        words = "nothing to score: no agent has answered a round with stored resolutions"
        hint = "arena study forecastbench run, then board --fetch; or name files of forecasts"
        raise ArenaError("nothing", words, hint)
    return gather(filed, sets, resolved, mode, median)


def recorded_files(chosen: Options) -> list[ForecastFile]:
    """Return what the agents of the record have answered; nothing where there is no record."""
    try:
        with chosen.reading() as connection:
            return [answers.filed for answers in read_recorded_answers(connection)]
    except NoRecord:
        return []
