"""Asks once whether the code beside a config may run, and remembers the answer."""

import os
import sys
from pathlib import Path
from shlex import quote

import typer

from arena.cli.output import plain
from arena.config.code import FolderCode, TrustedCode, read_code
from arena.config.document import Document
from arena.config.loader import load
from arena.config.trust import VARIABLE, is_trusted, trust
from arena.errors import ArenaError


def already_trusted(document: Document) -> TrustedCode | None:
    """Return the code that may run if the folder is trusted already, else None; never ask."""
    code = read_code(Path(document.file).parent, document.value)
    if not is_trusted(code, os.environ):
        return None
    return code.trusted()


def asked_trust(trust_without_asking: bool, can_ask: bool, document: Document) -> TrustedCode:
    """Return the code that may run, trusting it first if told to, or if the user agrees.

    Raise `ArenaError` if it isn't trusted; mistakes in the config are raised first.
    """
    path = Path(document.file)
    code = read_code(path.parent, document.value)
    if is_trusted(code, os.environ):
        return code.trusted()

    load(path)  # raises for mistakes in the config
    if not trust_without_asking:
        _require_consent(code, path, can_ask)
    trust(code, os.environ)
    return code.trusted()


def _require_consent(code: FolderCode, path: Path, can_ask: bool) -> None:
    """Ask at a terminal whether a folder's code may run; raise `ArenaError` unless the user agrees."""
    folder = code.folder.resolve()
    items = [f"  {item.kind} {plain(item.name)}" for item in code.items]
    question = "\n".join([f"{plain(str(folder))} can run code of its own:", *items])
    if can_ask and sys.stderr.isatty():
        print(question, file=sys.stderr)
        if typer.confirm("Look at it first. Run it from now on, until it changes?", False, err=True):
            return

    hint = (
        f"look at it, then: arena check --config {quote(str(path))} --trust-extensions "
        f"(or {VARIABLE}={quote(str(folder))} where no file can be written)"
    )
    message = f"{question}\nThis code is new or has changed, and is not trusted yet"
    raise ArenaError("untrusted", message, hint, 64)
