"""A folder is a registry: an extension is a file, and its name in the config is its file name."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
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


def names(home: Path, extra: Iterable[Path] = (), suffix: str = ".py") -> list[str]:
    """The names to be had from a package's own folder and the extra ones, sorted."""
    stems = {path.stem for folder in (home, *extra) for path in folder.glob(f"*{suffix}")}
    return sorted(name for name in stems if not name.startswith("_"))


def find(home: Path, name: str, extra: Iterable[Path] = (), suffix: str = ".py") -> Path:
    """The file of that name; the package's own folder comes first."""
    extra = tuple(extra)
    if name in names(home, extra, suffix):
        return next(p for f in (home, *extra) if (p := f / f"{name}{suffix}").is_file())
    raise UnknownExtension(name, names(home, extra, suffix))


def load(package: str, name: str, extra: Iterable[Path] = ()) -> ModuleType:
    """The module of that name from a package, or from one of the extra folders."""
    home = Path(importlib.import_module(package).__path__[0])
    path = find(home, name, extra)
    if path.parent == home:
        return importlib.import_module(f"{package}.{name}")
    return load_file(path)


def load_file(path: Path) -> ModuleType:
    """The module in a file, wherever it lies."""
    spec = importlib.util.spec_from_file_location(f"arena_extension_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} can't be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks annotations up in the module's own namespace
    spec.loader.exec_module(module)
    return module
