"""Every guard in the tree is in the list, and every entry of the list can be tried."""

from collections import Counter

import pytest

from tests.guards.registry import all_mutants
from tests.guards.sites import ROOT, all_sites, sites_in


def test_every_guard_has_an_entry() -> None:
    """A new one is missing here until guards.toml says how it is taken out and who notices."""
    listed = Counter(site for mutant in all_mutants() for site in mutant.sites)
    found = {site.name for site in all_sites()}
    assert sorted(found - set(listed)) == [], "guards that nobody has taken out"
    assert sorted(set(listed) - found) == [], "entries of guards that are not there"
    assert [name for name, count in listed.items() if count > 1] == []


def test_every_entry_can_be_tried() -> None:
    """Its change fits and the tests that it names are there, or it says why its removal changes nothing."""
    for mutant in all_mutants():
        if mutant.equivalent:
            assert len(mutant.equivalent.split()) > 5, mutant.name
            continue

        assert mutant.change is not None, mutant.name
        source = (ROOT / mutant.change.path).read_text("utf-8")
        assert mutant.change.apply(source) != source, mutant.name
        assert mutant.tests, mutant.name
        for test in mutant.tests:
            assert (ROOT / test.partition("::")[0]).exists(), test


def test_the_simulator_must_miss_these_by_itself() -> None:
    findings = [mutant.finding for mutant in all_mutants() if mutant.finding]
    assert sorted(findings) == list(range(1, 17))


FORMS = {
    "check_fence(connection, fence)": "fence",
    "self.record.write(put_marks, 1)": "write",
    "same = claim.token == token": "token",
    "taken = row.beat is None": "lease",
    "free = record.watch.is_over(hold)": "lease",
    "rows = table(UniqueConstraint('name'))": "unique",
    "number = whole_field('counts', unique=True)": "unique",
    "add = rows.on_conflict_do_nothing()": "conflict",
    "query = select(x).with_for_update()": "lock",
    "os.fsync(file.fileno())": "disk",
    "late = is_late(cohort, at, now)": "late",
    "driver.execute('PRAGMA synchronous = FULL')": "disk",
    "async def f():\n    async with self.lock:\n        pass": "lock",
    "while True:\n    try:\n        ask()\n    except OSError:\n        wait()": "retry",
    "try:\n    x = ask()\nexcept OSError:\n    x = ask()": "retry",
}


@pytest.mark.parametrize("source", FORMS)
def test_a_guard_is_known_by_its_form(source: str) -> None:
    sites = sites_in(source, "arena/record/write/new.py")
    assert {site.kind for site in sites} == {FORMS[source]}
