"""Shared parts of prompts, inserted where a template names them; the result is one text.

What a cohort freezes is that text, so a part that is edited later changes no running cohort. A part is a
Markdown file like a prompt. Those of the arena begin with an underscore, since none is a prompt by itself.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agents.prompts.template import BadTemplate

INCLUDE = re.compile(r"""[ \t]*\{%-?\s*include\s+(["'])(.+?)\1\s*-?%\}[ \t]*""")
"""An include, which must be alone on its line."""
MOST_DEPTH = 5
"""How deeply parts may be nested."""
MOST_LINES = 20_000

PlacedLine = tuple[str, tuple[Path, int]]
"""A line without its end, the file that it is from, and its number there."""
FindFile = Callable[[str], Path]
"""The file of a prompt or part by its name; `LookupError` where there is none."""


class BadInclude(BadTemplate):
    """A part that can't be put in, and the file that asks for it."""

    def __init__(self, file: Path, line: int, words: str):
        super().__init__(line, words)
        self.file = file


@dataclass(frozen=True, slots=True)
class WholeTemplate:
    """A template with its parts in it, and of each of its lines the file and the line it comes from."""

    text: str
    origins: tuple[tuple[Path, int], ...]

    def origin(self, line: int) -> tuple[Path, int]:
        """Return the file and line that a line comes from; beyond the end, those of the last line."""
        return self.origins[min(line, len(self.origins)) - 1]


def whole_template(path: Path, find: FindFile) -> WholeTemplate:
    """Return the template in a file with all its parts."""
    lines, origins = zip(*_placed_lines(path, find, ()), strict=True)
    return WholeTemplate("\n".join(lines), origins)


def _placed_lines(path: Path, find: FindFile, outer: tuple[Path, ...]) -> Iterator[PlacedLine]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        named = INCLUDE.fullmatch(line)
        if named is None:
            yield line, (path, number)
            continue

        try:
            part = find(named[2])
        except LookupError as error:
            raise BadInclude(path, number, f'"{named[2]}" can\'t be included: {error}') from error

        if part in (path, *outer) or len(outer) >= MOST_DEPTH:
            raise BadInclude(path, number, f'"{named[2]}" includes itself, or too many files in one another')

        inner = list(islice(_placed_lines(part, find, (*outer, path)), MOST_LINES + 1))
        if len(inner) > MOST_LINES:
            raise BadInclude(path, number, f'with "{named[2]}" the prompt has more than {MOST_LINES:,} lines')

        if inner[-1][0] == "":
            inner.pop()
        yield from inner
