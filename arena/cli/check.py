"""`arena check`: is the config right, who would play, and what would it cost?"""

import os
import re
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table
from arena.errors import ArenaError
from markets.millionths import decimal

if TYPE_CHECKING:
    from datetime import datetime

    from arena.config import Config


def check(
    context: typer.Context,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Also read one page of each live venue and ask each model one tiny question."
        ),
    ] = False,
    venue: Annotated[
        list[str] | None,
        typer.Option(help="With --live: this venue, and no models; may be given again.", metavar="NAME"),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="With --live: the model of this agent, and no venues; may be given again.", metavar="AGENT"
        ),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Check the config, and say who would play in the next cohort and what that would cost.

    Every mistake is named at once: file, line, key, what was found and what is meant. With any, the
    exit status is 1. What would be other than in the newest cohort is told in a few lines. Costs are
    estimates, low and high, for prompts filled in with made-up markets; where a budget would stop calls,
    that is said. Nothing is played, and without --live nothing is spent.

    With --live every live venue is read and every model is asked, or only those that --venue and --model
    name. A venue is read as the config has it, or with its own defaults where the config is for another
    one. A model costs a fraction of a cent, said beforehand; nothing of it enters the record. The exit
    status is 1 when nothing could be reached, and 2 when only some could.

    Example: arena check --config my-arena/config.yaml

    Next: arena round plays the next round, arena demo a whole season.
    """
    from arena.cli.check_live import check_live

    if (venue or model) and not live:
        raise ArenaError("not_live", "--venue and --model need --live", "arena check --live --model AGENT")
    chosen = options(context, config, database)
    settings = chosen.load(os.environ, beside=True)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = everything(settings)
    if not as_json:
        _print(found)
    looks = check_live(settings, venue or [], model or [], quiet=as_json) if live else None
    if as_json:
        told = {} if looks is None else looks.as_dict()
        print_json({"ok": looks is None or looks.status == 0} | found | told)
    else:
        print("\nNext: arena round")
    if looks is not None and looks.status:
        raise typer.Exit(looks.status)


def everything(config: "Config") -> dict[str, Any]:
    """What a cohort would contain, when the next one starts, and what it would cost."""
    from arena.cli.check_cost import cost_of
    from arena.cli.check_next import changes_since, next_cohort, read_begun
    from arena.clock import now

    at, begun = now(), read_begun(config.database)
    coming = next_cohort(config, begun, at) | changes_since(config, begun.last, at)
    cost = cost_of(config, coming["next_cohort"] or coming["cohorts_begun"] + 1)
    return summary(config, at) | coming | {"cost": cost}


def summary(config: "Config", at: "datetime") -> dict[str, Any]:
    """What a cohort that this config starts would contain, as of an instant."""
    cohorts = config.cohorts
    return {
        "config": str(config.file),
        "database": without_password(config.database),
        "venue": config.markets.venue,
        "venue_settings": config.venue_settings.model_dump(mode="json"),
        "evidence": config.evidence.source,
        "evidence_settings": config.evidence_settings.model_dump(mode="json"),
        "guard": config.evidence.guard.model_dump(),
        "universe": config.markets.universe.model_dump(),
        "first_start": config.first_start(at).isoformat(),
        "decide_every_seconds": int(cohorts.decide.total_seconds()),
        "rounds": cohorts.rounds,
        "cohorts": cohorts.count,
        "keep_deciding": cohorts.keep_deciding,
        "bankroll": cohorts.bankroll,
        "rules": cohorts.rules.model_dump(),
        "budget": config.budget.model_dump(),
        "agents": [
            {
                "name": agent.name,
                "kind": agent.kind,
                "model": agent.model,
                "of": list(agent.of),
                "settings": agent.settings.model_dump(mode="json"),
            }
            for agent in config.agents
        ],
    }


def without_password(address: str) -> str:
    """A database's address as it may be shown.

    >>> without_password("postgresql+psycopg://arena:secret@host/arena")
    'postgresql+psycopg://arena:***@host/arena'
    """
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:***@", address)


def _print(found: dict[str, Any]) -> None:
    from arena.cli.check_cost import print_cost, print_warnings

    print(f"{found['config']} is right. The next cohort would be:\n")
    rows = [
        (agent["name"], agent["kind"], agent["model"] or ", ".join(agent["of"]) or None)
        for agent in found["agents"]
    ]
    print_table(("agent", "kind", "model or of"), rows)
    _print_rules(found)
    print_cost(found["cost"])
    print(f"\nbudget    {_limits(found['budget'])}")
    print_warnings(found["cost"])


def _print_rules(found: dict[str, Any]) -> None:
    from arena.cli.check_next import say_changes, say_next

    universe, rules, days = found["universe"], found["rules"], 86_400
    print(f"start     {say_next(found)}")
    every = found["decide_every_seconds"] / days
    deciding = f"the newest {found['keep_deciding']} decide"
    print(f"rounds    {found['rounds']}, one every {every:g} days; {deciding}")
    print(f"bankroll  ${decimal(found['bankroll']):,} each")
    print(f"rules     {rules['name']}: fill {rules['fill']}, a bet from ${decimal(rules['min_bet']):,} "
          f"to {decimal(rules['max_bet']):.0%} of the cash")  # fmt: skip
    print(f"markets   {universe['show']} of {found['venue']} a round, {universe['per_event']} an event, "
          f"closing within {universe['closes_within'] / days:g} days")  # fmt: skip
    print(f"evidence  {found['evidence']}")
    if found["differs_from"] is not None:
        print(f"changes   {say_changes(found)}")
    print(f"record    {found['database']}")
    if found["record_trouble"]:
        print(f"          it can't be read: {found['record_trouble']}")


def _limits(budget: dict[str, int | None]) -> str:
    limits = [f"${decimal(limit):,.2f} {PER[scope]}" for scope, limit in budget.items() if limit is not None]
    return ", ".join(limits) or "none"


PER = {
    "call": "a call",
    "round": "a round",
    "agent": "an agent and cohort",
    "day": "a day",
    "arena": "in all",
}
"""What each limit of the budget is for, in words."""
