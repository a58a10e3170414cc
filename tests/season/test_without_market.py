"""A venue without a market: a whole season of forecasts alone, from the draw to the end of its cohort."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from markets.millionths import ONE
from markets.model import MarketId
from tests.opened_record import opened_record
from tests.program.running import AGREES, arena, arena_json
from tests.season.answering import write_answering

LATEST = datetime(2026, 2, 1, tzinfo=UTC)
MARKETS = [MarketId(f"quiz:{name}") for name in ("colour", "flood", "rain", "rate")]

QUIZ = '''\
"""Three questions, of which one has a price and none a market."""

from datetime import UTC, datetime, timedelta

from markets.distributions import QuestionForm
from markets.model import Listing, Market, Quote, Resolution
from markets.venue import EVERY_MARKET, Catalogue, Report, VenueSettings, ignore_report

stamp = "replay"
HAS_MARKET = False
START = datetime(2026, 1, 4, tzinfo=UTC)
END = START + timedelta(days=10)
FORMS = {
    "quiz:rain": QuestionForm(),
    "quiz:flood": QuestionForm(),
    "quiz:colour": QuestionForm("multiple_choice", ("red", "blue")),
    "quiz:rate": QuestionForm("numeric", low="0", high="10", open_high=True),
}
ENDS = [
    Resolution("quiz:rain", 1, END, 1_000_000),
    Resolution("quiz:colour", 1, END, None, answer="red"),
    Resolution("quiz:rate", 1, END, None, answer="4.5"),
    Resolution("quiz:flood", 1, END, 0),
]


class Settings(VenueSettings):
    """Nothing to set."""


class Quiz:
    stamp = stamp

    async def catalogue(self, at, wanted=EVERY_MARKET):
        return Catalogue([] if at >= END else await self.listings(at, FORMS))

    async def listings(self, at, markets):
        found = []
        for name in markets:
            market = Market(name, name, "What?", "As told.", "quiz", START, END, form=FORMS[name].text)
            quote = Quote(name, START, None, None, 700_000) if name == "quiz:rain" else None
            found.append(Listing(market, quote))
        return found

    async def resolutions(self, at, markets):
        return [end for end in ENDS if end.market_id in markets and end.known_at <= at]

    async def close(self):
        pass


def venue(settings: Settings, report: Report = ignore_report) -> Quiz:
    return Quiz()
'''
CONFIG = """
markets: {venue: quiz, strata: [price]}
cohorts: {first: 2026-01-04, rounds: 2, decide: weekly, count: 1}
agents:
  - kind: answering
"""


def a_quiz(folder: Path) -> None:
    """Write the venue, the kind of agent and the config."""
    write_answering(folder)
    (folder / "extensions" / "venues").mkdir()
    (folder / "extensions" / "venues" / "quiz.py").write_text(QUIZ, "utf-8")
    (folder / "config.yaml").write_text(CONFIG, "utf-8")


def test_a_season_of_forecasts_alone(tmp_path: Path) -> None:
    a_quiz(tmp_path)
    checked = arena_json(tmp_path, "check")
    assert checked["universe"]["unpriced"] is True
    assert checked["rules"]["money"] is False

    played = arena(tmp_path, "run", "--once")
    assert played.returncode == 0, played.stdout + played.stderr

    cohort = arena_json(tmp_path, "show", "cohort", "1")
    assert cohort["ended_at"] == "2026-01-18T00:00:00+00:00", "it goes on until its last question has ended"

    with opened_record(tmp_path / "arena.db") as record:
        ends = record.resolutions(MARKETS, LATEST)
    assert [(end.payout, end.answer) for end in ends] == [(None, "red"), (0, ""), (ONE, ""), (None, "4.5")]
    verified = arena_json(tmp_path, "admin", "verify", "--all")
    assert verified == verified | AGREES


def test_without_a_price_nobody_is_compared_with_one(tmp_path: Path) -> None:
    """A yes/no question that has no price is scored by what happened alone, on the board of all kinds."""
    a_quiz(tmp_path)
    quiz = tmp_path / "extensions" / "venues" / "quiz.py"
    dropped = ('"quiz:rain":', '"quiz:rain",', '"multiple_choice"', '"numeric"', "answer=")
    kept = [line for line in QUIZ.splitlines() if not any(word in line for word in dropped)]
    quiz.write_text("\n".join(kept) + "\n", "utf-8")
    agents = "agents:\n  - {kind: constant, p: 0.2}\n  - {kind: constant, name: high, p: 0.9}\n"
    (tmp_path / "config.yaml").write_text(CONFIG.partition("agents:")[0] + agents, "utf-8")

    played = arena(tmp_path, "run", "--once")
    assert played.returncode == 0, played.stdout + played.stderr

    board = arena_json(tmp_path, "board")
    rows = {row["forecaster"]: row for row in board["all_kinds"]["rows"]}
    assert rows["constant"]["brier"] == pytest.approx(0.2**2), "flood ended NO"
    assert rows["high"]["brier"] == pytest.approx(0.9**2)
    assert {row["skill"] for row in rows.values()} == {None}
    assert "copies the price" not in arena(tmp_path, "board").stdout
