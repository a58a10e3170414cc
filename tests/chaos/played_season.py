"""What the commands of a simulated season need of it."""

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from random import Random
from typing import Protocol

from arena.config import Config


class PlayedSeason(Protocol):
    """A season that is being played: its folder, its record, its chance, and where commands print."""

    folder: Path
    file: Path
    config: Config
    chance: Random
    numbers: Iterator[int]
    printed: StringIO

    @property
    def tasks(self) -> Mapping[str, object]:
        """Return what is at work, by the names of processes."""
        ...

    def note(self, what: str) -> None:
        """Log what happened."""
        ...

    def other_config(self) -> Path:
        """Return the config of another arena in the folder."""
        ...
