"""What is read from the shared answers of models is what a careful person reads in them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.answers.parse import READER_VERSION, parse_answer
from markets.hashes import digest
from tests.oracles.answers import SHARED, failures, main, question, read

UNREADABLE = {"prose-2": 'wants four probabilities from "Probability: 10%", which names no market'}
"""Cases that want what nobody can read."""


@pytest.mark.skipif(not SHARED.exists(), reason="the shared answers are not beside this repository")
def test_every_shared_answer_is_read_as_wanted() -> None:
    count, wrong = failures(SHARED)
    assert count > len(UNREADABLE)
    assert set(wrong) <= set(UNREADABLE), wrong


READ = {4: "d5f7cd9f0670500a952bb598d15a16db88f34375c9e7ecfc76e4a033f087c4ea"}
"""By version of the reader, the digest of all that it reads in the shared answers."""


@pytest.mark.skipif(not SHARED.exists(), reason="the shared answers are not beside this repository")
def test_a_reader_that_reads_otherwise_is_of_another_version() -> None:
    """`arena admin verify` reads answers again: what another version has read is no difference."""
    view = question()
    cases = json.loads(SHARED.read_text("utf-8"))["cases"]
    lines = []
    for case in cases:
        decision = repr(parse_answer(case["answer"], view))
        # Forecasts of yes or no are as they were before there were distributions.
        lines.append(decision.replace(", distribution=''", ""))
    assert digest(lines) == READ[READER_VERSION], "raise READER_VERSION in agents/answers/parse.py"


def test_a_file_with_a_failure_says_which_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = '{"forecasts": [{"market": "m1", "probability": 0.1}]}'
    cases = [
        {"id": "good", "answer": answer, "want": {"read": {"m1": 100_000}}},
        {"id": "bad", "answer": answer, "want": {"read": {"m1": 200_000}}},
    ]
    (tmp_path / "cases.json").write_text(json.dumps({"cases": cases}), "utf-8")
    assert main(str(tmp_path / "cases.json")) == 1
    said = capsys.readouterr().out
    assert said.startswith("bad: read {'m1': 100000}")
    assert said.endswith("1 passed, 1 failed\n")


CHANCES = {"m1": 0.1, "m2": 0.2, "m3": 0.65, "m4": 0.9}
MEANT = {name: round(chance * 1_000_000) for name, chance in CHANCES.items()}


def forecasts(market: str = "market", chance: str = "probability", **more: object) -> list[dict[str, object]]:
    """Return the items of an answer, by these keys."""
    return [{market: name, **more, chance: value} for name, value in CHANCES.items()]


PLAIN = json.dumps({"thoughts": "so", "forecasts": forecasts(reason="r"), "bets": [], "sales": []})
PRETTY = json.dumps(json.loads(PLAIN), indent=2)
ENVELOPES: dict[str, Callable[[str], str]] = {
    "a comment at the end": lambda text: f"{text} // that is all",
    "comments between": lambda text: text.replace("}, {", "}, /* next */ {"),
    "a comment after each comma": lambda text: text.replace(",\n", ", # and\n"),
    "commas before brackets": lambda text: text.replace("}]", "},]").replace("]}", "],}"),
    "no commas between items": lambda text: text.replace("}, {", "} {"),
    "no commas at line ends": lambda text: text.replace(",\n", "\n"),
    "Python": lambda text: str(json.loads(text)),
    "Python's constants": lambda text: text.replace('"so"', "None").replace("[]", "None"),
    "keys without quotes": lambda text: text.replace('"forecasts"', "forecasts").replace(
        '"market"', "market"
    ),
    "backticks": lambda text: text.replace('"', "`"),
    "typographic quotes": lambda text: text.replace(' "', " “").replace('{"', "{“").replace('"', "”"),
    "escaped": lambda text: json.dumps(text)[1:-1],
    "a JSON text": json.dumps,
    "escapes that JSON has not": lambda text: text.replace('"so"', r'"5\% of \$3, \alpha, it\'s"'),
    "doubled braces": lambda text: text.replace("{", "{{").replace("}", "}}"),
    "full-width marks": lambda text: text.replace(": ", "：").replace(", ", "，"),
    "two fences": lambda text: f"```json\n```json\n{text}\n```\n```",
    "tildes and prose": lambda text: f"Sure.\n~~~\n{text}\n~~~\nAnything else?",
    "assigned": lambda text: f"result = {text};",
    "a tag": lambda text: f"<output>\n{text}\n</output>",
    "an XML comment": lambda text: f"<!-- my answer -->{text}",
    "inside data": lambda text: f'{{"status": "ok", "data": {text}}}',
    "inside a tool's call": lambda text: f'{{"name": "answer", "arguments": {json.dumps(text)}}}',
    "inside content": lambda text: f'[{{"type": "text", "text": {json.dumps(text)}}}]',
    "in a list": lambda text: f"[{text}]",
    "twice the same": lambda text: f"{text}\n\n{text}",
    "after an empty object": lambda text: f"{{}}\n{text}",
    "after an example without numbers": lambda text: f'As {{"market": "m1", "reason": "…"}} wants: {text}',
    "after set braces": lambda text: f"Let S = {{x : x > 0}} and {{a, b}}.\n{text}",
    "after LaTeX": lambda text: f"$\\frac{{1}}{{2}}$ and {{\\bf x}}: {text}",
    "a thought with a draft": lambda text: f"<think>{text.replace('0.65', '0.5')}</think>\n{text}",
    "a thought by another name": lambda text: f"<inner_thoughts>{text[:90]}</inner_thoughts>{text}",
    "a draft and the last word": lambda text: (
        f"## Draft\n{text.replace('0.65', '0.5')}\n## Final answer\n{text}"
    ),
    "a mark of order": lambda text: f"\ufeff{text}",
    "no bracket at the end": lambda text: text.rstrip()[:-1],
}


@pytest.mark.parametrize("name", ENVELOPES)
@pytest.mark.parametrize("text", [PLAIN, PRETTY], ids=["plain", "pretty"])
def test_a_slip_with_one_meaning_is_read(name: str, text: str) -> None:
    assert read(ENVELOPES[name](text), question()) == MEANT


PAIRS = CHANCES.items()
WHOLE = json.dumps({"forecasts": forecasts()})
DRAFT = WHOLE.replace("0.65", "0.5")
SCHEMA = json.dumps(
    {"type": "object", "properties": {"forecasts": {"type": "array", "items": {"type": "object"}}}}
)


def both(key: str, wrote: Callable[[float], object] = float) -> list[dict[str, object]]:
    """Return the items of an answer that states YES and NO of each market under one key."""
    return [
        {"market": name, key: {"yes": wrote(p), "NO": wrote(round(1 - p, 2))}} for name, p in CHANCES.items()
    ]


def percent_text(chance: float) -> str:
    return f"{chance:.0%}"


SHAPES = {
    "options": json.dumps({"version": 1, "forecasts": both("options")}),
    "a distribution": json.dumps({"forecasts": both("distribution")}),
    "a distribution in percent": json.dumps({"forecasts": both("distribution", percent_text)}),
    "whole ids": json.dumps({"forecasts": [{"market": f"sim:{m[1:]}", "probability": p} for m, p in PAIRS]}),
    "a key of percentages": json.dumps(
        {"forecasts": [{"market": m, "probability_percent": round(100 * p)} for m, p in PAIRS]}
    ),
    "a key with a sign of percent": json.dumps(
        {"forecasts": [{"market": m, "Probability (%)": round(100 * p)} for m, p in PAIRS]}
    ),
    "the same twice": json.dumps(
        {"forecasts": [{"market": m, "probability": p, "percent": round(100 * p)} for m, p in PAIRS]}
    ),
    "CSV in a fence": "Here it is:\n```csv\nmarket,probability\n"
    + "\n".join(f"{name},{p}" for name, p in PAIRS)
    + "\n```\nGood luck.",
    "CSV in percent": "market,probability (%)\n" + "\n".join(f"{m},{100 * p:.4g}" for m, p in PAIRS),
    "flat YAML": "\n".join(
        f"- market: {name}\n  probability: {p}\n  reason: it is so: yes" for name, p in PAIRS
    ),
    "flat YAML in a fence": "```yaml\n" + "\n".join(f"{name}: {p}" for name, p in PAIRS) + "\n```",
    "HTML's entities": WHOLE.replace('"', "&quot;"),
    "figures of Arabic": "\n".join(
        f"{name}: {p:.0%}".translate({ord("0") + n: 0x0660 + n for n in range(10)}) for name, p in PAIRS
    ),
    "a schema before it": f"{SCHEMA}\n{WHOLE}",
    "a correction": f"{DRAFT}\nWait, m3 is more likely. Corrected JSON:\n{WHOLE}",
    "an example before it": f"The format is {DRAFT}. My answer: {WHOLE}",
    "pairs": json.dumps({"forecasts": [*PAIRS]}),
    "an object of markets": json.dumps({"thoughts": "so", **CHANCES}),
    "an object of objects": json.dumps({"forecasts": {name: {"p": p, "why": "r"} for name, p in PAIRS}}),
    "an object of numbers": json.dumps({name[1:]: p for name, p in PAIRS}),
    "an object a market": json.dumps([{name: p} for name, p in PAIRS]),
    "YES and NO": json.dumps({"forecasts": [{"id": m, "yes": p, "no": round(1 - p, 2)} for m, p in PAIRS]}),
    "choices": json.dumps({"choices": [{"message": {"role": "assistant", "content": PLAIN}}]}),
    "a table": "| Market | Why | Probability |\n|:--|:-:|--:|\n"
    + "\n".join(f"| {m} | 3 of 4 | {p} |" for m, p in PAIRS),
    "CSV": "market,probability,reason\n" + "\n".join(f'{name},{p},"so, it is"' for name, p in PAIRS),
    "YAML": "forecasts:\n" + "\n".join(f"  - market: {name}\n    probability: {p}" for name, p in PAIRS),
    "bullets": "\n".join(f"* **{name}**: {round(100 * p)}%" for name, p in PAIRS),
    "places": "\n".join(f"{name[1:]}. {round(100 * p)}%" for name, p in PAIRS),
    "XML": "<answer>"
    + "".join(f"<f><market>{name}</market><p>{p}</p></f>" for name, p in PAIRS)
    + "</answer>",
}


@pytest.mark.parametrize("name", SHAPES)
def test_another_shape_with_one_meaning_is_read(name: str) -> None:
    assert read(SHAPES[name], question()) == MEANT


@pytest.mark.parametrize(
    "text",
    [
        "The price of m1 is 10%, m2 20%, m3 65%, m4 90%.",
        "m1 is at 10% now, I say 20%.",
        "m1 is at 10%, unlike m2 at 20%.",
        "m1 -10%, m2 20%",
        "m1 10%, m1 20%",
        "1. 10%\n2. 20%",
        "Between m1 and m2, 10%.",
    ],
)
def test_words_of_which_one_is_not_understood_are_not_read(text: str) -> None:
    assert read(text, question()) == {}


@pytest.mark.parametrize(
    "text",
    [
        f"{DRAFT} Otherwise my answer: {WHOLE}",
        f"{DRAFT} Corrected JSON: {WHOLE} Hmm, no: the first was right.",
        f"{WHOLE} Or: {DRAFT}",
        json.dumps({"forecasts": [{"market": m, "probability_percent": p} for m, p in PAIRS]}),
        "market,probability (%)\n" + "\n".join(f"{m},{p}" for m, p in PAIRS),
        f"{SHAPES['flat YAML']}\nbets:\n- market: m1\n  side: YES\n  amount: 5",
        f"m1 is at 5 now.\n{SHAPES['CSV in a fence']}",
        f"An example of such a table:\n{SHAPES['CSV in a fence']}",
        f"{SHAPES['flat YAML in a fence']}\nThese are the prices, not my forecasts.",
    ],
)
def test_what_may_be_meant_otherwise_is_not_read(text: str) -> None:
    assert read(text, question()) == {}


@pytest.mark.parametrize("number", ["1e309", "1.0000001", "850", "101", "NaN", "-3", "-0.1", '"850%"'])
@pytest.mark.parametrize("scale", [1, 100])
def test_an_impossible_number_leaves_the_others_as_they_are(number: str, scale: int) -> None:
    items = [f'{{"market": "{name}", "probability": {chance * scale:.4g}}}' for name, chance in PAIRS]
    items[1] = f'{{"market": "m2", "probability": {number}}}'
    rest = {name: chance for name, chance in MEANT.items() if name != "m2"}
    assert read(f'{{"forecasts": [{", ".join(items)}]}}', question()) == rest


def test_numbers_that_are_all_impossible_are_not_read() -> None:
    assert read(json.dumps({"forecasts": forecasts()}).replace("0.", "90"), question()) == {}


MARKETS = ["market", "Market", "market_id", "marketId", "id", "ID", "question", "question_id", "name", "m"]
CHANCE = [
    "probability", "Probability", "prob", "p", "p_yes", "P(YES)", "yes_probability", "forecast", "estimate",
    "yes",
]  # fmt: skip


@pytest.mark.parametrize("market", MARKETS)
@pytest.mark.parametrize("chance", CHANCE)
def test_a_key_by_another_name_is_known(market: str, chance: str) -> None:
    assert read(json.dumps({"forecasts": forecasts(market, chance)}), question()) == MEANT
    assert read(json.dumps({"predictions": forecasts(market, chance)}), question()) == MEANT
    assert read("\n".join(map(json.dumps, forecasts(market, chance))), question()) == MEANT


@pytest.mark.parametrize(
    "item",
    [
        {"market": "m1", "side": "NO", "probability": 0.9},
        {"market": "m1", "outcome": "no", "probability": 0.9},
        {"market": "m1", "option": "no", "probability": 0.9},
        {"market": "m1 NO", "probability": 0.9},
        {"market": "m1 (no)", "probability": 0.9},
        {"market": "m1", "prediction": "NO", "probability": 0.9},
        {"market": "m1", "probability_no": 0.9},
        {"market": "m1", "p": 0.1, "confidence": 0.8},
        {"market": "m1", "probability": 0.3, "percent": 70},
        {"market": "m1", "prob": 0.3, "percent": 70},
        {"market": "m1", "yes": 0.7, "no": 0.7},
        {"market": "m1", "yes_percent": 70, "no_percent": 70},
        {"market": "m1", "options": {"yes": 0.7, "no": 0.7}},
        {"market": "m1", "probability": 0.7, "options": {"yes": 0.7, "no": 0.7}},
        {"market": "m1", "id": "sim:2", "probability": 0.7},
        {"market": "m1 or m2", "probability": 0.1},
        {"market": "m1-m4", "probability": 0.1},
        {"market": "m9", "probability": 0.1},
        {"market": ["m1", "m2"], "probability": 0.1},
        {"id": "m1", "question": "m2", "probability": 0.1},
        {"market": "m1", "probability": [0.1, 0.2]},
        {"market": "m1", "probability": True},
    ],
)  # fmt: skip
def test_what_may_mean_two_things_is_not_read(item: dict[str, object]) -> None:
    assert read(json.dumps({"forecasts": [item]}), question()) == {}
    rest = {name: chance for name, chance in MEANT.items() if name != "m1"}
    assert read(json.dumps({"forecasts": [item, *forecasts()[1:]]}), question()) == rest
