"""A template's mistakes are found, and each says on which line it is."""

import pytest

from agents.prompts.dry_run import TemplateFault, template_fault
from agents.prompts.template import MOST_STEPS, BadTemplate, compile_template

LOOPS = (
    "{% for m in markets %}{% for n in markets %}{% for o in markets %}.{% endfor %}{% endfor %}{% endfor %}"
)

WRONG = [
    ("Hi\n{{ marktes }}", 2, 'there is no variable "marktes"', "markets"),
    ("Hi\n{% if false %}\n{{ marktes }}\n{% endif %}", 3, 'there is no variable "marktes"', "markets"),
    ("{% block user %}\n\n{{ csh | dollars }}{% endblock %}", 3, 'there is no variable "csh"', "cash"),
    ("{% for m in markets %}\n{{ m.id }}\n{{ m.cloes }}\n{% endfor %}", 3, "cloes", "closes"),
    ("{% for p in positions %}\n{{ p.csot }}\n{% endfor %}", 2, "csot", "cost"),
    ("{% for m in held %}{% for a in m.evidence %}\n{{ a.hed }}\n{% endfor %}{% endfor %}", 2, "hed", "head"),
    ("\n{{ cash | dolars }}", 2, 'there is no filter "dolars"', "dollars"),
    ("Hi\n{% for m in markets %}\n{{ m.id", 3, "unexpected end", ""),
    ("Hi\n{% fro m in markets %}", 2, "unknown tag 'fro'", ""),
    ("{% block sytem %}Hi{% endblock %}", 1, "system and user, and this is `sytem`", ""),
    ('\n{% set answer = "bets" %}', 2, "`answer` is one of decision, forecasts", ""),
    ("{% set answer = now %}Hi", 1, "`answer` is one of decision, forecasts", ""),
    (f"Hi\n{LOOPS}", 2, f"more than {MOST_STEPS:,} steps", ""),
    ("{% for n in range(99999) %}{% endfor %}", 1, f"more than {MOST_STEPS:,} steps", ""),
    ("{% macro again() %}{{ again() }}{% endmacro %}\n{{ again() }}", 1, "recursion", ""),
    ("\n{% include 'bet.md' %}", 2, "another file is only put in by", ""),
    ("\n\n{{ markets.__class__ }}", 3, "unsafe", ""),
    ("{{ markets[0].text }}", 1, "has no element 0", ""),
    ("{{ 1 / 0 }}", 1, "division by zero", ""),
]


@pytest.mark.parametrize(("text", "line", "words", "meant"), WRONG, ids=[text[:40] for text, *_ in WRONG])
def test_a_mistake_is_found_before_anyone_is_asked(text: str, line: int, words: str, meant: str) -> None:
    found = template_fault(text)
    assert found is not None
    assert found.line == line
    assert words in found.words
    assert not meant or meant in found.known


def test_what_is_not_known_in_some_round_has_to_be_asked_for() -> None:
    shares = "{% for p in positions %}\n{{ p.shares | number }}\n{% endfor %}"
    assert template_fault(shares) is None
    assert template_fault(shares, prices=False) == TemplateFault(
        2, "this figure may be missing: test it with `is not none`"
    )
    asked = shares.replace("{{ p", "{% if p.shares is not none %}{{ p").replace("}}", "}}{% endif %}")
    assert template_fault(asked, prices=False) is None


def test_a_name_that_may_be_missing_can_be_asked_for() -> None:
    assert template_fault("{{ news | default('none') }}{% if news is defined %}{{ 1 }}{% endif %}") is None


def test_many_markets_are_not_too_many() -> None:
    each = "{% for m in markets %}{% for a in m.evidence %}{{ a.text }}{% endfor %}{% endfor %}"
    assert template_fault(each, markets=1_000) is None


def test_a_mistake_in_a_template_that_is_filled_in_has_its_line_too() -> None:
    template = compile_template("{% block user %}\n{{ a }}\n{{ b.c }}{% endblock %}")
    assert template.filled("user", {"a": 1, "b": {"c": 2}}) == "1\n2"
    with pytest.raises(BadTemplate) as told:
        template.filled("user", {"a": 1, "b": {"d": 2}})
    assert (told.value.line, told.value.name) == (3, "c")


def test_a_key_of_a_fact_is_not_taken_for_a_method() -> None:
    assert compile_template("{{ m.items }}").filled("user", {"m": {"items": "three"}}) == "three"


@pytest.mark.parametrize(
    "greedy",
    [
        "{{ ('a' * 9999999999)|length }}",
        "{{ (9999999999 * [1])|length }}",
        "{{ '%099999999999d' % 1 }}",
        "{{ '%099999999999d'|format(1) }}",
        "{{ '{:99999999999}'.format(1) }}",
        "{{ 'a'.ljust(9999999999) }}",
        "{{ 'a'|center(9999999999) }}",
        "{{ 'a'|indent(9999999999) }}",
        "{{ 9 ** 99999999 }}",
    ],
)
def test_a_template_that_eats_memory_is_refused_in_a_line(greedy: str) -> None:
    with pytest.raises(BadTemplate, match="line 2: it makes more than 1,000,000 characters at once"):
        compile_template(f"{{# a text #}}\n{greedy}").filled("user", {})


def test_ordinary_arithmetic_and_padding_are_taken() -> None:
    text = "{{ 2_000_000 * 3_000_000 }} {{ '%05.2f'|format(1.5) }} {{ '-' * 3 }} {{ 'a'|center(3) }}"
    assert compile_template(text).filled("user", {}) == "6000000000000 01.50 ---  a"
