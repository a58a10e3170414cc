"""Loads the plug-ins that a config names, from the package or `extensions/`, and reads their settings."""

import importlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which
from types import ModuleType
from typing import Any, TypeVar

from pydantic import BaseModel

import markets
from agents import registry
from agents.model import Agent, Given, Unreadable
from agents.prompts.include import BadInclude
from agents.registry import AgentKind, NotAnAgentKind, kind
from arena.config.code import (
    UnloadedAdapter,
    UnloadedSettings,
    command_text,
    extension_folders,
    stamp_in_source,
)
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.model import AgentConfig
from arena.config.validation import validate
from arena.record.model.cohort import NO_EVIDENCE
from markets.registry import ExtensionFolder, UnknownExtension, UntrustedExtension, load, names

T = TypeVar("T")

OWN_FILES = {
    "kind": ("kinds", registry.HOME / "kinds", ".py"),
    "prompt": ("prompts", registry.HOME / "prompts", ".md"),
    "source": ("research", registry.HOME / "research", ".py"),
    "tool": ("tools", registry.HOME / "tools", ".py"),
    "venue": ("venues", Path(markets.__file__).with_name("venues"), ".py"),
}
"""The folder of `extensions/`, the package's own folder and the suffix of each noun of messages."""


class NotAnAdapter(LookupError):
    """There is a file of that name, but it does not define a venue or a source."""


def kind_named(document: Document, key: Key, name: str) -> AgentKind | None:
    """Return the kind of agent of that name; None, with the mistake noted, if it can't be loaded.

    If the config is only read, an extension is not loaded, and its block is not checked.
    """

    def load_kind() -> AgentKind:
        try:
            return kind(name, folders_of(document, "kinds"))
        except UntrustedExtension:
            if document.code is not None:
                raise
            return AgentKind(name, "", UnloadedSettings, _unloaded_agent, looks_outside=True)

    return named_extension(document, key, name, "kind", load_kind)


def _unloaded_agent(_settings: Any, _given: Given) -> Agent:
    """Raise `Unreadable`, because the extension was not loaded."""
    raise Unreadable("the config was only read, so its extensions were not loaded")


@dataclass(frozen=True, slots=True)
class AdapterChoice:
    """A section of the config that chooses one of several adapters, and may have a block for each of them.

    `chooser` is the key with the name. An adapter is a file in `package`, or in the folder `group` of
    `extensions/`, with a class `Settings` and a function named `function`. `noun` is what messages call it.
    """

    section: str
    chooser: str
    package: str
    group: str
    noun: str
    function: str
    usual: str | None = None

    def chosen(self, document: Document) -> Any:
        """Return the name in the config, or the default."""
        return document.get(self.section, self.chooser) or self.usual

    def load(self, name: str, document: Document) -> ModuleType:
        """Return the module of an adapter. Raise `NotAnAdapter` if it lacks what an adapter needs."""
        module = load(self.package, name, folders_of(document, self.group))
        settings = getattr(module, "Settings", None)
        is_model = isinstance(settings, type) and issubclass(settings, BaseModel)
        if not is_model or not callable(getattr(module, self.function, None)):
            needs = f"it needs a class Settings and a function {self.function}"
            raise NotAnAdapter(f"{name}.py is not a {self.noun}: {needs}")
        return module

    def names(self, document: Document | None = None) -> list[str]:
        """Return the names of all adapters, which are also the keys of their blocks in the section.

        Those of extensions are left out without a document.
        """
        home = Path(importlib.import_module(self.package).__path__[0])
        if document is None:
            return names(home)
        return names(home, folders_of(document, self.group)[:1])

    def own_keys(self, document: Document) -> dict[Key, Collection[str]]:
        """Return the keys of the adapter in use, by the key of its block; none of an extension."""
        chosen = self.chosen(document)
        if chosen not in self.names():
            return {}

        settings = self.load(chosen, document).Settings
        return {(self.section, chosen): settings.model_fields}

    def settings(self, document: Document, **inherited: Any) -> BaseModel | None:
        """Return the settings of the adapter in use; None, with the mistakes noted, if they are wrong.

        The blocks of other adapters are checked too.
        """
        chosen = self.chosen(document)
        for name in self.names(document):
            if name != chosen and document.get(self.section, name) is not None:
                # Only for the mistakes that it notes.
                self._settings_of(name, document, **inherited)

        if not isinstance(chosen, str):
            return None  # the check of the section notes it
        return self._settings_of(chosen, document, **inherited)

    def _settings_of(self, name: str, document: Document, **inherited: Any) -> BaseModel | None:
        """Return the settings in an adapter's block, with the inherited values that the block leaves out."""
        key = (self.section, name)
        block = document.get(*key)

        def load_adapter() -> ModuleType | UnloadedAdapter:
            try:
                return self.load(name, document)
            except UntrustedExtension as error:
                if document.code is not None:
                    raise
                values = block if isinstance(block, dict) else {}
                return UnloadedAdapter(unloaded=values, stamp=stamp_in_source(error.path))

        adapter = named_extension(document, (self.section, self.chooser), name, self.noun, load_adapter)
        if adapter is None:
            return None
        if not isinstance(block, dict | None):
            document.add_error(key, quoted_value(block), "a block of keys and values")
            return None
        if isinstance(adapter, UnloadedAdapter):
            return adapter

        fields = adapter.Settings.model_fields
        values = {field: value for field, value in inherited.items() if field in fields}
        return validate(adapter.Settings, values | (block or {}), document, key)


VENUES = AdapterChoice("markets", "venue", "markets.venues", "venues", "venue", "venue")
SOURCES = AdapterChoice("evidence", "from", "agents.research", "research", "source", "research", NO_EVIDENCE)


def check_agent_files(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every file, function and program of an agent that could not be used in its turns."""
    folder = Path(document.file).parent
    sources = {} if document.code is None else document.code.sources
    read = partial(registry.read_file, folder)
    load = partial(registry.load_module, folder, sources)
    given = Given(read=read, load=load, has_program=lambda name: which(name) is not None)

    for index, agent in agents.items():
        for setting, message in agent.settings.faults(given):
            value = document.get("agents", index, setting)
            document.add_error(("agents", index, setting), quoted_value(value), "what can be used", message)


def check_commands(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note every command line of an agent that is not trusted, unless the config is only read."""
    if document.code is None:
        return

    for index, agent in agents.items():
        line = command_text(getattr(agent.settings, "command", ()))
        if line and line not in document.code.commands:
            message = f"the command {line} is not trusted. Look at it, run `arena check`, and start again"
            document.add_error(("agents", index, "command"), line, "a command that is trusted", message)


def folders_of(document: Document, group: str) -> tuple[ExtensionFolder, ...]:
    """Return the folders beside the config in which extensions of a group are looked for."""
    return extension_folders(Path(document.file).parent, group, document.code)


def named_extension(
    document: Document, key: Key, name: str, noun: str, load_extension: Callable[[], T]
) -> T | None:
    """Return what is loaded; None, with the mistake noted, if the extension can't be loaded."""
    _note_unused(document, key, name, noun)
    try:
        return load_extension()
    except UnknownExtension as error:
        meant, hint = suggestion(name, error.known)
        if noun == "prompt" and name.endswith(".md"):
            remedy = hint if meant in error.known else "Create it, or name another"
            message = f"the file {name} does not exist next to the config. {remedy}"
            document.add_error(key, quoted_value(name), meant, message)
            return None
        document.add_error(key, quoted_value(name), meant, f"there is no {noun} {quoted_value(name)}. {hint}")
    except BadInclude:  # it knows its file and line
        raise
    except (NotAnAgentKind, NotAnAdapter) as error:
        document.add_error(key, quoted_value(name), f"a {noun}", str(error))
    except Exception as error:  # noqa: BLE001 - an extension is anyone's file and may fail in any way
        reason = type(error).__name__
        lines = str(getattr(error, "strerror", None) or error).splitlines()
        if lines:
            reason += f": {lines[0]}"
        document.add_error(
            key, quoted_value(name), f"a {noun} that loads", f"{name} can't be loaded: {reason}"
        )
    return None


def _note_unused(document: Document, key: Key, name: str, noun: str) -> None:
    """Note a file beside the config that nothing would use, because the package's own has its name."""
    extensions_folder, own_folder, suffix = OWN_FILES[noun]
    file = f"{name}{suffix}"
    if document.code is None or not (own_folder / file).is_file():
        return

    folder = Path(document.file).parent
    unused_places = [f"extensions/{extensions_folder}/{file}"]
    if noun == "kind" and not _is_function_file(document, name):
        unused_places.append(f"extensions/{file}")
    for place in unused_places:
        if (folder / place).is_file():
            message = f"{place} is never used, because {name} is a {noun} of the arena's own. Rename the file"
            document.add_error(key, quoted_value(name), "the name of one file alone", message)


def _is_function_file(document: Document, name: str) -> bool:
    """Tell whether an agent's function is in the file of that name."""
    blocks = document.get("agents")
    functions = [str(block.get("function")) for block in blocks if isinstance(block, dict)]
    return any(function.partition(":")[0] == name for function in functions)


def evidence_settings(document: Document) -> BaseModel | None:
    """Return the settings of the source of evidence in use. Note the files and folders that are missing."""
    settings = SOURCES.settings(document)
    if settings is None:
        return None

    for name, value in settings:
        if isinstance(value, Path) and not (Path(document.file).parent / value).exists():
            key = ("evidence", document.get("evidence", "from"), name)
            message = f"there is no {value} next to the config. Create it, or name another"
            document.add_error(key, str(value), "an existing file or folder", message)
    return settings
