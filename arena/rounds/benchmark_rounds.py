"""ForecastBench's files, read from a folder or an address and kept unchanged in the record."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.forms.bench.made_set import plan_in
from arena.forms.bench.model import Asked, BenchResolution, QuestionSet, ResolutionSet, is_day
from arena.forms.bench.reading import Reading, read_question_set, read_resolution_set, strictly
from arena.forms.csv_columns import decode
from arena.record.model.benchmark import BenchmarkFile, NewFile
from arena.record.queries.benchmark import newest_files
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.benchmark import keep_file, newest_file
from arena.rounds.made_set_ends import has_questions_of_others, with_recorded_ends
from markets.venue import VenueError
from markets.venues.wire.http import HttpClient

PUBLISHED = "https://raw.githubusercontent.com/forecastingresearch/forecastbench-datasets/main/datasets"
"""Where the benchmark publishes its files; `datasets/` of the repository."""
QUESTIONS = "question_sets"
RESOLUTIONS = "resolution_sets"
"""The folders of both kinds of files there."""
LATEST = "latest-llm.json"
"""A file beside the question sets that only names the newest one."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """A folder or an address with the files as they are published, in their own folders or side by side."""

    place: str

    def read(self, folder: str, name: str) -> str | None:
        """Return the text of a file, or None if there is none of that name."""
        if self.is_address:
            return asyncio.run(_download(self.place, f"{folder}/{name}"))

        for parent in self.folders(folder):
            for file in (parent / name, parent / f"{name}.gz"):
                if file.is_file():
                    return decode(str(file), file.read_bytes(), exact=True)
        return None

    def parsed(self, read: Reading, name: str, text: str) -> Any:
        """Return the parsed file of this source; raise `ArenaError` that names the source for a fault."""
        try:
            if text.lstrip().startswith("<"):
                raise ArenaError("bad_file", f"{name} is a web page and not JSON", "check the address")
            return strictly(read, name, text)
        except ArenaError as error:
            hint = "check the address, or try again later" if self.is_address else error.hint
            raise ArenaError(error.code, f"{self.place}: {error.message}; nothing is kept", hint) from error

    @property
    def is_address(self) -> bool:
        """Tell whether files come over the network."""
        return self.place.startswith(("http://", "https://"))

    def folders(self, folder: str) -> list[Path]:
        """Return the folders that may hold files of a kind; raise `ArenaError` if there is no folder."""
        root = Path(self.place)
        if not root.is_dir():
            raise ArenaError("no_folder", f"there is no folder {root}", "name one with --from")
        return [root / folder, root / "datasets" / folder, root]

    def newest(self) -> str | None:
        """Return the name of the newest question set, or None if there is none."""
        if self.is_address:
            return self._newest_published()

        names = []
        for folder in self.folders(QUESTIONS):
            for file in folder.glob("????-??-??-llm.json*"):
                name = file.name.removesuffix(".gz")
                if is_day(name[:10]):
                    names.append(name)
        return max(names, default=None)

    def _newest_published(self) -> str | None:
        """Return the name of the newest published set, from the link or the set beside the others."""
        text = self.read(QUESTIONS, LATEST)
        if text is None:
            return None
        if text.lstrip().startswith("{"):
            question_set: QuestionSet = self.parsed(read_question_set, LATEST, text)
            return question_set.name

        name = text.strip().rpartition("/")[2]
        if not is_day(name[:10]) or name[10:] != "-llm.json":
            message = f"{self.place}: {LATEST} does not name a question set but says {name[:40]!r}"
            raise ArenaError("bad_file", message, "check the address, or say which with --due")
        return name


async def _download(url: str, path: str) -> str | None:
    """Return the text of a file below an address, or None if there is none; raise `ArenaError` on failure."""
    client = HttpClient(url, per_second=4, timeout=120, parse=bytes)
    try:
        return decode(f"{url}/{path}", await client.get(f"/{path}"), exact=True)
    except VenueError as error:
        if error.code == "missing":
            return None
        remedy = "check the address" if error.code in ("refused", "bad_url") else "try again later"
        hint = f"{remedy}, or name a folder or another address with --from"
        raise ArenaError(error.code, f"{error}; nothing is kept", hint) from error
    finally:
        await client.close()


def read_questions(
    record: Record, source: str | None, due: str | None, at: datetime
) -> tuple[BenchmarkFile, bool]:
    """Return the question set of a round, and whether it is new in the record.

    Without `due` it is the newest. It is read from a source that is named, or from where sets are published
    if the record has none of that day; or none that is still due, where no day is named.
    """
    if due is not None and not is_day(due):
        raise ArenaError("bad_day", f"{due!r} is not a day", "write it like 2026-03-01", status=64)

    days = None if due is None else [due]
    stored_files = record.read(newest_files, "questions", days)
    newest = None
    if stored_files and source is None:
        newest = stored_files[-1]

    # A stored set will do if it is of the day that is named or, without one, still due.
    first_day = due or f"{at:%Y-%m-%d}"
    if newest is not None and newest.due >= first_day:
        return newest, False

    try:
        return fetch_questions(record, FileSource(source or PUBLISHED), due, at)
    except ArenaError as error:
        if newest is not None:
            error.hint += f", or go on with the stored round: --due {newest.due}"
        raise


def fetch_questions(
    record: Record, source: FileSource, due: str | None, at: datetime
) -> tuple[BenchmarkFile, bool]:
    """Keep the question set due on a day, or the newest; return it and whether it is new in the record."""
    name = f"{due}-llm.json" if due else source.newest()
    text = source.read(QUESTIONS, name) if name else None
    if name is None or text is None:
        message = f"{source.place} has no question set"
        if due:
            message += f" due {due}"
        raise ArenaError("no_questions", message, "question sets are named like 2026-03-01-llm.json")

    question_set: QuestionSet = source.parsed(read_question_set, name, text)
    if due not in (None, question_set.due):
        message = f"{source.place}: {name} is of the round due {question_set.due}, not {due}; nothing is kept"
        raise ArenaError("bad_file", message, "correct the file, or fetch it elsewhere with --from")

    for kept in record.read(newest_files, "questions", [question_set.due]):
        is_changed = kept.name == question_set.name and kept.text != text
        if is_changed and plan_in(kept.text) is not None:  # only a set that was made here has a plan
            message = f"the record has {kept.name} as a set that was made here, and it stays as it is"
            raise ArenaError("exists", message, "leave out --from, or keep the other one in another record")
    return record.write(keep_file, NewFile("questions", question_set.name, question_set.due, text), at)


@dataclass(frozen=True, slots=True)
class ResolvedRound:
    """A round's newest resolutions, counted, and how they differ from the version before.

    `corrected` are questions whose earlier resolution was changed, `moved` counts open markets with another
    price, `added` and `gone` rows that only the newer or only the older version has.
    """

    name: str
    due: str
    version: int
    is_new: bool
    dataset: int
    market: int
    open: int
    priced_at: str
    added: int
    corrected: tuple[str, ...]
    moved: int
    gone: int


def resolve_rounds(record: Record, source: FileSource, at: datetime) -> tuple[list[ResolvedRound], list[str]]:
    """Return the resolutions of all kept question sets, and the names of the sets that have none yet.

    A faulty file does not prevent other rounds from being resolved: its `ArenaError` is raised at the end.
    """
    resolved = []
    waiting = []
    faults = []
    question_files = record.read(newest_files, "questions")
    if not question_files:
        raise ArenaError(
            "no_questions", "the record has no question set", "arena study forecastbench run --dry reads one"
        )

    for question_file in question_files:
        try:
            resolved_round = _resolved(record, source, question_file, at)
        except ArenaError as error:
            if error.code != "bad_file":  # the source itself can't be read, so the next file neither
                raise
            faults.append(error)
            continue

        if resolved_round is None:
            waiting.append(question_file.name)
        else:
            resolved.append(resolved_round)

    if faults:
        others = f"; other rounds resolved: {len(resolved)}" if resolved else ""
        raise ArenaError("bad_file", f"{faults[0].message}{others}", faults[0].hint)
    return resolved, waiting


def _resolved(
    record: Record, source: FileSource, question_file: BenchmarkFile, at: datetime
) -> ResolvedRound | None:
    """Keep the newest resolutions of a question set and return the round; None if there are none yet."""
    name = f"{question_file.due}_resolution_set.json"
    question_set: QuestionSet = strictly(read_question_set, question_file.name, question_file.text)

    # Of a set that was made here, the record itself knows how its own markets ended.
    text: str | None = None
    was_made_here = plan_in(question_file.text) is not None
    if not was_made_here or record.read(has_questions_of_others, question_set, at):
        text = source.read(RESOLUTIONS, name)
    if was_made_here:
        text = record.read(with_recorded_ends, question_set, text, at)
    if text is None:
        return None

    resolutions: ResolutionSet = source.parsed(read_resolution_set, name, text)
    if resolutions.due != question_file.due:
        dues = f"due {resolutions.due}, not {question_file.due}"
        message = f"{source.place}: {name} is of the round {dues}; nothing is kept"
        raise ArenaError("bad_file", message, "fetch it again")

    new = NewFile("resolutions", question_file.name, question_file.due, text)
    newest, before = record.write(_keep_resolutions, new, at)
    market_sources = {question.source for question in question_set.questions if question.is_market}
    return _count_and_compare(newest, before, resolutions, market_sources)


def _keep_resolutions(
    connection: Connection, new: NewFile, at: datetime
) -> tuple[BenchmarkFile, BenchmarkFile | None]:
    """Keep a file of resolutions; return its newest version, and the one that was newest before, if any."""
    before = newest_file(connection, new.kind, new.name)
    newest, _ = keep_file(connection, new, at)
    return newest, before


def _count_and_compare(
    newest: BenchmarkFile, before: BenchmarkFile | None, resolutions: ResolutionSet, market_sources: set[str]
) -> ResolvedRound:
    """Count the resolutions of a round, and compare them with those of the version before."""
    rows = _by_question(resolutions, market_sources)
    old_rows: Mapping[Asked, BenchResolution] = {}
    if before is not None:
        old_resolutions: ResolutionSet = strictly(read_resolution_set, before.name, before.text)
        old_rows = _by_question(old_resolutions, market_sources)

    corrected = []
    moved = 0
    for key, row in rows.items():
        old = old_rows.get(key)
        if old is None:
            continue

        has_other_value = old.value != row.value
        if old.resolved and (has_other_value or not row.resolved):
            _, _, date = key
            day = f" at {date}" if date else ""
            corrected.append(f"{row.source} {row.id}{day}: {old.value:g} → {row.value:g}")
        if has_other_value and not old.resolved and not row.resolved:
            moved += 1

    open_dates = [row.date for row in rows.values() if not row.resolved]
    return ResolvedRound(
        newest.name,
        newest.due,
        newest.version,
        is_new=newest != before,
        dataset=sum(row.source not in market_sources for row in rows.values()),
        market=sum(row.source in market_sources and row.resolved for row in rows.values()),
        open=len(open_dates),
        priced_at=max(open_dates, default=""),
        added=len(rows.keys() - old_rows.keys()),
        corrected=tuple(corrected),
        moved=moved,
        gone=len(old_rows.keys() - rows.keys()),
    )


def _by_question(resolutions: ResolutionSet, market_sources: set[str]) -> Mapping[Asked, BenchResolution]:
    """Return the rows by question: the last row of each market, every row of a data question."""
    rows = {}
    for row in sorted(resolutions.rows, key=lambda row: row.date):
        # A market has no date in its key, so a later row replaces an earlier one.
        date = None if row.source in market_sources else row.date
        rows[row.source, row.id, date] = row
    return rows
