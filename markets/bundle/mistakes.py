"""What is wrong in a bundle: the file, the line, what was found and what is meant."""

import json
from dataclasses import dataclass, field

MOST = 100
"""How many mistakes are kept. The others are counted."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. Lines count from 1; line 0 stands for the file as a whole."""

    file: str
    line: int
    wrong: str
    meant: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: found {self.wrong}, expected {self.meant}"


class BadBundleValue(ValueError):
    """What was found isn't what is meant there."""

    def __init__(self, wrong: str, meant: str):
        super().__init__(f"found {wrong}, expected {meant}")
        self.wrong, self.meant = wrong, meant


@dataclass(slots=True)
class Mistakes:
    """The mistakes met so far: the first ones, and how many there are."""

    kept: list[Mistake] = field(default_factory=list)
    count: int = 0

    def add(self, file: str, line: int, wrong: str, meant: str) -> None:
        """Note one more."""
        self.count += 1
        if len(self.kept) < MOST:
            self.kept.append(Mistake(file, line, wrong, meant))


def shown_value(value: object) -> str:
    """A value as it is quoted in a mistake: on one line, not too long, and nothing in it that can't be seen.

    >>> shown_value("five"), shown_value(None), shown_value("x" * 99)[-6:]
    ('"five"', 'nothing', 'xxxxx…')
    """
    if value is None:
        return "nothing"
    whole = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in whole[:80])
    return text if len(text) <= 60 else f"{text[:59]}…"
