"""Finds and reads the prompts that a config's agents use, and tries them out before play."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
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
STANDARD = "bet"
WITHOUT_MARKET = "forecast"
"""The standard prompt, and what it is where nobody can bet."""
NAMING = ("prompt", "system")
"""The keys that name a prompt."""
PRICE_NAMES = {"price", "history", "shares", "worth", "total"}
"""Names in a template for a price, or for something that shows one."""


def without_bets(agents: Mapping[int, AgentConfig]) -> dict[int, AgentConfig]:
    """Return the agents with the standard prompt that asks for no bets, in place of the one that does."""
    changed = dict(agents)

    for index, agent in agents.items():
        if getattr(agent.settings, "prompt", "") == STANDARD:
            settings = agent.settings.model_copy(update={"prompt": WITHOUT_MARKET})
            changed[index] = replace(agent, settings=settings)

    return changed


def read_prompts(
    document: Document, agents: Mapping[int, AgentConfig], markets: int, money: bool = True
) -> dict[str, str]:
    """Return the texts of all prompts that agents use, by their names. Note those with a fault.

    Each is tried out on a made-up round of so many markets, with prices or without, as agents will use it,
    and without `money` where there is no market.
    """
    texts: dict[str, str] = {}
    tried = set[tuple[str, bool]]()

    for index, agent in agents.items():
        settings = agent.settings
        for name in prompt_names(settings):
            key = _key_naming_prompt(document, index, name)
            if name not in texts:
                texts[name] = _prompt_text(document, key, name)

            # With `after` a second question shows prices; the system's message never does.
            prices = getattr(settings, "prices", "shown")
            is_prompt = name == getattr(settings, "prompt", name)
            with_prices = prices == "shown" or (prices == "after" and is_prompt)
            is_unusable = not texts[name]
            if is_unusable or (name, with_prices) in tried:
                continue

            tried.add((name, with_prices))
            sample_markets = min(markets, MOST_MARKETS)
            fault = template_fault(texts[name], prices=with_prices, markets=sample_markets, money=money)
            if fault is not None:
                _note_template_fault(document, key, name, fault)

    return texts


def hide_unshown_prices(
    document: Document, agents: Mapping[int, AgentConfig], texts: Mapping[str, str]
) -> dict[int, AgentConfig]:
    """Return the agents with `prices: hidden` where their prompt shows none.

    Note the agents for which the config asks for prices all the same.
    """
    changed = dict(agents)

    for index, agent in agents.items():
        settings = agent.settings
        text = texts.get(getattr(settings, "prompt", ""), "")
        prices = getattr(settings, "prices", "hidden")
        if prices == "hidden" or not text or _shows_prices(text):
            continue

        if "prices" not in settings.model_fields_set:
            hidden = settings.model_copy(update={"prices": "hidden"})
            changed[index] = replace(agent, settings=hidden)
            continue

        key: Key = ("agents", index, "prices")
        if document.get(*key) is None:
            key = ("ask", "prices")
        message = (
            f"the prompt of {agent.name} shows no prices, so `prices: {prices}` can't be kept. Remove it, "
            "or take a prompt that shows them, such as bet or scratchpad_with_price"
        )
        document.add_error(key, quoted_value(prices), "hidden", message)

    return changed


def _shows_prices(text: str) -> bool:
    """Tell whether a template shows a price."""
    try:
        return bool(PRICE_NAMES & compile_template(text).names)
    except BadTemplate:  # which was noted
        return True


def _key_naming_prompt(document: Document, index: int, name: str) -> Key:
    """Return the key that names a prompt, in the agent's block or in `ask`; else the agent's block."""
    agent: Key = ("agents", index)
    for block in (agent, ("ask",)):
        for setting in NAMING:
            if document.get(*block, setting) == name:
                return (*block, setting)
    return agent


def _prompt_text(document: Document, key: Key, name: str) -> str:
    """Return the text of a prompt; empty, with the mistake noted, if it can't be used."""
    folder = Path(document.file).parent
    fault = ""
    if name.endswith(".md") and not (folder / name).resolve().is_relative_to(folder.resolve()):
        fault = "lies outside of the config's folder"
    elif Path(name).name.startswith("-"):
        fault = "looks like an option"
    if fault:
        remedy = "Put it into the folder, by another name if need be"
        message = f"the prompt {quoted_value(name)} {fault}. {remedy}"
        document.add_error(key, quoted_value(name), "a prompt in the config's folder", message)
        return ""

    try:
        whole = named_extension(document, key, name, "prompt", partial(_whole_prompt, document, name))
    except BadInclude as error:
        message = f"{_shown_path(document, error.file)}:{error.line}: {error.words}"
        document.add_error(key, quoted_value(name), "a prompt whose parts exist", message)
        return ""

    if whole is None:
        return ""
    text = whole.text
    if not text.strip() or len(text.strip()) > MOST_PROMPT:
        document.add_error(key, f"{len(text):,} characters", f"a prompt of 1 to {MOST_PROMPT:,} characters")
        return ""
    return text


def _whole_prompt(document: Document, name: str) -> WholeTemplate:
    """Return a prompt with the parts that it includes."""
    return prompt_template(name, Path(document.file).parent, folders_of(document, "prompts"))


def _note_template_fault(document: Document, key: Key, name: str, fault: TemplateFault) -> None:
    """Note what is wrong with a prompt, with its file and line, at the key that names it."""
    file, line = _whole_prompt(document, name).origin(fault.line)
    message = f"{_shown_path(document, file)}:{line}: {fault.words}"
    if not fault.name:
        document.add_error(key, fault.words, "a valid template", message)
        return

    meant, hint = suggestion(fault.name, fault.known)
    document.add_error(key, fault.name, meant, f"{message}. {hint}")


def _shown_path(document: Document, path: Path) -> Path:
    """Return the path of a file relative to the config's folder, or only the name of a packaged file."""
    folder = Path(document.file).parent
    if path.is_relative_to(folder):
        return path.relative_to(folder)
    return Path(path.name)
