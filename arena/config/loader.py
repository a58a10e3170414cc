"""From a file to a config that holds together, or to every mistake in it at once."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from agents.model import model_settings
from agents.model_table.capabilities import model_faults, with_limits
from agents.model_table.cost import own_search, price_for, unbounded_option
from agents.providers import near_model
from agents.toolbox import is_own_tool, tool
from arena.config.code import TrustedCode, UnloadedAdapter
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
from arena.config.prompts import fit_prices, read_prompts
from arena.config.sections import SEASONS, FixedSections, WatchSection
from arena.config.validation import validate
from arena.record.model.calendar import Cadence
from arena.record.model.cohort import NO_EVIDENCE

SEARCHING_TOOLS = ("search", "read")


def run_nothing(_document: Document) -> TrustedCode | None:
    """Return that nothing may be run: the config is only read."""
    return None


SEPARATE_SECTIONS = ("ask", "agents")
"""The sections that are read by the settings of kinds, not by a fixed list of keys."""


def load(
    path: Path,
    environ: Mapping[str, str] | None = None,
    beside: bool = False,
    database: str | None = None,
    allow: Callable[[Document], TrustedCode | None] = run_nothing,
) -> Config:
    """Return the config in a file, or raise ConfigErrors with all that is wrong with it.

    `allow` says what may be run of what lies beside the config. By default nothing is: kinds, venues and
    sources that are extensions are then not loaded, and their blocks not checked.

    With an environment, the models of agents and the webhook are looked at too, with what `.env` adds. With
    `beside`, so are the files and functions that agents name, without which only their turns would fail, and
    what the places of record and backups allow. A `database` stands in place of the config's own.
    """
    document = read(path)
    document.code = allow(document)
    document.check_addresses()
    sections = _fixed_sections(document)
    venue = VENUES.settings(document, seed=1 if sections is None else sections.seed)
    evidence = evidence_settings(document)
    agents = read_agents(document)
    check_commands(document, agents)
    prompts = read_prompts(document, agents, 40 if sections is None else sections.markets.show)
    agents = fit_prices(document, agents, prompts)
    agents = _with_limits(agents, 40 if sections is None else sections.markets.show)
    if sections is not None:
        _check_prices(document, agents, sections)
        _check_tools(document, agents, sections)
        _check_fill_at(document, venue, sections)
    if environ is not None:
        try:
            environ = environment(path.parent, environ)
        except ConfigErrors as errors:
            document.errors.extend(errors.errors)
        live = venue is not None and _stamp(document, venue) == "live"
        check_models(document, agents, live)
        if sections is not None:
            check_webhook_variable(document, sections.watch, environ)
    if beside:
        check_agent_files(document, agents)
        _check_capabilities(document, agents)
        if sections is not None:
            check_places(document, sections, path.parent, database)
    if document.errors or sections is None or venue is None or evidence is None:
        raise ConfigErrors(document.errors)
    own = (
        sections.database if "://" in sections.database else str((path.parent / sections.database).resolve())
    )
    unpublished = {} if sections.publish.directory else {"publish": Cadence()}
    return Config(
        **dict(sections) | {"database": database or own, "run": sections.run.model_copy(update=unpublished)},
        file=path,
        venue_settings=venue,
        agents=tuple(agents.values()),
        prompts=prompts,
        evidence_settings=evidence,
        hash=document.hash,
        code=document.code,
    )


def _stamp(document: Document, venue: BaseModel) -> str:
    """Return where the markets of the venue in use come from."""
    if isinstance(venue, UnloadedAdapter):
        return venue.stamp
    return str(VENUES.load(VENUES.chosen(document), document).stamp)


def _check_fill_at(document: Document, venue: BaseModel | None, sections: FixedSections) -> None:
    """Prices of when an answer is in are to be had at live venues alone."""
    if sections.cohorts.rules.fill_at == "snapshot" or venue is None:
        return
    if _stamp(document, venue) != "live":
        words = f"prices of {sections.markets.venue} don't move while an agent thinks"
        hint = "Remove it: the snapshot's prices count, or choose a live venue"
        document.add(("cohorts", "rules", "fill_at"), "answer", "snapshot", f"{words}. {hint}")


def _fixed_sections(document: Document) -> FixedSections | None:
    data = {key: value for key, value in document.value.items() if key not in SEPARATE_SECTIONS}
    for choice in (VENUES, SOURCES):
        own = data.get(choice.section)
        if isinstance(own, dict):
            apart = {*choice.names(document), str(own.get(choice.chooser))}
            data[choice.section] = {key: value for key, value in own.items() if key not in apart}
    for section, keys in SEASONS.get(str(data.get("season")), {}).items():
        own = data.get(section)
        if own is None or isinstance(own, dict):
            data[section] = {**keys, **(own or {})}
    return validate(FixedSections, data, document, (), SEPARATE_SECTIONS)


def _with_limits(agents: Mapping[int, AgentConfig], markets: int) -> dict[int, AgentConfig]:
    """The agents with the limits of their calls worked out, where neither a block nor `ask` names them."""
    fitted = dict(agents)
    for place, agent in agents.items():
        if (settings := model_settings(agent.settings)) is not None:
            fitted[place] = replace(agent, settings=with_limits(settings, markets))
    return fitted


def _check_prices(document: Document, agents: Mapping[int, AgentConfig], sections: FixedSections) -> None:
    """A budget can only be kept where prices are known, and all that an option can add to them."""
    if not sections.budget.limits:
        return
    for place, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is None or settings.max_cost is not None or own_search(settings):
            continue  # a search of the provider's own is refused below
        if (name := unbounded_option(settings)) is not None:
            key = ("agents", place, "model") if name == "model" else ("agents", place, "extra", name)
            value = settings.model if name == "model" else settings.extra.get(name)
            meant = "`max_cost: …` beside it, the most that a call can cost in dollars"
            words = "what it adds to the cost of a call has no known bound, so the budget can't be enforced. "
            words += f"Add {meant} (budgets then reserve that), or remove it"
            document.add(key, quoted_value(value), meant, words)
        elif price_for(settings) is None:
            meant = "a `price: {input: …, output: …}` in dollars per million tokens"
            words = f"no price is known for {settings.model}, so the budget can't be enforced. Add {meant}"
            words += " to this agent; use 0 for both if it is free"
            if near := near_model(settings.model):
                words = f"litellm doesn't know {settings.model}. Did you mean {near}? If not: {words}"
            document.add(("agents", place, "model"), quoted_value(settings.model), meant, words)


def _loaded_tools(document: Document, settings: BaseModel) -> list[str]:
    """Return the tools of an agent without those that are extensions, where the config is only read."""
    names: tuple[str, ...] = getattr(settings, "tools", ())
    return [name for name in names if document.code is not None or is_own_tool(name)]


def _check_tools(document: Document, agents: Mapping[int, AgentConfig], sections: FixedSections) -> None:
    """Note tools that there are not, that need a source, or that tell what must be hidden."""
    for place, agent in agents.items():
        settings = agent.settings
        key: Key = ("agents", place, "tools")
        blind = getattr(settings, "prices", "shown") != "shown"
        for name in _loaded_tools(document, settings):
            get = partial(tool, name, folders_of(document, "tools"))
            if (found := named_extension(document, key, name, "tool", get)) is None:
                continue
            if blind and found.tells_prices:
                words = (
                    f"{name} shows prices, which {agent.name} must not see. Remove it, or set prices: shown"
                )
                document.add(key, name, "tools that show no prices", words)
            if name in SEARCHING_TOOLS and sections.evidence.source == NO_EVIDENCE:
                words = f"{name} needs a source of articles. Set evidence.from to folder or gdelt"
                document.add(key, name, "evidence.from: folder or gdelt", words)
        model = model_settings(settings)
        if model is None or not (option := own_search(model)):
            continue
        if blind or sections.budget.limits:
            hidden = f"and find prices, which {agent.name} must not see"
            why = hidden if blind else "at a cost that no budget bounds"
            words = f"{option} lets the provider search on its own, {why}. Remove it, and give it "
            words += "`tools: [search, read]`"
            document.add(("agents", place), option, "tools: [search, read]", words)


def _check_capabilities(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note settings with which every call of a model would fail, by what litellm knows of it."""
    for place, agent in agents.items():
        if (settings := model_settings(agent.settings)) is None:
            continue
        for fault in model_faults(settings):
            if fault.certain:
                value = getattr(settings, fault.key)
                words = f"{fault.message}, so every call would fail. {fault.hint[:1].upper()}{fault.hint[1:]}"
                document.add(("agents", place, fault.key), quoted_value(value), fault.hint, words)


def check_places(document: Document, sections: FixedSections, folder: Path, database: str | None) -> None:
    """Note workers beside a record in a file, and backups in a folder that is none.

    `database` is the record that was named in place of the config's.
    """
    if sections.run.workers and not (database or sections.database).startswith("postgresql"):
        meant = "false, or a record on PostgreSQL"
        words = (
            "workers need a record on PostgreSQL, and this one is a file. Name another under "
            "`database` or by --database (`arena db backup URL` moves a record there), or remove `workers`: "
            "`arena run` then plays every turn itself"
        )
        document.add(("run", "workers"), "true", meant, words)
    backups = folder / sections.backup.folder
    if in_the_way := next((path for path in (backups, *backups.parents) if path.is_file()), None):
        words = f"{in_the_way} is a file. Name another folder, or move the file"
        document.add(("backup", "folder"), quoted_value(sections.backup.folder), "a folder", words)


def check_webhook_variable(document: Document, watch: WatchSection, environ: Mapping[str, str]) -> None:
    """Note a variable that holds no address."""
    name = watch.webhook_env
    if name is not None and not is_address(environ.get(name, "")):
        found = f"{name} is {'no address' if environ.get(name) else 'not set'}"
        words = f"{found}: it should hold {WEB}. Set it, or write it into .env"
        document.add(("watch", "webhook_env"), found, f"{name} set to {WEB}", words)
