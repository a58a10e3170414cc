"""Answers of models as they come over the network: kept by a tape, or taken from one in its place."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import httpx

from agents.llm.bodies import BODY_HEADERS


@dataclass(frozen=True, slots=True)
class TapedAnswer:
    """An answer of a provider, whole, without its headers."""

    status: int
    content_type: str
    body: str


class AnswerTape(Protocol):
    """Stands between a model and its network, in the task in which it is put into `TAPE`."""

    def played(self) -> TapedAnswer | None:
        """Return the answer to give; None to ask."""

    def kept(self, answer: TapedAnswer) -> TapedAnswer:
        """Keep an answer, and return what is to be read in its place."""


TAPE: ContextVar[AnswerTape | None] = ContextVar("TAPE", default=None)
"""The tape of this task; without one, answers pass untouched."""


async def taped(
    send: Callable[[httpx.Request], Awaitable[httpx.Response]], request: httpx.Request
) -> httpx.Response:
    """Return the response to a request, or the one that a tape has in its place."""
    tape = TAPE.get()
    if tape is None:
        return await send(request)

    headers: list[tuple[str, str]] = []
    dropped = (*BODY_HEADERS, "content-type")
    answer = tape.played()
    if answer is None:
        response = await send(request)
        body = (await response.aread()).decode("utf-8", "replace")
        content_type = response.headers.get("content-type", "")
        answer = tape.kept(TapedAnswer(response.status_code, content_type, body))
        headers = [(name, text) for name, text in response.headers.multi_items() if name not in dropped]
        await response.aclose()

    headers.append(("content-type", answer.content_type))
    return httpx.Response(answer.status, headers=headers, content=answer.body.encode(), request=request)


class TapedClient(httpx.AsyncClient):
    """A client whose answers pass by the tape."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, or take its answer from the tape."""
        return await taped(partial(super().send, **options), request)
