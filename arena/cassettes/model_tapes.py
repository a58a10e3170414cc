"""The answer of a model on a cassette: recorded while it is asked, and read again without a network."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import ValidationError

from agents.llm import close, make_ask
from agents.llm.addresses import provider_prefix
from agents.llm.tape import TAPE, AnswerTape, TapedAnswer
from agents.model import Ask, Call, ModelSettings
from arena.calls.ping import ping, remark
from arena.cassettes.cassette import ModelTape
from arena.cassettes.cleaning import Cleaner
from arena.clock import timer
from arena.errors import ArenaError

SETTINGS = ("max_tokens", "form", "reasoning", "extra")
"""Settings on which it depends how an answer is asked for and read."""
MOST_TEXT = 60_000
MOST_TEXTS = 120_000
"""An answer whose body is longer is not kept, nor one for which the others have left no room."""
PROVIDERS = frozenset({
    "anthropic", "deepseek", "gemini", "groq", "hosted_vllm", "lm_studio", "mistral", "ollama", "ollama_chat",
    "openai", "openrouter", "perplexity", "together_ai", "xai",
})  # fmt: skip
"""Whose answers all pass by the tape; clients of others may reach for a network by themselves."""
NO_KEY = "CASSETTE_KEY"
NO_SERVER = "http://cassette.invalid"
"""What a replay has in place of a key and of a server: neither is used."""


@dataclass
class ModelRecorder:
    """Keeps the last good answer of a model, cleaned, and has it read so."""

    cleaner: Cleaner
    answer: TapedAnswer | None = None

    def played(self) -> None:
        """Return None, so that the model is asked."""

    def kept(self, answer: TapedAnswer) -> TapedAnswer:
        """Return an answer without secrets, and record it if it is good."""
        if answer.status != 200:
            return answer

        self.cleaner.counts["headers of requests and answers"] += 1
        body = self.cleaner.body(answer.body)
        self.answer = TapedAnswer(answer.status, answer.content_type, body)
        return self.answer


@dataclass
class ModelPlayer:
    """Gives the answer of a cassette to whatever is asked."""

    tape: ModelTape

    def played(self) -> TapedAnswer:
        """Return the recorded answer."""
        return TapedAnswer(self.tape.status, self.tape.content_type, self.tape.body)

    def kept(self, answer: TapedAnswer) -> TapedAnswer:
        """Return an answer unchanged."""
        return answer


@contextmanager
def _answers_through(tape: AnswerTape) -> Iterator[None]:
    """Pass the answers of models through a tape, in this task only."""
    token = TAPE.set(tape)
    try:
        yield
    finally:
        TAPE.reset(token)


@dataclass
class ModelTapes:
    """The answers of models while they are asked, and why one could not be kept."""

    cleaner: Cleaner
    tapes: list[ModelTape] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    async def ping(self, settings: ModelSettings, ask: Ask) -> Call:
        """Ask a model a tiny question, and record its answer if it is usable."""
        provider = provider_prefix(settings)
        if provider not in PROVIDERS:
            self.faults.append(f"{settings.model}: answers of its provider can't be recorded")
            return await ping(ask)

        recorder = ModelRecorder(self.cleaner)
        with _answers_through(recorder):
            call = await ping(ask)

        answer = recorder.answer
        fault: str = ""
        if call.error is not None:
            fault = call.error.code
        elif answer is None:
            fault = "its answer could not be taped"
        elif self._is_too_long(answer.body):
            fault = "its answer is too long for the cassette"
        elif not self.cleaner.is_clean(answer.body):
            fault = "a key or personal data stands in pieces in its answer"
        if fault or answer is None:
            self.faults.append(f"{settings.model}: {fault}")
            return call

        recorded_settings = settings.model_dump(mode="json", include=set(SETTINGS), exclude_defaults=True)
        tape = ModelTape(
            model=settings.model,
            provider=provider,
            own_server=settings.base_url is not None,
            settings=self.cleaner.json(recorded_settings),
            status=answer.status,
            content_type=answer.content_type,
            body=answer.body,
        )
        self.tapes.append(tape)
        return call

    def _is_too_long(self, body: str) -> bool:
        """Tell whether an answer is too long for the cassette."""
        total_length = len(body)
        for tape in self.tapes:
            total_length += len(tape.body)
        return len(body) > MOST_TEXT or total_length > MOST_TEXTS


async def replay_model(tape: ModelTape) -> Call:
    """Return the call that results from a recorded answer, without a network.

    Raise `ArenaError` if the settings make no sense.
    """
    server = NO_SERVER if tape.own_server else None
    values = {**tape.settings, "model": tape.model, "base_url": server, "api_key_env": NO_KEY}
    try:
        settings = ModelSettings.model_validate(values)
    except ValidationError as error:
        raise ArenaError("bad_cassette", f"the settings of {tape.model} make no sense") from error
    if provider_prefix(settings) not in PROVIDERS:
        raise ArenaError("bad_cassette", f"answers of the provider of {tape.model} can't be replayed")

    try:
        with _answers_through(ModelPlayer(tape)):
            return await ping(make_ask(settings, timer, {NO_KEY: "none"}))
    finally:
        await close()


def reading_fault(call: Call) -> str:
    """Return why a replayed answer can't be used; empty if it can."""
    if call.error is not None:
        return f"{call.error.code}: {call.error.message}"
    return remark(call)
