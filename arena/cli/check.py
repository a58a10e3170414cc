"""`arena check`: is the config right, and who would play?"""

import os
import re
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table
from markets.millionths import decimal

if TYPE_CHECKING:
    from datetime import datetime

    from arena.config import Config


def check(
    context: typer.Context,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Check the config and list what the next cohort would contain. Nothing is played or spent.

    Every mistake is named at once: file, line, key, what was found and what is meant. With any, the
    exit status is 1.

    Example: arena check --config my-arena/config.yaml

    Next: arena round plays the next round, arena demo a whole season.
    """
    from arena.clock import now

    chosen = options(context, config, database)
    found = summary(chosen.load(os.environ), now())
    if as_json:
        print_json({"ok": True} | found)
        return
    _print(found)


def summary(config: "Config", at: "datetime") -> dict[str, Any]:
    """What a cohort that this config starts would contain, as of an instant."""
    cohorts = config.cohorts
    return {
        "config": str(config.file),
        "database": without_password(config.database),
        "venue": config.markets.venue,
        "venue_settings": config.venue_settings.model_dump(mode="json"),
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
    print(f"budget    {_limits(found['budget'])}")
    print(f"record    {found['database']}")
    print("\nNext: arena round")


def _limits(budget: dict[str, int | None]) -> str:
    limits = [f"${decimal(limit):,.2f} a {unit}" for unit, limit in budget.items() if limit is not None]
    return ", ".join(limits) or "none"
