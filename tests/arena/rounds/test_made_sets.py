"""Question sets of one's own: balanced, the same each time, of what the record and a published set hold."""

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.forms.bench.made_set import SetCandidate, SetPlan, make_set, share_evenly
from arena.forms.bench.reading import read_question_set
from arena.rounds.benchmark_rounds import FileSource, read_questions, resolve_rounds
from arena.rounds.made_sets import make_questions, record_candidates
from arena.verify import verify
from markets.model import Listing
from markets.universe import Universe
from tests.arena.scores.files.test_forecastbench import question
from tests.builders import NOW, a_listing, a_market, a_resolution
from tests.opened_record import OpenedRecord, opened_record
from tests.program.in_process import answered, invoke

DUE = "2026-01-14"
OPEN = Universe(
    show=10, per_event=1, min_volume=0, closes_after=0, closes_within=365 * 86_400, max_spread=1_000_000
)


def candidate(source: str, number: int, category: str = "") -> SetCandidate:
    changes: dict[str, Any] = {"freeze_datetime": "2026-01-04T00:00:00+00:00"}
    if source == "kalshi":
        changes["resolution_dates"] = "N/A"
    return SetCandidate(question(source, f"{source}-{number}", **changes), category)


CANDIDATES = [
    *(candidate("kalshi", number, "abcd"[number % 4]) for number in range(40)),
    *(candidate("manifold", number) for number in range(3)),
    *(candidate("fred", number, "rare" if number == 0 else "usual") for number in range(40)),
]


def made(candidates: list[SetCandidate] = CANDIDATES, **changes: Any) -> Any:
    usual: dict[str, Any] = {"due": DUE, "size": 40, "seed": 1, "combinations": True}
    plan = SetPlan(**(usual | changes))
    return json.loads(make_set(plan, candidates, {}))


def test_sources_and_categories_are_balanced_and_half_is_combined() -> None:
    """A source with three questions has room for three pairs; the others share what it leaves."""
    asked, faults = read_question_set("q.json", json.dumps(made()), combinations=True)
    assert not faults
    assert Counter(one.source for one in asked.questions) == {"kalshi": 17, "fred": 17, "manifold": 6}
    assert Counter(one.source for one in asked.questions if one.combined) == {
        "kalshi": 8,
        "fred": 8,
        "manifold": 3,
    }
    single = {(one.source, one.id): one for one in asked.questions if not one.combined}
    pairs = [one for one in asked.questions if one.combined]
    assert all((one.source, part["id"]) in single for one in pairs for part in one.parts)
    assert len({frozenset(one.texts["id"]) for one in pairs}) == len(pairs)
    numbers = [int(name.rpartition("-")[2]) for source, name in single if source == "kalshi"]
    by_category = Counter(number % 4 for number in numbers)
    assert sorted(by_category.values()) == [2, 2, 2, 3]
    assert ("fred", "fred-0") in single, "the only one of its category"


def test_the_lots_depend_on_the_seed_and_on_nothing_else() -> None:
    first = made()
    assert made(list(reversed(CANDIDATES))) == first
    drawn = {str(one["id"]) for one in first["questions"]}
    spare = next(one for one in CANDIDATES if one.source == "kalshi" and one.id not in drawn)
    assert made([one for one in CANDIDATES if one != spare]) == first
    assert {str(one["id"]) for one in made(seed=2)["questions"]} != drawn
    assert "combination_of" not in made(combinations=False)["questions"][0]


def test_more_than_there_is_is_refused_with_what_each_source_has() -> None:
    with pytest.raises(ArenaError, match=r"166 of 200 questions can be made: fred 80, kalshi 80, manifold 6"):
        made(size=200)
    with pytest.raises(ArenaError, match="there are no candidates"):
        made([], size=1)
    assert share_evenly({"a": 2, "b": 0}, 9, seed=1) == {"a": 2, "b": 0}


def listing(market: str, **changes: Any) -> Listing:
    usual: dict[str, Any] = {"closes_at": NOW + timedelta(days=60), "volume": "5000"}
    return a_listing(market=f"kalshi:{market}", **(usual | changes))


OFFERED = [
    *(listing(f"M{number}", category="abc"[number % 3]) for number in range(6)),
    listing("SOON", closes_at=NOW + timedelta(days=5)),
    Listing(a_market("kalshi:SILENT", closes_at=NOW + timedelta(days=60)), None),
    *(
        Listing(a_market(f"series:GDP:rise@{day}", question=f"Will GDP have risen by {day}?"), None)
        for day in ("2026-01-10", "2026-01-21", "2026-02-13")
    ),
    Listing(a_market("series:GDP:fall@2026-02-13", opens_at=NOW - timedelta(days=31)), None),
]


@pytest.fixture
def record(tmp_path: Path) -> Any:
    with opened_record(tmp_path / "arena.db") as opened:
        opened.sync("kalshi", OFFERED, NOW)
        yield opened


def published(folder: Path, due: str = "2026-01-01") -> FileSource:
    """Return a published set of an earlier day, with its dates moved."""
    days = [(date.fromisoformat(due) + timedelta(days=days)).isoformat() for days in (7, 30)]
    frozen: dict[str, Any] = {"freeze_datetime": f"{due}T00:00:00+00:00", "freeze_datetime_value": "0.4"}
    closes = "2026-06-01T00:00:00+00:00"
    questions = [
        *(question("fred", f"d{i}", resolution_dates=days, **frozen) for i in range(6)),
        question("fred", "no-value", resolution_dates=days),
        question("manifold", "closes", market_info_close_datetime=closes, **frozen),
        question("manifold", "closed", market_info_close_datetime=f"{DUE}T12:00:00+00:00", **frozen),
        question("kalshi", "M1", market_info_close_datetime=closes, resolution_dates="N/A", **frozen),
    ]
    place = folder / "published" / "question_sets"
    place.mkdir(parents=True, exist_ok=True)
    name = f"{due}-llm.json"
    data = {"forecast_due_date": due, "question_set": name, "questions": questions}
    (place / name).write_text(json.dumps(data))
    return FileSource(str(folder / "published"))


def test_the_records_markets_are_candidates_if_they_are_decided_after_the_day(record: OpenedRecord) -> None:
    with record.reading() as connection:
        found = {one.id: one for one in record_candidates(connection, OPEN, DUE, NOW)}
    assert found.keys() == {*(f"M{number}" for number in range(6)), "GDP:rise"}
    market = found["M1"]
    series = found["GDP:rise"]
    assert (market.source, market.category) == ("kalshi", "b")
    assert market.item["freeze_datetime_value"] == "0.41"
    assert market.item["url"].startswith("https://kalshi.com/markets/")
    assert (series.source, series.item["resolution_dates"]) == ("series", ["2026-01-21", "2026-02-13"])
    assert series.item["question"] == "Will GDP have risen by {resolution_date}?"


def test_a_set_is_made_kept_and_resolved_from_the_record(record: OpenedRecord, tmp_path: Path) -> None:
    source = published(tmp_path)
    plan = SetPlan(DUE, 14, 3, True)
    kept, is_new = make_questions(record, plan, OPEN, source, NOW)
    assert (kept.name, is_new) == (f"{DUE}-llm.json", True)
    asked, faults = read_question_set(kept.name, kept.text, combinations=True)
    assert not faults
    assert {one.source for one in asked.questions} == {"kalshi", "series", "fred", "manifold"}
    assert {one.dates for one in asked.questions if one.source == "fred"} == {("2026-01-21", "2026-02-13")}
    names = {one.id for one in asked.questions if not one.combined}
    assert not names & {"closed", "no-value", "SOON", "SILENT"}

    later = NOW + timedelta(days=1)
    record.sync("kalshi", [listing("M0", mid="0.9", bid=None, ask=None, at=later)], later)
    assert make_questions(record, plan, OPEN, source, later) == (kept, False), "it is frozen"
    (tmp_path / "other" / "published").mkdir(parents=True)
    with pytest.raises(ArenaError, match="was made here, and it stays as it is"):
        read_questions(record, published(tmp_path / "other", DUE).place, DUE, later)
    with pytest.raises(ArenaError, match="already, which is another set"):
        make_questions(record, SetPlan(DUE, 14, 4, True), OPEN, source, later)

    ends = [
        a_resolution("1", "kalshi:M0", at=later),
        a_resolution(None, "kalshi:M1", at=later),
        a_resolution("0", "series:GDP:rise@2026-01-21", at=later),
    ]
    record.resolve(ends, later)
    place = tmp_path / "published" / "resolution_sets"
    place.mkdir()
    row = {"id": "d1", "source": "fred", "direction": None, "resolved": True}
    rows = [row | {"resolution_date": "2026-01-21", "resolved_to": 1.0}]
    header = {"forecast_due_date": DUE, "question_set": kept.name}
    (place / f"{DUE}_resolution_set.json").write_text(json.dumps(header | {"resolutions": rows}))
    at = datetime(2026, 2, 1, tzinfo=UTC)
    ((found,), waiting) = resolve_rounds(record, source, at)
    assert (waiting, found.version) == ([], 1)
    with record.reading() as connection:
        assert verify(connection) == []
        (text,) = connection.exec_driver_sql(
            "SELECT text FROM benchmark_file WHERE kind = 'resolutions'"
        ).one()
    resolved = {(one["id"], one["resolution_date"]): one for one in json.loads(text)["resolutions"]}
    assert resolved["d1", "2026-01-21"]["resolved_to"] == 1.0
    assert resolved["GDP:rise", "2026-01-21"]["resolved_to"] == 0.0
    assert "M1" not in {name for name, _ in resolved}, "it was called off"
    told = {name: (one["resolved_to"], one["resolved"]) for (name, _), one in resolved.items()}
    here = {name for name in names if name.startswith("M")} - {"M1"}
    assert {name: told[name] for name in here} == {
        name: (1.0, True) if name == "M0" else (0.41, False) for name in here
    }


BENCH = ("study", "forecastbench", "run", "--dry")


def place(folder: Path) -> list[object]:
    """Return a config and a clock of a record of its own."""
    folder.mkdir()
    (folder / "config.yaml").write_text("markets: {venue: polymarket, show: 10}\nagents: [{kind: market}]\n")
    (folder / "clock").write_text("2026-02-28T12:00Z\n")
    record = folder / "arena.db"
    return ["--config", folder / "config.yaml", "--database", record, "--clock", folder / "clock"]


def test_two_hundred_questions_made_twice_are_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    """In two records, offline: half of them combinations, nine sources with 22 or 23 each."""
    texts = []
    for name in ("first", "second"):
        out = tmp_path / f"{name}.json"
        given = ["--make", 200, "--seed", 7, "--due", "2026-03-01", "--combinations", "--out", out]
        source = ["--from", shared_data / "forecastbench"]
        found = answered(*BENCH, *given, *source, *place(tmp_path / name))["set"]
        assert (found["new"], found["questions"], found["left_out"]) == (True, 200, 0)
        texts.append((out.read_bytes(), found["sha256"]))
    assert texts[0] == texts[1]

    asked, faults = read_question_set("q.json", texts[0][0].decode(), combinations=True)
    assert not faults
    by_source = Counter(one.source for one in asked.questions)
    assert (len(by_source), set(by_source.values())) == (9, {22, 23})
    pairs = sum(one.combined for one in asked.questions)
    assert pairs == sum(count // 2 for count in by_source.values())


def test_what_cannot_be_made_is_said(shared_data: Path, tmp_path: Path) -> None:
    given = place(tmp_path / "here")
    many = ["--make", 5_000, "--due", "2026-03-01", "--from", shared_data / "forecastbench"]
    for words, said in (
        (["--make", 20], "--make needs the day on which it is due"),
        (["--seed", 3], "--seed needs --make"),
        (["--make", 20, "--due", "1 March"], "'1 March' is not a day"),
        (many, "500 of 5000 questions can be made: acled 50"),
        (["--make", 20, "--due", "2026-03-01"], "0 of 20 questions can be made: there are no candidates"),
        (["--make", 20, "--due", "2026-03-01", "--from", tmp_path], "has no question set"),
    ):
        done = invoke(*BENCH, *words, *given)
        assert (done.exit_code in (1, 64), said in " ".join(done.stderr.split())) == (True, True), done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"combination_of": "N/A"}, 'it does not hold the questions ["a", "b"]'),
        ({"id": ["a", "a"]}, "is not a name"),
        ({"id": ["b", "a"]}, "it does not hold the questions"),
        ({"part": {"source": "fred"}}, 'question 2 is of "fred"'),
        ({"part": {"url": None}}, "question 2: url is missing"),
        ({"resolution_dates": ["soon"]}, "'soon' is not a day"),
    ],
)
def test_faults_of_combinations_are_named_by_row_and_field(change: dict[str, Any], said: str) -> None:
    parts = [question("manifold", "a"), question("manifold", "b")]
    changes = change.pop("part", {})
    parts[1] = {name: value for name, value in (parts[1] | changes).items() if value is not None}
    pair = question("manifold", ["a", "b"], combination_of=parts)  # type: ignore[arg-type]
    data = {
        "forecast_due_date": DUE,
        "question_set": "q",
        "questions": [question("manifold", "a"), pair | change],
    }
    _, faults = read_question_set("q.json", json.dumps(data), combinations=True)
    (fault,) = [fault for fault in faults if said in fault.message]
    assert (fault.row, fault.field) == (2, "combination_of" if "question" in said else fault.field)
    assert fault.hint
