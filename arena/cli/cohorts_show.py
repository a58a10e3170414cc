"""`arena cohorts show`: all that one cohort has frozen, and how its rounds went."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.agents_show import as_versions
from arena.cli.cohorts_list import Number, as_data, glanced, minute
from arena.cli.markets_show import plain
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table, program
from arena.errors import count_text

if TYPE_CHECKING:
    from arena.record.schema.database import Connection
    from arena.rounds.season import CohortOverview

STATUSES = ("played", "malformed", "failed", "out", "waiting")


def show(
    context: typer.Context,
    number: Number,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show one cohort: what it froze when it started, how its turns ended, the code that played, its head.

    Nothing of what it froze changes any more. `config` is the SHA-256 of the config file that it was started
    by, as `sha256sum config.yaml` prints it, and prompts are named with the hash of their text. The head is a
    hash over all that was frozen, seen and decided until its last round that is over. With --json amounts and
    prices in what was frozen are in millionths.

    Example: arena cohorts show 1

    Next: arena cohorts diff N next
    """
    from arena.record.dry_run import open_or_empty
    from arena.record.queries.cohorts import select_cohorts
    from arena.record.schema.database import reading

    chosen = options(context, config, database)
    known = chosen.known()
    address = known.database if known is not None else chosen.record()
    with open_or_empty(address) as engine, reading(engine) as connection:
        every = glanced(connection, known)
        (stored,) = select_cohorts([each.stored for each in every], number)
        found = read_all(connection, next(each for each in every if each.stored is stored))
    if as_json:
        print_json(found)
    else:
        say(found)


def read_all(connection: "Connection", found: "CohortOverview") -> dict[str, Any]:
    """All of one cohort for JSON."""
    from arena.record.hashes import round_heads
    from arena.record.queries.progress import (
        code_versions,
        read_frozen_cohort,
        read_played_turns,
        read_waiting_agents,
        status_counts,
    )

    turns, sealed = read_played_turns(connection, found.stored.id), round_heads(connection, found.stored.id)
    frozen, digest = read_frozen_cohort(connection, found.stored.id)
    ended, last = status_counts(turns), max(sealed)
    return as_data(found) | {
        "config_hash": found.cohort.config_hash or None,
        "frozen_hash": digest,
        "head": {"round": last, "head": sealed[last]},
        "waiting": read_waiting_agents(connection).get(found.stored.id, {}),
        "code_versions": as_versions(code_versions(turns)),
        "played": [
            {
                "round": round.number,
                "at": round.at.isoformat(),
                "over": round.done,
                "turns": dict(sorted(ended.get(round.number, {}).items())),
            }
            for round in found.rounds
        ],
        "frozen": frozen,
    }


def say(found: Mapping[str, Any]) -> None:
    """One cohort in words."""
    from arena.cli.agents_summary import by_rounds

    frozen = found["frozen"]
    coming = f", next decision {minute(found['next_at'])} UTC" if found["next_at"] else ""
    hand = ", started by hand" if found["by_hand"] else ""
    print(f"Cohort {found['cohort']}, {found['state']}: from {minute(found['starts_at'])} UTC{hand}, "
          f"{found['rounds_over']} of {count_text(found['rounds'], 'round')} over{coming}")  # fmt: skip
    print(f"config    {found['config_hash'] or 'not known: it was started by an earlier arena'}")
    print(f"frozen    {found['frozen_hash']}")
    print(f"head      {found['head']['head']}, of round {found['head']['round']}")
    if found["code_versions"]:
        print(f"code      {plain(by_rounds(found['code_versions']))}")
    print(f"seed      {frozen['seed']}")
    _say_parts(frozen)
    rows = [(each["name"], each["kind"], _settings(each["settings"])) for each in frozen["entrants"]]
    print_table(("agent", "kind", "settings"), rows)
    for name, words in found["waiting"].items():
        print(f"{name} is {words}: it enters at the first round at which that is there")
    if frozen["prompts"]:
        print_table(
            ("prompt", "hash of its text"), [(plain(name), x) for name, x in frozen["prompts"].items()]
        )
    _say_rounds(found)
    print(f"Next: {program()} cohorts diff {found['cohort']} next")


def _say_parts(frozen: Mapping[str, Any]) -> None:
    """Bankroll, rules, markets, venue and evidence, a line each."""
    from arena.cohorts.diff import value_in_words

    venue = {"from": frozen["stamp"], **frozen["venue_settings"]}
    evidence = frozen["evidence_settings"] | (frozen["guard"] if frozen["evidence"] != "none" else {})
    rules = {key: value for key, value in frozen["rules"].items() if key != "name"}
    parts = {
        "bankroll": (value_in_words("bankroll", frozen["bankroll"]), {"every": frozen["every"]}),
        "rules": (frozen["rules"]["name"], rules),
        "markets": ("", frozen["universe"]),
        "venue": (frozen["venue"], venue),
        "evidence": (frozen["evidence"], evidence),
    }
    for title, (name, values) in parts.items():
        known = {key.replace("_", " "): value_in_words(key, x) for key, x in values.items() if x is not None}
        said = [name, *(f"{key} {value}" for key, value in known.items())]
        print(f"{title:9} {plain('; '.join(part for part in said if part))}")


def _settings(values: Mapping[str, Any]) -> str:
    """The settings that say something."""
    said = [f"{key} {value}" for key, value in values.items() if value not in (None, {}, [], "")]
    return plain(", ".join(said))


def _say_rounds(found: Mapping[str, Any]) -> None:
    rows = [
        (
            each["round"],
            minute(each["at"]),
            "over" if each["over"] else "under way",
            *(each["turns"].get(status, 0) for status in STATUSES),
        )
        for each in found["played"]
    ]
    if rows:
        print_table(("round", "decided (UTC)", "", *STATUSES), rows)
    else:
        print("No round has begun yet.")
