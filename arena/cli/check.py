"""`arena check`: is the config right, and who would play?"""

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table
from markets.millionths import decimal

if TYPE_CHECKING:
    from datetime import datetime

    from arena.config import Config


def check(
    context: typer.Context,
    live: Annotated[
        bool, typer.Option("--live", help="Also read one page of each live venue over the network.")
    ] = False,
    venue: Annotated[
        list[str] | None,
        typer.Option(help="With --live: only this venue; may be given again.", metavar="NAME"),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Check the config and list what the next cohort would contain. Nothing is played or spent.

    Every mistake is named at once: file, line, key, what was found and what is meant. With any, the
    exit status is 1. With --live it is also 1 when no venue could be read, and 2 when only some could.
    A venue is read as the config has it, or with its own defaults where the config is for another one.

    Example: arena check --config my-arena/config.yaml

    Next: arena round plays the next round, arena demo a whole season.
    """
    from arena.cli.check_live import read_live, say_live
    from arena.clock import now

    chosen = options(context, config, database)
    settings = chosen.load(os.environ, beside=True)
    found = summary(settings, now())
    looks = read_live(settings, venue or []) if live else []
    if as_json:
        told = {"live": [look.as_dict() for look in looks]} if live else {}
        print_json({"ok": all(look.ok for look in looks)} | found | told)
    else:
        _print(found)
        say_live(looks)
        print("\nNext: arena round")
    if failed := [look for look in looks if not look.ok]:
        raise typer.Exit(1 if len(failed) == len(looks) else 2)


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
    print(f"{found['config']} is right. The next cohort would be:\n")
    rows = [
        (agent["name"], agent["kind"], agent["model"] or ", ".join(agent["of"]) or None)
        for agent in found["agents"]
    ]
    print_table(("agent", "kind", "model or of"), rows)
    universe, rules, days = found["universe"], found["rules"], 86_400
    start = found["first_start"].replace("T", " ").replace(":00+00:00", " UTC")
    cohorts = f"{found['cohorts']} cohorts" if found["cohorts"] else "cohorts without end"
    print(f"first     {start}, {cohorts}, a new one every week")
    every = found["decide_every_seconds"] / days
    deciding = f"the newest {found['keep_deciding']} decide"
    print(f"rounds    {found['rounds']}, one every {every:g} days; {deciding}")
    print(f"bankroll  ${decimal(found['bankroll']):,} each")
    print(f"rules     {rules['name']}: fill {rules['fill']}, a bet from ${decimal(rules['min_bet']):,} "
          f"to {decimal(rules['max_bet']):.0%} of the cash")  # fmt: skip
    print(f"markets   {universe['show']} of {found['venue']} a round, {universe['per_event']} an event, "
          f"closing within {universe['closes_within'] / days:g} days")  # fmt: skip
    print(f"evidence  {found['evidence']}")
    print(f"budget    {_limits(found['budget'])}")
    print(f"record    {found['database']}")


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
