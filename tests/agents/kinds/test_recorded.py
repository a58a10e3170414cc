"""People and other programs, who write down what they believe and want: which row counts in which round."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from agents.kinds.recorded import Settings, agent
from agents.model import Decision, Given, Unreadable, View
from portfolio.model import Bet, Sale
from tests.agents.minds import a_lot, a_view, nobody
from tests.builders import NOW, a_listing, result_of, usd

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


def at(moment: datetime) -> str:
    return moment.isoformat()


def table(*rows: str) -> str:
    return "\n".join(["at,market,probability,side,amount,fraction,reason", *rows])


def decide(text: str, view: View, read: Callable[[str], str] | None = None) -> Decision:
    given = Given(read=read or {"ann.csv": text}.__getitem__)
    return result_of(agent(Settings(file="ann.csv"), given)(view, nobody))


def believed(decision: Decision) -> dict[str, int]:
    return {forecast.market_id: forecast.millionths for forecast in decision.forecasts}


def test_a_probability_holds_from_its_time_on_until_the_next() -> None:
    text = table(
        f"{at(NOW + timedelta(seconds=1))},sim:a,0.9,,,,",
        f"{at(NOW)},sim:a,0.6,,,,now",
        f"{at(NOW - DAY)},sim:a,0.5,,,,before",
        f"{at(NOW - 400 * DAY)},sim:b,0.2,,,,long since",
        f"{at(NOW)},sim:elsewhere,0.3,,,,",
    )
    decision = decide(text, a_view())
    assert [(f.market_id, f.millionths, f.reason) for f in decision.forecasts] == [
        ("sim:a", usd("0.6"), "now"),
        ("sim:b", usd("0.2"), "long since"),
    ]
    assert (decision.bets, decision.rejections, decision.status) == ((), (), "played")


MOVES = table(
    f"{at(NOW - 8 * DAY)},sim:a,,YES,50,,long past",
    f"{at(NOW - WEEK)},sim:a,,YES,60,,a week ago",
    f"{at(NOW)},sim:b,,NO,80,,just now",
    f"{at(NOW - WEEK + timedelta(seconds=1))},sim:a,,YES,70,,since",
    f"{at(NOW + timedelta(seconds=1))},sim:c,,NO,90,,too late",
)


def test_a_move_counts_in_the_first_round_at_or_after_its_time() -> None:
    for since in (NOW - WEEK, None):  # in a cohort's first round: of the last seven days
        assert decide(MOVES, replace(a_view(), since=since)).bets == (
            Bet(a_view().snapshot.shown[0].market.id, "YES", usd(70), reason="since"),
            Bet(a_view().snapshot.shown[1].market.id, "NO", usd(80), reason="just now"),
        )


def test_every_move_is_played_once_over_the_rounds_of_a_cohort() -> None:
    reasons: list[str] = []
    for number in range(-2, 3):
        now = NOW + number * WEEK
        snapshot = a_view().snapshot
        view = replace(a_view(), snapshot=replace(snapshot, at=now), since=now - WEEK)
        reasons += [bet.reason for bet in decide(MOVES, view).bets]
    assert reasons == ["long past", "a week ago", "since", "just now", "too late"]


def test_what_is_held_can_be_sold_and_what_is_not_on_offer_can_not_be_bought() -> None:
    gone = a_listing(market="sim:gone")
    view = a_view(held=(gone,), lots={("sim:gone", "YES"): a_lot()})
    text = table(
        f"{at(NOW)},sim:gone,,YES,,0.5,half of it",
        f"{at(NOW)},sim:gone,,YES,50,,",
        f"{at(NOW)},sim:unheard,,YES,,all,",
    )
    decision = decide(text, view)
    assert decision.sales == (Sale(gone.market.id, "YES", fraction=usd("0.5"), reason="half of it"),)
    assert decision.bets == ()
    assert [(x.code, x.market_id, x.message) for x in decision.rejections] == [
        ("not_on_offer", "sim:gone", "ann.csv:3: the market is not open for betting in this round"),
        ("not_on_offer", "sim:unheard", "ann.csv:4: the market is not open for betting in this round"),
    ]


def test_a_bad_row_is_told_in_the_round_in_which_it_would_have_counted() -> None:
    text = table(
        f"{at(NOW - WEEK)},sim:a,5,,,,",
        f"{at(NOW)},sim:a,6,,,,",
        f"{at(NOW + DAY)},sim:a,7,,,,",
        "some day,sim:a,0.5,,,,",
        f"{at(NOW - 30 * DAY)},sim:a,0.4,,,,",
    )
    decision = decide(text, replace(a_view(), since=NOW - WEEK))
    assert [rejection.message.split(": ")[0] for rejection in decision.rejections] == [
        "ann.csv:3",
        "ann.csv:5",
    ]
    assert believed(decision) == {"sim:a": usd("0.4")}  # the good row before still holds


def test_a_thousand_bad_rows_are_told_as_a_hundred_and_a_number() -> None:
    decision = decide(table(*["?,sim:a,0.5,,,,"] * 1_000), a_view())
    assert len(decision.rejections) == 101
    assert decision.rejections[-1].message == "900 more invalid rows"


def test_two_probabilities_of_one_time_that_differ_are_neither() -> None:
    text = table(
        f"{at(NOW)},sim:a,0.5,,,,",
        f"{at(NOW)},sim:a,0.6,,,,",
        f"{at(NOW)},sim:b,0.5,,,,",
        f"{at(NOW)},sim:b,50%,,,,",
        f"{at(NOW - DAY)},sim:c,0.5,,,,",
        f"{at(NOW - DAY)},sim:c,0.6,,,,",
        f"{at(NOW)},sim:c,0.7,,,,",
    )
    decision = decide(text, a_view())
    assert believed(decision) == {"sim:b": usd("0.5"), "sim:c": usd("0.7")}
    assert [(x.code, x.message) for x in decision.rejections] == [
        ("stated_twice", "ann.csv:3: this market and time already have a different probability")
    ]


def test_a_file_that_can_not_be_read_fails_the_turn_with_the_place_and_the_mend() -> None:
    decision = decide("at,market,p\n", a_view())
    assert (decision.status, decision.forecasts) == ("failed", ())
    assert decision.note.startswith('ann.csv:1: "p" is unknown. Rename or remove it')

    def missing(name: str) -> str:
        raise Unreadable(f"there is no file {name}")

    assert decide("", a_view(), missing).note == "there is no file ann.csv"


def test_the_file_is_read_anew_in_every_round() -> None:
    texts = iter([table(f"{at(NOW)},sim:a,0.5,,,,"), table(f"{at(NOW)},sim:a,0.8,,,,")])
    playing = agent(Settings(file="ann.csv"), Given(read=lambda name: next(texts)))
    said = [believed(result_of(playing(a_view(), nobody))) for _ in range(2)]
    assert said == [{"sim:a": usd("0.5")}, {"sim:a": usd("0.8")}]
