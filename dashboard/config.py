"""The config of the record that is shown, where `arena dashboard` was started beside one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config

ADDRESS = "ARENA_CONFIG"


def known_config() -> "tuple[Config | None, bool]":
    """What the config says now, if there is one; and whether there is one that can't be read.

    What is wrong with it is not told here: it quotes the config, and pages are for others to see.
    """
    named = os.environ.get(ADDRESS)
    if not named:
        return None, False
    file = Path(named)
    return _read(file, file.stat().st_mtime_ns if file.exists() else 0)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read(file: Path, _changed: int) -> "tuple[Config | None, bool]":
    from arena.config import load  # with all that a config may name: not for those who have none

    try:
        return load(file), False
    except ArenaError:
        return None, True
