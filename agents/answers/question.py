"""A question put to a model until enough is answered: at most twice, the second time for what is missing.

Orders that are refused are asked for once too, in the same second question, even where forecasts suffice.
Whole items of an answer are kept, whatever becomes of the rest. An answer that was cut off at the limit of
tokens is asked for with a higher one where the model has it, else in two halves. A model that declines is not
asked again.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from agents.answers.decisions import combine_answers, is_of_order, outside
from agents.answers.parse import UnusableAnswer, parse_answer
from agents.asked_forms import forms_in
from agents.model import Ask, CallError, Decision, DecisionStatus, Message, Prompt, View
from agents.prompts.prompt import short_ids
from markets.distributions import question_kind
from markets.model import MarketId
from portfolio.model import Bet, Rejection, Sale

MOST_SHOWN = 20_000
"""Characters of an unusable answer that are shown again."""
MOST_REASONS = 3
MOST_ORDERS = 10
NOT_ASKED_AGAIN = frozenset({"not_on_offer", "no_order", "too_early", "not_asked"})
"""Codes of refused orders that another answer could not put right."""
CUT_OFF = "the answer was cut off at the token limit"
MENDED = "put right those that you still want and leave out the others, and repeat none that was kept"
FORMAT = "with one JSON object in the format asked for and nothing else"


@dataclass(frozen=True, slots=True)
class _Reading:
    """The result of one call: what could be read, from which reply, and why there is no more."""

    decision: Decision
    reply: str = ""
    cut: bool = False
    error: CallError | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about some markets. `put` writes it anew for some of them.

    `raised` is a higher limit of tokens, where the model has one that is worth trying.
    """

    prompt: Prompt
    markets: tuple[MarketId, ...]
    put: Callable[[tuple[MarketId, ...], int, int, str], Prompt]
    """For these markets, as the first half or the second, after so much was bet, with a sentence on refused
    orders.
    """
    raised: int | None
    min_answered: Fraction
    view: View
    ask: Ask

    async def decision(self) -> Decision:
        """Return the model's decision."""
        first = await self._once(self.prompt)
        missing = self._missing(first.decision)
        refused = _refused_orders(first.decision)
        if first.error is not None or (self._is_enough(missing) and not refused):
            return self._judged(first.decision, first)
        if self._is_enough(missing):
            return await self._with_orders_mended(first, missing, refused)

        decision = first.decision
        last = first
        async for last in self._again(first, missing, refused):
            if last.error is not None and last.error.retry and last.error.code != "budget":
                return last.decision
            if last.error is None:
                decision = combine_answers(decision, last.decision, self._missing(decision), refused)
        return self._judged(decision, last)

    async def _with_orders_mended(
        self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]
    ) -> Decision:
        """Return a decision whose forecasts suffice, after its refused orders were asked for once.

        A call that fails takes nothing away, since the first answer was enough.
        """
        repeat = self._repeat(first, missing, refused)
        if first.cut and self.raised is not None:
            repeat = replace(repeat, max_tokens=self.raised)

        second = await self._once(repeat)
        if second.error is not None:
            return self._judged(first.decision, first)

        decision = combine_answers(first.decision, second.decision, missing, refused)
        return self._judged(decision, second)

    async def _once(self, prompt: Prompt) -> _Reading:
        call = await self.ask(prompt)
        if call.error is not None:
            note = f"{call.error.code}: {call.error.message}"
            status: DecisionStatus = "declined" if call.error.code == "declined" else "failed"
            return _Reading(Decision(status=status, note=note), error=call.error)

        reply = call.reply or ""
        cut = call.finish == "length"
        read = parse_answer(reply, self.view, prompt.stage, prompt.bets, cut)

        if isinstance(read, UnusableAnswer):
            read = Decision(status="malformed", note=CUT_OFF if cut else read.message)

        return _Reading(read, reply, cut)

    async def _again(
        self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]
    ) -> AsyncIterator[_Reading]:
        """Ask for the rest, and yield how each answer is read.

        An answer that was cut off is asked for with a higher limit, or else in two halves.
        """
        nothing = len(missing) == len(self.markets)
        repeat = self._repeat(first, missing, refused)
        if not first.cut:
            yield await self._once(repeat)
            return
        if self.raised is not None:
            longer = await self._once(replace(self.prompt if nothing else repeat, max_tokens=self.raised))
            if longer.error is None or longer.error.code != "budget":
                yield longer
                return
        if len(missing) == 1:
            yield await self._once(repeat)
            return

        middle = -(-len(missing) // 2)
        of_second = tuple(rejection for rejection in refused if rejection.market_id in missing[middle:])
        of_first = tuple(rejection for rejection in refused if rejection not in of_second)
        halves = ((missing[:middle], of_first), (missing[middle:], of_second))

        names = short_ids(self.view.snapshot)
        spent = sum(bet.amount for bet in first.decision.bets)
        for number, (markets, orders) in enumerate(halves):
            on_refused = ""
            if orders:
                on_refused = f"Of your first answer the rest is kept. {_sentence_on_orders(orders, names)}"

            reading = await self._once(self.put(markets, number, spent, on_refused))
            spent += sum(bet.amount for bet in reading.decision.bets)
            yield reading

    def _missing(self, decision: Decision) -> tuple[MarketId, ...]:
        stated = {
            forecast.market_id for forecast in decision.forecasts if forecast.stage == self.prompt.stage
        }
        return tuple(market for market in self.markets if market not in stated)

    def _is_enough(self, missing: Collection[MarketId]) -> bool:
        count = len(self.markets)
        return count - len(missing) >= self.min_answered * count

    def _repeat(self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]) -> Prompt:
        """Return the same conversation, with the answer, what is wrong with it, and what is wanted still."""
        names = short_ids(self.view.snapshot)
        wanted = ", ".join(names[market] for market in missing)
        if first.decision.status == "malformed":
            fault = f"That answer could not be used: {first.decision.note}."
            rest = f"Please answer again, whole, {FORMAT}. The markets are called {wanted}."
        elif missing:
            fault = f"Of that answer not everything could be used: {self._shortfall(first)}."
            rest = f"The rest is kept. Please answer again, {FORMAT}, {self._wanted(missing, names)}."
            if refused:
                rest += f" {_sentence_on_orders(refused, names)}"
        else:
            orders = _named_orders(refused, names)
            fault = f"Of that answer everything is kept, but these orders were refused: {orders}."
            rest = (
                f'Please answer again, {FORMAT}, with "forecasts" empty and in "bets" and "sales", {MENDED}.'
            )

        if first.cut:
            rest += " Write fewer words, so that all of it fits."

        answered = Message("assistant", first.reply[:MOST_SHOWN].strip() or "(nothing)")
        return replace(
            self.prompt, messages=(*self.prompt.messages, answered, Message("user", f"{fault} {rest}"))
        )

    def _wanted(self, missing: Sequence[MarketId], names: Mapping[MarketId, str]) -> str:
        """Return for which markets alone an answer is wanted, and how each of them is answered."""
        forms = forms_in(self.view.snapshot)
        plain = [names[market] for market in missing if market not in forms]
        answered = dict[str, list[str]]()
        if plain:
            answered["with a probability of YES between 0 and 1"] = plain
        for market in missing:
            if market in forms:
                key = question_kind(forms[market].kind).KEY
                answered.setdefault(f'with its answer under "{key}", as said below it', []).append(
                    names[market]
                )

        told = [f"{how}: {', '.join(markets)}" for how, markets in answered.items()]
        return f"for these markets alone, each called as it is here and {'; '.join(told)}"

    def _shortfall(self, reading: _Reading) -> str:
        """Return how much can't be used, and why: 2 of 9 refused: the probability 32 is not …"""
        missing = self._missing(reading.decision)
        count = len(self.markets)
        reasons = dict[str, None]()
        for rejection in reading.decision.rejections:
            reason = rejection.message.split(": ", 1)[-1]
            if rejection.message.startswith("forecast "):
                reasons[reason] = None

        words = f"{len(missing)} of {count} {'refused' if reasons else 'missing'}"

        if reading.cut:
            words += f", since {CUT_OFF}"

        if reasons:
            words += f": {'; '.join([*reasons][:MOST_REASONS])}"

        return words

    def _judged(self, decision: Decision, last: _Reading) -> Decision:
        """Return the decision with its status, without orders on markets that lack a usable forecast."""
        if last.error is not None and not decision.forecasts:
            return last.decision

        missing = self._missing(decision)
        if decision.status == "played" and not self._is_enough(missing):
            some = len(missing) < len(self.markets)
            why = last.decision.note or self._shortfall(replace(last, decision=decision))
            decision = replace(decision, status="partly" if some else "malformed", note=why)

        return _without_unforecast(decision, missing)


def _refused_orders(decision: Decision) -> tuple[Rejection, ...]:
    """Return the rejections of orders that the model may put right."""
    return tuple(x for x in decision.rejections if is_of_order(x) and x.code not in NOT_ASKED_AGAIN)


def _sentence_on_orders(refused: Sequence[Rejection], names: Mapping[MarketId, str]) -> str:
    """Return which orders of an answer were refused, and what to do about them."""
    orders = _named_orders(refused, names)
    return f'These orders were refused: {orders}. In "bets" and "sales", {MENDED}.'


def _named_orders(refused: Sequence[Rejection], names: Mapping[MarketId, str]) -> str:
    """Return which orders were refused and why: bet 2 on m3: the amount "lots" is not a number."""
    words = list[str]()
    for rejection in refused[:MOST_ORDERS]:
        name = names.get(MarketId(rejection.market_id), "")
        place, colon, why = rejection.message.partition(": ")
        line = rejection.message
        if name and colon:
            line = f"{place} on {name}: {why}"
        words.append(line)

    if len(refused) > MOST_ORDERS:
        words.append(f"{len(refused) - MOST_ORDERS:,} more")

    return "; ".join(words)


def _without_unforecast(decision: Decision, missing: Sequence[MarketId]) -> Decision:
    """Return the decision with its orders on these markets turned into rejections."""
    orders: tuple[Bet | Sale, ...] = (*decision.bets, *decision.sales)
    named = [order.market_id for order in orders]
    words = "there is no usable forecast for this market, so no order on it is filled"
    lost = [Rejection("no_forecast", words, market) for market in named if market in missing]
    bets = outside(decision.bets, missing)
    sales = outside(decision.sales, missing)

    if decision.status == "malformed":
        words = "a malformed answer has no bets and no sales"
        lost += [Rejection("bad_order", words, market) for market in named if market not in missing]
        bets = ()
        sales = ()

    return replace(decision, bets=bets, sales=sales, rejections=(*decision.rejections, *lost))
