"""Folders of questions: what their files say, when it is known, and each fault by file, line and field."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from markets.distributions import form_of
from markets.millionths import ONE
from markets.model import MarketId
from markets.question_files.asked import QuestionFolder
from markets.question_files.folder_reader import read_folder
from markets.venue import QuarantinedRecord, VenueError
from markets.venues.questions import QuestionVenue, Settings, venue
from tests.builders import result_of

HEAD = "id,question,kind,options,odds,low,high,open_low,open_high,unit,background,source,opens,closes\n"
RAIN = "rain,Will it rain?,,,0.7,,,,,,Wet so far,The gauge,2026-01-01,2026-01-10\n"
RATE = "rate,How high?,numeric,,,0,10,no,yes,%,,,2026-01-02T12:00+02:00,2026-01-10\n"
ENDS = "id,outcome,known_at\n"
OPENS = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def a_folder(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def read(folder: Path, **files: str) -> QuestionFolder:
    """Read a folder of CSV files, of which only these have rows."""
    texts = {f"{name}.csv": text for name, text in files.items()}
    return read_folder(a_folder(folder, texts))


def opened(folder: Path) -> tuple[QuestionVenue, list[QuarantinedRecord]]:
    """Open a folder as a venue, with what it sets aside."""
    set_aside: list[QuarantinedRecord] = []
    return venue(Settings(folder=folder), set_aside.append), set_aside


def test_a_row_is_a_question_and_later_rows_of_resolutions_are_corrections(tmp_path: Path) -> None:
    ends = ENDS + "rain,yes,2026-01-10\nrate,4.50,2026-01-05T06:00Z\nrain,annulled,2026-01-12\n"
    found = read(tmp_path, questions=HEAD + RAIN + RATE, resolutions=ends)
    assert found.faults == ()

    rain, rate = found.questions.values()
    assert rain.market.id == "questions:rain"
    assert rain.market.rules == "Wet so far\n\nDecided by: The gauge"
    assert (rain.market.opens_at, rain.market.closes_at) == (OPENS, OPENS + 9 * DAY)
    quote = rain.listing(OPENS).quote
    assert quote is not None
    assert (quote.mid, quote.bid, quote.ask, quote.at) == (700_000, None, None, OPENS)

    assert rate.market.opens_at == datetime(2026, 1, 2, 10, tzinfo=UTC)
    assert form_of(rate.market.form).unit == "%"
    assert rate.listing(OPENS + 2 * DAY).quote is None

    # A day ends before anything of it is known; what a question came to is read by its kind.
    assert [(end.version, end.payout, end.answer) for end in rain.ends] == [(1, ONE, ""), (2, None, "")]
    assert rain.ends[0].known_at == OPENS + 10 * DAY
    assert [(end.payout, end.answer) for end in rate.ends] == [(None, "4.5")]


def test_lines_of_json_say_the_same_as_rows(tmp_path: Path) -> None:
    told = {
        "id": "cup",
        "question": "Who wins?",
        "kind": "multiple_choice",
        "options": ["A; B", "C"],
        "odds": [0.3333, 0.6666],
        "opens": "2026-01-01",
        "closes": "2026-01-10",
    }
    a_folder(tmp_path, {"questions-1.jsonl": json.dumps(told) + "\n", "resolutions.csv": ENDS})
    (asked,) = read_folder(tmp_path).questions.values()
    assert form_of(asked.market.form).options == ("A; B", "C")
    assert form_of(asked.listing(OPENS).market.form).odds == (333_333, 666_667)


@pytest.mark.parametrize(
    ("row", "place", "words"),
    [
        ("rain,Again?,,,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: id", "another question has it"),
        ("a b,What?,,,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: id", "is no id"),
        ("a,,,,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: question", "it is empty"),
        ("a,What?,maybe,,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: kind", "is no kind of question"),
        ("a,What?,,x;y,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: kind", "has no options"),
        ("a,Who?,multiple_choice,x;X,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: options", "twice"),
        (
            "a,Who?,multiple_choice,x;y,0.5,,,,,,,,2026-01-01,2026-01-10",
            "questions.csv:3: odds",
            "there are 1",
        ),
        (
            "a,Who?,multiple_choice,x;y,0.5;0.4,,,,,,,,2026-01-01,2026-01-10",
            "questions.csv:3: odds",
            "add up to 0.9",
        ),
        ("a,What?,,,7,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3: odds", "is not a probability"),
        ("a,How?,numeric,,,,9,,,,,,2026-01-01,2026-01-10", "questions.csv:3: low", "it is empty"),
        ("a,How?,numeric,,,9,1,,,,,,2026-01-01,2026-01-10", "questions.csv:3: high", "is not above low"),
        ("a,How?,numeric,,0.5,1,9,,,,,,2026-01-01,2026-01-10", "questions.csv:3: odds", "there are 1"),
        ("a,How?,numeric,,,1,9,perhaps,,,,,2026-01-01,2026-01-10", "questions.csv:3: open_low", "neither"),
        ("a,When?,date,,,2026-02-30,2026-03-01,,,,,,2026-01-01,2026-01-10", "questions.csv:3: low", "is not"),
        ("a,What?,,,,,,,,,,,1 May,2026-01-10", "questions.csv:3: opens", "is not a time"),
        ("a,What?,,,,,,,,,,,2026-01-01,", "questions.csv:3: closes", "it is empty"),
        ("a,What?,,,,,,,,,,,2026-01-11,2026-01-10", "questions.csv:3: closes", "closes before it opens"),
        ("a,What?,,,,,,,,,,,9999-01-11,9999-12-10", "questions.csv:3: opens", "not in our times"),
        ("a,What?,,,,,,,,,,2026-01-01,2026-01-10", "questions.csv:3", "it has 13 cells"),
    ],
)
def test_a_faulty_question_is_set_aside_by_its_place(
    row: str, place: str, words: str, tmp_path: Path
) -> None:
    found = read(tmp_path, questions=HEAD + RAIN + row + "\n")
    told = [fault for fault in found.faults if fault.place == place]
    assert words in told[0].text
    assert all(fault.hint for fault in found.faults)
    assert list(found.questions) == ["questions:rain"], "the others are played"

    playing, set_aside = opened(tmp_path)
    assert len(result_of(playing.catalogue(OPENS)).listings) == 1
    assert [aside.reason for aside in set_aside] == [fault.text for fault in found.faults]


@pytest.mark.parametrize(
    ("row", "place", "words"),
    [
        ("snow,yes,2026-01-10", "resolutions.csv:2: id", "there is no such question"),
        ("rain,maybe,2026-01-10", "resolutions.csv:2: outcome", "is not yes or no"),
        ("rate,-1,2026-01-10", "resolutions.csv:2: outcome", "is below 0"),
        ("rate,high,2026-01-10", "resolutions.csv:2: outcome", "high"),
        ("rain,,2026-01-10", "resolutions.csv:2: outcome", "it is empty"),
        ("rain,yes,", "resolutions.csv:2: known_at", "it is empty"),
        ("rain,yes,2025-12-01", "resolutions.csv:2: known_at", "before the question opened"),
        (
            "rain,yes,2026-01-10\nrain,no,2026-01-09",
            "resolutions.csv:3: known_at",
            "not after what the question came to before",
        ),
    ],
)
def test_a_faulty_outcome_is_set_aside_by_its_place(row: str, place: str, words: str, tmp_path: Path) -> None:
    found = read(tmp_path, questions=HEAD + RAIN + RATE, resolutions=f"{ENDS}{row}\n")
    (fault,) = found.faults
    assert fault.place == place
    assert words in fault.text
    assert fault.kind == "resolution"
    assert len(found.questions) == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "holds no questions"),
        ({"question.csv": HEAD + RAIN}, "question.csv: it is neither questions nor resolutions"),
        ({"questions.csv": HEAD + RAIN, "resolution.csv": ENDS}, "resolution.csv: it is neither"),
        ({"questions.csv": "id,question,opens\n"}, "questions.csv:1: closes: there is no such column"),
        ({"questions.csv": "id,question,opens,closes,optoins\n"}, "questions.csv:1: optoins: nothing has"),
        ({"questions.csv": HEAD + ',"What?\n'}, "questions.csv:2: this is not CSV"),
        ({"questions.csv": HEAD + ",What?,,,,,,,,,,,2026-01-01,2026-01-10\n"}, "questions.csv:2: id"),
        ({"questions.jsonl": "{\n"}, "questions.jsonl:1: this is not JSON"),
        ({"questions.csv": HEAD + RAIN, "resolutions.csv": "id,outcome\n"}, "known_at: there is no such"),
    ],
)
def test_nothing_is_played_while_a_whole_file_is_of_no_use(
    files: Mapping[str, str], words: str, tmp_path: Path
) -> None:
    playing, _ = opened(a_folder(tmp_path, files))
    for asked in (playing.catalogue(OPENS), playing.resolutions(OPENS, [MarketId("questions:rain")])):
        with pytest.raises(VenueError) as raised:
            result_of(asked)
        assert words in raised.value.message
        assert raised.value.stops
        assert raised.value.hint


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("options", ["Red", None]),
        ("options", ["Red", {"Blue": 1}]),
        ("options", ["Red", "Blue\ud800"]),
        ("question", "What\ud800?"),
        ("background", "so\0 far"),
        ("unit", ["m"]),
    ],
)
def test_what_is_no_text_or_cannot_be_stored_is_a_fault(field: str, value: object, tmp_path: Path) -> None:
    told: dict[str, object] = {"id": "a", "question": "What?", "kind": "multiple_choice"}
    told |= {"options": ["Red", "Blue"], "opens": "2026-01-01", "closes": "2026-01-10", field: value}
    found = read_folder(a_folder(tmp_path, {"questions.jsonl": json.dumps(told)}))
    assert not found.questions
    assert {(fault.field, fault.line) for fault in found.faults} == {(field, 1)}


def test_a_link_to_nowhere_is_a_fault(tmp_path: Path) -> None:
    a_folder(tmp_path, {"questions.csv": HEAD + RAIN})
    (tmp_path / "questions2.csv").symlink_to(tmp_path / "nowhere")
    playing, _ = opened(tmp_path)
    with pytest.raises(VenueError, match=r"questions2\.csv: it can't be read"):
        result_of(playing.catalogue(OPENS))


def test_a_file_that_is_no_text_stops_it_too(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_bytes(HEAD.encode() + b"rain,\xff\n")
    playing, _ = opened(tmp_path)
    with pytest.raises(VenueError) as raised:
        result_of(playing.catalogue(OPENS))
    assert "questions.csv:2: this is not UTF-8" in raised.value.message


def test_nothing_shows_before_its_time(tmp_path: Path) -> None:
    ends = ENDS + "rain,yes,2026-01-05T06:00Z\nrain,no,2026-01-20\n"
    a_folder(tmp_path, {"questions.csv": HEAD + RAIN + RATE, "resolutions.csv": ends})
    playing, _ = opened(tmp_path)
    ids = [MarketId("questions:rate"), MarketId("questions:rain")]

    def offered(at: datetime) -> list[str]:
        return [listing.market.id for listing in result_of(playing.catalogue(at)).listings]

    assert offered(OPENS - DAY) == []
    assert offered(OPENS) == ["questions:rain"]
    assert offered(OPENS + 4 * DAY) == ["questions:rain", "questions:rate"]
    assert offered(OPENS + 5 * DAY) == ["questions:rate"], "what has ended is asked no more"
    assert offered(OPENS + 9 * DAY) == []

    assert [listing.market.id for listing in result_of(playing.listings(OPENS, ids))] == ["questions:rain"]
    assert [listing.market.id for listing in result_of(playing.listings(OPENS + 9 * DAY, ids))] == ids
    assert result_of(playing.resolutions(OPENS + 4 * DAY, ids)) == []
    assert [end.version for end in result_of(playing.resolutions(OPENS + 5 * DAY, ids))] == [1]
    assert [end.version for end in result_of(playing.resolutions(OPENS + 30 * DAY, ids))] == [1, 2]


def test_a_changed_file_is_read_again_and_a_question_that_is_gone_is_told(tmp_path: Path) -> None:
    a_folder(tmp_path, {"questions.csv": HEAD + RAIN + RATE})
    playing, set_aside = opened(tmp_path)
    ids = [MarketId("questions:rain"), MarketId("questions:rate")]
    assert len(result_of(playing.listings(OPENS + 4 * DAY, ids))) == 2

    a_folder(tmp_path, {"questions.csv": HEAD + RAIN.replace("rain?", "rain or snow?")})
    (listing,) = result_of(playing.listings(OPENS + 4 * DAY, ids))
    assert listing.market.question == "Will it rain or snow?"

    assert set_aside == []
    result_of(playing.resolutions(OPENS + 4 * DAY, ids))
    assert [(aside.record, aside.code) for aside in set_aside] == [("rate", "vanished")]


def test_settings_say_whether_time_passes() -> None:
    assert (Settings().stamp, Settings(live=True).stamp) == ("replay", "live")
    assert Settings(folder=Path("x"), live=True).model_dump() == {"live": True}


def test_options_without_a_semicolon_are_one_option(tmp_path: Path) -> None:
    found = read(tmp_path, questions=HEAD + 'a,Who?,multiple_choice,"x,y",,,,,,,,,2026-01-01,2026-01-10\n')
    hint = "give the names of 2 to 200 options, with a semicolon between them"
    assert f"there is 1 option → {hint}" in found.faults[0].text
