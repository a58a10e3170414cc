"""Finds every guard in the tree: what keeps a turn, a cent or an answer from being lost, doubled or forged.

The tables say by which names and forms a guard of each kind is known. One that is added later is found by the
same tables, so nobody has to remember to list it. Primary keys are left out: without one no table is made.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agents", "arena", "markets", "portfolio")
ROOMS = ("arena/calls/", "arena/operations/", "arena/record/", "arena/rounds/")
"""Where turns are claimed, played and written."""
WIRES = ("agents/llm/", "markets/venues/wire/")
"""Where models and venues are asked."""
MIGRATIONS = ("arena/record/migrations/",)
LEFT_OUT = ("arena/record/dry_run.py",)
"""A dry run puts its own functions in place of those that claim and reserve: it writes nothing."""

USES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "fence": {"check_fence": ROOMS, "fenced": ROOMS, "LeaseLost": ROOMS},
    "write": {"record.write": ROOMS, "self.write": ROOMS},
    "lease": {
        "watch.is_over": ROOMS,
        "terms.is_over": ROOMS,
        "is_over()": ROOMS,
        "is_gone()": ROOMS,
        "is_in_doubt()": ROOMS,
        "take_lease": ROOMS,
        "release_lease": ROOMS,
        "claim_turns": ROOMS,
        "lose_reservations": ROOMS,
        "requeue_stalled": ROOMS,
    },
    "heartbeat": {
        "heartbeat()": ROOMS,
        "keep_lease": ROOMS,
        "renew_lease": ROOMS,
        "renew_claims": ROOMS,
        "renew_reservations": ROOMS,
        "reservations.renewed": ROOMS,
        "self.renew": ROOMS,
    },
    "conflict": {"on_conflict_do_nothing": ROOMS, "on_conflict_do_update": ROOMS},
    "disk": {"fsync": ("",), "sync_to_disk()": ("",), "DURABLE_OPTION": ROOMS},
    "retry": {
        "DATABASE_WAITS": ROOMS,
        "RETRY_WAITS": ROOMS,
        "before_next": ROOMS,
        "is_unavailable": ROOMS,
        "patience()": WIRES,
        "retry_at": ("arena/cohorts/", *ROOMS),
    },
    "room": {"hold_room": ROOMS, "room.hold": ROOMS, "room.release": ROOMS, "posix_fallocate": ROOMS},
    "lock": {
        "with_for_update": ROOMS,
        "func.pg_advisory_xact_lock": ROOMS,
        "flock": ("",),
        "once_at_a_time": ROOMS,
        "wait_while_closed": ROOMS,
        "under_way.drain": ROOMS,
        "calls.storing": ROOMS,
    },
    "late": {"is_late()": ROOMS, "closed_since()": ROOMS},
    "stored": {
        "free_reservation": ROOMS,
        "withdraw_reservations": ROOMS,
        "PLAYED_TURNS": ("arena/record/write/",),
        "SAME_ATTEMPT": ROOMS,
        "answers.popleft": ROOMS,
        "raise_past_agent": ROOMS,
    },
    "trigger": {"guard()": MIGRATIONS, "keep_rows()": MIGRATIONS},
}
"""By kind: the names whose every use is a guard, and where; with `()` only where they are called."""
COMPARED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "token": {"token": ROOMS, "holder": ROOMS},
    "lease": {"beat": ROOMS, "seconds": ("arena/record/model/lease.py",), "hold": ROOMS},
    "late": {"done": ROOMS},
    "room": {"room": ("arena/record/write/",)},
}
"""By kind: the attributes whose every comparison is a guard, and where; of tokens every sum too."""
ASKED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "late": {".done": ("arena/rounds/",), "over": ("arena/record/write/",)},
}
"""By kind: what is a guard wherever it is asked whether it is true, and where; attributes with a dot."""
WORDS = {
    "lock": re.compile(r"pg_advisory_xact_lock|BEGIN IMMEDIATE"),
    "disk": re.compile(r"PRAGMA synchronous"),
    "trigger": re.compile(r"PRAGMA (?:foreign_keys|recursive_triggers)"),
}
"""By kind: SQL that is a guard."""
LOOPS = (
    "arena/calls/",
    "arena/operations/leader.py",
    "arena/operations/publisher.py",
    "arena/operations/run.py",
    "arena/record/",
    "arena/rounds/",
    *WIRES,
)
"""Where a fault after which the same is done again is a guard."""
ITEMS = {"FACTS": "trigger", "GUARDED": "trigger", "FROZEN": "trigger"}
"""Collections of migrations whose every item is a guard, and its kind."""
LOCKS = re.compile(r"\.lock\b|_lock\b|_locks\[|queues\[")
"""What a block that only one may be in is entered with."""


@dataclass(frozen=True)
class Site:
    """A guard: its kind, and where it stands, in words that outlive a change of lines."""

    kind: str
    path: str
    scope: str
    label: str
    node: ast.AST = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Return its name in the registry."""
        return f"{self.path}:{self.scope}:{self.label}"


@cache
def all_sites() -> tuple[Site, ...]:
    """Return every guard in the tree, in the order of files and lines."""
    sites: list[Site] = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if path not in LEFT_OUT:
                sites.extend(sites_in(file.read_text("utf-8"), path))
    return tuple(sites)


def sites_in(source: str, path: str) -> list[Site]:
    """Return the guards of one file."""
    finder = GuardFinder(path)
    finder.visit(ast.parse(source))
    return finder.sites


class GuardFinder(ast.NodeVisitor):
    """Walks a file, and keeps the guards that it comes by."""

    def __init__(self, path: str) -> None:
        """Begin at the top of a file."""
        self.path = path
        self.scope: list[str] = []
        self.sites: list[Site] = []
        self.labels: Counter[str] = Counter()

    # ---- where it is

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Walk a class."""
        self._walk(node.name, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Walk a function."""
        self._walk(node.name, node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Walk a coroutine."""
        self._walk(node.name, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Walk an assignment; at the top of a file it is a place of its own."""
        target = node.targets[0]
        if self.scope or not isinstance(target, ast.Name):
            self.generic_visit(node)
            return

        if target.id in ITEMS and self._is_in(MIGRATIONS):
            for item in items_of(node.value):
                self._add(ITEMS[target.id], f"{target.id} {item.value!s}", item)
        self._walk(target.id, node)

    def visit_Import(self, node: ast.Import) -> None:
        """Pass by an import: it uses nothing."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Pass by an import: it uses nothing."""

    # ---- what is a guard

    def visit_Call(self, node: ast.Call) -> None:
        """Keep a call of a guard, and a constraint that rows are unique."""
        source = ast.unparse(node.func)
        self._use(f"{source}()", node)
        if source == "UniqueConstraint":
            self._add("unique", ast.unparse(node), node)
        for keyword in node.keywords:
            if keyword.arg == "unique" and ast.unparse(keyword.value) == "True":
                self._add("unique", "unique=True", keyword)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Keep the use of a name."""
        if isinstance(node.ctx, ast.Load):
            self._use(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Keep the use of an attribute."""
        if isinstance(node.ctx, ast.Load):
            self._use(ast.unparse(node), node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Keep a comparison."""
        self._compare([node.left, *node.comparators], node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Keep a sum with a token."""
        if "token" in (getattr(node.left, "attr", ""), getattr(node.right, "attr", "")):
            self._compare([node.left, node.right], node)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Keep a question whether something is so."""
        self._ask(node.test)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Keep SQL."""
        if isinstance(node.value, str) and self._is_in(("",)):
            for kind, pattern in WORDS.items():
                match = pattern.search(node.value)
                if match:
                    self._add(kind, match[0], node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        """Keep a block that only one may be in."""
        for item in node.items:
            source = ast.unparse(item.context_expr)
            if LOCKS.search(source):
                self._add("lock", f"async with {source}", item.context_expr)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Keep a fault after which a loop goes on: what failed is tried again."""
        self._repeat(node)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """Keep a fault after which something is tried again so many times."""
        if "range(" in ast.unparse(node.iter):
            self._repeat(node)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        """Keep a fault after which the same is done once more."""
        if self._is_in(LOOPS):
            calls = set(calls_of(node.body))
            for handler in node.handlers:
                if calls.intersection(calls_of(handler.body)):
                    self._add("retry", f"except {source_of(handler.type)}, once more", handler)
        self.generic_visit(node)

    # ---- steps

    def _walk(self, name: str, node: ast.AST) -> None:
        self.scope.append(name)
        self.generic_visit(node)
        self.scope.pop()

    def _is_in(self, where: Sequence[str]) -> bool:
        return self.path.startswith(tuple(where))

    def _use(self, source: str, node: ast.expr) -> None:
        for kind, names in USES.items():
            for name, where in names.items():
                if (source == name or source.endswith(f".{name}")) and self._is_in(where):
                    self._add(kind, name, node)

    def _compare(self, sides: Sequence[ast.expr], node: ast.expr) -> None:
        for kind, names in COMPARED.items():
            attributes = {side.attr for side in sides if isinstance(side, ast.Attribute)}
            if any(name in attributes and self._is_in(where) for name, where in names.items()):
                self._add(kind, ast.unparse(node), node)

    def _repeat(self, loop: ast.While | ast.For) -> None:
        if not self._is_in(LOOPS):
            return
        for node in ast.walk(loop):
            ends = ast.Raise | ast.Return | ast.Break
            if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ends):
                self._add("retry", f"except {source_of(node.type)} in a loop", node)

    def _ask(self, test: ast.expr) -> None:
        called = {node.func for node in ast.walk(test) if isinstance(node, ast.Call)}
        for node in ast.walk(test):
            if not isinstance(node, ast.Attribute | ast.Name) or node in called:
                continue
            name = f".{node.attr}" if isinstance(node, ast.Attribute) else node.id
            for kind, names in ASKED.items():
                if name in names and self._is_in(names[name]):
                    self._add(kind, f"if {ast.unparse(node)}", node)

    def _add(self, kind: str, label: str, node: ast.AST) -> None:
        scope = ".".join(self.scope) or "module"
        self.labels[f"{scope}:{label}"] += 1
        number = self.labels[f"{scope}:{label}"]
        if number > 1:
            label = f"{label} #{number}"
        self.sites.append(Site(kind, self.path, scope, label, node))


def items_of(value: ast.expr) -> Iterator[ast.Constant]:
    """Yield the names in a tuple, or the keys of a dictionary."""
    items = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    for item in items:
        if isinstance(item, ast.Constant):
            yield item


def calls_of(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield as text what statements call and hand on or throw away."""
    for statement in body:
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Await):
            value = value.value
        if isinstance(value, ast.Call):
            yield ast.unparse(value)


def source_of(node: ast.AST | None) -> str:
    """Return a node as text; nothing where there is none."""
    return ast.unparse(node) if node is not None else ""
