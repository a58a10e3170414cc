"""What takes long to make is made once, by whichever process that plays this run's tests needs it first."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(name: str, folders: pytest.TempPathFactory, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` has filled; it is shared, and only to be read."""
    base = folders.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    home.mkdir(exist_ok=True)
    with home.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = home / "made"
        if not done.exists():
            make(home)
            done.touch()
    return home
