"""Takes a guard out of the text of its file."""

import ast
from dataclasses import dataclass
from functools import cache

from tests.guards.sites import ROOT, Site

Place = tuple[int, int, int, int]
"""Where a node begins and ends: lines and bytes."""

METHODS = ("with_for_update", "on_conflict_do_nothing", "on_conflict_do_update")
"""Methods of a query that are left away."""
CALLED = {
    "fsync": "None",
    "flock": "None",
    "guard()": "None",
    "keep_rows()": "None",
    "is_late()": "False",
    "closed_since()": "frozenset()",
    "is_in_doubt()": "False",
    "is_gone()": "False",
    "is_unavailable": "False",
    "before_next": "None",
    "hold_room": "None",
    "keep_lease": "__import__('asyncio').sleep(1e9)",
    "posix_fallocate": "None",
    "requeue_stalled": "__import__('asyncio').sleep(0)",
    "room.hold": "None",
    "room.release": "False",
    "self.renew": "None",
    "sync_to_disk()": "None",
    "wait_while_closed": "__import__('asyncio').sleep(0)",
}
"""What stands in place of a call."""
NAMED = {
    "record.write": "record.write_unfenced",
    "self.write": "self.write_unfenced",
    "watch.is_over": "(lambda *_, **__: True)",
    "RETRY_WAITS": "()",
    "LeaseLost": "ZeroDivisionError",
    "calls.storing": "__import__('contextlib').nullcontext",
    "func.pg_advisory_xact_lock": "func.abs",
    "raise_past_agent": "__import__('contextlib').nullcontext",
    "reservations.renewed": "__import__('contextlib').nullcontext",
}
"""What stands in place of a name."""
SQL = {
    "pg_advisory_xact_lock": "abs",
    "BEGIN IMMEDIATE": "BEGIN",
    "PRAGMA foreign_keys": "PRAGMA nothing",
    "PRAGMA recursive_triggers": "PRAGMA nothing",
}
"""What stands in place of SQL. SQLite does nothing about a pragma that it does not know."""
FORMS = {
    "async with ": "__import__('contextlib').nullcontext()",
    "if ": "False",
    "unique=": "unique=False",
    "UniqueConstraint(": "*()",
    "FACTS ": "*()",
}
"""What stands in place of other guards, by how their labels begin."""


@dataclass(frozen=True)
class TextChange:
    """A piece of a file, and what stands there instead. It must be there exactly once, or at one `start`."""

    path: str
    old: str
    new: str
    start: int | None = None

    def apply(self, source: str) -> str:
        """Return the file with the change; raise `ValueError` where it does not fit."""
        start = self.start
        if start is None:
            if source.count(self.old) != 1:
                raise ValueError(f"{self.path} has {source.count(self.old)} times {self.old!r}")
            start = source.index(self.old)

        end = start + len(self.old)
        if source[start:end] != self.old:
            raise ValueError(f"{self.path} has no {self.old!r} at {start}")
        changed = source[:start] + self.new + source[end:]
        ast.parse(changed)
        return changed


def removal_at(site: Site) -> TextChange:
    """Return the change that takes out a guard, by its label; raise `ValueError` for one without a rule."""
    source = (ROOT / site.path).read_text("utf-8")
    node = site.node
    if isinstance(node, ast.ExceptHandler):
        return raised_at(site.path, source, node.body[0])

    label = site.label.partition(" #")[0]
    call = node if isinstance(node, ast.Call) else calls_in(source).get(place_of(node))
    if call is not None and label in METHODS and isinstance(call.func, ast.Attribute):
        return replaced(site.path, source, call, segment(source, call.func.value))
    if call is not None and label in CALLED:
        return replaced(site.path, source, call, CALLED[label])
    if label in NAMED:
        return replaced(site.path, source, node, NAMED[label])
    if label in SQL:
        return replaced(site.path, source, node, segment(source, node).replace(label, SQL[label]))

    for beginning, new in FORMS.items():
        if label.startswith(beginning):
            return replaced(site.path, source, node, new)
    raise ValueError(f"nothing says how {site.name} is taken out")


def raised_at(path: str, source: str, statement: ast.stmt) -> TextChange:
    """Return the change by which a fault is raised before a statement that would deal with it."""
    old = segment(source, statement).partition("\n")[0]
    indent = " " * statement.col_offset
    return TextChange(path, old, f"raise\n{indent}{old}", offset(source, statement))


def replaced(path: str, source: str, node: ast.AST, new: str) -> TextChange:
    """Return the change that puts something in place of a node."""
    return TextChange(path, segment(source, node), new, offset(source, node))


@cache
def calls_in(source: str) -> dict[Place, ast.Call]:
    """Return the calls of a file, by where the name stands of what is called."""
    return {place_of(node.func): node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}


def place_of(node: ast.AST) -> Place:
    """Return where a node stands."""
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def segment(source: str, node: ast.AST) -> str:
    """Return the text of a node."""
    text = ast.get_source_segment(source, node)
    assert text is not None
    return text


def offset(source: str, node: ast.AST) -> int:
    """Return how many characters stand before a node."""
    line, column, _, _ = place_of(node)
    lines = source.splitlines(keepends=True)
    earlier = "".join(lines[: line - 1])
    return len(earlier) + len(lines[line - 1].encode()[:column].decode())
