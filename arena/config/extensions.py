"""Kinds, venues and sources of evidence by name, from the package or from `extensions/`.

Blocks that belong to the venue or the source of their name, and the source of evidence in use.
"""

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

VENUES = "markets.venues"
RESEARCH = "agents.research"

Found = TypeVar("Found")


class NotAVenue(LookupError):
    """A file of that name is there, but it makes no venue."""


class NotASource(LookupError):
    """A file of that name is there, but it makes no source of evidence."""


def kind_named(document: Document, key: Key, name: str) -> AgentKind | None:
    """The kind of agent of that name, or None with the reason noted."""
    return named_extension(document, key, name, "kind", lambda: kind(name, folders_of(document, "kinds")))


def venue_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the venue of that name, or None with the reason noted."""
    return named_extension(document, key, name, "venue", lambda: _venue(name, folders_of(document, "venues")))


def source_named(document: Document, key: Key, name: str) -> ModuleType | None:
    """The module of the source of evidence of that name, or None with the reason noted."""
    return named_extension(
        document, key, name, "source", lambda: _source(name, folders_of(document, "research"))
    )


def venue_names(document: Document) -> list[str]:
    """The venues whose blocks may stand under `markets`, whichever of them is in use."""
    return _names_in(VENUES, document, "venues")


def source_names(document: Document) -> list[str]:
    """The sources whose blocks may stand under `evidence`, whichever of them is in use."""
    return _names_in(RESEARCH, document, "research")


def _names_in(package: str, document: Document, group: str) -> list[str]:
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


def folders_of(document: Document, group: str) -> tuple[Path, ...]:
    """Where extensions of a group are looked for beside the config."""
    return extension_folders(Path(document.file).parent, group)


def named_extension(
    document: Document, key: Key, name: str, noun: str, get: Callable[[], Found]
) -> Found | None:
    """What is there by that name, or None with the reason noted."""
    try:
        return get()
    except UnknownExtension as error:
        meant, words = suggestion(name, error.known)
        document.add(key, quoted_value(name), meant, f"there is no {noun} {quoted_value(name)}. {words}")
    except (NotAnAgentKind, NotAVenue, NotASource) as error:
        document.add(key, quoted_value(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        document.add(
            key, quoted_value(name), f"a {noun} that loads", f"{name} can't be loaded: {_brief(error)}"
        )
    return None


def _brief(error: Exception) -> str:
    lines = str(getattr(error, "strerror", None) or error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def evidence_settings(document: Document) -> BaseModel | None:
    """The settings of the source of evidence in use, from its block. The folders that it names are there."""
    name = document.get("evidence", "from") or NO_EVIDENCE
    module = source_named(document, ("evidence", "from"), name) if isinstance(name, str) else None
    if module is None:
        return None  # noted, here or with its section
    found = block_settings(document, ("evidence", name), module.Settings, {})
    for key, value in () if found is None else found:
        path = Path(document.file).parent / value if isinstance(value, Path) else None
        if path is not None and not path.exists():
            words = f"there is no {value} beside the config. Make it, or name another one"
            document.add(("evidence", name, key), str(value), "a file or folder that is there", words)
    return found


def block_settings(
    document: Document, key: Key, settings: type[BaseModel], inherited: dict[str, Any]
) -> BaseModel | None:
    """The settings of what a block belongs to."""
    block = document.get(*key)
    if not isinstance(block, dict | None):
        document.add(key, quoted_value(block), "a block of keys and values")
        return None
    return validate(settings, inherited | (block or {}), document, key)
