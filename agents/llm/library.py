"""litellm, without a network of its own. The only file that imports it."""

import asyncio
import logging
import os
import sys
import warnings
from functools import cache, partial
from typing import Any

from agents.text import as_text
from markets.garbage_collection import freeze_gc, gc_frozen
from markets.venues.wire.fields import member

PAUSED = "pause_turn"
"""How Anthropic ends an answer that its own tools take too long for."""


@cache
def litellm() -> Any:
    """Load the library: no price list from the network, no telemetry, no advice."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads any .env it finds upwards
    with gc_frozen():
        import litellm as library
        from litellm.litellm_core_utils import core_helpers

    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)  # they quote answers
    warnings.filterwarnings("ignore", r"(?s).*`ReadOnly` qualifier", UserWarning)
    library.telemetry = False
    library.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # the Call says what went wrong, without keys

    # By itself it takes a pause for a good end (up to 1.106) or for an answer cut off by its limit (since).
    finish_reasons: Any = core_helpers._FINISH_REASON_MAP
    finish_reasons[PAUSED] = PAUSED
    _take_content_in_parts()
    _read_counts_first()
    return library


def _take_content_in_parts() -> None:
    """Make the library take a message whose content is a list of parts, as some servers send it.

    It would refuse the whole answer, which is paid for.
    """
    from litellm.llms.openai import openai as wire

    name = "convert_to_model_response_object"
    convert = getattr(wire, name)

    def converted(*args: Any, **options: Any) -> Any:
        join_content_parts(options.get("response_object"))
        return convert(*args, **options)

    setattr(wire, name, converted)


def join_content_parts(response: Any) -> None:
    """Put the text of each message in place of its list of parts, if these are texts and thoughts alone."""
    choices = member(response, "choices")
    if not isinstance(choices, list):
        return

    for choice in choices:
        message = member(choice, "message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            continue

        parts = message["content"]
        kinds = {member(part, "type") for part in parts}
        if kinds <= {"text", "output_text", "thinking", "reasoning"}:
            texts = [part.get("text") for part in parts if part["type"] in ("text", "output_text")]
            message["content"] = "".join(map(as_text, texts))


@cache
def _read_counts_first() -> None:
    """Have counts of tokens made whole numbers before the library reads them: of others it loses the answer.

    All of its clients send by this transport, so here a tape has its place too.
    """
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    from agents.llm.bodies import response_with_whole_counts
    from agents.llm.tape import taped

    send = LiteLLMAiohttpTransport.handle_async_request

    async def handle_async_request(self: Any, request: Any) -> Any:
        return await response_with_whole_counts(await taped(partial(send, self), request))

    setattr(LiteLLMAiohttpTransport, send.__name__, handle_async_request)


def http_client() -> Any:
    """Make a client for one stream: the library's own leave connections open when a stream fails."""
    litellm()
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    return AsyncHTTPHandler()


@cache
def stay_loaded() -> None:
    """Keep what the library loaded for the first answer out of the garbage collector's way too."""
    freeze_gc()


@cache
def understood(model: str) -> frozenset[str]:
    """Return the optional parameters that a model's provider takes, as far as litellm knows."""
    return frozenset(litellm().get_supported_openai_params(model=model) or ())


def resolve_provider(model: str, base_url: str | None) -> str | None:
    """Return the provider that litellm asks for a model; None if it finds none."""
    library = litellm()
    try:
        return str(library.get_llm_provider(model, api_base=base_url)[1])
    except library.BadRequestError:
        return None


async def close() -> None:
    """Close every connection and task that litellm holds in this event loop; it may be used again after."""
    if "litellm" not in sys.modules:
        return

    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    library = litellm()
    await asyncio.sleep(0)  # what calls have left to be started is started
    await GLOBAL_LOGGING_WORKER.flush()
    await GLOBAL_LOGGING_WORKER.stop()
    await library.close_litellm_async_clients()
    library.in_memory_llm_clients_cache.flush_cache()
    await asyncio.sleep(0)  # what the clients themselves start as they go comes to its end
