"""Finds what a config names: kinds and prompts, of the package or beside the config, and files beside it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.model import Agent, Ask, Given, KindSettings, Unreadable
from agents.prompts.include import WholeTemplate, whole_template
from markets.registry import (
    ExtensionFolder,
    UnknownExtension,
    UntrustedExtension,
    find,
    load,
    load_source,
    names,
)

HOME = Path(__file__).parent
MOST_BYTES = 10_000_000


class NotAnAgentKind(LookupError):
    """There is a file of that name, but it does not define a kind of agent."""


@dataclass(frozen=True, slots=True)
class AgentKind:
    """A kind of agent: the settings in its block of the config, and the function that makes an agent of them.

    `page` is its documentation. An agent that `looks_outside` may know more when it answers than it was
    shown. `ask` makes what it asks in place of a model, such as a program; answers are stored like a model's.
    """

    name: str
    page: str
    settings: type[KindSettings]
    agent: Callable[[Any, Given], Agent]
    looks_outside: bool
    ask: Callable[[Any, Given], Ask] | None = None


def kinds(extra: Iterable[ExtensionFolder] = ()) -> list[str]:
    """Return the names of all kinds."""
    return names(HOME / "kinds", extra)


def kind(name: str, extra: Iterable[ExtensionFolder] = ()) -> AgentKind:
    """Return the kind of that name. Raise `NotAnAgentKind` if its file lacks what a kind needs.

    An extension looks outside unless it says otherwise.
    """
    module = load("agents.kinds", name, extra)
    settings = getattr(module, "Settings", None)
    agent = getattr(module, "agent", None)
    if not (isinstance(settings, type) and issubclass(settings, KindSettings) and callable(agent)):
        raise NotAnAgentKind(
            f"{name}.py is not an agent kind: it needs a class Settings and a function agent"
        )

    is_extension = module.__name__ != f"agents.kinds.{name}"
    looks_outside = getattr(module, "LOOKS_OUTSIDE", is_extension)
    page = (module.__doc__ or "").strip()
    return AgentKind(name, page, settings, agent, looks_outside, getattr(module, "ask", None))


def agents_needed(settings: KindSettings) -> tuple[str, ...]:
    """Return the names of the agents whose forecasts an agent uses: those in its `of`."""
    of = getattr(settings, "of", ())
    if isinstance(of, str):
        return (of,)
    return tuple(of)


def prompt_names(settings: KindSettings) -> tuple[str, ...]:
    """Return the names of the prompts that an agent uses."""
    return tuple(getattr(settings, "prompt_names", ()))


def prompt_path(name: str, folder: Path, extra: Iterable[ExtensionFolder]) -> Path:
    """Return the file of a template. A name that ends in .md is a path from the config's folder.

    Raises `UnknownExtension` if there is none, for a path with those of the files beside it.
    """
    if not name.endswith(".md"):
        return find(HOME / "prompts", name, extra, ".md")

    path = folder / name
    if not path.is_file():
        start = name.removesuffix(path.name)
        beside = [start + other.name for other in sorted(path.parent.glob("*.md"))]
        raise UnknownExtension(name, beside)
    return path


def prompt_template(name: str, folder: Path, extra: Iterable[ExtensionFolder]) -> WholeTemplate:
    """Return the template of that name, with the parts that it includes."""
    folders = tuple(extra)
    return whole_template(prompt_path(name, folder, folders), lambda part: _part_path(part, folder, folders))


def prompt_text(name: str, folder: Path, extra: Iterable[ExtensionFolder] = ()) -> str:
    """Return the text of the template of that name, with the parts that it includes."""
    return prompt_template(name, folder, extra).text


def _part_path(name: str, folder: Path, extra: Iterable[ExtensionFolder]) -> Path:
    """Return the file of a part, which is named like a prompt. Raise `LookupError` if there is none.

    A path may not lead out of the config's folder.
    """
    paths = list[Path]()
    if name.endswith(".md"):
        paths.append(folder / name)
        if not paths[0].resolve().is_relative_to(folder.resolve()):
            raise LookupError("it lies outside of the config's folder")
    elif Path(name).name == name:
        homes = [HOME / "prompts", *(folder.path for folder in extra)]
        paths.extend(home / f"{name}.md" for home in homes)

    for path in paths:
        if path.is_file():
            return path

    raise LookupError("there is no such file")


def read_file(folder: Path, name: str) -> str:
    """Return the text of a file in the config's folder. Raise `Unreadable` if it can't be read."""
    path = folder / name
    if not path.is_file():
        raise Unreadable(f"there is no file {name} next to the config. Put it there, or name another")

    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{name} can't be read: {error.strerror}. Make it readable") from error

    if len(data) > MOST_BYTES:
        raise Unreadable(f"{name} has more than {MOST_BYTES:,} bytes. Remove old rows")

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{name}:{line}: not UTF-8 text. Save the file as UTF-8") from error


def load_module(folder: Path, sources: Mapping[Path, bytes], name: str) -> ModuleType:
    """Return the module of that name in the config's folder, or in `extensions/` there.

    Raises `Unreadable` if it is not there, not trusted or can't be loaded.
    """
    path = folder / f"{name}.py"
    if not path.is_file():
        path = folder / "extensions" / f"{name}.py"
    if not path.is_file():
        place = f"there is no {name}.py next to the config or in its extensions/"
        raise Unreadable(f"{place}. Put the function there, or name another module")

    try:
        return load_source(path, sources)
    except UntrustedExtension as error:
        raise Unreadable(str(error)) from error
    except (Exception, SystemExit) as error:
        raise Unreadable(f"{name}.py can't be loaded: {type(error).__name__}: {error}. Fix it") from error
