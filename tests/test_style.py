"""The figures of style: what is counted is what is meant, and what is over its limit is named."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLAIN = '''"""A module of two functions."""

LIMIT = 5
"""No code either."""


def double(number: int) -> int:
    """Return twice the number."""
    return number * 2


def total(rows: list[list[int]]) -> int:
    """Sum all numbers up to the limit."""
    found = 0

    for row in rows:
        # larger numbers don't count
        for number in row:
            if number <= LIMIT:
                found += number

    return found
'''
DENSE = '''"""A module of two functions."""

LIMIT = 5
"""No code either."""


def double(number: int) -> int:
    """Twice as much."""
    return number * 2


def total(rows: list[list[int]]) -> int:
    """What all of them come to."""
    found, limit = 0, LIMIT
    some = [[x for x in row if x <= limit] for row in rows]
    if (first := some[0] if some else []):
        found = sum(first)
    for row in some[1:]:
        found += sum(row)
    more = 0
    return found + more
'''


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("check_style", ROOT / "scripts" / "check_style.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_plain_code_is_within_what_is_wanted(script: ModuleType) -> None:
    counts = script.Counts()
    script.count_file(PLAIN, counts, frozenset({"return", "sum"}))
    assert all(value <= script.WANTED[name] for name, value in counts.figures().items())
    assert (counts.code_lines, counts.docstrings, counts.no_verb) == (10, 2, 0)


def test_each_kind_of_packing_is_counted(script: ModuleType) -> None:
    counts = script.Counts()
    script.count_file(DENSE, counts, frozenset({"return", "sum"}))
    assert counts.tuple_assignments == 1
    assert (counts.comprehensions, counts.nested_comprehensions) == (2, 1)
    assert (counts.conditionals, counts.walrus) == (1, 1)
    assert (counts.long_functions, counts.unbroken) == (1, 1)
    assert (counts.docstrings, counts.no_verb) == (2, 2)


def test_unpacking_a_line_costs_no_nodes(script: ModuleType) -> None:
    texts = ["a = f(b)", "# why\na = f(\n    b\n)\n\n", '"""What it holds."""\n\na = f(b)\n"""A result."""']
    nodes = []
    for text in texts:
        counts = script.Counts()
        script.count_file(text, counts, frozenset())
        nodes.append(counts.nodes)
    assert nodes == [nodes[0]] * 3


def test_what_is_over_its_limit_is_named_with_both_figures(script: ModuleType) -> None:
    counts = script.Counts(nodes=110, code_lines=1000, statements=10, expressions=60, walrus=5)
    within = list(script.faults({"agents": counts}, {"agents": {"walrus": 4.6}}, 110))
    assert within == []
    told = list(script.faults({"agents": counts}, {"agents": {"walrus": 4.54}}, 109))
    assert told == [
        f"agents: 5.0 {script.MEANINGS['walrus']}, at most 5.0: unpack what you added",
        "the product has 110 nodes, at most 109: make room, or say what the rise buys",
    ]
