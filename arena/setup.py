"""How an agent is set up: its kind, its settings, the texts of its prompts; and what was changed in that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.registry import kind, prompt_names
from arena.model import Cohort, Entrant

TEXT_OF = "text of "
"""Goes before the name of a prompt whose words were changed."""


@dataclass(frozen=True, slots=True)
class Setup:
    """An entrant as a cohort has frozen it; `prompts` are the hashes of the texts that it is asked by."""

    kind: str
    settings: Mapping[str, Any]
    prompts: Mapping[str, str]


def setup_of(cohort: Cohort, entrant: Entrant, extra: Iterable[Path] = ()) -> Setup:
    """How an entrant of a cohort is set up; kinds are also looked for in the extra folders."""
    named = _prompt_names(entrant, extra)
    return Setup(entrant.kind, entrant.settings, {x: cohort.prompts[x] for x in named if x in cohort.prompts})


def _prompt_names(entrant: Entrant, extra: Iterable[Path]) -> tuple[str, ...]:
    """The prompts that an entrant uses, as its kind says; where that is gone, those its settings name."""
    try:
        found = kind(entrant.kind, extra)
        return prompt_names(found.settings.model_validate(entrant.settings))
    except Exception:  # noqa: BLE001 - a kind is anyone's file: it may be gone, broken or another by now
        return tuple(value for value in entrant.settings.values() if isinstance(value, str))


def differences(before: Setup, after: Setup) -> dict[str, tuple[Any, Any]]:
    """What is not the same, by key, as it was and as it is; None for what is not there.

    >>> differences(Setup("constant", {"p": 0.5}, {}), Setup("constant", {"p": 0.6}, {}))
    {'p': (0.5, 0.6)}
    """
    old, new = _flat(before), _flat(after)
    return {key: (old.get(key), new.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)}


def in_words(key: str, was: Any, now: Any) -> str:
    """A difference in a few words.

    >>> in_words("p", 0.5, None), in_words("text of bet", "9f…", "1a…")
    ('p: not set, was 0.5', 'text of bet: edited')
    """
    if key.startswith(TEXT_OF):
        return f"{key}: " + ("edited" if was and now else "in use" if now else "no longer in use")
    after, before = ("not set" if value is None else value for value in (now, was))
    return f"{key}: {after}, was {before}"


def _flat(setup: Setup) -> dict[str, Any]:
    """All of it by key. Texts of prompts only count under one name: another name is a change by itself."""
    texts = {f"{TEXT_OF}{name}": digest for name, digest in setup.prompts.items()}
    return {"kind": setup.kind, **setup.settings, **texts}
