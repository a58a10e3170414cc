"""Asking a language model: the function that makes one call, from the settings of an agent.

If a server refuses the form of the answer, the seed or the name of the token limit, it is asked without from
then on; what it refuses is remembered for as long as the process lives.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agents.llm.addresses import RESPONSES, base_address, provider_prefix, response_server, speaks_responses
from agents.llm.answer import StreamBroken, WireAnswer, answered_call, chat_answer
from agents.llm.errors import call_error, http_status, is_uncharged, refused_part
from agents.llm.library import litellm, stay_loaded, understood
from agents.llm.options import chat_options, is_marked, is_streamed
from agents.llm.patience import patience
from agents.llm.stream import streamed_answer
from agents.model import Ask, Call, CallError, Message, ModelSettings, Prompt, Rung
from agents.model_table.capabilities import IDLE
from agents.secrets import redact, secrets_in

NEEDS_NO_KEY = "none"
"""Sent to a server of one's own in place of a key, so that no real one goes there unasked."""
RUNGS: tuple[Rung, ...] = ("schema", "json", "prompt")
"""How firmly the form of an answer can be asked for; a server that refuses one is asked by the next."""
MOST_SHARED = 16
"""How many shared questions are remembered."""


def make_ask(settings: ModelSettings, timer: Callable[[], float], environ: Mapping[str, str]) -> Ask:
    """Return the function that asks a model. It raises nothing for a provider's fault: the `Call` holds it.

    `timer` gives seconds from any moment. `environ` is where `api_key_env` is looked up; whatever else in it
    looks like a key is taken out of answers and errors as well.
    """
    secrets = secrets_in(environ, settings.api_key_env or "")
    server = settings.model, settings.base_url, settings.form, settings.seed, settings.max_tokens_key
    parts = {"seed", "max_tokens"}
    if not settings.seed:
        parts.remove("seed")
    if settings.max_tokens_key is not None:
        parts.remove("max_tokens")

    accepted = _ACCEPTED.setdefault(server, _Accepted(_forms_to_try(settings), parts))
    return _Model(settings, timer, environ, secrets, accepted, {}).ask


@dataclass
class _Accepted:
    """What a server is known to accept: the forms of answers from the highest on, and parts of a question."""

    ladder: list[Rung]
    parts: set[str]

    def stop_sending(self, part: str, rung: Rung) -> None:
        """Ask without a part from now on. Of many calls at once, only the first gives up a form."""
        if part != "form":
            self.parts.discard(part)
        elif self.ladder[0] == rung:
            self.ladder.pop(0)


def _forms_to_try(settings: ModelSettings) -> list[Rung]:
    """Return the forms that may be asked for, from the highest on; Anthropic has none for plain JSON."""
    if settings.form is not None:
        return [settings.form]
    if provider_prefix(settings) == "anthropic":
        return ["schema", "prompt"]
    return list(RUNGS)


_ACCEPTED: dict[tuple[object, ...], _Accepted] = {}
"""By model, address and what the settings fix."""


@dataclass(frozen=True)
class _Model:
    """A model and how it is reached.

    `first` has an event for the first of the questions that share a text: it is set once that is answered.
    """

    settings: ModelSettings
    timer: Callable[[], float]
    environ: Mapping[str, str]
    secrets: Sequence[str]
    accepted: _Accepted
    first: dict[tuple[Message, ...], asyncio.Event]

    async def ask(self, prompt: Prompt) -> Call:
        """Make one call; if the server refuses a part of it, return an error that another call may mend."""
        responses = speaks_responses(self.settings)
        key = _key_to_send(self.settings, self.environ, responses)
        if isinstance(key, CallError):
            return Call(prompt, None, cost=0, error=key)

        if not is_marked(prompt, provider_prefix(self.settings)):
            return await self._ask(prompt, key, responses)
        async with self._after_first_with_same_text(prompt):
            return await self._ask(prompt, key, responses)

    @asynccontextmanager
    async def _after_first_with_same_text(self, prompt: Prompt) -> AsyncIterator[None]:
        """Let the first of several questions with the same text be answered before the others are asked."""
        answered_first = self.first.get(prompt.messages)
        if answered_first is not None:
            await answered_first.wait()
            yield
            return

        is_answered = asyncio.Event()
        self.first[prompt.messages] = is_answered
        if len(self.first) > MOST_SHARED:
            del self.first[next(iter(self.first))]

        try:
            yield
        finally:
            is_answered.set()

    async def _ask(self, prompt: Prompt, key: str | None, responses: bool) -> Call:
        """Make one call by the highest form that is accepted, and learn from what the server refuses."""
        takes_form = responses or "response_format" in understood(self.settings.model)
        rung: Rung = "prompt"
        if takes_form and not prompt.tools and prompt.stage != "judge":
            rung = self.accepted.ladder[0]

        call = await self._call(prompt, key, rung, responses)
        if call.error is None:
            return call

        is_form_free = self.settings.form is None
        parts_sent = set(self.accepted.parts)
        if rung != "prompt" and is_form_free:
            parts_sent.add("form")
        part = refused_part(call.error, call.status, parts_sent)
        if part is not None:
            self.accepted.stop_sending(part, rung)
            return replace(call, error=replace(call.error, code="format", retry=True))

        if rung == "prompt" and call.error.code == "refused" and is_form_free:
            self.accepted.ladder[:] = _forms_to_try(self.settings)  # the form was not the reason, then
        return call

    async def _call(self, prompt: Prompt, key: str | None, rung: Rung, responses: bool) -> Call:
        """Make one call by a form, and return it whether it was answered or not."""
        litellm()  # loading it the first time takes seconds, which are none of the provider's
        start = self.timer()
        try:
            if responses:
                answer = await self._response(prompt, key, rung)
            else:
                answer = await self._chat(prompt, key, rung)
        except Exception as raised:  # noqa: BLE001 - provider clients raise anything, and the record takes it all
            return self._failed_call(prompt, rung, raised, round((self.timer() - start) * 1000))

        latency = round((self.timer() - start) * 1000)
        stay_loaded()
        return answered_call(prompt, self.settings, rung, answer, latency, self.secrets)

    def _failed_call(self, prompt: Prompt, rung: Rung, raised: Exception, latency: int) -> Call:
        """Return a call without an answer, or with one that broke off."""
        partial = None
        fault = raised
        if isinstance(raised, StreamBroken):
            partial = raised.partial
            fault = raised.fault

        error = call_error(fault, self.secrets)
        is_own_timeout = isinstance(fault, TimeoutError) and not str(fault)
        if is_own_timeout:
            or_idle = "" if partial is None else ", or no further word for a while"
            message = f"no answer within {self.settings.timeout:g} seconds{or_idle}"
            error = CallError("timeout", message, retry=True)
        if self.settings.base_url and error.code in ("other", "timeout", "unreachable"):
            message = error.message.removesuffix(".")
            error = replace(error, message=f"{message} (asked at {redact(self.settings.base_url)})")

        status = http_status(fault, error.code)
        if partial is not None:
            call = answered_call(prompt, self.settings, rung, partial, latency, self.secrets)
            return replace(call, reply=call.reply or None, cost=None, error=error, status=status)

        cost = 0 if is_uncharged(fault, error.code) else None  # None where it isn't known
        return Call(prompt, None, rung=rung, cost=cost, latency_ms=latency, error=error, status=status)

    async def _chat(self, prompt: Prompt, key: str | None, rung: Rung) -> WireAnswer:
        """Ask in the form of a chat."""
        settings = self.settings
        provider = provider_prefix(settings)
        options = chat_options(prompt, settings, key, rung, provider, self.accepted.parts)
        if is_streamed(settings, provider):
            return await streamed_answer(options, settings.timeout, IDLE, provider, prompt)
        async with patience(settings.timeout):
            return chat_answer(await litellm().acompletion(**options), provider, prompt)

    async def _response(self, prompt: Prompt, key: str | None, rung: Rung) -> WireAnswer:
        """Ask in the Responses form."""
        from agents.llm.responses import ask_response, response_body

        address = base_address("responses", self.settings.base_url) or response_server(self.settings)[0]
        body = response_body(prompt, self.settings, rung)
        return await ask_response(f"{address}/responses", key, body, self.settings.timeout, IDLE, prompt)


def _key_to_send(
    settings: ModelSettings, environ: Mapping[str, str], responses: bool
) -> str | CallError | None:
    """Return the key to send; None to leave it to the provider's usual variable; an error if it is missing.

    The library looks for the usual variable only where it makes the call itself, not for the Responses form.
    """
    variable = settings.api_key_env
    if variable is None and settings.base_url is not None:
        return NEEDS_NO_KEY

    if variable is None and responses:
        address, variable = response_server(settings)
        if not address:
            servers = ", ".join(RESPONSES)
            text = (
                f"{settings.model} answers in the Responses form only, which is spoken with {servers}, "
                "or with a base_url"
            )
            return CallError("refused", text, retry=False)

    if variable is None:
        return None
    key = environ.get(variable)
    return key or CallError("no_key", f"the environment variable {variable} is not set", retry=False)
