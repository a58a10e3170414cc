"""`arena agents list`: who plays, and what the record says of each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.markets_show import plain
from arena.cli.options import ConfigFile, Database, Json, Options, options
from arena.cli.output import print_json, print_table, program
from arena.cli.positions import exact

if TYPE_CHECKING:
    from arena.config import AgentConfig
    from arena.record.model.model_version import ModelChange
    from arena.scores.agent_summary import AgentSummary

SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings that a line shows, where a kind has them."""


def list_agents(
    context: typer.Context, config: ConfigFile = None, database: Database = None, as_json: Json = False
) -> None:
    """List the agents of the config: how they are set up, and what the record says of each so far.

    Prices are in dollars per million tokens. Agents that have played and that the config no longer names come
    last. Where a provider reports another model than before under the same name, the line says so: the scores
    under that name are then of two models. Another fingerprint of the same model is a softer sign.

    Example: arena agents list

    Next: arena agents show NAME
    """
    found = read_agents(options(context, config, database))
    if as_json:
        print_json(found)
    else:
        say(found)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Every agent of the config and of the record, as JSON has it."""
    from arena.record.dry_run import open_or_empty
    from arena.record.queries.progress import read_waiting_agents
    from arena.record.schema.database import reading
    from arena.scores.agent_summary import agent_summaries

    planned = chosen.known()
    with (
        open_or_empty(planned.database if planned else chosen.record()) as engine,
        reading(engine) as connection,
    ):
        played = agent_summaries(connection, planned.extensions("kinds") if planned is not None else ())
        waiting = {
            name: words for each in read_waiting_agents(connection).values() for name, words in each.items()
        }
    agents = planned.agents if planned is not None else ()
    names = {agent.name for agent in agents}
    return {
        "agents": [
            as_planned(agent)
            | {"record": as_played(played.get(agent.name)), "waiting": waiting.get(agent.name)}
            for agent in agents
        ],
        "gone": [
            _set_up(name, each.setup.kind, each.setup.settings) | {"record": as_played(each)}
            for name, each in played.items()
            if name not in names
        ],
    }


def as_planned(agent: "AgentConfig") -> dict[str, Any]:
    """An agent of the config for JSON."""
    from agents.cost import price_for
    from agents.model import model_settings

    model = model_settings(agent.settings)
    price = None if model is None else price_for(model)
    shown = _set_up(agent.name, agent.kind, agent.settings.model_dump(mode="json"))
    return shown | {"model": agent.model, "price": price and {"input": price.input, "output": price.output}}


def _set_up(name: str, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "kind": kind} | {key: settings.get(key) for key in SET_UP}


def as_played(found: "AgentSummary | None") -> dict[str, Any] | None:
    """What the record says of an agent for JSON; None where it has not played."""
    from arena.record.model.model_version import change_flag

    if found is None:
        return None
    return {
        "cohorts": list(found.cohorts),
        "turns": found.turns,
        "malformed": found.malformed,
        "failed": found.failed,
        "cost_usd": exact(found.cost),
        "models": list(found.models),
        "flag": change_flag(found.changes) or None,
        "changes": [as_change(change) for change in found.changes],
    }


def as_change(change: "ModelChange") -> dict[str, Any]:
    """A change of what a model reports itself as, for JSON."""
    names = ("name", "what", "before", "after", "model", "times")
    times = {"first_at": change.first_at.isoformat(), "last_at": change.last_at.isoformat()}
    return {name: getattr(change, name) for name in names} | times


def say(found: Mapping[str, Any]) -> None:
    """Two tables: how agents are set up, and how it went; then those that are gone."""
    both = [*found["agents"], *found["gone"]]
    if not both:
        print(f"There is no agent. Next: {program()} init")
        return
    if found["agents"]:
        titles = ("agent", "kind", "model or of", "prompt", "prices", "samples", "released", "$ in", "$ out")
        print_table(titles, [_plan(agent) for agent in found["agents"]], title="In the config")
    played = [agent for agent in found["agents"] if agent["record"]]
    _say_played("In the record", played)
    _say_played("In the record, no longer in the config", found["gone"])
    for agent in found["agents"]:
        if agent["waiting"]:
            print(f"{agent['name']} is {plain(agent['waiting'])}")
    if not played and not found["gone"]:
        print(f"Nobody has played yet. Next: {program()} agents try NAME, or {program()} round")
    else:
        print(f"Next: {program()} agents show NAME")


def _plan(agent: Mapping[str, Any]) -> list[object]:
    price = agent["price"] or {"input": None, "output": None}
    prices = [None if price[way] is None else f"{price[way]:g}" for way in ("input", "output")]
    shown = [agent[key] for key in ("prompt", "prices", "samples", "released")]
    return [agent["name"], agent["kind"], of_what(agent), *shown, *prices]


def of_what(agent: Mapping[str, Any]) -> str | None:
    """The model that is asked, or the agents that this one is made from."""
    of = agent["of"]
    return agent["model"] or (of if isinstance(of, str | None) else ", ".join(of))


def _say_played(title: str, agents: Sequence[Mapping[str, Any]]) -> None:
    if not agents:
        return
    titles = ("agent", "cohorts", "turns", "malformed", "failed", "cost $", "reports itself as", "")
    print_table(titles, [_line(agent["name"], agent["record"]) for agent in agents], title=title)


def _line(name: str, record: Mapping[str, Any]) -> list[object]:
    cost = None if record["cost_usd"] is None else f"{record['cost_usd']:,.4f}"
    counts = [record[key] for key in ("turns", "malformed", "failed")]
    return [
        name,
        ranges(record["cohorts"]),
        *counts,
        cost,
        plain(", ".join(record["models"])) or None,
        (record["flag"] or "").upper(),
    ]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, with those that follow each other together.

    >>> ranges([1, 2, 3, 5]), ranges([4])
    ('1-3, 5', '4')
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
