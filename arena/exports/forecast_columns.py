"""Reads the forecasts of an export as a table, to be scored like those of a file."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agents.model import DECIDED_STATUSES, USABLE_STATUSES
from arena.exports.computed_tables import ScoreLine, columns_of
from arena.exports.fact_tables import FACT
from arena.exports.forms import form_of
from arena.exports.forms.cells import bad_file
from arena.exports.manifest import ExportManifest, is_export, is_zipped_export, open_export
from arena.exports.table import ExportColumn, column_names
from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.cohort import BENCHMARK, MIN_COVERAGE
from arena.record.model.columns import UNKNOWN, factorize
from arena.scores.files.forecasts import ForecastTable
from arena.scores.season_table import SeasonRows, YesNoRows, season_table, turn_times
from markets.millionths import ONE

Row = Mapping[str, Any]
SHOWN_STATUSES = (*DECIDED_STATUSES, "failed", "late")


def is_export_at(place: Path) -> bool:
    """Tell whether a path is an export: a folder or a ZIP."""
    if place.is_dir():
        return is_export(place)
    return place.is_file() and is_zipped_export(place)


def read_export(place: Path) -> ForecastTable:
    """Return the forecasts of an export, scored as `arena board` scores its record."""
    with TemporaryDirectory() as spare, open_export(place, Path(spare), whole=False) as (folder, manifest):
        tables = ExportTables(folder, manifest)
        table = season_table(str(place), _season_rows(tables))

    notes = list(table.notes)
    if table.references:
        notes.append(f"not ranked, as on the leaderboard: {', '.join(table.references)}")
    if table.outside:
        notes.append(f"left out of peer scores, as on the leaderboard: {', '.join(table.outside)}")
    return replace(table, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class ExportTables:
    """The tables of an export, each read on demand."""

    folder: Path
    manifest: ExportManifest

    def rows(self, name: str, columns: tuple[ExportColumn, ...] = ()) -> Iterator[Row]:
        """Yield the rows of a table as dicts by column; `columns` defaults to those of a table of facts."""
        form = form_of(self.manifest.form)
        columns = columns or FACT[name].sheet.columns
        file = f"{name}{form.ending}"
        if file not in self.manifest.files:
            raise bad_file(file, "the export doesn't have it, and forecasts are scored with it")

        names = column_names(columns)
        for row in form.read(self.folder / file, columns):
            yield dict(zip(names, row, strict=True))


@dataclass(frozen=True, slots=True)
class EntrantRead:
    """An entrant's kind, whether prices are hidden from it, and when its model was released."""

    kind: str
    blind: bool
    released: int


@dataclass(frozen=True, slots=True)
class HiddenRounds:
    """The number of first rounds in which a cohort hides prices, and whether its forecasts are hidden now."""

    count: int
    is_now: bool


def _season_rows(tables: ExportTables) -> SeasonRows:
    """Return the forecasts of an export with everything that scores them."""
    round_times = {(row["cohort"], row["round"]): row["at"] for row in tables.rows("rounds")}
    entrants = _entrants(tables)
    pages = {(row["market_id"], row["page"]): row for row in tables.rows("market_pages")}
    hidden = {}
    min_coverage = MIN_COVERAGE
    for row in tables.rows("cohorts"):  # cohorts come in order
        frozen = json.loads(row["frozen"])
        number = row["cohort"]
        newest_round = max((in_cohort for cohort, in_cohort in round_times if cohort == number), default=0)
        is_over = row["ended_at"] or row["stopped_at"]
        hidden_rounds = frozen.get("hidden", 0)
        is_now = not is_over and newest_round <= hidden_rounds
        hidden[number] = HiddenRounds(hidden_rounds, is_now)
        if frozen.get("stamp") != BENCHMARK:  # cohorts that answer a benchmark are in no figure
            min_coverage = frozen.get("min_coverage", MIN_COVERAGE)

    answers = _answers(tables, round_times, entrants, hidden, pages)
    as_of = max((row["at"] for row in tables.rows("snapshots")), default=None)
    return SeasonRows(
        yes_no=_yes_no(tables, round_times, entrants),
        answers=answers,
        time=turn_times(answers.cohort, answers.round, round_times),
        markets=_markets(tables, pages),
        kinds={agent: entrant.kind for (_, agent), entrant in entrants.items()},
        as_of=as_of,
        min_coverage=min_coverage / ONE,
    )


def _entrants(tables: ExportTables) -> dict[tuple[int, str], EntrantRead]:
    """Return the entrants by cohort and name, with the settings of their last round."""
    settings = {}
    kinds = {}
    for row in tables.rows("entrants"):
        key = row["cohort"], row["agent"]
        settings[key] = row["settings"]
        kinds[key] = row["kind"]
    for row in tables.rows("replacements"):
        settings[row["cohort"], row["agent"]] = row["settings"]

    entrants = {}
    for key, settings_text in settings.items():
        values = json.loads(settings_text)
        released = UNKNOWN
        if values.get("released"):
            day = datetime.fromisoformat(values["released"])
            released = int(day.replace(tzinfo=UTC).timestamp())
        entrants[key] = EntrantRead(kinds[key], values.get("prices") == "hidden", released)
    return entrants


def _markets(tables: ExportTables, pages: Mapping[tuple[str, int], Row]) -> dict[str, SeasonMarket]:
    """Return the markets with their newest pages and their resolutions."""
    markets = {}
    for (market, _), row in sorted(pages.items()):
        event = row["story"] or row["event_id"]
        closes_at = row["closes_at"]
        markets[market] = SeasonMarket(event, row["category"], row["question"], closes_at, row["form"])
    for row in tables.rows("resolutions"):  # versions come in order
        market = row["market_id"]
        if market in markets:
            markets[market] = markets[market].ended(row["known_at"], row["payout"], row["answer"])
    return markets


def _yes_no(
    tables: ExportTables,
    round_times: Mapping[tuple[int, int], datetime],
    entrants: Mapping[tuple[int, str], EntrantRead],
) -> YesNoRows:
    """Return the forecasts of yes/no markets; those without a quote in the snapshot have no price."""
    unpriced = set()
    for row in tables.rows("snapshot_items"):
        if not row["quote_hash"]:
            unpriced.add((row["cohort"], row["at"], row["market_id"]))

    columns = defaultdict[str, list[Any]](list)
    for row in tables.rows("scores", columns_of(ScoreLine)):
        if row["reading"] != "stated":
            continue
        entrant = entrants[row["cohort"], row["agent"]]
        decided_at = round_times[row["cohort"], row["round"]]
        is_early = entrant.released != UNKNOWN and decided_at.timestamp() // 1 < entrant.released
        columns["early"].append(is_early)
        is_priced = (row["cohort"], decided_at, row["market_id"]) not in unpriced
        columns["price"].append(row["mid"] / ONE if is_priced else nan)
        for name in ("cohort", "round", "agent", "market_id", "forecast", "said"):
            columns[name].append(row[name])

    agents, agent = factorize(columns["agent"])
    markets, market = factorize(columns["market_id"])
    cohort = np.array(columns["cohort"], dtype=np.int64)
    round_number = np.array(columns["round"], dtype=np.int64)
    return YesNoRows(
        agents=agents,
        markets=markets,
        agent=agent,
        market=market,
        time=turn_times(cohort, round_number, round_times),
        chance=np.array(columns["forecast"], dtype=np.float64),
        price=np.array(columns["price"], dtype=np.float64),
        stated=np.array(columns["said"], dtype=np.bool_),
        early=np.array(columns["early"], dtype=np.bool_),
    )


def _answers(
    tables: ExportTables,
    round_times: Mapping[tuple[int, int], datetime],
    entrants: Mapping[tuple[int, str], EntrantRead],
    hidden: Mapping[int, HiddenRounds],
    pages: Mapping[tuple[str, int], Row],
) -> AnswerColumns:
    """Return the answers to questions other than yes/no."""
    shown, stated = _shown_questions_and_answers(tables, pages)
    columns = defaultdict[str, list[Any]](list)
    for turn in tables.rows("turns") if shown else ():
        hidden_rounds = hidden[turn["cohort"]]
        if turn["status"] not in SHOWN_STATUSES or hidden_rounds.is_now:
            continue

        round_key = turn["cohort"], turn["round"]
        entrant = entrants[turn["cohort"], turn["agent"]]
        for market, form in shown[turn["cohort"], round_times[round_key]]:
            answer = None
            if turn["status"] in USABLE_STATUSES:
                answer = stated.get((*round_key, turn["agent"], market))
            row = {
                "agent": turn["agent"],
                "cohort": turn["cohort"],
                "round": turn["round"],
                "at": round_times[round_key].timestamp() // 1,
                "market": market,
                "form": form,
                "answer": answer and answer["distribution"],
                "reason": answer and answer["reason"],
                "blind": entrant.blind or turn["round"] <= hidden_rounds.count,
                "released": entrant.released,
            }
            for name, value in row.items():
                columns[name].append(value)
    return _answer_columns(columns)


Shown = dict[tuple[int, datetime], list[tuple[str, str]]]
"""The markets and forms of each snapshot, by its cohort and time."""
Said = dict[tuple[int, int, str, str], Row]
"""The final forecasts, by cohort, round, agent and market."""


def _shown_questions_and_answers(
    tables: ExportTables, pages: Mapping[tuple[str, int], Row]
) -> tuple[Shown, Said]:
    """Return the questions other than yes/no as they were shown, and the answers to them."""
    shown: Shown = defaultdict(list)
    stated: Said = {}
    if not any(page["form"] for page in pages.values()):
        return shown, stated

    for row in tables.rows("snapshot_items"):
        form = pages[row["market_id"], row["page"]]["form"]
        if form and row["shown"]:
            shown[row["cohort"], row["at"]].append((row["market_id"], form))
    for row in tables.rows("forecasts"):
        if row["stage"] == "final" and row["distribution"]:
            stated[row["cohort"], row["round"], row["agent"], row["market_id"]] = row
    return shown, stated


def _answer_columns(lists: Mapping[str, list[Any]]) -> AnswerColumns:
    """Return lists as arrays, with names and texts as indices; -1 for missing ones."""
    columns: dict[str, Any] = {}
    for column, plural in (("agent", "agents"), ("market", "markets"), ("form", "forms")):
        columns[plural], columns[column] = factorize(lists[column])

    # An answer that is missing has the index -1.
    for column, plural in (("answer", "answers"), ("reason", "reasons")):
        texts = tuple(dict.fromkeys(text for text in lists[column] if text is not None))
        indexes = {text: index for index, text in enumerate(texts)}
        columns[plural] = texts
        columns[column] = np.array([indexes.get(text, -1) for text in lists[column]], dtype=np.int64)

    for column in ("cohort", "round", "at", "released"):
        columns[column] = np.array(lists[column], dtype=np.int64)
    columns["blind"] = np.array(lists["blind"], dtype=np.bool_)
    return AnswerColumns(**columns)
