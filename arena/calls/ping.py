"""A tiny question to a model, to see whether it can be reached and answers in the requested form."""

from dataclasses import dataclass, replace

from agents.answers.json_text import NotOneObject
from agents.answers.shape import find_answer
from agents.model import Ask, Call, Message, ModelSettings, Prompt, model_settings
from agents.model_table.cost import worst_case
from arena.config.model import AgentConfig

PING_WORDS = (
    "This only tries the line. Answer with this JSON object and nothing else: "
    '{"forecasts": [{"market": "m1", "probability": 0.5, "reason": "a test"}]}'
)
PING_QUESTION = Prompt((Message("user", PING_WORDS),), seed=1, bets=False)
MOST_TOKENS = 1_000
"""Enough for the answer and for some thinking before it."""
MOST_FORMS = 3
"""How many forms of answer a server can be asked for before none is left to refuse."""


@dataclass(frozen=True, slots=True)
class PingTarget:
    """A model to try: how it is reached, and the agents that ask it."""

    settings: ModelSettings
    agents: tuple[str, ...]

    @property
    def worst(self) -> int | None:
        """Return the highest cost of trying the model."""
        return worst_case(PING_QUESTION, self.settings)


def ping_targets(agents: tuple[AgentConfig, ...]) -> list[PingTarget]:
    """Return the models of these agents, each once by name, address and key."""
    targets: dict[tuple[str, str | None, str | None], PingTarget] = {}

    for agent in agents:
        settings = model_settings(agent.settings)
        if settings is not None:
            model_key = settings.model, settings.base_url, settings.api_key_env
            target = targets.get(model_key) or PingTarget(_with_short_answers(settings), ())
            targets[model_key] = replace(target, agents=(*target.agents, agent.name))

    return list(targets.values())


def _with_short_answers(settings: ModelSettings) -> ModelSettings:
    """Return settings with short answers, unless thinking is set: providers want it to fit in the answer."""
    if settings.reasoning not in (None, "none"):
        return settings
    return settings.model_copy(update={"max_tokens": min(settings.max_tokens, MOST_TOKENS)})


async def ping(ask: Ask, question: Prompt = PING_QUESTION) -> Call:
    """Ask until the model answers or refuses for good: a refused form of answer is no failure."""
    call = await ask(question)
    for _ in range(MOST_FORMS - 1):
        if call.error is None or call.error.code != "format":
            break
        call = await ask(question)
    return call


def remark(call: Call) -> str:
    """Return a remark on an odd answer; empty if it isn't odd."""
    if call.error is not None:
        return ""
    if call.finish == "length":
        return "its answer was cut off because it reasons at length first: raise max_tokens"

    try:
        find_answer(call.reply or "", {"m1": "m1"})
    except NotOneObject as error:
        return f"it did not answer in the requested form: {error}"
    return ""
