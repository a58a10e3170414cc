"""Which stored answer belongs to which question, where a round's markets were asked about in parts."""

import asyncio
import json

import pytest

from agents.model import Call, Message, Prompt
from arena.verify.checks.answers import StoredAnswers
from markets.model import MarketId

EXAMPLE = 'Answer in this format: {"thoughts": "m1 and m4 hang on the same vote.", "forecasts": []}'
FIRST = MarketId("questions:first")
FOURTH = MarketId("questions:fourth")


def asked_about(name: str, more: str = "") -> Call:
    """Return the call of a part about one market, with an example that names two."""
    text = f"### {name}\nWill it rain?\n\n{EXAMPLE} There is no chance of YES for {name}.{more}"
    return Call(Prompt((Message("user", text),), 7, "final", bets=False), f"about {name}")


@pytest.mark.parametrize("more", ["", " It hangs on m2."])
def test_a_part_is_told_from_one_whose_market_its_example_names(more: str) -> None:
    answers = StoredAnswers([asked_about("m4"), asked_about("m1", more)], {FIRST: "m1", FOURTH: "m4"})

    replies = []
    for number, market in enumerate((FIRST, FOURTH), 1):
        question = Prompt((Message("user", json.dumps([number, market])),), 7, "final", bets=False)
        replies.append(asyncio.run(answers.ask(question)).reply)

    assert replies == ["about m1", "about m4"]
