"""The folders whose own code may run, by path and content, in a file in the user's config folder."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from arena.config.code import FolderCode
from arena.errors import ArenaError

VARIABLE = "ARENA_TRUST_EXTENSIONS"
"""The variable that names folders, separated as in PATH, whose code and that of folders below may be run."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class _TrustFile:
    """The content of the file: its version, and the trusted hashes by folder."""

    version: Literal[1]
    folders: dict[str, list[str]]


def trust_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the trust file, which need not exist."""
    config_home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not config_home.is_absolute():
        config_home = Path(environ.get("HOME") or "/nonexistent") / ".config"
    return config_home / "paper-arena" / "trusted.json"


def is_trusted(code: FolderCode, environ: Mapping[str, str]) -> bool:
    """Tell whether all code of a folder is trusted, at this path and with this content."""
    if not code.items:
        return True

    folder = code.folder.resolve()
    for name in environ.get(VARIABLE, "").split(os.pathsep):
        if Path(name).is_absolute() and folder.is_relative_to(Path(name).resolve()):
            return True

    hashes = _read_trusted_hashes(trust_file(environ)).get(str(folder), [])
    return {item.hash for item in code.items} <= set(hashes)


def trust(code: FolderCode, environ: Mapping[str, str]) -> None:
    """Trust the code of a folder as it is now, in addition to what was trusted there before.

    The file is replaced in one step, and only its owner can read or write it.
    """
    file = trust_file(environ)
    folders = _read_trusted_hashes(file)
    folder = str(code.folder.resolve())
    hashes = {item.hash for item in code.items}
    folders[folder] = sorted(hashes.union(folders.get(folder, [])))

    text = json.dumps({"version": VERSION, "folders": folders}, indent=1, sort_keys=True)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".trusted-", dir=file.parent)  # only its owner can read it
        with os.fdopen(descriptor, "w", encoding="utf-8") as new_file:
            new_file.write(f"{text}\n")
            new_file.flush()
            os.fsync(new_file.fileno())
        Path(name).replace(file)
    except OSError as error:
        message = f"{file} can't be written: {error.strerror}"
        hint = f"make it writable, or name the folder in {VARIABLE}={folder}"
        raise ArenaError("trust_not_kept", message, hint) from error


def _read_trusted_hashes(file: Path) -> dict[str, list[str]]:
    """Return the trusted hashes by folder; raise `ArenaError` for a file that others can write."""
    try:
        status = file.stat()
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable_file(file, str(getattr(error, "strerror", None) or "it is not UTF-8 text")) from error

    if status.st_uid not in (os.getuid(), 0) or status.st_mode & 0o022:
        raise _unusable_file(file, "others can write it")

    try:
        return TypeAdapter(_TrustFile).validate_json(text, strict=True).folders
    except ValidationError as error:
        raise _unusable_file(file, "it does not hold folders and hashes") from error


def _unusable_file(file: Path, why: str) -> ArenaError:
    message = f"{file}, which says whose extensions may be run, can't be used: {why}; nothing is trusted"
    return ArenaError("trust_unreadable", message, f"delete {file}, then run `arena check` again", status=64)
