"""How `arena whatif` tells its comparison: as data for programs, as tables for people."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.cli.output import print_table

if TYPE_CHECKING:
    from arena.whatif import Report, Row, Tally

COLUMNS = (
    ("P/L $", "pnl", "+,.2f"),
    ("then $", "pnl_then", "+,.2f"),
    ("difference $", "difference", "+,.2f"),
    ("filled", "filled", ",d"),
    ("then", "filled_then", ",d"),
    ("refused", "refused", ",d"),
    ("then", "refused_then", ",d"),
)
LEGEND = "P/L, filled and refused are as played; beside each stands what it would have been then."


def as_data(report: "Report", cohort: int | None) -> dict[str, Any]:
    """The comparison as JSON has it; money in dollars, null where nothing was stated to bet on."""
    by_agent: dict[str, list[Row]] = {}
    for row in report.rows:
        by_agent.setdefault(row.agent, []).append(row)
    agents = [
        {"agent": name} | _figures(rows) | {"cohorts": [{"cohort": x.cohort} | _figures([x]) for x in rows]}
        for name, rows in by_agent.items()
    ]
    return {
        "cohort": cohort,
        "changed": report.sentence,
        "agents": agents,
        "refusals": _refusals(report.rows),
    }


def _figures(rows: "Sequence[Row]") -> dict[str, Any]:
    """The sums over one agent's cohorts."""
    then = [row.changed for row in rows if row.changed is not None]
    known = len(then) == len(rows)
    now, after = _sums(row.played for row in rows), _sums(then)
    return {
        "pnl": _dollars(now[0]),
        "pnl_then": _dollars(after[0]) if known else None,
        "difference": _dollars(after[0] - now[0]) if known else None,
        "filled": now[1],
        "filled_then": after[1] if known else None,
        "refused": now[2],
        "refused_then": after[2] if known else None,
        "exact": all(row.exact for row in rows),
    }


def _sums(tallies: "Iterable[Tally]") -> tuple[int, int, int]:
    found = list(tallies)
    return sum(x.profit for x in found), sum(x.filled for x in found), sum(len(x.refused) for x in found)


def _dollars(amount: int) -> float:
    from markets.millionths import ONE

    return amount / ONE


def _refusals(rows: "Sequence[Row]") -> list[dict[str, Any]]:
    """Why wishes were refused, as played and then, each with the first message of its kind."""
    now = [x for row in rows for x in row.played.refused]
    after = [x for row in rows if row.changed is not None for x in row.changed.refused]
    before, then = Counter(x.code for x in now), Counter(x.code for x in after)
    first = {x.code: x.message for x in reversed([*after, *now])}
    return [
        {"code": code, "refused": before[code], "refused_then": then[code], "example": first[code]}
        for code, _ in (before + then).most_common()
    ]


def print_comparison(found: Mapping[str, Any], by_cohort: bool) -> None:
    """The comparison as tables: a line an agent, or a line a cohort with their total."""
    print(found["changed"])
    if not found["agents"]:
        print("Nobody has played yet. Next: arena round")
        return
    lines = [(row["agent"], row) for row in found["agents"]]
    if by_cohort:
        (agent,) = found["agents"]
        each = [(str(row["cohort"]), row) for row in agent["cohorts"]]
        lines = [*each, ("all", agent)] if len(each) > 1 else each
    table = [[title, *(_cell(row[key], form) for _, key, form in COLUMNS)] for title, row in lines]
    print_table(["cohort" if by_cohort else "agent", *(title for title, _, _ in COLUMNS)], table)
    print(LEGEND)
    _print_refusals(found["refusals"])
    _print_doubts(found["agents"])


def _print_refusals(refusals: Sequence[Mapping[str, Any]]) -> None:
    if refusals:
        keys = ("code", "refused", "refused_then", "example")
        table = [[row[key] for key in keys] for row in refusals]
        print_table(["refused", "as played", "then", "for example"], table)


def _print_doubts(agents: Sequence[Mapping[str, Any]]) -> None:
    silent = ", ".join(row["agent"] for row in agents if row["pnl_then"] is None)
    if silent:
        print(f"A dash: in some cohort nothing was stated that could be bet on: {silent}.")
    inexact = ", ".join(row["agent"] for row in agents if not row["exact"])
    if inexact:
        print(f"Not exact: by their own rules the decisions of {inexact} give another ledger than was kept.")
        print("As played is then what they give today. Next: arena verify")


def _cell(value: Any, form: str) -> str | None:
    return None if value is None else format(value, form)
