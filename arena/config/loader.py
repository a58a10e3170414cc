"""From a file to a config that holds together, or to every mistake in it at once."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.model import model_settings
from arena.config.document import Document, read
from arena.config.environment import VARIABLE, check_keys, environment
from arena.config.errors import ConfigErrors, quoted_value
from arena.config.extensions import check_agent_files, evidence_settings, names_in, venue_settings
from arena.config.field_types import WEB, is_address
from arena.config.lineup import read_agents
from arena.config.model import AgentConfig, Config
from arena.config.prompts import read_prompts
from arena.config.sections import CohortsSection, FixedSections, MarketsSection
from arena.config.validation import validate
from markets.millionths import ONE, decimal
from portfolio.fills import __path__ as fill_folders

SEPARATE_SECTIONS = ("ask", "agents")
"""The sections that are read by the settings of kinds, not by a fixed list of keys."""


def load(
    path: Path,
    environ: Mapping[str, str] | None = None,
    beside: bool = False,
    database: str | None = None,
) -> Config:
    """The config in a file, or ConfigErrors with all that is wrong with it.

    With an environment, the API keys that the agents need are looked for in it and in `.env`. With `beside`,
    so are the files and functions that they name, without which only its agent's turns would fail, and what
    the places of record and backups allow. A `database` stands in place of the config's own.
    """
    document = read(path)
    check_webhook(document)
    sections = _fixed_sections(document)
    venue = venue_settings(document, 1 if sections is None else sections.seed)
    evidence = evidence_settings(document)
    agents = read_agents(document)
    prompts = read_prompts(document, agents, 40 if sections is None else sections.markets.show)
    if sections is not None and sections.budget.limits:
        _check_prices(document, agents)
    if environ is not None:
        try:
            environ = environment(path.parent, environ)
        except ConfigErrors as errors:
            document.errors.extend(errors.errors)
        check_keys(document, agents, environ)
        check_webhook_variable(document, environ)
    if beside:
        check_agent_files(document, agents)
        if sections is not None:
            check_places(document, sections, path.parent, database)
    if document.errors or sections is None or venue is None or evidence is None:
        raise ConfigErrors(document.errors)
    is_url = "://" in sections.database
    own = sections.database if is_url else str((path.parent / sections.database).resolve())
    return Config(
        file=path,
        database=database or own,
        seed=sections.seed,
        markets=sections.markets,
        venue_settings=venue,
        cohorts=sections.cohorts,
        budget=sections.budget,
        calls=sections.calls,
        agents=tuple(agents.values()),
        prompts=prompts,
        evidence=sections.evidence,
        evidence_settings=evidence,
        hash=document.hash,
        backup=sections.backup,
        run=sections.run,
        watch=sections.watch,
    )


def _fixed_sections(document: Document) -> FixedSections | None:
    data: dict[str, Any] = {
        key: value for key, value in document.value.items() if key not in SEPARATE_SECTIONS
    }
    groups = (
        ("markets", "venue", "markets.venues", "venues"),
        ("evidence", "from", "agents.research", "research"),
    )
    for section, chooser, package, group in groups:
        own = data.get(section)
        if isinstance(own, dict):
            apart = {*names_in(package, document, group), str(own.get(chooser))}
            data[section] = {key: value for key, value in own.items() if key not in apart}
    sections = validate(FixedSections, data, document, (), SEPARATE_SECTIONS)
    if sections is not None:
        _check_fill(document, sections.cohorts.rules_block.fill)
        _check_bankroll(document, sections.cohorts)
        _check_universe(document, sections.markets)
    return sections


def _check_universe(document: Document, markets: MarketsSection) -> None:
    """Bounds that cross let no market in."""
    day = 86_400
    if markets.min_price > markets.max_price:
        low, high = decimal(markets.min_price), decimal(markets.max_price)
        words = f"no price is at least {low} and at most {high}. Make min_price the smaller one"
        document.add(("markets", "min_price"), str(low), f"at most max_price, which is {high}", words)
    if markets.closes_after > markets.closes_within:
        soonest, latest = f"{markets.closes_after / day:g}d", f"{markets.closes_within / day:g}d"
        words = f"no market closes after {soonest} and within {latest}. Make closes_after the shorter one"
        document.add(("markets", "closes_after"), soonest, f"at most closes_within, which is {latest}", words)
    unwanted = {name.casefold() for name in markets.not_categories}
    for name in (name for name in markets.categories if name.casefold() in unwanted):
        words = f"{quoted_value(name)} is under not_categories too. Take it out of one of them"
        document.add(
            ("markets", "categories"), quoted_value(name), "categories that are not ruled out", words
        )


def _check_bankroll(document: Document, cohorts: CohortsSection) -> None:
    """With too little money the smallest bet is over the cap, and everybody is out from the start."""
    rules = cohorts.rules
    needed = -(-rules.min_bet * ONE // rules.max_bet) if rules.max_bet else 0
    if cohorts.bankroll < needed:
        meant = f"at least {decimal(needed)} dollars"
        words = f"nobody could bet: the smallest bet is {decimal(rules.min_bet)} dollars, and the largest is"
        words += f" {decimal(rules.max_bet)} of {decimal(cohorts.bankroll)}. Make it {meant}"
        document.add(("cohorts", "bankroll"), str(decimal(cohorts.bankroll)), meant, words)


def _check_fill(document: Document, fill: str | None) -> None:
    known = sorted(path.stem for folder in fill_folders for path in Path(folder).glob("[!_]*.py"))
    if fill is not None and fill not in known:
        document.add(("cohorts", "rules", "fill"), quoted_value(fill), f"one of {', '.join(known)}")


def _check_prices(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """A budget can only be kept where prices are known."""
    from agents.cost import price_for
    from agents.providers import near_model

    for place, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is not None and price_for(settings) is None:
            meant = "a `price: {input: …, output: …}` in dollars per million tokens"
            words = f"no price is known for {settings.model}, so the budget can't be kept. Add {meant}"
            words += " to this agent, with 0 for both where it is free"
            if near := near_model(settings.model):
                words = f"litellm doesn't know {settings.model}. Did you mean {near}? If not: {words}"
            document.add(("agents", place, "model"), quoted_value(settings.model), meant, words)


def check_places(document: Document, sections: FixedSections, folder: Path, database: str | None) -> None:
    """Note workers beside a record in a file, and backups in a folder that is none.

    `database` is the record that was named in place of the config's.
    """
    if sections.run.workers and not (database or sections.database).startswith("postgresql"):
        meant = "false, or a record on PostgreSQL"
        words = (
            "workers take their turns from PostgreSQL, and this record is a file. Name another one under "
            "`database` or by --database (docs/scaling.md tells how a record moves), or take `workers` out: "
            "`arena run` plays every turn itself then"
        )
        document.add(("run", "workers"), "true", meant, words)
    backups = folder / sections.backup.folder
    if in_the_way := next((path for path in (backups, *backups.parents) if path.is_file()), None):
        words = f"{in_the_way} is a file. Name another folder, or move that file away"
        document.add(("backup", "folder"), quoted_value(sections.backup.folder), "a folder", words)


def check_webhook(document: Document) -> None:
    """Note an address that is none, a name that names no variable, and two of them at once.

    They are read as they stand, so that they are told of together with mistakes elsewhere.
    """
    address, name = _text(document, "webhook"), _text(document, "webhook_env")
    if address and not is_address(address):
        words = f"this is no {WEB[3:]}. Where it is a secret, webhook_env names the variable that holds it"
        document.add(("watch", "webhook"), "other text", WEB, words)
    if not name:
        return
    key = ("watch", "webhook_env")
    if not re.fullmatch(VARIABLE, name):
        document.add(key, "other text", "the name of an environment variable (not the address itself)")
    if address:
        document.add(key, "webhook too", "one of the two", "webhook says already where. Take one of them out")


def check_webhook_variable(document: Document, environ: Mapping[str, str]) -> None:
    """Note a variable that holds no address."""
    name = _text(document, "webhook_env")
    if not re.fullmatch(VARIABLE, name) or is_address(environ.get(name, "")):
        return
    found = f"{name} is {'no address' if environ.get(name) else 'not set'}"
    words = f"{found}: it should hold {WEB}. Set it, or write it into .env"
    document.add(("watch", "webhook_env"), found, f"{name} set to {WEB}", words)


def _text(document: Document, key: str) -> str:
    """What a key of the section says; of what is no text the section's own check tells."""
    found = document.get("watch", key)
    return found if isinstance(found, str) else ""
