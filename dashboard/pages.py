"""The pages by name: each is a file in dashboard/views/, which says how it stands among the others."""

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from markets.registry import find, load, names

PACKAGE = "dashboard.views"
FOLDER = Path(__file__).parent / "views"
"""Pages link to each other, so they are found here by name: an import of them would be a circle."""


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """A page before it is opened: its title and its sign, its place in the row, whether it needs a cohort."""

    name: str
    title: str
    icon: str
    order: int
    needs_a_cohort: bool

    def view(self) -> ModuleType:
        """The page itself, with all that it draws on."""
        return load(PACKAGE, self.name)


@lru_cache(maxsize=1)
def pages() -> dict[str, DashboardPage]:
    """All pages in their order."""
    found = [page(name) for name in names(FOLDER)]
    return {page.name: page for page in sorted(found, key=lambda page: page.order)}


def page(name: str) -> DashboardPage:
    """What a page says of itself, read from its file: to load them all would keep the first waiting.

    >>> page("leaderboard").title
    'Leaderboard'
    """
    said = _constants(find(FOLDER, name))
    return DashboardPage(name, said["TITLE"], said["ICON"], said["ORDER"], said["NEEDS_A_COHORT"])


def _constants(file: Path) -> dict[str, Any]:
    """The plain values that a file gives a name at its top."""
    lines = ast.parse(file.read_text(encoding="utf-8")).body
    return {
        line.targets[0].id: line.value.value
        for line in lines
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and isinstance(line.value, ast.Constant)
    }
