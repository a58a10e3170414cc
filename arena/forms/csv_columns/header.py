"""Finds our columns in a table: by their names, or as the user maps them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain

from arena.errors import ArenaError, first_names
from arena.forms.csv_columns.file_cells import SHOWN, Faults

ALIKE = 0.8
"""From this similarity on, an unknown column counts as misspelt rather than as an extra one."""
STATES = re.compile(r"probability|chance|cdf|density|value|q\d+")
"""Columns that hold a forecast, of which a file needs at least one."""
QUANTILE = re.compile(r"q\d+")
MOST_NAMED = 20
"""The number of a file's columns named in an error."""
LONGEST = 100
"""The number of characters quoted of each name: paths into JSON objects are long."""
JOINS = "+"
"""The separator of a file's columns that together form one of ours."""


@dataclass(frozen=True, slots=True)
class OurColumns:
    """The columns that are needed, those that have a meaning, and the file's names for some of them.

    An unknown column that looks like one with a meaning counts as misspelt, unless that one is `exact`. Names
    given for the columns in `elsewhere` may apply to another file. Several columns of the file may form one
    of ours, and an empty name leaves ours out.
    """

    needed: Collection[str]
    allowed: Collection[str]
    named: Mapping[str, str]
    exact: Collection[str] = ()
    elsewhere: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class FoundColumns:
    """The places of our columns in a table, and its columns that are left unread.

    A column that several of the table form together has all of their places.
    """

    places: Mapping[str, tuple[int, ...]]
    ignored: tuple[str, ...]

    def theirs(self, header: Sequence[str]) -> dict[str, str]:
        """Return the table's name for each of our columns."""
        theirs = {}
        for ours, places in self.places.items():
            names = [header[place].strip() for place in places]
            theirs[ours] = JOINS.join(names)
        return theirs


def joined_texts(parts: Sequence[Sequence[str]]) -> list[str]:
    """Return the texts of a column that several columns form together.

    >>> joined_texts([["a", "b"], ["1", "2"]])
    ['a 1', 'b 2']
    """
    return list(map(" ".join, zip(*parts, strict=True)))


def plain_name(column: str) -> str:
    """Return a column's name in our notation.

    >>> plain_name(" Market Probability "), plain_name("scheduled-close")
    ('market_probability', 'scheduled_close')
    """
    return re.sub(r"[\s-]+", "_", column.strip().lower())


def match_header(line: int, header: Sequence[str], ours: OurColumns, faults: Faults) -> FoundColumns:
    """Return the places of our columns, noting faults of the header in `faults`.

    Raise `ArenaError` at once if a needed column is missing.
    """
    header_names = list(map(str.strip, header))
    places_by_name = _columns_named_by_user(f"{faults.name}:{line}", header_names, ours)
    mapped_names = {name for name in ours.named if name in places_by_name or name not in ours.elsewhere}
    used_places = set(chain.from_iterable(places_by_name.values()))
    ignored = []

    for place, column in enumerate(header_names):
        if place in used_places:
            continue
        name = plain_name(column)
        if name not in ours.allowed or name in mapped_names:
            ignored.append(column)
        elif name in places_by_name:
            faults.add(line, name, "it appears twice", "take one out")
        else:
            places_by_name[name] = (place,)

    _note_missing_and_misspelt(line, places_by_name, ignored, ours, faults)
    if not places_by_name.keys() >= set(ours.needed):
        faults.check()
    return FoundColumns(places_by_name, tuple(ignored))


def _columns_named_by_user(
    place: str, header_names: Sequence[str], ours: OurColumns
) -> dict[str, tuple[int, ...]]:
    """Return the places of our columns that the user has mapped to the file's."""
    places_by_name: dict[str, tuple[int, ...]] = {}
    for name, theirs in ours.named.items():
        if name not in ours.allowed:
            what = f"--columns {name}={theirs}: {name!r} is no column of ours"
            known_columns = ", ".join(column for column in ours.allowed if not QUANTILE.fullmatch(column))
            raise ArenaError("bad_columns", what, f"ours are {known_columns}", status=64)

        parts = list(map(str.strip, theirs.split(JOINS)))
        if theirs in header_names:
            places_by_name[name] = (header_names.index(theirs),)
        elif theirs and (name not in ours.elsewhere or set(parts) <= set(header_names)):
            places_by_name[name] = tuple(_place_of(part, place, header_names) for part in parts)
    return places_by_name


def _place_of(column: str, place: str, header_names: Sequence[str]) -> int:
    """Return the place of a column that the user names; raise `ArenaError` if there is none."""
    if column in header_names:
        return header_names.index(column)

    what = f"{place}: there is no column {column!r}"
    similar_names = get_close_matches(column, header_names, 1)
    if similar_names:
        what += f"; did you mean {similar_names[0]}?"
    raise ArenaError("bad_columns", what, f"it has {_column_list(header_names)}", status=64)


def _column_list(columns: Sequence[str]) -> str:
    """Return the names of a file's columns; if they are many, the first ones and the number of the rest."""
    return first_names([column[:LONGEST] for column in columns], MOST_NAMED)


def _note_missing_and_misspelt(
    line: int, found: Collection[str], ignored: Sequence[str], ours: OurColumns, faults: Faults
) -> None:
    """Note missing columns, and columns that are skipped because their name looks misspelt."""
    known_names = {*found, *ours.named, *ours.exact}
    absent_columns = [column for column in ours.allowed if column not in known_names]
    probably_misspelt = set()
    for column in ignored:
        for similar_name in get_close_matches(plain_name(column), absent_columns, 1, ALIKE):
            probably_misspelt.add(similar_name)
            say = f"--columns {similar_name}={column}"
            hint = f"rename it, say {say}, or --columns {similar_name}= to leave it out"
            faults.add(line, column[:SHOWN], f"it is unknown; did you mean {similar_name}?", hint)

    wanted = [*ours.needed]
    is_complete = set(found) >= set(wanted)
    if not is_complete and not any(map(STATES.fullmatch, found)):
        wanted.append("probability")  # report everything that is missing at once

    file_has = ""
    other_columns = [column for column in found if column not in wanted] + [*ignored]
    if other_columns:
        file_has = f"; the file has {_column_list(other_columns)}"
    for column in wanted:
        if column not in found and column not in probably_misspelt:
            hint = f"add it, or say which it is: --columns {column}=NAME{file_has}"
            if column == "outcome":
                hint += "; another file with outcomes is joined by --outcomes FILE"
            faults.add(line, "", f"there is no column {column}", hint)
            file_has = ""  # name the file's columns only once
