"""Where a model is: the address as its provider's client wants it, whether or not a version ends it."""

import re

from agents.model import ModelSettings
from agents.model_table.price_table import table_entry

_VERSION = re.compile(r"/v[0-9]+\w*(?:/|$)")
_VERSIONED = {"openai": "/v1", "hosted_vllm": "/v1", "lm_studio": "/v1", "openrouter": "/api/v1",
              "xai": "/v1", "gemini": "/v1beta", "responses": "/v1"}  # fmt: skip
"""What the addresses of these end in, if nothing in them is a version."""
RESPONSES = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "perplexity": ("https://api.perplexity.ai/v1", "PERPLEXITY_API_KEY"),
}
"""Who speaks OpenAI's Responses form, where, and the usual variable of the key."""


def base_address(provider: str | None, base_url: str | None) -> str | None:
    """A base_url as the client of a provider takes it."""
    if base_url is None:
        return None
    address = base_url.rstrip("/")
    if provider in ("anthropic", "ollama", "ollama_chat"):
        return re.sub(r"/(?:v1|api)$", "", address)
    ending = _VERSIONED.get(provider or "", "")
    if not ending or _VERSION.search(address) or "/deployments" in address:
        return address
    return address + (ending.removeprefix("/api") if address.endswith("/api") else ending)


def provider_prefix(settings: ModelSettings) -> str:
    """The provider before the slash of a model's name; of a bare name, the one that the table has for it."""
    prefix, slash, _ = settings.model.partition("/")
    return prefix if slash else str(table_entry(settings.model).get("litellm_provider", "openai"))


def model_name(settings: ModelSettings) -> str:
    """The model's name as its provider knows it."""
    return settings.model.partition("/")[2] or settings.model


def speaks_responses(settings: ModelSettings) -> bool:
    """Whether a model is asked in the Responses form: it has no other, or searches the web only there."""
    if table_entry(settings.model).get("mode") == "responses":
        return True
    return "web_search_options" in settings.extra and provider_prefix(settings) in ("openai", "xai")


def response_server(settings: ModelSettings) -> tuple[str, str]:
    """Where a provider speaks that form, and the usual variable of its key; empty where it is not known."""
    return RESPONSES.get(provider_prefix(settings), ("", ""))
