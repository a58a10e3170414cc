"""What `arena board` says of a season whose questions are not all of yes or no: all kinds scored as one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena.cli.board_columns import AGENT, BETTER_THAN, COST, PNL, RANK, SKILL
from arena.cli.output import Data, plain
from arena.cli.page import Notes, Page
from arena.cli.table import Table, TableChoice, TableColumn, between
from arena.errors import times_text
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.verdict import INTERVAL_ORDER, RANK_ORDER, better_text
from markets.distributions import YES_NO, question_kind

OPTIONS = "multiple_choice"
WITH_BRIER = (YES_NO, OPTIONS)
"""The kinds of question that have a Brier score, and so make one board."""
INTERVAL = TableColumn("interval", "95% interval", value=between("skill_low", "skill_high"))
BRIER = TableColumn("brier", "Brier", ".4f")


def _further(
    name: str, show: str, gives_way: int, heading: str | None = None, value: str = ""
) -> TableColumn:
    """Return a column of figures that only wide terminals show."""
    return TableColumn(name, heading, show, gives_way, value, from_width=140)


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
    _further("baseline", "+.2f", 6),
    _further("peer", "+.2f", 6),
    _further("coverage", ".0%", 8, "coverage in time"),
    _further("true_false", ".4f", 8, "T/F", "autocast.true_false"),
    _further("multiple_choice", ".4f", 8, "MCQ", "autocast.multiple_choice"),
    _further("numeric", ".4f", 8, value="autocast.numeric"),
    _further("combined", ".4f", 8, value="autocast.combined"),
    _further("questions", ",d", 3),
    _further("events", ",d", 3),
)
OF_MONEY = ("pnl",)
OF_RANKS = ("rank", "better_than")
NUMBERS = (
    AGENT,
    TableColumn("kind", show=plain, gives_way=1),
    TableColumn("baseline", show="+.2f"),
    TableColumn("peer", show="+.2f"),
    TableColumn("distance", show=".1%"),
    TableColumn("coverage", "coverage in time", ".0%", 3),
    TableColumn(
        "answered", "questions", value=lambda row: f"{row['questions']:,} of {row['asked']:,}", gives_way=2
    ),
)
UNRANKED = (AGENT, TableColumn("why_not", "why not", narrow="wrap"), BRIER, PNL, COST)
NOTES = {
    "skill": "Skill: the Brier score of the price or the odds less the agent's; options: half the squares.",
    "evidence": "Evidence: what $1 bet on its skill would be worth.",
    "combined": "Combined: Autocast's errors, added up.",
}
DISTANCE = {"distance": "Distance: from the median to what happened, as a share of the range."}
EARLY = (
    f"Provisional, in the order of the Brier score: nothing is ranked before {ENOUGH_EVENTS:.0f} events have "
    "resolved."
)


def all_kinds_page(data: Data, choice: TableChoice) -> Page:
    """Yield the board of all kinds of questions, and the scores of numbers and dates beside it."""
    scores = data["all_kinds"]
    rows = _rows(data)
    is_early = max((row["events"] for row in rows), default=0) < ENOUGH_EVENTS
    if is_early:
        rows.sort(key=_brier_order)

    ranked = [row for row in rows if row["ranked"] and not row["is_reference"]]
    references = [row for row in rows if row["is_reference"]]
    unranked = [row for row in rows if not row["ranked"] and not row["is_reference"]]
    order = EARLY
    if not is_early:
        order = INTERVAL_ORDER if data["cohort"] else RANK_ORDER
    has_ranks = not is_early and any(row["rank_low"] is not None for row in rows)
    columns = _columns(rows, has_money=data.get("money", True), has_ranks=has_ranks)
    if ranked:
        yield Table(columns, ranked, choice=choice)
    if references:
        beside = [column for column in choice.of(columns) if column.name not in OF_RANKS]
        whole = replace(choice, wide=choice.wide or bool(choice.columns), columns="")
        yield Table(beside, references, "References, not ranked", whole, tells_hidden=False, as_above=True)
    if unranked:
        reasons = [column for column in UNRANKED if data.get("money", True) or column.name not in OF_MONEY]
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


def _rows(data: Data) -> list[dict[str, Any]]:
    """Return a row for each agent: its scores on all kinds, and what it made and cost."""
    beside = {row["agent"]: row for row in data["leaderboard"]}
    scored = data["all_kinds"]["rows"]
    entries = sum(row["rank_low"] is not None for row in scored)

    rows = []
    for row in scored:
        agent = row["forecaster"]
        other = beside.get(agent, {})
        better = None
        if row["rank_low"] is not None:
            better = better_text(row["better_than"], entries)
        own = {"agent": agent, "better_text": better, "is_reference": other.get("is_reference", False)}
        own |= {name: other.get(name) for name in ("pnl", "cost_usd")}
        own["autocast"] = data["all_kinds"]["autocast"].get(agent)
        rows.append(row | own)
    return rows


def _columns(rows: Sequence[Mapping[str, Any]], *, has_money: bool, has_ranks: bool) -> list[TableColumn]:
    """Return the columns that some row has something in; without money, and without ranks too early."""
    columns = []
    for column in COLUMNS:
        if column.name in OF_MONEY and not has_money:
            continue
        if column.name in OF_RANKS and not has_ranks:
            continue
        is_empty = all(column.value_of(row) is None for row in rows)
        if not is_empty or column.name in ("agent", "brier", "cost"):
            columns.append(column)
    return columns


def _brier_order(row: Data) -> tuple[bool, float, str]:
    """Return by what agents are sorted while nothing is ranked."""
    brier = row["brier"]
    return brier is None, brier or 0.0, row["agent"]
