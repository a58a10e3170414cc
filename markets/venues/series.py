"""Questions made from series of data, in the manner of ForecastBench's: see `markets/templates.py`.

Series are files in a folder, and are read by address from FRED and DBnomics. On each day that is asked about,
each series has new questions, made from what was known when the day began. With `start` the days are past:
the files have to say when each value was published, and nothing later shows.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from markets.model import Listing, MarketId, Resolution
from markets.observations import Series, SeriesPage
from markets.registry import PYTHON_ONLY
from markets.templates import (
    AskingRule,
    SeriesQuestion,
    market_of,
    question_of,
    questions_on,
    resolutions_of,
    template_of,
)
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
from markets.venues.wire.fields import is_name
from markets.venues.wire.http import HttpClient, Sleep
from markets.venues.wire.series_files import BadSeries, SeriesFault, dbnomics_name, read_pages, read_series
from markets.venues.wire.series_requests import dbnomics_series, fred_series, parse_text

__all__ = ["SeriesVenue", "Settings", "stamp", "venue"]

stamp = "live"
HAS_MARKET = False
KEY = "FRED_API_KEY"
"""The variable with a key to FRED's API, which says when each value was published."""
HORIZONS = (7, 30, 90, 180, 365, 1095, 1825, 3650)
PAGES = "about.json"
"""The file in the folder that says what series are called."""
SUFFIXES = (".csv", ".json")
ADDRESSES = ("https://fred.stlouisfed.org", "https://api.stlouisfed.org", "https://api.db.nomics.world")
"""Where FRED's tables are, where its API is, and where DBnomics's is."""
KEPT = timedelta(minutes=10)
"""How long what a server said is not asked again: a round reads every series several times."""
HINT = "correct the file: until then its series are neither asked about nor decided"


class Settings(VenueSettings):
    """Which series there are, and what is asked about them."""

    folder: Path = Field(default=Path("series"), exclude=True)
    """The folder of the files; a path relative to the config's folder."""
    fred: tuple[str, ...] = ()
    """Series read from FRED, by their ids."""
    dbnomics: tuple[str, ...] = ()
    """Series read from DBnomics, such as `AMECO/ZUTN/EA19.1.0.0.0.ZUTN`."""
    asks: tuple[str, ...] = Field(default=("rise",), min_length=1)
    """What is asked: `rise`, `fall-0.1`, `rise-10pct`, `above-4`, `below-4`."""
    horizons: tuple[int, ...] = Field(default=HORIZONS, min_length=1)
    """After how many days a question is decided."""
    wait_days: int = Field(default=90, ge=1, le=3_650)
    """A question without a value so many days after its date is called off."""
    lag_days: int | None = Field(default=None, ge=0, le=3_650)
    """After how many days a value is published, where its file doesn't say."""
    values: int = Field(default=100, ge=1, le=2_000, json_schema_extra=PYTHON_ONLY)
    """How many of the latest values a question shows."""
    start: date | None = None
    """Play the past from this day on, as it was known then; by default the present."""
    url: str = Field(default="", exclude=True)
    """An address to ask in place of those of FRED and DBnomics, such as a mirror's."""
    per_second: float = Field(default=2.0, gt=0, exclude=True, json_schema_extra=PYTHON_ONLY)
    """The most requests per second to each."""

    @property
    def stamp(self) -> str:
        """Return whether its questions are of the present or of the past."""
        return "live" if self.start is None else "replay"

    @property
    def rule(self) -> AskingRule:
        """Return which questions are made."""
        return AskingRule(self.asks, sorted(set(self.horizons)), self.wait_days, self.values)

    @field_validator("asks")
    @classmethod
    def _are_templates(cls, asks: tuple[str, ...]) -> tuple[str, ...]:
        for name in asks:
            template_of(name)
        return asks

    @field_validator("horizons")
    @classmethod
    def _are_days(cls, horizons: tuple[int, ...]) -> tuple[int, ...]:
        for days in horizons:
            if not 1 <= days <= 36_525:
                raise ValueError(f"{days} is not a number of days from 1 to 36525")
        return horizons

    @field_validator("fred")
    @classmethod
    def _are_ids(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not is_name(name):
                raise ValueError(f"{name[:40]!r} is no id of FRED")
        return names

    @field_validator("dbnomics")
    @classmethod
    def _are_codes(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not re.fullmatch(r"[^/\s?#]+(/[^/\s?#]+){2}", name):
                raise ValueError(f"{name[:40]!r} is not PROVIDER/DATASET/SERIES")
        return names

    @model_validator(mode="after")
    def _past_is_in_files(self) -> Self:
        if self.start is not None and (self.fred or self.dbnomics):
            raise ValueError(
                "with start only files are played: fetch fred and dbnomics into the folder first"
            )
        return self


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file held when it had this time and size."""

    modified: tuple[int, int]
    series: tuple[Series, ...] = ()
    faults: tuple[SeriesFault, ...] = ()


@dataclass
class SeriesReading:
    """The series that could be read at an instant, by name, and why others could not be.

    `faults` are the mistakes of files, whose series are not known; `trouble` is why a server sent nothing, by
    series. A series that none of these explains is gone.
    """

    series: dict[str, Series] = field(default_factory=dict)
    faults: list[SeriesFault] = field(default_factory=list)
    trouble: dict[str, VenueError] = field(default_factory=dict)

    def add(self, series: Series, source: str) -> None:
        """Add a series; raise `VenueError` if there is another of its name."""
        if series.name in self.series:
            message = f"{source}: there is a series {series.name} already, from elsewhere"
            raise VenueError("bad_series", message, "rename one of them", stops=True)
        self.series[series.name] = series

    def is_unknown(self, name: str) -> bool:
        """Tell whether it is unknown how a series stands."""
        return name not in self.series and (name in self.trouble or bool(self.faults))


class SeriesVenue:
    """Series as a venue. It keeps nothing but what it has read: a question's id has all that made it."""

    def __init__(self, settings: Settings, report: Report, sleep: Sleep):
        self.stamp = settings.stamp
        self._settings = settings
        self._report = report
        self._files: dict[Path, FileState] = {}
        self._answers: dict[str, tuple[datetime, Series]] = {}

        self._graph, self._api, self._dbnomics = (
            HttpClient(
                settings.url or address,
                per_second=settings.per_second,
                sleep=sleep,
                parse=parse_text,
                headers={"Accept": "*/*"},
            )
            for address in ADDRESSES
        )

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        """Return the questions that are asked on this day. What was asked before is not on offer any more."""
        day = at.astimezone(UTC).date()
        reading = await self._read(at)
        left_out: Counter[str] = Counter()
        listings = []

        for name in sorted(reading.series):
            series = reading.series[name]
            for question in questions_on(series, day, self._settings.rule):
                if isinstance(question, str):
                    left_out[question] += 1
                    continue
                market = market_of(question, series, self._settings.rule)
                if wanted.admits(market, None):
                    listings.append(Listing(market, None))

        return Catalogue(listings, left_out)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        """Return questions in the order asked for, without those to come and those whose series is gone."""
        reading = await self._read(at)
        listings = []
        for question in _questions(markets):
            series = reading.series.get(question.series)
            if series is None:
                continue
            market = market_of(question, series, self._settings.rule)
            if market.opens_at <= at:
                listings.append(Listing(market, None))

        return listings

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        """Return every version of the questions' resolutions that was known at an instant."""
        reading = await self._read(at)
        ends: list[Resolution] = []
        for question in _questions(markets):
            if reading.is_unknown(question.series):
                continue

            series = reading.series.get(question.series)
            if series is None:
                self._tell(
                    question.series, "missing", "the series is gone: its questions wait, then end unpaid"
                )
            ends += resolutions_of(question, series, self._settings.wait_days, at)
        return ends

    async def close(self) -> None:
        """Close all connections."""
        for client in (self._graph, self._api, self._dbnomics):
            await client.close()

    async def _read(self, at: datetime) -> SeriesReading:
        """Read the series of all files and servers.

        Raise `VenueError` if none could be read, or if a replay's files have faults.
        """
        reading = SeriesReading()
        pages = self.read_folder(reading)
        await self._read_servers(reading, at)

        for fault in reading.faults:
            self._tell(fault.file, "bad_series", fault.words)
        for name, error in reading.trouble.items():
            self._tell(name, error.code, str(error))
        if not reading.series and reading.trouble:
            raise next(iter(reading.trouble.values()))
        if reading.faults and (self.stamp == "replay" or not reading.series):
            # Values of the past don't change: rather mend the files than play rounds without some questions.
            raise VenueError("bad_series", str(BadSeries(reading.faults)), HINT, stops=True)

        for name in pages.keys() & reading.series.keys():
            series = reading.series[name]
            reading.series[name] = replace(series, page=_merged_page(pages[name], series.page))
        return reading

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────

    def read_folder(self, reading: SeriesReading) -> dict[str, SeriesPage]:
        """Read the files of the folder, and return what is said of series. Mistakes are noted."""
        folder = self._settings.folder
        if not folder.is_dir():
            if self._settings.fred or self._settings.dbnomics:
                return {}
            hint = "name it under markets.series.folder, or name series of FRED or DBnomics"
            raise VenueError("no_folder", f"{folder} is no folder of series", hint, stops=True)

        pages: dict[str, SeriesPage] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix not in SUFFIXES or path.name.startswith("."):
                continue
            if path.name == PAGES:
                pages = self._read_pages(path)
                continue

            state = self._file_state(path)
            for series in state.series:
                reading.add(series, path.name)
            reading.faults.extend(state.faults)
        return pages

    def _file_state(self, path: Path) -> FileState:
        """Return what a file holds, read again only if it has changed."""
        try:
            status = path.stat()
            modified = status.st_mtime_ns, status.st_size
            known_state = self._files.get(path)
            if known_state is not None and known_state.modified == modified:
                return known_state
            text = path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            return self._faulty(path, (0, 0), f"it can't be read: {error.strerror}")
        except UnicodeDecodeError as error:
            return self._faulty(path, (0, 0), f"byte {error.start + 1} is not UTF-8")

        try:
            series_read = read_series(path.name, text, self._settings.lag_days)
        except BadSeries as bad:
            state = FileState(modified, faults=bad.faults)
        else:
            state = FileState(modified, tuple(series_read))
            if self.stamp == "replay" and not all(series.has_vintages for series in series_read):
                reason = "the past can't be played without it: add the column, or set lag_days"
                state = FileState(modified, faults=(SeriesFault(path.name, 1, "published", reason),))
        self._files[path] = state
        return state

    def _faulty(self, path: Path, modified: tuple[int, int], reason: str) -> FileState:
        """Return the state of a file that has no text."""
        state = FileState(modified, faults=(SeriesFault(path.name, "the whole file", "", reason),))
        self._files[path] = state
        return state

    def _read_pages(self, path: Path) -> dict[str, SeriesPage]:
        """Return what the folder says of series; raise `VenueError` where it makes no sense."""
        try:
            return read_pages(path.name, path.read_text("utf-8-sig"))
        except BadSeries as bad:
            raise VenueError("bad_series", str(bad), HINT, stops=True) from bad
        except (OSError, UnicodeDecodeError) as error:
            message = f"{path.name} can't be read as UTF-8"
            raise VenueError("bad_series", message, HINT, stops=True) from error

    # ── servers ──────────────────────────────────────────────────────────────────────────────────────────

    async def _read_servers(self, reading: SeriesReading, at: datetime) -> None:
        """Read the series that are named by address; what a server doesn't have is gone."""
        key = os.environ.get(KEY, "")
        request_by_name: dict[str, Callable[[], Awaitable[Series]]] = {}
        for name in self._settings.fred:
            request_by_name[name] = partial(fred_series, self._graph, self._api, name, key)
        for codes in self._settings.dbnomics:
            request_by_name[dbnomics_name(codes)] = partial(dbnomics_series, self._dbnomics, codes)

        answers = await asyncio.gather(
            *(self._answer(name, ask, at) for name, ask in request_by_name.items())
        )
        for name, answer in zip(request_by_name, answers, strict=True):
            if isinstance(answer, Series):
                reading.add(answer, name)
            elif answer.code != "missing":
                reading.trouble[name] = answer

    async def _answer(
        self, name: str, ask: Callable[[], Awaitable[Series]], at: datetime
    ) -> Series | VenueError:
        """Return a series from its server, or the error; a recent answer is used again."""
        earlier_answer = self._answers.get(name)
        if earlier_answer is not None and abs(at - earlier_answer[0]) < KEPT:
            return earlier_answer[1]

        try:
            answer = await ask()
        except VenueError as error:
            return error
        except BadSeries as bad:
            return VenueError("bad_series", str(bad), "if it stays so, the service has a new form")
        self._answers[name] = at, answer
        return answer

    def _tell(self, record: str, code: str, reason: str) -> None:
        """Report what is not asked about or not decided, and why."""
        self._report(QuarantinedRecord("series", record, "page", code, reason))


def file_faults(settings: Settings) -> list[str]:
    """Return what is wrong in the folder of series, each mistake with its place."""
    try:
        reading = SeriesReading()
        SeriesVenue(settings, ignore_report, asyncio.sleep).read_folder(reading)
    except VenueError as error:
        return [error.message]
    return [fault.words for fault in reading.faults]


def _merged_page(page: SeriesPage, own: SeriesPage) -> SeriesPage:
    """Return what the folder says of a series, with what its own source says where the folder is silent."""
    title = page.title or own.title
    category = page.category or own.category
    return replace(page, title=title, category=category)


def _questions(markets: Collection[MarketId]) -> Iterator[SeriesQuestion]:
    """Yield the questions behind those ids that are of series."""
    for market in markets:
        question = question_of(market)
        if question is not None:
            yield question


def venue(settings: Settings, report: Report = ignore_report, sleep: Sleep = asyncio.sleep) -> SeriesVenue:
    """Return the series that settings name as a venue."""
    return SeriesVenue(settings, report, sleep)
