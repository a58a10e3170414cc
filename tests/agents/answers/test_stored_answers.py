"""Every stored answer of a model gives what the eye expects of it.

They lie in `stored/`, one file a subject, written by hand. A case is a whole answer with its outcome; a table
is a frame with a `?` in it and what may be written there.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.kinds.llm import Settings, agent
from agents.model import Call, Decision, Forecast, Given, Prompt
from portfolio.model import Bet, Rejection, Sale, Side
from tests.agents.minds import THREE, a_lot, a_view, replies
from tests.builders import a_bet, a_listing, a_sale, result_of
from tests.builders import usd as millionths_of

FOLDER = Path(__file__).parent / "stored"
CASE = {"name", "answer", "forecasts", "bets", "sales", "rejected", "reasons", "unusable", "stage", "finish"}
TABLE = {"subject", "writes", "forecasts", "bets", "sales", "code", "means", "refused", "broken"}
LISTS = ("forecasts", "bets", "sales")


@dataclass(frozen=True)
class Stored:
    """An answer, and either why it is unusable or what is taken from it, each item as a line of words.

    A rejection is given as its code and a piece of its words. `reasons` are those of all items in turn.
    """

    name: str
    answer: str
    forecasts: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()
    sales: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    reasons: tuple[str, ...] | None = None
    unusable: str = ""
    stage: str = "final"
    finish: str = "stop"


def stored() -> list[Stored]:
    """Return every stored answer."""
    found: list[Stored] = []
    for path in sorted(FOLDER.glob("*.toml")):
        page = tomllib.loads(path.read_text("utf-8"))
        found += [_case(path.stem, **raw) for raw in page.get("case", [])]
        for table in page.get("table", []):
            found += _rows(path.stem, table)
    return found


def _case(file: str, **raw: Any) -> Stored:
    assert set(raw) <= CASE, f"{file}: {raw['name']} has keys that mean nothing: {set(raw) - CASE}"
    lists = {key: tuple(value) for key, value in raw.items() if isinstance(value, list)}
    return Stored(**{**raw, **lists, "name": f"{file}: {raw['name']}", "answer": _spelled_out(raw["answer"])})


def _rows(file: str, table: Mapping[str, Any]) -> Iterator[Stored]:
    """Yield a case for every line of a table."""
    assert set(table) <= TABLE, f"{file}: {table['subject']} has keys that mean nothing: {set(table) - TABLE}"
    for outcome in ("means", "refused", "broken"):
        for written, value in table.get(outcome, {}).items():
            case = {
                "name": f"{table['subject']}, {written}",
                "answer": table["writes"].replace("?", written, 1),
            }
            if outcome == "means":
                items = {name: [line.replace("?", value) for line in table.get(name, [])] for name in LISTS}
                yield _case(file, **case, **items)
            elif outcome == "refused":
                yield _case(file, **case, rejected=[f"{table['code']}: {value}"])
            else:
                yield _case(file, **case, unusable=value)


def _spelled_out(answer: str) -> str:
    """Expand «0.4» into an answer that says 0.4 for m1 and nothing else."""
    front = '{"forecasts": [{"market": "m1", "probability": '
    return answer.replace("«", front).replace("»", "}]}")


ANSWERS = stored()
PAGES = {page: [*answers] for page, answers in groupby(ANSWERS, lambda answer: answer.name.partition(":")[0])}
MARKETS = dict(zip(("m1", "m2", "m3", "m4"), (*THREE, "sim:old"), strict=True))
VIEW = a_view(
    *(a_listing(market=market) for market in THREE),
    held=(a_listing(market="sim:old"),),
    lots={("sim:old", "NO"): a_lot()},
)


def read(answer: Stored) -> Decision | UnusableAnswer:
    """Return what the parser reads; an answer that was cut short is read by the agent that asked."""
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
            check_meaning(answer)
        except AssertionError as error:
            error.add_note(answer.name)
            raise


def check_meaning(answer: Stored) -> None:
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
