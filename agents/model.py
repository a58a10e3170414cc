"""The values between the arena and an agent: what it sees, what it asks a model, what it decides."""

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

Stage = Literal["blind", "final", "judge"]
Rung = Literal["schema", "json", "prompt"]
DecisionStatus = Literal["played", "partly", "malformed", "declined", "failed", "late", "out", "waiting"]
USABLE_STATUSES: tuple[DecisionStatus, ...] = ("played", "partly")
"""How turns end whose forecasts and orders count."""
DECIDED_STATUSES: tuple[DecisionStatus, ...] = (*USABLE_STATUSES, "malformed", "declined")
"""How turns end in which the agent has answered: they are not played again."""
Reasoning = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
ErrorCode = Literal[
    "no_key", "auth", "quota", "payment", "refused", "rate_limit", "overloaded", "unreachable", "too_long",
    "filtered", "declined", "timeout", "format", "budget", "other",
]  # fmt: skip


class ConfigBlock(BaseModel):
    """A frozen block of a config. A key that it does not name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, defer_build=True)


@dataclass(frozen=True, slots=True, init=False)
class Forecast:
    """The probability of YES that an agent states for a market, kept in millionths.

    It is made from a `probability` (a float, a Decimal or a text, taken by its decimal digits) or from
    `millionths`. To a question that isn't of yes or no, the answer is a `distribution`, the text of a
    `markets.distributions.Distribution`; there is no probability then, and 0 millionths stand for it.
    """

    market_id: MarketId
    millionths: int
    stage: Stage
    reason: str
    distribution: str

    def __init__(
        self,
        market_id: MarketId,
        probability: SupportsFloat | str | None = None,
        stage: Stage = "final",
        reason: str = "",
        *,
        millionths: int | None = None,
        distribution: str = "",
    ):
        if distribution:
            millionths = millionths or 0
        if (probability is None) is (millionths is None):
            raise TypeError("a Forecast takes either a probability from 0 to 1 or millionths=")
        if millionths is None:
            millionths = _as_millionths(probability)

        # The class is frozen, so its own fields are set past its own __setattr__.
        object.__setattr__(self, "market_id", market_id)
        object.__setattr__(self, "millionths", millionths)
        object.__setattr__(self, "stage", stage)
        object.__setattr__(self, "reason", reason)
        object.__setattr__(self, "distribution", distribution)

    @property
    def probability(self) -> float:
        """Return the probability as a number from 0 to 1."""
        return self.millionths / ONE


def _as_millionths(probability: object) -> int:
    """Return a probability in millionths. Raise if it is not a number from 0 to 1."""
    if isinstance(probability, bool) or not isinstance(probability, SupportsFloat | str):
        raise TypeError(f"a probability is a number from 0 to 1, and this is a {type(probability).__name__}")

    share = decimal_of(probability)
    if not 0 <= share <= 1:
        hint = "Write 0.65 for 65%, or millionths= for a whole number of millionths"
        raise ValueError(f"the probability {str(probability)[:40]} is not between 0 and 1. {hint}")

    return millionths(share)


def forecasts_of(probabilities: Mapping[MarketId, int]) -> tuple[Forecast, ...]:
    """Return a forecast for each market with a probability in millionths."""
    return tuple(Forecast(market_id, millionths=share) for market_id, share in probabilities.items())


@dataclass(frozen=True, slots=True)
class Article:
    """A piece of evidence that agents are shown.

    `published_at` is the latest moment at which it can have been published, `dated` the day or time that its
    source gives, as text.
    """

    source: str
    url: str
    title: str
    text: str
    published_at: datetime
    fetched_at: datetime
    dated: str = ""


HISTORY_DAYS = (30, 14, 7, 3, 1)
"""The ages of the earlier prices that an agent is shown, in days before the round."""
MOST_ENDED = 30
"""How many markets that have ended an agent is shown at most, the latest first."""


class Context(ConfigBlock):
    """What an agent is shown beyond markets, prices, articles and its account; everything by default."""

    history: bool = True
    """Earlier prices of each market, where it sees prices."""
    siblings: bool = True
    """Which markets are about one event, and what else that event has."""
    past: bool = True
    """Its own last forecasts, and how those ended that have since its last round."""


CONTEXT_KEYS: dict[str, JsonValue] = {"meant": "a block with history, siblings and past", "inline": True}


@dataclass(frozen=True, slots=True)
class PastForecast:
    """A forecast of an earlier round, with the price of that time and how the market ended.

    `question` is the question of the market. `outcome` is 1 for YES and 0 for NO; None while it is open, or
    if it ended in another way. Of a question that isn't of yes or no, `form` is the text of its form and
    `answer` what it came to.
    """

    forecast: Forecast
    round: int
    at: datetime
    question: str
    price: int | None = None
    outcome: int | None = None
    form: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A tool as it is described to a model: its name, what it does, and the JSON schema of its arguments."""

    name: str
    about: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools that an agent has in a turn; `use(name, arguments)` calls one and returns its answer."""

    forms: tuple[ToolForm, ...]
    use: Callable[[str, str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent may see when it decides.

    `stated` has the forecasts of the agents named in its `of`. `since` is when the cohort played its last
    round; None in the first one, and rounds that it missed don't count.

    The rest is filled as its settings say. `history` has earlier prices by market, oldest first. `siblings`
    has, by event, the markets that are not in the snapshot; None if they are switched off. `past` has its own
    last forecasts by market, blind and final, and `ended` those whose markets ended since its last round.
    `tools` is None if it has none. A `hidden` view has no prices, and nothing can be traded.
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
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent forecasts and orders; invalid items of its answer are among the rejections.

    `repaired` names the repairs that were needed to read its answer.
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
    """One question to a model, and which stage and sample of the turn it is for.

    `bets` is whether the answer may have bets and sales as well as forecasts. `kinds` are the kinds of
    question that it asks, empty where all are of yes or no. `max_tokens` replaces the limit in the agent's
    settings. `shared` is whether other samples ask with the same text. `tools` are the tools that the model
    may use before it answers; with `must_answer` it may use none any more.
    """

    messages: tuple[Message, ...]
    seed: int = 0
    stage: Stage = "final"
    sample: int = 1
    bets: bool = field(default=True, compare=False)
    kinds: tuple[str, ...] = field(default=(), compare=False)
    max_tokens: int | None = field(default=None, compare=False)
    shared: bool = field(default=False, compare=False)
    tools: tuple[ToolForm, ...] = field(default=(), compare=False)
    must_answer: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call brought no answer, without any API key in its text.

    `wait` is how many seconds the provider asked to wait.
    """

    code: ErrorCode
    message: str
    retry: bool
    wait: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to get an answer from a model.

    `cost` is in millionths of a dollar, None when unknown; `worst` is the most that it could have cost.
    `thinking`, `citations` (addresses) and `host` (the company that served the model) are filled if the
    provider sends them. `tokens_out` includes reasoning tokens, `tokens_in` those read from a cache or
    written to one. `status` is the HTTP status. `usage_doubt` says why the provider's usage was not
    believed; it is not stored with the call.
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
    """A file or a module that a config names can't be used; the message has the reason and a hint."""


class KindSettings(ConfigBlock):
    """The base of each kind's `Settings`: the keys of an agent's block in the config.

    A kind adds its own fields, each with a docstring, which `make docs` and `arena show config` show.
    """

    owner: str = Field(default="", max_length=64, exclude_if=lambda owner: not owner)
    """Whose agent it is, where a config has agents of several owners."""

    def faults(self, given: "Given") -> Iterator[tuple[str, str]]:
        """Yield the settings that would make every turn fail, each with a message and a hint."""
        yield from ()


def _no_folder(name: str) -> Any:
    """Raise `Unreadable`: there is no folder to read from."""
    raise Unreadable(f"{name} can't be found: there is no folder to look in")


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of running a program: its output, its exit status, and the last lines of standard error.

    `fault` says why there is no output: it could not be started, took too long, or wrote too much.
    """

    output: str
    status: int | None = None
    complaint: str = ""
    fault: str = ""
    timed_out: bool = False


async def _no_program(command: Sequence[str], *_: object) -> ProgramResult:
    """Return that the program can't be run."""
    return ProgramResult("", fault=f"{command[0]} can't be run here")


@dataclass(frozen=True, slots=True)
class Given:
    """What the arena gives to a kind when it makes an agent.

    `truth` gives the true probabilities of a simulated world. `prompts` has the texts of prompts by name.
    `read` reads a file beside the config and `load` imports a module there; both raise `Unreadable`.
    `run(command, text, seconds, variables)` runs a program there, with a text on its standard input, a limit
    in seconds and the names of the environment variables that it sees. `has_program` tells whether a program
    of a name is installed.
    """

    truth: Truth | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[str], str] = _no_folder
    load: Callable[[str], Any] = _no_folder
    run: Callable[[Sequence[str], str, float, Sequence[str]], Awaitable[ProgramResult]] = _no_program
    has_program: Callable[[str], bool] = bool


class TokenPrice(ConfigBlock):
    """Dollars per million tokens of a model that litellm's table does not have."""

    input: float = Field(ge=0, le=1_000_000)
    """For what the model is sent."""
    output: float = Field(ge=0, le=1_000_000)
    """For what it answers."""


class Measurement(ConfigBlock):
    """What `arena add` measured by one question to a model."""

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
        """Return how many tokens of the answer came in a second."""
        return self.tokens_out / max(self.seconds, 0.1)


OWN_PARAMETERS = (
    "api_base", "api_key", "base_url", "extra_headers", "headers", "max_completion_tokens", "max_retries",
    "max_tokens", "messages", "model", "n", "num_retries", "reasoning_effort", "response_format", "seed",
    "stream", "temperature", "timeout", "tool_choice", "tools",
)  # fmt: skip
"""Parameters that `extra` may not have: they have a key of their own, or change the answer's form."""


def is_none(value: object) -> bool:
    """Tell whether a setting has no value. It is then left out of the frozen settings.

    Settings that were frozen before the key existed lack it too, so their hashes stay the same.
    """
    return value is None


class ModelSettings(KindSettings):
    """How a model is reached. A kind whose settings extend these gets an `ask` that calls the model.

    In a kind that also works without a model, an empty `model` means none.
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
    """The most a call can cost, in dollars, if no price is known or `extra` adds an unbounded cost."""
    released: date | None = None
    """The day the model was released."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """More parameters, sent unchanged."""
    measured: Measurement | None = Field(
        default=None,
        exclude_if=is_none,
        json_schema_extra={"meant": "a block that `arena add` writes"},
    )
    """What one question measured, for estimates; frozen with a cohort."""

    @field_validator("extra")
    @classmethod
    def _check_extra(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the extra parameters. Raise if one of them may not be set here."""
        for name in extra:
            if name.lower() in OWN_PARAMETERS:
                reason = "it has its own key here, or changes the form of the answer"
                raise ValueError(f"{name} is not allowed under extra: {reason}")

        return extra


class TooLate(Exception):
    """Raised by an agent whose answer did not come in time: its turn ends as late."""


class DeskSettings(KindSettings):
    """The settings of agents that play at the desk. A kind whose settings extend these waits there."""

    wait: float = Field(
        default=900.0,
        gt=0,
        le=5 * 3_600,
        json_schema_extra={"meant": 'a duration such as "15m", at most 5h', "unit": "seconds"},
    )
    """How long a round waits for its answer, once its turn is open."""


def model_settings(settings: KindSettings) -> ModelSettings | None:
    """Return how the model of an agent is reached; None if it has no model."""
    if isinstance(settings, ModelSettings) and settings.model:
        return settings
    return None
