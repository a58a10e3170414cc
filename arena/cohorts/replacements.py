"""Agents as a cohort freezes them, and the settings that those without a good turn may take in mid-cohort."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.model import model_settings
from agents.registry import prompt_names
from arena.cohorts.cohort import ADDRESS_KEY, forecast_sources, play_waves
from arena.record.model.cohort import Cohort, Entrant, Replacement
from markets.hashes import canonical, digest

if TYPE_CHECKING:
    from arena.config import AgentConfig, Config


def entrants_of(agents: "Sequence[AgentConfig]") -> tuple[Entrant, ...]:
    """The agents of a config as a cohort freezes them: servers by number, since an address may change."""
    servers: dict[str, str] = {}
    entrants = list[Entrant]()
    for place, agent in enumerate(agents):
        settings, model = agent.settings.model_dump(mode="json"), model_settings(agent.settings)
        address = (model and model.base_url) or ""
        if address:
            settings[ADDRESS_KEY] = servers.setdefault(address, f"server {len(servers) + 1}")
        entrants.append(Entrant(place, agent.name, agent.kind, settings, address=address))
    return tuple(entrants)


def changed_agents(config: "Config", cohort: Cohort) -> list[Replacement]:
    """The entrants of a cohort with other settings, or other words in their prompts, in the config by now.

    Who is of another kind there is another agent, and plays in the next cohort.
    """
    planned = entrants_of(config.agents)
    configured = {agent.name: (agent, new) for agent, new in zip(config.agents, planned, strict=True)}
    changed = []
    for entrant in cohort.entrants:
        agent, new = configured.get(entrant.name, (None, entrant))
        if agent is None or agent.kind != entrant.kind:
            continue
        texts = {name: config.prompts[name] for name in prompt_names(agent.settings)}
        prompts = {name: digest(text) for name, text in texts.items()}
        frozen = {**cohort.prompts, **entrant.prompts}
        if (
            _without_address(new.settings) != _completed(entrant, agent)
            or not prompts.items() <= frozen.items()
        ):
            other = replace(entrant, settings=new.settings, prompts=prompts)
            changed.append(Replacement(other, entrant.settings, {digest(x): x for x in texts.values()}))
    return changed


def _completed(entrant: Entrant, agent: "AgentConfig") -> Mapping[str, Any]:
    """An entrant's settings with those that only later versions know, at their defaults."""
    try:
        settings = type(agent.settings).model_validate(entrant.settings).model_dump(mode="json")
    except ValidationError:  # frozen by a version that took what this one refuses
        settings = {**entrant.settings}
    return _without_address(settings)


def _without_address(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that only say whether a server of one's own is asked: a cohort follows it where it goes."""
    return {key: bool(value) if key == ADDRESS_KEY else value for key, value in settings.items()}


def replacements_from(
    number: int, cohort: Cohort, changed: Sequence[Replacement], unproven: Collection[str]
) -> list[Replacement]:
    """Those that count from a round on; none by which agents would wait for each other forever."""
    taken = list[Replacement]()
    for each in changed:
        if each.entrant.name in unproven:
            candidate = replace(each, entrant=replace(each.entrant, since=number))
            try:
                play_waves(with_replacements(cohort, [*taken, candidate]).entrants)
            except ValueError:
                continue
            taken.append(candidate)
    return taken


def with_replacements(cohort: Cohort, taken: Sequence[Replacement]) -> Cohort:
    """A cohort as it is played from then on."""
    newer = {each.entrant.name: each.entrant for each in taken}
    return replace(cohort, entrants=tuple(newer.get(x.name, x) for x in cohort.entrants))


def without_followers(cohort: Cohort, names: Collection[str]) -> list[str]:
    """Those of these agents that aren't made from another of them, which is to be corrected first."""
    return [
        x.name for x in cohort.entrants if x.name in names and not {*forecast_sources(x.settings)} & {*names}
    ]


def replacement_words(each: Replacement) -> str:
    """Who plays by what from now on, in a sentence; settings go by the first digits of their hashes.

    >>> agent = Entrant(0, "ann", "constant", {"p": 0.6}, since=2)
    >>> replacement_words(Replacement(agent, {"p": 0.5}, {}))
    'ann takes its block from config.yaml: settings fb496939 before, 35a01d87 from round 2 on'
    """
    before, after = (digest(canonical(x))[:8] for x in (each.before, each.entrant.settings))
    since = f"from round {each.entrant.since} on"
    return f"{each.entrant.name} takes its block from config.yaml: settings {before} before, {after} {since}"


def unproven_hint(names: Sequence[str]) -> str:
    """How agents without one good turn come back."""
    its, have = ("its", "has") if len(names) == 1 else ("their", "have")
    what = f"check {its} server, or correct {its} block in config.yaml, before the next round"
    return f"{', '.join(names)} {have} no good turn yet: {what}"
