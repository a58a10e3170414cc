"""Logs of Inspect become questions, outcomes and each model's probabilities, beside the logs' own metrics."""

from datetime import UTC, datetime
from io import BytesIO
from zipfile import ZipFile, ZipInfo
from zlib import crc32

import pyarrow as pa
import pytest

from arena.forms.model import SourceFile, SourceLine
from arena.forms.public import inspect_log
from tests.arena.forms import sources
from tests.arena.forms.sources import inspect_sample, json_file, packed_log, zip_file

WEATHER = {
    "market_probability": 0.6,
    "event": "front",
    "category": "sky",
    "resolved": "2026-03-02",
    "as_of": "2026-02-20T00:00:00Z",
}


def samples() -> list[dict[str, object]]:
    """Return samples with the probability in each place where a scorer may write it."""
    answer = {"value": 0.04, "answer": "0.8", "explanation": "clouds"}
    options = {"value": {"probabilities": {"Rain": 0.25, "Snow": 0.75}, "correct": 1}}
    return [
        inspect_sample(1, "Yes", answer, metadata=WEATHER),
        inspect_sample(2, ["no"], {"value": "I", "answer": " 30% "}, metadata={"price": 250}),
        inspect_sample(3, "1", {"value": {"probability": 0.9, "brier": 0.01}, "answer": "Yes"}),
        inspect_sample(4, "", {"value": 0.5, "metadata": {"p_yes": 0.7}}),
        inspect_sample(5, "B", options, choices=["Rain", "Snow"]),
        inspect_sample(6, "yes", None, scores={"probability": {"value": 0.2}}),
        inspect_sample(7, "yes", {"value": 0.04}),  # a Brier score is no probability
        inspect_sample(8, "no", {"value": float("nan"), "answer": "0.8"}),
        inspect_sample(9, "no", answer, error={"message": "timed out"}),
        inspect_sample(10, "no", answer, limit={"type": "token", "limit": 9}),
    ]


def test_a_log_is_read_packed_or_not() -> None:
    log = sources.inspect_log("owl/1", *samples())
    packed = packed_log("logs/a.eval", sources.inspect_log("owl/1", *samples()))

    data = inspect_log.read([json_file("logs/a.json", log)])

    assert [(x.question, x.probability) for x in data.forecasts] == [
        ("1", 0.8),
        ("2", 0.3),
        ("3", 0.9),
        ("4", 0.7),
        ("5", None),
        ("6", 0.2),
        ("7", None),
        ("8", None),
        ("9", None),
        ("10", None),
    ]
    first = data.forecasts[0]
    options = data.forecasts[4]
    assert (first.forecaster, first.price, first.reason) == ("owl/1", 0.6, "clouds")
    assert first.made == datetime(2026, 2, 20, tzinfo=UTC)
    assert first.place == SourceLine("logs/a.json", 1, "samples")
    assert options.options == {"Rain": 0.25, "Snow": 0.75}
    assert data.forecasts[1].price is None

    rain = data.questions[0]
    assert (rain.key, rain.title, rain.event, rain.category) == ("1", "Question 1?", "front", "sky")
    assert data.questions[4].options == ("Rain", "Snow")
    assert {x.question: x.value for x in data.outcomes} == {
        "1": 1,
        "2": 0,
        "3": 1,
        "5": "Snow",
        "6": 1,
        "7": 1,
        "8": 0,
        "9": 0,
        "10": 0,
    }
    assert data.outcomes[0].resolved == datetime(2026, 3, 2, tzinfo=UTC)
    (figure,) = data.published
    assert (figure.forecaster, figure.name, figure.value) == ("owl/1", "brier mean", 0.1)
    assert data.faults == ()

    again = inspect_log.read([packed])
    assert again.questions == data.questions
    assert [(x.question, x.probability) for x in again.forecasts] == [
        (x.question, x.probability) for x in data.forecasts
    ]


def test_logs_are_forecasters_and_epochs_are_one_forecast() -> None:
    def asked(share: str, epoch: int = 1, **fields: object) -> dict[str, object]:
        return inspect_sample(1, "yes", {"value": 0, "answer": share}, epoch=epoch, **fields)

    twice = sources.inspect_log(
        "owl", asked("0.5"), asked("0.9", 2), asked("0.9", 3, error={"message": "no"})
    )
    once = json_file("b.json", sources.inspect_log("hare", asked("0.4")))
    again = json_file("c.json", sources.inspect_log("owl", asked("0.3")))
    other = json_file("d.json", sources.inspect_log("owl", asked("0.2"), task="politics"))

    data = inspect_log.read([json_file("a.json", twice), once, again])

    assert [(x.forecaster, x.question, x.probability) for x in data.forecasts] == [
        ("owl", "1", pytest.approx(0.7)),
        ("hare", "1", 0.4),
        ("owl (2)", "1", 0.3),
    ]
    assert [x.forecaster for x in data.published] == ["owl", "hare", "owl (2)"]
    assert data.notes == ("owl (2) is c.json", "a.json has several epochs: their mean is the forecast")

    apart = inspect_log.read([once, other])
    assert [(x.forecaster, x.question) for x in apart.forecasts] == [
        ("hare", "weather: 1"),
        ("owl", "politics: 1"),
    ]
    assert [x.question for x in apart.outcomes] == ["weather: 1", "politics: 1"]


def test_a_question_is_the_last_message_of_the_user() -> None:
    messages = [
        {"role": "system", "content": "Forecast."},
        {"role": "user", "content": "Rain?"},
        {"role": "assistant", "content": "Hm."},
    ]
    sample = inspect_sample("a", "yes", {"value": 1, "answer": "0.5"}, input=messages)

    data = inspect_log.read([json_file("a.json", sources.inspect_log("owl", sample))])

    assert data.questions[0].title == "Rain?"


def test_each_fault_is_told_by_its_place() -> None:
    answer = {"value": 0, "answer": "0.5"}
    options = {"value": {"probabilities": {"Rain": 2, "Snow": 0.5}}}
    log = sources.inspect_log(
        "",
        inspect_sample("", "yes", answer),
        inspect_sample(2, "perhaps", answer, metadata={"market_probability": 7}),
        inspect_sample(3, "Sun", options),
        "sample",
    )
    silent = sources.inspect_log("owl", inspect_sample(1, "Yes", {"value": "C", "answer": "Yes"}))

    data = inspect_log.read([json_file("a.json", log), json_file("b.json", silent)])

    assert [fault.place for fault in data.faults] == [
        "a.json: log, row 1, eval.model",
        "a.json: samples, row 1, id",
        "a.json: samples, row 2, metadata.market_probability",
        "a.json: samples, row 2, target",
        "a.json: samples, row 3, scores.brier.value.probabilities.Rain",
        "a.json: samples, row 3, target",
        "a.json: samples, row 4, object",
        "b.json: log, row 1, samples",
    ]
    assert all(fault.hint for fault in data.faults)


def test_a_sample_may_ask_several_questions_and_a_log_may_say_whose_it_is() -> None:
    def asked(number: int, made: str, *stated: object) -> dict[str, object]:
        metadata = {"forecasts": list(stated)}
        score = {"value": 0.1, "answer": "2 of 2 markets", "metadata": metadata}
        return inspect_sample(number, "1 YES", score, metadata={"as_of": made})

    rain = {"question": "rain", "title": "Rain?", "event": "sky", "probability": 0.9, "outcome": 1}
    snow = {"question": "snow", "probability": 0.2, "market_probability": 0.3, "outcome": None}
    first = sources.inspect_log("owl", asked(1, "2026-03-01", rain, snow), task="one", forecaster="ann")
    second = sources.inspect_log(
        "owl", asked(1, "2026-03-02", rain | {"probability": 0.5}), task="two", forecaster="ann"
    )
    data = inspect_log.read([json_file("a.json", first), json_file("b.json", second)])

    assert [(x.forecaster, x.question, x.probability, x.price) for x in data.forecasts] == [
        ("ann", "rain", 0.9, None),
        ("ann", "snow", 0.2, 0.3),
        ("ann", "rain", 0.5, None),
    ]
    assert [x.made and x.made.day for x in data.forecasts] == [1, 1, 2]
    assert [(x.key, x.title, x.event) for x in data.questions] == [("rain", "Rain?", "sky"), ("snow", "", "")]
    assert [(x.question, x.value) for x in data.outcomes] == [("rain", 1)]
    assert (data.published, data.notes, data.faults) == ((), (), ())


def test_a_fault_in_one_of_several_forecasts_names_its_place() -> None:
    stated = [{"probability": 2, "question": "rain", "outcome": "perhaps"}, {"probability": 0.5}, "snow"]
    score = {"value": 0.1, "metadata": {"forecasts": [*stated, {"question": "fog", "probability": 0.5}]}}

    data = inspect_log.read([json_file("a.json", sources.inspect_log("owl", inspect_sample(1, "", score)))])

    places = [
        fault.place.removeprefix("a.json: samples, row 1, scores.brier.metadata.") for fault in data.faults
    ]
    assert places == ["forecasts[3]", "forecasts[1].probability", "forecasts[2].question"]


def with_method(file: SourceFile, method: int) -> SourceFile:
    """Return a ZIP whose members say that they are packed in another way."""
    data = bytearray(file.data)

    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(mark)

        while start >= 0:
            data[start + offset : start + offset + 2] = method.to_bytes(2, "little")
            start = data.find(mark, start + 1)

    return SourceFile(file.name, bytes(data))


def with_zstandard(file: SourceFile) -> SourceFile:
    """Return a ZIP whose members are packed with Zstandard, as Inspect does it since 2026."""
    stored = BytesIO()

    with ZipFile(BytesIO(file.data)) as packed, ZipFile(stored, "w") as anew:
        for member in packed.infolist():
            data = packed.read(member)
            written = pa.compress(data, codec="zstd", asbytes=True)
            info = ZipInfo(member.filename)
            anew.writestr(info, written)
            info.file_size = len(data)
            info.CRC = crc32(data)

    return with_method(SourceFile(file.name, stored.getvalue()), 93)


def test_a_log_packed_with_zstandard_is_read() -> None:
    packed = packed_log("a.eval", sources.inspect_log("owl", *samples()))

    data = inspect_log.read([with_zstandard(packed)])

    assert data == inspect_log.read([packed])
    assert data.faults == ()


def test_packed_logs_that_cannot_be_read_are_faults() -> None:
    whole = zip_file("a.eval", {"header.json": sources.inspect_log("owl")})
    zstandard = with_zstandard(whole)
    torn = zstandard.data.replace(
        crc32(ZipFile(BytesIO(whole.data)).read("header.json")).to_bytes(4, "little"), b"abcd"
    )
    written = BytesIO()

    with ZipFile(written, "w") as packed:
        packed.writestr("other.json", "{}")

    files = [
        with_method(whole, 93),
        SourceFile("a.eval", torn),
        with_method(whole, 95),
        SourceFile("b.eval", whole.data[:60]),
        SourceFile("c.eval", written.getvalue()),
        zip_file("d.eval", {"header.json": "{"}),
        zip_file("e.eval", {"header.json": "[1]"}),
    ]

    data = inspect_log.read(files)

    assert [fault.place for fault in data.faults] == [
        "a.eval: file",
        "a.eval: file",
        "a.eval: file",
        "b.eval: file",
        "c.eval: file",
        "d.eval/header.json:1",
        "e.eval: log, row 1, object",
    ]
    assert "inspect log convert" in data.faults[0].hint


def test_a_log_without_samples_is_noted() -> None:
    header = sources.inspect_log("owl") | {"samples": None}

    data = inspect_log.read([json_file("a.json", header)])

    assert data.notes == ("a.json has no samples",)
    assert data.faults == ()
