"""Kinds, venues and prompts by name, from the package or from `extensions/` beside the config."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pydantic import BaseModel

from agents.registry import Kind, NotAKind, kind, prompt_names, prompt_text
from arena.config.document import Document
from arena.config.errors import Key, shown, suggestion
from arena.config.model import AgentConfig, extension_folders
from markets.registry import UnknownExtension, load, names

VENUES = "markets.venues"
MOST_PROMPT = 100_000

Found = TypeVar("Found")


class NotAVenue(LookupError):
    """A file of that name is there, but it makes no venue."""


def kind_named(document: Document, key: Key, name: str) -> Kind | None:
    """The kind of agent of that name, or None with the reason noted."""
    return _named(document, key, name, "kind", lambda: kind(name, _folders(document, "kinds")))


def venue_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the venue of that name, or None with the reason noted."""
    return _named(document, key, name, "venue", lambda: _venue(name, _folders(document, "venues")))


def venue_names(document: Document) -> list[str]:
    """The venues whose blocks may stand under `markets`, whichever of them is in use."""
    home = Path(importlib.import_module(VENUES).__path__[0])
    return names(home, _folders(document, "venues")[:1])


def read_prompts(document: Document, agents: Mapping[int, AgentConfig]) -> dict[str, str]:
    """The text of every prompt that the agents use, by the name that they use for it."""
    texts: dict[str, str] = {}
    for place, agent in agents.items():
        keys: tuple[Key, ...] = (("agents", place, "prompt"), ("ask", "prompt"))
        key = next((key for key in keys if key in document.lines), ("agents", place))
        for name in prompt_names(agent.settings):
            if name not in texts:
                texts[name] = _prompt(document, key, name)
    return texts


def _prompt(document: Document, key: Key, name: str) -> str:
    folder, extra = Path(document.file).parent, _folders(document, "prompts")
    text = _named(document, key, name, "prompt", lambda: prompt_text(name, folder, extra))
    if text is not None and not 0 < len(text.strip()) <= MOST_PROMPT:
        document.add(key, f"{len(text):,} characters", f"a prompt of 1 to {MOST_PROMPT:,} characters")
    return text or ""


def _venue(name: str, extra: tuple[Path, ...]) -> ModuleType:
    module = load(VENUES, name, extra)
    settings, venue = getattr(module, "Settings", None), getattr(module, "venue", None)
    if not (isinstance(settings, type) and issubclass(settings, BaseModel) and callable(venue)):
        raise NotAVenue(f"{name}.py is no venue: it needs a class Settings and a function venue")
    return module


def _folders(document: Document, group: str) -> tuple[Path, ...]:
    return extension_folders(Path(document.file).parent, group)


def _named(document: Document, key: Key, name: str, noun: str, get: Callable[[], Found]) -> Found | None:
    try:
        return get()
    except UnknownExtension as error:
        meant, words = suggestion(name, error.known)
        document.add(key, shown(name), meant, f"there is no {noun} {shown(name)}. {words}")
    except (NotAKind, NotAVenue) as error:
        document.add(key, shown(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        document.add(key, shown(name), f"a {noun} that loads", f"{name} can't be loaded: {_brief(error)}")
    return None


def _brief(error: Exception) -> str:
    lines = str(getattr(error, "strerror", None) or error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
