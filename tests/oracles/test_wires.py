"""What turns cost on every wire is booked as it is charged, and no budget is passed."""

import os
from dataclasses import replace

import pytest

from tests.oracles.wires import MODES, TARIFFS, Tariff, names, rows, under_budget

THOROUGH = os.environ.get("THOROUGH") == "1"
SAMPLE = names() if THOROUGH else names(("cached", "searches", "broken", "priority"))


def test_what_is_booked_is_what_is_charged() -> None:
    found = list(rows(SAMPLE))
    assert len(found) == len(SAMPLE)
    assert [str(row) for row in found if row.faults] == []


def test_a_row_with_a_fault_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that charges more than the table says, and an ask that is not made."""
    monkeypatch.setitem(TARIFFS, "openai", Tariff(4, 21, 4))
    monkeypatch.setitem(MODES, "plain", replace(MODES["plain"], asks=2))
    [row] = rows([("openai", "plain")])
    assert row.faults == ("1 asks and 1 in the record, not 2", "off by more than 1%")


def test_two_processes_do_not_pass_a_budget() -> None:
    charged, at_once = under_budget(SAMPLE, 0.2)
    assert 0 < charged <= 0.2
    assert at_once
