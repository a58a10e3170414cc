"""What changed from one cohort to another: rules, markets, evidence, prompts, and how agents are set up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from agents.registry import kind, prompt_names
from agents.secrets import without_credentials
from arena.cohorts.cohort import entrants_by_name
from arena.record.model.calendar import written_duration
from arena.record.model.cohort import UNLOADED, Cohort, Entrant
from markets.millionths import ONE
from markets.registry import ExtensionFolder
from portfolio.money import dollars, percent

PROMPT_TEXT_KEY = "text of "
"""The prefix of the keys of prompts in an agent's setup, before the name of the prompt."""


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """An entrant as a cohort froze it; `prompts` has the hashes of its prompts' texts by name."""

    kind: str
    settings: Mapping[str, Any]
    prompts: Mapping[str, str]


def agent_setup(cohort: Cohort, entrant: Entrant, extra: Iterable[ExtensionFolder] = ()) -> AgentSetup:
    """Return the setup of an entrant of a cohort, looking for kinds in the extra folders too."""
    hashes = {**cohort.prompts, **entrant.prompts}
    prompts = {name: hashes[name] for name in _prompt_names(entrant, extra) if name in hashes}
    settings = without_credentials(entrant.settings)

    return AgentSetup(entrant.kind, settings, prompts)


def _prompt_names(entrant: Entrant, extra: Iterable[ExtensionFolder]) -> tuple[str, ...]:
    """Return the prompts that an entrant's kind uses; without a working kind, every text in its settings."""
    try:
        settings = kind(entrant.kind, extra).settings
        return prompt_names(settings.model_validate(entrant.settings))
    except Exception:  # noqa: BLE001 - a kind is anyone's file: it may be gone, broken or another by now
        return tuple(value for value in entrant.settings.values() if isinstance(value, str))


def setup_differences(before: AgentSetup, after: AgentSetup) -> dict[str, tuple[Any, Any]]:
    """Return the differences between two setups: by key, the old and the new value, None if missing.

    >>> setup_differences(AgentSetup("constant", {"p": 0.5}, {}), AgentSetup("constant", {"p": 0.6}, {}))
    {'p': (0.5, 0.6)}
    """
    return _changed_values(_values_by_key(before), _values_by_key(after))


def setting_in_words(key: str, was: Any, now: Any) -> str:
    """Return a changed setting in a few words.

    >>> setting_in_words("p", 0.5, None), setting_in_words("text of bet", "9f…", "1a…")
    ('p: not set, was 0.5', 'text of bet: edited')
    """
    if not key.startswith(PROMPT_TEXT_KEY):
        return f"{key}: {_setting_or_not_set(now)}, was {_setting_or_not_set(was)}"

    if was and now:
        return f"{key}: edited"
    if now:
        return f"{key}: in use"
    return f"{key}: no longer in use"


def _setting_or_not_set(value: Any) -> str:
    if value is None:
        return "not set"
    return setting_text(value)


def setting_text(value: Any) -> str:
    """Return the value of an agent's setting as text.

    >>> setting_text(6.0), setting_text({"input": 1.0, "output": 4}), setting_text(["a", True])
    ('6', 'input 1, output 4', 'a, yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {setting_text(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _values_by_key(setup: AgentSetup) -> dict[str, Any]:
    """Return a setup's kind, settings and prompt hashes, by key.

    A prompt's key holds its name: another name is a change of the setting, and not of a text.
    """
    values = {"kind": setup.kind, **setup.settings}
    for name, text_hash in setup.prompts.items():
        values[f"{PROMPT_TEXT_KEY}{name}"] = text_hash

    return values


ChangedValues = Mapping[str, tuple[Any, Any]]
"""The old and the new value of each key that changed; None where one is missing."""

PERCENT_KEYS = ("max_bet", "min_coverage", "max_of_volume", "max_of_volume_cohort")
MONEY_KEYS = ("bankroll", "min_bet", "min_volume", "min_depth", "min_volume_24h", "min_liquidity")
PRICE_KEYS = ("worst_price", "max_spread", "max_gap", "min_price", "max_price")
TIME_KEYS = ("closes_within", "closes_after", "max_quote_age")


@dataclass(frozen=True, slots=True)
class CohortChanges:
    """What changed from one cohort to another.

    `config` has the hashes of both configs. `parts` has what was frozen beside prompts and agents, by its
    section. `added`, `removed` and `changed` are agents, and `reordered` says whether those in both line-ups
    are in another order. `not_compared` names the agents and sections that are extensions whose code was not
    loaded: only their blocks are known, without defaults and units.
    """

    config: tuple[str, str]
    parts: Mapping[str, ChangedValues]
    prompts: ChangedValues
    added: tuple[Entrant, ...]
    removed: tuple[Entrant, ...]
    changed: Mapping[str, ChangedValues]
    reordered: bool
    not_compared: tuple[str, ...] = ()

    @property
    def edited(self) -> tuple[str, ...]:
        """Return the names of the prompts that both cohorts have, with different texts."""
        return tuple(name for name, (was, now) in self.prompts.items() if was and now)

    def __bool__(self) -> bool:
        """Tell whether anything changed; the configs' hashes alone don't count."""
        return any((self.parts, self.prompts, self.added, self.removed, self.changed, self.reordered))


def cohort_changes(before: Cohort, after: Cohort, extra: Iterable[ExtensionFolder] = ()) -> CohortChanges:
    """Return what changed from one cohort to another, looking for kinds in the extra folders too.

    Number, start and seed differ between any two cohorts and are left out.
    """
    folders = tuple(extra)
    old_sections = _frozen_sections(before)
    new_sections = _frozen_sections(after)
    old_entrants = entrants_by_name(before.entrants)
    new_entrants = entrants_by_name(after.entrants)
    stayed = [name for name in old_entrants if name in new_entrants]

    # Of an extension whose code was not loaded, only the name can be compared.
    not_compared = []
    changed_sections = {}
    for section in old_sections:
        old_values = old_sections[section]
        new_values = new_sections[section]
        if UNLOADED in old_values or UNLOADED in new_values:
            not_compared.append(section)
            old_values = _extension_entry(old_values)
            new_values = _extension_entry(new_values)

        differences = _changed_values(old_values, new_values)
        if differences:
            changed_sections[section] = differences

    changed_agents = {}
    for name in stayed:
        old_setup = agent_setup(before, old_entrants[name], folders)
        new_setup = agent_setup(after, new_entrants[name], folders)
        if UNLOADED in old_setup.settings or UNLOADED in new_setup.settings:
            not_compared.append(name)
            old_setup = AgentSetup(old_setup.kind, {}, {})
            new_setup = AgentSetup(new_setup.kind, {}, {})

        differences = setup_differences(old_setup, new_setup)
        if differences:
            changed_agents[name] = differences

    prompts = _changed_values(before.prompts, after.prompts)
    if not_compared:
        # Which prompts an extension uses is not known either: only texts of both sides can be compared.
        prompts = {name: hashes for name, hashes in prompts.items() if all(hashes)}

    return CohortChanges(
        config=(before.config_hash, after.config_hash),
        parts=changed_sections,
        prompts=prompts,
        added=_entrants_missing_from(old_entrants, new_entrants),
        removed=_entrants_missing_from(new_entrants, old_entrants),
        changed=changed_agents,
        reordered=stayed != [name for name in new_entrants if name in old_entrants],
        not_compared=tuple(not_compared),
    )


def _extension_entry(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a section that names the extension in use."""
    key = "venue" if "venue" in section else "from"
    return {key: section[key]}


def _entrants_missing_from(
    others: Mapping[str, Entrant], entrants: Mapping[str, Entrant]
) -> tuple[Entrant, ...]:
    """Return the entrants whose names another cohort doesn't have."""
    return tuple(entrant for name, entrant in entrants.items() if name not in others)


def _frozen_sections(cohort: Cohort) -> dict[str, Mapping[str, Any]]:
    """Return everything that a cohort froze besides its prompts and agents, by section."""
    return {
        "cohort": {
            "rounds": cohort.rounds,
            "decide": str(cohort.cadence),
            "bankroll": cohort.bankroll,
            "hidden": cohort.hidden,
        },
        "rules": cohort.rules.model_dump(mode="json"),
        "universe": cohort.universe.model_dump(mode="json"),
        "venue": {
            "venue": cohort.venue,
            "stamp": cohort.stamp,
            **without_credentials(cohort.venue_settings),
        },
        "scores": {"min_coverage": cohort.min_coverage},
        "evidence": {
            "from": cohort.evidence,
            **without_credentials(cohort.evidence_settings),
            **cohort.guard.model_dump(mode="json"),
        },
    }


def _changed_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    changed = {}
    for key in {**old, **new}:
        was = old.get(key)
        now = new.get(key)
        if was != now:
            changed[key] = (was, now)

    return changed


def changes_in_words(changes: CohortChanges) -> list[str]:
    """Return the changes, a line each: agents added, removed and changed, then prompts and settings."""
    return list(_change_lines(changes))


def _change_lines(changes: CohortChanges) -> Iterator[str]:
    for entrant in changes.added:
        yield f"+ {_agent_label(entrant)}"
    for entrant in changes.removed:
        yield f"- {_agent_label(entrant)}"

    for name, differences in changes.changed.items():
        settings = "; ".join(_changed_settings(differences))
        if settings:
            yield f"{name}: {settings}"

    if changes.reordered:
        yield "the order of the agents has changed"

    for name in changes.edited:
        yield f"prompt {name}: edited"

    yield from _section_lines(changes)

    if changes.not_compared:
        names = ", ".join(changes.not_compared)
        yield f"not compared, because the config's folder is not trusted to run its extensions: {names}"


def _section_lines(changes: CohortChanges) -> Iterator[str]:
    for section, differences in changes.parts.items():
        values = "; ".join(_value_change(key, was, now) for key, (was, now) in differences.items())
        yield f"{section}: {values}"


def _changed_settings(differences: ChangedValues) -> Iterator[str]:
    """Yield each changed setting of an agent in words, without texts of prompts that were only edited.

    Such a prompt has a line of its own for all agents.
    """
    for key, (was, now) in differences.items():
        is_edited_prompt = key.startswith(PROMPT_TEXT_KEY) and was and now
        if not is_edited_prompt:
            yield setting_in_words(key, was, now)


def _agent_label(entrant: Entrant) -> str:
    """Return an agent's name with its kind, and its model or sources unless the name says them already."""
    sources = entrant.settings.get("of") or ()
    if isinstance(sources, str):
        sources = [sources]

    made_from = entrant.settings.get("model") or ", ".join(sources)
    if made_from and made_from != entrant.name:
        return f"{entrant.name} ({entrant.kind} {made_from})"
    return f"{entrant.name} ({entrant.kind})"


def _value_change(key: str, was: Any, now: Any) -> str:
    before = value_in_words(key, was)
    after = value_in_words(key, now)
    return f"{key.replace('_', ' ')} {after}, was {before}"


def value_in_words(key: str, value: Any) -> str:
    """Return a frozen value in words.

    >>> value_in_words("max_bet", 250_000), value_in_words("closes_after", 60), value_in_words("show", None)
    ('25%', '1m', 'not set')
    >>> value_in_words("context", {"history": True, "past": False})
    'history yes; past no'
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _number_in_words(key, value)

    if isinstance(value, Mapping):
        return "; ".join(f"{name} {value_in_words(name, part)}" for name, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _number_in_words(key: str, number: int) -> str:
    if key in MONEY_KEYS:
        return dollars(number)
    if key in TIME_KEYS:
        return written_duration(number)
    if key in PRICE_KEYS:
        return f"{100 * number / ONE:g}¢"
    if key in PERCENT_KEYS:
        return percent(number)
    return str(number)


def text_diff(name: str, before: str, after: str) -> list[str]:
    """Return the change of a prompt's text as the lines of a unified diff."""
    old_lines = before.splitlines()
    new_lines = after.splitlines()
    return list(unified_diff(old_lines, new_lines, f"{name} (before)", f"{name} (after)", lineterm=""))


def diff_data(changes: CohortChanges) -> dict[str, Any]:
    """Return the changes for JSON."""
    was, is_now = changes.config
    return {
        "same": not changes and not changes.not_compared,
        "config_hash": {"was": was or None, "is": is_now or None},
        "frozen": _changes_by_name_data(changes.parts),
        "prompts": changed_values_data(changes.prompts),
        "agents": {
            "added": _agents_data(changes.added),
            "removed": _agents_data(changes.removed),
            "changed": _changes_by_name_data(changes.changed),
            "reordered": changes.reordered,
        },
        "not_compared": changes.not_compared,
    }


def _changes_by_name_data(changes: Mapping[str, ChangedValues]) -> dict[str, Any]:
    """Return the changed values of each section or agent, for JSON."""
    return {name: changed_values_data(changed) for name, changed in changes.items()}


def _agents_data(agents: Iterable[Entrant]) -> list[dict[str, str]]:
    """Return the agents that joined or left, for JSON."""
    return [{"name": agent.name, "kind": agent.kind} for agent in agents]


def changed_values_data(changed: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the old and the new value of each key that changed, for JSON."""
    return {key: {"was": before, "is": after} for key, (before, after) in changed.items()}
