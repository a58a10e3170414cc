"""The stated forecasts of an export as the columns that a file of forecasts has, so that it can be scored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arena.exports.computed_tables import SCORE_COLUMNS
from arena.exports.fact_tables import FACT
from arena.exports.forms import form_of
from arena.exports.forms.cells import bad_file
from arena.exports.manifest import ExportManifest, is_export, is_zipped_export, open_export
from arena.exports.table import ExportColumn
from arena.scores.metaculus_scores import BASELINES
from markets.millionths import ONE

Row = Mapping[str, Any]
Columns = dict[str, list[object]]
SCORES = {"YES": 1, "NO": 0}


def is_export_at(place: Path) -> bool:
    """Whether an export lies there, as a folder or in one file."""
    return is_export(place) if place.is_dir() else place.is_file() and is_zipped_export(place)


def forecasts_of_export(place: Path) -> tuple[Columns, datetime | None, tuple[str, ...]]:
    """A row for every forecast that an agent stated, or skipped, of a market it was shown.

    Beside it as of when that is, and the baselines, whom nobody is compared with.

    A market's life begins when it was first shown, and ends when it closed or its end was known; it is an
    event of its own, unless pages name its story or its event. Cohorts that decide at the same instant are
    told apart by a microsecond.
    """
    with TemporaryDirectory() as spare, open_export(place, Path(spare), whole=False) as (folder, manifest):
        pages = {row["market_id"]: row for row in _rows(folder, manifest, "market_pages")}
        instants = {
            (row["cohort"], row["round"]): row["at"] + timedelta(microseconds=row["cohort"])
            for row in _rows(folder, manifest, "rounds")
        }
        ends: dict[str, Row] = {}
        for row in _rows(folder, manifest, "resolutions"):  # versions come in order
            known = ends.get(row["market_id"], row)["known_at"]
            ends[row["market_id"]] = {**row, "known_at": known}
        as_of = max((row["at"] for row in _rows(folder, manifest, "snapshots")), default=None)
        entrants = _rows(folder, manifest, "entrants")
        baselines = sorted({row["agent"] for row in entrants if row["kind"] in BASELINES})
        scores = _rows(folder, manifest, "scores", SCORE_COLUMNS)
        stated = [row for row in scores if row["reading"] == "stated"]
        times = [instants[row["cohort"], row["round"]] for row in stated]
    lives = _lives(stated, times, pages, ends)
    found: Columns = defaultdict(list)
    for row, at in zip(stated, times, strict=True):
        market = row["market_id"]
        page, life = pages[market], lives[market]
        end = ends.get(market)
        paid = None if end is None or end["payout"] is None else end["payout"] / ONE
        found["question"].append(market)
        found["forecaster"].append(row["agent"])
        found["probability"].append(row["forecast"])
        found["outcome"].append(SCORES.get(row["outcome"], paid if row["outcome"] == "unscored" else None))
        found["market_probability"].append(row["mid"] / ONE)
        found["event"].append(page["story"] or page["event_id"])
        found["category"].append(page["category"])
        found["time"].append(at.isoformat())
        for name, time in zip(("open", "close", "scheduled_close"), life, strict=True):
            found[name].append(time.isoformat())
        found["resolved"].append("" if end is None else max(end["known_at"], life[2]).isoformat())
    return dict(found), as_of, tuple(baselines)


def _lives(
    stated: list[Row], times: list[datetime], pages: Mapping[str, Row], ends: Mapping[str, Row]
) -> dict[str, tuple[datetime, datetime, datetime]]:
    """When each market was first shown, closed and was to close."""
    first: dict[str, datetime] = {}
    last: dict[str, datetime] = {}
    for row, at in zip(stated, times, strict=True):
        market = row["market_id"]
        first[market] = min(first.get(market, at), at)
        last[market] = max(last.get(market, at), at)
    lives = {}
    for market, opened in first.items():
        planned = max(pages[market]["closes_at"], last[market], opened + timedelta(seconds=1))
        known = ends[market]["known_at"] if market in ends else planned
        closed = max(min(planned, known), last[market])
        lives[market] = opened, closed, planned
    return lives


def _rows(
    folder: Path, manifest: ExportManifest, name: str, columns: tuple[ExportColumn, ...] | None = None
) -> Iterator[Row]:
    """The rows of a table, by the names of its columns."""
    form = form_of(manifest.form)
    every = FACT[name].sheet.columns if columns is None else columns
    file = f"{name}{form.ending}"
    if file not in manifest.files:
        raise bad_file(file, "the export doesn't have it, and forecasts are scored with it")
    for row in form.read(folder / file, every):
        yield dict(zip((column.name for column in every), row, strict=True))
