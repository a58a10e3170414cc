"""The prompts that a config's agents can use: what each asks for and shows, and its text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.prompts.dry_run import sample_prompt
from agents.prompts.include import BadInclude, WholeTemplate
from agents.prompts.template import BadTemplate, compile_template
from agents.registry import HOME, prompt_template
from arena.config.code import extension_folders
from arena.errors import ArenaError
from markets.registry import UnknownExtension, names

BLIND = "blind"
"""The prompt that shares its parts with others, and is never asked with prices."""
SHOWS = {"price": "prices", "history": "context", "evidence": "articles"}
"""What a template shows if it has such a name in it, in words."""


@dataclass(frozen=True, slots=True)
class PromptSummary:
    """A prompt: whether it asks for bets beside forecasts, what it shows, and what it is for.

    `bets` is None for one that can't be used.
    """

    name: str
    bets: bool | None
    shows: Sequence[str]
    about: str


def prompt_summaries(folder: Path) -> list[PromptSummary]:
    """Return summaries of every prompt, the arena's own and those beside a config in this folder."""
    every = names(HOME / "prompts", extension_folders(folder, "prompts"), ".md")
    return [_prompt_summary(folder, name) for name in every]


def _prompt_summary(folder: Path, name: str) -> PromptSummary:
    """Return what a prompt is for, what it asks for and what it shows."""
    text = _whole_prompt(folder, name).text
    about = ""
    if text.startswith("{#"):
        about = text.partition("#}")[0].removeprefix("{#").strip()
    try:
        template = compile_template(text)
    except BadTemplate as error:
        return PromptSummary(name, None, [], f"it can't be used: {error}")

    never_shown = {"price"} if name == BLIND else set()
    shown = [words for key, words in SHOWS.items() if key in template.names - never_shown]
    return PromptSummary(name, template.answer == "decision", shown, about)


def prompt_for_reader(folder: Path, name: str, rendered: bool) -> str:
    """Return a prompt as a cohort would freeze it, or as a model is asked by it on a sample round.

    Raise `ArenaError` if there is no such prompt, or if it is faulty.
    """
    whole = _whole_prompt(folder, name)
    if not rendered:
        return whole.text
    is_blind = name == BLIND
    try:
        prompt = sample_prompt(whole.text, stage="blind" if is_blind else "final", prices=not is_blind)
    except BadTemplate as error:
        file, line = whole.origin(error.line)
        message = f"{file.name}:{line}: {error.words}"
        raise ArenaError("bad_prompt", message, "arena check says more") from error
    return "\n\n".join(f"-- {message.role}\n{message.content}" for message in prompt.messages)


def _whole_prompt(folder: Path, name: str) -> WholeTemplate:
    """Return a prompt with all that it includes; raise `ArenaError` if it is missing or faulty."""
    try:
        return prompt_template(name, folder, extension_folders(folder, "prompts"))
    except UnknownExtension as error:
        message = f"there is no prompt {name!r}"
        if name.endswith(".md"):
            message = f"the file {name} does not exist"
        raise ArenaError("no_prompt", message, f"prompts: {', '.join(error.known)}") from error
    except BadInclude as error:
        raise ArenaError("bad_prompt", f"{error.file.name}:{error.line}: {error.words}") from error
