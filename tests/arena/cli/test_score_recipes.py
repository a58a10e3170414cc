"""The recipes of the page on files: each is typed as it stands there, beside small files of that form."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.program.in_process import answered

PAGE = (Path(__file__).parents[3] / "docs" / "score-a-file.md").read_text("utf-8")
RECIPES = re.findall(r"^arena (score .*)$", PAGE, re.MULTILINE)

KALSHI = {
    "model_name": "gpt",
    "brier_score": 0.1,
    "reliability_diagram": [{"bin": "0.0-0.1", "count": 2}],
    "predictions": [
        {"question_id": "A", "predicted_answer": "yes", "predicted_probability": 0.8, "input_tokens": 9},
        {"question_id": "B", "predicted_answer": "no", "predicted_probability": 0.4, "input_tokens": 9},
        {"question_id": "B", "predicted_answer": "no", "predicted_probability": 0.1, "input_tokens": 9},
        {"question_id": "C", "predicted_answer": None, "predicted_probability": None, "input_tokens": 9},
    ],
}


def decision(market: str, probability: float) -> dict[str, Any]:
    said = {"estimated_probability": probability, "bet": 0.5, "confidence": 7, "rationale": "so"}
    return {"market_id": market, "decision": said, "market_question": f"{market}?"}


PREDIBENCH = [
    {
        "model_id": model,
        "target_date": "2026-01-02",
        "decision_datetime": "2026-01-02T12:00:00",
        "event_investment_decisions": [
            {"event_id": "e1", "market_investment_decisions": [decision("m1", p), decision("m2", 1 - p)]},
            {"event_id": "e2", "market_investment_decisions": [decision("m3", p)]},
        ],
    }
    for model, p in (("x/one", 0.9), ("x/two", 0.6))
]
AUTOCAST = [
    {"question": "Rain?", "id": "G1", "qtype": "t/f", "answer": "yes", "crowd": [{"forecast": 0.6}]},
    {"question": "Snow?", "id": "G2", "qtype": "t/f", "answer": "no", "crowd": []},
]
MATCHES = """match,forecaster,result,p
1,ann,home,0.5
1,ann,draw,0.3
1,ann,away,0.2
"""
ODDS = """match,result,market_probability
1,home,0.4
1,draw,0.3
1,away,0.3
"""
FILES: dict[str, str] = {
    "gpt.json": json.dumps(KALSHI, indent=1),
    "truth.csv": "question,outcome\nA,yes\nB,no\nC,no\n",
    "model_investments.json": json.dumps(PREDIBENCH),
    "ends.json": json.dumps({"m1": 1, "m2": 0, "m3": 1}),
    "prices.csv": "question,time,market_probability\nm1,2026-01-01,0.7\nm2,2026-01-01,0.5\nm1,2026-02-01,1\n",
    "matches.csv": MATCHES,
    "results.csv": "match,outcome\n1,home\n",
    "odds.csv": ODDS,
    "answers.jsonl": '{"id": "G1", "model": "gpt", "p": 0.9}\n{"id": "G2", "model": "gpt", "p": 0.2}\n',
    "autocast.json": json.dumps(AUTOCAST, indent=1),
}
EXPECTED: dict[str, list[tuple[str, int, int, float | None]]] = {
    "gpt.json": [("gpt", 1, 2, 0.04)],
    "model_investments.json": [("x/one", 3, 0, 0.01), ("x/two", 3, 0, 0.16)],
    "matches.csv": [("ann", 1, 0, (0.25 + 0.09 + 0.04) / 2)],
    "answers.jsonl": [("gpt", 2, 0, (0.01 + 0.04) / 2)],
}
"""By the file of forecasts, everyone's questions, missing ones and Brier score."""


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.split()[1])
def test_a_recipe_scores_what_it_is_for(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    found = answered(*recipe.split())
    rows = sorted(found["rows"], key=lambda row: row["forecaster"])
    assert [(row["forecaster"], row["questions"], row["missing"]) for row in rows] == [
        expected[:3] for expected in EXPECTED[recipe.split()[1]]
    ]
    assert [row["brier"] for row in rows] == pytest.approx([one[3] for one in EXPECTED[recipe.split()[1]]])


def test_every_recipe_is_tried() -> None:
    assert [recipe.split()[1] for recipe in RECIPES] == list(EXPECTED)
