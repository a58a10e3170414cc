"""A prompt that can't be used is found when the config is read, and its mistake is told by file and line."""

from pathlib import Path

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
