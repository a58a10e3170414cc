"""Hold the surface to its size: the figures of [tool.house] in pyproject.toml are ceilings.

python scripts/check_size.py            # only what is over; exit status 1
python scripts/check_size.py --list     # every figure beside its ceiling
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import typer

from arena.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
MADE = {
    "docs/agents.md",
    "docs/api.md",
    "docs/cli.md",
    "docs/config.md",
    "docs/data.md",
    "docs/glossary.md",
    "docs/performance.md",
    "docs/scoring.md",
}
"""Pages that `make docs` and `make bench` write."""
KEY = re.compile(r"^\|`", re.MULTILINE)


def tracked() -> list[Path]:
    """Return every file that belongs to the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def words(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


def leaf_commands(command: Any, context: Any = None) -> int:
    """Count the commands that can be typed, those in groups included."""
    context = command.context_class(command, info_name="arena", parent=context)
    if not hasattr(command, "list_commands"):
        return 1
    children = (command.get_command(context, name) for name in command.list_commands(context))
    return sum(leaf_commands(child, context) for child in children if not child.hidden)


def measured() -> dict[str, int]:
    """Measure every figure that has a ceiling."""
    files = tracked()
    pages = [path for path in files if path.suffix == ".md" and path.is_relative_to(ROOT / "docs")]
    by_hand = [path for path in pages if path.relative_to(ROOT).as_posix() not in MADE] + [ROOT / "README.md"]
    return {
        "commands": leaf_commands(typer.main.get_command(app)),
        "config_keys": len(KEY.findall((ROOT / "docs" / "config.md").read_text(encoding="utf-8"))),
        "words_by_hand": words(by_hand),
        "words_generated": words([ROOT / name for name in MADE]),
    }


def over(figures: dict[str, int], ceilings: dict[str, int]) -> list[str]:
    """Return a sentence for each figure above its ceiling."""
    return [
        f"{name} is {figures[name]:,}, and the ceiling in pyproject.toml is {most:,}: "
        "make room by saying less, or raise it and say why in the changelog."
        for name, most in ceilings.items()
        if figures[name] > most
    ]


if __name__ == "__main__":
    house = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["house"]
    now = measured()
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name:20} {now[name]:>7,} of {most:>7,}" for name, most in house.items()))
    wrong = over(now, house)
    if wrong:
        sys.exit("\n".join(wrong))
