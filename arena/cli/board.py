"""The pages of `arena board`: the verdict and the leaderboard, whole, in parts or provisional."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from arena.cli.board_columns import (
    ALWAYS,
    COHORT_COLUMNS,
    COHORT_UNRANKED,
    COLUMNS,
    COMMUNITY_MEANT,
    COMMUNITY_WEIGHTS,
    EARLY_COLUMNS,
    METACULUS,
    METACULUS_LEGEND,
    NOTES,
    PROVISIONAL,
    SLICES,
    UNRANKED,
    reference_table,
    without_missing_money,
)
from arena.cli.board_kinds import all_kinds_page
from arena.cli.options import Options
from arena.cli.output import Data, plain, thinking_words
from arena.cli.page import Notes, Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.record.model.cohort import later_models_words
from arena.record.schema.database import Connection
from arena.scores.board_data import board_data, provisional_data, slices_data
from arena.scores.metaculus_kinds import read_metaculus_kinds
from arena.scores.rules.metaculus.table import COMMUNITY
from arena.scores.verdict import (
    EARLY_ORDERS,
    INTERVAL_ORDER,
    RANK_ORDER,
    better_text,
    is_early,
    profit_order,
)
from markets.distributions import question_kind

TURNS_AMISS = {"failed": "Failed turns", "late": "Late turns", "retried": "Turns retried after a failure"}
BoardPage = Callable[[Data, TableChoice], Page]


def show_board(
    chosen: Options, cohort: int | None, by: str | None, provisional: bool, metaculus: bool
) -> None:
    """Print the board in the chosen view, or the next command if no agent has played."""
    with chosen.reading() as connection:
        data, page = read_view(connection, cohort, by, provisional, metaculus)
    if chosen.json or data.get("leaderboard", True):
        chosen.print_answer(data, page, data, chosen.table_choice)
        return

    from arena.cli.check_next import next_round_command

    chosen.print_answer(
        data, list, [f"No agent has played yet. Next: {next_round_command(chosen.known_config())}"]
    )


def read_view(
    connection: Connection, cohort: int | None, by: str | None, provisional: bool, metaculus: bool
) -> tuple[dict[str, Any], BoardPage]:
    """Return the data of the chosen view, and the function that lays it out."""
    data: dict[str, Any] = {"cohort": cohort}
    if by is not None:
        return data | slices_data(connection, by, cohort), parts_page
    if provisional:
        return data | provisional_data(connection, cohort), provisional_page

    data |= board_data(connection, cohort)
    if metaculus:
        kinds = read_metaculus_kinds(connection, cohort)
        data["metaculus_kinds"] = {kind: list(map(asdict, rows)) for kind, rows in kinds.items()}
        return data, metaculus_page
    return data, leaderboard_page


def parts_page(data: Data, choice: TableChoice) -> Page:
    """Yield one table for each part."""
    parts: dict[str, list[Data]] = {}
    for row in data["slices"]:
        parts.setdefault(row["slice"], []).append(row)
    for name, rows in parts.items():
        yield Table(SLICES, rows, plain(name), choice)


def provisional_page(data: Data, choice: TableChoice) -> Page:
    """Yield the provisional scores and a note on them."""
    yield Table(PROVISIONAL, data["leaderboard"], choice=choice)
    yield f"{data['provisional'].capitalize()}."


def metaculus_page(data: Data, choice: TableChoice) -> Page:
    """Yield Metaculus's scores of the agents, and their legend."""
    if not data["metaculus"] and not data["metaculus_kinds"]:
        yield "No market of a cohort has ended YES or NO yet."
        return
    if data["metaculus"]:
        yield Table(METACULUS, data["metaculus"], choice=choice)
    for kind, rows in data["metaculus_kinds"].items():
        yield Table(METACULUS, rows, question_kind(kind).TITLE.capitalize(), choice=choice)
    yield METACULUS_LEGEND


def leaderboard_page(data: Data, choice: TableChoice) -> Page:
    """Yield the verdict, the leaderboard and its notes."""
    all_kinds = data.get("all_kinds")
    over_all = data.get("over_all_cohorts")
    if over_all:
        yield plain(f"Over all cohorts: {over_all}")
    else:
        for sentence in filter(None, (data["sentence"], data["guarantee"])):
            yield plain(sentence)

    yield ""
    if all_kinds is None:
        yield from _board_tables(data, choice)
    else:
        yield from all_kinds_page(data, choice)
    yield from _remarks(data)


def _board_tables(data: Data, choice: TableChoice) -> Page:
    """Yield the tables of a board; it has no ranks until enough events have resolved."""
    rows = _board_rows(data)
    is_of_cohort = "over_all_cohorts" in data
    has_money = data.get("money", True)
    early = is_early(row["events"] for row in rows)

    order = RANK_ORDER
    if early:
        order = EARLY_ORDERS[has_money]
        rows.sort(key=lambda row: profit_order(row["agent"], row["pnl"], row["is_reference"]))
    elif is_of_cohort:
        order = INTERVAL_ORDER

    community: list[dict[str, Any]] = []
    if not early or choice.columns:
        community = list(_community_rows(data, rows[0]))
        rows += community

    columns = without_missing_money(_columns(choice, is_of_cohort, early), has_money)
    reasons = without_missing_money(COHORT_UNRANKED if is_of_cohort else UNRANKED, has_money)
    tables = _rows_by_table(rows, early)
    if "ranked" in tables:
        yield Table(columns, tables["ranked"], choice=choice)
    if "references" in tables:
        yield reference_table(columns, tables["references"], choice)
    if "unranked" in tables:
        yield Table(reasons, tables["unranked"], "Not ranked", tells_hidden=False)
    yield Notes(NOTES, (order,) if "ranked" in tables else ())
    if community:
        yield COMMUNITY_MEANT if is_of_cohort else f"{COMMUNITY_MEANT} {COMMUNITY_WEIGHTS}"


def _rows_by_table(rows: Sequence[Data], early: bool) -> dict[str, list[Data]]:
    """Return the rows grouped by the table that they belong in."""
    tables: dict[str, list[Data]] = {}
    for row in rows:
        tables.setdefault(_table_of(row, early), []).append(row)
    return tables


def _table_of(row: Data, early: bool) -> str:
    """Return the table that an agent belongs in."""
    if row["is_reference"]:
        return "references"

    is_unranked = row["why_unranked"]
    if early:
        # Nobody has a rank yet: only agents that have never answered stand apart.
        is_unranked = row["turns"] and not row["answered"]
    return "unranked" if is_unranked else "ranked"


def _columns(choice: TableChoice, is_of_cohort: bool, early: bool) -> Sequence[TableColumn]:
    """Return the columns of a board; one without ranks also has all others if columns are chosen by name."""
    if not early:
        return COHORT_COLUMNS if is_of_cohort else COLUMNS

    columns = [*EARLY_COLUMNS]
    if is_of_cohort:
        columns += ALWAYS
    if choice.columns:
        # A user may choose any column by name, also one that an early board doesn't show by itself.
        names = {column.name for column in columns}
        columns += [column for column in COLUMNS if column.name not in names]
    return columns


def _board_rows(data: Data) -> list[dict[str, Any]]:
    """Return the rows of a board, each with its texts and its Metaculus scores."""
    metaculus = {row["agent"]: row for row in data["metaculus"]}
    calibration = {row["agent"]: row["text"] for row in data["calibration"]}
    ranked_agents = sum(row["rank_low"] is not None for row in data["leaderboard"])

    rows = []
    for row in data["leaderboard"]:
        better = None
        why_unranked = None
        if row["rank_low"] is not None:
            better = better_text(row["better_than"], ranked_agents)
        elif row["copies"]:
            why_unranked = f"copies {row['copies']}"
        if not row["ranked"]:
            why_unranked = row["why_not"] or "too little is known"

        agent = row["agent"]
        rows.append(
            row
            | {
                "better_text": better,
                "why_unranked": why_unranked,
                "calibration_text": calibration.get(agent),
                "metaculus": metaculus.get(agent),
            }
        )
    return rows


def _community_rows(data: Data, column_names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the community's row, the median of all agents: a reference without turns or money."""
    for score in data["metaculus"]:
        if score["agent"] == COMMUNITY:
            row: dict[str, Any] = dict.fromkeys(column_names)
            row |= {"agent": COMMUNITY, "is_reference": True, "brier_stated": score["brier"]}
            yield row | {"metaculus": score}


def _remarks(data: Data) -> Page:
    """Yield remarks on the agents and their figures."""
    if data["simulated"]:
        yield "Simulated markets, play money: these figures say nothing about real ones."
    if data["noise"] is not None:
        yield f"Agents with the same settings differ by {data['noise']:.4f} Brier points."
    yield from _turn_problem_lines(data["leaderboard"])

    thinking = thinking_words({row["agent"]: row["reasoning"] for row in data["thinking"]})
    if thinking:
        yield plain(f"Thinking: {thinking}.")
    later_models = later_models_words(data["later_models"])
    if later_models:
        yield f"{later_models.capitalize()}."

    stamps: dict[str, list[str]] = {}
    settings: dict[str, list[str]] = {}
    for row in data["leaderboard"]:
        stamps[row["agent"]] = [stamp.capitalize() for stamp in row["stamps"]]
        if row["turns"]:
            settings[row["agent"]] = _settings_of(row)
    yield from _each_remark_once(stamps)
    yield from _each_remark_once(settings)


def _turn_problem_lines(rows: Sequence[Data]) -> Page:
    """Yield the number of failed, late and retried turns of each agent."""
    for key, label in TURNS_AMISS.items():
        counts = [f"{row['agent']} {row[key]:,}" for row in rows if row[key]]
        if counts:
            yield plain(f"{label}: {', '.join(counts)}.")


def _settings_of(row: Data) -> list[str]:
    """Return remarks on an agent's tools, and on the depth at which its orders were filled."""
    remarks = []
    if row["tools"]:
        remarks.append(f"Tools: {', '.join(row['tools'])}")
    if row["depth"]:
        remarks.append(f"P/L: {row['depth']}")
    return remarks


def _each_remark_once(remarks_by_agent: Mapping[str, Sequence[str]]) -> Page:
    """Yield each remark once, with the agents that it is about."""
    agents_by_remark: dict[str, list[str]] = {}
    for agent, remarks in remarks_by_agent.items():
        for remark in remarks:
            agents_by_remark.setdefault(remark, []).append(agent)

    for remark, agents in agents_by_remark.items():
        who = "all"
        if len(agents) < len(remarks_by_agent):
            who = ", ".join(agents)
        yield plain(f"{remark} ({who}).")
