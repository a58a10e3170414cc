"""Autocast's questions: true/false, multiple choice and numeric, with answers where they have one.

A number is answered by its position in the range, from 0 to 1. The crowd's forecasts and links from comments
are ignored, because the competition forbids them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.errors import FileFault
from arena.forms.model import SourceData, SourceFile, SourceOutcome, SourceQuestion
from arena.forms.objects import SourceObject, as_number, first_object, quoted_value, read_objects
from arena.forms.rules.number_scales import NumberScale, number_or_date, with_range

TITLE = "Autocast"
KEYS = frozenset({"question", "id", "qtype", "choices", "publish_time", "close_time"})
TRUE_FALSE = "t/f"
CHOICE = "mc"
NUMBER = "num"
OUTCOMES = {"yes": 1.0, "no": 0.0}
FORBIDDEN = ("crowd", "source_links")


@dataclass(slots=True)
class AutocastFiles:
    """The content read so far, and how often each id occurred."""

    questions: list[SourceQuestion] = field(default_factory=list)
    outcomes: list[SourceOutcome] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)
    with_forbidden: int = 0
    faults: list[FileFault] = field(default_factory=list)


def recognise(files: Sequence[SourceFile]) -> str | None:
    """Return what identifies the form in these files; None if nothing does."""
    for file in files:
        if first_object(file).keys() >= KEYS:
            return "questions with qtype, choices and publish_time"

    return None


def read(files: Sequence[SourceFile]) -> SourceData:
    """Return the questions of these files with their answers."""
    found = AutocastFiles()

    for file in files:
        if first_object(file).keys() >= KEYS:
            for row in read_objects(file, "questions", found.faults):
                add_question(row, found)

    notes: tuple[str, ...] = ()

    if found.with_forbidden:
        what = "the crowd's forecasts, and links of comments"
        notes = (f"left alone: {what}, of {found.with_forbidden} questions",)

    return SourceData(
        questions=tuple(found.questions),
        outcomes=tuple(found.outcomes),
        notes=notes,
        faults=tuple(found.faults),
    )


def add_question(row: SourceObject, found: AutocastFiles) -> None:
    """Add a question and its answer; questions that share an id, as negations do, share an event."""
    own_id = row.needed("id", "give the question's id")
    title = row.needed("question", "write what is asked")
    kind = row.text("qtype")
    found.with_forbidden += any(row.fields.get(name) for name in FORBIDDEN)

    if kind not in (TRUE_FALSE, CHOICE, NUMBER):
        row.note_fault(
            "qtype", f"{quoted_value(kind)} is no type", f"types are {TRUE_FALSE}, {CHOICE} and {NUMBER}"
        )
        return
    if not own_id or not title:
        return

    found.ids[own_id] += 1
    key = own_id

    if found.ids[own_id] > 1:
        key = f"{own_id}-{found.ids[own_id]}"

    tags = row.values("tags")
    question = SourceQuestion(
        key,
        title=title,
        event=own_id,
        category=str(tags[0]) if tags else "",
        opened=row.time("publish_time"),
        closes=row.time("close_time"),
        background=row.text("background"),
    )
    add_kind(question, kind, row, found)


def add_kind(question: SourceQuestion, kind: str, row: SourceObject, found: AutocastFiles) -> None:
    """Add a question with the details of its type; note a fault if choices or answer are invalid."""
    answer = row.fields.get("answer")
    value: float | str | None = None
    faults = len(found.faults)

    if kind == TRUE_FALSE:
        value = OUTCOMES.get(str(answer).strip().lower())
    elif kind == CHOICE:
        options = tuple(str(option).strip() for option in row.values("choices"))
        question = replace(question, options=options)
        value = letter_option(options, answer)
    else:
        scale = read_scale(row)

        if scale is None:
            return

        question = with_range(question, scale)
        value = outcome_at(scale, as_number(answer))

    if len(found.faults) > faults:
        return

    found.questions.append(question)

    if answer is None:
        return
    if value is None:
        hint = "write yes or no, a letter of the choices, or a position from 0 to 1"
        row.note_fault("answer", f"{quoted_value(answer)} is no answer of a {kind} question", hint)
        return

    found.outcomes.append(SourceOutcome(question.key, value, question.closes, row.place))


def letter_option(options: Sequence[str], answer: Any) -> str | None:
    """Return the option that a letter stands for; None if there is none.

    >>> letter_option(["red", "blue"], "B"), letter_option(["red"], "B")
    ('blue', None)
    """
    letter = str(answer).strip().upper()

    if len(letter) != 1 or not 0 <= ord(letter) - ord("A") < len(options):
        return None

    return options[ord(letter) - ord("A")]


def read_scale(row: SourceObject) -> NumberScale | None:
    """Return the range of a number; None, with a fault, if it has none."""
    choices = row.inner("choices")
    ends = [choices.fields.get(name) for name in ("min", "max")]
    is_date = any(isinstance(end, str) and as_number(end) is None for end in ends)
    low, high = (number_or_date(end, is_date) for end in ends)

    if low is None or high is None or low >= high:
        choices.note_fault("min", "there is no range from min to max", "give both ends, the lower one first")
        return None

    ratio = choices.number("deriv_ratio") or 1.0

    if ratio <= 0:
        choices.note_fault("deriv_ratio", "it is not above 0", "give how much steps grow from end to end")
        return None

    return NumberScale(low, high, ratio, is_date)


def outcome_at(scale: NumberScale, position: float | None) -> float | str | None:
    """Return the outcome at a position from 0 to 1."""
    if position is None or not 0 <= position <= 1:
        return None

    if scale.is_even:
        return scale.real(scale.value_at(position))

    return position
