"""Questions as options for litellm. What isn't set isn't sent."""

from collections.abc import Collection
from typing import Any

from agents.llm.addresses import base_address
from agents.llm.library import understood
from agents.model import ModelSettings, Prompt, Rung
from agents.model_table.cost import most_tokens
from agents.model_table.price_table import table_entry
from agents.prompts.answer_schema import answer_schema
from agents.steps import step_message
from agents.text import tokens_of
from markets.hashes import sha256

OPENAI = "openai/"
STREAMED = ("anthropic", "gemini")
"""Providers whose answers come as a stream where thinking may take long: of others' litellm would lose the
refusal, the cost or the host."""
WORTH_CACHING = 4_000
"""Characters of a question that is worth keeping for the next one with the same words."""
CACHE_MARK = {"type": "ephemeral"}
WINDOW_STEP = 1_024
CLIENT_TIMEOUT = 86_400.0
"""Seconds that the client waits: its own timers would win over an answer that came during a suspension."""


def chat_options(
    prompt: Prompt,
    settings: ModelSettings,
    key: str | None,
    rung: Rung,
    provider: str,
    parts: Collection[str],
) -> dict[str, Any]:
    """Return all options but those of a stream; `parts` has those of `seed` and `max_tokens` to be sent."""
    messages = [
        step_message(message) or {"role": message.role, "content": message.content}
        for message in prompt.messages
    ]
    if is_marked(prompt, provider):  # others keep by themselves what questions share
        last = messages[-1]
        last["content"] = [{"type": "text", "text": last["content"], "cache_control": CACHE_MARK}]

    sends_seed = "seed" in parts and "seed" in understood(settings.model)
    optional = {
        "api_key": key,
        "api_base": base_address(provider, settings.base_url),
        "temperature": settings.temperature,
        "reasoning_effort": settings.reasoning,
        "seed": prompt.seed if sends_seed else None,
    }
    options: dict[str, Any] = {**settings.extra}
    options.update({name: value for name, value in optional.items() if value is not None})
    options.update(_tool_options(prompt) if prompt.tools else form_option(prompt, settings, rung))
    options.update(
        model=settings.model,
        messages=messages,
        timeout=CLIENT_TIMEOUT,
        max_retries=0,
        num_retries=0,
    )

    token_limit = prompt.max_tokens or settings.max_tokens
    usual_name = "max_tokens" if "max_tokens" in parts else "max_completion_tokens"
    limit_name = settings.max_tokens_key or usual_name
    if limit_name in ("max_tokens", "max_completion_tokens"):
        options[limit_name] = token_limit
    else:
        # a name that the library doesn't know goes into the body as it is
        body = options.get("extra_body")
        if not isinstance(body, dict):
            body = {}
        options["extra_body"] = {**body, limit_name: token_limit}

    if provider in ("ollama", "ollama_chat"):
        options.setdefault("num_ctx", _context_window(prompt, token_limit))
    elif provider == "openai" and settings.base_url is None and prompt.shared:
        options.setdefault("prompt_cache_key", sha256(prompt.messages[0].content)[:32])
    return options


def _tool_options(prompt: Prompt) -> dict[str, Any]:
    """Return the tools as options. No form is asked for beside them, which several providers refuse."""
    tools = []
    for tool in prompt.tools:
        form = {"name": tool.name, "description": tool.about, "parameters": tool.parameters}
        tools.append({"type": "function", "function": form})

    choice = "none" if prompt.must_answer else "auto"
    # litellm would look among tools for servers of its own, by a library that need not be there
    return {"tools": tools, "tool_choice": choice, "_skip_mcp_handler": True}


def form_option(prompt: Prompt, settings: ModelSettings, rung: Rung) -> dict[str, Any]:
    """Return the form of the answer as an option.

    For a server of one's own it is as it is sent, which spares the client a walk through the whole schema
    with every call.
    """
    if rung == "prompt":
        return {}

    form: dict[str, Any] = {"type": "json_object"}
    if rung == "schema":
        schema = {"name": "answer", "strict": True, "schema": answer_schema(prompt.bets, prompt.kinds)}
        form = {"type": "json_schema", "json_schema": schema}

    body = settings.extra.get("extra_body", {})
    if settings.base_url is None or not settings.model.startswith(OPENAI) or not isinstance(body, dict):
        return {"response_format": form}
    return {"extra_body": {**body, "response_format": form}}


def is_marked(prompt: Prompt, provider: str | None) -> bool:
    """Return whether a provider is told to keep a question for the others that share its text."""
    length = sum(len(message.content) for message in prompt.messages)
    return prompt.shared and length >= WORTH_CACHING and provider == "anthropic" and not prompt.tools


def _context_window(prompt: Prompt, answer_limit: int) -> int:
    """Return the tokens for the question and its answer: with fewer a local server drops the beginning."""
    tokens = min(most_tokens(prompt), tokens_of(prompt.messages)) + answer_limit
    steps = -(-tokens // WINDOW_STEP)  # rounded up
    return steps * WINDOW_STEP


def is_streamed(settings: ModelSettings, provider: str | None) -> bool:
    """Return whether the answer comes as a stream: from a model that thinks, which may take minutes."""
    may_search = "web_search_options" in settings.extra  # whose sources the library loses from a stream
    if provider not in STREAMED or may_search or settings.reasoning in ("none", "minimal"):
        return False
    return settings.reasoning is not None or bool(table_entry(settings.model).get("supports_reasoning"))
