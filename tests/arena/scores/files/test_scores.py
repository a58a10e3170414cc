"""The board of a file: every score is that of its rule, and what can't be said is null with a reason."""

import math
import re
from collections import defaultdict
from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.scores.files.forecasts import ForecastTable, read_forecasts
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import FileScores, ForecasterScores, score_file
from arena.scores.files.scores_data import row_data
from arena.scores.rules.metaculus.forecasts import Mode
from arena.scores.rules.metaculus.table import COMMUNITY
from arena.scores.verdict import PairVerdict

MODES: tuple[Mode, ...] = ("exact", "metaculus")
HEAD = "question,forecaster,probability,outcome"
Line = tuple[int, int, float, float]


def table_of(*lines: str, more: str = "") -> ForecastTable:
    return read_forecasts("f.csv", "\n".join([HEAD + more, *lines]))


def row_of(rows: tuple[ForecasterScores, ...], name: str) -> ForecasterScores:
    return next(row for row in rows if row.forecaster == name)


LINES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(0.001, 0.999), st.floats(0, 1)),
    min_size=1,
    unique_by=lambda line: line[:2],
)


@given(LINES)
def test_every_score_is_the_plain_formula(lines: list[Line]) -> None:
    texts = [f"q{q},f{f},{p!r},{q % 2},{m!r}" for q, f, p, m in lines]
    found = score_file(table_of(*texts, more=",market_probability"))
    by_question: dict[int, dict[int, float]] = defaultdict(dict)
    for q, f, p, _ in lines:
        by_question[q][f] = p if q % 2 else 1 - p
    for f in {line[1] for line in lines}:
        own = [(q, p, m) for q, who, p, m in lines if who == f]
        row = row_of(found.rows, f"f{f}")
        gave = [by_question[q][f] for q, _, _ in own]
        others = {q: [x for who, x in by_question[q].items() if who != f] for q, _, _ in own}
        peers = [
            100 * (math.log(x) - sum(map(math.log, others[q])) / len(others[q]))
            for (q, _, _), x in zip(own, gave, strict=True)
            if others[q]
        ]
        brier = sum((p - q % 2) ** 2 for q, p, _ in own) / len(own)
        skill = sum((m - q % 2) ** 2 - (p - q % 2) ** 2 for q, p, m in own) / len(by_question)
        assert (row.forecasts, row.questions, row.events) == (len(own),) * 3
        assert row.brier == pytest.approx(brier)
        assert row.log == pytest.approx(sum(map(math.log, gave)) / len(own))
        assert row.baseline == pytest.approx(sum(100 * (1 + math.log2(x)) for x in gave) / len(own), abs=1e-9)
        share = len(own) / len(by_question)
        assert row.ranked == (share >= 0.8)
        assert row.skill == (pytest.approx(skill, abs=1e-12) if row.ranked else None)
        assert row.skill_low is None
        assert (row.reason is not None) == row.ranked
        assert row.why_not == (None if row.ranked else f"covers {share:.0%} of the questions")
        assert row.peer == (pytest.approx(sum(peers) / len(peers), abs=1e-6) if peers else None)


@given(LINES, st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_no_digit(lines: list[Line], chance: Random) -> None:
    texts = [f"q{q},f{f},{p!r},{q % 2},{m!r}" for q, f, p, m in lines]
    one = score_file(table_of(*texts, more=",market_probability"))
    chance.shuffle(texts)
    assert score_file(table_of(*texts, more=",market_probability")) == one


def many(more: str = "") -> list[str]:
    return [
        f"q{q},{name},{said},{q % 2},0.5{more.format(q)}"
        for q in range(30)
        for name, said in (("good", 0.7 if q % 2 else 0.3), ("bad", 0.3 if q % 2 else 0.7))
    ]


def test_with_twenty_events_there_is_an_interval() -> None:
    found = score_file(table_of(*many(), more=",market_probability"))
    assert [row.forecaster for row in found.rows] == ["good", "bad"]
    good = found.rows[0]
    assert good.skill_low is not None
    assert 0 < good.skill_low <= 0.16 + 1e-12
    assert good.skill == pytest.approx(0.16)
    assert (good.reason, good.events_effective) == (None, 30)


def many_events(events: int, size: int) -> list[str]:
    """Return events of this many questions at true uniform prices, and one with dull forecasts."""
    chance = Random(1)
    lines = []
    for number in range(events * size):
        price = round(chance.uniform(0.01, 0.99), 2)
        outcome = int(chance.random() < price)
        lines.append(f"q{number},dull,{0.5 + price / 5:.3f},{outcome},{price},e{number // size}")
    return lines


def test_forty_events_of_six_questions_at_uniform_prices_have_an_interval() -> None:
    """They leave as much open as 18 coin tosses, and its interval would hold the truth in 95%."""
    row = score_file(table_of(*many_events(40, 6), more=",market_probability,event")).rows[0]
    assert row.events_effective == pytest.approx(18, abs=2)
    assert row.reason is None
    assert row.skill is not None
    assert row.skill_low is not None
    assert row.skill_high is not None
    assert row.skill_low < row.skill < row.skill_high < 0


def test_of_fifteen_such_events_the_reason_says_how_many_more_it_takes() -> None:
    row = score_file(table_of(*many_events(15, 6), more=",market_probability,event")).rows[0]
    assert (row.skill_low, row.skill_high) == (None, None)
    assert row.reason is not None
    assert row.reason.startswith("15 events so far that tell little (")
    assert row.reason.endswith(" more")


def test_one_forecaster_on_one_question() -> None:
    found = score_file(table_of("a,ann,0.5,1"))
    row = found.rows[0]
    assert (row.brier, row.peer, row.relative, row.skill) == (0.25, None, None, None)
    assert row.reason == "no market_probability"
    assert found.notes == (
        "no peer and relative scores: no question has two forecasters",
        "no skill against the market: it needs a column market_probability",
    )


def test_nothing_resolved() -> None:
    found = score_file(table_of("a,ann,0.5,", "b,ann,0.5,0.5"))
    row = found.rows[0]
    assert (row.forecasts, row.brier, row.log, row.baseline, row.skill) == (0, None, None, None, None)
    assert row.reason == "nothing resolved"
    assert [note.partition(":")[0] for note in found.notes] == [
        "not scored yet",
        "not scored",
        "nothing resolved",
    ]


def test_a_price_that_is_missing_leaves_a_row_out_of_skill_alone() -> None:
    found = score_file(table_of("a,ann,0.5,1,0.5", "b,ann,1,1,", more=",market_probability"))
    assert (found.rows[0].skill, found.rows[0].brier) == (0, 0.125)
    assert "not in skill: 1 forecast on 1 question without a market_probability" in found.notes


def test_who_gave_0_to_what_happened_has_no_log_score_in_json() -> None:
    found = score_file(table_of("a,ann,0,1"))
    assert found.rows[0].log == -math.inf
    assert row_data(found.rows[0])["log"] is None
    assert any(note.startswith("a log score of −∞") for note in found.notes)


FIVE_DAYS = ["a,ann,0.4,1,1,0,5", "a,ann,0.7,1,2,0,5", "a,ann,0.8,1,4,0,5"]
"""Of Metaculus's FAQ: nothing on the first day, then 40%, 70%, 70%, 80%."""


def test_the_five_days_of_the_faq() -> None:
    row = score_file(table_of(*FIVE_DAYS, more=",time,open,close")).rows[0]
    assert (round(row.baseline or 0, 2), row.coverage) == (26.54, 0.8)
    assert (row.forecasts, row.questions) == (3, 1)
    assert row.brier == pytest.approx((0.36 + 0.09 + 0.04) / 3)


def test_without_a_close_the_latest_forecast_counts() -> None:
    lines = ["a,ann,0.1,1,1", "a,ann,0.8,1,2", "a,bob,0.4,1,1"]
    found = score_file(table_of(*lines, more=",time"))
    assert row_of(found.rows, "ann").peer == pytest.approx(100 * math.log(2))
    assert any(note.startswith("no column close") for note in found.notes)


def test_without_an_opening_a_question_opens_with_its_first_forecast_in_each_category_too() -> None:
    lines = ["a,ann,0.8,1,1,5,x", "a,bob,0.4,1,3,5,x", "b,ann,0.8,1,1,5,y"]
    found = score_file(table_of(*lines, more=",time,close,category"), by_category=True)
    covered = {(row.category, row.forecaster): row.coverage for row in found.rows}
    assert covered == {("x", "ann"): 1, ("x", "bob"): 0.5, ("y", "ann"): 1}


@pytest.mark.parametrize("mode", MODES)
def test_half_of_a_life_gives_half_of_the_score(mode: Mode) -> None:
    lines = ["a,ann,0.8,1,0,2,4", "a,bob,0.4,1,0,2,4"]
    found = score_file(table_of(*lines, more=",open,close,scheduled_close"), mode)
    ann = row_of(found.rows, "ann")
    assert (found.mode, ann.coverage) == (mode, 0.5)
    assert ann.peer == pytest.approx(50 * math.log(2))


def test_a_late_close_counts_in_the_mode_of_the_site_alone() -> None:
    lines = ["a,ann,0.8,1,0,4,2", "a,bob,0.4,1,0,4,2"]
    table = table_of(*lines, more=",open,close,scheduled_close")
    assert [row_of(score_file(table, mode).rows, "ann").coverage for mode in MODES] == [1, 2]


def season_lines(events: int, weeks: int, truth: float = 0.0) -> list[str]:
    """Return lines of sharp, which beats the price, blank, which copies it, and lazy, which soon stops."""
    rng = Random(5)
    lines = []
    for event in range(events):
        chance = rng.uniform(0.2, 0.8)
        price = round(min(max(chance + rng.choice([-0.2, 0.2]), 0.02), 0.98), 2)
        outcome = int(rng.random() < chance)
        start = 7 * (event % weeks)
        rest = f"{outcome},{price},{start},{start + 7}"
        lines += [f"q{event},sharp,{chance + truth:.4f},{rest}", f"q{event},blank,{price},{rest}"]
        if event < events // 4:
            lines.append(f"q{event},lazy,{outcome},{rest}")
    return lines


TIMED = ",market_probability,time,resolved"


def test_who_is_better_than_the_price_is_told_and_who_is_not_ranked_or_copies_it_is_said() -> None:
    found = score_file(table_of(*season_lines(400, 20), more=TIMED))
    sharp, blank, lazy = (row_of(found.rows, name) for name in ("sharp", "blank", "lazy"))
    assert found.verdict is not None
    assert found.verdict.sentence == (
        "sharp: better than the market price. blank copies the price. 1 agent answered too little to be "
        "ranked."
    )
    assert (sharp.price, sharp.rank_low, sharp.rank_high) == ("better", 1, 1)
    assert sharp.evidence is not None
    assert sharp.evidence > 40
    assert (blank.ranked, blank.price, blank.copies, blank.skill) == (True, "none", "the price", 0.0)
    assert (lazy.ranked, lazy.why_not, lazy.skill) == (False, "covers 25% of the questions", None)
    assert [row.forecaster for row in found.rows] == ["sharp", "blank", "lazy"]


def test_without_times_a_file_is_looked_at_once() -> None:
    lines = [line.rsplit(",", 2)[0] for line in season_lines(400, 20)]
    timeless = score_file(table_of(*lines, more=",market_probability"))
    assert row_of(timeless.rows, "sharp").price_verdict == "Better than the market price."
    assert any(note.startswith("no columns time and resolved") for note in timeless.notes)


def test_who_is_best_so_far_goes_by_brier_scores_if_someone_saw_no_price() -> None:
    """bob's skill of +0.21 is no larger than ann's Brier score of 0.04."""
    lines = []
    for number in range(10):
        lines.append(f"q{number},ann,0.8,1,")
        lines.append(f"q{number},bob,0.5,1,0.32")
    found = score_file(table_of(*lines, more=",market_probability"), choices=ScoreChoices(community=True))
    assert found.verdict is not None
    assert "ann forecasts best so far" in found.verdict.sentence


def test_nobody_has_the_name_of_the_price_or_of_the_median() -> None:
    with pytest.raises(ArenaError, match="a forecaster named 'the price', a name that is reserved"):
        score_file(table_of("a,the price,0.5,1"))

    median = table_of("a,community,0.5,1")
    assert score_file(median).rows[0].brier == 0.25
    with pytest.raises(ArenaError, match="a forecaster named 'community'"):
        score_file(median, choices=ScoreChoices(community=True))


def test_who_always_says_the_same_is_named_in_options_that_a_shell_takes() -> None:
    lines = [f"q{place},{name},0.5,1" for place in range(5) for name in ("a b", "c", "d")]
    note = next(note for note in score_file(table_of(*lines)).notes if note.startswith("always the same"))
    assert note.endswith("(--outside 'a b' --outside c --outside d)")


def told_in(found: FileScores) -> list[PairVerdict]:
    """Return what is told of pairs in a file."""
    assert found.verdict is not None
    return list(found.verdict.told)


def test_pairs_are_told_with_or_without_prices_and_times() -> None:
    """Nobody is compared with those outside."""
    lines = season_lines(400, 20)
    found = score_file(table_of(*lines, more=TIMED))
    pairs = told_in(found)
    assert {("sharp", "blank"), ("lazy", "blank")} <= {(pair.better, pair.worse) for pair in pairs}
    [sharp] = [pair for pair in pairs if (pair.better, pair.worse) == ("sharp", "blank")]
    assert sharp.since is not None
    assert (7 < float(sharp.since) <= 140, sharp.by > 0, sharp.coverage) == (True, True, 1.0)

    plain = [",".join(cell for place, cell in enumerate(line.split(",")) if place != 4) for line in lines]
    assert told_in(score_file(table_of(*plain, more=",time,resolved"))) == pairs

    timeless = told_in(
        score_file(table_of(*[line.rsplit(",", 2)[0] for line in lines], more=",market_probability"))
    )
    assert {(pair.better, pair.worse) for pair in timeless} >= {("sharp", "blank")}

    outside = score_file(table_of(*lines, more=TIMED), choices=ScoreChoices(outside=("blank",)))
    assert not any("blank" in (pair.better, pair.worse) for pair in told_in(outside))


def test_the_median_of_all_is_no_entry() -> None:
    lines = season_lines(60, 20, 0.02)
    found = score_file(table_of(*lines, more=TIMED), choices=ScoreChoices(community=True))
    assert found.verdict is not None
    [median] = [one for one in found.verdict.agents if one.agent == COMMUNITY]
    assert median.rank_low is None


def test_without_prices_a_copy_is_no_entry_either() -> None:
    lines = [
        f"q{place},{who},0.{place % 7 + 1},{place % 2}" for place in range(60) for who in ("ann", "ann-2")
    ]
    lines += [f"q{place},bob,0.{(place + 3) % 8 + 1},{place % 2}" for place in range(60)]
    found = score_file(table_of(*lines))
    assert row_of(found.rows, "ann-2").copies == "ann"
    assert found.verdict is not None
    assert {one.entries for one in found.verdict.agents} == {2}
    assert found.verdict.sentence.endswith("ann-2 copies ann.")
    assert "market price" not in found.verdict.sentence
    assert {row.price_verdict for row in found.rows} == {""}


def test_dates_are_given_back_as_dates() -> None:
    lines = []
    for line in season_lines(400, 20):
        *first, start, end = line.split(",")
        lines.append(
            ",".join([*first, *(f"{date(2026, 1, 1) + timedelta(int(day))}" for day in (start, end))])
        )
    found, plain = (
        row_of(score_file(table_of(*some, more=TIMED)).rows, "sharp")
        for some in (lines, season_lines(400, 20))
    )
    assert re.fullmatch(r"Better than the market price since \d+ \w+ 2026\.", found.price_verdict)
    assert plain.price_verdict == "Better than the market price."
    assert found.evidence == pytest.approx(plain.evidence)


def test_what_was_to_close_later_counts_later() -> None:
    """What ends early ends YES more often than NO: it counts from the time at which it was to close."""
    lines = [f"{line},{500}" for line in season_lines(400, 20)]
    found = score_file(table_of(*lines, more=f"{TIMED},scheduled_close"))
    assert {pair.since for pair in told_in(found)} == {"500"}


def test_where_nobody_is_ranked_or_nothing_has_ended_the_sentence_says_so() -> None:
    half = [f"q{place},{'ann' if place % 2 else 'bob'},0.5,1,0.4" for place in range(40)]
    scores = score_file(table_of(*half, more=",market_probability"))
    found = scores.verdict
    assert found is not None
    assert (found.leader, found.sentence) == (None, "No agent has answered enough to be compared.")
    assert not any("an interval of skill" in note for note in scores.notes), "nobody has a skill"

    still_open = score_file(table_of("q,ann,0.5,,0.4", more=",market_probability")).verdict
    assert still_open is not None
    assert still_open.sentence == "Nothing has resolved yet, so there is nothing to compare."
