"""Recordings as folders of plain files: read strictly, checked line by line, written by appending.

`docs/bundles.md` describes the form.
"""

from markets.bundle.model import Bundle, Mistake, Recording
from markets.bundle.read import BadBundle, BundleReport, check, read
from markets.bundle.write import Sighting, WriteCounts, write

__all__ = [
    "BadBundle",
    "Bundle",
    "BundleReport",
    "Mistake",
    "Recording",
    "Sighting",
    "WriteCounts",
    "check",
    "read",
    "write",
]
