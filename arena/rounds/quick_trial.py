"""A quick trial of a model: as many past questions as fit into a time, within an amount of money.

Nothing is written to a record. Whatever ends it, what was answered by then is there.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from agents.kinds.llm import Settings, gather_or_cancel
from agents.model import Agent, Ask, Call, CallError, Decision, Prompt
from agents.model_table.cost import worst_case
from arena.calls.rate_limit import RateLimiter
from arena.calls.recorded_ask import Asker, Sleep
from arena.calls.reservations import CallReservations
from arena.record.model.cohort import REFUSED_CODES
from arena.record.model.reservation import Budget
from arena.rounds.adapters import provider_of
from arena.rounds.past_questions import AT_ONCE, TOGETHER, PastQuestion, asking_agent, question_view

LEAST, MOST = 20, 120
"""How many questions are asked: as many as fit into the time, but not fewer and not more than these."""
PATIENCE = 2
"""After so many times the time it ends, however few were answered."""
GIVEN_UP = 2
"""After so many failed calls in a row, each tried again where that may help, no other one is made."""


@dataclass
class SpendingLimit:
    """Makes a call only if all calls under way can't cost more than what is left of an amount.

    Amounts are in millionths of a dollar; without a `most` nothing is refused. A call of unknown cost counts
    as spent at its worst.
    """

    ask: Ask
    worst: Callable[[Prompt], int | None]
    most: int | None
    spent: int = 0
    held: int = 0
    is_known: bool = True

    async def ask_within(self, prompt: Prompt) -> Call:
        """Return the answer to a question, or an error in place of a call that could cost too much."""
        worst = self.worst(prompt)
        if self.most is not None and (worst is None or self.spent + self.held + worst > self.most):
            error = CallError(
                "budget", "the next call could cost more than the amount agreed to", retry=False
            )
            return Call(prompt, None, cost=0, error=error)

        held = worst or 0
        self.held += held
        charged = held
        try:
            call = await self.ask(prompt)
            if call.cost is not None:
                charged = call.cost
            self.is_known &= call.cost is not None or worst is not None
        finally:
            self.held -= held
            self.spent += charged
        return call


@dataclass
class QuickTrial:
    """The trial of one model while it goes on, and what came of it.

    `answers` has probabilities of YES by question. `asked` counts questions, `unusable` those to which an
    answer came that can't be read, of which `example` is one. `ended` says why it ended before its time.
    """

    settings: Settings
    questions: Sequence[PastQuestion]
    limit: SpendingLimit
    timer: Callable[[], float]
    seconds: float
    sleep: Sleep = asyncio.sleep
    timed: bool = True
    moved: Callable[[int, int | None], None] = lambda _done, _whole: None
    answers: dict[str, float] = field(default_factory=dict)
    asked: int = 0
    unusable: int = 0
    example: str = ""
    ended: str = ""
    fault: CallError | None = None
    took: float = 0.0
    under_way: int = 0
    finished: int = 0
    shortest: float = math.inf
    failures: int = 0
    waiting: deque[PastQuestion] = field(init=False)
    started: float = 0.0
    measured_from: float = 0.0
    agent: Agent = field(init=False)
    asker: Asker = field(init=False)

    def __post_init__(self) -> None:
        """Prepare to ask."""
        self.waiting = deque(self.questions)
        self.agent = asking_agent(self.settings)
        limiter = RateLimiter(at_once=AT_ONCE, per_provider=AT_ONCE, timed=self.timed)
        self.asker = Asker(
            self.limit.ask_within,
            partial(worst_case, settings=self.settings),
            provider_of(self.settings),
            self.settings.model,
            CallReservations(Budget(), limiter),
            self.settings.model,
            sleep=self.sleep,
        )

    async def run(self) -> None:
        """Ask until the time is over, all is asked, or no answer comes any more."""
        self.started = self.timer()
        try:
            async with asyncio.timeout(PATIENCE * self.seconds):
                # The first call is made alone: it loads the model, and settles which form of answer it takes.
                await self._ask_next()
                self.measured_from = self.timer()
                self.finished = 0
                await gather_or_cancel(self._ask_on() for _ in range(AT_ONCE))
        except TimeoutError:
            self.ended = f"it was ended after {PATIENCE * self.seconds:.0f} s"
        finally:
            self.took = self.timer() - self.started

    async def _ask_on(self) -> None:
        """Ask for as long as another call is likely to be answered in time."""
        while self.waiting and not self.ended:
            left = self.seconds - (self.timer() - self.started)
            if self.asked >= LEAST and self._next_takes() > left:
                return
            await self._ask_next()

    def _next_takes(self) -> float:
        """Return about how many seconds one more call takes.

        A server that answers one call at a time answers it after all that are under way; any other takes no
        longer for it than it ever did.
        """
        each = (self.timer() - self.measured_from) / max(self.finished, 1)
        return max(self.shortest, each * (self.under_way + 1))

    async def _ask_next(self) -> None:
        """Ask about the next questions, and keep what is answered."""
        questions = [self.waiting.popleft() for _ in range(min(TOGETHER, len(self.waiting)))]
        self.asked += len(questions)
        replies: list[Call] = []

        async def ask(prompt: Prompt) -> Call:
            replies.append(await self.asker.ask(prompt))
            return replies[-1]

        begun = self.timer()
        self.under_way += 1
        decision = await self.agent(question_view(questions), ask)
        self.under_way -= 1
        self.finished += 1
        self.shortest = min(self.shortest, self.timer() - begun)
        self._keep(decision, len(questions), replies[-1])
        self.moved(len(self.answers), len(self.questions))

    def _keep(self, decision: Decision, count: int, last: Call) -> None:
        """Keep the forecasts of a decision, and note why there are no more."""
        for forecast in decision.forecasts:
            self.answers[forecast.market_id] = forecast.probability
        missing = count - len(decision.forecasts)

        if decision.status == "failed" and last.error is not None:
            self._note_failure(last.error)
            return
        self.failures = 0
        if missing:
            self.unusable += missing
            self.example = self.example or last.reply or decision.note
        if not self.answers and self.asked >= LEAST:
            self.ended = "none of its answers could be used"

    def _note_failure(self, error: CallError) -> None:
        """Note a call that failed; after some of them, or one that will fail again, ask no more."""
        self.failures += 1
        self.fault = error
        if error.code == "budget":
            self.ended = "the amount agreed to was used up"
        elif error.code in REFUSED_CODES or self.failures >= GIVEN_UP:
            self.ended = f"no more answers came ({error.code}: {error.message})"


def limited(ask: Ask, settings: Settings, most: int | None) -> SpendingLimit:
    """Return how a model is asked for at most so much."""
    return SpendingLimit(ask, partial(worst_case, settings=settings), most)
