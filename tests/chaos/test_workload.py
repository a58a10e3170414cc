"""What a simulated season is made of: documented keys and commands, and what provider and venue may do."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from agents.model import Call, Message, ModelSettings, Prompt
from arena.cli.surface import COMMANDS, Places
from arena.config.listing import sections
from tests.chaos import drawn_commands, season_config, simulated_provider
from tests.chaos.hold_history import HoldHistory
from tests.chaos.loop import PROCESS, SeededLoop
from tests.chaos.process_lives import ProcessLives
from tests.chaos.question_history import QuestionHistory
from tests.chaos.record_watch import RecordWatch
from tests.chaos.simulated_provider import ADDRESS, LASTING, PASSING, Provider
from tests.provider.replies import BEHAVIOURS

ASKED = Prompt((Message("system", "You bet."), Message("user", "### m1\nWill it rain?\n")), seed=3)
CONFIGS_READ = 4


def documented_keys() -> set[str]:
    """Return every key of the generated reference, by its place in the config."""
    return {".".join((*section.path, row.name)) for section in sections() for row in section.keys}


def commands(places: Mapping[str, "str | Places"], before: str = "") -> Iterator[str]:
    """Yield the words of every command."""
    for name, place in places.items():
        if isinstance(place, str):
            yield before + name
        else:
            yield from commands(place, f"{before}{name} ")


def test_every_documented_key_is_drawn_or_left_out_for_a_reason() -> None:
    drawn = set(season_config.CANDIDATES)
    left_out = set(season_config.NOT_DRAWN)

    assert drawn | left_out == documented_keys()
    assert not drawn & left_out


def test_every_command_is_drawn_scripted_or_left_out_for_a_reason() -> None:
    listed = [*drawn_commands.DRAWN, *drawn_commands.SCRIPTED, *drawn_commands.LEFT_OUT]

    assert sorted(listed) == sorted(commands(COMMANDS))


def test_every_fault_of_the_providers_own_suite_is_drawn_or_left_out_for_a_reason() -> None:
    own = {"refused-connection", "too-late", "wrong-market", "drip"}
    listed = [*PASSING, *LASTING, *simulated_provider.LEFT_OUT]

    assert sorted(listed) == sorted([*BEHAVIOURS, *own])


def test_the_first_config_has_the_defaults_and_others_differ(tmp_path: Path) -> None:
    texts = set()
    for number in range(CONFIGS_READ):
        folder = tmp_path / str(number)
        folder.mkdir()
        config = season_config.write_config(folder, number)
        texts.add(season_config.draw_config(number))
        assert config.cohorts.count == 2

    assert "run:" not in season_config.draw_config(0)
    assert len(texts) == CONFIGS_READ


def test_a_quarter_of_the_seeds_play_the_defaults() -> None:
    numbers = [season_config.config_number(seed) for seed in range(2_000)]

    assert 0.2 < numbers.count(0) / len(numbers) < 0.3
    assert set(numbers) == set(range(season_config.CONFIGS)) - set(season_config.SET_ASIDE)


def test_what_a_command_answers_is_told_from_what_others_print() -> None:
    text = 'a warning: {"odd"\n{\n  "error": {"code": "locked"}\n}\nanother\n'

    assert drawn_commands.error_code(drawn_commands.value_in(text)) == "locked"
    assert drawn_commands.value_in("nothing") == "nothing"
    assert drawn_commands.error_code("nothing") == ""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    """Yield a provider on a loop of its own; the record of its season is still empty."""
    chance = Random(1)
    loop = SeededLoop(chance, lambda: None)
    lives = ProcessLives(lambda: loop.moment)
    watch = RecordWatch(tmp_path / "arena.db")
    history = QuestionHistory(watch, lives, HoldHistory(lives), PROCESS.get, 1)

    yield Provider(loop, chance, history, troubled=True)
    loop.close()
    watch.close()


def ask(provider: Provider, times: int = 1) -> list[Call]:
    """Ask a provider the same question several times, through the program's own client."""

    async def calls() -> list[Call]:
        settings = ModelSettings(model="openai/sharp", base_url=ADDRESS, form="prompt")
        model_ask = provider.make_ask(settings, None, {})
        return [await model_ask(ASKED) for _ in range(times)]

    with provider.behind_client():
        return provider.loop.run_until_complete(calls())


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_may_be_asked_again(provider: Provider, fault: str) -> None:
    provider.away_until = 0.05
    provider.away_with = fault

    [failed] = ask(provider)

    assert failed.error is not None
    assert failed.error.retry
    assert [call.outcome for call in provider.calls] == [failed.error.code]


@pytest.mark.parametrize("answer", LASTING)
def test_a_lasting_answer_is_the_same_each_time(
    provider: Provider, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.troubled = False
    monkeypatch.setattr(Provider, "lasting_fault", lambda *_: answer)

    first, second = ask(provider, 2)

    assert first.error is None or first.error.code == "declined"
    assert (first.reply, first.error) == (second.reply, second.error)


def test_an_answer_arrives_after_a_while_of_the_loops_own_time(provider: Provider) -> None:
    provider.troubled = False

    [answered] = ask(provider)

    assert answered.reply
    assert json.loads(answered.reply)["forecasts"]
    assert 0.1 < provider.loop.moment < 120
    assert [(call.question, call.outcome) for call in provider.calls] == [
        (simulated_provider.name_of(ASKED), "answer")
    ]


def test_outside_of_a_season_nothing_is_left_behind(provider: Provider) -> None:
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    before = LiteLLMAiohttpTransport.handle_async_request
    ask(provider)

    assert LiteLLMAiohttpTransport.handle_async_request is before
