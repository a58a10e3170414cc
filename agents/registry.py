"""Kinds and prompts by name: a file in the folder here, or in a folder beside the config."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.model import Agent, Given, Settings
from markets.registry import UnknownExtension, find, load, names

HOME = Path(__file__).parent


class NotAKind(LookupError):
    """A file of that name is there, but it makes no agents."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of agent: what its block in the config may hold, and how one is made from that."""

    name: str
    page: str
    settings: type[Settings]
    agent: Callable[[Any, Given], Agent]


def kinds(extra: Iterable[Path] = ()) -> list[str]:
    """The names of all kinds."""
    return names(HOME / "kinds", extra)


def kind(name: str, extra: Iterable[Path] = ()) -> Kind:
    """The kind of that name."""
    module = load("agents.kinds", name, extra)
    settings, agent = getattr(module, "Settings", None), getattr(module, "agent", None)
    if not (isinstance(settings, type) and issubclass(settings, Settings) and callable(agent)):
        raise NotAKind(f"{name}.py is no kind of agent: it needs a class Settings and a function agent")
    return Kind(name, (module.__doc__ or "").strip(), settings, agent)


def sources(settings: Settings) -> tuple[str, ...]:
    """The agents whose stated forecasts an agent needs: the names in its `of`."""
    of = getattr(settings, "of", ())
    return (of,) if isinstance(of, str) else tuple(of)


def prompt_names(settings: Settings) -> tuple[str, ...]:
    """The prompts that an agent looks up in `Given.prompts`."""
    return tuple(getattr(settings, "prompt_names", ()))


def prompt_path(name: str, folder: Path, extra: Iterable[Path] = ()) -> Path:
    """The file of the template of that name; a name that ends in .md is a path from the config's folder."""
    if not name.endswith(".md"):
        return find(HOME / "prompts", name, extra, ".md")
    path = folder / name
    if not path.is_file():
        raise UnknownExtension(name, names(HOME / "prompts", extra, ".md"))
    return path


def prompt_text(name: str, folder: Path, extra: Iterable[Path] = ()) -> str:
    """The template of that name."""
    return prompt_path(name, folder, extra).read_text(encoding="utf-8")
