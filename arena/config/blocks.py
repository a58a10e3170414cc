"""Blocks that belong to the venue or the source of their name, and the source of evidence in use."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from arena.config.document import Document
from arena.config.errors import Key, shown
from arena.config.explain import validate
from arena.config.extensions import source_named
from arena.model import NO_EVIDENCE


def evidence_settings(document: Document) -> BaseModel | None:
    """The settings of the source of evidence in use, from its block. The folders that it names are there."""
    name = document.get("evidence", "from") or NO_EVIDENCE
    module = source_named(document, ("evidence", "from"), name) if isinstance(name, str) else None
    if module is None:
        return None  # noted, here or with its section
    found = own_block(document, ("evidence", name), module.Settings, {})
    for key, value in () if found is None else found:
        path = Path(document.file).parent / value if isinstance(value, Path) else None
        if path is not None and not path.exists():
            words = f"there is no {value} beside the config. Make it, or name another one"
            document.add(("evidence", name, key), str(value), "a file or folder that is there", words)
    return found


def own_block(
    document: Document, key: Key, settings: type[BaseModel], inherited: dict[str, Any]
) -> BaseModel | None:
    """The settings of what a block belongs to."""
    block = document.get(*key)
    if not isinstance(block, dict | None):
        document.add(key, shown(block), "a block of keys and values")
        return None
    return validate(settings, inherited | (block or {}), document, key)
