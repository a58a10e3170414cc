"""Kinds, venues and sources of evidence by name, from the package or from `extensions/`."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pydantic import BaseModel

from agents import beside
from agents.model import Given
from agents.registry import Kind, NotAKind, kind
from arena.config.document import Document
from arena.config.errors import Key, shown, suggestion
from arena.config.model import AgentConfig, extension_folders
from markets.registry import UnknownExtension, load, names

VENUES = "markets.venues"
RESEARCH = "agents.research"

Found = TypeVar("Found")


class NotAVenue(LookupError):
    """A file of that name is there, but it makes no venue."""


class NotASource(LookupError):
    """A file of that name is there, but it makes no source of evidence."""


def kind_named(document: Document, key: Key, name: str) -> Kind | None:
    """The kind of agent of that name, or None with the reason noted."""
    return named(document, key, name, "kind", lambda: kind(name, folders(document, "kinds")))


def venue_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the venue of that name, or None with the reason noted."""
    return named(document, key, name, "venue", lambda: _venue(name, folders(document, "venues")))


def source_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the source of evidence of that name, or None with the reason noted."""
    return named(document, key, name, "source", lambda: _source(name, folders(document, "research")))


def venue_names(document: Document) -> list[str]:
    """The venues whose blocks may stand under `markets`, whichever of them is in use."""
    return _names_in(VENUES, document, "venues")


def source_names(document: Document) -> list[str]:
    """The sources whose blocks may stand under `evidence`, whichever of them is in use."""
    return _names_in(RESEARCH, document, "research")


def _names_in(package: str, document: Document, group: str) -> list[str]:
    home = Path(importlib.import_module(package).__path__[0])
    return names(home, folders(document, group)[:1])


def check_beside(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every file and every function that an agent could not use, before it would fail a turn."""
    folder = Path(document.file).parent
    given = Given(read=partial(beside.read, folder), load=partial(beside.load, folder))
    for place, agent in agents.items():
        for name, words in agent.settings.faults(given):
            value = document.get("agents", place, name)
            document.add(("agents", place, name), shown(value), "what can be used", words)


def _venue(name: str, extra: tuple[Path, ...]) -> ModuleType:
    module = load(VENUES, name, extra)
    if not _makes(module, "venue"):
        raise NotAVenue(f"{name}.py is no venue: it needs a class Settings and a function venue")
    return module


def _source(name: str, extra: tuple[Path, ...]) -> ModuleType:
    module = load(RESEARCH, name, extra)
    if not _makes(module, "research"):
        raise NotASource(f"{name}.py is no source: it needs a class Settings and a function research")
    return module


def _makes(module: ModuleType, what: str) -> bool:
    """Whether a module has settings, and a function that makes something of them."""
    settings = getattr(module, "Settings", None)
    is_model = isinstance(settings, type) and issubclass(settings, BaseModel)
    return is_model and callable(getattr(module, what, None))


def folders(document: Document, group: str) -> tuple[Path, ...]:
    """Where extensions of a group are looked for beside the config."""
    return extension_folders(Path(document.file).parent, group)


def named(document: Document, key: Key, name: str, noun: str, get: Callable[[], Found]) -> Found | None:
    """What is there by that name, or None with the reason noted."""
    try:
        return get()
    except UnknownExtension as error:
        meant, words = suggestion(name, error.known)
        document.add(key, shown(name), meant, f"there is no {noun} {shown(name)}. {words}")
    except (NotAKind, NotAVenue, NotASource) as error:
        document.add(key, shown(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        document.add(key, shown(name), f"a {noun} that loads", f"{name} can't be loaded: {_brief(error)}")
    return None


def _brief(error: Exception) -> str:
    lines = str(getattr(error, "strerror", None) or error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
