"""ForecastBench's files by name and text: sets of rounds, submissions to check, and forecasts to score."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from arena.errors import ArenaError, FileFault
from arena.forms.bench.answers import check_answers
from arena.forms.bench.bench_rows import in_row_order
from arena.forms.bench.model import ForecastFile, QuestionSet
from arena.forms.bench.reading import (
    Reading,
    read_forecast_file,
    read_question_set,
    read_resolution_set,
    strictly,
)
from arena.scores.files.forecastbench_rows import Forecasters, gather, read_table

NamedText = tuple[str, str]
"""The name of a file, and its text."""


def _read_all(read: Reading, texts: Iterable[NamedText], combinations: bool = False) -> list[Any]:
    """Return the content of files; raise `ArenaError` for a fault in one."""
    return [strictly(read, name, text, combinations) for name, text in texts]


def read_sets(texts: Iterable[NamedText], combinations: bool = False) -> list[QuestionSet]:
    """Return the question sets of files; raise `ArenaError` for a fault, or for two sets of one round."""
    sets: dict[str, QuestionSet] = {}
    questions: QuestionSet
    for questions in _read_all(read_question_set, texts, combinations):
        if questions.due in sets:
            message = f"there are two question sets of {questions.due}"
            raise ArenaError("two_sets", message, "name one of a round")
        sets[questions.due] = questions
    return list(sets.values())


def newest_set(sets: Iterable[QuestionSet], due: str | None) -> QuestionSet:
    """Return the question set due on a day, or the newest."""
    wanted = [questions for questions in sets if due in (None, questions.due)]
    if not wanted:
        message = "there is no question set"
        if due:
            message += f" due {due}"
        hint = "arena study forecastbench run reads one, or name it with --questions"
        raise ArenaError("no_questions", message, hint)
    return max(wanted, key=lambda questions: questions.due)


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A checked submission: its content, the set it was checked against, if any, and its number of faults."""

    file: str
    forecasts: int
    combinations: int
    question_set: str | None
    faults: int


def check_submission(
    name: str, text: str, sets: Sequence[QuestionSet], combinations: bool
) -> tuple[CheckedSubmission, list[FileFault]]:
    """Return the summary of a submission and all of its faults, checked against its round's set.

    If there is only one set, it is checked against that one.
    """
    filed, faults = read_forecast_file(name, text, combinations)
    by_due = {questions.due: questions for questions in sets}
    only = sets[0] if len(sets) == 1 else None
    questions = by_due.get(filed.due, only)
    if questions is not None:
        faults = [*faults, *check_answers(filed, questions)]
    elif sets:
        message = f"no set is of {filed.due or 'no day'}"
        faults = [*faults, FileFault(name, "forecast_due_date", message, "name it")]

    against = None if questions is None else questions.name
    checked = CheckedSubmission(name, len(filed.rows), filed.combinations, against, len(faults))
    return checked, in_row_order(faults)


def read_joined_table(texts: Iterable[NamedText], is_alone: bool) -> Forecasters | None:
    """Return the forecasters of a CSV that joins forecasts with outcomes; None if there is none.

    Raise `ArenaError` if there is one among other files.
    """
    for name, text in texts:
        if not text.lstrip().startswith(("{", "[")):
            if not is_alone:
                hint = "name it alone: it already has outcomes and forecasters"
                raise ArenaError("bad_file", f"{name} is a CSV that joins forecasts", hint)
            return read_table(name, text)
    return None


def gather_texts(
    texts: Iterable[NamedText],
    sets: Sequence[QuestionSet],
    resolutions: Iterable[NamedText],
    recorded: Collection[ForecastFile],
    *,
    combinations: bool,
    mode: str,
    median: str | None,
) -> Forecasters:
    """Return the forecasts of files, and the recorded ones of their rounds, with the outcomes."""
    resolved = _read_all(read_resolution_set, resolutions, combinations)
    dues = {resolution_set.due for resolution_set in resolved}
    if sets:
        dues &= {questions.due for questions in sets}

    filed = _read_all(read_forecast_file, texts, combinations)
    filed += [answers for answers in recorded if answers.due in dues]
    if not filed:
        message = "nothing to score: no agent has answered a round with stored resolutions"
        hint = "arena study forecastbench run, then board --fetch; or name files of forecasts"
        raise ArenaError("nothing", message, hint)
    return gather(filed, sets, resolved, mode, median)
