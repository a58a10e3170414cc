"""`arena study whatif`: what the same decisions would have come to under other rules or with other stakes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from arena.cli.options import Options, command, option
from arena.cli.output import exact, progress, typed
from arena.cli.page import print_table, print_text
from arena.cli.table import TableChoice, TableColumn
from arena.config.field_types import Stake
from arena.config.sections import RulesBlock
from arena.errors import ArenaError
from arena.rounds.what_if import Change, WhatIfEntry, WhatIfReport, WhatIfTotals, what_if
from markets.registry import names
from portfolio import fills
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
Stakes = Literal["as-bet", "flat", "quarter-kelly"]
LEGEND = "P/L, filled and rejected: as played; then: under the changed rules."


@command(table=True)
def whatif(
    chosen: Options,
    cohort: int | None = option("Only this cohort, by number.", min=1),
    agent: str | None = option("One agent only, cohort by cohort.", "NAME"),
    rules: str | None = option("Start from these rules, not each cohort's own.", "NAME"),
    fill: str | None = option("Use this fill rule, such as mid.", "RULE"),
    fee: Literal["venue", "none"] | None = option("Charge the venue's fee, or none."),
    min_bet: float | None = option("The smallest bet, in dollars."),
    max_bet: float | None = option("The largest bet, as a share of the cash, such as 0.10."),
    cap: Literal["bet", "decision"] | None = option("Whether that limits a bet, or all bets of a decision."),
    sizing: Stakes = option(
        "Stakes: as they were, all the same, or by stated probability.", default="as-bet"
    ),
    stake: float | None = option("The stake of --sizing flat, in dollars; 100 by default."),
) -> None:
    """Replay a record under other rules or with other stakes, and compare the profit.

    Recorded decisions run against the same snapshots and resolutions. Only --sizing quarter-kelly places new
    bets, from the stated probabilities; it never sells.

    Example: arena study whatif --fill mid --fee none --cohort 2

    Next: arena board
    """
    values = {"fill": fill, "fee": fee, "min_bet": min_bet, "max_bet": max_bet, "cap": cap}
    change = read_change(rules, values, sizing, stake)
    with chosen.reading() as connection, progress("Playing again") as moved:
        found = as_data(what_if(connection, change, cohort, agent, moved), cohort)
    chosen.answer(found, say, found, agent is not None, chosen.table)


def read_change(name: str | None, values: Mapping[str, Any], stakes: Stakes, stake: float | None) -> Change:
    """What the options ask for, checked as the same values in a config are."""
    if name is not None and name not in NAMED:
        raise ArenaError("no_rules", f"there are no rules named {name!r}", f"rules: {', '.join(NAMED)}")
    fill, known = values["fill"], names(Path(fills.__path__[0]))
    if fill is not None and fill not in known:
        hint = f"fill rules: {', '.join(known)}"
        raise ArenaError("no_fill_rule", f"there is no fill rule named {fill!r}", hint)
    if stake is not None and stakes != "flat":
        what = f"--stake needs --sizing flat, not {stakes}"
        raise ArenaError("bad_value", what, "add --sizing flat", status=64)
    try:
        block = RulesBlock.model_validate(dict(values))
        amount: int = TypeAdapter(Stake).validate_python(100 if stake is None else stake)
    except ValidationError as error:
        fault = error.errors()[0]
        option = str((*fault["loc"], "stake")[0]).replace("_", "-")
        what = f"--{option} {fault['input']:g}: expected {fault['msg']}"
        raise ArenaError("bad_value", what, status=64) from error
    changes = block.model_dump(exclude_none=True, exclude={"start_from", "name"})
    return Change(NAMED[name] if name else None, changes, stakes, amount)


def as_data(report: WhatIfReport, cohort: int | None) -> dict[str, Any]:
    """The comparison as JSON has it; money in dollars, null where nothing was stated to bet on."""
    by_agent: dict[str, list[WhatIfEntry]] = {}
    for row in report.rows:
        by_agent.setdefault(row.agent, []).append(row)
    agents = [
        {"agent": name} | _figures(rows) | {"cohorts": [{"cohort": x.cohort} | _figures([x]) for x in rows]}
        for name, rows in by_agent.items()
    ]
    now = [x for row in report.rows for x in row.played.refused]
    after = [x for row in report.rows if row.changed is not None for x in row.changed.refused]
    before, then = Counter(x.code for x in now), Counter(x.code for x in after)
    first = {x.code: x.message for x in reversed([*after, *now])}
    refusals = [
        {"code": code, "refused": before[code], "refused_then": then[code], "example": first[code]}
        for code, _ in (before + then).most_common()
    ]
    return {"cohort": cohort, "changed": report.sentence, "agents": agents, "refusals": refusals}


def _figures(rows: Sequence[WhatIfEntry]) -> dict[str, Any]:
    """The sums over one agent's cohorts."""
    then = [row.changed for row in rows if row.changed is not None]
    known = len(then) == len(rows)
    now, after = _sums(row.played for row in rows), _sums(then)
    return {
        "pnl": exact(now[0]),
        "pnl_then": exact(after[0]) if known else None,
        "difference": exact(after[0] - now[0]) if known else None,
        "filled": now[1],
        "filled_then": after[1] if known else None,
        "refused": now[2],
        "refused_then": after[2] if known else None,
        "exact": all(row.exact for row in rows),
    }


def _sums(tallies: Iterable[WhatIfTotals]) -> tuple[int, int, int]:
    found = list(tallies)
    return sum(x.profit for x in found), sum(x.filled for x in found), sum(len(x.refused) for x in found)


def say(found: Mapping[str, Any], by_cohort: bool, choice: TableChoice) -> None:
    """The comparison as tables: a line an agent, or a line a cohort with their total."""
    print_text(found["changed"])
    if not found["agents"]:
        print(f"Nobody has played yet. Next: {typed('run', '--round')}")
        return
    if by_cohort:
        (agent,) = found["agents"]
        lines = agent["cohorts"] + ([agent | {"cohort": "all"}] if len(agent["cohorts"]) > 1 else [])
        print_table((TableColumn("cohort"), *COLUMNS), lines, choice=choice)
    else:
        print_table((AGENT, *COLUMNS), found["agents"], choice=choice)
    print_text(LEGEND)
    if found["refusals"]:
        print()
        print_table(REFUSALS, found["refusals"])
    silent = ", ".join(row["agent"] for row in found["agents"] if row["pnl_then"] is None)
    if silent:
        print(f"A dash: in some cohort no forecasts were stated to bet on: {silent}.")
    inexact = ", ".join(row["agent"] for row in found["agents"] if not row["exact"])
    if inexact:
        words = "by their own rules gives another ledger than the record's; `as played` is the replayed one"
        print_text(
            f"Not exact: replaying the decisions of {inexact} {words}. Next: {typed('admin', 'verify')}"
        )
