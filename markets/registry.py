"""Plug-ins by file name: a folder is a registry, and a plug-in's name in the config is its file's name.

`load("markets.venues", "kalshi")` imports `markets/venues/kalshi.py`. With `ExtensionFolder`s beside the
config, files there are found too, after those of the package, and run only if their source is trusted. What a
plug-in must define is in the docstring of its folder's `__init__.py`.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

PYTHON_ONLY: dict[str, Any] = {"python_only": True}
"""Marks a field, by its `json_schema_extra`, as a setting for Python code: it is no key of the config."""


EXTENSION = "arena_extension_"
"""How the names of modules begin that were loaded from beside the config."""


class UnknownExtension(LookupError):
    """There is no plug-in of that name; `known` has the names that there are."""

    def __init__(self, name: str, known: list[str]):
        super().__init__(f"no {name!r} here; known are {', '.join(known)}")
        self.name = name
        self.known = known


class UntrustedExtension(LookupError):
    """There is a file of that name, but its code is not trusted."""

    def __init__(self, path: Path):
        super().__init__(f"{path} is not trusted, so it was not run: look at it, then run `arena check`")
        self.path = path


@dataclass(frozen=True, slots=True)
class ExtensionFolder:
    """A folder of plug-ins beside the config, and the trusted Python sources by their paths.

    The sources were read when they were trusted; the files are not read again.
    """

    path: Path
    sources: Mapping[Path, bytes] = field(default_factory=dict)


def names(home: Path, extra: Iterable[ExtensionFolder] = (), suffix: str = ".py") -> list[str]:
    """Return the sorted names of the plug-ins in a package's own folder and in the extra ones."""
    stems = set[str]()
    for folder in _paths(home, extra):
        stems.update(path.stem for path in folder.glob(f"*{suffix}"))

    return sorted(stem for stem in stems if not stem.startswith("_"))


def find(home: Path, name: str, extra: Iterable[ExtensionFolder] = (), suffix: str = ".py") -> Path:
    """Return the file of a plug-in, from the package's own folder before the extra ones.

    Raises `UnknownExtension` if there is none.
    """
    extra = tuple(extra)
    known_names = names(home, extra, suffix)
    if name not in known_names:
        raise UnknownExtension(name, known_names)

    for folder in _paths(home, extra):
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path

    raise UnknownExtension(name, known_names)


def _paths(home: Path, extra: Iterable[ExtensionFolder]) -> list[Path]:
    """Return the folders to look in, the package's own first."""
    return [home, *(folder.path for folder in extra)]


def load(package: str, name: str, extra: Iterable[ExtensionFolder] = ()) -> ModuleType:
    """Return the module of a plug-in, from a package or from one of the extra folders.

    Raises `UnknownExtension`, or `UntrustedExtension` if it is in an extra folder and is not trusted.
    """
    home = Path(importlib.import_module(package).__path__[0])
    extra = tuple(extra)
    path = find(home, name, extra)
    if path.parent == home:
        return importlib.import_module(f"{package}.{name}")

    folder = next(folder for folder in extra if folder.path == path.parent)
    return load_source(path, folder.sources)


def load_source(path: Path, sources: Mapping[Path, bytes]) -> ModuleType:
    """Return the module made from a trusted source. Raise `UntrustedExtension` if the file is not trusted.

    Neither the file nor a compiled copy in `__pycache__` is read: what runs is what was trusted.
    """
    source = sources.get(path)
    if source is None:
        raise UntrustedExtension(path)

    name = f"{EXTENSION}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{path} can't be loaded as Python")

    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic resolves annotations in it
    exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102 - trusted before
    return module


def is_extension(module: ModuleType) -> bool:
    """Tell whether a module was loaded from beside the config."""
    return module.__name__.startswith(EXTENSION)
