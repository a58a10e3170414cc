"""An answer that comes piece by piece: each piece renews the patience, and what breaks off is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.llm.answer import NO_END, StreamBroken, WireAnswer, chat_answer
from agents.llm.library import PAUSED, http_client
from agents.llm.patience import patience
from agents.model import Prompt
from agents.text import as_text


async def streamed_answer(
    library: Any, options: Mapping[str, Any], longest: float, idle: float, provider: str, prompt: Prompt
) -> WireAnswer:
    """The whole answer, put together again. One that ends before it is whole is StreamBroken."""
    chunks: list[Any] = []
    client = http_client()
    try:
        async with patience(longest, idle) as heard:
            stream = await library.acompletion(**options, stream=True, client=client)
            async for chunk in stream:
                chunks.append(chunk)
                heard()
            if not (stream.received_finish_reason or stream.intermittent_finish_reason):
                raise EOFError(NO_END)  # the library makes up an end of its own
    except Exception as error:
        cause = getattr(error, "original_exception", None)  # what the library wraps once a stream has begun
        cause = cause if isinstance(cause, Exception) else error
        partial = WireAnswer(
            _said(chunks, "content"), finish="cut", thinking=_said(chunks, "reasoning_content")
        )
        if not partial.reply and not partial.thinking:
            raise cause from error
        raise StreamBroken(cause, partial) from error
    finally:
        await client.close()
    paused = [choice for chunk in chunks for choice in chunk.choices if choice.finish_reason == PAUSED]
    for choice in paused:
        choice.finish_reason = "stop"  # the library puts together only what it knows
    answer = library.stream_chunk_builder(chunks, messages=options["messages"])
    told = ((getattr(chunk, "_hidden_params", None) or {}).get("provider_response_model") for chunk in chunks)
    answer.model = next(filter(None, map(as_text, told)), "")  # not the library's, which was asked for
    whole = chat_answer(answer, provider, prompt)
    return replace(whole, finish=PAUSED) if paused else whole


def _said(chunks: Sequence[Any], name: str) -> str:
    """All that the pieces say of one sort."""
    pieces = (getattr(choice.delta, name, None) for chunk in chunks for choice in chunk.choices)
    return "".join(piece for piece in pieces if isinstance(piece, str))
