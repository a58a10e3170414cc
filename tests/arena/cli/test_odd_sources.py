"""Odd and hostile sources of forecasts: each is scored or refused in words, and no cause is told twice."""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.program.in_process import invoke

HEAD = b"question,forecaster,probability,outcome\n"
GOOD = HEAD + b"rain,ann,0.8,1\nsnow,ann,0.1,0\n"
ROW = {"question": "rain", "forecaster": "ann", "probability": 0.8, "outcome": 1}
ARENA_ROW = {
    "ts": "2026-01-01T00:00:00Z", "slug": "rain", "event_id": "1", "question": "Rain?", "closed": False,
    "end_date": "2026-02-01T00:00:00Z", "market_prob": 0.5, "price_ts": None, "url": "", "entrant": "ann",
    "model": "m", "prob": 0.8, "rationale": "", "status": "ok",
}  # fmt: skip
BENCH = {
    "organization": "us", "model": "m", "model_organization": "us", "question_set": "s",
    "forecast_due_date": "2026-03-01",
    "forecasts": [{"id": "a", "source": "manifold", "forecast": 0.5, "resolution_date": None}],
}  # fmt: skip


def as_json(*rows: Any) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_csv", ".csv"), data)
    return packed.getvalue()


def in_parquet(**columns: list[Any]) -> bytes:
    written = io.BytesIO()
    parquet.write_table(pa.table(columns), written)
    return written.getvalue()


SCORED: dict[str, tuple[str, bytes]] = {
    "mark": ("f.csv", b"\xef\xbb\xbf" + GOOD),
    "utf-16": ("f.csv", GOOD.decode().encode("utf-16")),
    "old line ends": ("f.csv", GOOD.replace(b"\n", b"\r")),
    "no last line end": ("f.csv", GOOD.rstrip()),
    "blank lines": ("f.csv", b"\n\n" + GOOD.replace(b"\n", b"\n\n")),
    "packed": ("f.csv.gz", gzip.compress(GOOD)),
    "packed twice by name only": ("f.csv", gzip.compress(GOOD)),
    "tabs": ("f.tsv", GOOD.replace(b",", b"\t")),
    "bars": ("f.txt", GOOD.replace(b",", b"|")),
    "no ending": ("forecasts", GOOD),
    "emoji": ("f.csv", HEAD + "☔ rain,ann 🤖,0.8,1\n".encode()),
    "right to left": ("f.csv", HEAD + "מטר,\u202eann,0.8,1\n".encode()),
    "control characters": ("f.csv", HEAD + b"rain\x1b[31m,ann\x07,0.8,1\n"),
    "very long key": ("f.csv", HEAD + b"r" * 100_000 + b",ann,0.8,1\n"),
    "lines": ("f.jsonl", as_json(ROW)),
    "list": ("f.json", as_json([ROW])),
    "one object": ("f.json", as_json(ROW)),
    "object over lines": ("f.json", json.dumps(ROW, indent=2).encode()),
    "list in an object": ("f.json", as_json({"of": "us", "rows": [ROW]})),
    "parquet": ("f.parquet", in_parquet(**{key: [value] for key, value in ROW.items()})),
    "parquet with an empty cell": (
        "f.parquet",
        in_parquet(question=["a", "b"], forecaster=["x", "x"], probability=[0.5, None], outcome=[1, 0]),
    ),
    "zip": ("f.zip", zipped(f_csv=GOOD)),
    "all open": ("f.csv", HEAD + b"rain,ann,0.8,\n"),
    "a refund": ("f.csv", HEAD + b"rain,ann,0.8,0.5\n"),
    "percent": ("f.csv", HEAD + b"rain,ann,80%,yes\n"),
    "unanswered": ("f.csv", GOOD + b"hail,ann,,1\n"),
    "probabilities of 0 and 1": ("f.csv", HEAD + b"rain,ann,1,0\nsnow,ann,0,1\n"),
    "first year": ("f.csv", b"time," + HEAD + b"0001-01-01T00:00+14:00,rain,ann,0.8,1\n"),
    "columns beside": ("f.csv", b"note,question,forecaster,probability,outcome\n,rain,ann,0.8,1\n"),
}
"""What is read as it is."""

REFUSED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("f.csv", b"", "names the columns: question,forecaster,outcome,probability"),
    "blank": ("f.csv", b" \n\t\n", "the file is empty"),
    "mark alone": ("f.csv", b"\xef\xbb\xbf", "the file is empty"),
    "zero bytes": ("f.csv", b"\0" * 4_000, "there is no column question"),
    "zero bytes inside": ("f.csv", HEAD + b"ra\0in,ann,0.8\0,1\n", "is not a number"),
    "header alone": ("f.csv", HEAD, "it has no forecasts"),
    "picture": ("f.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "this is not UTF-8"),
    "latin": ("f.csv", HEAD + "Zürich,ann,0.8,1\n".encode("latin-1"), "f.csv:2: this is not UTF-8"),
    "half a utf-16": ("f.csv", GOOD.decode().encode("utf-16")[:-1], "this is not UTF-16"),
    "open quote": ("f.csv", GOOD + b'"hail,ann,0.8,1\n', "invalid CSV"),
    "enormous cell": ("f.csv", HEAD + b"r" * 200_000 + b",ann,0.8,1\n", "invalid CSV"),
    "columns twice": ("f.csv", b"question,question,forecaster,probability,outcome\na,b,c,1,1\n", "twice"),
    "torn rows": ("f.csv", HEAD + b"rain,ann,0.8\n" * 900, "(900 such lines: 2, 3, 4, 5, 6 …)"),
    "wide row": ("f.csv", GOOD + b"hail,ann,0.8,1,9,9\n", "it has 6 cells"),
    "enormous number": ("f.csv", HEAD + b"rain,ann," + b"9" * 5_000 + b",1\n", "is not a number"),
    "infinite": ("f.csv", HEAD + b"rain,ann,inf,1\n", "is not a number"),
    "number words": ("f.csv", HEAD + b"rain,ann,likely,1\n" * 1, "'likely' is not a number"),
    "other digits": ("f.csv", HEAD + "rain,ann,٠.٨,1\n".encode(), "is not a number"),
    "all unanswered": ("f.csv", HEAD + b"rain,ann,,1\n", "column probability: it is empty"),
    "nobody": ("f.csv", HEAD + b"rain,,0.8,1\n", "column forecaster: it is empty"),
    "two ends": ("f.csv", GOOD + b"rain,bob,0.8,0\n", "but the same question has '1' in line 2"),
    "coarse keys": ("f.csv", HEAD + b"rain,ann,0.8,1\n" * 50, "seems to name several questions"),
    "far future": ("f.csv", b"time," + HEAD + b"99999999999999,rain,ann,0.8,1\n", "milliseconds"),
    "no such day": ("f.csv", b"time," + HEAD + b"2026-02-30,rain,ann,0.8,1\n", "is not a time"),
    "torn object": ("f.json", b'{"question": "rain"', "invalid JSON"),
    "torn list": ("f.json", b'[{"question": "rain"}', "invalid JSON"),
    "list of numbers": ("f.json", b"[1, 2, 3]", "is not an object"),
    "empty list": ("f.json", b"[]", "it has no forecasts"),
    "empty object": ("f.json", b"{}", "it has no forecasts"),
    "a list in one line": (
        "f.json",
        as_json([ROW | {"probability": 7}] * 900),
        "f.json: list, row 1, probability: '7' is not from 0 to 1 (900 such rows: 1, 2, 3, 4, 5 …)",
    ),
    "numbers beside objects in one line": (
        "f.json",
        as_json([ROW, 7]),
        "f.json: list, row 2: '7' is not an object",
    ),
    "a list in an object in one line": (
        "f.json",
        as_json({"rows": [ROW, ROW | {"question": "snow", "probability": 7}]}),
        "f.json: rows, row 2, probability: '7' is not from 0 to 1",
    ),
    "the same twice in a list in one line": (
        "f.json",
        as_json([ROW, ROW]),
        "f.json: list, row 2, forecaster: 'ann' has forecast the same question in row 1",
    ),
    "keys twice": ("f.json", b'{"question": "a", "question": "b"}', "appears twice"),
    "deep list": ("f.json", b"[" * 200_000 + b"]" * 200_000, "invalid JSON"),
    "deep object": ("f.json", b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "invalid JSON"),
    "deep object in a line": ("f.jsonl", as_json(ROW) + b"\n" + b'{"a":' * 900 + b"1" + b"}" * 900, ""),
    "number of 5,000 digits": ("f.json", b'{"question": ' + b"9" * 5_000 + b"}", "invalid JSON"),
    "not a number in json": (
        "f.json",
        b'{"question": "a", "forecaster": "b", "probability": NaN, "outcome": 1}',
        "",
    ),
    "half a letter": (
        "f.json",
        b'{"question": "\\ud800", "forecaster": "b", "probability": 2, "outcome": 1}',
        "",
    ),
    "object for a probability": (
        "f.json",
        as_json(ROW | {"probability": {"yes": 0.8}}),
        "no column probability",
    ),
    "list for a probability": ("f.json", as_json(ROW | {"probability": [0.8]}), "is not a number"),
    "boolean for a probability": ("f.json", as_json(ROW | {"probability": True}), "is not a number"),
    "no parquet": ("f.parquet", b"PAR1" + b"\0" * 100, "this is not Parquet"),
    "half a parquet": ("f.parquet", in_parquet(question=["a"])[:-20], "this is not Parquet"),
    "parquet without columns": ("f.parquet", in_parquet(question=["a"]), "there is no column forecaster"),
    "no gzip": ("f.csv.gz", b"\x1f\x8bnothing", "can't be unpacked"),
    "half a gzip": ("f.csv.gz", gzip.compress(GOOD)[:-9], "can't be unpacked"),
    "no zip": ("f.zip", b"PK\x03\x04nothing", "can't be unpacked"),
    "empty zip": ("f.zip", zipped(), "no files of forecasts"),
    "zip of nothing": ("f.zip", zipped(readme=b"hello"), "no files of forecasts"),
    "two forms at once": (
        "f.zip",
        zipped(**{"forecasts__2026-01-01.jsonl": as_json(ARENA_ROW), "b.json": as_json(BENCH)}),
        "--form forecast_arena or --form forecastbench",
    ),
    "a page": ("f.csv", b"<!DOCTYPE html><html><body>404</body></html>", "there is no column question"),
    "a pointer": (
        "f.csv",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "no column",
    ),
}
"""What can't be scored, and what is said of it."""


@pytest.mark.parametrize("again", ["b/f.csv", "b/../b/f.csv", "b"])
def test_a_file_that_is_named_twice_is_told_as_that(
    again: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "f.csv").write_bytes(GOOD)
    answer = invoke("score", "b/f.csv", again, "--json")
    error = json.loads(answer.stdout)["error"]
    assert (answer.exit_code, error["code"]) == (64, "named_twice")
    assert error["message"].endswith("b/f.csv is named twice")


@pytest.mark.parametrize("case", SCORED)
def test_odd_files_are_scored(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, data = SCORED[case]
    Path(name).write_bytes(data)
    answer = invoke("score", name, "--json")
    assert answer.exit_code == 0, answer.stdout
    assert json.loads(answer.stdout)["rows"]
    assert "\x1b" not in invoke("score", name).stdout


@pytest.mark.parametrize("case", REFUSED)
def test_hostile_files_are_refused_with_each_cause_once(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, data, said = REFUSED[case]
    Path(name).write_bytes(data)
    answer = invoke("score", name, "--json")
    error = json.loads(answer.stdout)["error"]
    assert answer.exit_code in (1, 64)
    assert said in error["message"] + error["mend"]
    assert error["mend"]
    causes = [(fault["file"], fault["field"], fault["message"]) for fault in error.get("faults", ())]
    assert len(causes) == len(set(causes))
    assert len(error["message"]) < 2_000


def folder_of_nothing(here: Path) -> None:
    (here / "b" / "deep").mkdir(parents=True)


def folder_of_code(here: Path) -> None:
    (here / "b").mkdir()
    (here / "b" / "main.py").write_text("print()")


def hidden_folder(here: Path) -> None:
    (here / "b" / ".git").mkdir(parents=True)
    (here / "b" / ".git" / "f.csv").write_bytes(GOOD)


def links_in_a_circle(here: Path) -> None:
    (here / "b").mkdir()
    (here / "b" / "again").symlink_to(here / "b")
    (here / "b" / "f.csv").symlink_to(here / "b" / "f.csv")


def link_out_of_the_folder(here: Path) -> None:
    (here / "secret.csv").write_bytes(GOOD)
    (here / "b").mkdir()
    (here / "b" / "f.csv").symlink_to(here / "secret.csv")
    (here / "b" / "all").symlink_to(here)


def pipe(here: Path) -> None:
    (here / "b").mkdir()
    os.mkfifo(here / "b" / "f.csv")


@pytest.mark.parametrize(
    "make",
    [folder_of_nothing, folder_of_code, hidden_folder, links_in_a_circle, link_out_of_the_folder, pipe],
)
def test_a_folder_without_forecasts_says_so(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    error = json.loads(invoke("score", "b", "--json").stdout)["error"]
    assert error["message"] == "b has no files of forecasts"


def test_a_source_that_unpacks_to_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.forms.sources.disk.MOST_BYTES", 1_000_000)
    monkeypatch.setattr("arena.forms.csv_columns.texts.MOST_BYTES", 1_000_000)
    zeros = b"0" * 2_000_000
    (tmp_path / "bomb.zip").write_bytes(zipped(f_csv=zeros))
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(zeros))
    (tmp_path / "large.csv").write_bytes(zeros)
    for name in ("bomb.zip", "bomb.csv.gz", "large.csv"):
        error = json.loads(invoke("score", name, "--json").stdout)["error"]
        assert "1,000,000" in error["message"] + error["mend"]


def test_a_folder_of_too_many_files_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.forms.sources.disk.MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"f{number}.csv").write_bytes(GOOD)
    error = json.loads(invoke("score", ".", "--json").stdout)["error"]
    assert error["code"] == "too_large"
