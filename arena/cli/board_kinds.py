"""The page of `arena board` for seasons with other questions than yes or no: all kinds scored as one."""

from collections.abc import Sequence
from typing import Any

from arena.cli import board_columns
from arena.cli.board_columns import (
    AGENT,
    BETTER_THAN,
    COST,
    PNL,
    RANK,
    RANKS,
    SKILL,
    reference_table,
    wide_column,
    without_missing_money,
)
from arena.cli.output import Data, plain
from arena.cli.page import Notes, Page
from arena.cli.table import Table, TableChoice, TableColumn, answered, between
from arena.errors import times_text
from arena.scores.verdict import (
    EARLY_BRIER_ORDER,
    INTERVAL_ORDER,
    RANK_ORDER,
    better_text,
    brier_order,
    is_early,
)
from markets.distributions import YES_NO, question_kind

OPTIONS = "multiple_choice"
WITH_BRIER = (YES_NO, OPTIONS)
"""The kinds of question with a Brier score, which share one board."""
INTERVAL = TableColumn("interval", "95% interval", value=between("skill_low", "skill_high"))
BRIER = TableColumn("brier", "Brier", ".4f")


COLUMNS = (
    RANK,
    AGENT,
    SKILL,
    INTERVAL,
    BETTER_THAN,
    BRIER,
    PNL,
    COST,
    TableColumn("evidence", show=times_text, gives_way=7, from_width=140),
    wide_column("baseline", "+.2f", 6),
    wide_column("peer", "+.2f", 6),
    wide_column("coverage", ".0%", 8, "coverage in time"),
    wide_column("true_false", ".4f", 8, "T/F", "autocast.true_false"),
    wide_column("multiple_choice", ".4f", 8, "MCQ", "autocast.multiple_choice"),
    wide_column("numeric", ".4f", 8, value="autocast.numeric"),
    wide_column("combined", ".4f", 8, value="autocast.combined"),
    wide_column("questions", ",d", 3),
    wide_column("events", ",d", 3),
)
NUMBERS = (
    AGENT,
    TableColumn("kind", show=plain, gives_way=1),
    TableColumn("baseline", show="+.2f"),
    TableColumn("peer", show="+.2f"),
    TableColumn("distance", show=".1%"),
    TableColumn("coverage", "coverage in time", ".0%", 3),
    answered(2),
)
UNRANKED = (AGENT, TableColumn("why_not", "why not", narrow="wrap"), BRIER, PNL, COST)
NOTES = {
    "skill": "Skill: the Brier score of the price or the odds less the agent's; options: half the squares.",
    "evidence": board_columns.NOTES["evidence"],
    "combined": "Combined: Autocast's errors, added up.",
}
DISTANCE = {"distance": "Distance: from the median to what happened, as a share of the range."}


def all_kinds_page(data: Data, choice: TableChoice) -> Page:
    """Yield the board of all kinds of questions, and the scores on numbers and dates below it."""
    scores = data["all_kinds"]
    rows = _agent_rows(data)
    early = is_early(row["events"] for row in rows)
    order = EARLY_BRIER_ORDER
    if early:
        rows.sort(key=lambda row: brier_order(row["agent"], row["brier"]))
    else:
        order = INTERVAL_ORDER if data["cohort"] else RANK_ORDER

    references = [row for row in rows if row["is_reference"]]
    agents = [row for row in rows if not row["is_reference"]]
    ranked = [row for row in agents if row["ranked"]]
    unranked = [row for row in agents if not row["ranked"]]

    has_ranks = not early and any(row["rank_low"] is not None for row in rows)
    has_money = data.get("money", True)
    columns = _filled_columns(rows, has_money, has_ranks)
    if ranked:
        yield Table(columns, ranked, choice=choice)
    if references:
        yield reference_table(columns, references, choice)
    if unranked:
        reasons = without_missing_money(UNRANKED, has_money)
        yield Table(reasons, unranked, "Not ranked", tells_hidden=False)
    yield Notes(NOTES, (order,) if ranked else ())

    numbers = [row for row in scores["kinds"] if row["kind"] not in WITH_BRIER]
    if numbers:
        yield ""
        titled = [row | {"kind": question_kind(row["kind"]).TITLE} for row in numbers]
        yield Table(NUMBERS, titled, "Numbers and dates, which have no Brier score", choice=TableChoice())
        yield Notes(DISTANCE)
    for note in scores["notes"]:
        yield f"- {plain(note)}"


def _agent_rows(data: Data) -> list[dict[str, Any]]:
    """Return a row for each agent: its scores on all kinds, its profit and its cost."""
    leaderboard = {row["agent"]: row for row in data["leaderboard"]}
    scores = data["all_kinds"]["rows"]
    ranked_agents = sum(score["rank_low"] is not None for score in scores)

    rows = []
    for score in scores:
        agent = score["forecaster"]
        leaderboard_row = leaderboard.get(agent, {})
        better = None
        if score["rank_low"] is not None:
            better = better_text(score["better_than"], ranked_agents)

        rows.append(
            score
            | {
                "agent": agent,
                "better_text": better,
                "is_reference": leaderboard_row.get("is_reference", False),
                "pnl": leaderboard_row.get("pnl"),
                "cost_usd": leaderboard_row.get("cost_usd"),
                "autocast": data["all_kinds"]["autocast"].get(agent),
            }
        )
    return rows


def _filled_columns(rows: Sequence[Data], has_money: bool, has_ranks: bool) -> list[TableColumn]:
    """Return the columns with a value in some row, without those of money or ranks if there are none."""
    columns = []
    for column in without_missing_money(COLUMNS, has_money):
        if column in RANKS and not has_ranks:
            continue
        is_empty = all(column.value_of(row) is None for row in rows)
        if not is_empty or column.name in ("agent", "brier", "cost"):
            columns.append(column)
    return columns
