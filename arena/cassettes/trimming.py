"""Shortens the answers of a venue to the first records of lists and the first words of texts."""

from collections import Counter
from typing import Any

MOST_RECORDS = 6
"""Records that are kept of a list, and as many more of those that have ended."""
MOST_NESTED = 2
"""Records that are kept of a list within a record."""
MOST_TEXT = 240
NAMES = frozenset({"id", "ticker", "event_ticker"})
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
        """Return a value within a record, with short lists."""
        if isinstance(value, list):
            return self._records(value, MOST_NESTED)
        if isinstance(value, dict):
            return {name: self._value(item) for name, item in value.items()}
        return value

    def _records(self, items: list[Any], most_records: int) -> list[Any]:
        """Return the first records of a list, and as many that have ended; the whole list if it has none."""
        kept = []
        ended_kept = 0
        for index, item in enumerate(items):
            is_record = isinstance(item, dict) and not NAMES.isdisjoint(item)
            if is_record and index >= most_records:
                if item.get("isResolved") is not True or ended_kept == most_records:
                    self.counts["records of lists"] += 1
                    continue
                ended_kept += 1
            kept.append(self._value(item))
        return kept

    def texts(self, value: Any) -> Any:
        """Return a value with the first words of its long texts.

        It has been cleaned before: half a key would not be found.
        """
        if isinstance(value, list):
            return [self.texts(item) for item in value]
        if isinstance(value, dict):
            return {name: self.texts(item) for name, item in value.items()}

        is_short = not isinstance(value, str) or len(value) <= MOST_TEXT
        if is_short or value[0] in "[{" or " " not in value:  # a list that is written as a text stays whole
            return value
        self.counts["long texts"] += 1
        return f"{value[:MOST_TEXT]}…"
