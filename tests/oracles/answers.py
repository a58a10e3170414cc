"""Stored answers of models, and what a careful person reads in each: python -m tests.oracles.answers FILE

A file has a list of `cases`. Each has an answer to the same question about four markets, m1 to m4, and what
is wanted: `read` these probabilities and no others; `whole_items_or_nothing` and `subset_of`, at most
these; `read_or_nothing`, all of these or none; `no_exception`, anything.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.model import View
from markets.model import MarketId
from tests.agents.minds import a_view
from tests.builders import a_listing

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "answers" / "cases.json"
Case = Mapping[str, Any]


def question(markets: int = 4) -> View:
    """Return a view with this many markets on offer."""
    return a_view(*(a_listing(market=f"sim:{number}") for number in range(1, markets + 1)))


def read(text: str, view: View) -> dict[str, int]:
    """Return the probabilities that are taken from an answer, by the markets' short names."""
    found = parse_answer(text, view)
    if isinstance(found, UnusableAnswer):
        return {}
    names = {MarketId(f"sim:{number}"): f"m{number}" for number in range(1, len(view.snapshot.shown) + 1)}
    return {names[forecast.market_id]: forecast.millionths for forecast in found.forecasts}


def fits(found: Mapping[str, int], want: Mapping[str, Any]) -> bool:
    """Tell whether what was read is what was wanted."""
    [(rule, meant)] = want.items()
    wanted: Mapping[str, int] = meant if isinstance(meant, dict) else {}
    if rule == "read":
        return found == wanted
    if rule == "read_or_nothing":
        return not found or found == wanted
    if rule in ("whole_items_or_nothing", "subset_of"):
        return found.items() <= wanted.items()
    if rule == "no_exception":
        return True
    raise ValueError(f"unknown kind of expectation: {rule}")


def failures(path: Path) -> tuple[int, dict[str, str]]:
    """Return how many cases a file has, and what was read of those that fail, by their ids."""
    cases: list[Case] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    view = question()
    wrong = dict[str, str]()
    for case in cases:
        try:
            found = read(case["answer"], view)
        except Exception as error:  # noqa: BLE001 - an exception is a failure of that case
            wrong[case["id"]] = f"{type(error).__name__}: {error}"
            continue
        if not fits(found, case["want"]):
            wrong[case["id"]] = f"read {found}, wanted {case['want']}"
    return len(cases), wrong


def main(path: str) -> int:
    """Print how many cases passed and failed, and return the exit status."""
    count, wrong = failures(Path(path))
    for name, words in wrong.items():
        print(f"{name}: {words}")  # noqa: T201 - it is a command
    print(f"{count - len(wrong)} passed, {len(wrong)} failed")  # noqa: T201 - it is a command
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
