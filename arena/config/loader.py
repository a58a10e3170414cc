"""Reads a config file and checks it as a whole: a `Config`, or all mistakes in it at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from agents.model import model_settings
from agents.model_table.capabilities import model_faults, with_limits
from agents.model_table.cost import own_search, price_for, unbounded_option
from agents.providers import near_model
from agents.toolbox import is_own_tool, tool
from arena.config.code import TrustedCode, UnloadedAdapter, venue_stamp
from arena.config.document import Document, read
from arena.config.environment import check_models, environment
from arena.config.errors import ConfigErrors, Key, quoted_value
from arena.config.extensions import (
    SOURCES,
    VENUES,
    check_agent_files,
    check_commands,
    evidence_settings,
    folders_of,
    named_extension,
)
from arena.config.field_types import WEB, is_address
from arena.config.lineup import read_agents
from arena.config.model import AgentConfig, Config
from arena.config.prompts import hide_unshown_prices, read_prompts, without_bets
from arena.config.public import read_public
from arena.config.sections import SEASONS, FixedSections, WatchSection
from arena.config.validation import validate
from arena.record.model.calendar import Cadence
from arena.record.model.cohort import NO_EVIDENCE

SEARCHING_TOOLS = ("search", "read")


def run_nothing(_document: Document) -> TrustedCode | None:
    """Return None: the config is only read, so no code beside it may run."""
    return None


SEPARATE_SECTIONS = ("ask", "agents")
"""The sections whose keys are the settings of kinds, and no fixed list."""


def load(
    path: Path,
    environ: Mapping[str, str] | None = None,
    beside: bool = False,
    database: str | None = None,
    allow: Callable[[Document], TrustedCode | None] = run_nothing,
) -> Config:
    """Return the config in a file. Raise `ConfigErrors` with all mistakes in it.

    `allow` returns the code beside the config that may be run. By default there is none: kinds, venues and
    sources that are extensions are then not loaded, and their blocks are not checked.

    With an environment, to which `.env` is added, the keys of models and the webhook are checked too. With
    `beside`, so are the files and functions that agents name, the settings with which every call would fail,
    and the places of the record and of backups. `database` replaces the one in the config.
    """
    document = read(path)
    read_public(document)  # before anything of the folder could be loaded
    document.code = allow(document)
    document.check_addresses()

    sections = _fixed_sections(document)
    seed = 1 if sections is None else sections.seed
    markets_shown = 40 if sections is None else sections.markets.show

    venue = VENUES.settings(document, seed=seed)
    evidence = evidence_settings(document)
    has_market = venue is None or _has_market(document, venue)
    agents, prompts = _line_up(document, markets_shown, has_market)

    if sections is not None:
        _check_prices(document, agents, sections)
        _check_tools(document, agents, sections)
        _check_judge(document, agents, sections)
        _check_fill_at(document, venue, sections)
    if environ is not None:
        _check_environment(document, agents, venue, sections, environ)
    if beside:
        check_agent_files(document, agents)
        _check_capabilities(document, agents)
        if sections is not None:
            check_places(document, sections, path.parent, database)

    if document.errors or sections is None or venue is None or evidence is None:
        raise ConfigErrors(document.errors)

    # Without a folder for the site, the job that publishes it is off.
    jobs_off = {} if sections.publish.directory else {"publish": Cadence()}
    computed = {
        "database": database or _record_address(sections.database, path.parent),
        "run": sections.run.model_copy(update=jobs_off),
    }
    return Config(
        **dict(sections) | computed,
        file=path,
        venue_settings=venue,
        agents=tuple(agents.values()),
        prompts=prompts,
        evidence_settings=evidence,
        hash=document.hash,
        code=document.code,
        has_market=has_market,
    )


def _line_up(
    document: Document, markets: int, has_market: bool
) -> tuple[dict[int, AgentConfig], dict[str, str]]:
    """Return the agents by their index in the list, and the texts of their prompts by name."""
    agents = read_agents(document)
    check_commands(document, agents)
    if not has_market:
        agents = without_bets(agents)

    prompts = read_prompts(document, agents, markets, has_market)
    agents = hide_unshown_prices(document, agents, prompts)
    return _with_call_limits(agents, markets), prompts


def _check_environment(
    document: Document,
    agents: Mapping[int, AgentConfig],
    venue: BaseModel | None,
    sections: FixedSections | None,
    environ: Mapping[str, str],
) -> None:
    """Note mistakes in `.env`, models that can't be asked, and a webhook's variable without an address."""
    try:
        environ = environment(Path(document.file).parent, environ)
    except ConfigErrors as errors:
        document.errors.extend(errors.errors)

    is_live = venue is not None and _stamp(document, venue) == "live"
    check_models(document, agents, is_live)
    if sections is not None:
        check_webhook_variable(document, sections.watch, environ)


def _record_address(database: str, folder: Path) -> str:
    """Return the address of the config's record: a URL, or a path that starts from the config's folder."""
    if "://" in database:
        return database
    return str((folder / database).resolve())


def _stamp(document: Document, venue: BaseModel) -> str:
    """Return the stamp of the venue in use: `live`, `replay` or `simulated`."""
    if isinstance(venue, UnloadedAdapter):
        return venue.stamp

    module = VENUES.load(VENUES.chosen(document), document)
    return venue_stamp(module, venue)


def _has_market(document: Document, venue: BaseModel) -> bool:
    """Tell whether anything can be bought at the venue in use, assuming so if it was not loaded."""
    if isinstance(venue, UnloadedAdapter):
        return True

    module = VENUES.load(VENUES.chosen(document), document)
    return bool(getattr(module, "HAS_MARKET", True))


def _check_fill_at(document: Document, venue: BaseModel | None, sections: FixedSections) -> None:
    """Note `fill_at: answer` at a venue that is not live, which has no prices of the time of an answer."""
    if sections.cohorts.rules.fill_at == "snapshot" or venue is None:
        return

    if _stamp(document, venue) != "live":
        reason = f"prices of {sections.markets.venue} don't move while an agent thinks"
        hint = "Remove it: the snapshot's prices count, or choose a live venue"
        document.add_error(("cohorts", "rules", "fill_at"), "answer", "snapshot", f"{reason}. {hint}")


def _fixed_sections(document: Document) -> FixedSections | None:
    """Return the sections whose keys are fixed; None, with the mistakes noted, if they are wrong.

    The blocks of adapters are left out, and the keys of a preset season are filled in.
    """
    data = {key: value for key, value in document.value.items() if key not in SEPARATE_SECTIONS}

    adapter_keys: dict[Key, Collection[str]] = {}
    for choice in (VENUES, SOURCES):
        adapter_keys |= choice.own_keys(document)
        block = data.get(choice.section)
        if isinstance(block, dict):
            adapters = {*choice.names(document), str(block.get(choice.chooser))}
            data[choice.section] = {key: value for key, value in block.items() if key not in adapters}

    for section, preset_keys in SEASONS.get(str(data.get("season")), {}).items():
        block = data.get(section)
        if block is None or isinstance(block, dict):
            data[section] = {**preset_keys, **(block or {})}  # what the config sets takes precedence

    return validate(FixedSections, data, document, (), SEPARATE_SECTIONS, adapter_keys)


def _with_call_limits(agents: Mapping[int, AgentConfig], markets: int) -> dict[int, AgentConfig]:
    """Return the agents with the limits of their calls computed, where the config does not set them."""
    with_limits_by_index = dict(agents)
    for index, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is not None:
            with_limits_by_index[index] = replace(agent, settings=with_limits(settings, markets))
    return with_limits_by_index


def _check_prices(document: Document, agents: Mapping[int, AgentConfig], sections: FixedSections) -> None:
    """Note models whose cost has no known bound, if the config has a budget."""
    if not sections.budget.limits:
        return

    for index, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is None or settings.max_cost is not None or own_search(settings):
            continue  # `_check_tools` refuses a search of the provider's own

        option = unbounded_option(settings)
        if option is not None:
            key: Key = ("agents", index, "extra", option)
            value = settings.extra.get(option)
            if option == "model":
                key = ("agents", index, "model")
                value = settings.model
            meant = "`max_cost: …` beside it, the most that a call can cost in dollars"
            message = (
                "what it adds to the cost of a call has no known bound, so the budget can't be enforced. "
                f"Add {meant} (budgets then reserve that), or remove it"
            )
            document.add_error(key, quoted_value(value), meant, message)

        elif price_for(settings) is None:
            meant = "a `price: {input: …, output: …}` in dollars per million tokens"
            message = (
                f"no price is known for {settings.model}, so the budget can't be enforced. Add {meant} "
                "to this agent; use 0 for both if it is free"
            )
            similar_model = near_model(settings.model)
            if similar_model:
                message = (
                    f"litellm doesn't know {settings.model}. Did you mean {similar_model}? If not: {message}"
                )
            document.add_error(("agents", index, "model"), quoted_value(settings.model), meant, message)


def _check_tools(document: Document, agents: Mapping[int, AgentConfig], sections: FixedSections) -> None:
    """Note tools that don't exist, that need a source of articles, or that show what must be hidden."""
    for index, agent in agents.items():
        sees_prices = getattr(agent.settings, "prices", "shown") == "shown"
        for name in getattr(agent.settings, "tools", ()):
            # If the config is only read, tools that are extensions are not loaded.
            if document.code is not None or is_own_tool(name):
                _check_tool(document, ("agents", index, "tools"), name, agent.name, sees_prices, sections)

        model = model_settings(agent.settings)
        search_option = "" if model is None else own_search(model)
        if not search_option or (sees_prices and not sections.budget.limits):
            continue

        reason = "at a cost that no budget bounds"
        if not sees_prices:
            reason = f"and find prices, which {agent.name} must not see"
        message = (
            f"{search_option} lets the provider search on its own, {reason}. Remove it, and give it "
            "`tools: [search, read]`"
        )
        document.add_error(("agents", index), search_option, "tools: [search, read]", message)


def _check_judge(document: Document, agents: Mapping[int, AgentConfig], sections: FixedSections) -> None:
    """Note a judge of evidence that is no agent with a model."""
    judge = sections.evidence.judge
    with_model = [agent.name for agent in agents.values() if model_settings(agent.settings) is not None]
    if judge is None or judge in with_model:
        return

    message = f"no agent {judge} has a model to judge texts with"
    expected = f"one of {', '.join(with_model) or 'the agents with a model'}"
    document.add_error(("evidence", "judge"), judge, expected, message)


def _check_tool(
    document: Document, key: Key, name: str, agent: str, sees_prices: bool, sections: FixedSections
) -> None:
    """Note a tool that can't be used by an agent."""
    loaded = named_extension(document, key, name, "tool", partial(tool, name, folders_of(document, "tools")))
    if loaded is None:
        return

    if loaded.tells_prices and not sees_prices:
        message = f"{name} shows prices, which {agent} must not see. Remove it, or set prices: shown"
        document.add_error(key, name, "tools that show no prices", message)
    if name in SEARCHING_TOOLS and sections.evidence.source == NO_EVIDENCE:
        message = f"{name} needs a source of articles. Set evidence.from to folder or gdelt"
        document.add_error(key, name, "evidence.from: folder or gdelt", message)


def _check_capabilities(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note settings with which every call of a model would fail, by what litellm knows about the model."""
    for index, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is None:
            continue

        for fault in model_faults(settings):
            if fault.certain:
                value = getattr(settings, fault.key)
                hint = f"{fault.hint[:1].upper()}{fault.hint[1:]}"
                message = f"{fault.message}, so every call would fail. {hint}"
                document.add_error(("agents", index, fault.key), quoted_value(value), fault.hint, message)


def check_places(document: Document, sections: FixedSections, folder: Path, database: str | None) -> None:
    """Note workers with a record in a file, and a folder of backups that is a file.

    `database` is the record that is used in place of the config's.
    """
    if sections.run.workers and not (database or sections.database).startswith("postgresql"):
        meant = "false, or a record on PostgreSQL"
        message = (
            "workers need a record on PostgreSQL, and this one is a file. Name another under "
            "`database` or by --database (`arena admin backup URL` moves a record there), "
            "or remove `workers`: "
            "`arena run` then plays every turn itself"
        )
        document.add_error(("run", "workers"), "true", meant, message)

    backups = folder / sections.backup.folder
    for path in (backups, *backups.parents):
        if path.is_file():
            message = f"{path} is a file. Name another folder, or move the file"
            document.add_error(
                ("backup", "folder"), quoted_value(sections.backup.folder), "a folder", message
            )
            return


def check_webhook_variable(document: Document, watch: WatchSection, environ: Mapping[str, str]) -> None:
    """Note the webhook's environment variable if it does not hold an address."""
    name = watch.webhook_variable
    if name is None:
        return

    address = environ.get(name, "")
    if not is_address(address):
        fault = f"{name} is {'no address' if address else 'not set'}"
        message = f"{fault}: it should hold {WEB}. Set it, or write it into .env"
        document.add_error(("watch", "webhook"), fault, f"{name} set to {WEB}", message)
