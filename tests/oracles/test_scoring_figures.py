"""The tables of seed 000 as they are printed, each figure to its last digit."""

import pytest

from tests.oracles.scoring_figures import figure

DIE = {
    "naive p=0.05": (0.95, 0.05, 0.8), "naive p=0.17": (0.83, 0.17, 0.72), "naive p=0.3": (0.7, 0.3, 0.63),
    "log p=0.05": (-0.05, -3, -0.54), "log p=0.17": (-0.19, -1.77, -0.45),
}  # fmt: skip
LIMITS = {
    "baseline best binary": 99.9, "baseline worst binary": -897, "baseline worst MC-8": -232,
    "baseline best continuous": 183, "baseline worst continuous": -230,
    "peer best continuous": 408, "peer worst continuous": -408,
}  # fmt: skip
EXPECTED = {"0.8": (68, -132, 28), "0.9": (85, -232, 21), "0.99": (99, -564, -34)}
FIRED = {
    "honest fired now, no trunc": -106, "honest not fired": 92, "honest avg, no trunc": 36,
    "gaming fired now": 99, "gaming fired end": -324, "gaming not fired": 80, "gaming avg, no trunc": 68,
    "honest fired now, trunc": -2, "honest avg, trunc": 56, "gaming fired now, trunc": 2,
    "gaming avg, trunc": 48,
}  # fmt: skip
PRINTED = {
    **{f"die {row} {column}": value for row, values in DIE.items()
       for column, value in zip(("outcome!=6", "outcome=6", "average"), values, strict=True)},
    **LIMITS,
    **{f"days table {day}": value for day, value in
       {"day1": 0, "day2": -32, "day3": 49, "day4": 49, "day5": 68, "average": 27}.items()},
    **{f"expected table p={p} {column}": value for p, values in EXPECTED.items()
       for column, value in zip(("yes", "no", "exp"), values, strict=True)},
    "expected table p=0.7 no": -74, "expected table p=0.7 exp": 24,
    "die log p=0.3 outcome=6": -1.2, "trunc p this week": 0.24, **FIRED,
    "peer example Alex": -2.5, "peer example Bailey": 0.5, "peer example Cory": 2, "peer example sum": 0,
    "gain 99->99.9 right": 0.009, "loss 99->99.9 wrong": -2.3,
}  # fmt: skip
MISPRINTED = {
    "die log p=0.3 outcome!=6": -0.37, "die log p=0.3 average": -0.51, "baseline best MC-8 (p=.999)": 99.9,
    "peer best binary": 996, "peer worst binary": -996, "expected table p=0.7 yes": 48,
    "honest fired end": -327,
}  # fmt: skip


def rounded(what: str, printed: float) -> float:
    """Round the figure to as many places as are printed."""
    places = len(f"{printed}".partition(".")[2])
    return round(figure(what), places)


@pytest.mark.parametrize("what", PRINTED)
def test_a_printed_figure_comes_out(what: str) -> None:
    assert rounded(what, PRINTED[what]) == PRINTED[what]


@pytest.mark.parametrize("what", MISPRINTED)
def test_a_misprint_does_not(what: str) -> None:
    assert rounded(what, MISPRINTED[what]) != MISPRINTED[what]


def test_without_truncation_gaming_pays_and_with_it_honesty_does() -> None:
    assert figure("gaming avg, no trunc") > figure("honest avg, no trunc")
    assert figure("gaming avg, trunc") < figure("honest avg, trunc")


def test_what_is_called_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no figure is called"):
        figure("the average of all")
