"""Takes a guard out of the text of its file."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from tests.guards.sites import ROOT, Site


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
    """Return the change that takes out a guard, as its kind and form want it."""
    source = (ROOT / site.path).read_text("utf-8")
    node = site.node
    call = node if isinstance(node, ast.Call) else calls_in(source).get(span(node))
    label = site.label.partition(" #")[0]

    if isinstance(node, ast.ExceptHandler):
        return before(site, source, node.body[0], "raise; ")
    if isinstance(node, ast.withitem):
        return replaced(site, source, node.context_expr, lambda _: "__import__('contextlib').nullcontext()")
    if site.kind in ("conflict", "lock") and call is not None and label in METHODS:
        assert isinstance(call.func, ast.Attribute)
        kept = segment(source, call.func.value)
        return replaced(site, source, call, lambda _: kept)
    if label in CALLS and call is not None:
        return replaced(site, source, call, lambda _: CALLS[label])
    if label in NAMES:
        return replaced(site, source, node, lambda _: NAMES[label])
    if label in SQL:
        return replaced(site, source, node, lambda text: text.replace(label, SQL[label]))
    if site.kind == "unique":
        return replaced(site, source, node, UNIQUE[type(node)])
    if site.kind == "trigger":
        return replaced(site, source, node, lambda _: "*()")
    if site.label.startswith("if "):
        return replaced(site, source, node, lambda _: "False")
    raise ValueError(f"nothing says how {site.name} is taken out")


METHODS = ("with_for_update", "on_conflict_do_nothing", "on_conflict_do_update")
"""Methods of a query that are left away."""
CALLS = {
    "fsync": "None",
    "flock": "None",
    "guard()": "None",
    "keep_rows()": "None",
    "check_fence": "None",
    "is_late()": "False",
    "closed_since()": "frozenset()",
    "is_over()": "True",
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
NAMES = {
    "record.write": "record.write_unfenced",
    "self.write": "self.write_unfenced",
    "watch.is_over": "(lambda *_, **__: True)",
    "terms.is_over": "(lambda *_: True)",
    "DATABASE_WAITS": "()",
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
    "PRAGMA synchronous": "PRAGMA nothing",
    "PRAGMA foreign_keys": "PRAGMA nothing",
    "PRAGMA recursive_triggers": "PRAGMA nothing",
}
"""What stands in place of SQL. SQLite does nothing about a pragma that it does not know."""
UNIQUE: Mapping[type[ast.AST], Callable[[str], str]] = {
    ast.Call: lambda _: "*()",
    ast.keyword: lambda text: text.replace("True", "False"),
}


@cache
def calls_in(source: str) -> dict[tuple[int, int, int, int], ast.Call]:
    """Return the calls of a file, by where the name stands of what is called."""
    return {span(node.func): node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}


def span(node: ast.AST) -> tuple[int, int, int, int]:
    """Return where a node begins and ends: lines and bytes."""
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
    line, column, _, _ = span(node)
    lines = source.splitlines(keepends=True)
    before_it = "".join(lines[: line - 1])
    return len(before_it) + len(lines[line - 1].encode()[:column].decode())


def replaced(site: Site, source: str, node: ast.AST, change: Callable[[str], str]) -> TextChange:
    """Return the change that puts something in place of a node."""
    old = segment(source, node)
    return TextChange(site.path, old, change(old), offset(source, node))


def before(site: Site, source: str, node: ast.AST, text: str) -> TextChange:
    """Return the change that puts something before a node."""
    old = segment(source, node).partition("\n")[0]
    if isinstance(node, ast.If | ast.With | ast.For | ast.While | ast.Try | ast.AsyncWith):
        indent = " " * span(node)[1]
        text = f"raise\n{indent}"
    return TextChange(site.path, old, text + old, offset(source, node))
