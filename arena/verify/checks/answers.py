"""Turns decided once more, by today's reader of answers: what is kept of them must come out again.

A model's agent is given the stored answers in place of its model, and one that follows a rule what it was
shown. Every turn's orders go to the market once more, and its refusals must come out again. Nothing here
writes a record, and nothing is asked. Of turns that can't be decided again, those of code of somebody's, of
files and of the simulator's truth, is counted how many. So are turns that an older reader has read and
today's reads otherwise. A version never goes down from one round to the next, so that no turn can pass as
older than those before it.
"""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import product
from typing import Any

from agents.answers.decisions import sound_decision
from agents.answers.parse import READER_VERSION
from agents.kinds import llm
from agents.model import Call, Decision, Forecast, Given, Message, Prompt, Stage, View
from agents.prompts.prompt import MARKET_NAME, PromptPart, short_ids
from agents.prompts.template import compile_template
from agents.registry import AgentKind, kind
from agents.steps import without_steps
from arena.cohorts.cohort import forecast_sources, seed_for
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_ledgers
from arena.record.queries.cohorts import read_calls, read_final_forecasts, read_snapshot
from arena.record.schema.codec import book_of, cohort_of, orders_of
from arena.record.schema.cohort import PromptRow, RoundRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import joined
from arena.verify.cohort import CheckedCohort, CheckedRound, CheckedTurn
from arena.verify.differences import AnyDifference, Difference, Found, Row
from arena.verify.hashes import json_in, json_of
from arena.verify.reader import RecordReader, RowPart, rows_of, rows_query
from arena.verify.row_names import key_of
from markets.model import MarketId, Quote, Snapshot
from portfolio.execute import execute_at
from portfolio.ledger import fold
from portfolio.matching import SnapshotOffers, WorseOffers
from portfolio.model import Bet, Entry, Sale
from portfolio.value import mark

RULES = frozenset({"market", "constant", "random", "favourite", "kelly", "crowd", "naive"})
"""Kinds that decide by what they are shown alone."""
ANSWERED = frozenset({"llm", "command", "outside"})
"""Kinds that decide by the answers that are kept of them."""
DECIDED = ("played", "partly", "malformed", "declined")
BY_ANSWERS = "the stored answers say so, as they are read today"
BY_MARKET = "the agent's answer and the market's rules say so"
CLOSED = "closed_since", "the market has closed since the snapshot was taken"
Refusal = tuple[str, str, str]
"""A rejection's code, words and market."""
BY_RULE = "its kind decides so on what it was shown"
PROMPTS = rows_of(PromptRow)
kind_of = cache(kind)
"""A kind of ours, which is looked for once: every turn has one."""


READERS = rows_query(
    joined(TurnRow, RoundRow),
    RowPart(TurnRow, "id", "round_id", "entrant_id", "status", "reader"),
    RowPart(RoundRow, "id", "cohort_id", "at"),
    order=(RoundRow.at, RoundRow.id),
    again=True,
)
LONGEST = timedelta(days=1)
"""No turn is tried for so long."""


def check_readers(facts: RecordReader) -> Found:
    """Turns that claim an older reader than those of the cohort's round before, or of any a day before."""
    newest, of_cohort = 0, dict[int, tuple[datetime, int, int]]()
    since: deque[tuple[datetime, int]] = deque()
    for turn, round_row in facts.read(READERS):
        if round_row is None or turn["status"] not in DECIDED:
            continue
        at, cohort, version = datetime.fromisoformat(round_row["at"]), round_row["cohort_id"], turn["reader"]
        while since and at - since[0][0] > LONGEST:
            newest = max(newest, since.popleft()[1])
        last, before, here = of_cohort.get(cohort, (at, 0, 0))
        before = max(before, here) if last != at else before
        least = max(newest, before)
        if version < least:
            why = "a turn of an earlier round has a newer reader"
            yield turn.differs("reader", f"{least} or more", why)
        of_cohort[cohort] = at, before, max(here if last == at else 0, version)
        since.append((at, version))


class NoAnswer(LookupError):
    """An answer that a decision needs is not in the record."""


@dataclass
class StoredAnswers:
    """The answers of a turn in place of its model; questions are told apart by their order and markets.

    Where several came to one question, the first counts, or the `last`: whose was late is not known.
    """

    calls: Sequence[Call]
    names: Mapping[MarketId, str]
    last: bool = False
    asked: dict[tuple[Stage, int, Message], tuple[Message, ...]] = field(default_factory=dict)
    used: set[Prompt] = field(default_factory=set)
    left: dict[Prompt, list[Call]] = field(default_factory=dict)
    openings: dict[tuple[Stage, int, int], dict[tuple[Message, ...], list[Prompt]]] = field(init=False)
    """The stored questions by how their conversation begins, of each stage, sample and seed."""
    answers: dict[Prompt, list[Call]] = field(init=False)

    def __post_init__(self) -> None:
        self.openings, self.answers = defaultdict(dict), {}
        for call in self.calls:
            one = call.prompt
            own = self.openings[one.stage, one.sample, one.seed]
            own.setdefault(_opening(one), []).append(one)
            self.answers.setdefault(one, []).append(call)

    async def ask(self, prompt: Prompt) -> Call:
        """The answer to a question."""
        first = self._opening(prompt)
        stored = self._openings(prompt)[first]
        stored = [x for x in stored if (len(x.messages) > len(first)) == (len(prompt.messages) > 1)]
        same = [x for x in stored if x.messages[-2:-1] == prompt.messages[-2:-1]] or stored
        for question in dict.fromkeys(same):
            every = self.answers[question]
            good = [x for x in every if x.error is None or x.error.code == "declined"]
            left = self.left.setdefault(question, good[::-1] if self.last else good)
            self.used.add(question)
            if left or not good:
                return left.pop(0) if left else every[-1]
        raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")

    def unused(self) -> Iterator[Prompt]:
        """Questions with an answer that no decision has need of."""
        good = dict.fromkeys(call.prompt for call in self.calls if call.error is None)
        return (question for question in good if question not in self.used)

    def _openings(self, prompt: Prompt) -> dict[tuple[Message, ...], list[Prompt]]:
        return self.openings[prompt.stage, prompt.sample, prompt.seed]

    def _opening(self, prompt: Prompt) -> tuple[Message, ...]:
        """How the conversation begins that a question is of: the next one, or that about its markets."""
        key = prompt.stage, prompt.sample, prompt.messages[0]
        if key not in self.asked:
            taken = {x for known, x in self.asked.items() if known[:2] == key[:2]}
            free = [opening for opening in self._openings(prompt) if opening not in taken]
            if not free:
                raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")
            wanted = {self.names[MarketId(x)] for x in json.loads(prompt.messages[0].content)[1:]}
            self.asked[key] = max(free, key=lambda o: _likeness(o, wanted)) if not prompt.bets else free[0]
        return self.asked[key]


def _opening(question: Prompt) -> tuple[Message, ...]:
    roles = [message.role for message in question.messages]
    return question.messages[: roles.index("assistant")] if "assistant" in roles else question.messages


def _likeness(messages: tuple[Message, ...], wanted: set[str]) -> int:
    """How far a question is about these markets and no others."""
    named = _named(messages[-1].content)
    return len(wanted & named) - len(named - wanted)


@lru_cache(maxsize=8192)
def _named(text: str) -> frozenset[str]:
    """The markets that a question names."""
    return frozenset(MARKET_NAME.findall(text))


class CohortReplay:
    """The turns of a cohort, decided again: what all of them stand on is read once."""

    def __init__(self, facts: RecordReader, checked: CheckedCohort, runner: asyncio.Runner):
        self.facts = facts
        self.checked = checked
        self.runner = runner
        self._cohort: Cohort | None = None
        self._accounts: Mapping[str, Sequence[Entry]] = {}
        self._texts: Mapping[str, str] = {}
        self._round: tuple[int, Snapshot, Mapping[int, Sequence[Call]], Mapping[str, Any]] | None = None

    def check(self, shown: CheckedRound, turn: CheckedTurn) -> Found:
        """A turn that its answers, or its agent's rule, do not make so."""
        row = turn.row
        entrant = self.checked.entrants.get(row["entrant_id"])
        if entrant is None or row["status"] not in DECIDED:
            return
        if not 0 <= row["reader"] <= READER_VERSION:
            most = f"0 to {READER_VERSION}"
            yield row.differs("reader", most, "there was no other reader")
        is_own = entrant["kind"] not in RULES | ANSWERED
        if is_own:
            self.facts.unproved[f"turns of the kind {entrant['kind']}"] += 1
        try:
            found = (self._otherwise_refused if is_own else self._differences)(shown, turn, entrant)
        except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
            words = f"{type(error).__name__}: {error}"[:200]
            found = [row.differs("status", "what can be decided again", words)]
        if found and row["reader"] < READER_VERSION:
            self.facts.unproved["turns that an older reader has read"] += 1
        else:
            yield from found

    def _otherwise_refused(self, shown: CheckedRound, turn: CheckedTurn, entrant: Row) -> list[AnyDifference]:
        """What the market didn't refuse so, of a turn of which no more can be computed: that comes last."""
        bets, sales = orders_of(turn.row["orders"])
        expected = self._refused(turn, self._view(shown, entrant["name"], {}), bets, sales)
        found = [(x["code"], x["message"], x["market_id"]) for x in turn.rejections]
        return list(self._compared_refusals(turn, found[len(found) - len(expected) :], expected))

    def _refused(
        self, turn: CheckedTurn, view: View, bets: Sequence[Bet], sales: Sequence[Sale]
    ) -> list[Refusal]:
        """What the market refuses of a turn's orders; that one had closed by then only a live one can say."""
        first, kept = view.snapshot, {row["market_id"] for row in turn.rejections if row["code"] == CLOSED[0]}
        closed = kept if self.cohort.stamp == "live" else set()
        ordered = [*(bet.market_id for bet in bets), *(sale.market_id for sale in sales)]
        late = [(*CLOSED, market) for market in ordered if market in closed]
        offers = SnapshotOffers(first, view.rules)
        if turn.second:
            quotes = {row["market_id"]: _quote(row, quote) for row, quote in turn.second}
            shown, held = (
                tuple(replace(x, quote=quotes[x.market.id]) for x in listings if x.market.id in quotes)
                for listings in (first.shown, first.held)
            )
            second = Snapshot(first.at, shown, held, datetime.fromisoformat(turn.second[0][0]["taken_at"]))
            fresh = SnapshotOffers(second, view.rules, first)
            offers = WorseOffers(offers, second, first) if turn.failed_before else fresh
        bets = [bet for bet in bets if bet.market_id not in closed]
        sales = [sale for sale in sales if sale.market_id not in closed]
        _, refused = execute_at(offers, bets, sales, view.holdings)
        return [*late, *((x.code, x.message, x.market_id) for x in refused)]

    def _compared_refusals(self, turn: CheckedTurn, found: list[Refusal], expected: list[Refusal]) -> Found:
        if found != expected:
            key = key_of(self.facts, turn.row)
            yield Difference("rejection", key, "message", json_of(found), json_of(expected), BY_MARKET)

    def _differences(self, shown: CheckedRound, turn: CheckedTurn, entrant: Row) -> list[AnyDifference]:
        """What is not so in the likeliest way to decide it; nothing where it is so in any."""
        newest = self.checked.newest_replacement(entrant["id"], shown.round["number"])
        kind = kind_of(entrant["kind"])
        settings = kind.settings.model_validate_json((newest or entrant)["settings"])
        named = json.loads(newest["prompts"]) if newest else self.cohort.prompts
        given = Given(prompts={name: self._texts[text_hash] for name, text_hash in named.items()})
        view = self._view(shown, entrant["name"], settings.model_dump())
        if kind.ask is not None:
            calls = self._of_round(shown)[2].get(entrant["id"], ())
            return list(
                self._compared(
                    turn, self._answered_once(kind, settings, given, view, calls), view, BY_ANSWERS
                )
            )
        if not isinstance(settings, llm.Settings):
            decision = self.runner.run(_decided(kind.agent(settings, given)(view, _unasked)))
            return list(self._compared(turn, sound_decision(decision, view), view, BY_RULE))
        calls, first = self._of_round(shown)[2].get(entrant["id"], ()), list[AnyDifference]()
        calls = without_steps(calls) if settings.tools else calls
        orders = (False, True) if len({call.prompt for call in calls}) < len(calls) else (False,)
        limits = (None, 1) if any(call.finish == "length" for call in calls) else (None,)
        for last, raised in product(orders, limits):
            answers = StoredAnswers(calls, short_ids(view.snapshot), last)
            found = list(self._answered(turn, settings, given, view, answers, raised))
            if not found:
                return []
            first = first or found
        return first

    def _answered_once(
        self, kind: AgentKind, settings: Any, given: Given, view: View, calls: Sequence[Call]
    ) -> Decision:
        """The decision of an agent that asks one thing a turn, by the answer that is kept."""

        async def stored(prompt: Prompt) -> Call:
            if (found := next((call for call in calls if call.error is None), None)) is None:
                raise NoAnswer(f"{prompt.stage}, sample {prompt.sample}")
            return found

        return sound_decision(self.runner.run(_decided(kind.agent(settings, given)(view, stored))), view)

    def _answered(
        self,
        turn: CheckedTurn,
        settings: llm.Settings,
        given: Given,
        view: View,
        answers: StoredAnswers,
        raised: int | None,
    ) -> Found:
        """What the stored answers make otherwise, and those that are missing or too many."""

        def write(stage: Stage, _before: Sequence[Forecast], part: PromptPart) -> Prompt:
            form = compile_template(given.prompts[llm.template_of(settings, stage)]).answer
            asked = Message("user", json.dumps([part.number, *part.markets]))
            return Prompt((asked,), view.seed, stage, bets=form == "decision" and stage != "blind")

        try:
            decision = self.runner.run(llm.decide_by_answers(settings, view, answers.ask, write, raised))
        except NoAnswer as missing:
            key = f"{key_of(self.facts, turn.row)}, {missing}"
            yield Difference("call", key, "reply", None, "an answer", "the turn was decided by it")
            return
        yield from self._compared(turn, sound_decision(decision, view), view, BY_ANSWERS)
        twice = len({call.prompt for call in answers.calls}) < len(answers.calls)
        for question in () if twice else answers.unused():
            name = key_of(self.facts, turn.row)
            key = f"{name}, {question.stage}, sample {question.sample}"
            yield Difference("call", key, "reply", "an answer", None, "its agent had no such question")

    def _compared(self, turn: CheckedTurn, decision: Decision, view: View, why: str) -> Found:
        """What a turn keeps beside what was decided."""
        row, facts = turn.row, self.facts
        orders = {"bets": list(map(asdict, decision.bets)), "sales": list(map(asdict, decision.sales))}
        if json_in(row["orders"]) != orders:
            yield row.differs("orders", json_of(orders), why)
        plain = {"status": decision.status, "note": decision.note, "repaired": json_of(decision.repaired)}
        yield from row.check({name: (value, why) for name, value in plain.items()})
        stated = {(x.market_id, x.stage): x for x in decision.forecasts}
        for kept in turn.forecasts:
            if (one := stated.pop((kept["market_id"], kept["stage"]), None)) is None:
                yield kept.differs("market_id", None, why)
                continue
            expected = {"probability": (one.millionths, why), "reason": (one.reason, why)}
            yield from kept.check(expected)
        for (market, stage), one in stated.items():
            key = f"{key_of(facts, row)}, {market}, {stage}"
            yield Difference("forecast", key, "probability", None, one.millionths, why)
        found = [(x["code"], x["message"], x["market_id"]) for x in turn.rejections]
        refused = self._refused(turn, view, decision.bets, decision.sales)
        expected_ones = [(x.code, x.message, x.market_id) for x in decision.rejections]
        yield from self._compared_refusals(turn, found, [*expected_ones, *refused])

    @property
    def cohort(self) -> Cohort:
        """What was frozen; with it the ledgers and the prompts are read."""
        if self._cohort is None:
            self._cohort = cohort_of(self.checked.row["frozen"])
            self._accounts = read_ledgers(self.facts.connection, self.checked.id)
            self._texts = {row["hash"]: row["text"] for row in self.facts.rows(PROMPTS)}
        return self._cohort

    def _of_round(
        self, shown: CheckedRound
    ) -> tuple[int, Snapshot, Mapping[int, Sequence[Call]], Mapping[str, Any]]:
        """The id of a round, what was shown, and the calls and final forecasts that are kept of it."""
        round_id, connection = shown.round["id"], self.facts.connection
        if self._round is None or self._round[0] != round_id:
            taken = read_snapshot(connection, self.checked.id, datetime.fromisoformat(shown.round["at"]))
            if taken is None:
                raise LookupError("its snapshot is missing")
            calls = read_calls(connection, round_id, list(self.checked.entrants))
            names = [entrant["name"] for entrant in self.checked.entrants.values()]
            self._round = round_id, taken[1], calls, read_final_forecasts(connection, round_id, names)
        return self._round

    def _view(self, shown: CheckedRound, name: str, settings: Mapping[str, Any]) -> View:
        """What an entrant was shown, as far as a decision is made by it and not only asked about it."""
        cohort, number = self.cohort, shown.round["number"]
        _, snapshot, _, stated = self._of_round(shown)
        own = f"fill:{number}:"
        entries = (x for x in self._accounts[name] if x.at <= snapshot.at and not x.ref.startswith(own))
        held = fold(entries)
        return View(
            snapshot=snapshot,
            holdings=held,
            mark=mark(held, snapshot),
            rules=cohort.rules,
            seed=seed_for(cohort.seed, number, name),
            round=number,
            rounds=cohort.rounds,
            stated={of: stated.get(of, ()) for of in forecast_sources(settings)},
        )


def _quote(row: Row, quote: Row | None) -> Quote | None:
    if quote is None:
        return None
    bids, asks = book_of(quote["book"])
    figures = {name: quote[name] for name in ("bid", "ask", "mid", "last", "volume")}
    at = datetime.fromisoformat(row["quoted_at"])
    return Quote(MarketId(row["market_id"]), at, **figures, bids=bids, asks=asks)


async def _decided(decision: Awaitable[Decision]) -> Decision:
    return await decision


async def _unasked(_prompt: Prompt) -> Call:
    raise NoAnswer("a kind that asks no model")
