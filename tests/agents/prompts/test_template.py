"""A template's mistakes are found, and each says on which line it is."""

import pytest

from agents.prompts.dry_run import TemplateFault, template_fault
from agents.prompts.sandbox import MOST_STEPS
from agents.prompts.template import BadTemplate, compile_template

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


def test_a_template_that_fails_in_a_round_names_its_file() -> None:
    with pytest.raises(BadTemplate, match=r"^prompt \./mine\.md, line 2: division by zero$"):
        compile_template("a\n{{ 1 / 0 }}").filled("user", {}, "./mine.md")


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


DOUBLING = "{% set ns = namespace(a='x' * 9000) %}{% for n in range(60) %}STEP{% endfor %}{{ ns.a|length }}"
A_TEXT = "{% set a = 'a' * 900000 %}{% set b = 'a' * 899999 ~ 'a' %}"
OFTEN = A_TEXT + "{% for n in range(49000) %}STEP{% endfor %}"
GROWS = {
    "a macro that calls itself twice": (
        "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}"
    ),
    "a macro without a test": "{% macro m(n) %}{{ m(n-1) }}{{ m(n-1) }}{% endmacro %}{{ m(40) }}",
    "a block that shows itself": "{% block user %}{{ self.user() }}{{ self.user() }}{% endblock %}",
    "a loop within itself": "{% for n in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "a loop of long steps": "{% for n in range(40000) %}" + "a" * 9_000 + "{% endfor %}",
    "a macro of much text": (
        "{% macro m() %}" + "a" * 9_000 + "{% endmacro %}{% for n in range(20000) %}{{ m() }}{% endfor %}"
    ),
    "a caller": (
        "{% macro m(n) %}{{ caller() }}{% if n %}{% call m(n - 1) %}{{ caller() }}{% endcall %}{% endif %}"
        "{% endmacro %}{% for n in range(30000) %}{% call m(3) %}" + "a" * 900 + "{% endcall %}{% endfor %}"
    ),
    "a ~ a": DOUBLING.replace("STEP", "{% set ns.a = ns.a ~ ns.a %}"),
    "a + a": DOUBLING.replace("STEP", "{% set ns.a = ns.a + ns.a %}"),
    "a * 2": DOUBLING.replace("STEP", "{% set ns.a = ns.a * 2 %}"),
    "a block of text twice": DOUBLING.replace("STEP", "{% set ns.a %}{{ ns.a }}{{ ns.a }}{% endset %}"),
    "a block in a filter": DOUBLING.replace(
        "STEP", "{% set ns.a %}{% filter upper %}{{ ns.a }}{{ ns.a }}{% endfilter %}{% endset %}"
    ),
    "a list of itself twice": DOUBLING.replace("STEP", "{% set ns.a = [ns.a, ns.a] %}"),
    "a tuple of itself twice": DOUBLING.replace("STEP", "{% set ns.a = (ns.a, ns.a) %}"),
    "a dict of itself twice": DOUBLING.replace("STEP", "{% set ns.a = {1: ns.a, 2: ns.a} %}"),
    "a dict made of itself twice": DOUBLING.replace("STEP", "{% set ns.a = dict(a=ns.a, b=ns.a) %}"),
    "lists put together": DOUBLING.replace("STEP", "{% set ns.a = [1] + [ns.a] + [ns.a] %}"),
    "join": DOUBLING.replace("STEP", "{% set ns.a = [ns.a, ns.a]|join %}"),
    "join by itself": DOUBLING.replace("STEP", "{% set ns.a = ns.a|join(ns.a) %}"),
    "join of a text": DOUBLING.replace("STEP", "{% set ns.a = ns.a.join(['', ns.a, '']) %}"),
    "replace": DOUBLING.replace("STEP", "{% set ns.a = ns.a|replace('', ns.a) %}"),
    "replace of a text": DOUBLING.replace("STEP", "{% set ns.a = ns.a.replace('x', 'xxxxxxxxx') %}"),
    "format of a text": DOUBLING.replace("STEP", "{% set ns.a = '{0}{0}{0}'.format(ns.a) %}"),
    "format": DOUBLING.replace("STEP", "{% set ns.a = '%s%s%s'|format(ns.a, ns.a, ns.a) %}"),
    "per cent": DOUBLING.replace("STEP", "{% set ns.a = '%s%s%s' % (ns.a, ns.a, ns.a) %}"),
    "urlencode": DOUBLING.replace("STEP", "{% set ns.a = (ns.a ~ '%')|urlencode ~ ns.a %}"),
    "escape": DOUBLING.replace("STEP", "{% set ns.a = (ns.a|replace('x', '&'))|forceescape ~ ns.a %}"),
    "wordwrap": "{{ ('a ' * 400000)|wordwrap(1, true, 'b' * 900000)|length }}",
    "indent by a text": "{{ ('a\n' * 400000)|indent('b' * 900000)|length }}",
    "indent of many lines": "{{ ('a\n' * 400000)|indent(900000)|length }}",
    "batch": "{{ [1]|batch(99999999, 0)|list|length }}",
    "slice": "{{ [1]|slice(99999999)|list|length }}",
    "tojson": "{{ [[[[1]]]]|tojson(indent=99999999) }}",
    "truncate": "{{ ('a ' * 400000)|truncate(9, true, 'b' * 900000, 0)|length }}{{ 'abc'|truncate(1) }}",
    "round": "{% for n in range(999) %}{{ 1.5|round(9999999, 'ceil') }}{% endfor %}",
    "expandtabs": "{{ ('\t' * 900000).expandtabs(900000)|length }}",
    "zfill": "{{ 'a'.zfill(999999999)|length }}",
    "to_bytes": "{{ (1).to_bytes(999999999, 'big')|length }}",
    "translate": "{{ ('a' * 900000).translate({97: 'b' * 900000})|length }}",
    "sum of lists": "{{ (range(40000)|batch(1)|list + range(40000)|batch(1)|list)|sum(start=[])|length }}",
    "figures squared": (
        "{% set ns = namespace(a=9) %}{% for n in range(99) %}{% set ns.a = ns.a * ns.a %}{% endfor %}"
    ),
    "a figure to a power": "{% set n = 9 ** 9999 %}{{ (n ** 9999) > 1 }}",
    "figures divided": (
        "{% set a = 7 ** 300000 %}{% set b = 3 ** 200000 %}"
        "{% for n in range(40000) %}{{ (a // b) > 0 }}{% endfor %}"
    ),
    "figures taken away": (
        "{% set ns = namespace(a=9) %}"
        "{% for n in range(40000) %}{% set ns.a = ns.a - (0 - ns.a) %}{% endfor %}"
    ),
    "a figure read from a text": (
        "{% set a = ('f' * 900000)|int(0, 16) %}{% for n in range(40000) %}{{ (a // 7) > 0 }}{% endfor %}"
    ),
    "a width among values": "{{ ('%*d' % (9999999999, 1))|length }}",
    "places among values": "{{ ('%.*f' % (9999999999, 1.5))|length }}",
    "a width in bytes": "{{ ('%099999999999d'.encode() % 1)|length }}",
    "a list and itself": (
        "{% set ns = namespace(a=[1]) %}{% for n in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}"
    ),
    "slices": OFTEN.replace("STEP", "{% set c = a[1:] %}"),
    "texts compared": OFTEN.replace("STEP", "{{ a == b }}"),
    "a text looked for": OFTEN.replace("STEP", "{{ 'b' in a }}"),
    "tests": OFTEN.replace("STEP", "{{ a is lower }}"),
    "tests by select": OFTEN.replace("STEP", "{{ [a]|select('lower')|list }}"),
    "striptags": "{{ ('<!--x-->' * 100000)|striptags }}",
    "many loops": "{% for a in range(300) %}{% for b in range(300) %}{% endfor %}{% endfor %}",
    "generators": "{{ range(99999)|map('string')|list|length }}{{ range(99999)|map('string')|list|length }}",
    "lipsum": "{{ lipsum(n=99999999) }}",
    "a list that grows": "{% set a = [1] %}{% for n in range(60) %}{{ a.extend(a) }}{% endfor %}",
    "a budget of its own": "{% set _budget = 1 %}{% for n in range(99999) %}{% endfor %}",
    "deep brackets": "{{ " + "(" * 9_000 + "1" + ")" * 9_000 + " }}",
    "deep loops": "{% for n in [1] %}" * 60 + "{% endfor %}" * 60,
    "a namespace of namespaces": (
        "{% set ns = namespace(a=1) %}{% for n in range(60) %}{% set ns.a = namespace(a=ns.a, b=ns.a) %}"
        "{% endfor %}{{ ns.a }}"
    ),
}


@pytest.mark.parametrize("greedy", GROWS)
def test_whatever_a_template_does_it_ends_in_bounded_time_and_memory(greedy: str) -> None:
    """Without bounds each of these takes hours or all of the memory: no test would wait for its end."""
    with pytest.raises(BadTemplate) as told:
        compile_template(f"{{# a text #}}\n{GROWS[greedy]}").filled("user", {})
    assert told.value.line <= GROWS[greedy].count("\n") + 2
    assert len(str(told.value)) < 300


ORDINARY = [
    ("{{ markets | length }} {{ markets|map(attribute='id')|join(', ') }}", "2 m1, m2"),
    ("{% for m in markets|sort(attribute='id', reverse=true) %}{{ m.id }}{% endfor %}", "m2m1"),
    ("{% for name, price in [('a', 1), ('b', 2)] %}{{ name ~ price }}{% endfor %}", "a1b2"),
    ("{% set a, b = 1, 2 %}{{ a + b }} {{ 3 > b >= 2 and 'x' in 'xy' and 5 not in [1] }}", "3 True"),
    ("{{ 'a,b'.split(',')[1:] | first }} {{ 'A %s' % 'b' }} {{ '{}-{}'.format(1, 2) }}", "b A b 1-2"),
    ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m('b') }}", "<1><b>"),
    ("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}in{% endcall %}", "<in>"),
    ("{% for m in markets if m.id == 'm2' %}{{ loop.index }}{{ m.id }}{% else %}no{% endfor %}", "1m2"),
    (
        "{% set ns = namespace(n=0) %}{% for m in markets %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
        "2",
    ),
    ("{{ 2 ** 10 }} {{ 2.5 ** 2 }} {{ 7 // 2 }} {{ -3|abs }} {{ 1.256|round(2) }}", "1024 6.25 3 3 1.26"),
    ("{{ {'a': 1, 'b': [1, 2]}|tojson }} {{ none }} {{ {'a': 1}.items()|list }}", ""),
    (
        "{% if markets == [] %}none{% elif none is none and 1 is eq 1 and 'a' is in 'ab' %}some{% endif %}",
        "some",
    ),
    ("{{ '%5.1f' % 2.25 }}{{ '%s %s' % ('a', 3) }}{{ 10 ** 18 - 1 }}", "2.2a 3999999999999999999"),
    ("{% for row in range(5)|batch(2, 0) %}{{ row|join }};{% endfor %}{{ [3, 1]|sort|last }}", "01;23;40;3"),
    ("{% for x in [{'k': [{'k': []}]}] recursive %}({{ loop(x.k) }}){% endfor %}", "(())"),
    ("{{ 'a'|default('b') }}{{ ''|default('c', true) }}{{ 'x\ny'|indent(2) }}", "acx\n  y"),
]


@pytest.mark.parametrize(("text", "filled"), ORDINARY)
def test_what_templates_are_for_goes_on_as_ever(text: str, filled: str) -> None:
    facts = {"markets": [{"id": "m1"}, {"id": "m2"}]}
    told = compile_template(text).filled("user", facts)
    assert told == filled or not filled


def test_no_template_changes_the_facts_of_others() -> None:
    facts = {"markets": [{"id": "m1"}]}
    with pytest.raises(BadTemplate):
        compile_template("{{ markets.append(1) }}").filled("user", facts)
    assert facts == {"markets": [{"id": "m1"}]}
