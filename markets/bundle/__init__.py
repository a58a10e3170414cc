"""Recordings as folders of plain files: read strictly, checked line by line, written by appending.

`docs/bundles.md` describes the form.
"""

from markets.bundle.mistakes import Mistake
from markets.bundle.model import Bundle, Recording
from markets.bundle.read import BadBundle, Report, check, read
from markets.bundle.write import Sighting, Written, write

__all__ = [
    "BadBundle",
    "Bundle",
    "Mistake",
    "Recording",
    "Report",
    "Sighting",
    "Written",
    "check",
    "read",
    "write",
]
