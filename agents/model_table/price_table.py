"""litellm's own table of models: what they cost and what they can do, read without importing the library."""

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

TABLE = "model_prices_and_context_window_backup.json"
NO_ENTRY: Mapping[str, Any] = {}


def library_folder() -> Path:
    """Return where litellm is installed: its import takes seconds, its files don't."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise FileNotFoundError("litellm, which has the table of prices, is not installed")
    return Path(folders[0])


@cache
def price_table() -> dict[str, Any]:
    """Return the whole table: an entry for each model that litellm knows."""
    entries: dict[str, Any] = json.loads((library_folder() / TABLE).read_text(encoding="utf-8"))
    return entries


def table_entry(model: str) -> Mapping[str, Any]:
    """Return the table's entry of a model, by its whole name, or without the entry's own provider."""
    table = price_table()
    provider, _, rest = model.partition("/")
    entry: Mapping[str, Any] | None = table.get(model)
    if entry is None and rest and table.get(rest, {}).get("litellm_provider") == provider:
        entry = table[rest]

    if entry is None:
        return NO_ENTRY
    return entry
