"""The prompts that a config's agents use: found, read, and tried out before anyone plays."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agents.prompts.dry_run import TemplateFault, template_fault
from agents.prompts.include import BadInclude, WholeTemplate
from agents.prompts.template import BadTemplate, compile_template
from agents.registry import prompt_names, prompt_template
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.extensions import folders_of, named_extension
from arena.config.model import AgentConfig

MOST_PROMPT = 100_000
MOST_MARKETS = 1_000
NAMING = ("prompt", "system")
"""The keys that name a prompt."""
TELLING = {"price", "history", "shares", "worth", "total"}
"""The names of what tells a template's reader a price."""


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
            shown = getattr(agent.settings, "prices", "shown")  # "after": not in the first question
            after = shown == "after" and name == getattr(agent.settings, "prompt", name)
            way = (name, after or shown == "shown")
            if texts[name] and way not in tried:
                tried.add(way)
                bad = template_fault(texts[name], prices=way[1], markets=min(markets, MOST_MARKETS))
                if bad is not None:
                    _note(document, key, name, bad)
    return texts


def fit_prices(
    document: Document, agents: Mapping[int, AgentConfig], texts: Mapping[str, str]
) -> dict[int, AgentConfig]:
    """The agents with `prices` as their prompts have them: one that shows none hides them from its model.

    Where the config asks for prices all the same, that is noted.
    """
    fitted = dict(agents)
    for place, agent in agents.items():
        settings, text = agent.settings, texts.get(getattr(agent.settings, "prompt", ""), "")
        wanted = getattr(settings, "prices", "hidden")
        if wanted == "hidden" or not text or _shows_prices(text):
            continue
        if "prices" not in settings.model_fields_set:
            hidden = settings.model_copy(update={"prices": "hidden"})
            fitted[place] = replace(agent, settings=hidden)
            continue
        key: Key = ("agents", place, "prices")
        key = key if document.get(*key) is not None else ("ask", "prices")
        words = (
            f"the prompt of {agent.name} shows no prices, so `prices: {wanted}` can't be kept. Remove it, "
            "or take a prompt that shows them, such as bet or scratchpad_with_price"
        )
        document.add(key, quoted_value(wanted), "hidden", words)
    return fitted


def _shows_prices(text: str) -> bool:
    """Whether a template has a place for a price; one that can't be used, which was noted, may have any."""
    try:
        return bool(TELLING & compile_template(text).names)
    except BadTemplate:
        return True


def _key(document: Document, place: int, name: str) -> Key:
    """Where the config names the prompt: in the agent's block or in `ask`; else the block that implies it."""
    for block in (("agents", place), ("ask",)):
        for word in NAMING:
            if document.get(*block, word) == name:
                return (*block, word)
    return ("agents", place)


def _text(document: Document, key: Key, name: str) -> str:
    folder = Path(document.file).parent
    outside = name.endswith(".md") and not (folder / name).resolve().is_relative_to(folder.resolve())
    if outside or Path(name).name.startswith("-"):
        why = "lies outside of the config's folder" if outside else "looks like an option"
        words = f"the prompt {quoted_value(name)} {why}. Put it into the folder, by another name if need be"
        document.add(key, quoted_value(name), "a prompt in the config's folder", words)
        return ""
    try:
        whole = named_extension(document, key, name, "prompt", lambda: _template(document, name))
    except BadInclude as error:
        words = f"{_shown_path(document, error.file)}:{error.line}: {error.words}"
        document.add(key, quoted_value(name), "a prompt whose parts exist", words)
        return ""
    if whole is None:
        return ""
    text = whole.text
    if 0 < len(text.strip()) <= MOST_PROMPT:
        return text
    document.add(key, f"{len(text):,} characters", f"a prompt of 1 to {MOST_PROMPT:,} characters")
    return ""


def _template(document: Document, name: str) -> WholeTemplate:
    return prompt_template(name, Path(document.file).parent, folders_of(document, "prompts"))


def _note(document: Document, key: Key, name: str, bad: TemplateFault) -> None:
    """What is wrong with a prompt, with its file and line, at the key that names it."""
    file, line = _template(document, name).origin(bad.line)
    meant, hint = suggestion(bad.name, bad.known) if bad.name else ("a valid template", "")
    words = f"{bad.words}. {hint}" if hint else bad.words
    document.add(key, bad.name or bad.words, meant, f"{_shown_path(document, file)}:{line}: {words}")


def _shown_path(document: Document, path: Path) -> Path:
    """A file as it is named from the config's folder; one of the arena's own by its name."""
    folder = Path(document.file).parent
    return path.relative_to(folder) if path.is_relative_to(folder) else Path(path.name)
