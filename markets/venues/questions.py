"""A folder of questions of every kind, which say what they came to in a file that may come later.

`docs/questions.md` describes its files. Nothing can be bought here: only forecasts are scored.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from markets.model import Listing, MarketId, Resolution
from markets.question_files.asked import VENUE, AskedQuestion, QuestionFolder
from markets.question_files.folder_reader import data_files, own_files, read_folder
from markets.venue import (
    EVERY_MARKET,
    Catalogue,
    CatalogueFilter,
    QuarantinedRecord,
    Report,
    VenueError,
    VenueSettings,
    ignore_report,
)

stamp = "replay"
HAS_MARKET = False
ReadForm = Callable[[Path], QuestionFolder]
"""Reads a folder in a public form of others."""
Fingerprint = tuple[tuple[str, int, int], ...]


class Settings(VenueSettings):
    """Which questions are asked."""

    folder: Path = Field(default=Path("questions"), exclude=True)
    """The folder of the questions; a path relative to the config's folder."""
    live: bool = False
    """Whether they are played as time passes; else those of the past are played at once."""

    @property
    def stamp(self) -> Literal["live", "replay"]:
        """Return what the results are worth."""
        return "live" if self.live else "replay"


class QuestionVenue:
    """A folder of questions as a venue. It is read again whenever one of its files has changed."""

    def __init__(self, settings: Settings, report: Report, read_form: ReadForm | None):
        self.stamp = settings.stamp
        self._folder = settings.folder
        self._report = report
        self._read_form = read_form
        self._fingerprint: Fingerprint | None = None
        self._found = QuestionFolder("")

    async def catalogue(self, at: datetime, _wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return the questions that are open; set aside those with a fault."""
        found = self._read()
        for fault in found.faults:
            self._report(fault.set_aside())

        asked = found.questions.values()
        return Catalogue([question.listing(at) for question in asked if question.is_open(at)])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return questions in the order asked for, with the odds of then."""
        asked = self._asked(markets)
        return [question.listing(at) for question in asked if question.market.opens_at <= at]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return every version of the resolutions known at an instant; set aside questions that are gone."""
        ends = list[Resolution]()
        for question in self._asked(markets, vanished=True):
            ends += [end for end in question.ends if end.known_at <= at]
        return ends

    async def close(self) -> None:
        """Close nothing: there are no connections."""

    def _asked(self, markets: Collection[MarketId], vanished: bool = False) -> list[AskedQuestion]:
        """Return those of these questions that the folder has; tell which are gone, if that is wanted."""
        found = self._read()
        asked = []
        for market_id in markets:
            question = found.questions.get(market_id)
            if question is not None:
                asked.append(question)
            elif vanished and market_id.startswith(f"{VENUE}:"):
                own_id = market_id.partition(":")[2]
                reason = f"{own_id} was asked, and is not in {self._folder.name} any more → put it back"
                self._report(QuarantinedRecord(VENUE, own_id, "market", "vanished", reason))

        return asked

    def _read(self) -> QuestionFolder:
        """Return what the folder holds now. Raise `VenueError` if a whole file of it is of no use."""
        fingerprint = _fingerprint(self._folder)
        if fingerprint != self._fingerprint:
            self._found = read_questions(self._folder, self._read_form)
            self._fingerprint = fingerprint

        whole_file_faults = self._found.whole_faults
        if whole_file_faults:
            all_faults_hint = ""
            if len(whole_file_faults) > 1:
                all_faults_hint = (
                    f"; `arena check {self._folder}` shows all {len(whole_file_faults):,} faults"
                )
            message = f"{self._folder}/{whole_file_faults[0].place}: {whole_file_faults[0].message}"
            raise VenueError(
                "bad_folder", message, f"{whole_file_faults[0].hint}{all_faults_hint}", stops=True
            )
        return self._found


def read_questions(folder: Path, read_form: ReadForm | None = None) -> QuestionFolder:
    """Return what a folder holds, in our form or one of others. Raise `VenueError` if it holds nothing."""
    files = data_files(folder)
    if read_form is not None and not own_files(folder, "questions") and files:
        return read_form(folder)

    found = read_folder(folder)
    if not found.questions and not found.faults:
        hint = "put questions.csv into it, as in docs/questions.md"
        raise VenueError("no_questions", f"{folder} holds no questions", hint, stops=True)
    return found


def _fingerprint(folder: Path) -> Fingerprint:
    """Return the names, sizes and times of a folder's files: what changes if one is written."""
    states = list[tuple[str, int, int]]()
    for path in data_files(folder):
        try:
            status = path.stat()
        except OSError:  # such as a link to nowhere: reading it tells what is wrong
            states.append((path.name, 0, 0))
        else:
            states.append((path.name, status.st_size, status.st_mtime_ns))

    return tuple(states)


def venue(
    settings: Settings, report: Report = ignore_report, read_form: ReadForm | None = None
) -> QuestionVenue:
    """Return the folder of questions that settings name."""
    return QuestionVenue(settings, report, read_form)
