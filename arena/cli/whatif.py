"""`arena whatif`: what the same decisions would have come to under other rules or with other stakes.

How `arena whatif` tells its comparison: as data for programs, as tables for people.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from arena.rounds.what_if import WhatIfEntry, WhatIfReport, WhatIfTotals

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


def as_data(report: "WhatIfReport", cohort: int | None) -> dict[str, Any]:
    """The comparison as JSON has it; money in dollars, null where nothing was stated to bet on."""
    by_agent: dict[str, list[WhatIfEntry]] = {}
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


def _figures(rows: "Sequence[WhatIfEntry]") -> dict[str, Any]:
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


def _sums(tallies: "Iterable[WhatIfTotals]") -> tuple[int, int, int]:
    found = list(tallies)
    return sum(x.profit for x in found), sum(x.filled for x in found), sum(len(x.refused) for x in found)


def _dollars(amount: int) -> float:
    from markets.millionths import ONE

    return amount / ONE


def _refusals(rows: "Sequence[WhatIfEntry]") -> list[dict[str, Any]]:
    """Why orders were rejected, as played and then, each with the first message of its kind."""
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


if TYPE_CHECKING:
    from arena.rounds.what_if import Change, Stakes, WhatIfReport


class Fee(StrEnum):
    """Whether a fee is paid."""

    VENUE = "venue"
    NONE = "none"


class Cap(StrEnum):
    """What the largest bet is held against."""

    BET = "bet"
    DECISION = "decision"


class Sizing(StrEnum):
    """How much is bet."""

    AS_BET = "as-bet"
    FLAT = "flat"
    QUARTER_KELLY = "quarter-kelly"


def whatif(
    context: typer.Context,
    cohort: Annotated[int | None, typer.Option(help="One cohort only, by its number.", min=1)] = None,
    agent: Annotated[
        str | None, typer.Option(help="One agent only, cohort by cohort.", metavar="NAME")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(help="Start from these rules, by name, instead of each cohort's own.", metavar="NAME"),
    ] = None,
    fill: Annotated[str | None, typer.Option(help="Fill by this rule, such as mid.", metavar="RULE")] = None,
    fee: Annotated[Fee | None, typer.Option(help="Whether the venue's fee is paid.")] = None,
    min_bet: Annotated[float | None, typer.Option(help="The smallest bet, in dollars.")] = None,
    max_bet: Annotated[
        float | None, typer.Option(help="The largest bet, as a part of the cash, such as 0.10.")
    ] = None,
    cap: Annotated[
        Cap | None, typer.Option(help="Whether that holds for a bet, or for all of a decision.")
    ] = None,
    sizing: Annotated[
        Sizing, typer.Option(help="The stakes: as they were, all the same, or by the stated probabilities.")
    ] = Sizing.AS_BET,
    stake: Annotated[
        float | None, typer.Option(help="The stake of --sizing flat, in dollars: 100 unless it is given.")
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Play a record again under other rules or with other stakes, and compare the profit.

    Every agent's recorded decisions meet the same snapshots and the same endings. It decides nothing anew,
    except that --sizing quarter-kelly bets on the probabilities it stated and sells nothing. Other stakes
    sell the same part of a lot. Bets under another fill rule may be refused: the reasons are counted. The
    record is only read.

    Example: arena whatif --fill mid --fee none --cohort 2

    Next: arena leaderboard
    """
    values = {
        "fill": fill,
        "fee": fee and fee.value,
        "min_bet": min_bet,
        "max_bet": max_bet,
        "cap": cap and cap.value,
    }
    address = options(context, config, database).record()
    change = read_change(rules, values, sizing.value, stake)
    found = as_data(read_report(address, change, cohort, agent), cohort)
    if as_json:
        print_json(found)
    else:
        print_comparison(found, by_cohort=agent is not None)


def read_change(
    name: str | None, values: Mapping[str, Any], stakes: "Stakes", stake: float | None
) -> "Change":
    """What the options ask for, checked as the same values in a config are."""
    from pydantic import TypeAdapter, ValidationError

    from arena.config.field_types import Stake
    from arena.config.sections import RulesBlock
    from arena.errors import ArenaError
    from arena.rounds.what_if import Change
    from portfolio.rules import NAMED

    _check_names(name, values["fill"])
    if stake is not None and stakes != "flat":
        raise ArenaError(
            "bad_value", f"--stake {stake} says nothing for --sizing {stakes}", "add --sizing flat"
        )
    try:
        block = RulesBlock.model_validate(dict(values))
        amount: int = TypeAdapter(Stake).validate_python(100 if stake is None else stake)
    except ValidationError as error:
        fault = error.errors()[0]
        option = str((*fault["loc"], "stake")[0]).replace("_", "-")
        raise ArenaError("bad_value", f"--{option} {fault['input']}: expected {fault['msg']}") from error
    changes = block.model_dump(exclude_none=True, exclude={"start_from", "name"})
    return Change(NAMED[name] if name else None, changes, stakes, amount)


def _check_names(rules: str | None, fill: str | None) -> None:
    from pathlib import Path

    from arena.errors import ArenaError
    from markets.registry import names
    from portfolio import fills
    from portfolio.rules import NAMED

    if rules is not None and rules not in NAMED:
        raise ArenaError("no_rules", f"there are no rules named {rules!r}", f"rules: {', '.join(NAMED)}")
    known = names(Path(fills.__path__[0]))
    if fill is not None and fill not in known:
        raise ArenaError(
            "no_fill_rule", f"there is no fill rule named {fill!r}", f"fill rules: {', '.join(known)}"
        )


def read_report(address: str, change: "Change", cohort: int | None, agent: str | None) -> "WhatIfReport":
    """The comparison, from a record that is opened read-only."""
    from arena.record.schema.database import connect, reading
    from arena.rounds.what_if import what_if

    engine = connect(address, read_only=True)
    try:
        with reading(engine) as connection, progress("Playing again", None) as moved:
            return what_if(connection, change, cohort, agent, moved)
    finally:
        engine.dispose()
