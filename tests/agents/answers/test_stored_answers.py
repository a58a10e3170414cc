"""Every stored answer gives what the eye expects of it."""

from collections import Counter
from itertools import groupby

import pytest

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.kinds.llm import Settings, agent
from agents.model import Call, Decision, Forecast, Given, Prompt
from portfolio.model import Bet, Rejection, Sale, Side
from tests.agents.answers.stored_answers import Stored, stored
from tests.agents.minds import THREE, a_lot, a_view, replies
from tests.builders import a_bet, a_listing, a_sale, result_of
from tests.builders import usd as millionths_of

ANSWERS = stored()
PAGES = {page: [*answers] for page, answers in groupby(ANSWERS, lambda answer: answer.name.partition(":")[0])}
MARKETS = dict(zip(("m1", "m2", "m3", "m4"), (*THREE, "sim:old"), strict=True))
VIEW = a_view(
    *(a_listing(market=market) for market in THREE),
    held=(a_listing(market="sim:old"),),
    lots={("sim:old", "NO"): a_lot()},
)


def read(answer: Stored) -> Decision | UnusableAnswer:
    """What the parser makes of it; what a model was cut short in is read by the agent that asked."""
    if answer.finish == "stop":
        return parse_answer(answer.answer, VIEW, "blind" if answer.stage == "blind" else "final")
    call = Call(Prompt(()), answer.answer, finish=answer.finish)
    ask, _ = replies(call, call, call)  # whole, and in halves
    decision = result_of(agent(Settings(model="any"), Given(prompts={"bet": "{{ cash }}"}))(VIEW, ask))
    return UnusableAnswer(decision.note) if decision.status == "malformed" else decision


def forecast(line: str, stage: str) -> tuple[str, int, str]:
    market, probability = line.split()
    return MARKETS[market], millionths_of(probability), stage


def side(word: str) -> Side:
    return "YES" if word == "YES" else "NO"


def bet(line: str) -> Bet:
    market, which, amount, *limit = line.split()
    return a_bet(amount, side(which), MARKETS[market], limit[-1] if limit else None)


def sale(line: str) -> Sale:
    market, which, fraction, *limit = line.split()
    whole = None if fraction == "all" else fraction
    return a_sale(None, side(which), MARKETS[market], fraction=whole, limit=limit[-1] if limit else None)


def without_reason(item: Bet | Sale) -> Bet | Sale:
    return type(item)(**{name: getattr(item, name) for name in item.__slots__ if name != "reason"})


def fits(rejection: Rejection, expected: str) -> bool:
    code, _, words = expected.partition(": ")
    return rejection.code == code and words in rejection.message


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_stored_answers_of_a_page_mean_what_they_say(page: str) -> None:
    for answer in PAGES[page]:
        try:
            means_what_it_says(answer)
        except AssertionError as error:
            error.add_note(answer.name)
            raise


def means_what_it_says(answer: Stored) -> None:
    found = read(answer)
    if answer.unusable:
        assert isinstance(found, UnusableAnswer), found
        assert answer.unusable in found.message
        assert found.message.encode()
        return
    assert isinstance(found, Decision), found
    stated = [(f.market_id, f.millionths, f.stage) for f in found.forecasts]
    assert stated == [forecast(line, answer.stage) for line in answer.forecasts]
    assert [without_reason(item) for item in found.bets] == [bet(line) for line in answer.bets]
    assert [without_reason(item) for item in found.sales] == [sale(line) for line in answer.sales]
    assert len(found.rejections) == len(answer.rejected), found.rejections
    for rejection, expected in zip(found.rejections, answer.rejected, strict=True):
        assert fits(rejection, expected), rejection
        assert rejection.message.encode()
    items: tuple[Forecast | Bet | Sale, ...] = (*found.forecasts, *found.bets, *found.sales)
    assert answer.reasons is None or tuple(item.reason for item in items) == answer.reasons
    assert found.status == "played"


def test_there_are_many_answers_and_none_is_there_twice() -> None:
    assert len(ANSWERS) >= 400
    twice = [
        text for text, count in Counter((a.answer, a.stage, a.finish) for a in ANSWERS).items() if count > 1
    ]
    assert not twice
