"""`arena agents`: who plays, how that went, and what a new one would do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.agents_try import try_agent
from arena.cli.cohort_diff import PLANNED
from arena.cli.options import Options, command
from arena.cli.output import exact, iso, plain, program, ranges
from arena.cli.table import TableChoice, TableColumn, print_table
from arena.errors import ArenaError
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.cohorts.diff import AgentSetup
    from arena.config import AgentConfig, Config
    from arena.record.model.model_version import ModelChange
    from arena.scores.agent_summary import AgentDetails, AgentSummary

HELP = """Look at the agents, and try one before you enter it. Nothing here changes the record.

Example: arena agents try sharp --dry

Next: arena round plays the next round with all of them.
"""
SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings that a line shows, where a kind has them."""


def _of_record(key: str) -> Any:
    return lambda agent: agent["record"] and agent["record"][key]


def _price(way: str) -> Any:
    return lambda agent: (agent.get("price") or {}).get(way)


def of_what(agent: Mapping[str, Any]) -> str | None:
    """The model that is asked, or the agents that this one is made from."""
    of = agent["of"]
    return agent["model"] or (of if isinstance(of, str | None) else ", ".join(of))


COLUMNS = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("model", "model or of", plain, value=of_what, narrow="cut middle"),
    TableColumn("cohorts", show=ranges, gives_way=3, value=_of_record("cohorts")),
    TableColumn("turns", show=",d", gives_way=1, value=_of_record("turns")),
    TableColumn("malformed", show=",d", gives_way=1, value=_of_record("malformed")),
    TableColumn("failed", show=",d", gives_way=1, value=_of_record("failed")),
    TableColumn("cost_usd", "cost $", ",.4f", 2, _of_record("cost_usd")),
    TableColumn("flag", "", str.upper, 0, _of_record("flag")),
    TableColumn("prompt", gives_way=4),
    TableColumn("prices", gives_way=5),
    TableColumn("samples", gives_way=7),
    TableColumn("released", gives_way=6),
    TableColumn("input", "$/M in", "g", 6, _price("input")),
    TableColumn("output", "$/M out", "g", 6, _price("output")),
    TableColumn(
        "models",
        "reports itself as",
        plain,
        5,
        lambda agent: (agent["record"] and ", ".join(agent["record"]["models"])) or None,
        "cut middle",
    ),
)


class RecordBy(StrEnum):
    """What an agent's record can be parted by."""

    category = "category"
    horizon = "horizon"
    price = "price"
    cohort = "cohort"


@command(table=True)
def list_agents(chosen: Options) -> None:
    """List the agents: how the config sets them up, and what the record says of each so far.

    Prices are in dollars per million tokens. Agents that have played but are no longer in the config come
    last. If a provider reports another model than before under the same name, the line says so: the scores
    under that name are then those of two models.

    Example: arena agents list

    Next: arena agents show NAME
    """
    found = read_agents(chosen)
    chosen.answer(found, say, found, chosen.table)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Every agent of the config and of the record, as JSON has it."""
    from arena.record.queries.progress import read_waiting_agents
    from arena.scores.agent_summary import agent_summaries

    with chosen.planned() as (config, connection):
        played = agent_summaries(connection, config.extensions("kinds") if config else ())
        waits = read_waiting_agents(connection)
    waiting = {name: words for each in waits.values() for name, words in each.items()}
    agents = config.agents if config else ()
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
        "changes": [change_data(change) for change in found.changes],
    }


def change_data(change: "ModelChange") -> dict[str, Any]:
    """A change of what a model reports itself as, for JSON."""
    names = ("name", "what", "before", "after", "model", "times")
    times = {"first_at": iso(change.first_at), "last_at": iso(change.last_at)}
    return {name: getattr(change, name) for name in names} | times


def say(found: Mapping[str, Any], choice: TableChoice) -> None:
    """A line for each agent; those that are gone come last."""
    if not found["agents"] and not found["gone"]:
        print(f"There is no agent. Next: {program()} init")
        return
    if found["agents"]:
        print_table(COLUMNS, found["agents"], choice=choice)
    if found["gone"]:
        print_table(COLUMNS, found["gone"], "No longer in the config", choice)
    for agent in found["agents"]:
        if agent["waiting"]:
            print(f"{agent['name']} is {plain(agent['waiting'])}")
    if any(agent["record"] for agent in found["agents"]) or found["gone"]:
        print(f"Next: {program()} agents show NAME")
    else:
        print(f"Nobody has played yet. Next: {program()} agents try NAME, or {program()} round")


@command(table=True)
def show(
    chosen: Options,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in the config or in the record.")],
    by: Annotated[
        RecordBy | None,
        typer.Option(
            help="Split skill and calibration by the markets' category, time to close, YES price or cohort."
        ),
    ] = None,
) -> None:
    """Show one agent: its settings cohort by cohort and what changed, its scores, turns and calls.

    The cohort `next` is the one that the config would start. The scores are skill with its interval;
    miscalibration, and how much of it chance would cause; the sure profit that incoherent probabilities give
    away; how far it moves towards the price once shown; and where its profit comes from: edge, spread, fees,
    sizing, early sales and luck.

    Example: arena agents show sharp --by horizon

    Next: arena agents try NAME
    """
    from arena.cli.agent_text import parts_data, profile_data, say_agent
    from arena.scores.agent_summary import agent_details, agent_summaries
    from arena.scores.profiles.detailed_profile import agent_slices, read_agent_profile

    with chosen.planned() as (config, connection):
        found = agent_details(connection, name, config.extensions("kinds") if config else ())
        scores = profile_data(read_agent_profile(connection, name)) if found else None
        parts = parts_data(by.value, agent_slices(connection, name, by.value)) if by and found else None
        setup = None if config is None else planned_setup(config, name)
        if found is None and setup is None:
            known = [agent.name for agent in config.agents] if config is not None else []
            names = dict.fromkeys([*known, *agent_summaries(connection)])
            hint = f"agents: {', '.join(names) or 'none'}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint)
    record = found and details_data(found)
    told = {"name": name, "cohorts": stays_data(found, setup), "record": record, "scores": scores}
    chosen.answer(told | ({"parts": parts} if by else {}), say_agent, told, parts, chosen.table)


def planned_setup(config: "Config", name: str) -> "AgentSetup | None":
    """How the next cohort would have the agent."""
    from arena.clock import now
    from arena.cohorts.diff import agent_setup
    from arena.cohorts.freeze import freeze_cohort

    cohort, _ = freeze_cohort(config, 1, now())
    kinds = config.extensions("kinds")
    return next((agent_setup(cohort, x, kinds) for x in cohort.entrants if x.name == name), None)


def stays_data(found: "AgentDetails | None", planned: "AgentSetup | None") -> list[dict[str, Any]]:
    """Each cohort that the agent is in, the next one too, with what was changed since the one before."""
    from arena.cohorts.diff import setup_differences

    every: list[tuple[dict[str, Any], AgentSetup]] = []
    for stay in found.stays if found else ():
        known = {"cohort": stay.cohort, "starts_at": stay.starts_at.isoformat(), "verdicts": stay.statuses}
        every.append((known | {"code_versions": versions_data(stay.versions)}, stay.setup))
    if planned is not None:
        every.append(({"cohort": PLANNED, "starts_at": None, "verdicts": {}, "code_versions": []}, planned))
    told = list[dict[str, Any]]()
    for place, (known, setup) in enumerate(every):
        changed = setup_differences(every[place - 1][1], setup) if place else {}
        told.append(
            known
            | {"kind": setup.kind, "settings": dict(setup.settings), "prompts": dict(setup.prompts)}
            | {"changed": {key: {"was": was, "is": now} for key, (was, now) in changed.items()}}
        )
    return told


def versions_data(found: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """The versions of the code that played, and from which round on, for JSON."""
    return [{"from_round": number, "versions": list(known)} for number, known in found.items()]


def details_data(found: "AgentDetails") -> dict[str, Any]:
    """What the record says of an agent for JSON; money in dollars."""
    from arena.record.model.model_version import change_sentence

    calls = sum(each.calls for each in found.asked)
    whole = calls > 0 and found.unknown == 0 and found.forecasts > 0
    statuses = sum((Counter(stay.statuses) for stay in found.stays), Counter[str]())
    return {
        "verdicts": {name: statuses[name] for stay in found.stays for name in stay.statuses},
        "calls": calls,
        "rungs": found.rungs,
        "errors": found.errors,
        "tokens_in": sum(each.tokens_in for each in found.asked),
        "tokens_out": sum(each.tokens_out for each in found.asked),
        "cost_usd": None if found.unknown else exact(found.cost),
        "known_cost_usd": exact(found.cost),
        "unknown_costs": found.unknown,
        "forecasts": found.forecasts,
        "cost_per_forecast_usd": found.cost / found.forecasts / ONE if whole else None,
        "median_ms": found.median_ms,
        "p95_ms": found.late_ms,
        "reported": [
            {name: getattr(each, name) for name in ("model", "fingerprint", "answers")}
            | {"first_at": iso(each.first_at), "last_at": iso(each.last_at)}
            for each in found.served
        ],
        "changes": [change_data(change) for change in found.changes],
        "notes": [change_sentence(change) for change in found.changes],
    }


agents = typer.Typer(help=HELP, no_args_is_help=True)
agents.command("list")(list_agents)
agents.command()(show)
agents.command("try")(try_agent)
