"""Where the program `arena` starts: first it checks that its packages are its own."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

from arena.errors import ArenaError

PACKAGES = {
    "markets": b'"""The world: markets',
    "portfolio": b'"""The money: exact',
    "agents": b'"""Agents: what each sees',
    "dashboard": b'"""The view: it reads',
}
"""The packages beside this one, and how the first file of each begins."""


def guard() -> None:
    """Stop where another package has taken the place of one of ours, in its own folder or in ours.

    Nothing is imported, and of each package one small file is compared.
    """
    home = Path(__file__).resolve().parents[2]
    for package, begins in PACKAGES.items():
        spec = find_spec(package)
        places = list(spec.submodule_search_locations or []) if spec else []
        is_ours = any(Path(place).resolve() == home / package for place in places)
        init = home / package / "__init__.py"
        if is_ours and init.is_file() and init.read_bytes().startswith(begins):
            continue

        where = str(home / package) if is_ours else places[0] if places else spec and spec.origin
        owner = owner_of(home, package) if is_ours else ""
        words = f"{owner} has" if owner else "another package has"
        raise ArenaError(
            "shadowed",
            f"{words} taken the import name {package} ({where})",
            "install paper-arena in an environment of its own: uv tool install --force paper-arena",
        )


def owner_of(home: Path, package: str) -> str:
    """Return the other distribution that has put its files into a package's folder; empty if none is seen."""
    for record in sorted(home.glob("*.dist-info/RECORD")):
        name = record.parent.name.partition("-")[0].replace("_", "-")
        text = f"\n{record.read_text('utf-8', 'replace')}"
        if name != "paper-arena" and f"\n{package}/__init__.py," in text:
            return name
    return ""


def main() -> None:
    """Run `arena`, unless another package has taken one of its names."""
    try:
        guard()
    except ArenaError as error:
        if "--json" in sys.argv:
            print(json.dumps({"ok": False, "error": error.as_dict()}))
        else:
            print(f"Error: {error.message}\n→ {error.hint}", file=sys.stderr)
        sys.exit(error.status)

    from arena.cli.main import main as run

    run()
