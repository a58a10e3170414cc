"""The rules of rows are data: what they list must be what the code knows, whatever is added to it."""

import re
from typing import get_args, get_type_hints

from agents.answers.decisions import STAGES
from agents.model import DECIDED_STATUSES, USABLE_STATUSES, DecisionStatus
from arena.verify.checks.rows import Rule, written_rules
from markets.venue import QuarantinedRecord

STATUSES = frozenset(get_args(DecisionStatus))
WITHOUT = {
    "there is a fill of it": STATUSES.difference(USABLE_STATUSES),
    "there is a second_quote of it": STATUSES.difference(USABLE_STATUSES),
    "there is a forecast of it": STATUSES.difference(DECIDED_STATUSES),
    "there is a rejection of it": STATUSES.difference(DECIDED_STATUSES, {"out"}),
}
"""The statuses of turns that have no such row, by what the rule says of one that has."""


def listed(rule: Rule) -> list[str]:
    """Return the texts that a rule lists."""
    return re.findall(r"'(\w+)'", rule.holds)


def test_what_a_column_may_hold_is_what_the_code_writes() -> None:
    known = {}
    for rule in written_rules():
        if rule.why == "there is no other":
            known[rule.table, rule.column] = set(listed(rule))
            assert rule.expected == " or ".join(listed(rule))

    assert known["turn", "status"] == STATUSES
    assert known["forecast", "stage"] == set(STAGES)
    assert known["set_aside", "kind"] == set(get_args(get_type_hints(QuarantinedRecord)["kind"]))


def test_every_status_of_a_turn_says_which_rows_it_has() -> None:
    rules = {rule.why: set(listed(rule)) for rule in written_rules() if rule.why in WITHOUT}
    assert rules == WITHOUT
