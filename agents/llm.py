"""Asking a language model: one call by litellm, told whole. The only file that knows litellm.

A call that brings no answer holds the reason, told apart. Errors are known by the names of their classes
and by their HTTP status, so that no client library has to be imported for it.
"""

import asyncio
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from agents.answers.json_text import MOST_TEXT, answer_schema
from agents.cost import usage_cost
from agents.model import Ask, Call, CallError, ErrorCode, ModelSettings, Prompt, Rung
from agents.text import one_line, printable, redact, remove_secrets, secrets_in
from agents.usage import read_usage
from markets.garbage_collection import freeze_gc, gc_frozen

MOST_WORDS = 500
MOST_READ = 20_000
_NO_KEY = re.compile(
    r"(?i)missing credentials|api_key client option must be set|no api key|missing .{0,40}api[ _-]?key"
    r"|api[ _-]?key .{0,40}(?:missing|not set|not found|required)"
)
_UNREACHED = re.compile(
    r"(?i)connection error|cannot connect|connection refused|connection reset|server disconnected"
)
_TOO_LONG = re.compile(r"(?i)context[ _](?:length|window)|maximum context|prompt is too long|too many tokens")
_FILTERED = re.compile(r"(?i)content[ _](?:filter|policy|management)")
_GARBLED = re.compile(
    r"(?i)expecting (?:value|property name|'.' delimiter)|unterminated string|extra data|codec can't decode"
    r"|invalid response|jsondecodeerror"
)
_NEVER_ARRIVED = ("ClientConnectorError", "ConnectionRefusedError", "ConnectTimeout")
_NAMED: dict[str, tuple[ErrorCode, bool]] = {
    "ContextWindowExceededError": ("too_long", False),
    "ContentPolicyViolationError": ("filtered", False),
    "Timeout": ("timeout", True),
    "TimeoutError": ("timeout", True),
    "RateLimitError": ("rate_limit", True),
}
OPENAI = "openai/"
NEEDS_NO_KEY = "none"
"""Sent to a server of one's own in place of a key, so that no real one goes there unasked."""
RUNGS: tuple[Rung, ...] = ("schema", "json", "prompt")
"""How firmly the form of an answer can be asked for; a server that refuses one is asked by the next."""
_NOTHING = {
    "content_filter": CallError("filtered", "the provider's content filter blocked the answer", retry=False),
    "none": CallError("other", "the provider sent an empty answer", retry=True),
}
"""Why a call has no reply, by how it finished."""


def make_ask(settings: ModelSettings, timer: Callable[[], float], environ: Mapping[str, str]) -> Ask:
    """The function that asks this model. It never raises for a provider's fault: the Call holds it.

    `timer` gives seconds from any moment. `environ` is where `api_key_env` is looked up; whatever
    else in it looks like a key is taken out of answers and errors as well.
    """
    secrets = secrets_in(environ, settings.api_key_env or "")
    ladder = list(RUNGS)  # from the highest that the server hasn't refused

    async def ask(prompt: Prompt) -> Call:
        key = _key(settings, environ)
        if isinstance(key, CallError):
            return Call(prompt, None, cost=0, error=key)
        rung = ladder[0] if "response_format" in _understood(settings.model) else "prompt"
        call = await _call(prompt, settings, key, rung, timer, secrets)
        if rung == "prompt" or call.error is None or not _refuses_format(call.error):
            return call
        if ladder[0] == rung:  # of many calls at once, only the first climbs down
            ladder.pop(0)
        return replace(call, error=replace(call.error, code="format", retry=True))

    return ask


async def close() -> None:
    """Close every connection and task that litellm holds in this event loop; it may be used again after."""
    if "litellm" not in sys.modules:
        return
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    litellm = _litellm()
    await asyncio.sleep(0)  # what calls have left to be started is started
    await GLOBAL_LOGGING_WORKER.flush()
    await GLOBAL_LOGGING_WORKER.stop()
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
    await asyncio.sleep(0)  # what the clients themselves start as they go comes to its end


@cache
def _litellm() -> Any:
    """The library, told to stay at home: no price list from the network, no telemetry, no advice."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads any .env it finds upwards
    with gc_frozen():
        import litellm

    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)  # they quote answers
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # the Call tells what went wrong, without keys
    return litellm


@cache
def _stay_loaded() -> None:
    """What the first answer made the library load and build is kept out of the collector's way too."""
    freeze_gc()


@cache
def _understood(model: str) -> frozenset[str]:
    """The optional parameters that a model's provider takes, as far as litellm knows."""
    return frozenset(_litellm().get_supported_openai_params(model=model) or ())


def resolve_provider(model: str, base_url: str | None) -> str | None:
    """The provider that litellm asks for a model; None where it finds none."""
    library = _litellm()
    try:
        return str(library.get_llm_provider(model, api_base=base_url)[1])
    except library.BadRequestError:
        return None


def _key(settings: ModelSettings, environ: Mapping[str, str]) -> str | CallError | None:
    """The key to send; None to leave it to the provider's usual variable; an error if it is missing."""
    if settings.api_key_env is None:
        return None if settings.base_url is None else NEEDS_NO_KEY
    if key := environ.get(settings.api_key_env):
        return key
    return CallError("no_key", f"the environment variable {settings.api_key_env} is not set", retry=False)


async def _call(
    prompt: Prompt,
    settings: ModelSettings,
    key: str | None,
    rung: Rung,
    timer: Callable[[], float],
    secrets: Sequence[str],
) -> Call:
    options = _options(prompt, settings, key, rung)
    answer: Any = None
    error: CallError | None = None
    free, library = False, _litellm()  # the first time it takes seconds, which are none of the provider's
    start = timer()
    try:
        async with asyncio.timeout(settings.timeout):
            answer = await library.acompletion(**options)
    except TimeoutError:
        error = CallError("timeout", f"no answer within {settings.timeout:g} seconds", retry=True)
    except Exception as raised:  # noqa: BLE001 - provider clients raise anything, and the record takes it all
        error = call_error(raised, secrets)
        free = is_uncharged(raised, error.code)
    latency = round((timer() - start) * 1000)
    if error is None:
        _stay_loaded()
        return _call_answered(prompt, settings, rung, answer, latency, secrets)
    return Call(prompt, None, rung=rung, cost=0 if free else None, latency_ms=latency, error=error)


def _options(prompt: Prompt, settings: ModelSettings, key: str | None, rung: Rung) -> dict[str, Any]:
    """What litellm is told. What isn't set isn't sent."""
    options = {
        "api_key": key,
        "api_base": settings.base_url,
        "temperature": settings.temperature,
        "reasoning_effort": settings.reasoning,
        "seed": prompt.seed if "seed" in _understood(settings.model) else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {**settings.extra, **given, **_wanted_form(prompt, settings, rung)} | {
        "model": settings.model,
        "messages": [{"role": message.role, "content": message.content} for message in prompt.messages],
        "max_tokens": prompt.max_tokens or settings.max_tokens,
        "timeout": settings.timeout,
        "max_retries": 0,
        "num_retries": 0,
    }


def _wanted_form(prompt: Prompt, settings: ModelSettings, rung: Rung) -> dict[str, Any]:
    """The form of answer as an option: for a server of one's own as it is sent, which spares the client a
    walk through the whole schema with every call."""
    if rung == "prompt":
        return {}
    form: dict[str, Any] = {"type": "json_object"}
    if rung == "schema":
        wanted = {"name": "answer", "strict": True, "schema": answer_schema(prompt.bets)}
        form = {"type": "json_schema", "json_schema": wanted}
    extra_body = settings.extra.get("extra_body", {})
    if settings.base_url is None or not settings.model.startswith(OPENAI) or not isinstance(extra_body, dict):
        return {"response_format": form}
    return {"extra_body": {**extra_body, "response_format": form}}


def _call_answered(
    prompt: Prompt, settings: ModelSettings, rung: Rung, answer: Any, latency: int, secrets: Sequence[str]
) -> Call:
    """The call as the provider tells it: its own name for the model, its own count of tokens."""
    reply, finish = "", "none"
    if answer.choices:
        message, finish = answer.choices[0].message, answer.choices[0].finish_reason or ""
        reply = message.content or _refusal(message) or ""
    if len(reply) > MOST_TEXT:
        reply, finish = reply[:MOST_TEXT], "length"
    usage = read_usage(answer)
    return Call(
        prompt,
        _call_record(reply, secrets),
        finish=finish,
        model=_call_record(answer.model, secrets),
        fingerprint=_call_record(getattr(answer, "system_fingerprint", None), secrets),
        rung=rung,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage_cost(settings, usage, replied=bool(reply)),
        latency_ms=latency,
        error=None if reply else _NOTHING.get(finish),
    )


def _call_record(value: object, secrets: Sequence[str]) -> str:
    """What a provider says in a field for a text, in which a server of one's own may put anything."""
    return remove_secrets(printable(value if isinstance(value, str) else ""), secrets)


def _refusal(message: Any) -> str | None:
    """What a model says in place of an answer that it refuses to give."""
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return refusal if isinstance(refusal, str) else None


def _refuses_format(error: CallError) -> bool:
    """Whether a server turned the call down for the form of answer that was asked for."""
    message = error.message.lower()
    words = ("response_format", "json_object", "json_schema", "json mode")
    return error.code == "refused" and any(word in message for word in words)


def call_error(error: BaseException, secrets: Iterable[str] = ()) -> CallError:
    """The error as it is recorded: its code, its words without keys, and whether to try again.

    >>> call_error(TimeoutError("no answer after 5 s"))
    CallError(code='timeout', message='no answer after 5 s', retry=True, wait=None)
    """
    text = str(error)[:MOST_READ].partition("Traceback (most recent call last)")[0] or type(error).__name__
    code, retry = _error_code(error, text)
    wait = _retry_wait(error) if retry else None
    return CallError(code, one_line(redact(text, secrets), MOST_WORDS), retry, wait)


def is_uncharged(error: BaseException, code: ErrorCode) -> bool:
    """Whether nobody can have charged for a call: it was turned down, or never arrived.

    What was answered into the void, or can't be read, may have been paid for all the same.
    """
    return code not in ("timeout", "other") or any(
        type(cause).__name__ in _NEVER_ARRIVED for cause in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


def _retry_wait(error: BaseException) -> float | None:
    """For how many seconds the provider asks to be left alone, by its Retry-After."""
    for headers in _headers(error):
        value = headers.get("retry-after")
        if isinstance(value, str) and value.strip():
            return _seconds(value.strip(), headers.get("date"))
    return None


def _headers(error: BaseException) -> Iterator[Mapping[str, Any]]:
    """The headers of the answer that an error was made from, wherever its client keeps them."""
    response = getattr(error, "response", None)
    for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
        if isinstance(headers, Mapping):
            yield {str(name).lower(): value for name, value in headers.items()}


def _seconds(value: str, date: object) -> float | None:
    """Seconds as they stand, or from the server's own clock to the moment that it names."""
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
        return float(value)
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(str(date))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):  # neither form, or one moment with a zone and one without
        return None


def _error_code(error: BaseException, text: str) -> tuple[ErrorCode, bool]:
    for name in (cls.__name__ for cls in type(error).__mro__):
        if name in _NAMED:
            return _NAMED[name]
    if _NO_KEY.search(text):
        return "no_key", False
    if _UNREACHED.search(text) or _GARBLED.search(text):
        return "other", True
    status = getattr(error, "status_code", None)
    return _by_status(status, text) if isinstance(status, int) else ("other", False)


def _by_status(status: int, text: str) -> tuple[ErrorCode, bool]:
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 413 or (status == 400 and _TOO_LONG.search(text)):
        return "too_long", False
    if 400 <= status < 500:
        return ("filtered" if _FILTERED.search(text) else "refused"), False
    return ("overloaded", True) if status >= 500 else ("other", True)
