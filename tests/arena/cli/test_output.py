"""Tables in a terminal that is too narrow for them."""

import os
import pty
import subprocess
import sys

from tests.program.command_line import environment

TABLE = """
from arena.cli.output import print_table
print_table(
    ("agent", "P/L $", "note", "per forecast"),
    [("one with a long name", "+120,891.55", "a note of several words", 0.5), ("two", None, "", None)],
)
"""


def printed(columns: int) -> str:
    """What a terminal of so many columns is sent."""
    ours, theirs = pty.openpty()
    width = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    subprocess.run([sys.executable, "-c", TABLE], stdout=theirs, env=environment(**width), check=True)
    os.close(theirs)
    text = os.read(ours, 10_000).decode()
    os.close(ours)
    return text


def test_a_figure_is_never_cut_and_stands_to_the_right() -> None:
    for columns in (200, 60, 30, 10):
        lines = [line.rstrip() for line in printed(columns).splitlines()]
        assert "…" not in "".join(lines)
        assert "per forecast" in "\n".join(lines), "a heading of two words"
        place = next(line.index("+120,891.55") for line in lines if "+120,891.55" in line)
        assert any(line[place:].startswith(" " * 10 + "–") for line in lines)


def test_texts_are_broken_between_words() -> None:
    wide, narrow = (printed(columns).splitlines() for columns in (200, 40))
    assert len(narrow) > len(wide)
    assert set(" ".join(wide).split()) - set("─" * 200) >= {"one", "with", "a", "long", "name"}
