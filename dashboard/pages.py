"""The pages by name: each is a file in dashboard/views/, which says how it stands among the others."""

import ast
import math
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
    """A page before it is opened: its title, its place in the bar, whether it needs a cohort.

    One of no place is reached from others alone. One that is `headed` by what it shows says so itself.
    """

    name: str
    title: str
    order: int | None
    needs_a_cohort: bool
    is_headed: bool

    def view(self) -> ModuleType:
        """The page itself, with all that it draws on."""
        return load(PACKAGE, self.name)


@lru_cache(maxsize=1)
def pages() -> dict[str, DashboardPage]:
    """All pages in their order."""
    found = [page(name) for name in names(FOLDER)]
    return {
        page.name: page
        for page in sorted(found, key=lambda page: math.inf if page.order is None else page.order)
    }


def page(name: str) -> DashboardPage:
    """What a page says of itself, read from its file: to load them all would keep the first waiting.

    >>> page("leaderboard").title
    'Leaderboard'
    """
    said = _constants(find(FOLDER, name))
    headed = said.get("HEADED", False)
    return DashboardPage(name, said["TITLE"], said["ORDER"], said["NEEDS_A_COHORT"], headed)


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
