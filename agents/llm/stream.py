"""An answer that comes piece by piece: each piece renews the patience, and what breaks off is kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.llm.answer import NO_END, StreamBroken, WireAnswer, chat_answer
from agents.llm.library import PAUSED, http_client, litellm
from agents.llm.patience import patience
from agents.model import Prompt
from agents.text import as_text


async def streamed_answer(
    options: Mapping[str, Any], longest: float, idle: float, provider: str, prompt: Prompt
) -> WireAnswer:
    """Ask for a stream and return the whole answer; raise `StreamBroken` if it ends before it is whole."""
    library = litellm()
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
        # The library wraps the errors of a stream that has begun.
        cause = getattr(error, "original_exception", None)
        if not isinstance(cause, Exception):
            cause = error

        reply = _joined(chunks, "content")
        thinking = _joined(chunks, "reasoning_content")
        partial = WireAnswer(reply, finish="cut", thinking=thinking)
        if not reply and not thinking:
            raise cause from error
        raise StreamBroken(cause, partial) from error
    finally:
        await client.close()

    paused = [choice for choice in _choices(chunks) if choice.finish_reason == PAUSED]
    for choice in paused:
        choice.finish_reason = "stop"  # the library puts together only what it knows
    answer = library.stream_chunk_builder(chunks, messages=options["messages"])
    hidden = (getattr(chunk, "_hidden_params", None) or {} for chunk in chunks)
    names = (as_text(fields.get("provider_response_model")) for fields in hidden)
    answer.model = next(filter(None, names), "")  # not the library's, which is the name that was asked for
    whole = chat_answer(answer, provider, prompt)
    if paused:
        return replace(whole, finish=PAUSED)
    return whole


def _joined(chunks: Sequence[Any], name: str) -> str:
    """Return the text of the pieces in one of their fields."""
    return "".join(as_text(getattr(choice.delta, name, None)) for choice in _choices(chunks))


def _choices(chunks: Sequence[Any]) -> Iterator[Any]:
    """Yield what each piece adds to an answer."""
    for chunk in chunks:
        yield from chunk.choices
