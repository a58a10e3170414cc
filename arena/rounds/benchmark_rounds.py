"""ForecastBench's files from a folder or from where they are published, kept in the record as they come."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.record.model.benchmark import BenchmarkFile, NewFile
from arena.record.queries.benchmark import newest_files
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.benchmark import keep_file, newest_file
from arena.scores.files.csv_columns import decode
from arena.scores.files.forecastbench import (
    Asked,
    BenchResolution,
    QuestionSet,
    Reading,
    ResolutionSet,
    is_day,
    read_question_set,
    read_resolution_set,
    strictly,
)
from markets.venue import VenueError
from markets.venues.wire.http import HttpClient

PUBLISHED = "https://raw.githubusercontent.com/forecastingresearch/forecastbench-datasets/main/datasets"
"""Where the benchmark publishes its files; `datasets/` of the repository."""
QUESTIONS, RESOLUTIONS = "question_sets", "resolution_sets"
KIND = {QUESTIONS: "questions", RESOLUTIONS: "resolutions"}
LATEST = "latest-llm.json"
"""A file beside the question sets that only names the newest one."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """A folder or an address with the files as they are published, in their own folders or side by side."""

    place: str

    def read(self, folder: str, name: str) -> str | None:
        """The text of a file, or None where there is none of that name."""
        if self.is_address:
            return asyncio.run(_download(self.place, f"{folder}/{name}"))
        for parent in self.folders(folder):
            for file in (parent / name, parent / f"{name}.gz"):
                if file.is_file():
                    return decode(str(file), file.read_bytes(), exact=True)
        return None

    def checked(self, read: Reading, name: str, text: str) -> Any:
        """What a file of this place says; one with a fault is named with the place that it came from."""
        try:
            if text.lstrip().startswith("<"):
                raise ArenaError("bad_file", f"{name} is a web page and not JSON", "check the address")
            return strictly(read, name, text)
        except ArenaError as error:
            hint = "check the address, or try again later" if self.is_address else error.hint
            raise ArenaError(error.code, f"{self.place}: {error.message}; nothing is kept", hint) from error

    @property
    def is_address(self) -> bool:
        """Whether files come over the network."""
        return self.place.startswith(("http://", "https://"))

    def folders(self, folder: str) -> list[Path]:
        """Where files of a kind may lie."""
        root = Path(self.place)
        if not root.is_dir():
            raise ArenaError("no_folder", f"there is no folder {root}", "name one with --from")
        return [root / folder, root / "datasets" / folder, root]

    def newest(self) -> str | None:
        """The name of the newest question set."""
        if self.is_address:
            text = self.read(QUESTIONS, LATEST)
            if text is None:
                return None
            if text.lstrip().startswith("{"):  # the set itself
                found: QuestionSet = self.checked(read_question_set, LATEST, text)
                return found.name
            named = text.strip().rpartition("/")[2]
            if not (is_day(named[:10]) and named[10:] == "-llm.json"):
                what = f"{self.place}: {LATEST} does not name a question set but says {named[:40]!r}"
                raise ArenaError("bad_file", what, "check the address, or say which with --due")
            return named
        names = {
            file.name.removesuffix(".gz")
            for folder in self.folders(QUESTIONS)
            for file in folder.glob("????-??-??-llm.json*")
        }
        return max((name for name in names if is_day(name[:10])), default=None)


async def _download(url: str, path: str) -> str | None:
    client = HttpClient(url, per_second=4, timeout=120, parse=bytes)
    try:
        return decode(f"{url}/{path}", await client.get(f"/{path}"), exact=True)
    except VenueError as error:
        if error.code == "missing":
            return None
        again = "check the address" if error.code in ("refused", "bad_url") else "try again later"
        hint = f"{again}, or name a folder or another address with --from"
        raise ArenaError(error.code, f"{error}; nothing is kept", hint) from error
    finally:
        await client.close()


def fetch_questions(
    record: Record, source: FileSource, due: str | None, at: datetime
) -> tuple[BenchmarkFile, bool]:
    """The question set due on a day, or the newest, kept; and whether the record hadn't it yet."""
    name = f"{due}-llm.json" if due else source.newest()
    text = source.read(QUESTIONS, name) if name else None
    if name is None or text is None:
        what = f"{source.place} has no question set{f' due {due}' if due else ''}"
        raise ArenaError("no_questions", what, "question sets are named like 2026-03-01-llm.json")
    found: QuestionSet = source.checked(read_question_set, name, text)
    if due not in (None, found.due):
        what = f"{source.place}: {name} is of the round due {found.due}, not {due}; nothing is kept"
        raise ArenaError("bad_file", what, "correct the file, or fetch it elsewhere with --from")
    new = NewFile(KIND[QUESTIONS], found.name, found.due, text)
    return record.write(keep_file, new, at)


@dataclass(frozen=True, slots=True)
class ResolvedRound:
    """What is known of a round: its newest resolutions, and how they differ from those before.

    `corrected` are questions that came to something else than was said, `moved` open markets with another
    price, `added` and `gone` rows that are new and rows that are no more.
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
    """The resolutions of all kept question sets, and the sets of which there are none yet.

    A file with a fault keeps no other round from being resolved; the first such is raised at the end.
    """
    resolved, waiting, faults = list[ResolvedRound](), list[str](), list[ArenaError]()
    sets = record.read(newest_files, KIND[QUESTIONS])
    if not sets:
        raise ArenaError("no_questions", "the record has no question set", "arena forecastbench fetch")
    for one in sets:
        try:
            found = _resolved(record, source, one, at)
        except ArenaError as error:
            if error.code != "bad_file":  # the place itself can't be read, so the next file neither
                raise
            faults.append(error)
            continue
        if found is None:
            waiting.append(one.name)
        else:
            resolved.append(found)
    if faults:
        others = f"; other rounds resolved: {len(resolved)}" if resolved else ""
        raise ArenaError("bad_file", f"{faults[0].message}{others}", faults[0].hint)
    return resolved, waiting


def _resolved(record: Record, source: FileSource, one: BenchmarkFile, at: datetime) -> ResolvedRound | None:
    """A round with its newest resolutions kept, if there are any."""
    name = f"{one.due}_resolution_set.json"
    text = source.read(RESOLUTIONS, name)
    if text is None:
        return None
    found: ResolutionSet = source.checked(read_resolution_set, name, text)
    if found.due != one.due:
        what = f"{source.place}: {name} is of the round due {found.due}, not {one.due}; nothing is kept"
        raise ArenaError("bad_file", what, "fetch it again")
    new = NewFile(KIND[RESOLUTIONS], one.name, one.due, text)
    kept, before = record.write(_keep_resolutions, new, at)
    markets = {q.source for q in strictly(read_question_set, one.name, one.text).questions if q.is_market}
    return _round(one.name, kept, before, found, markets)


def _keep_resolutions(
    connection: Connection, new: NewFile, at: datetime
) -> tuple[BenchmarkFile, BenchmarkFile | None]:
    """The newest version, and the one before where this file became the newest."""
    before = newest_file(connection, new.kind, new.name)
    kept, is_new = keep_file(connection, new, at)
    return kept, before if is_new else kept


def _round(
    name: str,
    kept: BenchmarkFile,
    before: BenchmarkFile | None,
    found: ResolutionSet,
    markets: set[str],
) -> ResolvedRound:
    is_new = before is None or before.version < kept.version
    old = _by_question(strictly(read_resolution_set, name, before.text), markets) if before else {}
    rows = _by_question(found, markets)
    open_rows = [row for row in rows.values() if not row.resolved]
    both = [(key, old[key], row) for key, row in rows.items() if key in old]
    return ResolvedRound(
        name,
        kept.due,
        kept.version,
        is_new,
        dataset=sum(row.source not in markets for row in rows.values()),
        market=sum(row.source in markets and row.resolved for row in rows.values()),
        open=len(open_rows),
        priced_at=max((row.date for row in open_rows), default=""),
        added=len(rows.keys() - old.keys()),
        corrected=tuple(
            f"{now.source} {now.id}{f' at {key[2]}' if key[2] else ''}: {was.value:g} → {now.value:g}"
            for key, was, now in both
            if was.resolved and (was.value != now.value or not now.resolved)
        ),
        moved=sum(not was.resolved and not now.resolved and was.value != now.value for _, was, now in both),
        gone=len(old.keys() - rows.keys()),
    )


def _by_question(found: ResolutionSet, markets: set[str]) -> Mapping[Asked, BenchResolution]:
    """The rows by what they are about: of a market the last one, whatever its date."""
    rows: dict[Asked, Any] = {}
    for row in sorted(found.rows, key=lambda row: row.date):
        rows[row.source, row.id, None if row.source in markets else row.date] = row
    return rows
