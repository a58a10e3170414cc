"""A folder is a registry: an extension is a file, and its name in the config is its file name."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

PYTHON_ONLY: dict[str, Any] = {"python_only": True}
"""Marks, as a field's `json_schema_extra`, a setting that is given in Python and is no key of a config."""


class UnknownExtension(LookupError):
    """No file of that name in any of the folders looked at."""

    def __init__(self, name: str, known: list[str]):
        super().__init__(f"no {name!r} here; known are {', '.join(known)}")
        self.name, self.known = name, known


class UntrustedExtension(LookupError):
    """A file of that name is there, but its code may not be run."""

    def __init__(self, path: Path):
        super().__init__(f"{path} is not trusted, so it was not run: look at it, then run `arena check`")
        self.path = path


@dataclass(frozen=True, slots=True)
class ExtensionFolder:
    """A folder beside the config, and the Python sources that may be run, by their paths.

    The sources were read when they were trusted. What the files hold by now is not looked at again.
    """

    path: Path
    sources: Mapping[Path, bytes] = field(default_factory=dict)


def names(home: Path, extra: Iterable[ExtensionFolder] = (), suffix: str = ".py") -> list[str]:
    """Return the sorted names to be had from a package's own folder and the extra ones."""
    folders = [home, *(folder.path for folder in extra)]
    stems = {path.stem for folder in folders for path in folder.glob(f"*{suffix}")}
    return sorted(name for name in stems if not name.startswith("_"))


def find(home: Path, name: str, extra: Iterable[ExtensionFolder] = (), suffix: str = ".py") -> Path:
    """Return the file of that name; the package's own folder comes first."""
    extra = tuple(extra)
    known = names(home, extra, suffix)
    folders = [home, *(folder.path for folder in extra)]
    for folder in folders if name in known else ():
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path

    raise UnknownExtension(name, known)


def load(package: str, name: str, extra: Iterable[ExtensionFolder] = ()) -> ModuleType:
    """Return the module of that name from a package, or from one of the extra folders.

    Raises UntrustedExtension where only the extra folders have it and its source may not be run.
    """
    home = Path(importlib.import_module(package).__path__[0])
    extra = tuple(extra)
    path = find(home, name, extra)
    if path.parent == home:
        return importlib.import_module(f"{package}.{name}")

    folder = next(folder for folder in extra if folder.path == path.parent)
    return load_source(path, folder.sources)


def load_source(path: Path, sources: Mapping[Path, bytes]) -> ModuleType:
    """Return the module made from a trusted source.

    The file is not opened, and no compiled copy in `__pycache__` is used: what runs is what was trusted.
    """
    source = sources.get(path)
    if source is None:
        raise UntrustedExtension(path)

    name = f"arena_extension_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{path} can't be loaded as Python")

    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks annotations up in the module's own namespace
    exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102 - trusted before
    return module
