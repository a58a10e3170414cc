"""What is written though another process has taken over: this, and nothing else."""

import ast
from collections import Counter
from pathlib import Path

ARENA = Path(__file__).resolve().parents[3] / "arena"
UNFENCED = {
    # what was paid for
    "lose_reservations": 1,
    "withdraw_reservations": 1,
    "open_desk_turn": 1,
    "move_deadlines": 1,
    "read_ended_turns": 1,
    "add_tool_result": 1,
    # the leases themselves, and their heartbeats
    "take_lease": 2,
    "renew_lease": 1,
    "release_lease": 2,
    "renew_claims": 1,
    "renew_reservations": 1,
    # heads go out under a lease of their own
    "put_publication": 2,
    # an operator's orders
    "stop_cohort": 1,
    "pause_cohort": 2,
    "settle_named_market": 1,
    "open_holdout": 1,
}
"""By the change that is made: at how many places it is made past the fence."""


def test_all_else_is_written_under_the_fence() -> None:
    """One that was taken for dead and wakes late writes no fact: its lease is looked at just before."""
    changes = Counter[str]()
    for path in ARENA.rglob("*.py"):
        source = path.read_text("utf-8")
        if "write_unfenced" not in source:
            continue
        tree = ast.parse(source)
        calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "write_unfenced":
                change = ast.unparse(calls[node].args[0]) if node in calls else "handed on"
                changes[change] += 1
    assert changes == Counter(UNFENCED)
