"""Reads the stated forecasts of an export as columns of a file of forecasts, so that they can be scored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arena.exports.computed_tables import ScoreLine, columns_of
from arena.exports.fact_tables import FACT
from arena.exports.forms import form_of
from arena.exports.forms.cells import bad_file
from arena.exports.manifest import ExportManifest, is_export, is_zipped_export, open_export
from arena.exports.table import ExportColumn
from arena.forms.csv_columns import cells_of
from arena.scores.comparisons import REFERENCES
from arena.scores.files.forecasts import COLUMNS, REQUIRED_COLUMNS, ForecastTable, check_forecasts
from arena.scores.metaculus_scores import BASELINES
from markets.millionths import ONE

Row = Mapping[str, Any]
Columns = dict[str, list[object]]
SCORES = {"YES": 1, "NO": 0}


def is_export_at(place: Path) -> bool:
    """Tell whether an export is there, as a folder or in one file."""
    if place.is_dir():
        return is_export(place)
    return place.is_file() and is_zipped_export(place)


def read_export(place: Path) -> ForecastTable:
    """Return the stated forecasts of an export.

    As on the leaderboard references have no rank, and peer scores leave out baselines.
    """
    columns, as_of, kinds = forecasts_of_export(place)
    table = check_forecasts(cells_of(str(place), columns, REQUIRED_COLUMNS, COLUMNS))
    if as_of is not None:
        table = replace(table, as_of=as_of.timestamp())

    references = tuple(name for name in table.forecasters if kinds[name] in REFERENCES)
    notes = table.notes
    if references:
        notes = (*notes, f"not ranked, as on the leaderboard: {', '.join(references)}")

    outside = tuple(name for name in table.forecasters if kinds[name] in BASELINES)
    if len(table.forecasters) <= len(outside) + 1:
        outside = ()
    if outside:
        notes = (*notes, f"left out of peer scores, as on the leaderboard: {', '.join(outside)}")
    return replace(table, outside=outside, references=references, notes=notes)


@dataclass(frozen=True, slots=True)
class _ForecastTables:
    """What is read of an export: its stated forecasts, the time of each, its markets, and agents' kinds."""

    stated: list[Row]
    times: list[datetime]
    pages: dict[str, Row]
    resolutions: dict[str, Row]
    as_of: datetime | None
    kinds: Mapping[str, str]


def forecasts_of_export(place: Path) -> tuple[Columns, datetime | None, Mapping[str, str]]:
    """Return a row for every forecast that an agent stated, or skipped, of a market it was shown.

    Return with it the time of the export's last snapshot, and the kind of each agent in its newest cohort.

    A market opens when it was first shown, and ends when it closed or its resolution was known. It is an
    event of its own, unless pages name its story or its event. Cohorts that decide at the same instant are
    told apart by a microsecond.
    """
    with TemporaryDirectory() as spare, open_export(place, Path(spare), whole=False) as (folder, manifest):
        tables = _read_tables(folder, manifest)

    lives = _lives(tables)
    columns: Columns = defaultdict(list)
    for row, time in zip(tables.stated, tables.times, strict=True):
        market = row["market_id"]
        page = tables.pages[market]
        opened, closed, planned = lives[market]

        resolution = tables.resolutions.get(market)
        outcome = SCORES.get(row["outcome"])
        resolved = ""
        if resolution is not None:
            resolved = max(resolution["known_at"], planned).isoformat()
            if row["outcome"] == "unscored" and resolution["payout"] is not None:
                outcome = resolution["payout"] / ONE

        columns["question"].append(market)
        columns["forecaster"].append(row["agent"])
        columns["probability"].append(row["forecast"])
        columns["outcome"].append(outcome)
        columns["market_probability"].append(row["mid"] / ONE)
        columns["event"].append(page["story"] or page["event_id"])
        columns["category"].append(page["category"])
        columns["time"].append(time.isoformat())
        columns["open"].append(opened.isoformat())
        columns["close"].append(closed.isoformat())
        columns["scheduled_close"].append(planned.isoformat())
        columns["resolved"].append(resolved)
    return dict(columns), tables.as_of, tables.kinds


def _read_tables(folder: Path, manifest: ExportManifest) -> _ForecastTables:
    """Return what is needed of an export."""
    read = partial(_rows, folder, manifest)
    instants = {}
    for row in read("rounds"):
        instants[row["cohort"], row["round"]] = row["at"] + timedelta(microseconds=row["cohort"])

    resolutions: dict[str, Row] = {}
    for row in read("resolutions"):  # versions come in order
        market = row["market_id"]
        first_known = resolutions.get(market, row)["known_at"]
        resolutions[market] = {**row, "known_at": first_known}

    stated = []
    times = []
    for row in read("scores", columns_of(ScoreLine)):
        if row["reading"] == "stated":
            stated.append(row)
            times.append(instants[row["cohort"], row["round"]])

    pages = {row["market_id"]: row for row in read("market_pages")}
    as_of = max((row["at"] for row in read("snapshots")), default=None)
    kinds = {row["agent"]: row["kind"] for row in read("entrants")}  # cohorts come in order

    return _ForecastTables(
        stated=stated,
        times=times,
        pages=pages,
        resolutions=resolutions,
        as_of=as_of,
        kinds=kinds,
    )


def _lives(tables: _ForecastTables) -> dict[str, tuple[datetime, datetime, datetime]]:
    """Return when each market was first shown, when it closed, and when it was to close."""
    times = defaultdict[str, list[datetime]](list)
    for row, time in zip(tables.stated, tables.times, strict=True):
        times[row["market_id"]].append(time)

    lives = {}
    for market, shown in times.items():
        opened = min(shown)
        last = max(shown)
        planned = max(tables.pages[market]["closes_at"], last, opened + timedelta(seconds=1))
        closed = planned
        if market in tables.resolutions:
            known_at = tables.resolutions[market]["known_at"]
            closed = max(min(planned, known_at), last)
        lives[market] = opened, closed, planned
    return lives


def _rows(
    folder: Path, manifest: ExportManifest, name: str, columns: tuple[ExportColumn, ...] = ()
) -> Iterator[Row]:
    """Yield the rows of a table by the names of its columns; without columns, of a table of facts."""
    form = form_of(manifest.form)
    columns = columns or FACT[name].sheet.columns
    file = f"{name}{form.ending}"
    if file not in manifest.files:
        raise bad_file(file, "the export doesn't have it, and forecasts are scored with it")

    names = [column.name for column in columns]
    for row in form.read(folder / file, columns):
        yield dict(zip(names, row, strict=True))
