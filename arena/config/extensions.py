"""Kinds, venues and sources of evidence by name, from the package or from `extensions/`, and their blocks."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which
from types import ModuleType
from typing import Any, TypeVar

from pydantic import BaseModel

from agents import registry
from agents.model import Agent, Given, Unreadable
from agents.prompts.include import BadInclude
from agents.registry import AgentKind, NotAnAgentKind, kind
from arena.config.code import (
    UnloadedAdapter,
    UnloadedSettings,
    command_text,
    extension_folders,
    unloaded_stamp,
)
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.model import AgentConfig
from arena.config.validation import validate
from arena.record.model.cohort import NO_EVIDENCE
from markets.registry import ExtensionFolder, UnknownExtension, UntrustedExtension, load, names

T = TypeVar("T")


class NotAnAdapter(LookupError):
    """A file of that name is there, but it makes no venue, or no source of evidence."""


def kind_named(document: Document, key: Key, name: str) -> AgentKind | None:
    """Return the kind of agent of that name, or None with the reason noted.

    An extension is not loaded where the config is only read: its block is then taken as it is.
    """

    def get() -> AgentKind:
        try:
            return kind(name, folders_of(document, "kinds"))
        except UntrustedExtension:
            if document.code is not None:
                raise
            return AgentKind(name, "", UnloadedSettings, _unloaded_agent, looks_outside=True)

    return named_extension(document, key, name, "kind", get)


def _unloaded_agent(_settings: Any, _given: Given) -> Agent:
    raise Unreadable("the config was only read, so its extensions were not loaded")


@dataclass(frozen=True, slots=True)
class AdapterChoice:
    """A section that names one of several adapters, and may hold a block of settings for each of them."""

    section: str
    chooser: str
    package: str
    group: str
    noun: str
    function: str
    usual: str | None = None

    def chosen(self, document: Document) -> Any:
        """What the config names, or the usual one."""
        return document.get(self.section, self.chooser) or self.usual

    def load(self, name: str, document: Document) -> ModuleType:
        """Return the module of that name, with settings, and a function that makes something of them."""
        module = load(self.package, name, folders_of(document, self.group))
        settings = getattr(module, "Settings", None)
        is_model = isinstance(settings, type) and issubclass(settings, BaseModel)
        if not is_model or not callable(getattr(module, self.function, None)):
            words = f"it needs a class Settings and a function {self.function}"
            raise NotAnAdapter(f"{name}.py is not a {self.noun}: {words}")
        return module

    def names(self, document: Document | None = None) -> list[str]:
        """The adapters whose blocks may stand in the section, whichever of them is in use."""
        home = Path(importlib.import_module(self.package).__path__[0])
        return names(home, folders_of(document, self.group)[:1] if document else ())

    def settings(self, document: Document, **inherited: Any) -> BaseModel | None:
        """The settings of the adapter in use. The blocks of others are read for their mistakes."""
        chosen = self.chosen(document)
        for name in self.names(document):
            if name != chosen and document.get(self.section, name) is not None:
                self._settings_of(name, document, **inherited)
        # What is no name is noted with its section.
        return self._settings_of(chosen, document, **inherited) if isinstance(chosen, str) else None

    def _settings_of(self, name: str, document: Document, **inherited: Any) -> BaseModel | None:
        """The settings in an adapter's block, and where that is silent what is inherited."""
        key = (self.section, name)
        block = document.get(*key)

        def get() -> ModuleType | UnloadedAdapter:
            try:
                return self.load(name, document)
            except UntrustedExtension as error:
                if document.code is not None:
                    raise
                written = block if isinstance(block, dict) else {}
                return UnloadedAdapter(unloaded=written, stamp=unloaded_stamp(error.path))

        module = named_extension(document, (self.section, self.chooser), name, self.noun, get)
        if module is None:
            return None
        if not isinstance(block, dict | None):
            document.add(key, quoted_value(block), "a block of keys and values")
            return None
        if isinstance(module, UnloadedAdapter):
            return module
        known = {name: value for name, value in inherited.items() if name in module.Settings.model_fields}
        return validate(module.Settings, known | (block or {}), document, key)


VENUES = AdapterChoice("markets", "venue", "markets.venues", "venues", "venue", "venue")
SOURCES = AdapterChoice("evidence", "from", "agents.research", "research", "source", "research", NO_EVIDENCE)


def check_agent_files(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every file and every function that an agent could not use, before it would fail a turn."""
    folder = Path(document.file).parent
    sources = {} if document.code is None else document.code.sources
    read = partial(registry.read_file, folder)
    load = partial(registry.load_module, folder, sources)
    given = Given(read=read, load=load, has_program=lambda name: which(name) is not None)
    for place, agent in agents.items():
        for name, words in agent.settings.faults(given):
            value = document.get("agents", place, name)
            document.add(("agents", place, name), quoted_value(value), "what can be used", words)


def check_commands(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every command line that was not trusted when this process began; none where it only reads."""
    if document.code is None:
        return
    trusted = document.code.commands
    for place, agent in agents.items():
        line = command_text(getattr(agent.settings, "command", ()))
        if line and line not in trusted:
            words = f"the command {line} is not trusted. Look at it, run `arena check`, and start again"
            document.add(("agents", place, "command"), line, "a command that is trusted", words)


def folders_of(document: Document, group: str) -> tuple[ExtensionFolder, ...]:
    """Return where extensions of a group are looked for beside the config."""
    return extension_folders(Path(document.file).parent, group, document.code)


def named_extension(document: Document, key: Key, name: str, noun: str, get: Callable[[], T]) -> T | None:
    """What is there by that name, or None with the reason noted."""
    try:
        return get()
    except UnknownExtension as error:
        meant, words = suggestion(name, error.known)
        document.add(key, quoted_value(name), meant, f"there is no {noun} {quoted_value(name)}. {words}")
    except BadInclude:  # it knows its file and line
        raise
    except (NotAnAgentKind, NotAnAdapter) as error:
        document.add(key, quoted_value(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        lines = str(getattr(error, "strerror", None) or error).splitlines()
        brief = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        document.add(key, quoted_value(name), f"a {noun} that loads", f"{name} can't be loaded: {brief}")
    return None


def evidence_settings(document: Document) -> BaseModel | None:
    """The settings of the source of evidence in use. The folders that it names are there."""
    settings = SOURCES.settings(document)
    for key, value in () if settings is None else settings:
        path = Path(document.file).parent / value if isinstance(value, Path) else None
        if path is not None and not path.exists():
            words = f"there is no {value} next to the config. Create it, or name another"
            place = ("evidence", document.get("evidence", "from"), key)
            document.add(place, str(value), "an existing file or folder", words)
    return settings
