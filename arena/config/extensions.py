"""Kinds, venues and sources of evidence by name, from the package or from `extensions/`, and their blocks."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from pydantic import BaseModel

from agents import registry
from agents.model import Given
from agents.registry import AgentKind, NotAnAgentKind, kind
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.model import AgentConfig, extension_folders
from arena.config.validation import validate
from arena.record.model.cohort import NO_EVIDENCE
from markets.registry import UnknownExtension, load, names

T = TypeVar("T")


class NotAnAdapter(LookupError):
    """A file of that name is there, but it makes no venue, or no source of evidence."""


def kind_named(document: Document, key: Key, name: str) -> AgentKind | None:
    """The kind of agent of that name, or None with the reason noted."""
    return named_extension(document, key, name, "kind", lambda: kind(name, folders_of(document, "kinds")))


def venue_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the venue of that name, or None with the reason noted."""
    get = partial(_adapter, "markets.venues", name, folders_of(document, "venues"), "venue", "venue")
    return named_extension(document, key, name, "venue", get)


def source_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the source of evidence of that name, or None with the reason noted."""
    get = partial(_adapter, "agents.research", name, folders_of(document, "research"), "source", "research")
    return named_extension(document, key, name, "source", get)


def _adapter(package: str, name: str, folders: tuple[Path, ...], noun: str, function: str) -> ModuleType:
    """A module that has settings, and a function that makes something of them."""
    module = load(package, name, folders)
    settings = getattr(module, "Settings", None)
    is_model = isinstance(settings, type) and issubclass(settings, BaseModel)
    if not is_model or not callable(getattr(module, function, None)):
        raise NotAnAdapter(f"{name}.py is no {noun}: it needs a class Settings and a function {function}")
    return module


def names_in(package: str, document: Document, group: str) -> list[str]:
    """The venues, or sources, whose blocks may stand in their section, whichever of them is in use."""
    home = Path(importlib.import_module(package).__path__[0])
    return names(home, folders_of(document, group)[:1])


def check_agent_files(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every file and every function that an agent could not use, before it would fail a turn."""
    folder = Path(document.file).parent
    given = Given(read=partial(registry.read_file, folder), load=partial(registry.load_module, folder))
    for place, agent in agents.items():
        for name, words in agent.settings.faults(given):
            value = document.get("agents", place, name)
            document.add(("agents", place, name), quoted_value(value), "what can be used", words)


def folders_of(document: Document, group: str) -> tuple[Path, ...]:
    """Where extensions of a group are looked for beside the config."""
    return extension_folders(Path(document.file).parent, group)


def named_extension(document: Document, key: Key, name: str, noun: str, get: Callable[[], T]) -> T | None:
    """What is there by that name, or None with the reason noted."""
    try:
        return get()
    except UnknownExtension as error:
        meant, words = suggestion(name, error.known)
        document.add(key, quoted_value(name), meant, f"there is no {noun} {quoted_value(name)}. {words}")
    except (NotAnAgentKind, NotAnAdapter) as error:
        document.add(key, quoted_value(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        lines = str(getattr(error, "strerror", None) or error).splitlines()
        brief = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        document.add(key, quoted_value(name), f"a {noun} that loads", f"{name} can't be loaded: {brief}")
    return None


def venue_settings(document: Document, seed: int) -> BaseModel | None:
    """The settings of the venue in use, from its block. A simulated world has the arena's seed by default."""
    name = document.get("markets", "venue")
    module = venue_named(document, ("markets", "venue"), name) if isinstance(name, str) else None
    if module is None:
        return None  # noted, here or with its section
    inherited = {"seed": seed} if "seed" in module.Settings.model_fields else {}
    return _block_settings(document, ("markets", name), module.Settings, inherited)


def evidence_settings(document: Document) -> BaseModel | None:
    """The settings of the source of evidence in use, from its block. The folders that it names are there."""
    name = document.get("evidence", "from") or NO_EVIDENCE
    module = source_named(document, ("evidence", "from"), name) if isinstance(name, str) else None
    if module is None:
        return None  # noted, here or with its section
    settings = _block_settings(document, ("evidence", name), module.Settings, {})
    for key, value in () if settings is None else settings:
        path = Path(document.file).parent / value if isinstance(value, Path) else None
        if path is not None and not path.exists():
            words = f"there is no {value} beside the config. Make it, or name another one"
            document.add(("evidence", name, key), str(value), "a file or folder that is there", words)
    return settings


def _block_settings(
    document: Document, key: Key, settings: type[BaseModel], inherited: dict[str, Any]
) -> BaseModel | None:
    block = document.get(*key)
    if not isinstance(block, dict | None):
        document.add(key, quoted_value(block), "a block of keys and values")
        return None
    return validate(settings, inherited | (block or {}), document, key)
