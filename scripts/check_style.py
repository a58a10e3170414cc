"""Hold the shape of the code to what readers find easy, room by room.

python scripts/check_style.py            # only what is over its limit; exit status 1
python scripts/check_style.py --list     # every figure of every room beside what is wanted
python scripts/check_style.py --record   # write what is reached into scripts/style.json

A room is a package or, in arena, a folder. A figure fails above the larger of what is wanted and 1.1 times
what the room had reached when it was last recorded. The size of the whole is held by the nodes of its syntax
trees: docstrings, comments and blank lines cost nothing.
"""

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")
RECORDED = ROOT / "scripts" / "style.json"
VERBS = ROOT / "scripts" / "docstring_verbs.txt"
SLACK = 1.1
"""How far a room may fall behind what it had reached."""

WANTED = {
    "expressions": 6.0,
    "tuple_assignments": 3.0,
    "conditionals": 20.0,
    "comprehensions": 35.0,
    "nested_comprehensions": 0.5,
    "walrus": 1.0,
    "unbroken": 60.0,
    "no_verb": 5.0,
}
"""At most so much: a statement, per 1,000 lines of code, or in percent."""
MEANINGS = {
    "expressions": "expressions a statement",
    "tuple_assignments": "assignments like `a, b = x, y` in 1,000 lines of code",
    "conditionals": "conditional expressions in 1,000 lines of code",
    "comprehensions": "comprehensions in 1,000 lines of code",
    "nested_comprehensions": "comprehensions within others in 1,000 lines of code",
    "walrus": "assignments within expressions in 1,000 lines of code",
    "unbroken": "percent of functions over 8 lines without a blank line",
    "no_verb": "percent of docstrings of functions that don't begin with a verb",
}

Figures = Mapping[str, float]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONG = 8
"""Functions of more lines than these should have a blank line between steps."""


@dataclass(slots=True)
class Counts:
    """The counts of all files of a room."""

    nodes: int = 0
    code_lines: int = 0
    statements: int = 0
    expressions: int = 0
    tuple_assignments: int = 0
    conditionals: int = 0
    comprehensions: int = 0
    nested_comprehensions: int = 0
    walrus: int = 0
    long_functions: int = 0
    unbroken: int = 0
    docstrings: int = 0
    no_verb: int = 0

    def figures(self) -> Figures:
        """Return the figures by the names of what is wanted."""
        thousands = max(self.code_lines, 1) / 1000
        return {
            "expressions": self.expressions / max(self.statements, 1),
            "tuple_assignments": self.tuple_assignments / thousands,
            "conditionals": self.conditionals / thousands,
            "comprehensions": self.comprehensions / thousands,
            "nested_comprehensions": self.nested_comprehensions / thousands,
            "walrus": self.walrus / thousands,
            "unbroken": 100 * self.unbroken / max(self.long_functions, 1),
            "no_verb": 100 * self.no_verb / max(self.docstrings, 1),
        }


def room_of(path: Path) -> str:
    """Return the room of a file of the product.

    >>> [room_of(Path(name)) for name in ("arena/rounds/turns.py", "arena/clock.py", "agents/model.py")]
    ['arena/rounds', 'arena', 'agents']
    """
    in_folder_of_arena = path.parts[0] == "arena" and len(path.parts) > 2
    return "/".join(path.parts[:2]) if in_folder_of_arena else path.parts[0]


def measure_rooms(root: Path = ROOT) -> dict[str, Counts]:
    """Return the counts of every room."""
    verbs = frozenset(VERBS.read_text(encoding="utf-8").split())
    rooms: dict[str, Counts] = defaultdict(Counts)

    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            room = rooms[room_of(path.relative_to(root))]
            count_file(path.read_text(encoding="utf-8"), room, verbs)

    return dict(rooms)


def count_file(text: str, counts: Counts, verbs: frozenset[str]) -> None:
    """Add what is in a file to the counts of its room."""
    tree = ast.parse(text)
    lines = text.splitlines()
    documented = set(docstring_lines(tree))

    counts.code_lines += sum(
        is_code(line) for number, line in enumerate(lines, 1) if number not in documented
    )
    counts.nested_comprehensions += sum(1 for _ in nested_comprehensions(tree))

    for node in ast.walk(tree):
        if is_docstring(node):
            counts.nodes -= 1  # its text is a node of its own
            continue
        if not isinstance(node, ast.Load | ast.Store | ast.Del):
            counts.nodes += 1
        count_node(node, counts)
        if isinstance(node, FUNCTIONS):
            count_function(node, lines, documented, counts, verbs)


def is_code(line: str) -> bool:
    """Tell whether a line is neither blank nor a comment."""
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith("#")


def is_docstring(node: ast.AST) -> bool:
    """Tell whether a node is a string that stands alone: a docstring, or one below a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def docstring_lines(tree: ast.AST) -> Iterator[int]:
    """Yield the numbers of the lines of docstrings."""
    for node in ast.walk(tree):
        if is_docstring(node) and isinstance(node, ast.Expr):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def nested_comprehensions(node: ast.AST, inside: bool = False) -> Iterator[ast.AST]:
    """Yield the comprehensions that stand within another one."""
    for child in ast.iter_child_nodes(node):
        is_comprehension = isinstance(child, COMPREHENSIONS)
        if is_comprehension and inside:
            yield child
        yield from nested_comprehensions(child, inside or is_comprehension)


def count_node(node: ast.AST, counts: Counts) -> None:
    """Count one node by its kind."""
    if isinstance(node, ast.stmt):
        counts.statements += 1
    elif isinstance(node, ast.expr):
        counts.expressions += 1

    if isinstance(node, ast.IfExp):
        counts.conditionals += 1
    elif isinstance(node, ast.NamedExpr):
        counts.walrus += 1
    elif isinstance(node, COMPREHENSIONS):
        counts.comprehensions += 1
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        counts.tuple_assignments += isinstance(node.value, ast.Tuple)


def count_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    lines: list[str],
    documented: set[int],
    counts: Counts,
    verbs: frozenset[str],
) -> None:
    """Count a function by its length and its docstring."""
    numbers = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    own = [lines[number - 1] for number in numbers if number not in documented]
    if len(own) > LONG:
        counts.long_functions += 1
        counts.unbroken += all(line.strip() for line in own)

    docstring = ast.get_docstring(node)
    if docstring:
        counts.docstrings += 1
        counts.no_verb += docstring.split()[0].strip(".,:;").lower() not in verbs


def limit(name: str, reached: Figures) -> float:
    """Return up to what a figure of a room may rise."""
    return max(WANTED[name], SLACK * reached.get(name, 0.0))


def faults(rooms: Mapping[str, Counts], recorded: Mapping[str, Figures], most_nodes: int) -> Iterator[str]:
    """Yield what is over its limit, in words."""
    for room, counts in rooms.items():
        reached = recorded.get(room, {})
        for name, value in counts.figures().items():
            if value > limit(name, reached):
                yield (
                    f"{room}: {value:.1f} {MEANINGS[name]}, at most {limit(name, reached):.1f}: "
                    "unpack what you added"
                )

    nodes = sum(counts.nodes for counts in rooms.values())
    if nodes > most_nodes:
        yield f"the product has {nodes:,} nodes, at most {most_nodes:,}: make room, or say what the rise buys"


def print_rooms(rooms: Mapping[str, Counts]) -> None:
    """Print every figure of every room."""
    print(f"{'':22}{'nodes':>9}" + "".join(f"{name[:14]:>16}" for name in WANTED))
    print(f"{'wanted':22}{'':>9}" + "".join(f"{most:>16.1f}" for most in WANTED.values()))
    for room, counts in rooms.items():
        figures = counts.figures()
        print(f"{room:22}{counts.nodes:>9,}" + "".join(f"{figures[name]:>16.1f}" for name in WANTED))


def record(rooms: Mapping[str, Counts]) -> None:
    """Write what every room has reached."""
    reached = {}
    for room, counts in rooms.items():
        reached[room] = {name: round(value, 2) for name, value in counts.figures().items()}
    nodes = sum(counts.nodes for counts in rooms.values())
    text = json.dumps({"nodes": nodes, "rooms": reached}, indent=2)
    RECORDED.write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Do what the arguments ask for."""
    rooms = measure_rooms()

    if arguments == ["--record"]:
        record(rooms)
        return
    if arguments == ["--list"]:
        print_rooms(rooms)

    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    wrong = list(faults(rooms, known["rooms"], known["nodes"]))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
