"""The entry point of `arena`: checks that no other package has replaced one of ours, then runs it."""

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
"""The packages beside this one, and the start of each one's `__init__.py`."""


def check_own_packages() -> None:
    """Raise `ArenaError` if another package has replaced one of ours, in its own folder or in ours.

    Nothing is imported; one small file of each package is compared.
    """
    home = Path(__file__).resolve().parents[2]
    for package, expected_start in PACKAGES.items():
        own_init = home / package / "__init__.py"
        found_init = getattr(find_spec(package), "origin", None)
        owner = "another package"
        if found_init is not None and Path(found_init).resolve() == own_init:
            if own_init.read_bytes().startswith(expected_start):
                continue
            owner = overwriting_package(home, package)

        raise ArenaError(
            "shadowed",
            f"{owner} has taken the import name {package} ({found_init})",
            "install paper-arena in an environment of its own: uv tool install --force paper-arena",
        )


def overwriting_package(home: Path, package: str) -> str:
    """Return the other distribution that has put its files into a package's folder."""
    for record in sorted(home.glob("*.dist-info/RECORD")):
        distribution = record.parent.name.partition("-")[0].replace("_", "-")
        installed_files = f"\n{record.read_text('utf-8', 'replace')}"
        if distribution != "paper-arena" and f"\n{package}/__init__.py," in installed_files:
            return distribution
    return "another package"


def main() -> None:
    """Run `arena`, unless another package has replaced one of ours."""
    try:
        check_own_packages()
    except ArenaError as error:
        if "--json" in sys.argv:
            print(json.dumps({"ok": False, "error": error.as_dict()}))
        else:
            print(f"Error: {error.message}\n→ {error.hint}", file=sys.stderr)
        sys.exit(error.status)

    from arena.cli.main import main as run

    run()
