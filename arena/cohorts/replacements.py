"""Agents as a cohort freezes them, and new settings for those that have no good turn yet."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.model import model_settings
from agents.registry import kinds, prompt_names
from arena.cohorts.cohort import ADDRESS_KEY, entrants_by_name, forecast_sources, play_waves
from arena.errors import first_names
from arena.record.model.cohort import MOST_NAMED, Cohort, Entrant, Replacement
from markets.hashes import canonical, digest

if TYPE_CHECKING:
    from arena.config import AgentConfig, Config


def entrants_of(agents: "Sequence[AgentConfig]") -> tuple[Entrant, ...]:
    """Return the agents of a config as a cohort freezes them: servers by number, as addresses may change."""
    server_names: dict[str, str] = {}
    entrants = []

    for position, agent in enumerate(agents):
        settings = agent.settings.model_dump(mode="json")
        model = model_settings(agent.settings)
        address = ""
        if model is not None and model.base_url:
            address = model.base_url
            settings[ADDRESS_KEY] = server_names.setdefault(address, f"server {len(server_names) + 1}")

        entrants.append(Entrant(position, agent.name, agent.kind, settings, address=address))

    return tuple(entrants)


def hash_prompts(config: "Config", names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the hashes of the named prompts by name, and their texts by hash."""
    hashes = {}
    texts = {}

    for name in names:
        text = config.prompts[name]
        hashes[name] = digest(text)
        texts[hashes[name]] = text

    return hashes, texts


def changed_agents(config: "Config", cohort: Cohort) -> list[Replacement]:
    """Return the entrants of a cohort whose settings or prompts are different in the current config.

    An agent of another kind in the config is another agent, and plays in the next cohort.
    """
    agents = {agent.name: agent for agent in config.agents}
    planned = entrants_by_name(entrants_of(config.agents))
    changed = []

    for entrant in cohort.entrants:
        agent = agents.get(entrant.name)
        if agent is None or agent.kind != entrant.kind:
            continue

        # Only prompts that are still in use are compared.
        prompts, texts = hash_prompts(config, prompt_names(agent.settings))
        frozen_prompts = {**cohort.prompts, **entrant.prompts}
        same_prompts = prompts.items() <= frozen_prompts.items()

        new_settings = planned[entrant.name].settings
        same_settings = _with_address_as_flag(new_settings) == _settings_with_defaults(entrant, agent)

        if not (same_prompts and same_settings):
            changed_entrant = replace(entrant, settings=new_settings, prompts=prompts)
            changed.append(Replacement(changed_entrant, entrant.settings, texts))

    return changed


def _settings_with_defaults(entrant: Entrant, agent: "AgentConfig") -> Mapping[str, Any]:
    """Return an entrant's settings, with settings added by later versions at their defaults."""
    try:
        settings = type(agent.settings).model_validate(entrant.settings).model_dump(mode="json")
    except ValidationError:  # frozen by a version that took what this one refuses
        settings = dict(entrant.settings)

    return _with_address_as_flag(settings)


def _with_address_as_flag(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that say only whether there is a server: a cohort follows it to a new address."""
    comparable = dict(settings)
    if ADDRESS_KEY in comparable:
        comparable[ADDRESS_KEY] = bool(comparable[ADDRESS_KEY])

    return comparable


def replacements_from(
    round_number: int, cohort: Cohort, changed: Sequence[Replacement], unproven: Collection[str]
) -> list[Replacement]:
    """Return the replacements of unproven agents, which count from a round on.

    One that would make agents depend on each other in a circle, or on one that doesn't exist, is left out.
    """
    accepted = list[Replacement]()

    for replacement in changed:
        if replacement.entrant.name not in unproven:
            continue

        entrant = replace(replacement.entrant, since=round_number)
        candidate = replace(replacement, entrant=entrant)
        changed_cohort = with_replacements(cohort, [*accepted, candidate])
        try:
            play_waves(changed_cohort.entrants)
        except ValueError:  # agents would depend on each other in a circle, or on one that doesn't exist
            continue
        accepted.append(candidate)

    return accepted


def with_replacements(cohort: Cohort, replacements: Sequence[Replacement]) -> Cohort:
    """Return the cohort with the replaced entrants in the places of the frozen ones."""
    new_by_name = {replacement.entrant.name: replacement.entrant for replacement in replacements}
    entrants = tuple(new_by_name.get(entrant.name, entrant) for entrant in cohort.entrants)
    return replace(cohort, entrants=entrants)


def agents_to_correct_first(cohort: Cohort, names: Collection[str]) -> list[str]:
    """Return the named agents without those made from another of them, which is to be corrected first."""
    corrected_first = []

    for entrant in cohort.entrants:
        sources = set(forecast_sources(entrant.settings))
        if entrant.name in names and sources.isdisjoint(names):
            corrected_first.append(entrant.name)

    return corrected_first


def replacement_words(replacement: Replacement) -> str:
    """Return a sentence on an agent with new settings, named by the first digits of the hashes.

    >>> agent = Entrant(0, "ann", "constant", {"p": 0.6}, since=2)
    >>> replacement_words(Replacement(agent, {"p": 0.5}, {}))
    'ann takes its block from the config: settings fb496939 before, 35a01d87 from round 2 on'
    """
    entrant = replacement.entrant
    before = digest(canonical(replacement.before))[:8]
    after = digest(canonical(entrant.settings))[:8]
    since = f"from round {entrant.since} on"

    return f"{entrant.name} takes its block from the config: settings {before} before, {after} {since}"


def code_of(kind: str, settings: Mapping[str, Any]) -> str:
    """Return the file or program that an agent without a model decides by; empty for any other agent.

    >>> code_of("python", {"function": "mine:decide"}), code_of("contrarian", {}), code_of("constant", {})
    ('mine.py', 'extensions/contrarian.py', '')
    """
    if settings.get("model"):
        return ""
    if kind == "python":
        return f"{settings['function'].partition(':')[0]}.py"
    if kind == "command":
        return " ".join(settings["command"])
    return "" if kind in _built_in_kinds() else f"extensions/{kind}.py"


@cache
def _built_in_kinds() -> frozenset[str]:
    """Return the kinds that come with the arena: their folder is looked at once, not for every agent."""
    return frozenset(kinds())


def codes_of(cohort: Cohort) -> dict[str, str]:
    """Return the files or programs of a cohort's agents, by name, of those that have one."""
    codes = {}
    for entrant in cohort.entrants:
        code = code_of(entrant.kind, entrant.settings)
        if code:
            codes[entrant.name] = code
    return codes


def unproven_hint(names: Sequence[str], codes: Mapping[str, str]) -> str:
    """Return a hint on how agents without a good turn can have one: new settings, or corrected code.

    >>> unproven_hint(["ann"], {"ann": "ann.py"}).partition("; ")[0]
    'ann has no good turn yet: correct its code (ann.py) before the next round'
    """
    settable = []
    coded = []
    code_files = set()
    for name in names:
        if codes.get(name):
            coded.append(name)
            code_files.add(codes[name])
        else:
            settable.append(name)

    hints = []
    if settable:
        its = "its" if len(settable) == 1 else "their"
        advice = f"check {its} server, or correct {its} block in the config, before the next round"
        hints.append(f"{_no_good_turn_text(settable)}: {advice}")

    if coded:
        its = "its" if len(coded) == 1 else "their"
        files = first_names(sorted(code_files), MOST_NAMED)
        advice = f"correct {its} code ({files}) before the next round"
        again = "until then arena run --round --at TIME plays the failed turn again"
        hints.append(f"{_no_good_turn_text(coded)}: {advice}; {again}")
    return "; ".join(hints)


def _no_good_turn_text(names: Sequence[str]) -> str:
    have = "has" if len(names) == 1 else "have"
    return f"{first_names(names, MOST_NAMED)} {have} no good turn yet"
