"""Shortens the answers of a venue: the first records of a list stand for all, the first words for a text."""

from collections import Counter
from typing import Any

MOST_RECORDS = 8
"""Records that are kept of a list, and as many more of those that have ended."""
MOST_NESTED = 3
"""Records that are kept of a list within a record."""
MOST_TEXT = 240
NAMES = ("id", "ticker", "event_ticker")
"""By one of these fields a list is one of records; the levels of an order book, for example, have none."""
CURSORS = ("cursor", "next_cursor")


class Trimmer:
    """Shortens answers; `counts` has how much was left out."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def answer(self, value: Any, is_first_page: bool) -> Any:
        """Return an answer with fewer records. A list ends with its second page."""
        if isinstance(value, list):
            return self._records(value, MOST_RECORDS)
        if not isinstance(value, dict):
            return value

        kept = {}
        for name, item in value.items():
            if name in CURSORS and item and not is_first_page:
                self.counts["pages after the second"] += 1
                continue
            kept[name] = self._records(item, MOST_RECORDS) if isinstance(item, list) else self._value(item)
        return kept

    def _value(self, value: Any) -> Any:
        """Return a value within a record, with short lists and texts."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return self._records(value, MOST_NESTED)
        if isinstance(value, dict):
            return {name: self._value(item) for name, item in value.items()}
        return value

    def _records(self, items: list[Any], most: int) -> list[Any]:
        """Return the first records of a list, and of those that have ended as many; whole if it has none."""
        kept = items
        if any(isinstance(item, dict) and any(name in item for name in NAMES) for item in items):
            left = [item for item in items[most:] if isinstance(item, dict)]
            kept = items[:most] + [item for item in left if item.get("isResolved") is True][:most]
        self.counts["records of lists"] += len(items) - len(kept)
        return [self._value(item) for item in kept]

    def _text(self, text: str) -> str:
        """Return the first words of a text; a list that is written as a text stays whole."""
        if len(text) <= MOST_TEXT or text[0] in "[{" or " " not in text:
            return text
        self.counts["long texts"] += 1
        return f"{text[:MOST_TEXT]}…"
