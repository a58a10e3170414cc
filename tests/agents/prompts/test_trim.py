"""A budget of tokens: everything fits, all long texts are cut to one length, and every cut says so."""

import re
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model import Message, View
from agents.prompts.prompt import PromptContext, PromptPart, prompt_facts, render
from agents.prompts.template import compile_template
from agents.registry import HOME, prompt_text
from agents.text import MARK, TooLong, cut_text, tokens_of
from markets.model import MarketId
from tests.agents.minds import THREE, a_view, an_article
from tests.builders import a_listing

BET = prompt_text("bet", HOME)
ROLES: tuple[Literal["system", "user"], ...] = ("system", "user")
CUT = re.compile(r"^\| (.*?) ?… \[cut: ([\d,]+) of ([\d,]+) characters\]$", re.MULTILINE)


def long_view(*lengths: int, letter: str = "x") -> View:
    """Return a view of markets m1, m2 … with rules of these lengths."""
    listings = (a_listing(market=f"sim:{n}", rules=letter * length) for n, length in enumerate(lengths))
    return a_view(*listings)


def asked(view: View, tokens: int | None, part: PromptPart | None = None) -> tuple[str, int]:
    """Return the user's message, and the tokens of all messages."""
    messages = render(BET, view, tokens=tokens, part=part).messages
    return messages[-1].content, tokens_of(messages)


def test_what_fits_is_left_alone() -> None:
    view = long_view(500, 4_000)
    whole, needed = asked(view, None)
    assert asked(view, needed) == (whole, needed)
    assert "cut" not in whole
    assert asked(view, needed - 1)[0] != whole


def test_long_texts_are_cut_to_one_length_and_short_ones_stay_whole() -> None:
    view = long_view(300, 9_000, 30_000)
    _, needed = asked(view, None)
    text, taken = asked(view, needed - 9_000)
    assert taken <= needed - 9_000
    lengths = [(len(kept), int(said.replace(",", "")), total) for kept, said, total in CUT.findall(text)]
    (common,) = {said for _, said, _ in lengths}
    assert lengths == [(common, common, "9,000"), (common, common, "30,000")]
    assert "x" * 300 in text
    line = f"Long texts are cut to their first {common:,} characters so that all fit: [cut: …] says where."
    assert text.count(line) == 1


def test_little_of_the_budget_is_left_unused() -> None:
    view = long_view(*range(100, 20_000, 400))
    _, needed = asked(view, None)
    for share in (0.9, 0.5, 0.2, 0.1):
        budget = int(needed * share)
        assert 0.98 * budget < asked(view, budget)[1] <= budget


@given(
    st.lists(st.tuples(st.integers(0, 3_000), st.sampled_from(["x", "ж", "雨", "a b\n", " \n"])), max_size=6),
    st.integers(1_000, 6_000),
)
def test_a_prompt_fits_or_says_by_how_much_it_does_not(texts: list[tuple[int, str]], budget: int) -> None:
    listings = (a_listing(market=f"sim:{n}", rules=letter * k) for n, (k, letter) in enumerate(texts))
    view = a_view(*listings)
    template = compile_template(BET)
    known = prompt_facts(PromptContext(view, longest=0))
    least = tokens_of([Message(role, template.filled(role, known)) for role in ROLES])
    if min(least, asked(view, None)[1]) > budget:
        with pytest.raises(TooLong) as told:
            asked(view, budget)
        assert (told.value.needed, told.value.allowed) == (least, budget)
        return
    text, taken = asked(view, budget)
    assert taken <= budget
    assert len({said for _, said, _ in CUT.findall(text)}) <= 1


def test_a_prompt_without_room_for_itself_is_too_long() -> None:
    with pytest.raises(
        TooLong, match=r"takes about [\d,]+ tokens .*, and 1,000 are allowed: raise prompt_tokens"
    ):
        render(BET, long_view(*[2_000] * 60), tokens=1_000)


def test_a_part_has_the_whole_budget_for_itself() -> None:
    view = long_view(*[3_000] * 10)
    _, needed = asked(view, None)
    assert "cut" in asked(view, needed // 3)[0]
    assert "cut" not in asked(view, needed // 3, PromptPart(1, 5, (MarketId("sim:0"), MarketId("sim:1"))))[0]


def test_articles_are_cut_like_rules_and_only_where_they_are_shown() -> None:
    article = an_article(text="y" * 6_000)
    view = replace(a_view(), evidence={MarketId(market): (article,) for market in THREE})
    assert len(CUT.findall(asked(view, 3_000)[0])) == 3
    blind = "{% for m in markets %}\n{{ m.text }}\n{% endfor %}"
    assert "cut" not in render(blind, view, tokens=1_000).messages[-1].content


def test_a_text_that_is_shown_twice_fits_too() -> None:
    twice = "{% for m in markets %}\n{{ m.text }}\n{{ m.rules }}\n{{ m.rules | upper }}\n{% endfor %}"
    view = long_view(*[4_000] * 5)
    messages = render(twice, view, tokens=6_000).messages
    assert 5_880 <= tokens_of(messages) <= 6_000


@pytest.mark.parametrize("extra", [0, 1, MARK, MARK + 1])
def test_a_cut_never_makes_a_text_longer(extra: int) -> None:
    whole = "z" * (100 + extra)
    short = cut_text(whole, 100)
    assert len(short) <= len(whole)
    assert (short == whole) == (extra <= MARK)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("The market resolves to Yes if the bill is signed into law before 30 June 2026.", 20),
        ("https://example.org/a/b?c=0x9f3e", 15),
        ("0.4175 and 0.0032 of 1,204.55", 17),
        ("Рынок закрывается в июне", 12),
        ("明日は雨が降りますか", 11),
    ],
)
def test_the_estimate_is_not_below_what_a_tokenizer_counts(text: str, counted: int) -> None:
    """The counts are those of cl100k_base."""
    assert counted <= tokens_of([Message("user", text)]) - tokens_of([Message("user", "")]) <= 3 * counted
