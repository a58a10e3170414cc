"""A quick trial of a model on resolved questions, within limits of time and money.

The questions come with the package, under a licence of their own, CC BY-SA 4.0. A model is told the day on
which a question was asked, and neither its price nor when it was decided. Nothing is written to a record.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path

from pydantic import TypeAdapter

from agents.kinds import llm
from agents.model import Ask, Call, CallError, Decision, Given, Prompt, View
from agents.model_table.capabilities import A_MARKET, FRAME, LONGEST_TIMEOUT, expected_thinking, with_limits
from agents.model_table.cost import usage_cost, worst_case
from agents.model_table.price_table import table_entry
from agents.model_table.usage import TokenUsage
from agents.prompts.prompt import render
from agents.registry import prompt_text
from arena.calls.estimate import BYTES_A_TOKEN, first_sample_round
from arena.calls.rate_limit import RateLimiter
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations
from arena.config.model_blocks import Block
from arena.record.model.cohort import REFUSED_CODES
from arena.rounds.adapters import provider_of, sleep_without_time
from markets.model import NEVER, Listing, Market, MarketId, Snapshot
from portfolio.rules import REALISTIC

DATA = Path(__file__).resolve().parents[1] / "past_questions" / "questions.json"
PROMPT = "past_questions.md"
TEMPLATE = prompt_text(PROMPT, Path(__file__).parent)
LEAST = 20
MOST = 120
"""The bounds of how many questions are asked, within which as many as fit into the time."""
TOGETHER = 5
"""How many questions are put at once."""
AT_ONCE = 4
"""How many calls are made at once; a server that answers one at a time lets the others wait."""
TOKENS_A_QUESTION = 30
"""About how long an answer to one question is."""
OVERRUN = 3
"""How many times what is expected may be spent, beside the calls under way."""
PATIENCE = 2
"""After so many times the time it ends, however few were answered."""
GIVEN_UP = 2
"""After so many failed calls in a row, each tried again where that may help, no other one is made."""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A resolved question: its price on the day on which it is asked, and how it ended (1 is YES)."""

    id: str
    question: str
    description: str
    asked_at: date
    price: float
    closed: date
    outcome: int
    url: str

    def is_after(self, released: date | None) -> bool:
        """Tell whether it was asked after a model's release, so that the model can't remember its outcome."""
        return released is not None and self.asked_at >= released


@cache
def past_questions() -> tuple[PastQuestion, ...]:
    """Return the questions of the package, ordered so that every prefix has a range of prices."""
    rows = json.loads(DATA.read_text("utf-8"))["questions"]
    return TypeAdapter(tuple[PastQuestion, ...]).validate_python(rows)


def questions_to_ask(released: date | None) -> list[PastQuestion]:
    """Return the questions of a trial, starting with those asked after the model's release."""
    later_first = sorted(past_questions(), key=lambda question: not question.is_after(released))
    return later_first[:MOST]


def question_view(questions: Sequence[PastQuestion]) -> View:
    """Return a view of some questions."""
    listings = []
    for question in questions:
        market = Market(
            id=MarketId(question.id),
            event_id=question.id,
            question=question.question,
            rules=f"Asked on {question.asked_at}. {question.description}",
            category="",
            opens_at=datetime.combine(question.asked_at, datetime.min.time(), UTC),
            closes_at=NEVER,
        )
        listings.append(Listing(market, None))

    snapshot = Snapshot(max(listing.market.opens_at for listing in listings), tuple(listings))
    return replace(first_sample_round(0, REALISTIC, 0, 1), snapshot=snapshot)


def asking_settings(block: Block) -> llm.Settings:
    """Return the settings for asking a model, from an agent's keys in a config."""
    # Calls end with the trial, not before: a model on this machine may have to be loaded first.
    keys = block | {"prompt": PROMPT, "prices": "hidden", "timeout": LONGEST_TIMEOUT}
    settings = llm.Settings.model_validate(keys)
    entry = table_entry(settings.model)
    if entry and not entry.get("supports_reasoning"):
        # A model that can't think needs less than is usual, so less money is held for its answers.
        settings = settings.model_copy(update={"max_tokens": FRAME + A_MARKET * TOGETHER})
    return with_limits(settings, TOGETHER)


def asking_cost(settings: llm.Settings, questions: Sequence[PastQuestion]) -> tuple[int, int] | None:
    """Return the expected and highest cost of asking in millionths; None if a price is unknown.

    The most is less than the worst that every call could cost: asking stops there.
    """
    expected = 0
    worst_costs = []
    for start in range(0, len(questions), TOGETHER):
        view = question_view(questions[start : start + TOGETHER])
        prompt = render(TEMPLATE, view, prices=False)

        tokens_in = sum(len(message.content.encode()) for message in prompt.messages) // BYTES_A_TOKEN
        tokens_out = TOKENS_A_QUESTION * TOGETHER + expected_thinking(settings)
        expected_cost = usage_cost(settings, TokenUsage(tokens_in, tokens_out))
        worst_cost = worst_case(prompt, settings)
        if expected_cost is None or worst_cost is None:
            return None

        expected += expected_cost
        worst_costs.append(worst_cost)

    asking_stops_at = OVERRUN * expected + AT_ONCE * max(worst_costs)
    return expected, min(sum(worst_costs), asking_stops_at)


@dataclass
class QuickTrial:
    """The trial of one model while it goes on, and what came of it; whatever ends it, that is there.

    No call is made that could exceed `most` beside those under way: amounts are in millionths of a dollar,
    and calls of unknown cost count at their worst. `answers` has probabilities of YES by question. `asked`
    counts questions, `unusable` those to which an answer came that can't be read, of which `example` is one.
    `fault` is the code and the words of what went wrong last, `ended` why it ended before its time. `seconds`
    is how long it shall take, `took` how long it did, `warm_at` when the model was loaded.
    """

    settings: llm.Settings
    model_ask: Ask
    questions: Sequence[PastQuestion]
    most: int | None
    seconds: float
    timer: Callable[[], float]
    timed: bool = True
    moved: Callable[[int, int | None], None] = lambda _done, _whole: None
    answers: dict[str, float] = field(default_factory=dict)
    asked: int = 0
    unusable: int = 0
    example: str = ""
    ended: str = ""
    fault: str = "slow: no answer came in time"
    failures: int = 0
    spent: int = 0
    started: float = 0.0
    warm_at: float = 0.0
    took: float = 0.0

    def __post_init__(self) -> None:
        """Prepare to ask."""
        self.agent = llm.agent(self.settings, Given(prompts={PROMPT: TEMPLATE}))
        self.asker = Asker(
            self._ask_within_amount,
            partial(worst_case, settings=self.settings),
            provider_of(self.settings),
            self.settings.model,
            CallReservations(limiter=RateLimiter(AT_ONCE, AT_ONCE, timed=self.timed)),
            sleep=asyncio.sleep if self.timed else sleep_without_time,
        )

    @property
    def cost(self) -> int | None:
        """Return the cost so far; None if no price is known."""
        if self.spent == 0 and self.most is None:
            return None
        return self.spent

    async def run(self) -> None:
        """Ask until time is up, all questions are asked, or answers stop coming."""
        self.started = self.timer()
        try:
            async with asyncio.timeout(PATIENCE * self.seconds):
                # The first call is made alone: it loads the model, and settles which form of answer it takes.
                await self._ask_next()
                self.warm_at = self.timer()
                await llm.gather_or_cancel(self._ask_while_time_left() for _ in range(AT_ONCE))
        except TimeoutError:
            self.ended = f"it was ended after {PATIENCE * self.seconds:.0f} s"
        finally:
            self.took = self.timer() - self.started

    async def _ask_while_time_left(self) -> None:
        """Ask while another call is likely to be answered in time."""
        while self.asked < len(self.questions) and not self.ended:
            # A call takes as long as the ended ones took, AT_ONCE at a time. That is right for a server which
            # answers one call at a time, and for one that answers all at once.
            ended_calls = max(self.asked // TOGETHER - AT_ONCE, 1)
            next_call_takes = AT_ONCE * (self.timer() - self.warm_at) / ended_calls
            time_left = self.seconds - (self.timer() - self.started)
            if self.asked >= LEAST and next_call_takes > time_left:
                return
            await self._ask_next()

    async def _ask_next(self) -> None:
        """Ask about the next questions, and keep the answers."""
        questions = self.questions[self.asked : self.asked + TOGETHER]
        self.asked += len(questions)
        reply = ""

        async def ask(prompt: Prompt) -> Call:
            nonlocal reply
            call = await self.asker.ask(prompt)
            reply = call.reply or ""
            return call

        decision = await self.agent(question_view(questions), ask)
        for forecast in decision.forecasts:
            self.answers[forecast.market_id] = forecast.probability

        if decision.status == "failed":
            self._note_failure(decision)
        else:
            self._note_unusable(len(questions) - len(decision.forecasts), reply or decision.note)
        self.moved(len(self.answers), len(self.questions))

    def _note_failure(self, decision: Decision) -> None:
        """Note a failed call, which may end the trial."""
        self.failures += 1
        self.fault = decision.note
        code = decision.note.partition(": ")[0]
        if code == "budget":
            self.ended = "the amount agreed to was used up"
        elif code in REFUSED_CODES or self.failures >= GIVEN_UP:
            self.ended = f"no more answers came ({self.fault})"

    def _note_unusable(self, missing: int, reply: str) -> None:
        """Note the questions that an answer left open; end the trial if nothing was usable."""
        self.failures = 0
        self.unusable += missing
        if missing:
            self.example = self.example or reply
            self.fault = f"unusable: {self.example}"
        if not self.answers and self.asked >= LEAST:
            self.ended = "none of its answers could be used"

    async def _ask_within_amount(self, prompt: Prompt) -> Call:
        """Return the model's answer, or an error if the call could cost more than is left."""
        worst = worst_case(prompt, self.settings) or 0
        if self.most is not None and self.spent + worst > self.most:
            error = CallError("budget", "the next call could cost more than was agreed to", retry=False)
            return Call(prompt, None, cost=0, error=error)

        # A call that never ends has cost its worst, as far as anyone knows.
        self.spent += worst
        call = await self.model_ask(prompt)
        if call.cost is not None:
            self.spent += call.cost - worst
        return call
