"""A record that a former arena wrote, as that exported it: the first two weeks of the small season."""

from pathlib import Path

from arena.exports.restore import restore

EXPORT = Path(__file__).parent / "records" / "schema-0004.zip"
STATE_HASH = "e61cbf7ae361a4948515390bef0429020f0a2f66cc898356b3b24b72a3c145e9"
"""What that arena printed for it."""


def old_record(path: Path) -> Path:
    """Import that record into a file."""
    restore(EXPORT, str(path))
    return path
