"""A bundle is read whole or not at all, and every mistake is told with its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from markets.bundle import BadBundle, Bundle, check, read
from markets.bundle.model import MOST
from markets.model import Level, MarketId, Resolution
from tests.builders import usd
from tests.bundles import HEADER, a_bundle, ended, on, page

A = MarketId("v:a")
B = MarketId("v:b")


def told(folder: Path) -> list[str]:
    """Return a bundle's mistakes as they are printed, after checking that reading it fails with the same."""
    report = check(folder)
    assert not report.ok
    assert report.content is None
    with pytest.raises(BadBundle) as caught:
        read(folder)
    assert caught.value.report == report
    assert caught.value.code == "bad_bundle"
    return [str(mistake) for mistake in report.mistakes]


def events(folder: Path, *pages: dict[str, Any]) -> list[str]:
    """Return the events of markets a, b, c …"""
    bundle = read(a_bundle(folder, pages, ["v,a,2026-01-03,0.4"]))
    return [record.pages[0].event_id for record in bundle.markets.values()]


def test_a_price_of_a_day_counts_from_the_next_day_on(tmp_path: Path) -> None:
    record = read(a_bundle(tmp_path, prices=["v,a,2026-01-03,0.4", "v,a,2026-01-05,0.7"])).markets[A]
    assert record.quote(on(3, 23)) is None
    first = record.quote(on(4))
    second = record.quote(on(9))
    assert first is not None
    assert second is not None
    assert (first.mid, first.at) == (usd("0.4"), on(4))
    assert (second.mid, second.at) == (usd("0.7"), on(6))
    assert record.quote(on(5, 23)) == first
    assert record.daily


def test_a_price_of_an_instant_counts_from_then_on_in_any_time_zone(tmp_path: Path) -> None:
    record = read(a_bundle(tmp_path, prices=["v,a,2026-01-03T12:00:00+02:00,0.4"])).markets[A]
    assert record.quote(on(3, 9)) is None
    found = record.quote(on(3, 10))
    assert found is not None
    assert found.at == on(3, 10)
    assert not record.daily


def test_all_that_a_price_may_say(tmp_path: Path) -> None:
    header = f"{HEADER},kind,bid,ask,last,volume"
    folder = a_bundle(tmp_path, prices=["v,a,2026-01-03,,seen,0.39,4.1e-1,0.40,12000.5"], header=header)
    quote = read(folder).markets[A].quotes[0]
    prices = (quote.bid, quote.ask, quote.mid, quote.last, quote.volume)
    assert prices == (usd("0.39"), usd("0.41"), None, usd("0.40"), usd("12000.5"))


def test_a_book_is_best_first_and_one_with_the_price_of_its_instant(tmp_path: Path) -> None:
    book = {"venue": "v", "id": "a", "at": "2026-01-03", "bids": [["0.38", 5], ["0.39", 1.5]],
            "asks": [["0.44", "2"], [0.42, "7"]]}  # fmt: skip
    later = book | {"at": "2026-01-04", "asks": []}
    quotes = read(a_bundle(tmp_path, books=[book, later])).markets[A].quotes
    assert [quote.at for quote in quotes] == [on(4), on(5)]
    assert quotes[0].bids == (Level(usd("0.39"), usd("1.5")), Level(usd("0.38"), usd(5)))
    assert quotes[0].asks == (Level(usd("0.42"), usd(7)), Level(usd("0.44"), usd(2)))
    assert (quotes[0].bid, quotes[0].ask, quotes[0].mid) == (usd("0.39"), usd("0.42"), usd("0.4"))
    assert (quotes[1].bid, quotes[1].ask, quotes[1].mid) == (usd("0.39"), None, None)


def test_an_end_of_a_day_is_known_from_the_next_day_on_and_corrections_follow(tmp_path: Path) -> None:
    pages = [page("a", **ended("2026-01-09", 1.0)), page("b")]
    ends = ["v:a,2,2026-01-11T08:00:00Z,0.5,they changed their mind", "v:b,1,2026-01-12,refund,"]
    markets = read(a_bundle(tmp_path, pages, ends=ends)).markets
    assert markets[A].ends == (
        Resolution(A, 1, on(10), usd(1)),
        Resolution(A, 2, on(11, 8), usd("0.5"), "they changed their mind"),
    )
    assert markets[B].ends == (Resolution(B, 1, on(13), None),)


def test_a_page_counts_from_when_it_was_seen(tmp_path: Path) -> None:
    pages = [page(question="New?", seen="2026-01-05T12:00:00Z"), page(question="Old?")]
    record = read(a_bundle(tmp_path, pages)).markets[A]
    assert [getattr(record.page(at), "question", "") for at in (on(1), on(5, 11), on(5, 12))] == [
        "Old?", "Old?", "New?",
    ]  # fmt: skip
    with_first = read(a_bundle(tmp_path, pages[:1])).markets[A]
    assert with_first.page(on(5, 11)) is None


def test_the_rules_are_what_the_line_says_or_put_together(tmp_path: Path) -> None:
    parts = {"background": "Some history.", "resolution_criteria": "YES if so.",
             "market_resolution_criteria": "N/A"}  # fmt: skip
    pages = [page("a"), page("b", **parts), page("c", rules="Read this.", **parts)]
    rules = [record.pages[0].rules for record in read(a_bundle(tmp_path, pages)).markets.values()]
    assert rules == ["Will a happen?", "Some history.\n\nYES if so.", "Read this."]


def test_events_are_named_or_share_a_background_or_form_a_ladder(tmp_path: Path) -> None:
    def asks(market_id: str, question: str, **more: str) -> dict[str, Any]:
        return page(market_id, event="", question=question, **more)

    story = {"background": "The cup of 2026."}
    found = events(
        tmp_path,
        asks("a", "Will red win?", **story),
        asks("b", "Will blue win?", **story),
        asks("c", "Will it cost more than $5?"),
        asks("d", "Will it cost more than $9?"),
        asks("e", "Will the king abdicate?"),
        page("f", event="mine", **story),
        asks("g", "Will the queen abdicate?", background="N/A"),
        asks("h", "Will the prince abdicate?", background="N/A"),
    )
    assert found[0] == found[1] != found[2] == found[3]
    assert found[4:] == ["v:e", "mine", "v:g", "v:h"]


def test_stories_are_named_or_what_is_asked_where_no_event_is(tmp_path: Path) -> None:
    pages = [
        page("a", event="", question="Will Peru win the 2026 World Cup?"),
        page("b", event="", question="Will Brazil win the 2026 World Cup?"),
        page("c", event="mine", question="Will Chile win the 2026 World Cup?"),
        page("d", event="mine", story="the cup", question="Will Cuba win the 2026 World Cup?"),
        page("e", event="", question="?"),
    ]
    found = [record.pages[0].story for record in read(a_bundle(tmp_path, pages)).markets.values()]
    assert found == ["v:win the 2026 world cup", "v:win the 2026 world cup", "", "the cup", ""]


def test_packed_or_not_it_is_the_same_recording(tmp_path: Path) -> None:
    plain = a_bundle(tmp_path / "plain", books=[])
    packed = tmp_path / "packed"
    packed.mkdir()
    for file in plain.iterdir():
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    plainly = read(plain).markets
    assert read(packed).markets == plainly


def test_the_content_is_another_when_anything_is(tmp_path: Path) -> None:
    """It goes by what is said, not by how it is written or in which order."""
    first, second = "v,a,2026-01-03,0.4", "v,a,2026-01-05,0.7"
    plain = read(a_bundle(tmp_path / "plain", [page("a"), page("b")], [first, second]))
    turned = read(a_bundle(tmp_path / "turned", [page("b"), page("a")], [second, "v,a,2026-01-03,0.40"]))
    assert (turned.content, turned.markets) == (plain.content, plain.markets)
    assert turned.files != plain.files
    others = [
        a_bundle(tmp_path / "price", [page("a"), page("b")], [first, "v,a,2026-01-05,0.71"]),
        a_bundle(tmp_path / "time", [page("a"), page("b")], [first, "v,a,2026-01-06,0.7"]),
        a_bundle(tmp_path / "rules", [page("a", rules="Other."), page("b")], [first, second]),
        a_bundle(tmp_path / "end", [page("a", **ended("2026-01-09", 1)), page("b")], [first, second]),
        a_bundle(tmp_path / "paid", [page("a", **ended("2026-01-09", 0)), page("b")], [first, second]),
    ]
    assert len({plain.content, *(read(folder).content for folder in others)}) == len(others) + 1


def test_a_close_beyond_all_that_a_bundle_tells_of_is_never(tmp_path: Path) -> None:
    pages = [page("a", close="2525-06-01"), page("b", close="2199-12-31T23:59:59Z")]
    markets = read(a_bundle(tmp_path, pages)).markets
    assert [markets[each].pages[0].closes_at.year for each in (A, B)] == [9999, 2199]


def test_times_that_cannot_be_right_are_warnings_with_their_lines(tmp_path: Path) -> None:
    pages = [page("a"), page("b", **ended("2025-06-01", 1)), page("c", **ended("2026-01-05", 0))]
    prices = ["v,a,2026-01-03,0.4", "v,a,2026-01-30,0.9", "v,c,2026-01-12,0.5"]
    report = check(a_bundle(tmp_path, pages, prices, ends=["v:a,1,2026-01-10,1,"]))
    assert report.ok
    early, late = map(str, report.warnings)
    assert early.startswith(
        "markets.jsonl:2: found v:b ended 2025-06-02, expected an end after it opened, 2026"
    )
    assert late == (
        "resolutions.csv:2: found v:a ended 2026-01-11, expected an end near its last price, 2026-01-31"
    )


def test_a_recording_in_use_is_read_once_and_again_when_a_byte_has_changed(tmp_path: Path) -> None:
    folder = a_bundle(tmp_path)
    held = read(folder)
    assert read(folder) is held
    a_bundle(tmp_path, prices=["v,a,2026-01-03,0.5"])
    assert read(folder).content != held.content


def test_a_folder_that_is_broken_is_not_taken_for_one_in_use(tmp_path: Path) -> None:
    folder = a_bundle(tmp_path)
    held = read(folder)
    for name in ("books.jsonl", "books.jsonl.gz"):
        (folder / name).write_bytes(b"")
    with pytest.raises(BadBundle, match="one of them"):
        read(folder)
    assert held.content


def test_the_report_counts_what_is_there(tmp_path: Path) -> None:
    report = check(a_bundle(tmp_path, [page("a"), page("b", **ended("2026-01-09", 0))]))
    assert (report.ok, report.markets, report.prices, report.books, report.resolutions) == (True, 2, 1, 0, 1)
    assert (report.events, report.first, report.last) == (2, on(4), on(4))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "found no JSON, expected one JSON object on the line"),
        ("[1]", "found JSON that is not an object, expected one JSON object on the line"),
        ('{"a": NaN}', "found NaN, expected a number"),
        ('{"id": 1, "id": 2}', "found a key that appears twice, expected every key once"),
        ("[" * 100_000, "found no JSON, expected one JSON object on the line"),
        ("9" * 5000, "found no JSON, expected one JSON object on the line"),
        (
            page("b", venue="../up"),
            'found venue "../up", expected a venue\'s name in letters, digits or . _ -',
        ),
        (page("two words"), 'found id "two words", expected a market\'s id at its venue, up to 200'),
        (page("b") | {"id": 7}, "found id 7, expected"),
        (page("b", question=" "), 'found question " ", expected a text'),
        (page("b", question="a\0b"), 'found question "a\\u0000b", expected a text'),
        (json.dumps(page("b", rules="\ud800")), 'found rules "'),
        (page("b", rules="x" * 100_001), "expected a text of at most 100,000 characters"),
        (
            page("b", close="2026-01-01"),
            'found open "2026-01-01" with close "2026-01-01", expected open before',
        ),
        (page("b", close="tomorrow"), 'found close "tomorrow", expected a date such as "2026-01-31", or an'),
        (page("b", close="2026-02-30"), 'found close "2026-02-30", expected a date such as'),
        (page("b", close="2026-02-01T10:00:00"), "expected a date such as"),
        (page("b", close="9999-13-31"), 'found close "9999-13-31", expected a date such as'),
        (page("b", open="2200-01-01"), "expected a year from 1970 to 2199"),
        (page("b", close="\u202e2026"), r'found close "\u202e2026", expected a date such as'),
        (page("b", tick=2), "found tick 2, expected a number from 0 to 1"),
        (page("b", resolved="yes"), 'found resolved "yes" with resolution nothing, expected resolved true'),
        (page("b", resolution=1), "found resolved false with resolution 1, expected resolved true"),
        (page("b", **ended("2026-01-09", 1.01)), 'expected a number from 0 to 1, or "refund"'),
        (page("b", **ended("2026-01-09", True)), "found resolution true, expected a number from 0 to 1"),
        (page("b", resolved=True, resolution=1), "found resolution_date nothing, expected a date such as"),
        (page("a"), "found a second page of v:a, expected one only: the first stands on line 1"),
    ],
)
def test_a_line_of_markets_that_cant_be_meant(tmp_path: Path, line: Any, words: str) -> None:
    (found,) = told(a_bundle(tmp_path, [page("a"), line]))
    assert found.startswith("markets.jsonl:2: found ")
    assert words in found
    assert len(found) < 400


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("v,a,2026-01-04", "found 3 values, expected 4, one for each column"),
        ("v,a,2026-01-04,0.4,0.5", "found 5 values, expected 4, one for each column"),
        ("v,a,2026-01-04,", 'found prob_yes "", expected a number from 0 to 1'),
        ("v,a,2026-01-04,-0.1", 'found prob_yes "-0.1", expected a number from 0 to 1'),
        ("v,a,2026-01-04,1.2", 'found prob_yes "1.2", expected a number from 0 to 1'),
        ("v,a,2026-01-04,nan", 'found prob_yes "nan", expected a number from 0 to 1'),
        ("v,a,2026-01-04,1e999", 'found prob_yes "1e999", expected a number from 0 to 1'),
        ("v,a,2026-01-04,½", 'found prob_yes "½", expected a number from 0 to 1'),
        ("v,a,04.01.2026,0.4", 'found date "04.01.2026", expected a date such as'),
        ("v,a,2026-01-03,0.5", "found a second price of v:a known from 2026-01-04 00:00, expected one only"),
        ("v,b,2026-01-04,0.4", 'found the market "v:b", expected a market of markets.jsonl'),
        ('v,a,2026-01-04,"0.4', "found no row"),
        ("v,a,2026-01-04,\udcff", "found bytes that are not text, expected text in UTF-8"),
    ],
)  # fmt: skip
def test_a_row_of_prices_that_cant_be_meant(tmp_path: Path, row: str, words: str) -> None:
    folder = a_bundle(tmp_path)
    with (folder / "prices.csv").open("ab") as file:
        file.write(f"{row}\n".encode(errors="surrogateescape"))
    (found,) = told(folder)
    assert found.startswith("prices.csv:3: ")
    assert words in found


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            "venue,id,date",
            "found no column prob_yes, expected venue,id,date,prob_yes and, where known, kind,bid",
        ),
        ("venue,id,date,prob_yes,prob_no", 'found the column "prob_no", expected venue,id,date,prob_yes'),
        ("venue,id,date,prob_yes,date", 'found the column "date", expected venue,id,date,prob_yes'),
    ],
)
def test_columns_are_the_known_ones(tmp_path: Path, header: str, words: str) -> None:
    (found,) = told(a_bundle(tmp_path, prices=[], header=header))
    assert found.startswith(f"prices.csv:1: {words}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bids": 5}, "found bids 5, expected a list of at most 10,000 levels"),
        ({"asks": [[0.5]]}, 'found asks with ["0.5"], expected a price and a number of shares, such as ["0'),
        ({"asks": [["1", "5"]]}, 'found asks with ["1", "5"], expected a price between 0 and 1, and shares'),
        ({"asks": [["0.4", "0"]]}, 'found asks with ["0.4", "0"], expected a price between 0 and 1'),
        ({"asks": [["0.4", "-1"]]}, 'found shares "-1", expected a number from 0 to a trillion'),
        ({"id": "b"}, 'found the market "v:b", expected a market of markets.jsonl'),
    ],
)
def test_a_line_of_books_that_cant_be_meant(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    book = {"venue": "v", "id": "a", "at": "2026-01-03", "bids": [], "asks": []}
    (found,) = told(a_bundle(tmp_path, books=[book, book | {"at": "2026-01-04"} | change]))
    assert found.startswith(f"books.jsonl:2: {words}")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("v:a,1,2026-01-09,1,", "found version 1 of how v:a ended, expected version 2"),
        ("v:a,3,2026-01-09,1,", "found version 3 of how v:a ended, expected version 2"),
        ("v:a,two,2026-01-09,1,", 'found version "two", expected a whole number from 1 on'),
        (
            "v:a,2,2026-01-05,1,",
            "found a version of v:a known before the last one, expected versions in order",
        ),
        ("v:a,2,2026-01-09,yes,", 'found payout "yes", expected a number from 0 to 1, or "refund"'),
        ("a,2,2026-01-09,1,", 'found id "", expected a market\'s id at its venue'),
        ("v:b,1,2026-01-09,1,", 'found the market "v:b", expected a market of markets.jsonl'),
    ],
)
def test_a_row_of_resolutions_that_cant_be_meant(tmp_path: Path, row: str, words: str) -> None:
    (found,) = told(a_bundle(tmp_path, ends=["v:a,1,2026-01-08,1,", row]))
    assert found.startswith(f"resolutions.csv:3: {words}")


def test_the_number_is_that_of_the_line_whatever_stands_before(tmp_path: Path) -> None:
    folder = a_bundle(tmp_path, ends=['v:a,1,2026-01-08,1,"two', 'lines"', "", "v:a,5,2026-01-09,1,"])
    assert told(folder)[0].startswith("resolutions.csv:5: found version 5")


def test_a_market_without_a_page_is_told_once_and_not_where_the_list_itself_is_broken(tmp_path: Path) -> None:
    rows = ["v,b,2026-01-03,0.4", "v,b,2026-01-04,0.4", "v,c,2026-01-04,0.4"]
    assert len(told(a_bundle(tmp_path, prices=rows))) == 2
    assert len(told(a_bundle(tmp_path, [page(), "{"], rows))) == 1


def test_the_first_mistakes_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    folder = a_bundle(tmp_path, prices=["v,a"] * (MOST + 20))
    assert len(told(folder)) == MOST
    assert check(folder).wrong == MOST + 20
    with pytest.raises(BadBundle, match="120 mistakes in it") as caught:
        read(folder)
    assert len(caught.value.message.splitlines()) == 12
    assert caught.value.message.endswith("and 110 more")


def test_a_bundle_that_isnt_whole(tmp_path: Path) -> None:
    gone, twice, linked, folder, cut, plain = (a_bundle(tmp_path / name) for name in "abcdef")
    (gone / "prices.csv").unlink()
    (twice / "prices.csv.gz").write_bytes(gzip.compress(b""))
    (linked / "prices.csv").rename(tmp_path / "elsewhere.csv")
    (linked / "prices.csv").symlink_to(tmp_path / "elsewhere.csv")
    (folder / "prices.csv").unlink()
    (folder / "prices.csv").mkdir()
    (cut / "prices.csv.gz").write_bytes(gzip.compress((cut / "prices.csv").read_bytes())[:-9])
    (cut / "prices.csv").unlink()
    (plain / "prices.csv").rename(plain / "prices.csv.gz")
    for broken, words in (
        (tmp_path / "nowhere", "nowhere: found no such folder, expected a folder with a recording"),
        (gone, "prices.csv: found no such file, expected prices.csv or prices.csv.gz"),
        (twice, "prices.csv: found both prices.csv and prices.csv.gz, expected one of them"),
        (linked, "prices.csv: found a file outside this folder, expected a regular file"),
        (folder, "prices.csv: found a file outside this folder, expected a regular file"),
        (cut, "prices.csv.gz:3: found unreadable data (Compressed file ended before the"),
        (plain, "prices.csv.gz:1: found unreadable data (Not a gzipped file"),
    ):
        assert told(broken)[0].startswith(words)


def test_what_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markets.bundle.files.MOST_BYTES", 300)
    folder = a_bundle(tmp_path, prices=[f"v,a,2026-01-{day:02},0.4" for day in range(1, 31)])
    monkeypatch.setattr("markets.bundle.files.MOST_LINE", 400)
    (found,) = told(folder)
    assert found.startswith("prices.csv:")
    assert found.endswith("found more than fits, expected at most 400 bytes a line, 300 a file")
    assert isinstance(read(a_bundle(tmp_path)), Bundle)
