"""`arena check` on a folder of questions: its contents, and each fault by file, line and field."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from arena.cli.options import DEFAULT, Options
from arena.cli.output import command_line, program
from arena.cli.page import Page
from arena.cli.table import Table, TableColumn
from arena.errors import ArenaError, count_text
from arena.forms.asked_questions import read_public_folder
from arena.rounds.adapters import unfrozen_settings
from arena.rounds.settlement import venue_error
from markets.distributions import form_of
from markets.question_files.asked import QuestionFolder
from markets.question_files.folder_reader import data_files
from markets.venue import VenueError
from markets.venues.questions import read_questions

RECORDED = ("markets.jsonl", "markets.jsonl.gz", "prices.csv", "prices.csv.gz")
"""Files of which every recording has at least one."""
FAULTS = (
    TableColumn("file", narrow="wrap"),
    TableColumn("line", value=lambda fault: fault.line or None),
    TableColumn("field"),
    TableColumn("message", "wrong", narrow="wrap"),
    TableColumn("hint", "what to do", narrow="wrap"),
)


def is_question_folder(folder: Path) -> bool:
    """Tell whether a folder may hold questions: it has data files, and none of a recording."""
    is_recording = any((folder / name).exists() for name in RECORDED)
    if is_recording or not folder.is_dir():
        return False
    return any(path.name != DEFAULT.name for path in data_files(folder))


def check_questions(chosen: Options, folder: Path) -> None:
    """Print the contents of a folder of questions and its faults; exit with status 1 if it has any."""
    try:
        contents = read_questions(folder, read_public_folder)
    except VenueError as error:
        raise venue_error(error) from error

    next_command = f"{program()} check --config FILE"
    if is_played_by_config(chosen, folder):
        next_command = command_line("check")
    data = {"folder": folder, "ok": not contents.faults} | question_counts(contents)
    data["faults"] = [asdict(fault) | {"place": fault.place} for fault in contents.faults]
    chosen.print_answer(data, folder_page, data, contents, next_command)
    if contents.faults:
        raise typer.Exit(1)


def is_played_by_config(chosen: Options, folder: Path) -> bool:
    """Tell whether the config plays the questions of a folder; not if it can't be read."""
    try:
        config = chosen.known_config()
    except ArenaError:
        return False
    if config is None or config.markets.venue != "questions":
        return False
    settings = unfrozen_settings(config.venue_settings, config.folder)
    return Path(str(settings["folder"])).resolve() == folder.resolve()


def question_counts(contents: QuestionFolder) -> dict[str, Any]:
    """Return the counts of questions by kind, with odds and with an outcome, and their first and last day."""
    asked = contents.questions.values()
    kinds = Counter(form_of(question.market.form).kind for question in asked)
    return {
        "form": contents.form,
        "questions": len(asked),
        "kinds": dict(sorted(kinds.items())),
        "with_odds": sum(bool(question.odds) for question in asked),
        "ended": sum(bool(question.ends) for question in asked),
        "first": min((question.market.opens_at for question in asked), default=None),
        "last": max((question.market.closes_at for question in asked), default=None),
    }


def folder_page(data: dict[str, Any], contents: QuestionFolder, next_command: str) -> Page:
    """Yield the faults of a folder, or the counts of its questions and the next command."""
    folder = data["folder"]
    if contents.faults:
        yield Table(FAULTS, contents.faults)
        yield (
            f"{count_text(len(contents.faults), 'fault')} in {folder}. Rows that have one are not played, "
            "and nothing is while a whole file or its columns have one."
        )
        return

    kinds = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in data["kinds"].items())
    yield (
        f"{folder} is valid ({contents.form}): {count_text(data['questions'], 'question')} ({kinds}), "
        f"{data['with_odds']:,} with odds, {data['ended']:,} with an outcome, from {data['first']:%Y-%m-%d} "
        f"to {data['last']:%Y-%m-%d}."
    )
    yield f"In the config they are markets: {{venue: questions, questions: {{folder: {folder}}}}}."
    yield f"Next: {next_command}"
