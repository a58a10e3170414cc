"""The prompts that a config's agents use: found, read, and tried out before anyone plays."""

from collections.abc import Mapping
from pathlib import Path

from agents.prompts.dry_run import TemplateFault, template_fault
from agents.registry import prompt_names, prompt_path, prompt_text
from arena.config.document import Document
from arena.config.errors import Key, suggestion
from arena.config.extensions import folders_of, named_extension
from arena.config.model import AgentConfig

MOST_PROMPT = 100_000
MOST_MARKETS = 1_000
NAMING = ("prompt", "system")
"""The keys that name a prompt."""


def read_prompts(document: Document, agents: Mapping[int, AgentConfig], markets: int) -> dict[str, str]:
    """The text of every prompt that the agents use, by the name that they use for it.

    Each is tried out on a made-up round of so many markets, with prices or without, as it will be used.
    """
    texts: dict[str, str] = {}
    tried: set[tuple[str, bool]] = set()
    for place, agent in agents.items():
        for name in prompt_names(agent.settings):
            key = _key(document, place, name)
            if name not in texts:
                texts[name] = _text(document, key, name)
            way = (name, _sees_prices(agent, name))
            if texts[name] and way not in tried:
                tried.add(way)
                bad = template_fault(texts[name], prices=way[1], markets=min(markets, MOST_MARKETS))
                if bad is not None:
                    _note(document, key, name, bad)
    return texts


def _key(document: Document, place: int, name: str) -> Key:
    """Where the config names the prompt: in the agent's block or in `ask`; else the block that implies it."""
    for block in (("agents", place), ("ask",)):
        for word in NAMING:
            if document.get(*block, word) == name:
                return (*block, word)
    return ("agents", place)


def _sees_prices(agent: AgentConfig, name: str) -> bool:
    """Where prices come after, the first question is another prompt, and has none."""
    shown = getattr(agent.settings, "prices", "shown")
    return shown == "shown" or (shown == "after" and name == getattr(agent.settings, "prompt", name))


def _text(document: Document, key: Key, name: str) -> str:
    folder, extra = Path(document.file).parent, folders_of(document, "prompts")
    text = named_extension(document, key, name, "prompt", lambda: prompt_text(name, folder, extra))
    if text is None:
        return ""
    if 0 < len(text.strip()) <= MOST_PROMPT:
        return text
    document.add(key, f"{len(text):,} characters", f"a prompt of 1 to {MOST_PROMPT:,} characters")
    return ""


def _note(document: Document, key: Key, name: str, bad: TemplateFault) -> None:
    """What is wrong with a prompt, with its file and line, at the key that names it."""
    folder = Path(document.file).parent
    path = prompt_path(name, folder, folders_of(document, "prompts"))
    file = path.relative_to(folder) if path.is_relative_to(folder) else Path(path.name)
    meant, hint = suggestion(bad.name, bad.known) if bad.name else ("a valid template", "")
    words = f"{bad.words}. {hint}" if hint else bad.words
    document.add(key, bad.name or bad.words, meant, f"{file}:{bad.line}: {words}")
