"""Series as a venue: files that grow, FRED and DBnomics over real HTTP, and everything that can be wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from markets.model import MarketId, Resolution
from markets.venue import Catalogue, QuarantinedRecord, VenueError
from markets.venues.series import KEY, Settings, venue
from markets.venues.wire import http
from markets.venues.wire.http import HttpClient
from markets.venues.wire.series_requests import dbnomics_series, fred_series, parse_text
from tests.builders import result_of
from tests.series import DAY, a_table
from tests.serving import Reply
from tests.venue_server.series import API, DBNOMICS, GRAPH, SeriesWire
from tests.venue_server.server import CUT, DRIP, HTML, RESET, VenueServer, reply, status

SUNDAY = datetime(2026, 1, 11, 9, tzinfo=UTC)
WEEK = timedelta(weeks=1)
ROWS = [f"2026-01-{day:02},{day}" for day in range(1, 11)]
DAILY: dict[str, list[tuple[str, str]]] = {
    f"2026-01-{day:02}": [(str(day), f"2026-01-{day:02}")] for day in range(1, 29)
}
CODES = "AMECO/ZUTN/EA19.1"


@dataclass
class Opened:
    """A venue of a folder and a server, and what it has told."""

    settings: Settings
    told: list[QuarantinedRecord] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def catalogue(self, at: datetime = SUNDAY) -> Catalogue:
        async def read() -> Catalogue:
            opened = venue(self.settings, self.told.append, self._sleep)
            try:
                return await opened.catalogue(at)
            finally:
                await opened.close()

        return result_of(read())

    def ids(self, at: datetime = SUNDAY) -> list[MarketId]:
        return [listing.market.id for listing in self.catalogue(at).listings]

    def ends(self, at: datetime, *markets: MarketId) -> list[Resolution]:
        async def read() -> list[Resolution]:
            opened = venue(self.settings, self.told.append, self._sleep)
            try:
                return await opened.resolutions(at, markets)
            finally:
                await opened.close()

        return result_of(read())


@pytest.fixture(autouse=True)
def _without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "series"
    folder.mkdir()
    return folder


def a_venue(folder: Path, url: str = "http://127.0.0.1:9", **settings: object) -> Opened:
    given = {"folder": folder, "horizons": (7,), "wait_days": 20, "url": url, "per_second": 1000.0} | settings
    return Opened(Settings.model_validate(given))


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_day_has_new_questions_from_what_was_known_when_it_began(files: Path) -> None:
    (files / "river.csv").write_text(a_table([*ROWS, "2026-01-11,99"], "date,value"), "utf-8")
    (files / "lake.csv").write_text(a_table(["2026-01-10,5"], "date,value"), "utf-8")
    (files / "notes.txt").write_text("no series", "utf-8")
    (files / "about.json").write_text('{"lake": {"title": "the lake", "asks": ["above-4"]}}', "utf-8")
    opened = a_venue(files)
    assert opened.ids() == [
        "series:lake:above-4:2026-01-11:2026-01-10:5@2026-01-18",
        "series:river:rise:2026-01-11:2026-01-11:99@2026-01-18",
    ]
    assert opened.ids(SUNDAY - DAY)[1] == "series:river:rise:2026-01-10:2026-01-10:10@2026-01-17"
    lake, _ = opened.catalogue().listings
    assert (lake.market.question, lake.quote) == ("Will the lake be above 4 on 2026-01-18?", None)
    assert opened.told == []


def test_a_file_that_grows_is_read_again(files: Path) -> None:
    path = files / "river.csv"
    path.write_text(a_table(ROWS, "date,value"), "utf-8")
    opened = a_venue(files)
    [question] = opened.ids()
    assert opened.ends(SUNDAY + WEEK, question) == []
    path.write_text(a_table([*ROWS, "2026-01-18,3"], "date,value"), "utf-8")
    [end] = opened.ends(SUNDAY + WEEK, question)
    assert (end.payout, end.known_at, end.source) == (0, SUNDAY + WEEK, "3 on 2026-01-18")


def test_a_listing_is_the_one_of_the_catalogue_and_stays_so(files: Path) -> None:
    (files / "river.csv").write_text(a_table([*ROWS, "2026-01-14,3"], "date,value"), "utf-8")
    opened = venue(a_venue(files).settings)
    [listing] = result_of(opened.catalogue(SUNDAY)).listings
    ids = [
        MarketId("sim:rain"),
        listing.market.id,
        MarketId("series:gone:rise:2026-01-11:2026-01-10:1@2026-01-18"),
    ]
    for at in (SUNDAY, SUNDAY + 30 * DAY):
        assert result_of(opened.listings(at, ids)) == [listing]
    assert result_of(opened.listings(SUNDAY - DAY, ids)) == []


def test_a_faulty_file_is_told_by_line_and_field_and_its_questions_wait(files: Path) -> None:
    good = files / "lake.csv"
    bad = files / "river.csv"
    for path in (good, bad):
        path.write_text(a_table(ROWS, "date,value"), "utf-8")
    opened = a_venue(files)
    lake, river = opened.ids()
    bad.write_text(a_table([*ROWS, "2026-01-18,3 m", "soon,1"], "date,value"), "utf-8")
    assert opened.ids() == [lake]
    words = [record.reason for record in opened.told]
    assert words == [
        "river.csv, line 12, value: '3 m' is not a number like 3.91, without signs for thousands",
        "river.csv, line 13, date: 'soon' is not a date like 2026-01-04",
    ]
    # However long the file is faulty, nothing of it is called off.
    assert {end.market_id for end in opened.ends(SUNDAY + 90 * DAY, lake, river)} == {lake}
    bad.write_bytes(b"date,value\n\xff")
    assert opened.ids() == [lake]
    assert opened.told[-1].reason == "river.csv, the whole file: byte 12 is not UTF-8"
    good.unlink()
    with pytest.raises(VenueError, match=r"river\.csv, the whole file: byte 12 is not UTF-8"):
        opened.catalogue()


def test_a_series_that_is_gone_is_called_off_after_the_wait_and_told_of(files: Path) -> None:
    path = files / "river.csv"
    path.write_text(a_table(ROWS, "date,value"), "utf-8")
    (files / "lake.csv").write_text(a_table(ROWS, "date,value"), "utf-8")
    opened = a_venue(files)
    question = opened.ids()[1]
    path.rename(files / "stream.csv")
    assert opened.ends(SUNDAY + 26 * DAY, question) == []
    [end] = opened.ends(SUNDAY + 27 * DAY, question)
    assert (end.payout, end.source) == (None, "called off: the series has no value for 2026-01-18")
    assert {(record.record, record.code) for record in opened.told} == {("river", "missing")}


def test_one_name_is_one_series(files: Path) -> None:
    (files / "river.csv").write_text(a_table(ROWS, "date,value"), "utf-8")
    (files / "all.csv").write_text(a_table(ROWS, "date,river"), "utf-8")
    with pytest.raises(VenueError, match=r"river\.csv: there is a series river already"):
        a_venue(files).catalogue()


def test_what_is_said_of_series_has_to_be_right(files: Path) -> None:
    (files / "about.json").write_text('{"river": {"asks": ["up"]}}', "utf-8")
    with pytest.raises(VenueError, match=r"about\.json, river, asks: 'up' is no template"):
        a_venue(files).catalogue()
    with pytest.raises(VenueError, match="is no folder of series"):
        a_venue(files / "no").catalogue()


# ── the past ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_past_is_as_it_was_known_with_each_version_of_an_end(files: Path) -> None:
    rows = [f"{row},{row[:10]}" for row in ROWS]
    rows += ["2026-01-17,12,2026-01-18", "2026-01-18,12,2026-01-19", "2026-01-18,8,2026-01-25"]
    (files / "river.csv").write_text(a_table(rows), "utf-8")
    opened = a_venue(files, start=date(2026, 1, 4))
    assert opened.settings.stamp == "replay"
    [question] = opened.ids()
    assert question == "series:river:rise:2026-01-11:2026-01-10:10@2026-01-18"
    first, second = opened.ends(SUNDAY + 30 * DAY, question)
    assert (first.version, first.payout, first.known_at.day) == (1, 10**6, 20)
    assert (second.version, second.payout, second.known_at.day) == (2, 0, 26)
    assert opened.ends(SUNDAY + 10 * DAY, question) == [first]


def test_the_past_is_not_played_from_faulty_files_or_such_that_do_not_say_when(files: Path) -> None:
    path = files / "river.csv"
    path.write_text(a_table(ROWS, "date,value"), "utf-8")
    past = date(2026, 1, 4)
    with pytest.raises(
        VenueError, match=r"river\.csv, line 1, published: the past can't be played without it"
    ):
        a_venue(files, start=past).catalogue()
    # The tenth is published after a day, on the eleventh, and known when that is over.
    [question] = a_venue(files, start=past, lag_days=1).ids()
    assert question == "series:river:rise:2026-01-11:2026-01-09:9@2026-01-18"
    path.write_text("date,value,published\n2026-01-01,x,\n", "utf-8")
    with pytest.raises(VenueError, match=r"river\.csv, line 2, value"):
        a_venue(files, start=past).catalogue()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"asks": ["up"]}, "'up' is no template"),
        ({"horizons": [0]}, "0 is not a number of days from 1 to 36525"),
        ({"fred": ["../x"]}, "'../x' is no id of FRED"),
        ({"dbnomics": ["a/b"]}, "'a/b' is not PROVIDER/DATASET/SERIES"),
        ({"fred": ["DGS10"], "start": "2026-01-04"}, "with start only files are played"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Settings.model_validate(settings)


# ── servers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def wire(server: VenueServer) -> SeriesWire:
    made = SeriesWire(SUNDAY.date() - DAY, {"DGS10": dict(DAILY), CODES: dict(DAILY)})
    made.serve(server)
    return made


def test_series_of_fred_and_dbnomics_by_address(files: Path, server: VenueServer, wire: SeriesWire) -> None:
    opened = a_venue(files, server.url, fred=["DGS10"], dbnomics=[CODES])
    assert opened.ids() == [
        "series:AMECO_ZUTN_EA19.1:rise:2026-01-11:2026-01-10:10@2026-01-18",
        "series:DGS10:rise:2026-01-11:2026-01-10:10@2026-01-18",
    ]
    ours, theirs = (listing.market for listing in opened.catalogue().listings)
    assert (ours.category, theirs.category) == ("dbnomics", "fred")
    assert ours.question.startswith("Will Series EA19.1 have increased by 2026-01-18")

    wire.today = (SUNDAY + WEEK).date()
    ends = opened.ends(SUNDAY + WEEK, ours.id, theirs.id)
    assert [(end.payout, end.source) for end in ends] == [(10**6, "18 on 2026-01-18")] * 2
    assert all("key" not in str(asked.query) for asked in server.log)


def test_a_round_asks_for_each_series_once(files: Path, server: VenueServer, wire: SeriesWire) -> None:
    opened = venue(a_venue(files, server.url, fred=["DGS10"]).settings)

    async def play() -> None:
        listings = (await opened.catalogue(SUNDAY)).listings
        ids = [listing.market.id for listing in listings]
        await opened.listings(SUNDAY + timedelta(minutes=1), ids)
        await opened.resolutions(SUNDAY + timedelta(minutes=2), ids)
        await opened.resolutions(SUNDAY + timedelta(hours=1), ids)
        await opened.close()

    result_of(play())
    assert server.counts[GRAPH] == 2


def test_with_a_key_fred_tells_when_each_value_was_published(
    files: Path, server: VenueServer, wire: SeriesWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "k" * 32)
    wire.series["DGS10"]["2026-01-18"] = [("5", "2026-01-19"), ("50", "2026-01-23")]
    opened = a_venue(files, server.url, fred=["DGS10"])
    [question] = opened.ids()
    # The value of the tenth was published on the tenth, and known when that was over.
    assert question == "series:DGS10:rise:2026-01-11:2026-01-10:10@2026-01-18"
    wire.today = date(2026, 1, 28)
    first, second = opened.ends(SUNDAY + 30 * DAY, question)
    # That of the 17th was revised by nobody: the 18th has two versions, and the 19th came after the first.
    assert [(end.payout, end.known_at.day) for end in (first, second)] == [(0, 20), (10**6, 24)]
    monkeypatch.setenv(KEY, "wrong")
    with pytest.raises(VenueError) as refused:
        opened.catalogue()
    assert (refused.value.code, "wrong" in str(refused.value)) == ("refused", False)


def test_a_series_that_a_server_has_no_more_is_called_off(
    files: Path, server: VenueServer, wire: SeriesWire
) -> None:
    opened = a_venue(files, server.url, fred=["DGS10"], dbnomics=[CODES])
    ids = opened.ids()
    wire.series.clear()
    assert opened.catalogue().listings == []
    assert [end.payout for end in opened.ends(SUNDAY + 27 * DAY, *ids)] == [None, None]
    assert {record.code for record in opened.told} == {"missing"}


TROUBLES: dict[str, tuple[Reply, str]] = {
    "html": (HTML, "not_json"),
    "nothing": (reply(b""), "not_json"),
    "not UTF-8": (reply(b"date,value\n\xff"), "not_json"),
    "reset": (RESET, "unreachable"),
    "cut": (CUT, "unreachable"),
    "drip": (DRIP, "timeout"),
    "error": (status(503), "server_error"),
    "blocked": (status(403), "refused"),
    "gone": (status(404), "missing"),
    "no table": (reply(b"observation_date,DGS10\n2026-01-01\n"), "DGS10.csv, line 2"),
    "broken JSON": (reply(b'{"series": {"docs": ['), "no whole JSON"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_servers_may_do_wrong(name: str, server: VenueServer) -> None:
    fault, expected = TROUBLES[name]
    client = HttpClient(server.url, per_second=1e9, timeout=0.3, attempts=1, parse=parse_text)

    async def ask() -> object:
        try:
            if name == "broken JSON":
                return await dbnomics_series(client, CODES)
            return await fred_series(client, client, "DGS10", "")
        finally:
            await client.close()

    server.fail(GRAPH, fault)
    server.fail(f"{DBNOMICS}{CODES}", fault)
    with pytest.raises((VenueError, ValueError)) as told:
        result_of(ask())
    assert expected == getattr(told.value, "code", "") or expected in str(told.value)


def test_an_endless_answer_is_not_read(
    server: VenueServer, wire: SeriesWire, monkeypatch: pytest.MonkeyPatch, files: Path
) -> None:
    monkeypatch.setattr(http, "MOST_BYTES", 100)
    with pytest.raises(VenueError, match="sent more than"):
        a_venue(files, server.url, fred=["DGS10"]).catalogue()


def test_a_server_that_is_down_makes_questions_wait_and_not_end(
    files: Path, server: VenueServer, wire: SeriesWire
) -> None:
    opened = a_venue(files, server.url, fred=["DGS10"], dbnomics=[CODES])
    ours, theirs = opened.ids()
    server.fail(GRAPH, HTML, forever=True)
    assert opened.ids() == [ours]
    assert [end.market_id for end in opened.ends(SUNDAY + 40 * DAY, ours, theirs)] == [ours]
    assert {(record.record, record.code) for record in opened.told} == {("DGS10", "not_json")}
    server.fail(f"{DBNOMICS}{CODES}", status(500), forever=True)
    with pytest.raises(VenueError):
        opened.catalogue()


def test_a_series_of_fred_is_called_as_the_config_names_it(
    files: Path, server: VenueServer, wire: SeriesWire
) -> None:
    """FRED takes an id in small letters, and heads its table with the capital ones."""
    answer: Callable[..., object] = wire.graph
    server.route(GRAPH, lambda asked: answer(replace(asked, query={"id": ["DGS10"]})))
    opened = a_venue(files, server.url, fred=["dgs10"], dbnomics=[CODES])
    ours = [name for name in opened.ids() if "dgs10" in name]
    assert len(ours) == 1

    server.fail(GRAPH, status(500), forever=True)
    assert opened.ends(SUNDAY + 40 * DAY, *ours) == [], "it waits while the server is down"


@pytest.mark.parametrize("table", [b"date,DGS10,DGS2\n2026-01-01,1,2\n", b"date,DGS2\n2026-01-01,1\n"])
def test_fred_may_not_send_another_series(table: bytes, files: Path, server: VenueServer) -> None:
    server.fail(GRAPH, reply(table))
    with pytest.raises(VenueError, match="sent something else than DGS10"):
        a_venue(files, server.url, fred=["DGS10"]).catalogue()


def test_dbnomics_may_not_send_another_series(files: Path, server: VenueServer, wire: SeriesWire) -> None:
    server.route(f"{DBNOMICS}A/B/C", wire.dbnomics)
    wire.series["A/B/C"] = dict(DAILY)
    answer: Callable[..., object] = wire.dbnomics
    server.route(f"{DBNOMICS}{CODES}", lambda asked: answer(replace(asked, path=f"{DBNOMICS}A/B/C")))
    with pytest.raises(VenueError, match="sent something else than"):
        a_venue(files, server.url, dbnomics=[CODES]).catalogue()


def test_the_api_is_asked_for_all_versions(
    files: Path, server: VenueServer, wire: SeriesWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "k" * 32)
    a_venue(files, server.url, fred=["DGS10"]).catalogue()
    [asked] = [asked for asked in server.log if asked.path == API]
    params = asked.params
    assert (params["series_id"], params["file_type"]) == ("DGS10", "json")
    assert (params["realtime_start"], params["realtime_end"]) == ("1776-07-04", "9999-12-31")
