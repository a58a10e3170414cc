"""What `arena board` says of all agents: the verdict and the leaderboard, whole, in parts or provisional."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from arena.cli.board_columns import (
    ALWAYS,
    COHORT_COLUMNS,
    COHORT_ORDER,
    COHORT_UNRANKED,
    COLUMNS,
    EARLY_COLUMNS,
    EARLY_ORDER,
    METACULUS,
    METACULUS_LEGEND,
    NOTES,
    ORDER,
    PROVISIONAL,
    RANKS,
    SLICES,
    UNRANKED,
)
from arena.cli.output import Data, plain, thinking_words
from arena.cli.page import Notes, Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.errors import natural_key
from arena.record.model.cohort import Cohort, later_models_words
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores.leaderboard import PROVISIONAL_NOTICE, compute_provisional, leaderboard_data
from arena.scores.leaderboard import read_leaderboard as read_board
from arena.scores.profiles.detailed_profile import read_sure_forecasts
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.slices import read_slices
from arena.scores.verdict import better_text

TURNS_AMISS = {"failed": "Failed turns", "late": "Late turns", "retried": "Turns retried after a failure"}


def read_leaderboard(connection: Connection, cohort: int | None = None) -> dict[str, Any]:
    """Return the leaderboard of a record for JSON: the verdict, and its rows."""
    data = leaderboard_data(read_board(connection, cohort))
    if cohort is not None:
        verdict = read_board(connection).verdict
        data["over_all_cohorts"] = verdict.sentence if verdict else None

    sure = read_sure_forecasts(connection, cohort)
    cohorts = [stored.cohort for stored in select_cohorts(read_cohorts(connection), cohort)]
    data["simulated"] = {one.stamp for one in cohorts} == {"simulated"}
    data["thinking"] = _thinking(cohorts)
    data["later_models"] = {model: day for one in cohorts for model, day in one.later_models.items()}
    data["calibration"] = [
        {"agent": name} | asdict(forecasts) | {"text": forecasts.text} for name, forecasts in sure.items()
    ]
    return data


def _thinking(cohorts: Sequence[Cohort]) -> list[dict[str, str]]:
    """Return how much each model was last asked to think; the demo's think not at all."""
    asked: dict[str, str] = {}
    for entrant in chain.from_iterable(cohort.entrants for cohort in cohorts):
        model = str(entrant.settings.get("model") or "demo/")
        if not model.startswith("demo/"):
            asked[entrant.name] = str(entrant.settings.get("reasoning") or "provider's default")
    return [{"agent": name, "reasoning": effort} for name, effort in asked.items()]


def read_view(
    connection: Connection, cohort: int | None, by: str | None, provisional: bool, metaculus: bool
) -> tuple[dict[str, Any], Callable[[Data, TableChoice], Page]]:
    """Return what is asked for, for JSON, and the page that shows it."""
    data: dict[str, Any] = {"cohort": cohort}
    if by is not None:
        parts = read_slices(connection, by, cohort)
        data["by"] = by
        data["slices"] = [{"slice": part.slice} | asdict(part.gain) for part in parts]
        return data, parts_page
    if provisional:
        rows = compute_provisional(connection, cohort)
        data["provisional"] = PROVISIONAL_NOTICE
        data["leaderboard"] = [asdict(row) | {"skill": row.skill} for row in rows]
        return data, provisional_page
    data |= read_leaderboard(connection, cohort)
    return data, metaculus_page if metaculus else leaderboard_page


def parts_page(data: Data, choice: TableChoice) -> Page:
    """Yield a table for each part."""
    for name in dict.fromkeys(row["slice"] for row in data["slices"]):
        rows = [row for row in data["slices"] if row["slice"] == name]
        yield Table(SLICES, rows, plain(name), choice)


def provisional_page(data: Data, choice: TableChoice) -> Page:
    """Yield provisional scores, and what they are."""
    yield Table(PROVISIONAL, data["leaderboard"], choice=choice)
    yield f"{data['provisional'].capitalize()}."


def metaculus_page(data: Data, choice: TableChoice) -> Page:
    """Yield Metaculus's scores of agents, and what they mean."""
    if not data["metaculus"]:
        yield "No market of a cohort has ended YES or NO yet."
        return
    yield Table(METACULUS, data["metaculus"], choice=choice)
    yield METACULUS_LEGEND


def leaderboard_page(data: Data, choice: TableChoice) -> Page:
    """Yield the verdict, the board, and what is to be known of what it shows."""
    over_all = data.get("over_all_cohorts")
    sentences = [f"Over all cohorts: {over_all}"] if over_all else [data["sentence"], data["guarantee"]]
    for sentence in filter(None, sentences):
        yield plain(sentence)

    yield ""
    yield from _tables(data, choice)
    yield from _remarks(data)


def _tables(data: Data, choice: TableChoice) -> Page:
    """Yield the tables of a board. Until enough events have resolved nobody is ranked on it."""
    of_cohort = "over_all_cohorts" in data
    rows = _board_rows(data)
    agents = [row for row in rows if not row["is_reference"]]
    references = [row for row in rows if row["is_reference"]]
    columns: Sequence[TableColumn] = COHORT_COLUMNS if of_cohort else COLUMNS
    order = COHORT_ORDER if of_cohort else ORDER
    unranked = [row for row in agents if row["why_unranked"]]

    if max((row["events"] for row in rows), default=0) < ENOUGH_EVENTS:
        columns = _early_columns(choice, of_cohort)
        order = EARLY_ORDER
        agents.sort(key=lambda row: (row["pnl"] is None, -(row["pnl"] or 0.0), natural_key(row["agent"])))
        unranked = [row for row in agents if row["turns"] and not row["answered"]]

    ranked = [row for row in agents if row not in unranked]
    if ranked:
        yield Table(columns, ranked, choice=choice)

    if references:
        # They have the columns that the agents above them have, but those of entries.
        beside = [column for column in choice.of(columns) if column not in RANKS]
        whole = replace(choice, wide=choice.wide or bool(choice.columns), columns="")
        title = "References, not ranked"
        yield Table(beside, references, title, whole, tells_hidden=False, as_above=True)

    if unranked:
        reasons = COHORT_UNRANKED if of_cohort else UNRANKED
        yield Table(reasons, unranked, "Not ranked", tells_hidden=False)
    yield Notes(NOTES, (order,) if ranked else ())


def _early_columns(choice: TableChoice, of_cohort: bool) -> list[TableColumn]:
    """Return the columns of a board on which nothing is ranked yet; by name, all others are there too."""
    columns = [*EARLY_COLUMNS]
    if of_cohort:
        columns += ALWAYS
    if choice.columns:
        names = {column.name for column in columns}
        columns += [column for column in COLUMNS if column.name not in names]
    return columns


def _board_rows(data: Data) -> list[dict[str, Any]]:
    """Return the rows of a board, each with the texts and scores that are shown beside it."""
    metaculus = {row["agent"]: row for row in data["metaculus"]}
    calibration = {row["agent"]: row["text"] for row in data["calibration"]}
    entries = sum(row["rank_low"] is not None for row in data["leaderboard"])

    rows = []
    for row in data["leaderboard"]:
        better = None
        why = None
        if row["rank_low"] is not None:
            better = better_text(row["better_than"], entries)
        elif row["copies"]:
            why = f"copies {row['copies']}"
        if not row["ranked"]:
            why = row["why_not"] or "too little is known"

        texts = {"better_text": better, "why_unranked": why}
        texts["calibration_text"] = calibration.get(row["agent"])
        rows.append(row | texts | {"metaculus": metaculus.get(row["agent"])})
    return rows


def _remarks(data: Data) -> Iterator[str]:
    """Yield what else is to be known of the agents and their figures."""
    rows = data["leaderboard"]
    if data["simulated"]:
        yield "Simulated markets, play money: these figures say nothing about real ones."
    if data["noise"] is not None:
        yield f"Agents with the same settings differ by {data['noise']:.4f} Brier points."
    for key, turns in TURNS_AMISS.items():
        counts = [f"{row['agent']} {row[key]:,}" for row in rows if row[key]]
        if counts:
            yield plain(f"{turns}: {', '.join(counts)}.")

    thinking = thinking_words({row["agent"]: row["reasoning"] for row in data["thinking"]})
    if thinking:
        yield plain(f"Thinking: {thinking}.")
    later_models = later_models_words(data["later_models"])
    if later_models:
        yield f"{later_models.capitalize()}."

    yield from _shared({row["agent"]: [stamp.capitalize() for stamp in row["stamps"]] for row in rows})
    yield from _shared(_settings_of([row for row in rows if row["turns"]]))


def _settings_of(rows: Sequence[Data]) -> dict[str, list[str]]:
    """Return what to say of each agent's tools, and of the depth at which its orders were filled."""
    remarks: dict[str, list[str]] = {row["agent"]: [] for row in rows}
    for row in rows:
        if row["tools"]:
            remarks[row["agent"]].append(f"Tools: {', '.join(row['tools'])}")
        if row["depth"]:
            remarks[row["agent"]].append(f"P/L: {row['depth']}")
    return remarks


def _shared(remarks: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what is to be known of agents, each text once, and of whom."""
    for text in dict.fromkeys(chain.from_iterable(remarks.values())):
        named = [agent for agent, own in remarks.items() if text in own]
        who = "all" if len(named) == len(remarks) else ", ".join(named)
        yield plain(f"{text} ({who}).")
