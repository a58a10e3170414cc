"""`arena show` of questions that are not of yes or no: how they are asked, answered, and what each scored."""

from math import log
from pathlib import Path

import pytest

from portfolio.rules import REALISTIC
from tests.program.in_process import answered, invoke
from tests.records.full_record import week
from tests.records.question_season import OPTIONS, play
from tests.rows import rows_in


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season of all kinds without a market."""
    place = tmp_path_factory.mktemp("season") / "season.db"
    play(place, size=6, ended=1.0, rules=REALISTIC.model_copy(update={"money": False})).close()
    return place


def page(record: Path, *words: str) -> str:
    return str(invoke("show", *words, "--database", record).stdout)


def test_a_market_tells_its_form_the_answers_and_what_it_came_to(season: Path) -> None:
    text = page(season, "market", "q:multiple_choice-1")
    assert "asked as multiple choice: red; blue; green; Other" in text
    assert "the market says " in text
    assert "¢" not in text
    data = answered("show", "market", "q:multiple_choice-1", "--database", season)
    assert data["form"]["options"] == list(OPTIONS)
    [(came_to,)] = rows_in(season, "SELECT answer FROM resolution WHERE market_id = 'q:multiple_choice-1'")
    assert [end["answer"] for end in data["resolutions"]] == [came_to]
    for row in data["answers"]:
        chances = dict(zip(OPTIONS, row["distribution"]["chances"], strict=True))
        squares = sum((chance / 1e6 - (name == came_to)) ** 2 for name, chance in chances.items())
        assert row["brier"] == pytest.approx(squares / 2)
        assert row["baseline"] == pytest.approx(100 * log(4 * chances[came_to] / 1e6) / log(4))


def test_at_an_instant_a_question_shows_what_was_known_then(season: Path) -> None:
    market = ("market", "q:multiple_choice-3", "--database", season)
    now = answered("show", *market)
    then = answered("show", *market, "--at", week(1).isoformat())
    assert [row["agent"] for row in then["answers"]] == [row["agent"] for row in now["answers"]]
    assert {row["round"] for row in now["answers"]} == {3}
    assert {row["round"] for row in then["answers"]} == {2}
    assert then["resolutions"] == []
    for row in then["answers"]:
        assert (row["came_to"], row["brier"], row["baseline"]) == (None, None, None)


def test_a_number_has_a_range_and_a_distance(season: Path) -> None:
    text = page(season, "market", "q:numeric-1")
    assert "asked as a number between -10 and 190 mm or more" in text
    data = answered("show", "market", "q:numeric-1", "--database", season)
    for row in data["answers"]:
        middle = dict(row["distribution"]["quantiles"])[500_000]
        assert row["distance"] == pytest.approx(abs(float(middle) - float(row["came_to"])) / 200, abs=0.003)


def test_an_agent_has_its_answers_and_no_money(season: Path) -> None:
    text = page(season, "agent", "ann")
    assert "Questions of all kinds" in text
    assert "P/L" not in text
    data = answered("show", "agent", "ann", "--database", season)
    assert {row["kind"] for row in data["kinds"]} == {"yes_no", "multiple_choice", "numeric", "date"}
    assert data["scores"]["money"] is None
    assert len(data["answers"]) == 30
    assert all(row["said"] and row["came_to"] for row in data["answers"])


def test_a_cohort_counts_its_kinds_and_has_no_bankroll(season: Path) -> None:
    text = page(season, "cohort", "1")
    assert "Questions shown: 6 yes or no, 6 multiple choice, 6 a number, 6 a date." in text
    assert "bankroll" not in text
    assert {row["pnl_low"] for row in answered("show", "cohorts", "--database", season)["cohorts"]} == {None}
    assert answered("show", "cohort", "1", "--database", season)["kinds"]["numeric"] == 6


def test_a_turn_has_the_answers_as_the_market_shows_them(season: Path) -> None:
    """There is no probability of YES behind them, and 0 would be a lie."""
    data = answered("show", "turn", "ann", "--database", season)
    forecasts = {row["market"]: row for row in data["decision"]["forecasts"]}
    market = "q:multiple_choice-3"
    shown = answered("show", "market", market, "--database", season)["answers"]
    [own] = [row for row in shown if row["agent"] == "ann"]
    assert forecasts[market]["said"] == own["said"]
    assert forecasts[market]["distribution"] == own["distribution"]
    assert forecasts[market]["probability"] is None
    assert forecasts["q:yes_no-3"]["said"] is None
    assert 0 < forecasts["q:yes_no-3"]["probability"] < 1

    text = " ".join(page(season, "turn", "ann").split())
    assert own["said"].split(", ")[0] in text


def test_a_misspelt_agent_is_told_with_the_one_that_is_near(season: Path) -> None:
    for command in ("turn", "agent"):
        said = invoke("show", command, "anm", "--database", season).stderr
        assert "→ did you mean ann? agents: " in said
