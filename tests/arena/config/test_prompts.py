"""A prompt that can't be used is found when the config is read, and its mistake is told by file and line."""

from pathlib import Path

import pytest

from arena.config import load
from tests.arena.config_files import mistakes, told, with_agents, write

MISSPELT = "Hello.\n{% for m in markets %}\n{{ m.cloes }}\n{% endfor %}"
SHARES = "{% for p in positions %}\n{{ p.shares | number }}\n{% endfor %}"


def test_every_mistake_is_told_once_and_together_with_the_others(tmp_path: Path) -> None:
    write(tmp_path, MISSPELT, "mine.md")
    write(tmp_path, "{{ csh }}", "extensions/prompts/terse.md")
    write(tmp_path, "Hello {{ now", "open.md")
    agents = with_agents(
        "{model: demo/sharp, prompt: mine.md}",
        "{model: demo/hasty, prompt: mine.md}",
        "{model: demo/blind, prompt: terse}",
        "{model: demo/clumsy, prompt: open.md, prces: shown}",
        "{model: demo/clumsy, name: other, prompt: open.md}",
    )
    found = mistakes(tmp_path, agents)
    assert [(error.line, error.key) for error in found] == [
        (4, "agents[0].prompt"),
        (6, "agents[2].prompt"),
        (7, "agents[3].prces"),
        (8, "agents[4].prompt"),
    ]
    assert found[1].message == (
        'extensions/prompts/terse.md:1: there is no variable "csh". Did you mean "cash"?'
    )
    assert (found[1].found, found[1].meant) == ("csh", "cash")
    assert found[3].message.startswith("open.md:1: unexpected end of template")


def test_a_prompt_is_tried_with_prices_or_without_as_it_will_be_used(tmp_path: Path) -> None:
    write(tmp_path, SHARES, "mine.md")
    for prices in ("shown", "after"):
        load(write(tmp_path, with_agents(f"{{model: demo/sharp, prompt: mine.md, prices: {prices}}}")))
    [told_once] = told(tmp_path, with_agents("{model: demo/sharp, prompt: mine.md, prices: hidden}"))
    assert told_once == (
        "config.yaml:4: agents[0].prompt: mine.md:2: this figure may be missing: test it with `is not none`"
    )


def test_a_part_is_put_in_and_its_mistakes_are_told_by_its_own_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, "It is {{ now }}.\n\n{% include 'parts/rows.md' %}\nAnswer.\n", "mine.md")
    write(tmp_path, '{% for m in markets %}\n{% include "_line" %}\n{% endfor %}\n', "parts/rows.md")
    write(tmp_path, "{{ m.id }} {{ m.price }}", "extensions/prompts/_line.md")
    agent = with_agents("{model: demo/sharp, prompt: mine.md}")
    whole = load(write(tmp_path, agent)).prompts["mine.md"]
    assert whole == (
        "It is {{ now }}.\n\n{% for m in markets %}\n{{ m.id }} {{ m.price }}\n{% endfor %}\nAnswer.\n"
    )
    write(tmp_path, "\n{{ m.cloes }}", "extensions/prompts/_line.md")
    [told_once] = told(tmp_path, agent)
    assert 'extensions/prompts/_line.md:2: there is no "cloes" here. Did you mean "closes"?' in told_once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\n{% include 'mine.md' %}", 'mine.md:2: "mine.md" includes itself'),
        ("{% include '../secret.md' %}", 'mine.md:1: "../secret.md" can\'t be included: it lies outside'),
        ("{% include 'absent' %}", 'mine.md:1: "absent" can\'t be included: there is no such file'),
        ("{% include '../_fence' %}", "there is no such file"),
        ("Hello {% include '_fence' %}", 'mine.md:1: another file is only put in by {% include "NAME" %}'),
        ("{% include now %}", "mine.md:1: another file is only put in"),
        ("{% extends 'bet' %}", "mine.md:1: another file is only put in"),
    ],
)
def test_a_part_that_can_not_be_put_in_is_refused(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, "nobody's business", "secret.md")
    write(tmp_path, text, "arena/mine.md")
    [told_once] = told(tmp_path / "arena", with_agents("{model: demo/sharp, prompt: mine.md}"))
    assert words in told_once


def test_prices_are_as_the_prompt_has_them_or_refused(tmp_path: Path) -> None:
    shown, hidden = (
        load(write(tmp_path, with_agents(f"{{model: demo/sharp, prompt: {name}}}"))).agents[0].settings
        for name in ("scratchpad_with_price", "scratchpad")
    )
    assert [x.model_dump()["prices"] for x in (shown, hidden)] == ["shown", "hidden"]
    load(write(tmp_path, with_agents("{model: demo/sharp, prompt: scratchpad_with_price, prices: hidden}")))
    for prices in ("shown", "after"):
        [one] = told(tmp_path, with_agents(f"{{model: demo/sharp, prompt: zero_shot, prices: {prices}}}"))
        assert one.startswith("config.yaml:4: agents[0].prices: the prompt of demo/sharp shows no prices")
        [one] = told(
            tmp_path, with_agents("{model: demo/sharp, prompt: zero_shot}") + f"ask: {{prices: {prices}}}\n"
        )
        assert "ask.prices: the prompt of demo/sharp shows no prices" in one


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../out.md", "lies outside of the config's folder"),
        ("inner/../../out.md", "lies outside of the config's folder"),
        ("-rf.md", "looks like an option"),
        ("./-rf.md", "looks like an option"),
        ("-x", "looks like an option"),
    ],
)
def test_a_prompt_is_in_the_folder_and_unlike_an_option(tmp_path: Path, name: str, why: str) -> None:
    for file in ("out.md", "c/-rf.md", "c/extensions/prompts/-x.md"):
        write(tmp_path, "{{ cash }}", file)
    [said] = told(tmp_path / "c", with_agents(f"{{model: demo/sharp, prompt: {name}}}"))
    assert why in said


def test_where_there_is_no_market_the_standard_prompt_asks_for_no_bets(tmp_path: Path) -> None:
    rows = "id,question,opens,closes\nrain,Will it rain?,2026-01-01,2026-02-01\n"
    write(tmp_path, rows, "folder/questions.csv")
    write(tmp_path, "{{ cash | dollars }}", "mine.md")
    agents = with_agents("{model: demo/sharp}").replace(
        "venue: simulator", "{venue: questions, questions: {folder: folder}}"
    )
    config = load(write(tmp_path, agents))
    assert not config.rules.money
    assert list(config.prompts) == ["forecast"]
    assert '"bets"' not in config.prompts["forecast"]
    [told_once] = told(tmp_path, agents.replace("demo/sharp", "demo/sharp, prompt: mine.md"))
    assert "mine.md:1: this figure may be missing" in told_once


def test_a_prompt_file_that_is_not_there_is_told_with_the_one_that_is_near(tmp_path: Path) -> None:
    write(tmp_path, "Hello {{ now }}", "terse.md")
    [told_once] = told(tmp_path, with_agents("{model: demo/sharp, prompt: ./tersee.md}"))
    assert 'the file ./tersee.md does not exist next to the config. Did you mean "./terse.md"?' in told_once
