"""The code that a config can run: files of `extensions/`, functions and programs, read once and hashed."""

import ast
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel

from agents.model import KindSettings
from arena.errors import ArenaError
from markets.registry import ExtensionFolder

IMPORTABLE = (".py", ".pyc", ".pyd", ".so", ".zip")
"""The suffixes of files that Python can run or import."""


@dataclass(frozen=True, slots=True)
class CodeItem:
    """A file or a command line that may be run, with its content."""

    kind: Literal["file", "command"]
    name: str
    content: bytes = b""

    @property
    def hash(self) -> str:
        """Return the hash by which the item is trusted: over its kind, name and content."""
        name = os.fsencode(self.name)
        return sha256(b"%s\0%d\0%s%s" % (self.kind.encode(), len(name), name, self.content)).hexdigest()


@dataclass(frozen=True, slots=True)
class TrustedCode:
    """The sources and the command lines that this process may run."""

    sources: Mapping[Path, bytes] = field(default_factory=dict)
    commands: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FolderCode:
    """Everything that a config's folder could make the arena run, as it was read."""

    folder: Path
    items: tuple[CodeItem, ...]

    def trusted(self) -> TrustedCode:
        """Return this code as trusted."""
        sources = {self.folder / item.name: item.content for item in self.items if item.kind == "file"}
        commands = frozenset(item.name for item in self.items if item.kind == "command")
        return TrustedCode(sources, commands)


class UnloadedSettings(KindSettings):
    """The block of an agent whose kind is an extension that was not loaded: unchecked, as it was written."""

    unloaded: dict[str, Any]


class UnloadedAdapter(BaseModel):
    """The block of a venue or source that is an extension and was not loaded, and the venue's stamp."""

    unloaded: dict[str, Any]
    stamp: str = "live"


def stamp_in_source(path: Path) -> str:
    """Return the stamp that a venue's source assigns, without running it; `live` if none is found."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return "live"

    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
            continue
        if ast.unparse(statement.targets[0]) == "stamp":
            return str(statement.value.value)
    return "live"


def venue_stamp(module: ModuleType, settings: BaseModel) -> str:
    """Return the stamp of a venue: that of its settings if they have one, else its module's."""
    return str(getattr(settings, "stamp", module.stamp))


def extension_folders(
    folder: Path, group: str, code: TrustedCode | None = None
) -> tuple[ExtensionFolder, ...]:
    """Return `extensions/<group>` and `extensions`, beside the config, with the code that may run there."""
    sources = {} if code is None else code.sources
    extensions = folder / "extensions"
    return ExtensionFolder(extensions / group, sources), ExtensionFolder(extensions, sources)


def command_text(words: Any) -> str:
    """Return a command line as one text, or "" if the value isn't one."""
    is_list_of_texts = isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)
    if not is_list_of_texts or not words:
        return ""
    return json.dumps(list(words), ensure_ascii=False)


def read_code(folder: Path, config: Any) -> FolderCode:
    """Read everything that a config's folder could make the arena run.

    That is every importable file below `extensions/`, the modules that `function` keys name, the command
    lines of agents and heads, and the files of the folder that these name.
    """
    commands = list(_commands(config))
    names = {str(path.relative_to(folder)) for path in _importable_files(folder / "extensions")}
    names |= {f"{module}.py" for module in _function_modules(config)}
    for words in commands:
        names |= {os.path.normpath(word) for word in words if _names_file_inside(folder, word)}

    existing = [name for name in sorted(names) if (folder / name).is_file()]
    items = [CodeItem("file", name, _read(folder / name)) for name in existing]
    command_lines = set(map(command_text, commands))
    items += [CodeItem("command", line) for line in sorted(command_lines)]
    return FolderCode(folder, tuple(items))


def _importable_files(top: Path) -> Iterator[Path]:
    """Yield every file below a folder that Python can import, through links too, each folder once."""
    visited = set[str]()
    for name, subfolders, files in os.walk(top, followlinks=True):
        real_path = os.path.realpath(name)
        if real_path in visited:  # links may lead in a circle
            subfolders.clear()
            continue

        visited.add(real_path)
        for file in files:
            if file.endswith(IMPORTABLE):
                yield Path(name) / file


def _agent_blocks(config: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of agents in a config that was not checked yet."""
    blocks = config.get("agents") if isinstance(config, dict) else None
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict):
            yield block


def _commands(config: Any) -> Iterator[list[str]]:
    """Yield every command line of a config: those of agents, and the one that publishes heads."""
    commands = [agent.get("command") for agent in _agent_blocks(config)]
    if isinstance(config, dict):
        commands.append(config.get("heads"))

    for command in commands:
        if isinstance(command, list) and command_text(command):
            yield command


def _function_modules(config: Any) -> Iterator[str]:
    """Yield the modules beside the config that hold functions of agents."""
    for block in _agent_blocks(config):
        module = str(block.get("function", "")).partition(":")[0]
        if module.isidentifier():
            yield module


def _names_file_inside(folder: Path, word: str) -> bool:
    """Tell whether a word of a command line names a file in the config's folder."""
    if "\0" in word or Path(word).is_absolute() or os.path.normpath(word).startswith(".."):
        return False
    try:
        return (folder / word).is_file()
    except OSError:  # too long for a name
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path} can't be read: {error.strerror}"
        raise ArenaError("unreadable_extension", message, "make it readable, or move it away") from error
