"""What a model says, or why a server turns a question down, before any wire puts it in its own words."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Body = Mapping[str, Any]
Finish = Literal["stop", "length", "refusal", "silent_refusal", "filter", "blocked", "pause", "tool"]


@dataclass(frozen=True)
class ModelAnswer:
    """What a model says, before any wire puts it in its own words.

    `sent` are all tokens of the question, `cached` and `written` those of them that were read from a cache or
    put in one; `said` are tokens of the answer, `thought` those of thinking. With `thought_apart` a chat
    server leaves these out of completion_tokens, so that only the total has them. `cost` is in dollars,
    `tier` is how fast it was served, `searches` how often it searched the web. `uses` are the tools that it
    asks for beside its text, with what it gives each. A chat server sends `parts`, if there are any, as its
    content.
    """

    text: str = "{}"
    thinking: str = ""
    sent: int = 1_000
    cached: int = 0
    written: int = 0
    said: int = 200
    thought: int = 0
    thought_apart: bool = False
    finish: Finish = "stop"
    citations: tuple[str, ...] = ()
    searches: int = 0
    tier: str = ""
    host: str = ""
    cost: float | None = None
    model: str = "served-1"
    fingerprint: str = "fp-1"
    uses: tuple[tuple[str, str], ...] = ()
    parts: tuple[Mapping[str, Any], ...] = ()

    @property
    def got(self) -> int:
        """Return all tokens that came back."""
        return self.said + self.thought


@dataclass(frozen=True)
class Refused(Exception):
    """A request that a server turns down; `code` is the kind of error that it names."""

    message: str
    status: int = 400
    code: str = "invalid_request_error"
    headers: Mapping[str, str] = field(default_factory=dict)


def take_only(body: Body, allowed: str, words: str) -> None:
    for name in body:
        if name not in allowed.split():
            raise Refused(words.format(name))


def check_told(asked: Iterable[object], told: Iterable[object]) -> None:
    """Turn down a conversation in which a tool that was asked for has told nothing, or another one has."""
    if [*asked] != [*told]:
        raise Refused("every call of a tool must be followed by its result, in order, and by no other")


def sse(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def halves(text: str) -> Iterator[str]:
    """Yield a text in two parts, so that a stream can break between them."""
    middle = len(text) // 2
    yield from (part for part in (text[:middle], text[middle:]) if part)
