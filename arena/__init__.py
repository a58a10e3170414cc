"""The story, the record and the shell: who played what, when, and how well.

From Python `arena.open_record(path)` opens a record, and docs/python.md says what can be had of it. It is
loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.exports.api import Change, open_record, score

__all__ = ["Change", "open_record", "score"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("arena.exports.api"), name)
    raise AttributeError(f"module 'arena' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
