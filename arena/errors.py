"""What can go wrong in ways that a user can put right, and figures in words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from math import floor
from typing import Any


class ArenaError(Exception):
    """An expected failure: a stable code, what happened, and a hint how to put it right.

    The command line prints it in a line or two, without a traceback, and exits with `status`:
    1 when nothing was done, 2 when part of it was.
    """

    def __init__(self, code: str, message: str, hint: str = "", status: int = 1):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status

    def as_dict(self) -> dict[str, Any]:
        """Return what `--json` prints under "error".

        >>> ArenaError("no_record", "there is no record yet", "run `arena demo`").as_dict()
        {'code': 'no_record', 'message': 'there is no record yet', 'mend': 'run `arena demo`'}
        """
        return {"code": self.code, "message": self.message, "mend": self.hint}


@dataclass(frozen=True, slots=True)
class FileFault:
    """Something wrong in a file: in a line, in a row (from 1) of its list `part`, or with the whole.

    One fault may tell of many that have the same cause: `count`, and the first of their lines or rows.
    """

    file: str
    field: str
    message: str
    hint: str
    line: int | None = None
    part: str = ""
    row: int | None = None
    count: int = 1
    lines: tuple[int, ...] = ()

    @property
    def place(self) -> str:
        """Return the file of the fault, with line, row or key.

        >>> FileFault("f.csv", "end", "it is empty", "say when", line=3).place
        'f.csv:3: column end'
        >>> FileFault("f.json", "id", "there is none", "add it", part="forecasts", row=3).place
        'f.json: forecasts, row 3, id'
        >>> FileFault("f.json", "", "'x' is not an object", "remove it", part="list", row=3).place
        'f.json: list, row 3'
        """
        if self.line is not None:
            column = ""
            if self.field:
                column = f": column {self.field}"
            return f"{self.file}:{self.line}{column}"

        row = ""
        if self.row is not None:
            row = f"{self.part}, row {self.row}, "
        return f"{self.file}: {row}{self.field}".removesuffix(", ")

    @property
    def number(self) -> int:
        """Return the number of its line or row, 0 for a fault of the whole file."""
        return self.line or self.row or 0

    @property
    def told(self) -> str:
        """Return what is wrong, and in which lines too where there are many.

        >>> FileFault("f.csv", "end", "it is empty", "say when", line=3, count=900, lines=(3, 4)).told
        'it is empty (900 such lines: 3, 4 …)'
        """
        if self.count == 1:
            return self.message
        lines = ", ".join(map(str, self.lines))
        places = "rows" if self.line is None else "lines"
        return f"{self.message} ({self.count:,} such {places}: {lines} …)"

    def as_data(self) -> dict[str, Any]:
        """Return the fault for JSON."""
        data = asdict(self)
        if self.line is None:
            del data["line"]
        if self.count == 1:
            del data["count"], data["lines"]
        return data | {"mend": data.pop("hint")}


FEW = 5
"""Up to so many faults with the same cause are told one by one; of more, these are the first."""


def told_once(faults: Sequence[FileFault], count: int) -> list[FileFault]:
    """Return the first faults of a cause as they are told: one for all, if there are more than a few."""
    if count <= FEW:
        return list(faults)

    lines = tuple(fault.number for fault in faults[:FEW] if fault.number)
    return [replace(faults[0], count=count, lines=lines)]


def by_cause(faults: Iterable[FileFault]) -> list[FileFault]:
    """Return faults as they are told, those of the same file, field and remedy as one if they are many."""
    causes: dict[tuple[str, str, str, str], list[FileFault]] = {}
    for fault in faults:
        causes.setdefault((fault.file, fault.part, fault.field, fault.hint), []).append(fault)

    told: list[FileFault] = []
    for same in causes.values():
        told += told_once(same, len(same))
    return told


MOST_FAULTS = 50
"""So many faults of a file are named."""


class FileFaults(ArenaError):
    """All that is wrong with a file, which is not used; `more` are faults that are only counted."""

    def __init__(self, faults: Sequence[FileFault], more: int = 0):
        self.faults = tuple(faults[:MOST_FAULTS])
        self.more = more + sum(fault.count for fault in faults[MOST_FAULTS:])
        first = faults[0]
        if len(faults) == 1 and not more:
            super().__init__("bad_file", f"{first.place}: {first.told}", first.hint)
            return

        lines = [f"{fault.place}: {fault.told} → {fault.hint}" for fault in self.faults]
        if self.more:
            lines.append(f"… and {count_text(self.more, 'more fault')}")
        count = self.more + sum(fault.count for fault in self.faults)
        hint = f"correct all {count:,}; nothing of the file was used"
        super().__init__("bad_file", "\n".join(lines), hint)

    def as_dict(self) -> dict[str, Any]:
        """Return what `--json` prints under "error": the faults one by one as well."""
        faults = [fault.as_data() for fault in self.faults]
        return super().as_dict() | {"faults": faults, "more_faults": self.more}


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first of some names, and how many more there are.

    >>> first_names(["a", "b", "c"], 2), first_names(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    text = ", ".join(names[:most])
    if len(names) <= most:
        return text
    return f"{text} and {len(names) - most:,} more"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question whether another name was meant; empty if none is near.

    >>> did_you_mean("shrp", ["sharp", "kelly"]), did_you_mean("xyz", ["sharp"])
    ('did you mean sharp? ', '')
    """
    near = get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}? " if near else ""


def count_text(number: int, name: str) -> str:
    """Return so many of something.

    >>> count_text(1, "cohort"), count_text(2_000, "row"), count_text(0, "turn")
    ('1 cohort', '2,000 rows', '0 turns')
    """
    return f"{number:,} {name}{'' if number == 1 else 's'}"


NaturalKey = tuple[str, str]
"""What sorts a name as people count."""


def natural_key(name: str) -> NaturalKey:
    """Return what names are sorted by, so that numbers in them count: v2 before v10.

    >>> sorted(["v10", "v2", "v1", "V1", "a"], key=natural_key)
    ['a', 'V1', 'v1', 'v2', 'v10']
    """
    aligned = re.sub(r"\d+", lambda digits: digits[0].zfill(20), name.casefold())
    # Names that differ in case alone are in one order too, whichever comes first.
    return aligned, name


def story_count(number: int) -> str:
    """Return so many stories.

    >>> story_count(1), story_count(22)
    ('1 story', '22 stories')
    """
    return f"{number:,} {'story' if number == 1 else 'stories'}"


LENGTHS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))


def length_text(time: timedelta) -> str:
    """Return a length of time in the unit that fits.

    >>> length_text(timedelta(days=9)), length_text(timedelta(minutes=90)), length_text(timedelta(seconds=59))
    ('9.0 d', '90.0 min', '59 s')
    """
    for unit, name in LENGTHS:
        if time >= 2 * unit:
            return f"{time / unit:.1f} {name}"
    return f"{time.total_seconds():.0f} s"


def far_text(at: datetime, now: datetime) -> str:
    """Return how far away an instant is.

    >>> noon = datetime(2026, 1, 4, 12)
    >>> far_text(noon, noon - timedelta(hours=3)), far_text(noon, noon + timedelta(seconds=5))
    ('in 3.0 h', '5 s ago')
    """
    if at > now:
        return f"in {length_text(at - now)}"
    return f"{length_text(now - at)} ago"


def times_text(capital: float) -> str:
    """Return a capital as so many times its start, rounded down: no bar is said to be reached too early.

    >>> times_text(0.001), times_text(0.04), times_text(7.39), times_text(159.9), times_text(2.5e7)
    ('<×0.01', '×0.04', '×7.3', '×159', '×10,000+')
    """
    if capital >= 10_000:
        return "×10,000+"
    if capital >= 10:
        return f"×{floor(capital):,}"
    if capital >= 1:
        return f"×{floor(capital * 10) / 10:.1f}"
    if capital >= 0.01:
        return f"×{floor(capital * 100) / 100:.2f}"
    return "<×0.01"
