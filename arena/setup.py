"""How an agent is set up: its kind, its settings, the texts of its prompts; and what was changed in that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.kinds.llm import BLIND
from arena.model import Cohort, Entrant

TEXT_OF = "text of "
"""Goes before the name of a prompt whose words were changed."""


@dataclass(frozen=True, slots=True)
class Setup:
    """An entrant as a cohort has frozen it; `prompts` are the hashes of the texts that it is asked by."""

    kind: str
    settings: Mapping[str, Any]
    prompts: Mapping[str, str]


def setup_of(cohort: Cohort, entrant: Entrant) -> Setup:
    """How an entrant of a cohort is set up."""
    named = [value for value in entrant.settings.values() if isinstance(value, str)]
    if entrant.settings.get("prices") == "after":
        named.append(BLIND)
    return Setup(entrant.kind, entrant.settings, {x: cohort.prompts[x] for x in named if x in cohort.prompts})


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
