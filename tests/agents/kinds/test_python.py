"""A function beside the config that plays: found, held against how it will be called, and called so."""

import re
import textwrap
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import registry
from agents.kinds import python
from agents.kinds.python import Settings, agent
from agents.model import Decision, Forecast, Given, Unreadable, model_settings
from markets.model import MarketId
from tests.agents.minds import a_view, nobody, replies
from tests.builders import a_listing, result_of, usd

HEAD = "from agents.model import Decision, Forecast, Message, Prompt\n"
SAYS = HEAD + "def decide(view, ask, p=0.25):\n    return Decision(note=f'{view.seed} {p}')\n"
ASKS = HEAD + (
    "async def decide(view, ask):\n"
    "    call = await ask(Prompt((Message('user', 'well?'),)))\n"
    "    return Decision(note=call.reply)\n"
)


def given(folder: Path, text: str, name: str = "mine.py") -> Given:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return Given(load=partial(registry.load_module, folder, {path: path.read_bytes()}))


def play(settings: Settings, given: Given, *answers: str) -> Decision:
    ask, _ = replies(*answers)
    return result_of(agent(settings, given)(a_view(seed=3), ask if answers else nobody))


@pytest.mark.parametrize("name", ["mine.py", "extensions/mine.py"])
def test_the_function_decides_with_what_it_is_handed(tmp_path: Path, name: str) -> None:
    beside_config = given(tmp_path, SAYS, name)
    assert play(Settings(function="mine:decide"), beside_config) == Decision(note="3 0.25")
    assert play(Settings(function="mine:decide", arguments={"p": 0.5}), beside_config).note == "3 0.5"


def test_a_function_may_ask_a_model(tmp_path: Path) -> None:
    settings = Settings(function="mine:decide", model="openai/any", temperature=0)
    assert model_settings(settings) == settings
    assert model_settings(Settings(function="mine:decide")) is None
    assert play(settings, given(tmp_path, ASKS), "yes").note == "yes"


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no file": ("other:decide", {}, "there is no other.py next to the config or in its extensions/"),
    "no function": ("mine:decode", {}, "mine.py has no function decode. Add it, or name another one"),
    "no callable": ("mine:HEAD", {}, "mine.py has no function HEAD"),
    "too much": ("mine:decide", {"q": 1}, "got an unexpected keyword argument 'q'. Change the function"),
    "too little": ("mine:needy", {}, "needy(view, ask) can't be called: missing a required argument: 'p'"),
    "too few places": ("mine:narrow", {}, "narrow(view, ask) can't be called: too many positional arguments"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_can_not_be_called_is_seen_before_it_is(tmp_path: Path, case: str) -> None:
    function, arguments, said = WRONG[case]
    text = SAYS + "HEAD = 1\ndef needy(view, ask, p): ...\ndef narrow(view): ...\n"
    settings = Settings(function=function, arguments=arguments)
    beside_config = given(tmp_path, text)
    ((key, words),) = settings.faults(beside_config)
    assert key == "function"
    assert said in words
    with pytest.raises(Unreadable, match=r"\."):
        agent(settings, beside_config)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def decide(:\n", "mine.py can't be loaded: SyntaxError: invalid syntax"),
        ("import nowhere_to_be_found\n", "mine.py can't be loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "mine.py can't be loaded: SystemExit: 3"),
    ],
)
def test_a_file_that_breaks_when_loaded_is_told(tmp_path: Path, text: str, said: str) -> None:
    ((_, words),) = Settings(function="mine:decide").faults(given(tmp_path, text))
    assert words.startswith(said)


@pytest.mark.parametrize("name", ["mine", "mine:", ":decide", "mine.py:decide", "../m:decide", "a:b:c", ""])
def test_a_function_is_named_by_its_module_and_its_name(name: str) -> None:
    with pytest.raises(ValueError, match="expected MODULE:FUNCTION, such as mine:decide"):
        Settings(function=name)


def test_the_function_on_the_page_plays(tmp_path: Path) -> None:
    page = python.__doc__ or ""
    _, _, after = page.partition("    from arena.extend")
    text = textwrap.dedent("    from arena.extend" + after[: after.index("\n\nWith a `model`")])
    view = a_view(a_listing("0.30", "0.32", market="sim:low"), a_listing("0.60", "0.62", market="sim:high"))
    settings = Settings(function="mine:decide", arguments={"edge": 0.1})
    decision = result_of(agent(settings, given(tmp_path, text))(view, nobody))
    assert [(f.market_id, f.millionths) for f in decision.forecasts] == [("sim:low", usd("0.41"))]
    assert [(bet.market_id, bet.side, bet.amount) for bet in decision.bets] == [("sim:low", "YES", usd(50))]


@pytest.mark.parametrize(
    ("probability", "millionths"),
    [
        (0.65, 650_000), ("0.65", 650_000), (Decimal("0.0000015"), 2), (0.1 + 0.2, 300_000),
        (Fraction(1, 3), 333_333),
        (np.float32(0.65), 650_000), (np.float64(0.65), 650_000), (0, 0), (1, 1_000_000),
        (1.0, 1_000_000), (1e-6, 1),
    ],
)  # fmt: skip
def test_a_probability_is_taken_as_it_is_written(probability: Any, millionths: int) -> None:
    forecast = Forecast(MarketId("sim:a"), probability)
    assert forecast.millionths == millionths
    assert Forecast(MarketId("sim:a"), forecast.probability) == forecast


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        ("65", "the probability 65 is not between 0 and 1. Write 0.65 for 65%, or millionths="),
        ("650000", "the probability 650000 is not between 0 and 1"),
        ("1.0000001", "the probability 1.0000001 is not between 0 and 1"),
        ("-0.1", "the probability -0.1 is not between 0 and 1"),
        ("float('nan')", "nan is not a finite number"),
        ("'65%'", "'65%' is not a finite number"),
        ("True", "a probability is a number from 0 to 1, and this is a bool"),
        ("[0.65]", "a probability is a number from 0 to 1, and this is a list"),
        ("None", "a Forecast takes either a probability from 0 to 1 or millionths="),
        ("0.65, millionths=65", "a Forecast takes either a probability from 0 to 1 or millionths="),
    ],
)
def test_a_function_that_states_no_probability_is_told_so(
    tmp_path: Path, probability: str, words: str
) -> None:
    text = HEAD + f"def decide(view, ask):\n    return Decision((Forecast('sim:a', {probability}),))\n"
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        play(Settings(function="mine:decide"), given(tmp_path, text))
