"""`arena study whatif`: recorded decisions replayed under other rules or with other stakes."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arena.cli.output import Data, command_line, from_millionths
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.config.field_types import Stake
from arena.config.sections import RulesBlock
from arena.errors import ArenaError
from arena.rounds.what_if import Change, Stakes, WhatIfEntry, WhatIfReport, count_refusals, sum_entries
from portfolio.rules import NAMED

AGENT = TableColumn("agent", narrow="cut middle")
COLUMNS = (
    TableColumn("pnl", "P/L $", "+,.2f"),
    TableColumn("pnl_then", "then $", "+,.2f"),
    TableColumn("difference", "difference $", "+,.2f"),
    TableColumn("filled", show=",d", gives_way=1),
    TableColumn("filled_then", "then", ",d", 1),
    TableColumn("refused", "rejected", ",d", 2),
    TableColumn("refused_then", "then", ",d", 2),
)
REFUSALS = (
    TableColumn("code", "rejected"),
    TableColumn("refused", "as played", ",d"),
    TableColumn("refused_then", "then", ",d"),
    TableColumn("example", "for example", narrow="wrap"),
)
LEGEND = "P/L, filled and rejected: as played; then: under the changed rules."


def read_change(name: str | None, values: Data, stakes: Stakes, stake: float | None) -> Change:
    """Return the change that the options ask for; raise `ArenaError` for an invalid value."""
    if stake is not None and stakes != "flat":
        message = f"--stake needs --sizing flat, not {stakes}"
        raise ArenaError("bad_value", message, "add --sizing flat", status=64)

    try:
        block = RulesBlock.model_validate(values)
        flat_stake: int = TypeAdapter(Stake).validate_python(100 if stake is None else stake)
    except ValidationError as error:
        first = error.errors()[0]
        # A stake is validated alone, so its error is at no key.
        key, *_ = (*first["loc"], "stake")
        option = str(key).replace("_", "-")
        value = str(first["input"]).removesuffix(".0")
        message = f"--{option} {value}: expected {first['msg']}"
        raise ArenaError("bad_value", message, status=64) from error

    changed_rules = block.model_dump(exclude_none=True, exclude={"start_from", "name"})
    start_from = None if name is None else NAMED[name]
    return Change(start_from, changed_rules, stakes, flat_stake)


def whatif_data(report: WhatIfReport, cohort: int | None) -> dict[str, Any]:
    """Return the comparison for JSON: money in dollars, null if there were no forecasts to bet on."""
    by_agent: dict[str, list[WhatIfEntry]] = {}
    for row in report.rows:
        by_agent.setdefault(row.agent, []).append(row)

    agents = []
    for name, rows in by_agent.items():
        cohorts = [{"cohort": row.cohort} | _figures([row]) for row in rows]
        agents.append({"agent": name, "cohorts": cohorts} | _figures(rows))
    refusals = count_refusals(report.rows)
    return {"cohort": cohort, "changed": report.sentence, "agents": agents, "refusals": refusals}


def _figures(rows: Sequence[WhatIfEntry]) -> dict[str, Any]:
    """Return the sums of an agent's entries, for JSON."""
    as_played, under_change = sum_entries(rows)
    figures: dict[str, Any] = {
        "pnl": from_millionths(as_played.profit),
        "filled": as_played.filled,
        "refused": len(as_played.refused),
        "exact": all(row.exact for row in rows),
    }
    if under_change is None:
        return figures | dict.fromkeys(("pnl_then", "difference", "filled_then", "refused_then"))

    figures["pnl_then"] = from_millionths(under_change.profit)
    figures["difference"] = from_millionths(under_change.profit - as_played.profit)
    figures["filled_then"] = under_change.filled
    figures["refused_then"] = len(under_change.refused)
    return figures


def whatif_page(data: Data, by_cohort: bool, choice: TableChoice) -> Page:
    """Yield the comparison as tables: a line an agent, or a line a cohort with their total."""
    yield data["changed"]
    if not data["agents"]:
        yield f"Nobody has played yet. Next: {command_line('run --round')}"
        return

    if by_cohort:
        (agent,) = data["agents"]
        lines = agent["cohorts"]
        if len(lines) > 1:
            lines = [*lines, agent | {"cohort": "all"}]
        yield Table((TableColumn("cohort"), *COLUMNS), lines, choice=choice)
    else:
        yield Table((AGENT, *COLUMNS), data["agents"], choice=choice)
    yield LEGEND

    if data["refusals"]:
        yield ""
        yield Table(REFUSALS, data["refusals"])
    without_forecasts = [row["agent"] for row in data["agents"] if row["pnl_then"] is None]
    if without_forecasts:
        yield f"A dash: in some cohort no forecasts were stated to bet on: {', '.join(without_forecasts)}."
    inexact = [row["agent"] for row in data["agents"] if not row["exact"]]
    if inexact:
        yield (
            f"Not exact: replaying the decisions of {', '.join(inexact)} by their own rules gives another "
            f"ledger than the record's; `as played` is the replayed one. Next: {command_line('admin verify')}"
        )
