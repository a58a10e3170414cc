"""What an agent sees, asks and answers."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, SupportsFloat

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from markets.millionths import ONE, decimal_of, millionths
from markets.model import Listing, MarketId, Quote, Snapshot
from markets.venue import Truth
from portfolio.model import Bet, Holdings, Mark, Rejection, Sale
from portfolio.rules import Rules

Stage = Literal["blind", "final"]
Rung = Literal["schema", "json", "prompt"]
DecisionStatus = Literal["played", "partly", "malformed", "declined", "failed", "late", "out", "waiting"]
USABLE_STATUSES: tuple[DecisionStatus, ...] = ("played", "partly")
"""Turns whose forecasts and orders count."""
DECIDED_STATUSES: tuple[DecisionStatus, ...] = (*USABLE_STATUSES, "malformed", "declined")
"""Turns in which the agent has answered, and which are over."""
Reasoning = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
ErrorCode = Literal[
    "no_key", "auth", "quota", "payment", "refused", "rate_limit", "overloaded", "unreachable", "too_long",
    "filtered", "declined", "timeout", "format", "budget", "other",
]  # fmt: skip


class ConfigBlock(BaseModel):
    """A block of a config: no key that it does not name, and nothing that changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, defer_build=True)


@dataclass(frozen=True, slots=True, init=False)
class Forecast:
    """The probability of YES that an agent states for a market, kept in millionths.

    A probability may be a float, a Decimal or a text; it is taken by the digits that it is written with.
    """

    market_id: MarketId
    millionths: int
    stage: Stage
    reason: str

    def __init__(
        self,
        market_id: MarketId,
        probability: SupportsFloat | str | None = None,
        stage: Stage = "final",
        reason: str = "",
        *,
        millionths: int | None = None,
    ):
        if millionths is None or probability is not None:
            millionths = _share(probability, millionths)
        _put_market(self, market_id)
        _put_millionths(self, millionths)
        _put_stage(self, stage)
        _put_reason(self, reason)

    @property
    def probability(self) -> float:
        """The probability as a number from 0 to 1."""
        return self.millionths / ONE


# a replayed year makes millions: these take half the time of object.__setattr__
_put_market, _put_millionths, _put_stage, _put_reason = (
    vars(Forecast)[name].__set__ for name in ("market_id", "millionths", "stage", "reason")
)


def _share(probability: SupportsFloat | str | None, given: int | None) -> int:
    """A probability in millionths, if these are not `given` too. Raises for what is not from 0 to 1."""
    if (probability is None) is (given is None):
        raise TypeError("a Forecast takes either a probability from 0 to 1 or millionths=")
    if isinstance(probability, bool) or not isinstance(probability, SupportsFloat | str):
        raise TypeError(f"a probability is a number from 0 to 1, and this is a {type(probability).__name__}")
    share = decimal_of(probability)
    if not 0 <= share <= 1:
        hint = "Write 0.65 for 65%, or millionths= for a whole number of millionths"
        raise ValueError(f"the probability {str(probability)[:40]} is not between 0 and 1. {hint}")
    return millionths(share)


@dataclass(frozen=True, slots=True)
class Article:
    """A piece of evidence: what a source published, and the latest moment at which it can have done so.

    `dated` is the day or time that it bears itself, in words.
    """

    source: str
    url: str
    title: str
    text: str
    published_at: datetime
    fetched_at: datetime
    dated: str = ""


HISTORY_DAYS = (30, 14, 7, 3, 1)
"""How many days before a round the earlier prices are from."""
MOST_ENDED = 30
"""So many markets that have ended are told of, the latest first."""


class Context(ConfigBlock):
    """What an agent is told beyond markets, prices, articles and its account; all of it by default."""

    history: bool = True
    """Earlier prices of each market, where it sees prices."""
    siblings: bool = True
    """Which markets are about one event, and what else that event has."""
    past: bool = True
    """Its own last forecasts, and how those ended that have since its last round."""


CONTEXT_KEYS: dict[str, JsonValue] = {"meant": "a block with history, siblings and past", "inline": True}


@dataclass(frozen=True, slots=True)
class PastForecast:
    """What an agent said of a market in an earlier round, beside the price of then, and what YES paid since.

    `question` is what the market asked. `outcome` is 1 for YES and 0 for NO; None while it is open, and
    where it ended otherwise.
    """

    forecast: Forecast
    round: int
    at: datetime
    question: str
    price: int | None = None
    outcome: int | None = None


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A tool as a model is told of it: its name, what it does, and the JSON schema of what it takes."""

    name: str
    about: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools that an agent has in a turn, and how one is used: by name, with what the model gave it."""

    forms: tuple[ToolForm, ...]
    use: Callable[[str, str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent may see when it decides. `stated` are the forecasts of those it is `of`.

    `since` is when the cohort decided before: what was missed does not count. None in its first round.
    What follows is there as far as its settings want it. `history` has earlier prices, oldest first;
    `siblings` has by event what is not in the snapshot, and is None where they are not wanted; `past` has
    its own last forecast of a market, blind and final, and `ended` those that ended since its last round.
    `tools` are there for who has any.
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
    history: Mapping[MarketId, tuple[Quote, ...]] = field(default_factory=dict)
    siblings: Mapping[str, tuple[Listing, ...]] | None = None
    past: Mapping[MarketId, tuple[PastForecast, ...]] = field(default_factory=dict)
    ended: tuple[PastForecast, ...] = ()
    tools: Toolbox | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent believes and wants; the items of its answer that made no sense are rejected.

    `repaired` are the repairs by which an answer of another form was read.
    """

    forecasts: tuple[Forecast, ...] = ()
    bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    status: DecisionStatus = "played"
    note: str = ""
    repaired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model or from it."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model: what is asked, and which part of the turn it is.

    `bets` is whether the answer may hold bets and sales beside its forecasts, `max_tokens` the longest answer
    to this question where that is not the settings' own. `shared` is one whose words others have too.
    `tools` are what the model may use before it answers; with `must_answer` it may use them no more.
    """

    messages: tuple[Message, ...]
    seed: int = 0
    stage: Stage = "final"
    sample: int = 1
    bets: bool = field(default=True, compare=False)
    max_tokens: int | None = field(default=None, compare=False)
    shared: bool = field(default=False, compare=False)
    tools: tuple[ToolForm, ...] = field(default=(), compare=False)
    must_answer: bool = field(default=False, compare=False)


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

    Cost in millionths of a dollar, None when unknown; `worst` is what it could have cost at most. `thinking`
    and `citations` (addresses) are there where the provider gives them, `host` where it names who served the
    model for it. Reasoning tokens are among `tokens_out`, those read from a cache or written to one among
    `tokens_in`. `status` is that of HTTP. `usage_doubt` says why the provider's usage was not believed; it is
    not kept with the call.
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
    thinking: str = ""
    citations: tuple[str, ...] = ()
    host: str = ""
    tokens_reasoning: int = 0
    tokens_cached: int = 0
    tokens_cache_write: int = 0
    status: int | None = None
    usage_doubt: str = field(default="", compare=False)


Ask = Callable[[Prompt], Awaitable[Call]]
Agent = Callable[[View, Ask], Awaitable[Decision]]


class Unreadable(ValueError):
    """A file or a module that a config names can't be used: what is wrong with it, and a hint."""


class Settings(ConfigBlock):
    """What a kind's block in the config may hold. Each kind adds its own fields, and a line on each."""

    def faults(self, given: "Given") -> Iterator[tuple[str, str]]:
        """What would fail every turn, seen before the first: which setting, and words with a hint."""
        yield from ()


def _no_folder(name: str) -> Any:
    raise Unreadable(f"{name} can't be found: there is no folder to look in")


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a program: its output, its exit status, and the end of what it wrote to standard error.

    `fault` is why there is nothing to read: it could not be started, took too long, or wrote too much.
    """

    output: str
    status: int | None = None
    complaint: str = ""
    fault: str = ""
    timed_out: bool = False


async def _no_program(words: Sequence[str], *_: object) -> Ran:
    return Ran("", fault=f"{words[0]} can't be run here")


@dataclass(frozen=True, slots=True)
class Given:
    """What the composition root hands to a kind.

    The world's truth where it has one, the texts of prompts by name, and how to read a file or import a
    module beside the config; what can't be had that way is `Unreadable`. And how to run a program there: its
    words, what it reads, for how many seconds at most, and which variables it sees; and whether there is one
    of a name.
    """

    truth: Truth | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[str], str] = _no_folder
    load: Callable[[str], Any] = _no_folder
    run: Callable[[Sequence[str], str, float, Sequence[str]], Awaitable[Ran]] = _no_program
    has_program: Callable[[str], bool] = bool


class TokenPrice(ConfigBlock):
    """Dollars per million tokens, where the library's table does not know the model."""

    input: float = Field(ge=0, le=1_000_000)
    """For what the model is sent."""
    output: float = Field(ge=0, le=1_000_000)
    """For what it answers."""


class Measurement(ConfigBlock):
    """What one question told of a model, as `arena agents add` writes it."""

    on: date
    """The day of the question."""
    markets: int = Field(ge=1)
    """How many markets it showed."""
    answered: int = Field(ge=0)
    """How many of them had a usable forecast."""
    seconds: float = Field(ge=0)
    """How long the answer took."""
    tokens_in: int = Field(ge=0)
    """Tokens of the question."""
    tokens_out: int = Field(ge=0)
    """Tokens of the answer with its thinking."""
    thinking: int = Field(ge=0)
    """How many of these were thinking."""
    usd: float | None = Field(default=None, ge=0)
    """What it cost in dollars."""

    @property
    def speed(self) -> float:
        """Tokens of the answer a second."""
        return self.tokens_out / max(self.seconds, 0.1)


OWN_PARAMETERS = (
    "api_base", "api_key", "base_url", "extra_headers", "headers", "max_completion_tokens", "max_retries",
    "max_tokens", "messages", "model", "n", "num_retries", "reasoning_effort", "response_format", "seed",
    "stream", "temperature", "timeout", "tool_choice", "tools",
)  # fmt: skip
"""Parameters of a call that have a key of their own, or that would change what comes back."""


def is_none(value: object) -> bool:
    """Whether a setting has no value, and is left out: what was frozen before the key was there lacks it."""
    return value is None


class ModelSettings(Settings):
    """How a model is reached. A kind whose settings extend these is given a real `ask`.

    Where such a kind can do without, an empty `model` stands for none.
    """

    model: str
    """The model, by its litellm name, such as `anthropic/MODEL`."""
    base_url: str | None = Field(default=None, pattern=r"^(?:https?://[^\s/]+|server \d+$)")
    """An OpenAI-compatible server, if not the provider's own; not frozen."""
    api_key_env: str | None = None
    """The environment variable that holds the key, if not the provider's usual one."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sent only if set."""
    max_tokens: int = Field(default=16_000, ge=1)
    """The longest answer, in tokens; by default computed from model and number of markets."""
    max_tokens_key: str | None = Field(default=None, exclude_if=is_none, pattern=r"^[a-z_]{1,40}$")
    """The name to send `max_tokens` under, for servers that reject the usual one."""
    form: Rung | None = Field(default=None, exclude_if=is_none)
    """How the answer's form is requested; by default whatever the server accepts."""
    seed: bool = Field(default=True, exclude_if=bool)
    """Whether a seed is sent to servers that accept one."""
    prompt_tokens: int = Field(default=100_000, ge=1_000)
    """The longest prompt, in estimated tokens."""
    reasoning: Reasoning | None = None
    """The reasoning effort. Sent only if set."""
    timeout: float = Field(
        default=120.0, json_schema_extra={"meant": 'a duration such as "120s" or "15m"', "unit": "seconds"}
    )
    """How long to wait for an answer; by default computed like `max_tokens`."""
    price: TokenPrice | None = Field(
        default=None, json_schema_extra={"meant": "a block with input and output"}
    )
    """Dollars per million tokens, if litellm has no price: `{input: 1, output: 4}`."""
    max_cost: float | None = Field(default=None, exclude_if=is_none, ge=0, le=100_000)
    """The most a call can cost, in dollars, if `extra` adds an unbounded cost."""
    released: date | None = None
    """The day the model was released."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """More parameters, sent unchanged."""
    measured: Measurement | None = Field(
        default=None,
        exclude_if=is_none,
        json_schema_extra={"meant": "a block that `agents add` writes"},
    )
    """What one question measured, for estimates; frozen with a cohort."""

    @field_validator("extra")
    @classmethod
    def _not_ours(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in extra:
            if name.lower() in OWN_PARAMETERS:
                words = "it has its own key here, or changes the form of the answer"
                raise ValueError(f"{name} is not allowed under extra: {words}")
        return extra


class TooLate(Exception):
    """What an agent raises whose answer did not come in time: its turn is late."""


class DeskSettings(Settings):
    """What agents have that take their turns at the desk. A kind whose settings extend these waits there."""

    wait: float = Field(
        default=900.0,
        gt=0,
        le=5 * 3_600,
        json_schema_extra={"meant": 'a duration such as "15m", at most 5h', "unit": "seconds"},
    )
    """How long a round waits for its answer, once its turn is open."""


def model_settings(settings: Settings) -> ModelSettings | None:
    """How the model of an agent is reached; None where it has none."""
    return settings if isinstance(settings, ModelSettings) and settings.model else None
