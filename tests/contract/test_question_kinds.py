"""Every kind of question, by being in the folder: what it says of nothing, of answers, and of nonsense."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markets.questions
from markets.distributions import (
    PERCENT,
    BadDistribution,
    BadForm,
    Distribution,
    QuestionForm,
    check_distribution_text,
    check_form_text,
    distribution_of,
    form_of,
    question_kind,
)
from markets.millionths import ONE
from markets.registry import names

KINDS = names(Path(markets.questions.__path__[0]))
FORMS = (
    QuestionForm(),
    QuestionForm("multiple_choice", ("Red", "Blue", "Green or none")),
    QuestionForm("multiple_choice", ("Yes", "No"), (400_000, 600_000)),
    QuestionForm("numeric", low="-2.5", high="1000000", open_high=True, unit="USD"),
    QuestionForm("numeric", low="0", high="0.000000000003"),
    QuestionForm("date", low="2026-01-01", high="2027-06-30", open_low=True),
)
SHARES = st.integers(0, 100)
NUMBERS = st.sampled_from(
    ["1e999999999", "1e-999999999", "NaN", "-1", "1,234.5", "12 USD", "0.3", "30%", "", "2026-03-01"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.integers(4_990, 5_000).map(lambda n: 10**n)
    | NUMBERS
    | st.text(max_size=12)
)
KEYS = st.sampled_from(["Red", "Blue", "p5", "50", "95%", "0.5", "0.9", "median", "option", "probability"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=6), inner, max_size=5)
    ),
    max_leaves=10,
)


def answers(form: QuestionForm) -> st.SearchStrategy[Distribution]:
    """Return answers of all kinds to a question, between its uniform one and one of its ends."""
    uniform = question_kind(form.kind).uniform(form)
    if uniform.chances:
        count = len(uniform.chances)
        cuts = st.lists(st.integers(0, ONE), min_size=count - 1, max_size=count - 1).map(sorted)
        ends = cuts.map(lambda inner: zip([0, *inner], [*inner, ONE], strict=True))
        return ends.map(lambda pairs: Distribution(tuple(high - low for low, high in pairs)))

    values = [value for _, value in uniform.quantiles]
    shares = [share for share, _ in uniform.quantiles]
    places = st.lists(st.integers(0, len(values) - 1), min_size=len(values), max_size=len(values)).map(sorted)
    chosen = places.map(lambda picked: [values[place] for place in picked])
    return chosen.map(lambda texts: Distribution(quantiles=tuple(zip(shares, texts, strict=True))))


def test_each_kind_has_a_form_here() -> None:
    assert {form.kind for form in FORMS} == set(KINDS)
    for form in FORMS:
        question_kind(form.kind).check(form)
        assert form_of(form.text) == form
        assert form.kind == "yes_no" or check_form_text(form.text) == form


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_who_knows_nothing_is_read_as_he_states_it(form: QuestionForm) -> None:
    kind = question_kind(form.kind)
    nothing = kind.uniform(form)
    stated = kind.stated(form, nothing)
    jsonschema.validate(stated, dict(kind.SCHEMA))
    assert kind.read(form, stated) == nothing
    assert distribution_of(nothing.text) == nothing
    assert kind.combined(form, [nothing] * 3) == nothing
    assert kind.instruction(form).endswith(".")
    assert kind.words(form, nothing)


@given(
    st.sampled_from(FORMS).flatmap(lambda form: st.tuples(st.just(form), st.lists(answers(form), min_size=1)))
)
def test_several_answers_are_combined_to_one_that_is_sound(
    case: tuple[QuestionForm, list[Distribution]],
) -> None:
    form, given_answers = case
    kind = question_kind(form.kind)
    one = kind.combined(form, given_answers)
    assert sum(one.chances) in (0, ONE)
    assert kind.words(form, one)
    if form.kind != "yes_no":
        assert check_distribution_text(form, one.text) == one
    if len(given_answers) == 1:
        assert one == given_answers[0]


@given(st.sampled_from(FORMS), VALUES)
def test_nonsense_is_refused_with_a_reason_or_read_as_a_sound_answer(form: QuestionForm, value: Any) -> None:
    kind = question_kind(form.kind)
    try:
        answer = kind.read(form, value)
    except BadDistribution:
        return
    assert sum(answer.chances) == (ONE if answer.chances else 0)
    assert kind.read(form, kind.stated(form, answer)).chances == answer.chances
    if form.kind != "yes_no":
        assert check_distribution_text(form, answer.text) == answer


@given(st.sampled_from(FORMS), st.text(max_size=20) | NUMBERS)
def test_what_a_question_came_to_is_read_or_refused(form: QuestionForm, text: str) -> None:
    kind = question_kind(form.kind)
    try:
        outcome = kind.read_outcome(form, text)
    except ValueError:
        return
    assert kind.read_outcome(form, outcome) == outcome


@given(
    st.sampled_from(KINDS), st.text(max_size=8) | NUMBERS, st.text(max_size=8) | NUMBERS, st.text(max_size=50)
)
def test_a_form_is_refused_or_has_an_answer_of_who_knows_nothing(
    name: str, low: str, high: str, unit: str
) -> None:
    form = QuestionForm(name, low=low, high=high, unit=unit)
    kind = question_kind(name)
    try:
        kind.check(form)
    except BadForm:
        return
    nothing = kind.uniform(form)
    stated = dict(nothing.quantiles) if nothing.quantiles else {}
    value: object = {share // PERCENT: text for share, text in stated.items()} or 0.5
    assert kind.read(form, value) == nothing


def test_a_form_has_nothing_of_another_kind() -> None:
    for form, name in (
        (replace(FORMS[1], low="1"), "low"),
        (replace(FORMS[1], unit="USD"), "unit"),
        (replace(FORMS[3], options=("Red", "Blue")), "options"),
        (replace(FORMS[5], odds=(ONE,)), "odds"),
    ):
        with pytest.raises(BadForm) as told:
            question_kind(form.kind).check(form)
        assert told.value.field == name


def test_the_text_of_a_form_has_whole_millionths_and_true_or_false() -> None:
    for text in (
        '{"kind":"multiple_choice","odds":[500000.0,500000.0],"options":["a","b"]}',
        '{"high":"9","kind":"numeric","low":"1","open_low":1}',
    ):
        with pytest.raises(ValueError, match="whole millionths"):
            check_form_text(text)


def test_an_answer_in_words_claims_no_range_that_it_does_not_state() -> None:
    for form, stated, words in (
        (FORMS[3], {"5": 1, "50": 4, "90": 9}, "4 USD (80%: 1.333333333333 to 9)"),
        (FORMS[3], {"25": 3, "50": 4, "75": 5}, "25%: 3 USD, 50%: 4 USD, 75%: 5 USD"),
        (FORMS[3], {"1": 3, "2": 4, "3": 5}, "1%: 3 USD, 2%: 4 USD, 3%: 5 USD"),
        (
            FORMS[5],
            {"40": "2026-02-01", "50": "2026-03-01", "60": "2026-04-01"},
            "40%: 2026-02-01, 50%: 2026-03-01, 60%: 2026-04-01",
        ),
    ):
        kind = question_kind(form.kind)
        assert kind.words(form, kind.read(form, stated)) == words


READINGS: list[tuple[QuestionForm, object, object]] = [
    (FORMS[1], {"red": 0.25, "BLUE": "0.25", "green  or none": 0.5}, (250_000, 250_000, 500_000)),
    (FORMS[1], {"Red": "20%", "Blue": 0.8}, (200_000, 800_000, 0)),
    (FORMS[1], {"Red": 20, "Blue": 80}, (200_000, 800_000, 0)),
    (FORMS[1], [{"name": "Red", "probability": 1}], (ONE, 0, 0)),
    (FORMS[1], [["Red", 0.5], ["Blue", 0.5]], (500_000, 500_000, 0)),
    (FORMS[1], {"Red": {"probability": 0.5}, "Blue": 0.5}, (500_000, 500_000, 0)),
    (FORMS[1], {"Red": 0.2, "Blue": 0.2}, "add up to 0.4"),
    (FORMS[1], {"Red": 0.2, "red": 0.8}, "stated twice"),
    (FORMS[1], {"Black": 1}, "none of the options"),
    (FORMS[1], {"Red": True}, "stands where a number"),
    (FORMS[1], 0.4, "expected a probability for each option"),
    (FORMS[3], {"p10": "1,234.5", "50%": "2000 USD", "90": "usd 3e3"}, ("1234.5", "2000", "3000")),
    (FORMS[3], {"0.1": 1, "0.5": 2, "0.9": 3}, ("1", "2", "3")),
    (FORMS[3], {"5th percentile": 1, "median": 2, "95th": 3}, ("1", "2", "3")),
    (FORMS[3], [{"percentile": 10, "value": 1}, {"p": "50", "value": 2}, [90, 3]], ("1", "2", "3")),
    (FORMS[3], {"10": 1, "50": 2}, "2 quantiles are stated"),
    (FORMS[3], {"10": 1, "p10": 2, "50": 3}, "stated twice"),
    (FORMS[3], {"10": 3, "50": 2, "90": 4}, "is below that of 10%"),
    (FORMS[3], {"10": -3, "50": 2, "90": 4}, "is below -2.5"),
    (FORMS[3], {"10": 1, "50": "2 million", "90": 4}, "is not a number"),
    (FORMS[3], {"10": 1, "50": "20%", "90": 40}, "is not a number"),
    (FORMS[5], {"10": "2025-01-01", "50": "2026-02-01T12:00+02:00", "90": "20260301"}, None),
    (FORMS[5], {"10": "soon", "50": "2026-02-01", "90": "2026-03-01"}, "is not a date"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "value", "meant"), READINGS, ids=str)
def test_an_answer_is_read_where_it_can_mean_nothing_else(
    form: QuestionForm, value: object, meant: object
) -> None:
    kind = question_kind(form.kind)
    if isinstance(meant, str):
        with pytest.raises(BadDistribution, match=meant):
            kind.read(form, value)
        return
    answer = kind.read(form, value)
    if answer.chances:
        assert answer.chances == meant
    elif meant is not None:
        assert tuple(text for _, text in answer.quantiles) == meant
    else:
        texts = [text for _, text in answer.quantiles]
        assert texts == ["2025-01-01", "2026-02-01T10:00:00Z", "2026-03-01"]
