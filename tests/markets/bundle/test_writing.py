"""What is written reads back as the same; nothing is written twice, and nothing by halves."""

import csv
import fcntl
import gzip
import io
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from markets.bundle import BadBundle, Sighting, WriteCounts, check, read, write
from markets.bundle.alter import alter
from markets.bundle.files import JOURNAL
from markets.bundle.write import end_line
from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.simulation.settings import Settings
from markets.venue import QuarantinedRecord, VenueError
from tests.builders import NOW, RAIN, a_book, a_listing, a_market, a_price, a_quote, a_resolution
from tests.bundles import a_bundle, page, sightings
from tests.records.full_record import week
from tests.records.mixed_record import CUP, FORMS, LAUNCH, SALES, a_question

DAY = timedelta(days=1)
LATER = NOW + DAY
SNOW = "sim:snow"


def seen(*listings: Listing, at: datetime = NOW, ends: Iterable[Resolution] = ()) -> list[Sighting]:
    """Return one look at these markets."""
    return [Sighting(at, listings, tuple(ends))]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_season_reads_back_as_it_was_seen(tmp_path: Path) -> None:
    looks = sightings(Settings(weeks=4, markets=12, events=6, start=date(2026, 1, 4)))
    write(tmp_path, looks)
    markets = read(tmp_path).markets
    assert len(markets) == 12
    for look in looks:
        for listing in look.listings:
            record = markets[listing.market.id]
            assert (record.page(look.at), record.quote(look.at)) == (listing.market, listing.quote)
    assert sorted(end.market_id for end in looks[-1].resolutions) == sorted(markets)
    for end in looks[-1].resolutions:
        assert markets[end.market_id].ends == (replace(end, source=" ".join(end.source.split())),)


def test_look_by_look_or_all_at_once_makes_the_same_files(tmp_path: Path) -> None:
    looks = sightings(Settings(weeks=2, markets=6, events=3), every=timedelta(days=2))
    for look in looks:
        write(tmp_path / "singly", [look])
    write(tmp_path / "together", reversed(looks))
    assert files(tmp_path / "singly") == files(tmp_path / "together")


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    looks = sightings(Settings(weeks=2, markets=6, events=3))
    first = write(tmp_path, looks)
    before = files(tmp_path)
    assert first.pages >= 6 <= first.prices
    told: list[QuarantinedRecord] = []
    assert write(tmp_path, looks, told.append) == WriteCounts(0, 0, 0)
    assert (files(tmp_path), told) == (before, [])


def test_a_story_reads_back(tmp_path: Path) -> None:
    write(tmp_path, seen(a_listing(story="strikes")))
    assert read(tmp_path).markets[RAIN].pages[0].story == "strikes"


def test_only_changes_make_lines(tmp_path: Path) -> None:
    rain = a_listing()
    assert write(tmp_path, seen(rain)) == WriteCounts(1, 1, 0)
    assert write(tmp_path, seen(rain, at=LATER)) == WriteCounts(0, 0, 0), "the quote is still that of before"
    assert write(tmp_path, seen(a_listing(at=LATER), at=LATER)) == WriteCounts(0, 1, 0)
    changed = a_listing(at=LATER, question="Will it pour?")
    assert write(tmp_path, seen(changed, at=LATER + DAY)) == WriteCounts(1, 0, 0)
    assert write(tmp_path, seen(ends=[a_resolution("1")])) == WriteCounts(0, 0, 1)
    corrected = [a_resolution("1"), a_resolution("0", version=2, at=LATER)]
    assert write(tmp_path, seen(ends=corrected)) == WriteCounts(0, 0, 1)
    assert [end.payout for end in read(tmp_path).markets[RAIN].ends] == [1_000_000, 0]


def test_every_kind_of_quote_and_end_comes_back(tmp_path: Path) -> None:
    quotes = {
        "sim:mid": a_price("0.123456", "sim:mid"),
        "sim:two": a_listing("0.40", "0.42", "0.405", market="sim:two", last="0.39", volume="12345.678901"),
        "sim:one": a_listing("0.40", None, None, market="sim:one"),
        "sim:last": a_listing(None, None, None, market="sim:last", last="0.5"),
        "sim:book": a_book([("0.4", "10"), ("0.39", "7.5")], [("0.45", "3")], "sim:book"),
        "sim:none": Listing(a_market("sim:none"), None),
    }
    payouts = {"sim:mid": "1", "sim:two": "0.5", "sim:one": None}
    ends = [a_resolution(payout, market) for market, payout in payouts.items()]
    assert write(tmp_path, seen(*quotes.values(), ends=ends)) == WriteCounts(6, 5, 3)
    markets = read(tmp_path).markets
    for market, listing in quotes.items():
        assert markets[MarketId(market)].quote(NOW) == listing.quote
        assert markets[MarketId(market)].page(NOW) == listing.market
    assert [end for record in markets.values() for end in record.ends] == sorted(
        ends, key=lambda end: end.market_id
    )


def test_texts_keep_every_character_and_a_source_its_one_line(tmp_path: Path) -> None:
    text = 'Line one,\n"two" \u2028 — “три”, 四 🙂 \x07'
    end = Resolution(RAIN, 1, NOW, None, "a\n\n'quoted', \"text\"")
    write(tmp_path, seen(a_listing(question=text, rules=text, category=text, event_id=text), ends=[end]))
    record = read(tmp_path).markets[RAIN]
    assert (record.pages[0].question, record.pages[0].rules, record.pages[0].event_id) == (text, text, text)
    assert record.ends[0].source == "a 'quoted', \"text\""


@pytest.mark.parametrize(
    "listing",
    [
        a_listing(question=""),
        a_listing(question="half a \ud800 character"),
        a_listing(rules="x" * 100_001),
        a_listing(closes_at=NOW - 40 * DAY),
        a_listing(market="sim:two words"),
        a_listing(market="without a venue"),
        a_listing("-0.1", "0.4"),
        replace(a_listing(), quote=a_quote(bids=[("0.4", "0")], asks=[])),
    ],
)
def test_what_cant_be_written_is_set_aside_and_the_rest_is_written(tmp_path: Path, listing: Listing) -> None:
    told: list[QuarantinedRecord] = []
    other = a_listing(market=SNOW)
    assert write(tmp_path, seen(listing, other), told.append) == WriteCounts(1, 1, 0)
    assert [(x.kind, x.code) for x in told] == [("market", "not_recordable")]
    assert list(read(tmp_path).markets) == [SNOW]


def test_ends_out_of_order_are_set_aside(tmp_path: Path) -> None:
    told: list[QuarantinedRecord] = []
    ends = [a_resolution("1", SNOW), a_resolution("1", version=2)]
    assert write(tmp_path, seen(a_listing(), ends=ends), told.append) == WriteCounts(1, 1, 0)
    assert [(x.kind, x.record) for x in told] == [("resolution", "rain"), ("resolution", "snow")]
    back = [a_resolution("1", at=LATER), a_resolution("0", version=2)]
    assert write(tmp_path, seen(ends=back), told.append) == WriteCounts(0, 0, 1)
    assert check(tmp_path).ok


def test_two_pages_of_one_instant_cant_both_be_right(tmp_path: Path) -> None:
    write(tmp_path, seen(a_listing()))
    told: list[QuarantinedRecord] = []
    assert write(tmp_path, seen(a_listing(question="Else?")), told.append) == WriteCounts(0, 0, 0)
    assert "another page of sim:rain at 2026-01-04 12:00" in told[0].reason


def test_a_packed_file_grows_packed(tmp_path: Path) -> None:
    write(tmp_path, seen(a_listing()))
    packed = tmp_path / "prices.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "prices.csv").read_bytes()))
    (tmp_path / "prices.csv").unlink()
    assert write(tmp_path, seen(a_listing(at=LATER), at=LATER)) == WriteCounts(0, 1, 0)
    assert not (tmp_path / "prices.csv").exists()
    assert len(read(tmp_path).markets[RAIN].quotes) == 2


def test_a_bundle_made_by_hand_grows_even_without_a_last_line_break(tmp_path: Path) -> None:
    a_bundle(tmp_path, [page("rain") | {"venue": "sim"}], prices=[])
    pages = tmp_path / "markets.jsonl"
    pages.write_text(pages.read_text("utf-8").rstrip("\n"), "utf-8")
    (tmp_path / "prices.csv").unlink()
    (tmp_path / "prices.csv").touch()
    assert not check(tmp_path).ok
    (tmp_path / "prices.csv").write_text("venue,id,date,prob_yes,kind,bid,ask,last,volume")
    assert write(tmp_path, seen(a_listing())) == WriteCounts(1, 1, 0)
    assert len(read(tmp_path).markets[RAIN].pages) == 2


def refusal(folder: Path, *listings: Listing) -> VenueError:
    """Return why nothing is written, after checking that nothing has changed."""
    before = files(folder)
    with pytest.raises(VenueError) as caught:
        write(folder, seen(*(listings or (a_listing(),))))
    assert files(folder) == before
    return caught.value


def test_a_bundle_with_other_columns_or_with_mistakes_is_left_as_it_is(tmp_path: Path) -> None:
    assert refusal(a_bundle(tmp_path / "narrow")).code == "other_columns"
    assert refusal(a_bundle(tmp_path / "broken", ["{"])).code == "bad_bundle"


def test_a_file_that_would_get_too_long_to_be_read_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, seen(a_listing()))
    monkeypatch.setattr("markets.bundle.files.MOST_BYTES", max(map(len, files(tmp_path).values())))
    assert refusal(tmp_path, a_listing(market=SNOW)).code == "full"


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    error = refusal(tmp_path)
    os.close(held)
    assert (error.code, error.message) == ("busy", f"another process writes to {tmp_path}")
    assert write(tmp_path, seen(a_listing())) == WriteCounts(1, 1, 0)


class PowerCut(BaseException):
    """Nothing that runs in this process gets to clean up after it."""


def cut_after(monkeypatch: pytest.MonkeyPatch, syncs: int, fault: BaseException) -> None:
    """Fail to write the next file, and only that one, once this many are on disk."""
    left = [syncs]
    sync = os.fsync

    def failing(file: int) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise fault
        sync(file)

    monkeypatch.setattr(os, "fsync", failing)


@pytest.mark.parametrize("packed", [False, True])
def test_cut_off_at_any_point_it_has_written_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    book = a_book([("0.4", "10")], [("0.45", "3")], at=LATER)
    looks = seen(book, a_listing(market=SNOW, at=LATER), at=LATER, ends=[a_resolution("1", SNOW)])
    for syncs in range(20):
        folder = tmp_path / str(syncs)
        write(folder, seen(a_listing()))
        if packed:
            plain = folder / "prices.csv"
            (folder / "prices.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
            plain.unlink()
        before = read(folder)
        with monkeypatch.context() as patch:
            cut_after(patch, syncs, PowerCut())
            try:
                write(folder, looks)
                whole = True
            except PowerCut:
                whole = False
        after = read(folder)
        begun = (folder / JOURNAL).exists()
        assert after == before or not begun, "before the journal is gone nothing counts"
        again = write(folder, looks)
        assert again in (WriteCounts(1, 2, 1), WriteCounts(0, 0, 0))
        assert {path.name.removesuffix(".gz") for path in folder.iterdir()} <= {
            "markets.jsonl", "prices.csv", "books.jsonl", "resolutions.csv", f"{JOURNAL}.new",
        }  # fmt: skip
        assert len(read(folder).markets) == 2
        if whole:
            assert syncs > 5
            return
    pytest.fail("it never got to its end")


def test_torn_lines_behind_the_journal_are_not_read_and_cleared_away(tmp_path: Path) -> None:
    write(tmp_path, seen(a_listing()))
    before = files(tmp_path)
    sizes = {"prices.csv": len(before["prices.csv"]), "books.jsonl": None}
    with (tmp_path / "prices.csv").open("ab") as file:
        file.write(b"sim,rain,2026-01-0")
    (tmp_path / "books.jsonl").write_text('{"venue"')
    assert not check(tmp_path).ok
    (tmp_path / JOURNAL).write_text(json.dumps(sizes))
    assert check(tmp_path).ok
    assert write(tmp_path, seen(a_listing())) == WriteCounts(0, 0, 0)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "journal",
    ['{"../outside": 0}', '{"../prices.csv": 0}', '{"prices.csv": -1}', '{"prices.csv": "0"}', "[1]", "{"],
)
def test_a_journal_from_elsewhere_cuts_no_other_file(tmp_path: Path, journal: str) -> None:
    (tmp_path / "outside").write_text("mine")
    (tmp_path / "prices.csv").write_text("mine")
    folder = a_bundle(tmp_path / "bundle")
    (folder / JOURNAL).write_text(journal)
    assert refusal(folder).code == "bad_bundle"
    assert check(folder).mistakes[0].file == JOURNAL
    assert (tmp_path / "outside").read_text() == (tmp_path / "prices.csv").read_text() == "mine"


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, seen(a_listing()))
    before = read(tmp_path)
    for syncs in range(5):
        with monkeypatch.context() as patch:
            cut_after(patch, syncs, OSError(28, "No space left on device"))
            with pytest.raises(VenueError, match="No space left on device") as caught:
                write(tmp_path, seen(a_listing(market=SNOW), ends=[a_resolution("1", SNOW)]))
        assert caught.value.code == "not_writable"
        assert read(tmp_path) == before
        assert not (tmp_path / JOURNAL).exists()


def test_questions_of_every_kind_read_back_with_what_they_came_to(tmp_path: Path) -> None:
    asked = [a_question(market) for market in FORMS]
    first = [Resolution(CUP, 1, NOW, None, "the cup", "Blau"), Resolution(LAUNCH, 1, NOW, None, "off")]
    later = [
        Resolution(CUP, 2, week(1), None, "corrected", 'Rot; "x"'),
        Resolution(SALES, 1, week(1), None, "x", "41.75"),
    ]
    write(tmp_path / "b", seen(*asked, ends=first))
    write(tmp_path / "b", seen(*asked, at=week(1), ends=later))
    markets = read(tmp_path / "b").markets
    assert {market: record.pages[-1].form for market, record in markets.items()} == {
        market: form.text for market, form in FORMS.items()
    }
    told = [end for record in markets.values() for end in record.ends]
    assert sorted(told, key=repr) == sorted([*first, *later], key=repr)


def test_without_such_questions_the_files_have_no_such_column(tmp_path: Path) -> None:
    write(tmp_path / "b", seen(a_listing(), ends=[a_resolution("1")]))
    assert (
        (tmp_path / "b" / "resolutions.csv").read_text().startswith("market,version,known_at,payout,source\n")
    )
    assert "form" not in json.loads((tmp_path / "b" / "markets.jsonl").read_text())


BAD_ENDS = [
    (Resolution(CUP, 1, NOW, None, "", "Gelb"), "what its question can come to"),
    (Resolution(CUP, 1, NOW, ONE), "refund, and an answer"),
    (Resolution(SALES, 1, NOW, None, "", "many"), "what its question can come to"),
]


@pytest.mark.parametrize(("end", "words"), BAD_ENDS)
def test_an_end_that_its_question_cannot_have_is_set_aside_or_told_with_its_line(
    tmp_path: Path, end: Resolution, words: str
) -> None:
    told: list[QuarantinedRecord] = []
    write(tmp_path / "b", seen(*map(a_question, FORMS), ends=[end]), told.append)
    assert [(aside.kind, words in aside.reason) for aside in told] == [("resolution", True)]
    assert not (tmp_path / "b" / "resolutions.csv").exists()

    table = csv.DictWriter(file := io.StringIO(), end_line(end) | {"answer": ""})
    table.writeheader()
    table.writerow(end_line(end))
    (tmp_path / "b" / "resolutions.csv").write_text(file.getvalue())
    with pytest.raises(BadBundle, match=f"resolutions.csv:2: .*{words}"):
        read(tmp_path / "b")


def test_another_future_has_other_answers(tmp_path: Path) -> None:
    ends = [Resolution(CUP, 1, NOW, None, "", "Blau"), Resolution(SALES, 1, NOW, None, "", "41.75")]
    write(tmp_path / "b", seen(*map(a_question, FORMS), ends=ends))
    alter(tmp_path / "b", read(tmp_path / "b"), NOW - timedelta(days=1), 3, tmp_path / "other")
    told = {
        market: [end.answer for end in record.ends]
        for market, record in read(tmp_path / "other").markets.items()
    }
    assert "Blau" not in told[CUP]
    assert "41.75" not in told[SALES]
