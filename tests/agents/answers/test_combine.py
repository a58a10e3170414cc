"""Several answers to one question become one decision."""

from agents.answers.decisions import combine_samples
from agents.model import Decision, Forecast
from markets.model import MarketId
from portfolio.model import Bet, Rejection

A, B = MarketId("sim:a"), MarketId("sim:b")


def said(*probabilities: int, amount: int = 0, note: str = "") -> Decision:
    """A sample that states these for the markets a and b, and bets on a."""
    forecasts = tuple(
        Forecast(m, millionths=p, reason=f"{p}") for m, p in zip((A, B), probabilities, strict=False)
    )
    return Decision(forecasts, (Bet(A, "YES", amount),) if amount else (), note=note)


FAILED = Decision(status="failed", note="timeout: no answer")
MALFORMED = Decision(status="malformed", note="no JSON")


def test_one_sample_is_the_decision_itself() -> None:
    for sample in (said(1, 2, amount=5), FAILED, MALFORMED):
        assert combine_samples([sample]) is sample


def test_forecasts_are_medians_with_the_reason_of_the_nearest_sample() -> None:
    whole = combine_samples([said(100, 900), said(300, 500), said(700, 100)])
    assert [(f.market_id, f.millionths, f.reason) for f in whole.forecasts] == [
        (A, 300, "300"),
        (B, 500, "500"),
    ]
    even = combine_samples([said(100), said(201)])
    assert [(f.millionths, f.reason) for f in even.forecasts] == [(151, "201")]


def test_it_bets_as_the_sample_closest_to_the_medians_does_and_as_no_mix() -> None:
    whole = combine_samples([said(100, 900, amount=1), said(300, 500, amount=2), said(310, 100, amount=3)])
    assert [bet.amount for bet in whole.bets] == [2]
    partial = combine_samples([said(300, amount=1), said(200, 400, amount=2), said(400, 600, amount=3)])
    assert [bet.amount for bet in partial.bets] == [2], "one that states less is not preferred for it"


def test_samples_without_an_answer_leave_a_note_and_no_mark() -> None:
    whole = combine_samples([FAILED, said(300, 500, amount=2), MALFORMED])
    assert (whole.status, [f.millionths for f in whole.forecasts], len(whole.bets)) == (
        "played",
        [300, 500],
        1,
    )
    assert whole.note == "sample 1: failed: timeout: no answer; sample 3: malformed: no JSON"


def test_without_any_answer_it_is_malformed_if_there_was_one_to_read() -> None:
    assert combine_samples([FAILED, MALFORMED]).status == "malformed"
    assert combine_samples([FAILED, FAILED]).status == "failed"
    declined = Decision(status="declined")
    assert combine_samples([FAILED, declined]).status == "declined"
    assert combine_samples([Decision(status="partly"), declined]).status == "partly"


def test_rejections_say_from_which_sample_they_are() -> None:
    bad = Decision((), rejections=(Rejection("amount", "bet 1: no number", A),))
    whole = combine_samples([said(300), bad])
    assert [rejection.message for rejection in whole.rejections] == ["sample 2: bet 1: no number"]
