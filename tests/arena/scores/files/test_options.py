"""Questions of several options and of numbers: skill by odds, and a ladder where there is one."""

import math
import re
from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.scores.files.forecasts import read_forecasts
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import (
    FileScores,
    ForecasterScores,
    score_file,
)
from arena.scores.files.scores_data import row_data, scores_data

HEAD = "question,forecaster,option,probability,outcome,market_probability"
MATCH = """\
m1,ann,home,0.6,home,0.5
m1,ann,draw,0.2,home,0.25
m1,ann,away,0.2,home,0.25
m2,ann,home,0.1,draw,0.2
m2,ann,draw,0.5,draw,0.3
m2,ann,away,0.4,draw,0.5
"""


def scored(text: str, by_category: bool = False, **choices: Any) -> FileScores:
    return score_file(read_forecasts("f", text), "exact", by_category, ScoreChoices(**choices))


def row_of(found: FileScores, name: str) -> ForecasterScores:
    return next(row for row in found.rows if row.forecaster == name)


def sentence_of(found: FileScores) -> str:
    assert found.verdict is not None
    assert scores_data(found)["sentence"] == found.verdict.sentence
    return found.verdict.sentence


def test_skill_on_options_is_half_the_sum_of_squares_of_the_odds_less_that_of_the_forecast() -> None:
    found = scored(f"{HEAD}\n{MATCH}")
    ann = row_of(found, "ann")
    odds = ((0.5**2 + 0.25**2 * 2) + (0.2**2 + 0.7**2 + 0.5**2)) / 2 / 2
    own = ((0.4**2 + 0.2**2 * 2) + (0.1**2 + 0.5**2 + 0.4**2)) / 2 / 2
    assert (ann.brier, ann.skill) == pytest.approx((own, odds - own))
    assert ann.evidence is not None
    assert ann.evidence > 1
    assert (
        sentence_of(found) == "ann: cannot be told apart from the market price yet (too early to say when)."
    )
    assert not any("market_probability" in note for note in found.notes)


TIMED = f"{HEAD},event,time,resolved"


def season(options: range, questions: int = 400) -> str:
    """Return a season of one sharp agent, one between it and the price, a guesser and a copy."""
    rng = Random(5)
    lines = [TIMED]
    for q in range(questions):
        chance = rng.uniform(0.2, 0.8)
        price = round(min(max(chance + rng.choice([-0.2, 0.2]), 0.02), 0.98), 2)
        yes = rng.random() < chance
        said = {
            "sharp": round(chance, 4),
            "mid": round((chance + price) / 2, 4),
            "wild": round(min(max(chance + rng.gauss(0, 0.2), 0.02), 0.98), 4),
            "copy": price,
        }
        when = f"e{q // 3},{7 * (q % 20)},{7 * (q % 20) + 7}"
        for who, p in said.items():
            if who == "mid" and q % 10 == 0:
                continue
            if q in options:
                happened = "yes" if yes else "no"
                lines.append(f"q{q},{who},yes,{p},{happened},{price},{when}")
                lines.append(f"q{q},{who},no,{1 - p:.4f},{happened},{1 - price:.2f},{when}")
            else:
                lines.append(f"q{q},{who},,{p},{yes:d},{price},{when}")
    return "\n".join(lines)


@pytest.mark.parametrize("options", [range(400), range(0, 400, 2)], ids=["all", "every other"])
def test_two_options_are_scored_as_the_yes_no_question_that_they_are(options: range) -> None:
    """In skill, its interval, evidence, the ladder, copies and gaps; whole files and mixed ones."""
    plain = scored(season(range(0)), against="copy")
    found = scored(season(options), against="copy")
    assert [row.forecaster for row in found.rows] == ["sharp", "mid", "wild", "copy"]
    for row, other in zip(found.rows, plain.rows, strict=True):
        expected = row_data(other)
        for name, value in row_data(row).items():
            if not isinstance(value, float) or expected[name] is None:
                assert value == expected[name], name
            else:
                assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-12), name

    sharp = row_of(found, "sharp")
    assert (sharp.price, sharp.better_than, row_of(found, "copy").copies) == (
        "better",
        ("wild",),
        "the price",
    )
    assert sharp.skill_low is not None
    assert found.verdict is not None
    assert plain.verdict is not None
    assert sentence_of(found) == sentence_of(plain)
    for pair, same in zip(found.verdict.pairs, plain.verdict.pairs, strict=True):
        assert asdict(pair) == pytest.approx(asdict(same))


def three_ways() -> str:
    """Return six outcomes on which sharp beats the odds; near repeats them on all but one option."""
    rng = Random(3)
    names = "abcdef"
    lines = [TIMED]
    for q in range(300):
        weights = [rng.uniform(0.05, 1) for _ in names]
        chances = [weight / sum(weights) for weight in weights]
        off = [chance * rng.choice([0.5, 1.5]) for chance in chances]
        odds = [price / sum(off) for price in off]
        happened = rng.choices(names, chances)[0]
        moved = [odds[0] / 2, odds[1] + odds[0] / 2, *odds[2:]]
        said = {"sharp": chances, "copy": odds, "near": moved}
        for who, forecast in said.items():
            for name, p, price in zip(names, forecast, odds, strict=True):
                when = f"e{q},{q % 20},{q % 20 + 7}"
                lines.append(f"q{q},{who},{name},{p:.6f},{happened},{price:.6f},{when}")
    return "\n".join(lines)


def test_of_many_options_who_knows_more_than_the_odds_is_told_and_who_repeats_them_all_is_a_copy() -> None:
    found = scored(three_ways())
    sharp, near, copy = (row_of(found, name) for name in ("sharp", "near", "copy"))
    assert sharp.price == "better"
    assert sharp.skill_low is not None
    assert 0 < sharp.skill_low < (sharp.skill or 0) < (sharp.skill_high or 0)
    assert copy.copies == "the price"
    assert (copy.skill, copy.evidence) == pytest.approx((0, 1))
    assert near.copies is None
    assert sentence_of(found).startswith("sharp forecasts better than near")

    without_odds = scored("\n".join(line.rsplit(",", 4)[0] for line in three_ways().splitlines()))
    assert "market price" not in sentence_of(without_odds)
    assert [row.rank_high for row in without_odds.rows] == [1, 3, 3]


def test_who_differs_on_two_of_fifty_options_is_no_copy() -> None:
    """A twentieth of all forecasts may differ, not a twentieth of the options of each."""
    rng = Random(2)
    lines = [HEAD]
    for q in range(20):
        weights = [rng.uniform(0.5, 1) for _ in range(50)]
        ann = [weight / sum(weights) for weight in weights]
        bob = [ann[0] + 0.008, ann[1] - 0.008, *ann[2:]]
        odds = [*ann[2:], *ann[:2]]
        odds[q] += 1
        for who, forecast in (("ann", ann), ("bob", bob), ("cho", ann)):
            for option, (p, price) in enumerate(zip(forecast, odds, strict=True)):
                lines.append(f"q{q},{who},o{option},{p:.9f},o{q},{price / 2:.9f}")
    found = scored("\n".join(lines))
    assert [row_of(found, name).copies for name in ("ann", "bob", "cho")] == [None, None, "ann"]
    assert found.verdict is not None
    assert found.verdict.pair("ann", "bob") is not None
    assert found.verdict.pair("ann", "cho") is None


def test_odds_are_scaled_and_missing_ones_leave_a_forecast_out_of_skill_alone() -> None:
    """A bookmaker's margin changes nothing but the note."""
    for prices in (("0.5", "0.25", "0.25"), ("0.2", "0.3", "0.5")):
        assert all(f",{price}\n" in MATCH for price in prices)
    margin = MATCH.replace(",0.5\n", ",0.55\n").replace(",0.25\n", ",0.275\n")
    margin = margin.replace(",0.2\n", ",0.22\n").replace(",0.3\n", ",0.33\n")
    fair = scored(f"{HEAD}\n{MATCH}")
    dear = scored(f"{HEAD}\n{margin}")
    assert row_of(dear, "ann").skill == pytest.approx(row_of(fair, "ann").skill)
    [note] = set(dear.notes) - set(fair.notes)
    assert note == ("odds scaled to add up to 1: 2 forecasts with a margin of +10.0%")

    first = MATCH.splitlines()[:3]
    half = scored(
        "\n".join([HEAD, *first, *(line.rpartition(",")[0] + "," for line in MATCH.splitlines()[3:])])
    )
    alone = scored("\n".join([HEAD, *first]))
    assert row_of(half, "ann").skill == row_of(alone, "ann").skill
    assert row_of(half, "ann").questions == 2
    assert "not in skill: 1 forecast on 1 question without a market_probability for each option" in half.notes

    with pytest.raises(ArenaError, match="f:2: column market_probability: the prices of all options are 0"):
        scored("\n".join([HEAD, *(line.rpartition(",")[0] + ",0" for line in first)]))


def test_odds_on_an_option_that_few_have_are_read_from_other() -> None:
    text = f"{HEAD}\nq,ann,x,0.6,z,0.5\nq,ann,other,0.4,z,0.5\nq,bob,x,0.5,z,0.4\nq,bob,z,0.3,z,0.3\n"
    found = scored(text + "q,bob,other,0.2,z,0.3\n")
    bob = ((0.4**2 + 0.7**2 + 0.3**2) - (0.5**2 + 0.7**2 + 0.2**2)) / 2
    assert row_of(found, "bob").skill == pytest.approx(bob)
    ann = ((0.5**2 + 1 + 0.5**2) - (0.6**2 + 1 + 0.4**2)) / 2
    assert row_of(found, "ann").skill == pytest.approx(ann)


def test_open_questions_of_options_are_in_no_score_and_an_outcome_that_comes_later_counts() -> None:
    first = MATCH[: MATCH.index("m2")]
    second = MATCH[MATCH.index("m2") :]
    found = scored(f"{HEAD}\n{first}{without_outcome(second)}")
    assert row_of(found, "ann").questions == 1
    assert row_of(found, "ann").skill == row_of(scored(f"{HEAD}\n{first}"), "ann").skill
    nothing = scored(f"{HEAD}\n{without_outcome(MATCH)}")
    assert sentence_of(nothing) == "Nothing has resolved yet, so there is nothing to compare."


def without_outcome(rows: str) -> str:
    return "".join(re.sub(r"^(\w+,\w+,\w+,[\d.]+),\w+,", r"\1,,", line) for line in rows.splitlines(True))


def test_options_are_in_their_category_alone() -> None:
    lines = [f"{line},{'cup' if line.startswith('m1') else 'league'},form" for line in MATCH.splitlines()]
    head = f"{HEAD},category,reason"
    found = scored("\n".join([head, *lines, "y,ann,,0.5,1,0.5,cup,luck"]), by_category=True)
    assert [row.questions for row in found.rows] == [2, 1]
    found = scored("\n".join([head, *lines]), by_category=True)
    whole = row_of(scored(f"{HEAD}\n{MATCH}"), "ann")
    assert [row.category for row in found.rows] == ["cup", "league"]
    assert sum(row.skill or 0 for row in found.rows) / 2 == pytest.approx(whole.skill)


def test_an_option_left_empty_leaves_the_question_unanswered() -> None:
    bob = MATCH.replace("ann", "bob").replace("draw,0.5,", "draw,,")
    found = scored(f"{HEAD}\n{MATCH}{bob}")
    whole = row_of(scored(f"{HEAD}\n{MATCH}"), "ann")
    row = row_of(found, "bob")
    assert row_of(found, "ann").skill == whole.skill
    assert (row.forecasts, row.questions, row.missing, row.ranked) == (1, 1, 1, False)
    assert row.filled["brier"] == pytest.approx(((0.4**2 + 0.2**2 * 2) / 2 + 1) / 2)
    assert row.why_not == "covers 50% of the questions"
    assert sentence_of(found).endswith("1 agent answered too little to be ranked.")

    later = "m3,ann,home,0.5,,\nm3,ann,draw,0.5,,\n"
    none = scored(f"{HEAD}\n{re.sub(r',0.[^,]*,(?=home|draw)', ',,', MATCH)}{later}")
    assert (none.rows[0].missing, none.rows[0].why_not) == (2, "no forecast that is scored")
    assert sentence_of(none) == "No agent has answered enough to be compared."
    assert "unanswered: 2 forecasts without a probability (ann 2)" in none.notes


NUMBERS = "question,forecaster,q10,q50,q90,outcome,low,high\n"


def test_a_number_left_empty_is_unanswered() -> None:
    rows = "a,ann,10,20,30,25,0,100\nb,ann,10,20,30,25,0,100\na,bob,12,20,30,25,0,100\nb,bob,,,,25,0,100\n"
    found = scored(NUMBERS + rows + "c,ann,,,,25,0,100\nc,bob,,,,25,0,100\n")
    ann = row_of(found, "ann")
    bob = row_of(found, "bob")
    assert [(row.questions, row.missing) for row in (ann, bob)] == [(2, 1), (1, 2)]
    alone = scored(NUMBERS + rows[: rows.index("a,bob")])
    assert ann.baseline == alone.rows[0].baseline


def test_where_all_are_numbers_it_says_what_the_order_goes_by() -> None:
    good = "".join(f"q{q},good,20,25,30,25,0,100\n" for q in range(3))
    bad = "".join(f"q{q},bad,60,70,80,25,0,100\n" for q in range(3))
    found = scored(NUMBERS + bad + good)
    assert [row.forecaster for row in found.rows] == ["good", "bad"]
    assert {row.rank_low for row in found.rows} == {None}
    assert sentence_of(found) == (
        "Numbers have no Brier score, so no two forecasters can be told apart: "
        "the order goes by the peer score."
    )
    assert {row.verdict for row in found.rows} == {"Not ranked: numbers have no Brier score."}
    assert sentence_of(scored(NUMBERS + good)) == (
        "Numbers have no Brier score, so there is nothing to compare."
    )
    errors = scored(NUMBERS + bad + good, rule="autocast")
    assert [row.forecaster for row in errors.rows] == ["good", "bad"]
    assert sentence_of(errors).endswith("the order goes by Autocast's errors.")
    values = "question,forecaster,value,outcome,low,high\nq,ann,3,4,0,9\nq,bob,4,4,0,9\n"
    assert sentence_of(scored(values)).endswith("the order goes by names alone.")


def test_beside_other_questions_numbers_are_said_to_be_in_no_comparison() -> None:
    head = f"{HEAD},value,low,high"
    yes_no = [f"y{q},{who},,{p},1,0.5,,," for q in range(3) for who, p in (("ann", 0.8), ("bob", 0.3))]
    numbers = [f"n{q},{who},,,5,,{value},0,10" for q in range(2) for who, value in (("ann", 4), ("bob", 9))]
    found = scored("\n".join([head, *yes_no, *numbers]))
    assert sentence_of(found).startswith("ann and bob cannot be told apart yet")
    assert (
        "not in skill, nor in who is better than whom: 2 questions of a number, which have no Brier score"
        in found.notes
    )


@pytest.mark.parametrize(("outcome", "bucket"), [("25", 1), ("25.0001", 2), ("0", 1), ("100", 4), ("50", 2)])
def test_a_number_between_two_buckets_is_in_the_lower_one(outcome: str, bucket: int) -> None:
    """As on the site, where a question is a list of buckets that are open below."""
    shares = (0.1, 0.2, 0.3, 0.4)
    text = "question,forecaster,cdf,outcome,low,high\na,ann,0 0.1 0.3 0.6 1," + f"{outcome},0,100\n"
    ann = scored(text).rows[0]
    assert ann.log == pytest.approx(math.log(shares[bucket - 1] * 4))
