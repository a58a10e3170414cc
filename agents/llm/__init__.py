"""Asking a language model: one call, told whole, by litellm or, in OpenAI's Responses form, by httpx."""

from agents.llm.ask import make_ask
from agents.llm.errors import call_error, is_uncharged
from agents.llm.library import close, resolve_provider

__all__ = ["call_error", "close", "is_uncharged", "make_ask", "resolve_provider"]
