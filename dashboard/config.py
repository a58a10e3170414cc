"""The config of the record that is shown, where `arena dashboard` was started beside one."""

import os
from pathlib import Path

import streamlit as st

from arena.config import Config, load
from arena.errors import ArenaError

ADDRESS = "ARENA_CONFIG"


def known() -> tuple[Config | None, str]:
    """What the config says now, if there is one; and what is wrong with it, if it can't be read."""
    named = os.environ.get(ADDRESS)
    if not named:
        return None, ""
    file = Path(named)
    return _read(file, file.stat().st_mtime_ns if file.exists() else 0)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read(file: Path, _changed: int) -> tuple[Config | None, str]:
    try:
        return load(file), ""
    except ArenaError as error:
        return None, error.message
