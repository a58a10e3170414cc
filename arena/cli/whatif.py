"""`arena whatif`: what the same decisions would have come to under other rules or with other stakes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.comparison import as_data, print_comparison
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, progress

if TYPE_CHECKING:
    from arena.change import Change, Stakes
    from arena.whatif import Report


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

    from arena.change import Change
    from arena.config.model import RulesBlock
    from arena.config.units import Stake
    from arena.errors import ArenaError
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


def read_report(address: str, change: "Change", cohort: int | None, agent: str | None) -> "Report":
    """The comparison, from a record that is opened read-only."""
    from arena.store.database import connect, reading
    from arena.whatif import what_if

    engine = connect(address, read_only=True)
    try:
        with reading(engine) as connection, progress("Playing again", None) as moved:
            return what_if(connection, change, cohort, agent, moved)
    finally:
        engine.dispose()
