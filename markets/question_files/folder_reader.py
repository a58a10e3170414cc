"""Our own form of a folder of questions: `questions*.csv` or `.jsonl`, and `resolutions*.csv` or `.jsonl`.

`docs/questions.md` describes the fields. A row with a fault is left out, and the fault is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from markets.distributions import YES_NO, BadForm, QuestionForm, QuestionKind, normalized, question_kind
from markets.millionths import ONE
from markets.model import Market, MarketId, Resolution
from markets.question_files.asked import (
    VENUE,
    AskedOdds,
    AskedQuestion,
    QuestionFault,
    QuestionFolder,
    resolution_of,
)
from markets.question_files.question_rows import QuestionRow, read_rows
from markets.registry import UnknownExtension
from markets.venue import VenueError

TITLE = "questions and resolutions"
QUESTION_FIELDS = (
    *("id", "question", "kind", "options", "odds", "low", "high", "open_low", "open_high", "unit"),
    *("background", "source", "opens", "closes", "event", "category"),
)
NEEDED_FIELDS = ("id", "question", "opens", "closes")
RESOLUTION_FIELDS = ("id", "outcome", "known_at", "source")
NEEDED_RESOLUTION_FIELDS = ("id", "outcome", "known_at")
STEMS = ("questions", "resolutions")
ENDINGS = (".csv", ".jsonl")
DATA = (*ENDINGS, ".json", ".tsv", ".txt", ".parquet", ".xlsx", ".yaml", ".yml", ".ndjson")
"""What files with data end in; others of a folder, such as notes, are left alone."""
OWN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SLACK = Fraction(1, 50)
"""So far from 1 the odds of all options may add up: they are divided by their sum."""
UNSORTED = "unsorted"


def own_files(folder: Path, stem: str) -> list[Path]:
    """Return the files of our form whose name begins with a stem, in the order of their names."""
    return sorted(path for path in folder.glob(f"{stem}*") if path.suffix.lower() in ENDINGS)


def data_files(folder: Path) -> list[Path]:
    """Return all files of a folder that may hold data. Raise `VenueError` if it can't be read."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        message = f"the folder of questions {folder} can't be read: {error.strerror or error}"
        raise VenueError("no_folder", message, "name a folder that exists", stops=True) from error
    return [path for path in paths if path.suffix.lower() in DATA and not path.name.startswith(".")]


def read_folder(folder: Path) -> QuestionFolder:
    """Return what a folder in our own form holds, and what is wrong with it."""
    faults = [_unread_file_fault(path, folder) for path in data_files(folder) if not _is_own(path)]
    asked_by_id = _read_questions(folder, faults)
    set_aside = {fault.record for fault in faults}

    ends: dict[MarketId, list[Resolution]] = {}
    for path in own_files(folder, "resolutions"):
        for row in read_rows(path, RESOLUTION_FIELDS, NEEDED_RESOLUTION_FIELDS, faults):
            _add_resolution(row, asked_by_id, ends, set_aside)

    complete = {}
    for market_id, asked in asked_by_id.items():
        complete[market_id] = replace(asked, ends=tuple(ends.get(market_id, ())))
    return QuestionFolder(TITLE, complete, tuple(faults))


def _is_own(path: Path) -> bool:
    return path.name.startswith(STEMS) and path.suffix.lower() in ENDINGS


def _unread_file_fault(path: Path, folder: Path) -> QuestionFault:
    """Return the fault of a file of data that is not read: it may be a misspelt one."""
    hint = f"call it questions….csv or resolutions….csv (or .jsonl), or move it out of {folder.name}"
    return QuestionFault(path.name, 0, "", "it is neither questions nor resolutions", hint)


def _read_questions(folder: Path, faults: list[QuestionFault]) -> dict[MarketId, AskedQuestion]:
    """Return the questions by the ids of their markets; of two with one id the first."""
    asked_by_id: dict[MarketId, AskedQuestion] = {}
    for path in own_files(folder, "questions"):
        for row in read_rows(path, QUESTION_FIELDS, NEEDED_FIELDS, faults):
            asked = question_of(row)
            if asked is None:
                continue
            if asked.market.id in asked_by_id:
                row.note_fault("id", "another question has it already", "give each question an id of its own")
                continue
            asked_by_id[asked.market.id] = asked

    return asked_by_id


def question_of(row: QuestionRow) -> AskedQuestion | None:
    """Return the question of a row; None, with its faults noted, where it makes no sense."""
    faults_before = len(row.faults)
    own_id = row.needed("id", "give it an id")
    if own_id and not OWN_ID.fullmatch(own_id):
        row.note_fault("id", f"{own_id[:40]!r} is no id", "use letters, digits, dots and dashes, 100 at most")

    question = row.needed("question", "write what is asked")
    opens_at = row.instant("opens", "say from when it is asked")
    closes_at = row.instant("closes", "say until when it is asked")
    if opens_at and closes_at and opens_at >= closes_at:
        row.note_fault("closes", "it closes before it opens", "correct one of the times")

    form = form_in(row)
    if len(row.faults) > faults_before or form is None or opens_at is None or closes_at is None:
        return None

    market_id = MarketId(f"{VENUE}:{own_id}")
    market = Market(
        id=market_id,
        event_id=f"{VENUE}:{row.text('event') or own_id}",
        question=question,
        rules=rules_text(row.text("background"), row.text("source")),
        category=row.text("category") or UNSORTED,
        opens_at=opens_at,
        closes_at=closes_at,
        form=replace(form, odds=()).text,
    )
    chances = odds_in(row, form)
    if len(row.faults) > faults_before:
        return None
    odds = (AskedOdds(opens_at, chances),) if chances else ()
    return AskedQuestion(market, odds)


def rules_text(background: str, source: str) -> str:
    """Return what is known of a question beyond its words: its background, and what decides it."""
    if source:
        source = f"Decided by: {source}"
    return "\n\n".join(filter(None, (background, source)))


def form_in(row: QuestionRow) -> QuestionForm | None:
    """Return the form of a row's question; None, with the fault noted, where its kind can't have it."""
    name = row.text("kind") or YES_NO
    kind = kind_named(row, name)
    if kind is None:
        return None

    form = QuestionForm(
        name,
        options=row.parts("options"),
        low=row.text("low"),
        high=row.text("high"),
        open_low=row.flag("open_low"),
        open_high=row.flag("open_high"),
        unit=row.text("unit"),
    )
    try:
        kind.check(form)
    except BadForm as bad:
        row.note_fault(bad.field, bad.message, bad.hint)
        return None
    return form


def kind_named(row: QuestionRow, name: str) -> QuestionKind | None:
    """Return the kind of question of a name; note the fault and return None if there is no such kind."""
    try:
        return question_kind(name)
    except UnknownExtension as error:
        hint = f"kinds are {', '.join(error.known)}"
        row.note_fault("kind", f"{name[:40]!r} is no kind of question", hint)
        return None


def odds_in(row: QuestionRow, form: QuestionForm) -> tuple[int, ...]:
    """Return the market's odds of a question in millionths, or an empty tuple without valid odds."""
    shares = row.shares("odds")
    if not shares:
        return ()

    wanted_count = 1 if form.kind == YES_NO else len(form.options)
    if len(shares) != wanted_count:
        expected = f"a chance for each of the {wanted_count} options"
        if wanted_count == 1:
            expected = "the chance of yes"
        elif not wanted_count:
            expected = "none: only questions of yes or no and of options have odds"
        row.note_fault("odds", f"there are {len(shares)}", f"give {expected}")
        return ()
    if wanted_count == 1:
        return (round(shares[0] * ONE),)
    total = sum(shares, Fraction(0))
    if abs(total - 1) > SLACK:
        row.note_fault("odds", f"they add up to {float(total):.4g}", "let them add up to 1")
        return ()
    return normalized(shares)


def _add_resolution(
    row: QuestionRow,
    asked_by_id: Mapping[MarketId, AskedQuestion],
    ends: dict[MarketId, list[Resolution]],
    set_aside: set[str],
) -> None:
    """Add the outcome of a question; a later row for the same question is a correction."""
    faults_before = len(row.faults)
    own_id = row.needed("id", "name the question that ended")
    known_at = row.instant("known_at", "say from when it was known", day_ends=True)
    outcome = row.needed("outcome", "write what it came to, or annulled")
    market_id = MarketId(f"{VENUE}:{own_id}")
    asked = asked_by_id.get(market_id)
    if asked is None:
        if own_id and own_id not in set_aside:
            row.note_fault("id", "there is no such question", "correct it, or add the question")
        return
    if known_at is not None and known_at <= asked.market.opens_at:
        row.note_fault("known_at", "it was known before the question opened", "correct one of the times")
    if len(row.faults) > faults_before or known_at is None:
        return

    earlier_versions = ends.setdefault(market_id, [])
    if earlier_versions and known_at <= earlier_versions[-1].known_at:
        hint = "put corrections in the order in which they were known, each later than the one before"
        row.note_fault("known_at", "it is not after what the question came to before", hint)
        return
    try:
        earlier_versions.append(
            resolution_of(asked.market, len(earlier_versions) + 1, known_at, outcome, row.text("source"))
        )
    except ValueError as error:
        row.note_fault("outcome", str(error), "correct it, or write annulled")
