"""The oracle cases of the rules that seed 002 defines, each within its tolerance."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.belief import confidence, implied
from arena.scoring import brier, calibration, returns, skill_ratio
from markets.millionths import millionths

Numbers = dict[str, Any]


def _brier(given: Numbers) -> Numbers:
    return {"brier": brier.score([given["p_yes"]], [given["outcome"]])}


def _confidence(given: Numbers) -> Numbers:
    largest = millionths(given["max_fraction"])
    said = confidence(given["bet_amount"], given["cash_balance"], largest)
    return {"confidence": float(said)}


def _bet(given: Numbers) -> Numbers:
    forecast = float(implied(given["side"] == "YES", given["implied_confidence"]))
    return {"f_yes": forecast, "brier": brier.score([forecast], [given["outcome_yes"]])}


def _skill(given: Numbers) -> Numbers:
    return {"bss": skill_ratio.ratio(given["brier"], given["reference"])}


def _return(given: Numbers) -> Numbers:
    total = given["cash"] + given["positions"]
    return {"return_pct": returns.score([total - given["initial"]], [given["initial"]])}


def _murphy(given: Numbers) -> Numbers:
    """Forecasts in tenths fall one value to a bin, so the bins' error is Murphy's reliability."""
    found = {"brier": brier.score(given["p"], given["o"])}
    apart = not {0.9, 1.0} <= set(given["p"])
    return found | ({"reliability": calibration.score(given["p"], given["o"])} if apart else {})


RULES: dict[str, Callable[[Numbers], Numbers]] = {
    "brier_binary": _brier,
    "implied_confidence": _confidence,
    "brier_from_bet": _bet,
    "brier_skill": _skill,
    "portfolio_total": _return,
    "murphy_and_corp": _murphy,
}


@pytest.mark.parametrize("rule", RULES)
def test_oracle_cases(rule: str, shared_data: Path) -> None:
    text = (shared_data / "scoring" / "cases.json").read_text(encoding="utf-8")
    cases = [case for case in json.loads(text)["cases"] if case["rule"] == rule]
    assert cases
    for case in cases:
        found = RULES[rule](case["inputs"])
        expected = {name: case["expected"][name] for name in found}
        assert found == pytest.approx(expected, abs=case["tolerance"]), case["id"]
