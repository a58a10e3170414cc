"""What is known of every guard: how it is taken out, and which tests notice, or why nobody can.

The list itself is guards.toml. An entry with `old` and `new` is one change of one file, of that of its first
site unless it names another. An entry without is a change for each of its sites, by what stands there.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.guards.removal import TextChange, removal_at
from tests.guards.sites import Site, all_sites

LIST = Path(__file__).with_name("guards.toml")


@dataclass(frozen=True)
class Mutant:
    """The tree without one guard: the change, the tests that notice, or why it changes nothing.

    `finding` is the number of a guard that the simulator must miss by itself.
    """

    name: str
    kind: str
    sites: tuple[str, ...]
    change: TextChange | None
    tests: tuple[str, ...] = ()
    equivalent: str = ""
    finding: int = 0


@cache
def all_mutants() -> tuple[Mutant, ...]:
    """Return the tree without each guard in turn, in the order of the list."""
    sites = {site.name: site for site in all_sites()}
    entries = tomllib.loads(LIST.read_text("utf-8"))["guard"]
    return tuple(mutant for entry in entries for mutant in mutants_of(entry, sites))


def mutants_of(entry: dict[str, object], sites: dict[str, Site]) -> Iterator[Mutant]:
    """Yield the mutants of an entry."""
    names = [str(name) for name in as_list(entry["sites"])]
    tests = tuple(str(test) for test in as_list(entry.get("tests", [])))
    equivalent = str(entry.get("equivalent", ""))
    finding = int(str(entry.get("finding", 0)))
    kind = sites[names[0]].kind if names[0] in sites else ""

    if "old" in entry:
        file = str(entry.get("file", names[0].partition(":")[0]))
        change = TextChange(file, str(entry["old"]), str(entry["new"]))
        name = str(entry["name"])
        yield Mutant(name, kind, tuple(names), change, tests, equivalent, finding)
        return

    for site_name in names:
        site = sites.get(site_name)
        name = str(entry.get("name", site_name))
        removed = None if site is None or equivalent else removal_at(site)
        kind = "" if site is None else site.kind
        yield Mutant(name, kind, (site_name,), removed, tests, equivalent, finding)


def as_list(value: object) -> list[object]:
    """Return a list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]
