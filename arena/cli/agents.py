"""`arena agents`: who plays, how that went, and what a new one would do."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from agents.model import model_settings
from agents.model_table.cost import price_for
from arena.cli.agent_text import parts_data, profile_data, say_agent
from arena.cli.cohort_diff import PLANNED, moved_data, versions_data
from arena.cli.options import Options, argument, command, option
from arena.cli.output import attributes, exact, plain, program, ranges, without_password
from arena.cli.table import TableChoice, TableColumn, print_table, value_in
from arena.clock import now
from arena.cohorts.diff import agent_setup, setup_differences
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.errors import ArenaError
from arena.record.model.model_version import change_flag, change_sentence
from arena.record.queries.progress import read_waiting_agents
from arena.scores.agent_summary import AgentDetails, AgentSummary, agent_details, agent_summaries
from arena.scores.profiles.detailed_profile import agent_slices, read_agent_profile
from markets.millionths import ONE

SET_UP = ("model", "of", "prompt", "prices", "samples", "released")
"""The settings that a line shows, where a kind has them."""


def of_what(agent: Mapping[str, Any]) -> str | None:
    """The model that is asked, or the agents that this one is made from."""
    of = agent["of"]
    return agent["model"] or (of if isinstance(of, str | None) else ", ".join(of))


def _models(agent: Mapping[str, Any]) -> str | None:
    return ", ".join(value_in(agent, "record.models") or ()) or None


COLUMNS = (
    TableColumn("name", "agent", narrow="cut middle"),
    TableColumn("kind"),
    TableColumn("model", "model or of", plain, value=of_what, narrow="cut middle"),
    TableColumn("cohorts", show=ranges, gives_way=3, value="record.cohorts"),
    TableColumn("turns", show=",d", gives_way=1, value="record.turns"),
    TableColumn("malformed", show=",d", gives_way=1, value="record.malformed"),
    TableColumn("failed", show=",d", gives_way=1, value="record.failed"),
    TableColumn("late", show=",d", gives_way=1, value="record.late"),
    TableColumn("cost_usd", "cost $", ",.4f", 2, "record.cost_usd"),
    TableColumn("flag", "", str.upper, 0, "record.flag"),
    TableColumn("prompt", gives_way=4),
    TableColumn("prices", gives_way=5),
    TableColumn("samples", gives_way=7),
    TableColumn("released", gives_way=6),
    TableColumn("input", "$/M in", "g", 6, "price.input"),
    TableColumn("output", "$/M out", "g", 6, "price.output"),
    TableColumn("models", "reports itself as", plain, 5, _models, "cut middle"),
)


@command(table=True)
def list_agents(chosen: Options) -> None:
    """List the agents: their settings in the config and their turns, cost and errors so far.

    Prices are dollars per million tokens. A note says where a provider has changed the model behind a name;
    its scores then mix two models.

    Example: arena agents list

    Next: arena agents show NAME
    """
    found = read_agents(chosen)
    chosen.answer(found, say, found, chosen.table)


def read_agents(chosen: Options) -> dict[str, Any]:
    """Every agent of the config and of the record, as JSON has it."""
    with chosen.planned() as (config, connection):
        played = agent_summaries(connection, config.extensions("kinds") if config else ())
        waits = read_waiting_agents(connection)
    waiting = {name: words for each in waits.values() for name, words in each.items()}
    planned = list[dict[str, Any]]()
    for agent in config.agents if config else ():
        model = model_settings(agent.settings)
        price = price_for(model) if model else None
        found = _agent(agent.name, agent.kind, agent.settings.model_dump(mode="json"), played.get(agent.name))
        found |= {"model": agent.model, "price": price and attributes(price, "input", "output")}
        planned.append(found | {"waiting": waiting.get(agent.name)})
    names = {agent["name"] for agent in planned}
    gone = [
        _agent(name, each.setup.kind, each.setup.settings, each)
        for name, each in played.items()
        if name not in names
    ]
    return {"agents": planned, "gone": gone}


def _agent(name: str, kind: str, settings: Mapping[str, Any], played: AgentSummary | None) -> dict[str, Any]:
    """How an agent is set up, and what the record says of it."""
    record = None
    if played is not None:
        record = attributes(played, "cohorts", "turns", "malformed", "failed", "late", "models", "changes")
        record |= {"cost_usd": exact(played.cost), "flag": change_flag(played.changes) or None}
    set_up = {key: settings.get(key) for key in SET_UP}
    return {"name": name, "kind": kind, **set_up, "price": None, "record": record}


def say(found: Mapping[str, Any], choice: TableChoice) -> None:
    """A line for each agent; those that are gone come last."""
    if not found["agents"] and not found["gone"]:
        print(f"There are no agents. Next: {program()} init")
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
        print(f"No agent has played yet. Next: {program()} agents try NAME, or {program()} round")


@command(table=True)
def show(
    chosen: Options,
    name: str = argument("NAME", "Its name in the config or in the record."),
    by: Literal["category", "horizon", "price", "cohort"] | None = option(
        "Split skill and calibration; horizon is the time to close."
    ),
) -> None:
    """Show one agent: its settings cohort by cohort and what changed, its scores, turns and calls.

    The cohort `next` is the one that the config would start. Scores include miscalibration, incoherence, how
    far the agent moves towards a price it is shown, and where its profit comes from.

    Example: arena agents show sharp --by horizon

    Next: arena agents try NAME
    """
    with chosen.planned() as (config, connection):
        found = agent_details(connection, name, config.extensions("kinds") if config else ())
        scores = profile_data(read_agent_profile(connection, name)) if found else None
        parts = parts_data(by, agent_slices(connection, name, by)) if by and found else None
        cohorts = cohorts_data(found, config, name)
        if not cohorts:
            known = [agent.name for agent in config.agents] if config is not None else []
            names = dict.fromkeys([*known, *agent_summaries(connection)])
            hint = f"agents: {', '.join(names) or 'none'}"
            raise ArenaError("no_agent", f"there is no agent {name!r}", hint)
    told = {"name": name, "cohorts": cohorts, "record": found and details_data(found), "scores": scores}
    models = (model_settings(x.settings) for x in (config.agents if config else ()) if x.name == name)
    server = next((without_password(model.base_url) for model in models if model and model.base_url), "")
    chosen.answer(told | ({"parts": parts} if by else {}), say_agent, told, server, parts, chosen.table)


def cohorts_data(found: AgentDetails | None, config: Config | None, name: str) -> list[dict[str, Any]]:
    """Each cohort that the agent is in, the next one too, with what was changed since the one before."""
    every = [
        (
            attributes(stay, "cohort", "starts_at")
            | {"verdicts": stay.statuses, "code_versions": versions_data(stay.versions)},
            stay.setup,
        )
        for stay in (found.cohorts if found else ())
    ]
    if config is not None:
        cohort, _ = freeze_cohort(config, 1, now())
        known: dict[str, Any] = {"cohort": PLANNED, "starts_at": None, "verdicts": {}, "code_versions": []}
        kinds = config.extensions("kinds")
        every += [(known, agent_setup(cohort, x, kinds)) for x in cohort.entrants if x.name == name]
    told = list[dict[str, Any]]()
    for place, (known, setup) in enumerate(every):
        changed = setup_differences(every[place - 1][1], setup) if place else {}
        told.append(
            known | attributes(setup, "kind", "settings", "prompts") | {"changed": moved_data(changed)}
        )
    return told


def details_data(found: AgentDetails) -> dict[str, Any]:
    """What the record says of an agent for JSON; money in dollars."""
    calls = sum(each.calls for each in found.calls)
    whole = calls > 0 and found.unknown == 0 and found.forecasts > 0
    statuses = sum((Counter(stay.statuses) for stay in found.cohorts), Counter[str]())
    return attributes(found, "rungs", "errors", "forecasts", "median_ms", "changes") | {
        "verdicts": {name: statuses[name] for stay in found.cohorts for name in stay.statuses},
        "calls": calls,
        "tokens_in": sum(each.tokens_in for each in found.calls),
        "tokens_out": sum(each.tokens_out for each in found.calls),
        "cost_usd": None if found.unknown else exact(found.cost),
        "known_cost_usd": exact(found.cost),
        "unknown_costs": found.unknown,
        "cost_per_forecast_usd": found.cost / found.forecasts / ONE if whole else None,
        "p95_ms": found.late_ms,
        "reported": [
            attributes(each, "model", "fingerprint", "answers", "first_at", "last_at")
            for each in found.models
        ],
        "notes": [change_sentence(change) for change in found.changes],
    }
