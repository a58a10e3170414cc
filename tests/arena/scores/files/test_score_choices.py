"""What may be asked of a file's scores, and the forms that files of the world come in."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.forms.csv_columns import decode
from arena.scores.files.forecasts import read_forecasts
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import FileScores, ForecasterScores, score_file

PLAIN = (
    "question,forecaster,probability,outcome\n"
    "rain,ann,0.8,1\nrain,bob,0.4,1\nsnow,ann,0.1,0\nsnow,bob,0.2,0\n"
)
TABLE = score_file(read_forecasts("f", PLAIN)).rows


def scored(text: str, named: dict[str, str] | None = None, **choices: Any) -> FileScores:
    return score_file(read_forecasts("f", text, named), choices=ScoreChoices(**choices))


def row_of(found: FileScores, name: str) -> ForecasterScores:
    return next(row for row in found.rows if row.forecaster == name)


def test_the_same_forecasts_in_the_worlds_forms_are_scored_the_same() -> None:
    semicolons = (
        "Question;FORECASTER;Probability;Outcome;Note\n"
        'rain;ann;80%;yes;"a;b"\nrain;bob;0,4;Yes;\nsnow;ann;0,1;no;\nsnow;bob;20 %;FALSE;\n'
    )
    tabs = PLAIN.replace(",", "\t").replace("\n", "\r\n")
    for text in (semicolons, tabs, PLAIN.replace(",", "|")):
        assert scored(text).rows == TABLE
    assert scored(decode("f", PLAIN.encode("utf-16"))).rows == TABLE
    assert scored(semicolons).notes[0] == "columns that were not read: Note"
    many = ",".join(f"note {number}" for number in range(12))
    notes = scored(f"question,forecaster,probability,outcome,{many}\na,b,1,1{',' * 12}").notes
    assert notes[0].endswith(" note 8, note 9 and 2 more")
    wide = ",".join(f"note {number}" for number in range(30))
    with pytest.raises(ArenaError) as unknown:
        scored(f"{wide}\n{',' * 29}", {"question": "title"})
    assert unknown.value.hint.endswith(" note 18, note 19 and 10 more")
    with pytest.raises(ArenaError, match=r"the file has note 0, .* note 19 and 10 more"):
        scored(f"{wide}\n{',' * 29}")
    times = "question;forecaster;probability;outcome;time\na;b;1;1;2,5\na;b;1;1;3"
    assert not read_forecasts("f", times).dated


def test_json_lines_and_lists_are_read_by_a_mapping() -> None:
    pairs = [line.split(",") for line in PLAIN.splitlines()[1:]]
    lines = [
        {"market": {"title": q}, "model": who, "p_yes": float(p), "resolved": o == "1", "tags": ["x"]}
        for q, who, p, o in pairs
    ]
    named = {"question": "market.title", "forecaster": "model", "probability": "p_yes", "outcome": "resolved"}
    written = [json.dumps(line | {"tags": ["a\u2028b"]}, ensure_ascii=False) for line in lines]
    for text in ("\n".join(written), json.dumps(lines, indent=1)):
        assert scored(text, named).rows == TABLE
    with pytest.raises(ArenaError, match="no column 'modell'; did you mean model"):
        scored(json.dumps(lines), named | {"forecaster": "modell"})


BAD = {
    '{"question": "a", "forecaster": "b", "outcome": 1, "probability": 1}\n{': "f:2: invalid JSON",
    '[{"question": 1,\n"forecaster": 1, "outcome": 1, "probability": 1},\n\n2]': (
        "f: list, row 2: '2' is not an object"
    ),
    '{"question": "a", "question": "b"}': "f:1: invalid JSON (the key 'question' appears twice)",
    "probability,outcome,time\na,b,1,1,1767484800000": "f:2: column time: '1767484800000' is in milli",
    "probability,outcome,time\na,b,1,1,20260104\na,b,1,1,3": "f:3: column time: '3' mixes numbers and dates",
    '{"question": "a"}': "f:1: there is no column forecaster",
    "title,model,p_yes,outcome\na,b,1,1": "f:1: there is no column probability",
    "probability,outcomes\na,b,1,1": "f:1: column outcomes: it is unknown; did you mean outcome?",
    "chance_of_yes,outcome\na,b,1,1": "f:1: there is no column probability",
    "probability,outcome,end\na,b,1,1,2": "f:1: column end: it is there without a column time",
    "option,probability,outcome\na,b,x,0.5,x\na,b,y,0.4,x": (
        "f:2: column probability: the options of this forecast add up to 0.9, not to 1"
    ),
    "option,probability,outcome\na,b,x,0.5,z\na,b,y,0.5,z": (
        "f:2: column outcome: 'z' is none of the options: x, y"
    ),
    "option,probability,outcome\na,b,x,0.5,x\na,b,y,0.5,x\na,c,x,1,x\na,c,z,0,x": (
        "f:2: column option: this forecast has no line for 'z'"
    ),
    "option,probability,outcome\na,b,x,0.5,x\na,b,x,0.5,x\na,c,y,1,x": (
        "f:3: column option: 'x' appears twice in one forecast"
    ),
    "option,probability,outcome\na,b,x,1,x\na,b,y,0,x\na,c,,1,x": (
        "f:4: column question: 'a' has options or a number in other lines"
    ),
    "option,probability,outcome\na,b,x,1,x": (
        "f:2: column option: with a single option there is nothing to forecast"
    ),
    "option,probability,outcome\na,b,x,0.5,x\na,b,other,0.5,x\na,c,x,1,x": (
        "f:4: column option: this forecast has one option alone"
    ),
    "option,probability,outcome\na,b,x,0.5,x\na,b,Other,0.5,x\na,c,x,0.5,x\na,c,y,0.5,x": (
        "f:4: column option: this forecast has no line for 'Other'"
    ),
    "q10,q90,outcome\na,b,1,2,3": "f:2: column q10: it needs the range of the number",
    "q10,q90,outcome,low,high\na,b,2,1,3,0,9": "f:2: column q90: it is below a lower quantile",
    "q10,q90,outcome,low,high\na,b,1,x,3,0,9": "f:2: column q90: 'x' is not a number",
    "q10,q90,outcome,low,high\na,b,1,2,12,0,9": "f:2: column outcome: it lies beyond",
    "q10,q90,outcome,low,high\na,b,1,2,3,0,2026-13-01": "f:2: column high: '2026-13-01' is not a number or a",
    "q10,q90,outcome,low,high\na,b,1,2,2026-01-04,0,9": "f:2: column outcome: it lies beyond",
    "q10,outcome,low,high\na,b,1,3,0,9": "f:2: column q10: one quantile is not a forecast",
    "cdf,outcome,low,high\na,b,0 0.6 0.5 1,3,0,9": "f:2: column cdf: it does not rise",
    "cdf,outcome,low,high\na,b,-0.1 1,3,0,9": "f:2: column cdf: it does not rise",
    "cdf,outcome,low,high\na,b,0 1.1,3,0,9": "f:2: column cdf: it does not rise",
    f"cdf,outcome,low,high\na,b,{'[' * 100_000},3,0,9": "f:2: column cdf: '[[",
    f"cdf,outcome,low,high\na,b,[{10**400}],3,0,9": "f:2: column cdf: '[10",
    "cdf,outcome,low,high\na,b,0 nan 1,3,0,9": "f:2: column cdf: it needs a finite value",
    "cdf,outcome,low,high,open_low,open_high\na,b,1,3,0,9,1,1": "f:2: column cdf: it needs a finite value",
    "cdf,outcome,low,high\na,b,0.1 1,3,0,9": "f:2: column cdf: it is 0.1 at an end of the range",
    "cdf,outcome,low,high\na,b,0 0 1,2,0,9": "f:2: column cdf: it gives no probability",
    "cdf,density,outcome,low,high\na,b,0 1,1,3,0,9": "f:2: column question: it is forecast more",
    "cdf,outcome,low,high\na,b,0 1,3,0,9\na,b,0 1,3,0,9": (
        "f:3: column forecaster: 'b' has forecast the same question in line 2"
    ),
    "density,outcome\na,b,0,3": "f:2: column density: '0' is not above 0",
    "density,outcome\na,b,1e308,3": "f:2: column density: '1e308' is too large",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_named_by_line_and_column(text: str) -> None:
    with pytest.raises(ArenaError) as caught:
        scored(text if text[0] in "{[" else f"question,forecaster,{text}")
    assert str(caught.value).startswith(BAD[text])
    assert caught.value.hint


def test_who_is_outside_changes_nobodys_peer_score() -> None:
    more = PLAIN + "rain,half,0.5,1\nsnow,half,0.5,0\n"
    told = {row.forecaster: row for row in TABLE}
    found = scored(more, outside=("half",))
    for name in ("ann", "bob"):
        row = row_of(found, name)
        assert (row.peer, row.relative) == (told[name].peer, told[name].relative)
    half = row_of(found, "half")
    plain = 100 * (math.log(0.5) - (math.log(0.8) + math.log(0.4)) / 2)
    other = 100 * (math.log(0.5) - (math.log(0.9) + math.log(0.8)) / 2)
    assert half.peer == pytest.approx((plain + other) / 2)
    with pytest.raises(ArenaError, match="--outside names 'nobody'"):
        scored(more, outside=("nobody",))


def world(questions: int, hard_for: str = "") -> str:
    """Return a good forecaster, a bad one, and `hard_for`, which answers only the unpredictable questions."""
    rng = random.Random(2)
    lines = ["question,forecaster,probability,outcome,event"]
    for q in range(questions):
        hard = q % 2
        truth = 0.5 if hard else rng.choice((0.05, 0.95))
        yes = int(rng.random() < truth)
        for name, off in (("good", 0.02), ("bad", 0.25)):
            if name != hard_for or hard:
                p = min(max(truth + rng.choice((-off, off)), 0.01), 0.99)
                lines.append(f"q{q:04d},{name},{p:.3f},{yes},e{q // 2}")
    return "\n".join(lines)


def test_every_mean_has_an_interval_by_event() -> None:
    good = row_of(scored(world(200)), "good")
    assert good.events == 100
    for name in ("brier", "log", "baseline", "peer", "relative"):
        low, high = good.intervals[name] or (1, 0)
        assert low < getattr(good, name) < high
    few = row_of(scored(world(38)), "good")
    assert (few.intervals["brier"], few.brier is None) == (None, False)


def test_against_another_on_common_questions() -> None:
    found = scored(world(200), against="bad")
    good = row_of(found, "good").gap
    bad = row_of(found, "bad").gap
    assert good is not None
    assert bad is not None
    assert good.low is not None
    assert 0 < good.low < (good.gap or 0)
    assert (good.questions, bad.gap, bad.low) == (200, 0, None)


def test_adjusting_takes_out_how_hard_questions_were() -> None:
    """good answers the hard half alone: worse by its plain mean, better once difficulty is allowed for."""
    found = scored(world(400, hard_for="good"), adjusted=True)
    good = row_of(found, "good")
    bad = row_of(found, "bad")
    assert (good.brier or 0) > (bad.brier or 1)
    assert (good.adjusted or 1) < (bad.adjusted or 0)
    assert any(
        note.startswith("forecasters answered different questions: from 200 (good)") for note in found.notes
    )
    with pytest.raises(ArenaError, match="difficulty can't be computed"):
        scored("question,forecaster,probability,outcome\na,x,0.5,1\nb,y,0.5,1", adjusted=True)


def test_a_missing_answer_counts_as_wrong() -> None:
    """Of two who answered alike, who left out a question comes last, whatever it would have been."""
    rows = [
        f"q{q},{who},{0.1 if q else 0.4},0" for q in range(6) for who in ("all", "some") if q or who == "all"
    ]
    text = "\n".join(["question,forecaster,probability,outcome", *rows])
    found = scored(text)
    assert [row.forecaster for row in found.rows] == ["all", "some"]
    some = row_of(found, "some")
    assert (some.missing, some.ranked) == (1, True)
    assert (some.brier, some.filled["brier"]) == pytest.approx((0.01, (0.01 * 5 + 1) / 6))
    assert some.brier_skill == pytest.approx(1 - (some.filled["brier"] or 0) / 0.25)
    assert {score for score, value in some.filled.items() if value is not None} == {"brier"}
    assert any("scores marked * are over the questions that" in note for note in found.notes)
    by_their_rule = row_of(scored(text, rule="metaculus"), "some")
    assert by_their_rule.filled["baseline"] == pytest.approx((some.baseline or 0) * 5 / 6)


SAID = st.tuples(st.floats(0, 1), st.floats(0.001, 0.999), st.floats(0, 1))


@given(st.lists(SAID, min_size=5, max_size=9), st.integers(0, 8), st.sampled_from(["q{}", "story"]))
def test_leaving_an_answer_out_improves_no_score_and_no_place(
    said: list[tuple[float, float, float]], left_out: int, event: str
) -> None:
    """However bad the answer was; in skill, where a missing one is the price, if it knew more than that."""
    left_out %= len(said)
    rows = [f"q{q},all,{other!r},{q % 2},{event.format(q)}" for q, (_, other, _) in enumerate(said)]
    own = [f"q{q},some,{p!r},{q % 2},{event.format(q)}" for q, (p, _, _) in enumerate(said)]
    fewer = own[:left_out] + own[left_out + 1 :]
    head = "question,forecaster,probability,outcome,event"
    before, after = (scored("\n".join([head, *rows, *each])) for each in (own, fewer))
    whole = row_of(before, "some")
    less = row_of(after, "some")
    assert (less.filled["brier"] or 0) >= (whole.filled["brier"] or 0) - 1e-12
    assert (less.brier_skill or 0) <= (whole.brier_skill or 0) + 1e-12
    assert {score for score, value in less.filled.items() if value is not None} == {"brier"}
    assert after.rows[-1].forecaster == "some"

    prices = [price for _, _, price in said]
    tail = ["market_probability", *(repr(price) for price in prices)]
    others = [f"{row},{price}" for row, price in zip(rows, tail[1:], strict=True)]
    priced = [f"{row},{price}" for row, price in zip(own, tail[1:], strict=True)]
    less_priced = priced[:left_out] + priced[left_out + 1 :]
    skills = [
        row_of(scored("\n".join([f"{head},{tail[0]}", *others, *each])), "some").skill
        for each in (priced, less_priced)
    ]
    outcome = left_out % 2
    if abs(said[left_out][0] - outcome) <= abs(prices[left_out] - outcome) and None not in skills:
        assert (skills[1] or 0) <= (skills[0] or 0) + 1e-12


def test_provisional_scores_are_against_a_price_and_skill_leaves_them_out() -> None:
    head = "question,forecaster,probability,outcome,market_probability,time\n"
    text = head + "a,ann,0.7,,0.6,1\na,bob,0.9,,0.8,2\nb,ann,0.4,0.3,0.5,1\nc,ann,0.9,1,0.5,1\n"
    assert row_of(scored(text), "ann").questions == 1
    found = scored(text, provisional=True)
    ann = row_of(found, "ann")
    assert ann.brier == pytest.approx(((0.7 - 0.8) ** 2 + (0.4 - 0.3) ** 2 + 0.1**2) / 3)
    assert (ann.questions, ann.skill, ann.log) == pytest.approx((3, 0.25 - 0.01, math.log(0.9)))
    assert row_of(found, "bob").questions == 0  # its price is no later than its forecast


def test_a_question_that_was_called_off_has_no_provisional_score() -> None:
    """A time in `resolved` with an empty outcome says that the question was called off."""
    head = "question,forecaster,probability,outcome,time,resolved,market_probability\n"
    text = head + "a,ann,0.2,,1,9,0.5\na,ann,0.3,,3,9,0.6\nb,ann,0.7,1,1,9,0.5\n"
    found = scored(text, provisional=True)
    ann = row_of(found, "ann")
    assert (ann.questions, ann.brier) == pytest.approx((1, 0.3**2))
    assert not any("provisional" in note or "not scored yet" in note for note in found.notes)
    assert "not scored: 1 question that ended without an outcome" in found.notes


def test_forecasters_of_the_same_questions_are_not_said_to_have_answered_different_ones() -> None:
    head = "question,forecaster,probability,outcome,market_probability\n"
    text = head + "rain,ann,0.8,1,0.6\nsnow,ann,,0,0.2\nrain,bob,0.4,1,0.6\nsnow,bob,,0,0.2\n"
    notes = scored(text).notes
    assert "forecasters answered the same 1 of 2 questions" in notes
    assert not any("--adjusted" in note or "--against" in note for note in notes)


def test_quantiles_become_the_density_that_they_say() -> None:
    """Even quantiles are a flat density, which knows nothing; the floor of the site makes no difference."""
    head = "question,forecaster,q25,q50,q75,outcome,low,high,open_low,open_high\n"
    flat = row_of(scored(head + "a,flat,25,50,75,40,0,100,,\n"), "flat")
    assert (flat.baseline, flat.log) == pytest.approx((0, 0), abs=1e-9)
    sharp = row_of(scored(head + "a,sharp,39,40,41,40.2,0,100,,\n"), "sharp")
    assert sharp.baseline == pytest.approx(100 * math.log((25 + 0.01) / 1.01) / 2, abs=1e-6)
    beyond = row_of(scored(head + "a,far,80,90,100,130,0,100,no,yes\n"), "far")
    assert beyond.baseline == pytest.approx(100 * math.log(0.25 / 0.05) / 2, abs=1e-6)
    dust = row_of(scored(head.replace(",q50", "") + "a,dust,1,47,20,0,100,yes,yes\n"), "dust")
    assert dust.baseline is not None, "its cdf ends at 1 and what rounding adds"


DAYS = (
    "low,high,outcome,{}\na,ann,2026-01-01,2026-01-11,2026-01-04,{}\n",
    "low,high,outcome,{}\na,ann,0,10,3,{}\n",
)


@pytest.mark.parametrize(
    ("columns", "dates", "numbers"),
    [
        ("q10,q50,q90", "2026-01-02,2026-01-04T12:00,2026-01-09T00:00Z", "1,3.5,8"),
        ("cdf", "0 0.4 0.6 1", "0 0.4 0.6 1"),
        ("value", "2026-01-06", "5"),
        ("value", str(1767225600 + 5 * 86_400), "5"),
    ],
)
def test_a_question_of_a_date_is_scored_as_one_of_a_number(columns: str, dates: str, numbers: str) -> None:
    for rule in ("skill", "metaculus", "autocast"):
        rows = [
            row_of(scored(f"question,forecaster,{text.format(columns, said)}", rule=rule), "ann")
            for text, said in zip(DAYS, (dates, numbers), strict=True)
        ]
        assert rows[0].baseline == pytest.approx(rows[1].baseline)
        assert repr(rows[0].autocast) == repr(rows[1].autocast)


@pytest.mark.parametrize(
    ("quantiles", "ends", "outcome", "share"),
    [
        ("10,20,30", "no,yes", "130", 0.001 / 0.05),
        ("70,80,90", "yes,no", "-5", 0.001 / 0.05),
        ("40,50,60", "yes,yes", "130", 0.001 / 0.05),
        ("40,50,60", "yes,yes", "-5", 0.001 / 0.05),
        ("210,220,230", "yes,yes", "50", 0.01 / 0.9),
        ("-30,-20,-10", "yes,yes", "50", 0.01 / 0.9),
        ("210,220,230", "yes,yes", "225", 0.989 / 0.05),
        ("80,90,100", "no,yes", "130", 0.25 / 0.05),
    ],
)
def test_quantiles_leave_a_floor_beyond_open_ends_and_inside(
    quantiles: str, ends: str, outcome: str, share: float
) -> None:
    head = "question,forecaster,q25,q50,q75,outcome,low,high,open_low,open_high\n"
    for rule in ("skill", "metaculus"):
        found = scored(f"{head}a,ann,{quantiles},{outcome},0,100,{ends}\n", rule=rule)
        assert row_of(found, "ann").baseline == pytest.approx(100 * math.log(share) / 2, abs=0.1)


@pytest.mark.parametrize("more", [{"open": 1, "close": 5}, {"close": 5}])
def test_a_forecast_of_options_stands_until_the_next(more: dict[str, int]) -> None:
    """Where no column says when a question opened, it did with its first forecast."""
    head = ",".join(["question,forecaster,option,probability,outcome,time", *more])
    life = ",".join(map(str, more.values()))
    rows = [f"q,ann,{option},{p},x,1,{life}" for p, option in ((0.2, "x"), (0.8, "y"))]
    rows += [f"q,ann,{option},{p},x,3,{life}" for p, option in ((0.8, "x"), (0.2, "y"))]
    ann = row_of(scored("\n".join([head, *rows])), "ann")
    assert ann.baseline == pytest.approx(50 * (2 + math.log2(0.2) + math.log2(0.8)))
    assert ann.coverage == 1


def test_without_a_close_the_latest_forecast_of_options_counts() -> None:
    rows = [f"q,ann,{option},{p},x,{time}" for time, p, option in ((1, 0.2, "x"), (1, 0.8, "y"))]
    rows += [f"q,ann,{option},{p},x,2" for p, option in ((0.8, "x"), (0.2, "y"))]
    ann = row_of(scored("\n".join(["question,forecaster,option,probability,outcome,time", *rows])), "ann")
    assert ann.baseline == pytest.approx(100 * (1 + math.log2(0.8)))


def test_a_file_that_is_packed_is_read(tmp_path: Path) -> None:
    import gzip

    assert scored(decode("f", gzip.compress(PLAIN.encode()))).rows == TABLE
    with pytest.raises(ArenaError, match="can't be unpacked"):
        decode("f", gzip.compress(PLAIN.encode())[:20])
