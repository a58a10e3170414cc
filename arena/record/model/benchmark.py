"""Files of a benchmark."""

from dataclasses import dataclass
from datetime import datetime

FORECASTBENCH = "forecastbench"
"""In place of a venue's name: whose questions they are."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that came: what it is, of which set and due when, and its text."""

    kind: str
    name: str
    due: str
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A file as it was kept."""

    kind: str
    name: str
    version: int
    due: str
    at: datetime
    sha256: str
    text: str
