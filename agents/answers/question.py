"""A question put to a model until enough is answered: at most twice, the second time for what is missing.

Orders that are refused are asked for once too, in the same second question, even where forecasts suffice.
Whole items of an answer are kept, whatever becomes of the rest. An answer that was cut off at the limit of
tokens is asked for with a higher one where the model has it, else in two halves. A model that declines is not
asked again.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from agents.answers.decisions import combine_answers, is_of_order, items_not_about
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
HOW_TO_RESTATE = "put right those that you still want and leave out the others, and repeat none that was kept"
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
        """Return the model's decision, after it was asked a second time for what is missing."""
        first = await self._ask_once(self.prompt)
        missing = self._missing(first.decision)
        refused = _refused_orders(first.decision)
        are_enough = self._are_enough_answered(missing)
        if first.error is not None or (are_enough and not refused):
            return self._with_status(first.decision, first)
        if are_enough:
            return await self._with_orders_asked_again(first, missing, refused)

        decision = first.decision
        last = first
        async for last in self._ask_for_the_rest(first, missing, refused):
            if last.error is not None:
                # the whole turn is played again later, unless there is no money for it
                if last.error.retry and last.error.code != "budget":
                    return last.decision
                continue
            decision = combine_answers(decision, last.decision, self._missing(decision), refused)

        return self._with_status(decision, last)

    async def _with_orders_asked_again(
        self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]
    ) -> Decision:
        """Return a decision whose forecasts suffice, after its refused orders were asked for once.

        A call that fails takes nothing away, since the first answer was enough.
        """
        repeat = self._repeated_prompt(first, missing, refused)
        if first.cut and self.raised is not None:
            repeat = replace(repeat, max_tokens=self.raised)

        second = await self._ask_once(repeat)
        if second.error is not None:
            return self._with_status(first.decision, first)

        decision = combine_answers(first.decision, second.decision, missing, refused)
        return self._with_status(decision, second)

    async def _ask_once(self, prompt: Prompt) -> _Reading:
        """Ask one call, and return how its answer is read; its error where it failed."""
        call = await self.ask(prompt)
        if call.error is not None:
            note = f"{call.error.code}: {call.error.message}"
            status: DecisionStatus = "declined" if call.error.code == "declined" else "failed"
            return _Reading(Decision(status=status, note=note), error=call.error)

        reply = call.reply or ""
        is_cut = call.finish == "length"
        decision = parse_answer(reply, self.view, prompt.stage, prompt.bets, is_cut)
        if isinstance(decision, UnusableAnswer):
            note = CUT_OFF if is_cut else decision.message
            decision = Decision(status="malformed", note=note)

        return _Reading(decision, reply, is_cut)

    async def _ask_for_the_rest(
        self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]
    ) -> AsyncIterator[_Reading]:
        """Ask for the rest, and yield how each answer is read.

        An answer that was cut off is asked for with a higher limit, or else in two halves.
        """
        repeated = self._repeated_prompt(first, missing, refused)
        if not first.cut:
            yield await self._ask_once(repeated)
            return

        if self.raised is not None:
            nothing_answered = len(missing) == len(self.markets)
            prompt = self.prompt if nothing_answered else repeated
            longer = await self._ask_once(replace(prompt, max_tokens=self.raised))
            if longer.error is None or longer.error.code != "budget":
                yield longer
                return

        if len(missing) == 1:
            yield await self._ask_once(repeated)
            return

        middle = -(-len(missing) // 2)  # rounded up
        first_half = missing[:middle]
        second_half = missing[middle:]
        refused_of_second = tuple(rejection for rejection in refused if rejection.market_id in second_half)
        refused_of_first = tuple(rejection for rejection in refused if rejection not in refused_of_second)
        halves = ((first_half, refused_of_first), (second_half, refused_of_second))

        short_names = short_ids(self.view.snapshot)
        spent = sum(bet.amount for bet in first.decision.bets)
        for number, (markets, refused_of_half) in enumerate(halves):
            on_refused = ""
            if refused_of_half:
                sentence = _sentence_on_orders(refused_of_half, short_names)
                on_refused = f"Of your first answer the rest is kept. {sentence}"

            reading = await self._ask_once(self.put(markets, number, spent, on_refused))
            spent += sum(bet.amount for bet in reading.decision.bets)
            yield reading

    def _missing(self, decision: Decision) -> tuple[MarketId, ...]:
        stated = {
            forecast.market_id for forecast in decision.forecasts if forecast.stage == self.prompt.stage
        }
        return tuple(market for market in self.markets if market not in stated)

    def _are_enough_answered(self, missing: Collection[MarketId]) -> bool:
        count = len(self.markets)
        return count - len(missing) >= self.min_answered * count

    def _repeated_prompt(
        self, first: _Reading, missing: tuple[MarketId, ...], refused: Sequence[Rejection]
    ) -> Prompt:
        """Return the same conversation, with the answer, what is wrong with it, and what is wanted still."""
        short_names = short_ids(self.view.snapshot)
        if first.decision.status == "malformed":
            called = ", ".join(short_names[market] for market in missing)
            fault = f"That answer could not be used: {first.decision.note}."
            request = f"Please answer again, whole, {FORMAT}. The markets are called {called}."
        elif missing:
            wanted = self._markets_wanted(missing, short_names)
            fault = f"Of that answer not everything could be used: {self._shortfall(first)}."
            request = f"The rest is kept. Please answer again, {FORMAT}, {wanted}."
            if refused:
                request += f" {_sentence_on_orders(refused, short_names)}"
        else:
            orders = _quoted_refusals(refused, short_names)
            fault = f"Of that answer everything is kept, but these orders were refused: {orders}."
            request = (
                f'Please answer again, {FORMAT}, with "forecasts" empty and in "bets" and "sales", '
                f"{HOW_TO_RESTATE}."
            )

        if first.cut:
            request += " Write fewer words, so that all of it fits."

        answer = Message("assistant", first.reply[:MOST_SHOWN].strip() or "(nothing)")
        messages = (*self.prompt.messages, answer, Message("user", f"{fault} {request}"))
        return replace(self.prompt, messages=messages)

    def _markets_wanted(self, missing: Sequence[MarketId], short_names: Mapping[MarketId, str]) -> str:
        """Return for which markets alone an answer is wanted, and how each of them is answered."""
        forms = forms_in(self.view.snapshot)
        names_by_way = dict[str, list[str]]()

        of_yes_or_no = [short_names[market] for market in missing if market not in forms]
        if of_yes_or_no:
            names_by_way["with a probability of YES between 0 and 1"] = of_yes_or_no

        for market in missing:
            if market in forms:
                key = question_kind(forms[market].kind).KEY
                way = f'with its answer under "{key}", as said below it'
                names_by_way.setdefault(way, []).append(short_names[market])

        ways = "; ".join(f"{way}: {', '.join(names)}" for way, names in names_by_way.items())
        return f"for these markets alone, each called as it is here and {ways}"

    def _shortfall(self, reading: _Reading) -> str:
        """Return how much can't be used, and why: 2 of 9 refused: the probability 32 is not …"""
        reasons = dict[str, None]()
        for rejection in reading.decision.rejections:
            if rejection.message.startswith("forecast "):
                reason = rejection.message.split(": ", 1)[-1]  # without the number of the forecast
                reasons[reason] = None

        missing = self._missing(reading.decision)
        shortfall = f"{len(missing)} of {len(self.markets)} {'refused' if reasons else 'missing'}"
        if reading.cut:
            shortfall += f", since {CUT_OFF}"
        if reasons:
            shortfall += f": {'; '.join([*reasons][:MOST_REASONS])}"
        return shortfall

    def _with_status(self, decision: Decision, last: _Reading) -> Decision:
        """Return the decision with its status, without orders on markets that lack a usable forecast."""
        if last.error is not None and not decision.forecasts:
            return last.decision

        missing = self._missing(decision)
        if decision.status == "played" and not self._are_enough_answered(missing):
            has_some = len(missing) < len(self.markets)
            note = last.decision.note or self._shortfall(replace(last, decision=decision))
            decision = replace(decision, status="partly" if has_some else "malformed", note=note)

        return _without_unforecast_orders(decision, missing)


def _refused_orders(decision: Decision) -> tuple[Rejection, ...]:
    """Return the rejections of orders that the model may put right."""
    return tuple(
        rejection
        for rejection in decision.rejections
        if is_of_order(rejection) and rejection.code not in NOT_ASKED_AGAIN
    )


def _sentence_on_orders(refused: Sequence[Rejection], short_names: Mapping[MarketId, str]) -> str:
    """Return which orders of an answer were refused, and what to do about them."""
    orders = _quoted_refusals(refused, short_names)
    return f'These orders were refused: {orders}. In "bets" and "sales", {HOW_TO_RESTATE}.'


def _quoted_refusals(refused: Sequence[Rejection], short_names: Mapping[MarketId, str]) -> str:
    """Return which orders were refused and why: bet 2 on m3: the amount "lots" is not a number."""
    lines = list[str]()
    for rejection in refused[:MOST_ORDERS]:
        short_name = short_names.get(MarketId(rejection.market_id), "")
        order, colon, fault = rejection.message.partition(": ")
        line = rejection.message
        if short_name and colon:
            line = f"{order} on {short_name}: {fault}"
        lines.append(line)

    if len(refused) > MOST_ORDERS:
        lines.append(f"{len(refused) - MOST_ORDERS:,} more")

    return "; ".join(lines)


def _without_unforecast_orders(decision: Decision, unforecast: Sequence[MarketId]) -> Decision:
    """Return the decision with its orders on markets without a forecast turned into rejections.

    Of a malformed answer all orders are.
    """
    orders: tuple[Bet | Sale, ...] = (*decision.bets, *decision.sales)
    ordered_markets = [order.market_id for order in orders]
    reason = "there is no usable forecast for this market, so no order on it is filled"
    rejections = [
        Rejection("no_forecast", reason, market) for market in ordered_markets if market in unforecast
    ]
    bets = items_not_about(decision.bets, unforecast)
    sales = items_not_about(decision.sales, unforecast)

    if decision.status == "malformed":
        reason = "a malformed answer has no bets and no sales"
        others = [market for market in ordered_markets if market not in unforecast]
        rejections += [Rejection("bad_order", reason, market) for market in others]
        bets = ()
        sales = ()

    return replace(decision, bets=bets, sales=sales, rejections=(*decision.rejections, *rejections))
