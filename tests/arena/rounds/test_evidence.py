"""Evidence in a round: gathered once, the same for everyone, kept, and never a reason not to play."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from agents.evidence import FoundArticle, RefusedQueryError, ResearchError
from agents.guard import Guard
from agents.model import Agent, Article, Ask, Decision, View
from agents.research import folder
from arena.record.model.cohort import Cohort
from arena.rounds.evidence import MOST_FAILURES
from arena.rounds.round import play_round, take_snapshot
from arena.rounds.world import World
from markets.model import Market, MarketId
from tests.builders import NOW, RAIN
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleVenue, a_cohort, a_world, begun, hash_of, live, play, says

SNOW = MarketId("sim:snow")


@dataclass
class Looker:
    """An agent that remembers what it was shown."""

    views: list[View] = field(default_factory=list)

    async def __call__(self, view: View, ask: Ask) -> Decision:
        self.views.append(view)
        return Decision()

    def titles(self) -> dict[MarketId, list[str]]:
        return {market: [x.title for x in found] for market, found in self.views[-1].evidence.items()}


@dataclass
class LittlePaper:
    """A source that has what it is told to have; it is down for some markets, or breaks."""

    articles_on: dict[str, list[Any]] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    fault: BaseException = field(default_factory=lambda: ResearchError("timeout", "no answer", "wait"))
    asked: list[MarketId] = field(default_factory=list)

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        self.asked.append(market.id)
        if market.id in self.down:
            raise self.fault
        return self.articles_on.get(market.id, [])

    async def close(self) -> None:
        """Close nothing, for nothing is open."""


def news(title: str, published: str = "2026-01-02", source: str = "Paper") -> FoundArticle:
    return FoundArticle(source, "", title, "So it is.", published)


def with_evidence(cohort: Cohort, **guard: Any) -> Cohort:
    return replace(cohort, evidence="paper", guard=Guard(**guard))


def reads(paper: LittlePaper, agents: dict[str, Agent], now: datetime = NOW, **venue: Any) -> World:
    return replace(a_world(LittleVenue(**venue), agents, now=now), research=lambda cohort: paper)


def test_everyone_in_a_round_sees_the_same_articles_and_the_source_is_asked_once(
    record: OpenedRecord,
) -> None:
    paper = LittlePaper({RAIN: [news("Clouds"), news("Sun", "2026-01-03T12:00Z")]})
    ann = Looker()
    bob = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann", "bob"])))
    report = play(stored, 1, reads(paper, {"ann": ann, "bob": bob}), record)
    assert (report.done, report.trouble) == (True, ())
    assert sorted(paper.asked) == [RAIN, SNOW]
    assert ann.titles() == bob.titles() == {RAIN: ["Sun", "Clouds"]}
    assert ann.views[0].evidence[RAIN][1] == Article(
        "Paper", "", "Clouds", "So it is.", datetime.fromisoformat("2026-01-03T11:59:59Z"), NOW, "2026-01-02"
    )


def test_without_a_source_nothing_is_gathered_and_nothing_is_stored(record: OpenedRecord) -> None:
    paper = LittlePaper({RAIN: [news("Clouds")]})
    ann = Looker()
    stored = begun(record, a_cohort(["ann"]))
    play(stored, 1, reads(paper, {"ann": ann}), record)
    assert (paper.asked, ann.titles()) == ([], {})
    assert not record.is_gathered(record.rounds(stored.id)[0].id)


def test_a_view_knows_when_the_cohort_decided_before(record: OpenedRecord) -> None:
    ann = Looker()
    stored = begun(record, a_cohort(["ann"]))
    for number in (1, 2):
        play(stored, number, reads(LittlePaper(), {"ann": ann}), record)
    assert [view.since for view in ann.views] == [None, NOW]


def test_the_guard_keeps_back_what_is_too_late_and_the_record_counts_it(record: OpenedRecord) -> None:
    late = news("Late", "2026-01-05")
    undated = news("When?", "soon")
    site = news("Odds", source="Metaculus")
    good = news("Clouds")
    older = news("Old", "2026-01-01")
    paper = LittlePaper({RAIN: [late, undated, site, good, older]})
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"]), per_market=1))
    play(stored, 1, reads(paper, {"ann": ann}), record)
    assert ann.titles() == {RAIN: ["Clouds"]}
    with record.reading() as connection:
        counted = connection.exec_driver_sql("SELECT found, dropped FROM gathering").one()
    assert tuple(counted) == (5, '{"later":1,"restricted":1,"too_many":1,"undated":1}')


@pytest.mark.parametrize("prices", ["shown", "hidden", "after"])
def test_odds_are_always_withheld_where_an_agent_is_asked_without_prices(
    record: OpenedRecord, prices: str
) -> None:
    paper = LittlePaper({RAIN: [news("Clouds"), news("Polymarket: 80% rain")]})
    ann = Looker()
    cohort = with_evidence(a_cohort(["ann"]), odds="shown")
    entrant = replace(cohort.entrants[0], settings={**cohort.entrants[0].settings, "prices": prices})
    stored = begun(record, replace(cohort, entrants=(entrant,)))
    play(stored, 1, reads(paper, {"ann": ann}), record)
    told = ["Clouds", "Polymarket: 80% rain"] if prices == "shown" else ["Clouds"]
    assert ann.titles() == {RAIN: told}
    with record.reading() as connection:
        counted = connection.exec_driver_sql("SELECT dropped FROM gathering").scalar()
    assert counted == ("{}" if prices == "shown" else '{"odds":1}')


def test_a_refused_query_concerns_its_market_alone(record: OpenedRecord) -> None:
    mids = {f"sim:{number}": 40 for number in range(9)}
    refusal = RefusedQueryError("refused_query", "GDELT refuses the query: too short")
    paper = LittlePaper({"sim:8": [news("Flakes")]}, down={*mids} - {"sim:8"}, fault=refusal)
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    report = play(stored, 1, reads(paper, {"ann": ann}, mids=mids), record)
    assert (len(paper.asked), ann.titles()) == (9, {"sim:8": ["Flakes"]})
    assert report.trouble == ("no evidence on 8 of 9 markets: GDELT refuses the query: too short",)


def test_a_round_says_that_no_file_of_a_folder_is_an_article(record: OpenedRecord, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("Rain in Lisbon.")
    ann = Looker()
    world = reads(LittlePaper(), {"ann": ann})
    source = folder.research(folder.Settings(path=tmp_path), world.quarantined.append)
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    report = play(stored, 1, replace(world, research=lambda cohort: source), record)
    [words] = report.trouble
    assert words.startswith("no article was found, and 2 were left out: a.md: 'Rain in Lisbon.' is none of")
    assert ann.titles() == {}


def test_nothing_from_the_day_of_the_close_is_shown(record: OpenedRecord) -> None:
    paper = LittlePaper({RAIN: [news("Eve", "2026-01-03T23:59Z"), news("The day", "2026-01-04T00:00Z")]})
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    play(stored, 1, reads(paper, {"ann": ann}, closes_at=NOW + timedelta(hours=9)), record)
    assert ann.titles() == {RAIN: ["Eve"]}


def test_a_restart_uses_what_is_stored_and_gathers_nothing_again(record: OpenedRecord) -> None:
    """Broken off between evidence and turns; meanwhile the source says something else."""
    paper = LittlePaper({RAIN: [news("Clouds")]})
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))

    async def dies(view: View, ask: Ask) -> Decision:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(stored, 1, reads(paper, {"ann": dies}), record)
    paper.articles_on[RAIN] = [news("Something else")]
    asked = list(paper.asked)
    play(stored, 1, reads(paper, {"ann": ann}), record)
    assert ann.titles() == {RAIN: ["Clouds"]}
    assert paper.asked == asked


def test_a_source_that_was_silent_is_not_asked_again_in_the_round(record: OpenedRecord) -> None:
    paper = LittlePaper(down={RAIN, SNOW})
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    play(stored, 1, reads(paper, {"ann": ann}), record)
    paper.down.clear()
    again = play(stored, 1, reads(paper, {"ann": ann}), record)
    assert (len(paper.asked), again.trouble, ann.titles()) == (2, (), {})


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (ResearchError("timeout", "no answer", "wait"), "timeout", "no answer; wait"),
        (ResearchError("timeout", "no answer"), "timeout", "no answer"),
        (ZeroDivisionError("by\nzero"), "broken", "ZeroDivisionError: by zero"),
        (SystemExit(3), "broken", "SystemExit: 3"),
    ],
)
def test_a_source_that_is_down_for_a_market_stops_nothing_and_is_told(
    record: OpenedRecord, fault: BaseException, code: str, words: str
) -> None:
    paper = LittlePaper({SNOW: [news("Flakes")]}, down={RAIN}, fault=fault)
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    report = play(stored, 1, reads(paper, {"ann": ann}), record)
    assert report.done
    assert report.trouble == (f"no evidence on 1 of 2 markets: {words}",)
    assert ann.titles() == {SNOW: ["Flakes"]}
    assert [(x.venue, x.record, x.kind, x.code, x.reason) for x in record.quarantined()] == [
        ("paper", RAIN, "page", code, words)
    ]


@pytest.mark.parametrize("kind", [ValueError, partial(ResearchError, "refused")])
def test_no_key_in_the_words_of_a_source_is_kept(
    record: OpenedRecord, kind: Callable[[str], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWS_API_KEY", "canary-5f0c9d21e7")
    fault = kind("GET https://news.example/v1?token=canary-5f0c9d21e7 failed")
    paper = LittlePaper({SNOW: [news("Flakes")]}, down={RAIN}, fault=fault)
    stored = begun(record, with_evidence(a_cohort(["ann"])))

    report = play(stored, 1, reads(paper, {"ann": Looker()}), record)

    assert "canary" not in str(report.trouble) + str(record.quarantined())


@pytest.mark.parametrize("answer", [[5], ["text"], [news(cast(str, 5))], [None]])
def test_an_answer_that_is_none_stops_nothing_either(record: OpenedRecord, answer: list[Any]) -> None:
    paper = LittlePaper({RAIN: answer, SNOW: [news("Flakes")]})
    ann = Looker()
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    report = play(stored, 1, reads(paper, {"ann": ann}), record)
    assert ann.titles() == {SNOW: ["Flakes"]}
    assert "a source answers with a list of FoundArticle" in report.trouble[0]


def test_a_source_that_cannot_even_be_opened_stops_nothing(record: OpenedRecord) -> None:
    def broken(_cohort: object) -> LittlePaper:
        raise ImportError("no such file")

    stored = begun(record, with_evidence(a_cohort(["ann"])))
    world = replace(reads(LittlePaper(), {"ann": says("0.5")}), research=broken)
    report = play(stored, 1, world, record)
    assert report.done
    assert report.trouble == ("no evidence on 2 of 2 markets: ImportError: no such file",)


def test_a_source_that_is_down_altogether_is_soon_left_alone(record: OpenedRecord) -> None:
    mids = {f"sim:{number}": 40 for number in range(9)}
    paper = LittlePaper(down=set(mids))
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    report = play(stored, 1, reads(paper, {"ann": says("0.5")}, mids=mids), record)
    assert len(paper.asked) == MOST_FAILURES
    assert report.trouble == ("no evidence on 9 of 9 markets: no answer; wait",)


def test_cohorts_that_decide_at_one_time_share_what_was_found(record: OpenedRecord) -> None:
    paper = LittlePaper({RAIN: [news("Clouds"), news("Sun")]})
    ann = Looker()
    first = begun(record, with_evidence(a_cohort(["ann"])))
    second = begun(record, replace(with_evidence(a_cohort(["ann"]), per_market=1), number=2))
    world = reads(paper, {"ann": ann})
    for stored in (first, second):
        play(stored, 1, world, record)
    assert len(paper.asked) == 2
    assert [len(view.evidence[RAIN]) for view in ann.views] == [2, 1]
    play(first, 2, world, record)
    assert len(paper.asked) == 4


def test_a_live_round_that_is_too_late_gathers_nothing(record: OpenedRecord) -> None:
    paper = LittlePaper()
    stored = begun(record, with_evidence(live(a_cohort(["ann"]))))
    in_time = reads(paper, {"ann": says("0.5")})
    seen = asyncio.run(take_snapshot(stored, NOW, in_time, record, 1))
    record.keep_snapshot(stored.id, 1, seen, 1)
    play(stored, 1, replace(in_time, now=lambda: NOW + timedelta(days=1)), record)
    assert paper.asked == []


def test_two_processes_that_gather_for_a_round_keep_the_first_one(record: OpenedRecord) -> None:
    stored = begun(record, with_evidence(a_cohort(["ann"])))
    ann = Looker()
    other = LittlePaper({RAIN: [news("First")]})

    @dataclass
    class Slow(LittlePaper):
        async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
            if not record.is_gathered(record.rounds(stored.id)[0].id):
                await play_round(stored, 1, reads(other, {"ann": ann}), record)
            return [news("Second")]

    play(stored, 1, reads(Slow(), {"ann": ann}), record)
    assert [view.evidence[RAIN][0].title for view in ann.views] == ["First"]


def test_what_comes_later_changes_nothing_that_was_decided_before(tmp_path: Path) -> None:
    hashes = []
    later = [news("Tomorrow", "2026-01-04"), news("In a week", "2026-01-12T00:00Z"), news("When?", "soon")]
    for more in ([], later):
        record = OpenedRecord.at(tmp_path / f"{len(more)}.db")
        paper = LittlePaper({RAIN: [*more, news("Clouds")]})
        ann = Looker()
        stored = begun(record, with_evidence(a_cohort(["ann"])))
        play(stored, 1, reads(paper, {"ann": ann}, now=NOW + timedelta(seconds=len(more))), record)
        hashes.append((hash_of(record), ann.titles()))
        play(stored, 2, reads(paper, {"ann": ann}, now=NOW + WEEK), record)
        assert bool(more) == (ann.titles() != {RAIN: ["Clouds"]})
        record.close()
    assert hashes[0] == hashes[1]


def test_two_agents_who_ask_a_tool_the_same_at_once_have_it_searched_once(record: OpenedRecord) -> None:
    """The second one waits for what the first has bought."""
    together = asyncio.Barrier(2)
    searches = list[str]()
    told = list[str]()

    class Searchable(LittlePaper):
        async def search(self, query: str, at: datetime) -> list[FoundArticle]:
            searches.append(query)
            for _ in range(20):  # the other agent comes as far as it can meanwhile
                await asyncio.sleep(0)
            return [news(f"Clouds {len(searches)}")]

        async def read(self, url: str) -> FoundArticle | None:
            raise AssertionError("nobody reads")

    async def curious(view: View, ask: Ask) -> Decision:
        assert view.tools is not None
        await together.wait()
        told.append(await view.tools.use("search", '{"query": "clouds"}'))
        return Decision()

    cohort = with_evidence(a_cohort(["ann", "bob"]))
    with_tools = [replace(entrant, settings={"tools": ["search"]}) for entrant in cohort.entrants]
    stored = begun(record, replace(cohort, entrants=tuple(with_tools)))
    report = play(stored, 1, reads(Searchable(), {"ann": curious, "bob": curious}), record)
    assert [turn.decision.status for turn in report.turns] == ["played", "played"]
    assert searches == ["clouds"]
    assert told[0] == told[1]
    assert "Clouds 1" in told[0]
