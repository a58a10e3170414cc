"""Asking a language model: one call, told whole, by litellm or, in OpenAI's Responses form, by httpx."""

from agents.llm.ask import make_ask
from agents.llm.library import close, resolve_provider

__all__ = ["close", "make_ask", "resolve_provider"]
