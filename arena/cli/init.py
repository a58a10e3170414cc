"""`arena init`: a folder to work in.

The configs that come with the package.
"""

import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import Json
from arena.cli.output import print_json
from arena.errors import ArenaError

PACKAGED = Path(__file__).resolve().parents[1] / "templates"
CHECKOUT = Path(__file__).resolve().parents[2]
IN_CHECKOUT = {"config.yaml": "config.yaml", "demo.yaml": "examples/demo.yaml"}


def template(name: str) -> Path:
    """A config that comes with the package: `config.yaml` or `demo.yaml`, also in a checkout."""
    packaged = PACKAGED / name
    return packaged if packaged.is_file() else CHECKOUT / IN_CHECKOUT[name]


ENV_EXAMPLE = """\
# API keys of the providers whose models play. Copy this file to .env and fill in what you use.
# A variable that is set in the environment already counts before this file.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GEMINI_API_KEY=
# OPENROUTER_API_KEY=
"""
GITIGNORE = """\
.env
*.db
*.db-wal
*.db-shm
"""


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it may exist.")],
    as_json: Json = False,
) -> None:
    """Make a working folder: config.yaml with every key explained, .env.example and .gitignore.

    Nothing is overwritten. The config plays a simulated world and needs no key.

    Example: arena init my-arena

    Next: cd my-arena, then arena check
    """
    from arena.clock import now

    made, kept = make_folder(folder, now())
    if as_json:
        print_json({"folder": str(folder), "made": made, "kept": kept})
        return
    print(f"Made {', '.join(str(folder / name) for name in made)}.")
    for name in kept:
        print(f"Left {folder / name} as it is.")
    print("Next:")
    print(f"  cd {folder}")
    print("  arena check     what would play, and what is still missing")
    print("  arena round     play the next round")


def make_folder(folder: Path, at: datetime) -> tuple[list[str], list[str]]:
    """Write the files of a working folder as of an instant; the names made, and those left as they are."""
    files = {
        "config.yaml": _stamped(template("config.yaml").read_text("utf-8"), at),
        ".env.example": ENV_EXAMPLE,
        ".gitignore": GITIGNORE,
    }
    config = folder / "config.yaml"
    if config.exists():
        raise ArenaError("exists", f"{config} is there already", "choose another folder, or move it away")
    made, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if (folder / name).exists():
                kept.append(name)
                continue
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
            made.append(name)
    except OSError as error:
        hint = "choose a folder in which you may write"
        raise ArenaError("not_writable", f"{error.filename}: {error.strerror}", hint) from error
    return made, kept


def sunday(day: date) -> date:
    """The Sunday on which the week of a day begins.

    >>> sunday(date(2026, 1, 7)).isoformat(), sunday(date(2026, 1, 4)).isoformat()
    ('2026-01-04', '2026-01-04')
    """
    return day - timedelta(days=day.isoweekday() % 7)


def _stamped(text: str, at: datetime) -> str:
    """The config with the simulated world starting this week."""
    return re.sub(r"(?m)^( +start: )\d{4}-\d\d-\d\d", rf"\g<1>{sunday(at.date())}", text, count=1)
