"""Mistakes in a config: the place of each, what was found, and what is expected."""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.errors import ArenaError

Key = tuple[str | int, ...]
LONGEST_QUOTE = 60


@dataclass(frozen=True, slots=True)
class ConfigError:
    """One mistake. `key` reads like `agents[2].model`; it is empty, and `line` 0, for the file as a whole."""

    file: str
    line: int
    key: str
    found: str
    meant: str
    message: str

    def __str__(self) -> str:
        """Return the mistake on one line, with its place."""
        place = f"{self.file}:{self.line}".removesuffix(":0")  # the file as a whole
        return ": ".join(filter(None, (place, self.key, self.message)))


class ConfigErrors(ArenaError):
    """All mistakes of a config, in the order of its lines."""

    def __init__(self, errors: Iterable[ConfigError]):
        self.errors = tuple(sorted(dict.fromkeys(errors), key=lambda error: (error.file, error.line)))
        super().__init__("config", "\n".join(map(str, self.errors)))

    def as_dict(self) -> dict[str, Any]:
        """Return the error for JSON, with the mistakes one by one."""
        return super().as_dict() | {"errors": [asdict(error) for error in self.errors]}


def dotted_key(key: Key) -> str:
    """Return a key as people write it.

    >>> dotted_key(("agents", 2, "price", "input"))
    'agents[2].price.input'
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return text.removeprefix(".")


def quoted_value(value: object) -> str:
    """Return a value as a message quotes it: on one line, and not too long.

    >>> quoted_value("five"), quoted_value(5), quoted_value({"a": 1}), quoted_value([]), quoted_value(None)
    ('"five"', '5', 'a block', 'an empty list', 'nothing')
    """
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a block"
    if isinstance(value, list):
        return "a list" if value else "an empty list"

    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST_QUOTE:
        return text
    closing_quote = '"' if text.startswith('"') else ""
    return f"{text[:56]}…{closing_quote}"


def suggestion(word: str, known: Sequence[str]) -> tuple[str, str]:
    """Return the probable meaning of an unknown word, and a sentence that suggests it.

    >>> suggestion("shwo", ["show", "venue"]), suggestion("xyz", ["show", "venue"])
    (('show', 'Did you mean "show"?'), ('one of show, venue', 'Choose from: show, venue'))
    """
    similar = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if similar:
        return similar[0], f'Did you mean "{similar[0]}"?'

    listed = ", ".join(known) or "none"
    return f"one of {listed}", f"Choose from: {listed}"
