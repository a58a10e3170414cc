"""What a config names: kinds and prompts, here or beside it, and files and modules beside it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.model import Agent, Ask, Given, Settings, Unreadable
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
    """A file of that name is there, but it makes no agents."""


@dataclass(frozen=True, slots=True)
class AgentKind:
    """A kind of agent: what its block in the config may hold, and how one is made from that.

    One that `looks_outside` may know more when it answers than what it was shown. `ask` is what it asks in
    place of a model, where it has something to ask; the answers are kept like a model's.
    """

    name: str
    page: str
    settings: type[Settings]
    agent: Callable[[Any, Given], Agent]
    looks_outside: bool
    ask: Callable[[Any, Given], Ask] | None = None


def kinds(extra: Iterable[ExtensionFolder] = ()) -> list[str]:
    """The names of all kinds."""
    return names(HOME / "kinds", extra)


def kind(name: str, extra: Iterable[ExtensionFolder] = ()) -> AgentKind:
    """The kind of that name."""
    module = load("agents.kinds", name, extra)
    settings, agent = getattr(module, "Settings", None), getattr(module, "agent", None)
    if not (isinstance(settings, type) and issubclass(settings, Settings) and callable(agent)):
        raise NotAnAgentKind(
            f"{name}.py is not an agent kind: it needs a class Settings and a function agent"
        )
    looks_outside = getattr(module, "LOOKS_OUTSIDE", module.__name__ != f"agents.kinds.{name}")
    page, ask = (module.__doc__ or "").strip(), getattr(module, "ask", None)
    return AgentKind(name, page, settings, agent, looks_outside, ask)


def agents_needed(settings: Settings) -> tuple[str, ...]:
    """The agents whose stated forecasts an agent needs: the names in its `of`."""
    of = getattr(settings, "of", ())
    return (of,) if isinstance(of, str) else tuple(of)


def prompt_names(settings: Settings) -> tuple[str, ...]:
    """The prompts that an agent looks up in `Given.prompts`."""
    return tuple(getattr(settings, "prompt_names", ()))


def prompt_path(name: str, folder: Path, extra: Iterable[ExtensionFolder] = ()) -> Path:
    """The file of the template of that name; a name that ends in .md is a path from the config's folder."""
    if not name.endswith(".md"):
        return find(HOME / "prompts", name, extra, ".md")
    path = folder / name
    if not path.is_file():
        raise UnknownExtension(name, names(HOME / "prompts", extra, ".md"))
    return path


def prompt_template(name: str, folder: Path, extra: Iterable[ExtensionFolder] = ()) -> WholeTemplate:
    """The template of that name, with the parts that it includes."""
    folders = tuple(extra)
    return whole_template(prompt_path(name, folder, folders), lambda part: _part_path(part, folder, folders))


def prompt_text(name: str, folder: Path, extra: Iterable[ExtensionFolder] = ()) -> str:
    """Its text."""
    return prompt_template(name, folder, extra).text


def _part_path(name: str, folder: Path, extra: Iterable[ExtensionFolder]) -> Path:
    """The file of a part: named as prompts are, but never from outside of the config's folder."""
    if name.endswith(".md"):
        paths = [folder / name]
        if not paths[0].resolve().is_relative_to(folder.resolve()):
            raise LookupError("it lies outside of the config's folder")
    else:
        homes = [HOME / "prompts", *(folder.path for folder in extra)]
        paths = [home / f"{name}.md" for home in homes if Path(name).name == name]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise LookupError("there is no such file")
    return path


def read_file(folder: Path, name: str) -> str:
    """The text of a file; its path starts from the config's folder."""
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
    """Return the module of that name in the config's folder, or in `extensions/` there, if it is trusted."""
    paths = [folder / f"{name}.py", folder / "extensions" / f"{name}.py"]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        words = f"there is no {name}.py next to the config or in its extensions/"
        raise Unreadable(f"{words}. Put the function there, or name another module")
    try:
        return load_source(path, sources)
    except UntrustedExtension as error:
        raise Unreadable(str(error)) from error
    except (Exception, SystemExit) as error:
        raise Unreadable(f"{name}.py can't be loaded: {type(error).__name__}: {error}. Fix it") from error
