"""Lay our scores beside a file of cases: each case has a rule, inputs, what must come out, a tolerance.

    python -m tests.oracles.scoring FILE

prints the cases that fail, then "N passed, M failed", and ends with 1 if any failed. Metaculus's rules
are played in their mode `metaculus`, since such files hold what the site's code comes to; figures that
were published are held against what was printed, unless the file says that it is a misprint.
"""

import json
import math
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracles import scoring_bets as bets
from tests.oracles import scoring_questions as questions
from tests.oracles.scoring_figures import figure

Found = dict[str, Any]


class NotCases(ValueError):
    """A file that is no file of cases."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A case, and what of it came out otherwise than in the file."""

    case: str
    rule: str
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.case} ({self.rule}): {'; '.join(self.wrong)}"


def published(given: Found) -> Found:
    """Check a figure of the seeds, exact and as printed, and return the exact one."""
    found = figure(given["what"])
    return {"exact": found, "published": found}


RULES: dict[str, Callable[[Found], Found]] = {
    "metaculus_question": questions.question,
    "metaculus_edge": questions.question,
    "metaculus_legacy_relative": questions.legacy_relative,
    "recency_weighted_median": questions.median,
    "prize_percent": questions.prizes,
    "peer_tournament_prize": questions.peer_prizes,
    "baseline_binary_instant": questions.binary_instant,
    "baseline_mc_instant": questions.options_instant,
    "baseline_continuous_instant": questions.number_instant,
    "seed001_question": questions.of_2022,
    "seed001_leaderboard": questions.board_of_2022,
    "published_figure": published,
    "brier_binary": bets.brier_of_forecast,
    "implied_confidence": bets.confidence_of_bet,
    "brier_from_bet": bets.brier_of_bet,
    "brier_skill": bets.skill,
    "portfolio": bets.bet_to_the_end,
    "portfolio_total": bets.account_total,
    "murphy_and_corp": bets.decomposed,
    "autocast_brier_half": bets.autocast_choice,
    "autocast_numeric": bets.autocast_number,
    "autocast_combined_published": bets.autocast_sum,
}

LIKE = {"total_take": "take"}
"""Figures that have the tolerance of another."""


def read(path: Path) -> list[Found]:
    """Return the cases of a file."""
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotCases(f"{path} is no file of cases: {error!r}") from None
    if not isinstance(cases, list) or not all(_is_case(case) for case in cases):
        raise NotCases(f'{path}: "cases" must be a list of {{id, rule, inputs, expected, tolerance}}')
    return cases


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and {"id", "rule", "inputs", "expected", "tolerance"} <= case.keys()


def check(case: Found) -> Checked:
    """Play one case, and return what is wrong with it."""
    rule = RULES.get(case["rule"])
    if rule is None:
        return Checked(case["id"], case["rule"], (f"no rule {case['rule']!r}",))
    try:
        found = rule(case["inputs"])
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        return Checked(case["id"], case["rule"], (f"can't be played: {error!r}",))
    return Checked(case["id"], case["rule"], tuple(differences(case["expected"], found, case["tolerance"])))


def differences(told: Any, found: Any, tolerance: Any, where: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every figure in `told` that is missing or differs; words and flags are remarks."""
    if isinstance(told, dict):
        for name, value in told.items():
            part = found.get(name) if isinstance(found, dict) else None
            yield from differences(value, part, tolerance, (*where, name))
    elif isinstance(told, list):
        if not isinstance(found, list) or len(told) != len(found):
            yield f"{'.'.join(where)}: expected {told}, found {found}"
            return
        for number, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from differences(one, other, tolerance, (*where, str(number)))
    elif not isinstance(told, str | bool) and not _agree(told, found, within(tolerance, where)):
        yield f"{'.'.join(where)}: expected {told}, found {found}"


def _agree(told: float | None, found: Any, tolerance: float | None) -> bool:
    """Tell whether both are nothing, or within the tolerance; without a tolerance anything agrees."""
    if told is None or found is None:
        return told is found
    return tolerance is None or abs(told - found) <= tolerance or _same(told, found)


def _same(told: float, found: float) -> bool:
    """Tell whether both are the same infinity, or not a number."""
    return told == found or (math.isnan(told) and math.isnan(found))


def within(tolerance: Any, where: tuple[str, ...]) -> float | None:
    """Return the tolerance of a figure: one for all, or that of the outermost name with its own."""
    if not isinstance(tolerance, dict):
        return float(tolerance)
    for name in where:
        if (known := LIKE.get(name, name)) in tolerance:
            value = tolerance[known]
            return None if value is None else float(value)
    return 0.0


def main(arguments: list[str] | None = None) -> int:
    """Check a file; 0 if all agrees, 1 if not, 2 if it is no file of cases."""
    parser = ArgumentParser(
        prog="python -m tests.oracles.scoring", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a JSON file of cases")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="failures to print (default: 20)")
    given = parser.parse_args(arguments)
    try:
        cases = read(given.file)
    except NotCases as error:
        sys.stderr.write(f"{error}\n")
        return 2
    checked = [check(case) for case in cases]
    failed = [case for case in checked if case.wrong]
    for case in failed[: given.show]:
        sys.stdout.write(f"{case}\n")
    if len(failed) > given.show:
        sys.stdout.write(f"... and {len(failed) - given.show} more\n")
    sys.stdout.write(f"{len(checked) - len(failed)} passed, {len(failed)} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
