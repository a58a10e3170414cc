"""Addresses of models as their provider's client takes them, whether or not they end in a version."""

import re

from agents.model import ModelSettings
from agents.model_table.price_table import table_entry

_VERSION = re.compile(r"/v[0-9]+\w*(?:/|$)")
_VERSIONED = {"openai": "/v1", "hosted_vllm": "/v1", "lm_studio": "/v1", "openrouter": "/api/v1",
              "xai": "/v1", "gemini": "/v1beta", "responses": "/v1"}  # fmt: skip
"""How addresses end by provider, if nothing in them is a version."""
RESPONSES = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "perplexity": ("https://api.perplexity.ai/v1", "PERPLEXITY_API_KEY"),
}
"""Providers that speak OpenAI's Responses form: their address, and the usual variable of the key."""


def base_address(provider: str | None, base_url: str | None) -> str | None:
    """Return a base_url as the client of a provider takes it."""
    if base_url is None:
        return None

    address = base_url.rstrip("/")
    if provider in ("anthropic", "ollama", "ollama_chat"):
        return re.sub(r"/(?:v1|api)$", "", address)

    ending = _VERSIONED.get(provider or "", "")
    if not ending or _VERSION.search(address) or "/deployments" in address:
        return address
    if address.endswith("/api"):
        ending = ending.removeprefix("/api")
    return address + ending


def provider_prefix(settings: ModelSettings) -> str:
    """Return the provider before the slash of a model's name; of a bare name, the one in the price table."""
    prefix, slash, _ = settings.model.partition("/")
    if slash:
        return prefix
    return str(table_entry(settings.model).get("litellm_provider", "openai"))


def model_name(settings: ModelSettings) -> str:
    """Return the model's name as its provider knows it."""
    return settings.model.partition("/")[2] or settings.model


def speaks_responses(settings: ModelSettings) -> bool:
    """Return whether a model is asked in the Responses form: it has no other, or searches only there."""
    if table_entry(settings.model).get("mode") == "responses":
        return True
    return "web_search_options" in settings.extra and provider_prefix(settings) in ("openai", "xai")


def response_server(settings: ModelSettings) -> tuple[str, str]:
    """Return where a provider speaks that form and the usual variable of its key, empty if not known."""
    return RESPONSES.get(provider_prefix(settings), ("", ""))
