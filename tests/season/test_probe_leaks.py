"""`arena study replay --probe-leaks`: clean where nobody looks ahead, and every planted leak is found."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.rounds import leaks
from arena.rounds.replay import open_recording
from markets.bundle import read
from markets.bundle.alter import alter
from markets.bundle.read import content_hash
from markets.model import Resolution
from markets.venues.recorded import RecordedVenue
from tests.bundles import a_bundle, page
from tests.program.running import arena, arena_json

START = datetime(2026, 1, 1, tzinfo=UTC)
CUT = START + timedelta(days=20)
HEADER = "venue,id,date,prob_yes,bid,ask,volume"
KIND = """\
\"\"\"Knows what it must not.\"\"\"

from agents.model import Decision, Forecast, KindSettings as Settings

LOOKS_OUTSIDE = False

def agent(settings, given):
    async def decide(view, ask):
        {how}
        return Decision(tuple(Forecast(x.market.id, ends.get(x.market.id, 0.5)) for x in view.snapshot.shown))
    return decide
"""
IN_MEMORY = """from markets.bundle.read import HELD
        known = [(m, x.ends[-1]) for b in HELD.values() for m, x in b.markets.items() if x.ends]
        ends = {m: (end.payout or 0) / 1e6 for m, end in known}"""
BY_FILE = """from pathlib import Path
        text = (Path(__file__).parents[2] / "past" / "resolutions.csv").read_text()
        ends = {row.split(",")[0]: float(row.split(",")[3]) for row in text.splitlines()[1:]}"""


def past(folder: Path) -> Path:
    """Return eight markets with a daily price, a weekly book and an end; every other one is corrected."""
    pages = list[Any]()
    prices = list[str]()
    books = list[Any]()
    ends = list[str]()
    for n in range(8):
        name = f"m{n}"
        last = 12 + 3 * n
        close = f"{START + timedelta(days=last):%Y-%m-%d}"
        pages += [page(name, close=close), page(name, close=close, rules="New", seen="2026-01-25")]
        for day in range(last):
            at = f"{START + timedelta(days=day):%Y-%m-%d}T06:00:00Z"
            mid = 0.3 + 0.04 * ((day + n) % 9)
            prices.append(f"v,{name},{at},{mid:.2f},{mid - 0.02:.2f},{mid + 0.02:.2f},{50_000 + day}")
            if day % 7 == 0:
                sides = {"bids": [[f"{mid - 0.02:.2f}", "50"]], "asks": [[f"{mid + 0.02:.2f}", "90"]]}
                books.append({"venue": "v", "id": name, "at": at, **sides})
        ends.append(f"v:{name},1,{close}T09:00:00Z,{n % 2},")
        ends += [f"v:{name},2,{close}T21:00:00Z,{1 - n % 2},"] if n % 2 else []
    return a_bundle(folder, pages, prices, books, ends, HEADER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    past(tmp_path / "past")
    return tmp_path


def config(folder: Path, agents: str, how: str = "") -> None:
    if how:
        (folder / "extensions" / "kinds").mkdir(parents=True)
        (folder / "extensions" / "kinds" / "seer.py").write_text(KIND.replace("{how}", how), "utf-8")
    text = f"markets: {{venue: recorded, min_volume: 0}}\ncohorts: {{rounds: 2}}\nagents: [{agents}]\n"
    (folder / "config.yaml").write_text(text, "utf-8")


def probe(folder: Path, *words: str, status: int = 0) -> Any:
    return arena_json(
        folder, "study", "replay", "past", "--probe-leaks", "--probes", "2", *words, status=status
    )


def test_a_replay_is_clean_and_nothing_is_kept(folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    found = probe(folder)
    assert (found["ok"], found["differences"], found["opened"], found["left_out"]) == (True, [], [], [])
    assert len(found["probes"]) == 2
    for each in found["probes"]:
        assert each["changed"] == {}
        assert each["compared"]["score"] == len(found["agents"]) == 3
    assert {"snapshot", "turn", "forecast", "fill", "entry", "mark"} <= found["probes"][-1]["compared"].keys()
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize("how", [IN_MEMORY, BY_FILE])
def test_an_agent_that_knows_the_ends_is_found(folder: Path, how: str) -> None:
    config(folder, "{kind: constant}, {kind: seer}", how)
    found = probe(folder, status=1)
    if how is BY_FILE:  # it reads the recording, in which the future is as it was
        assert [file.split(" by ")[0] for file in found["opened"]] == ["resolutions.csv"]
        assert found["opened"][0].endswith("seer.py")
        assert found["differences"] == []
    else:
        assert "forecast" in {each["kind"] for each in found["differences"]}
        assert found["opened"] == []


def test_agents_with_models_are_left_out_with_who_needs_them(folder: Path) -> None:
    model = "{kind: llm, model: openai/some-model, name: one}"
    config(folder, f"{{kind: market}}, {model}, {{kind: kelly, of: one, name: two}}")
    found = probe(folder)
    assert (found["agents"], found["left_out"]) == (["market"], ["one", "two"])
    done = arena(folder, "study", "replay", "past", "--probe-leaks", "--agents", "one")
    assert done.returncode == 1
    assert "every agent asks a model" in done.stderr


def test_a_venue_that_answers_from_the_future_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def early(self: RecordedVenue, at: datetime, markets: Any) -> list[Resolution]:
        records = (self._markets[market] for market in markets)
        return [end for record in records for end in record.ends if end.known_at <= at + timedelta(days=3)]

    monkeypatch.setattr(RecordedVenue, "resolutions", early)
    probed = leaks.probed_replay(folder / "past", None, (), (None, None))
    (folder / "scratch").mkdir()
    bundle = open_recording(folder / "past")
    task = leaks.probe_leaks(probed, bundle, 3, folder / "scratch", open_recording, lambda _done, _of: None)
    found = asyncio.run(task)
    assert not found.clean
    assert "resolution" in {each.kind for each in found.differences}


def test_another_future_is_the_same_until_its_instant_and_another_after_it(folder: Path) -> None:
    bundle = read(folder / "past")
    alter(folder / "past", bundle, CUT, 5, folder / "other")
    other = read(folder / "other")
    assert content_hash(other.markets) != bundle.content
    changed = dict.fromkeys(("quotes", "books", "ends", "ends taken", "pages"), 0)
    for market, record in bundle.markets.items():
        now = other.markets[market]
        pairs = list(zip(record.quotes, now.quotes, strict=True))
        assert all(a == b for a, b in pairs if a.at <= CUT)
        assert all(a.mid != b.mid for a, b in pairs if a.at > CUT)
        assert [e for e in now.ends if e.known_at <= CUT] == [e for e in record.ends if e.known_at <= CUT]
        changed["quotes"] += sum(a.at > CUT for a, _ in pairs)
        changed["books"] += sum(a.bids != b.bids for a, b in pairs)
        if record.ends[0].known_at > CUT:
            changed["ends taken"] += not now.ends
            changed["ends"] += sum(
                a.payout != b.payout and a.known_at < b.known_at
                for a, b in zip(record.ends, now.ends, strict=bool(now.ends))
            )
        changed["pages"] += record.pages != now.pages
        assert record.page(CUT) == now.page(CUT)
    assert all(changed.values()), changed


def test_probes_need_no_record(folder: Path) -> None:
    done = arena(folder, "study", "replay", "past", "--probe-leaks", "--database", "some.db")
    assert done.returncode == 1
    assert "keeps no record" in done.stderr
