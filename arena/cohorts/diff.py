"""What changed from one cohort to another: rules, markets, evidence, prompts, and how agents are set up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from agents.registry import kind, prompt_names
from agents.secrets import without_credentials
from arena.record.model.calendar import written_duration
from arena.record.model.cohort import Cohort, Entrant
from markets.millionths import ONE
from markets.registry import ExtensionFolder
from portfolio.money import dollars, percent

PROMPT_TEXT_KEY = "text of "
"""Goes before the name of a prompt whose words were changed."""


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """An entrant as a cohort has frozen it; `prompts` are the hashes of the texts that it is asked by."""

    kind: str
    settings: Mapping[str, Any]
    prompts: Mapping[str, str]


def agent_setup(cohort: Cohort, entrant: Entrant, extra: Iterable[ExtensionFolder] = ()) -> AgentSetup:
    """How an entrant of a cohort is set up; kinds are also looked for in the extra folders."""
    named, prompts = _prompt_names(entrant, extra), {**cohort.prompts, **entrant.prompts}
    settings = without_credentials(entrant.settings)
    return AgentSetup(entrant.kind, settings, {x: prompts[x] for x in named if x in prompts})


def _prompt_names(entrant: Entrant, extra: Iterable[ExtensionFolder]) -> tuple[str, ...]:
    """The prompts that an entrant uses, as its kind says; where that is gone, those its settings name."""
    try:
        settings = kind(entrant.kind, extra).settings
        return prompt_names(settings.model_validate(entrant.settings))
    except Exception:  # noqa: BLE001 - a kind is anyone's file: it may be gone, broken or another by now
        return tuple(value for value in entrant.settings.values() if isinstance(value, str))


def setup_differences(before: AgentSetup, after: AgentSetup) -> dict[str, tuple[Any, Any]]:
    """What is not the same, by key, as it was and as it is; None for what is not there.

    >>> setup_differences(AgentSetup("constant", {"p": 0.5}, {}), AgentSetup("constant", {"p": 0.6}, {}))
    {'p': (0.5, 0.6)}
    """
    return _changed_values(_flat(before), _flat(after))


def setting_in_words(key: str, was: Any, now: Any) -> str:
    """A difference in a few words.

    >>> setting_in_words("p", 0.5, None), setting_in_words("text of bet", "9f…", "1a…")
    ('p: not set, was 0.5', 'text of bet: edited')
    """
    if key.startswith(PROMPT_TEXT_KEY):
        return f"{key}: " + ("edited" if was and now else "in use" if now else "no longer in use")
    after, before = ("not set" if value is None else setting_text(value) for value in (now, was))
    return f"{key}: {after}, was {before}"


def setting_text(value: Any) -> str:
    """An agent's setting as people write it.

    >>> setting_text(6.0), setting_text({"input": 1.0, "output": 4}), setting_text(["a", True])
    ('6', 'input 1, output 4', 'a, yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {setting_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _flat(setup: AgentSetup) -> dict[str, Any]:
    """All of it by key. Texts of prompts only count under one name: another name is a change by itself."""
    texts = {f"{PROMPT_TEXT_KEY}{name}": digest for name, digest in setup.prompts.items()}
    return {"kind": setup.kind, **setup.settings, **texts}


ChangedValues = Mapping[str, tuple[Any, Any]]
"""What is not the same, by key: as it was and as it is, None for what is not there."""

PERCENT_KEYS = ("max_bet", "min_coverage", "max_of_volume", "max_of_volume_cohort")
MONEY_KEYS = ("bankroll", "min_bet", "min_volume", "min_depth", "min_volume_24h", "min_liquidity")
PRICE_KEYS = ("worst_price", "max_spread", "max_gap", "min_price", "max_price")
TIME_KEYS = ("closes_within", "closes_after", "max_quote_age")


@dataclass(frozen=True, slots=True)
class CohortChanges:
    """From one cohort to another. `parts` has what was frozen beside prompts and agents, by its section.

    `edited` are the prompts that have other words under the same name. `reordered` is whether those who are
    in both line-ups stand in another order.
    """

    config: tuple[str, str]
    parts: Mapping[str, ChangedValues]
    prompts: ChangedValues
    added: tuple[Entrant, ...]
    removed: tuple[Entrant, ...]
    changed: Mapping[str, ChangedValues]
    reordered: bool

    @property
    def edited(self) -> tuple[str, ...]:
        """Prompts whose words are others under the same name."""
        return tuple(name for name, (was, now) in self.prompts.items() if was and now)

    def __bool__(self) -> bool:
        """Whether anything that is played by is another."""
        return bool(
            self.parts or self.prompts or self.added or self.removed or self.changed or self.reordered
        )


def cohort_changes(before: Cohort, after: Cohort, extra: Iterable[ExtensionFolder] = ()) -> CohortChanges:
    """What changed from one cohort to another; kinds are also looked for in the extra folders.

    Number, start and seed are each cohort's own.
    """
    old, new = _parts(before), _parts(after)
    parts = {section: _changed_values(old[section], new[section]) for section in old}
    was, now = ({entrant.name: entrant for entrant in cohort.entrants} for cohort in (before, after))
    folders = tuple(extra)
    setups: dict[str, tuple[AgentSetup, AgentSetup]] = {
        name: (agent_setup(before, was[name], folders), agent_setup(after, now[name], folders))
        for name in was
        if name in now
    }
    changed = {name: setup_differences(*pair) for name, pair in setups.items()}
    return CohortChanges(
        (before.config_hash, after.config_hash),
        {section: moved for section, moved in parts.items() if moved},
        _changed_values(before.prompts, after.prompts),
        tuple(entrant for name, entrant in now.items() if name not in was),
        tuple(entrant for name, entrant in was.items() if name not in now),
        {name: moved for name, moved in changed.items() if moved},
        [name for name in was if name in now] != [name for name in now if name in was],
    )


def _parts(cohort: Cohort) -> dict[str, Mapping[str, Any]]:
    """All that a cohort froze beside its prompts and agents, by section."""
    guard = cohort.guard.model_dump(mode="json")
    return {
        "cohort": {"rounds": cohort.rounds, "decide": str(cohort.cadence), "bankroll": cohort.bankroll},
        "rules": cohort.rules.model_dump(mode="json"),
        "universe": cohort.universe.model_dump(mode="json"),
        "venue": {"venue": cohort.venue, "stamp": cohort.stamp, **without_credentials(cohort.venue_settings)},
        "scores": {"min_coverage": cohort.min_coverage},
        "evidence": {"from": cohort.evidence, **without_credentials(cohort.evidence_settings), **guard},
    }


def _changed_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (old.get(key), new.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)}


def changes_in_words(changes: CohortChanges) -> list[str]:
    """The changes, a line each: who came and went, who is set up in another way, then what is played by."""
    lines = [f"+ {_named(entrant)}" for entrant in changes.added]
    lines += [f"- {_named(entrant)}" for entrant in changes.removed]
    for name, moved in changes.changed.items():
        own = [
            setting_in_words(key, *each)
            for key, each in moved.items()
            if not (key.startswith(PROMPT_TEXT_KEY) and all(each))
        ]
        lines += [f"{name}: {'; '.join(own)}"] if own else []
    lines += ["the order of the agents has changed"] if changes.reordered else []
    lines += [f"prompt {name}: edited" for name in changes.edited]
    for section, moved in changes.parts.items():
        lines.append(f"{section}: " + "; ".join(_in_words(key, *each) for key, each in moved.items()))
    return lines


def _named(entrant: Entrant) -> str:
    of = entrant.settings.get("of") or ()
    what = entrant.settings.get("model") or ", ".join([of] if isinstance(of, str) else of)
    return f"{entrant.name} ({entrant.kind}{f' {what}' if what and what != entrant.name else ''})"


def _in_words(key: str, was: Any, now: Any) -> str:
    before, after = (value_in_words(key, value) for value in (was, now))
    return f"{key.replace('_', ' ')} {after}, was {before}"


def value_in_words(key: str, value: Any) -> str:
    """A frozen value as people say it.

    >>> value_in_words("max_bet", 250_000), value_in_words("closes_after", 60), value_in_words("show", None)
    ('25%', '1m', 'not set')
    >>> value_in_words("context", {"history": True, "past": False})
    'history yes; past no'
    """
    if value is None or isinstance(value, bool):
        return {None: "not set", True: "yes", False: "no"}[value]
    as_text = _number_format(key) if isinstance(value, int) else None
    if as_text is not None:
        return as_text(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{each} {value_in_words(each, one)}" for each, one in value.items()) or "none"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)


def _number_format(key: str) -> Callable[[int], str] | None:
    if key in MONEY_KEYS:
        return dollars
    if key in TIME_KEYS:
        return written_duration
    if key in PRICE_KEYS:
        return lambda value: f"{100 * value / ONE:g}¢"
    return percent if key in PERCENT_KEYS else None


def text_diff(name: str, before: str, after: str) -> list[str]:
    """How the words of a prompt changed, as a unified diff."""
    old, new = (text.splitlines() for text in (before, after))
    return list(unified_diff(old, new, f"{name} (before)", f"{name} (after)", lineterm=""))
