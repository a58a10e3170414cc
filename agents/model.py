"""What a mind sees, asks and answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from markets.model import MarketId, Snapshot
from markets.venue import Truth
from portfolio.model import Bet, Holdings, Mark, Rejection, Sale
from portfolio.rules import Rules

Stage = Literal["blind", "final"]
Rung = Literal["schema", "json", "prompt"]
Verdict = Literal["played", "malformed", "failed", "out"]
Reasoning = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
ErrorCode = Literal[
    "no_key",
    "refused",
    "rate_limit",
    "overloaded",
    "too_long",
    "filtered",
    "timeout",
    "format",
    "budget",
    "other",
]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The probability of YES, in millionths, that an agent states for a market."""

    market_id: MarketId
    probability: int
    stage: Stage = "final"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """A piece of evidence: what a source published, and the latest moment at which it can have done so."""

    source: str
    url: str
    title: str
    text: str
    published_at: datetime
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent may see when it decides. `stated` are the forecasts of those it is `of`.

    `since` is when the cohort decided before, None in its first round.
    """

    snapshot: Snapshot
    holdings: Holdings
    mark: Mark
    rules: Rules
    seed: int
    round: int = 1
    rounds: int = 1
    stated: Mapping[str, tuple[Forecast, ...]] = field(default_factory=dict)
    evidence: Mapping[MarketId, tuple[Article, ...]] = field(default_factory=dict)
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent believes and wants; the items of its answer that made no sense are rejected."""

    forecasts: tuple[Forecast, ...] = ()
    bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    verdict: Verdict = "played"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model or from it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model: what is asked, and which part of the turn it is.

    `bets` is whether the answer may hold bets and sales beside its forecasts.
    """

    messages: tuple[Message, ...]
    seed: int = 0
    stage: Stage = "final"
    sample: int = 1
    bets: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call brought no answer, told apart and free of keys.

    `wait` is for how many seconds the provider asked to be left alone.
    """

    code: ErrorCode
    message: str
    retry: bool
    wait: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to get an answer, whole.

    Cost in millionths of a dollar, None when unknown; `worst` is what it could have cost at most.
    """

    prompt: Prompt
    reply: str | None
    finish: str = ""
    model: str = ""
    fingerprint: str = ""
    rung: Rung = "prompt"
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int | None = None
    latency_ms: int = 0
    error: CallError | None = None
    worst: int | None = None


Ask = Callable[[Prompt], Awaitable[Call]]
Agent = Callable[[View, Ask], Awaitable[Decision]]


class Settings(BaseModel):
    """What a kind's block in the config may hold. Each kind adds its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Given:
    """What the composition root hands to a kind.

    The world's truth where it has one, the texts of prompts by name, and how to read a file or import a
    module that a path beside the config names.
    """

    truth: Truth | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[str], str] | None = None
    load: Callable[[str], Any] | None = None


class Price(BaseModel):
    """Dollars per million tokens, where the library's table does not know the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, le=1_000_000)
    output: float = Field(ge=0, le=1_000_000)


OURS = (
    "api_base", "api_key", "base_url", "extra_headers", "headers", "max_completion_tokens", "max_retries",
    "max_tokens", "messages", "model", "n", "num_retries", "reasoning_effort", "response_format", "seed",
    "stream", "temperature", "timeout", "tool_choice", "tools",
)  # fmt: skip
"""Parameters of a call that have a key of their own, or that would change what comes back."""


class ModelSettings(Settings):
    """How a model is reached. A kind whose settings extend these is given a real `ask`."""

    model: str
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s/]+")
    api_key_env: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int = Field(default=16_000, ge=1)
    prompt_tokens: int = Field(default=100_000, ge=1_000)
    reasoning: Reasoning | None = None
    timeout: float = 120.0
    price: Price | None = None
    released: date | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("extra")
    @classmethod
    def _not_ours(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in extra:
            if name.lower() in OURS:
                words = "it has a key of its own here, or changes what comes back"
                raise ValueError(f"{name} is no extra parameter: {words}")
        return extra
