"""Answers as they come over the network, with counts of tokens that client libraries can read."""

from collections.abc import AsyncIterator

import httpx

from agents.model_table.counts import body_with_whole_counts, line_with_whole_counts

STREAMS = ("event-stream", "ndjson")
BODY_HEADERS = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that are about the body as it was sent."""


class WholeCountLines(httpx.AsyncByteStream):
    """A stream of lines, each with whole counts."""

    def __init__(self, stream: httpx.AsyncByteStream):
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        unfinished = b""
        async for chunk in self.stream:
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            if lines:
                yield b"".join(line_with_whole_counts(line + b"\n") for line in lines)

        if unfinished:
            yield line_with_whole_counts(unfinished)

    async def aclose(self) -> None:
        """Close what it reads from."""
        await self.stream.aclose()


async def response_with_whole_counts(response: httpx.Response) -> httpx.Response:
    """Return a response whose body has whole counts. An error's, and one that is packed, is left as it is."""
    content_type = response.headers.get("content-type", "")
    is_stream = any(kind in content_type for kind in STREAMS)
    if response.status_code != 200 or not (is_stream or "json" in content_type):
        return response

    if is_stream:
        if "content-encoding" not in response.headers and isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = WholeCountLines(response.stream)
        return response

    body = body_with_whole_counts(await response.aread())
    headers = [(name, text) for name, text in response.headers.multi_items() if name not in BODY_HEADERS]
    return httpx.Response(200, headers=headers, content=body, extensions=response.extensions)
