"""litellm, told to stay at home. The only file that imports it."""

import asyncio
import logging
import os
import sys
import warnings
from functools import cache
from typing import Any

from markets.garbage_collection import freeze_gc, gc_frozen

PAUSED = "pause_turn"
"""How Anthropic ends an answer that its own tools take too long for."""


@cache
def litellm() -> Any:
    """The library: no price list from the network, no telemetry, no advice."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads any .env it finds upwards
    with gc_frozen():
        import litellm as library
        from litellm.litellm_core_utils import core_helpers

    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)  # they quote answers
    warnings.filterwarnings("ignore", r"(?s).*`ReadOnly` qualifier", UserWarning)
    library.telemetry = False
    library.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # the Call tells what went wrong, without keys
    # it takes what it doesn't know for a good end
    getattr(core_helpers, "_FINISH_REASON_MAP", {})[PAUSED] = PAUSED
    return library


def http_client() -> Any:
    """A client for one stream: those that the library keeps leave connections open when a stream fails."""
    litellm()
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    return AsyncHTTPHandler()


@cache
def stay_loaded() -> None:
    """What the first answer made the library load and build is kept out of the collector's way too."""
    freeze_gc()


@cache
def understood(model: str) -> frozenset[str]:
    """The optional parameters that a model's provider takes, as far as litellm knows."""
    return frozenset(litellm().get_supported_openai_params(model=model) or ())


def resolve_provider(model: str, base_url: str | None) -> str | None:
    """The provider that litellm asks for a model; None where it finds none."""
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
