"""A season in a public repository: agents that came by pull request, and what such a config may not have.

Each file of `entrants/` is the block of one agent. Its author may choose a model, but neither what
runs on the owner's machine nor where the owner's keys go.
"""

import re
from pathlib import Path
from typing import Any

from arena.config.code import read_code
from arena.config.document import Document, read
from arena.config.errors import ConfigError, ConfigErrors, Key, quoted_value
from arena.config.lineup import NAME

ENTRANTS = "entrants"
MOST_ENTRANTS = 200
FILE = re.compile(r"([a-z0-9][a-z0-9_-]{0,39})\.yaml")
KINDS = ("llm", "outside")
"""The kinds of an entrant: none reads a file or runs a program."""
KINDS_OF_CODE = ("python", "command")
KEYS = (
    "name", "kind", "model", "prompt", "prices", "samples", "min_answered", "batch", "context", "tools",
    "steps", "tool_dollars", "temperature", "max_tokens", "prompt_tokens", "reasoning", "timeout", "released",
    "wait",
)  # fmt: skip
"""The keys of an entrant: none says where a key goes or what a call costs."""
KEPT_BACK = {("cohorts", "hidden"): "prices and forecasts", ("markets", "holdout"): "questions"}
"""Keys that hide something for a while, which a public record would show."""


def read_public(document: Document) -> None:
    """Add the entrants of a public season to its config, and raise `ConfigErrors` where it would run code."""
    if document.get("public") is not True:
        return

    read_entrants(document)
    errors_before = len(document.errors)
    _refuse_kinds(document)
    _refuse_keys(document)

    # Whatever else the folder could make the arena run, such as a file that a function names.
    if len(document.errors) == errors_before:
        for item in read_code(Path(document.file).parent, document.value).items:
            message = f"a public season runs no code. Remove {item.name}"
            document.add_error(("public",), item.name, "no code", message)
    if len(document.errors) > errors_before:
        raise ConfigErrors(document.errors)


def read_entrants(document: Document) -> None:
    """Add the agents of `entrants/` to those of the config, and note what is wrong with their files."""
    folder = Path(document.file).parent / ENTRANTS
    agents = document.get("agents")
    if not folder.is_dir() or not isinstance(agents, list | None):
        return

    blocks = list(agents or ())
    paths = sorted(path for path in folder.iterdir() if path.name != "README.md")
    for path in paths[:MOST_ENTRANTS]:
        block = _read_entrant(document, path, len(blocks))
        if block is not None:
            blocks.append(block)

    document.value["agents"] = blocks
    if len(paths) > MOST_ENTRANTS:
        _note_file(
            document, paths[MOST_ENTRANTS], f"there are more than {MOST_ENTRANTS} entrants: remove some"
        )


def _read_entrant(document: Document, path: Path, index: int) -> dict[str, Any] | None:
    """Return the block in a file, named as the file is; None, with the mistake noted, if there is none."""
    file_name = FILE.fullmatch(path.name)
    if file_name is None or path.is_symlink() or not path.is_file():
        _note_file(document, path, "an entrant is a plain file entrants/NAME.yaml, named in small letters")
        return None

    try:
        entrant = read(path)
    except ConfigErrors as errors:
        document.errors.extend(errors.errors)
        return None

    document.errors.extend(entrant.errors)
    key: Key = ("agents", index)
    document.files[key] = str(path)
    for inner_key, line in entrant.lines.items():
        document.lines[(*key, *inner_key)] = line

    block: dict[str, Any] = entrant.value
    _check_entrant(document, key, block, file_name[1])
    return {**block, "name": file_name[1]}


def _check_entrant(document: Document, key: Key, block: dict[str, Any], name: str) -> None:
    """Note keys and values that an entrant may not set."""
    if block.get("name", name) != name:
        message = f"an entrant is called as its file is, {name}. Remove `name`, or rename the file"
        document.add_error((*key, "name"), quoted_value(block["name"]), name, message)

    kind = block.get("kind", "llm")
    if kind not in KINDS and kind not in KINDS_OF_CODE:
        message = "an entrant is a model, or plays from outside. Name a `model`, or set `kind: outside`"
        document.add_error((*key, "kind"), quoted_value(kind), "llm or outside", message)

    for setting in block:
        if setting not in KEYS and kind not in KINDS_OF_CODE:
            message = f"{setting} is for the owner to set, in config.yaml. Remove it"
            document.add_error((*key, setting), setting, "a key that entrants have", message)

    if not re.fullmatch(NAME, str(block.get("model", "any/model"))):
        message = "a model is named as PROVIDER/MODEL here, and not by an address"
        document.add_error((*key, "model"), quoted_value(block["model"]), "PROVIDER/MODEL", message)
    if not str(block.get("prompt", "bet")).isidentifier():
        message = "an entrant uses a prompt of the arena, by its name: `arena show prompt` lists them"
        document.add_error((*key, "prompt"), quoted_value(block["prompt"]), "the name of a prompt", message)


def _refuse_kinds(document: Document) -> None:
    """Note every agent that runs code."""
    blocks = document.get("agents")
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        kind = block.get("kind") if isinstance(block, dict) else None
        if kind in KINDS_OF_CODE:
            message = f"a public season runs no code, so nobody plays as kind {kind}. Name a `model`"
            document.add_error(("agents", index, "kind"), quoted_value(kind), "another kind", message)


def _refuse_keys(document: Document) -> None:
    """Note a program that publishes heads, extensions, and keys that hide what the branch shows."""
    if isinstance(document.get("heads"), list):
        message = "a public season runs no program, and its heads go to the branch anyway. Remove `heads`"
        document.add_error(("heads",), "a program", "no program", message)
    if (Path(document.file).parent / "extensions").exists():
        message = "a public season loads no extensions. Remove the folder extensions/"
        document.add_error(("public",), "a folder extensions", "no such folder", message)
    for key, hidden in KEPT_BACK.items():
        if document.get(*key):
            message = f"this hides {hidden}, and everyone can read a public record. Remove it"
            document.add_error(key, quoted_value(document.get(*key)), "nothing", message)


def _note_file(document: Document, path: Path, message: str) -> None:
    """Note a mistake of an entrant's file as a whole."""
    document.errors.append(ConfigError(str(path), 0, "", path.name, "an entrant's file", message))
