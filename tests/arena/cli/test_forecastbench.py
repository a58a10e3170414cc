"""`arena study forecastbench`: published files in, published figures out."""

import csv
import gzip
import hashlib
import io
import json
import sqlite3
from contextlib import closing
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.calls.estimate import Estimate, Usage
from arena.cli.forecastbench_run import confirm
from arena.cli.options import Options
from arena.errors import ArenaError
from arena.rounds.answering import LeftToAsk
from arena.scores.files.forecastbench_board import rounds_left_out
from arena.scores.files.forecastbench_rows import Outcome, ScoredForecast
from arena.verify import verify
from tests.arena.scores.files.test_forecastbench import QUESTIONS, forecast, submission
from tests.program.in_process import answered, invoke
from tests.rows import read_only, rows_in
from tests.serving import Reply, Request, Server, serving

BENCH = ("study", "forecastbench")
run = partial(invoke, *BENCH)
answer = partial(answered, *BENCH)
SITE_COLUMNS = [
    "Rank", "Team", "Model Organization", "Model", "Dataset", "N dataset", "Dataset 95% CI", "Market",
    "N market", "Market 95% CI", "Overall", "N", "Overall 95% CI", "Supers > Forecaster?",
    "p-val Supers > Forecaster?", "Forecaster > Public?", "p-val Forecaster > Public?", "Pct times № 1",
    "Pct times top 5%", "Peer", "BSS", "Brier Dataset", "Brier Market", "Brier Overall",
]  # fmt: skip
"""The columns of the benchmark's own CSV."""


@pytest.fixture
def bench(shared_data: Path) -> Path:
    return shared_data / "forecastbench"


@pytest.fixture
def supers(bench: Path) -> list[object]:
    folder = bench / "supers"
    return [
        "--questions", folder / "2024-07-21-human.json.gz",
        "--resolutions", folder / "resolution_set_as_of_2024-11-20.json.gz",
        folder / "forecasts.json.gz",
    ]  # fmt: skip


def test_forty_superforecasters_have_the_papers_row(bench: Path, supers: list[object]) -> None:
    """Their median is table 2's first row; by the paper's count always 0.5 is better on 16% of questions."""
    wanted = json.loads((bench / "supers/expected.json").read_text())["as_of_2024-11-20"]
    name = "superforecaster median"
    found = answer("board", "--mode", "paper", "--median", name, "--by", "horizon", *supers)
    first, half = found["rows"]
    for row, key in ((first, name), (half, "always 0.5")):
        assert row["forecaster"].lower() == key
        assert (row["n_dataset"], row["n_market"]) == tuple(wanted["rows"].values())
        for kind in ("dataset", "market", "overall"):
            assert row[kind] == pytest.approx(wanted[key][kind], abs=1e-4)
    assert [first["low"], first["high"]] == pytest.approx(wanted[name]["interval"], abs=1e-4)
    assert first["low_clustered"] < first["low"]
    assert first["high_clustered"] > first["high"]
    assert (round(half["better"], 2), round(half["better_once"], 3)) == (0.16, 0.137)
    seven = [row for row in found["groups"] if row["group"] == "7 d"]
    assert (seven[0]["n"], round(seven[0]["brier"], 3)) == (104, 0.132)  # table 26


def test_individuals_who_leave_much_out_are_named(supers: list[object]) -> None:
    found = answer("board", "--mode", "paper", *supers)
    assert [row["forecaster"] for row in found["rows"]] == ["human-19", "Always 0.5"]
    assert "left out: human-28, 2024-07-21: 71% unanswered, over 5% of a half" in found["notes"]


def test_the_golden_board_by_command(bench: Path) -> None:
    wanted = json.loads((bench / "golden_scores.json").read_text())["scores"]["market_brier"]
    done = run("board", "--csv", bench / "golden_forecasts.csv.gz")
    head, *lines = csv.reader(io.StringIO(done.stdout))
    assert head == SITE_COLUMNS
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert {row["Model"] for row in rows} == set(wanted)
    for row in rows:  # the tournament, whose markets are as hard as they were for the crowd
        figures = wanted[row["Model"]]
        for kind, count in (("dataset", "N dataset"), ("market", "N market"), ("overall", "N")):
            assert float(row[count]) == figures[f"n_{kind}"]
            assert float(row[kind.capitalize()]) == pytest.approx(figures[f"brier_index_{kind}"], abs=0.0501)
            brier = float(row[f"Brier {kind.capitalize()}"])
            assert brier == pytest.approx(figures[f"two_way_fixed_effects_{kind}"], abs=0.0006)
        assert float(row["Peer"]) == pytest.approx(figures["peer_score_overall"], abs=0.0006)
        assert float(row["BSS"]) == pytest.approx(figures["brier_skill_score_overall"], abs=0.0006)


def write(folder: Path, name: str, data: Any) -> Path:
    file = folder / name
    file.write_text(json.dumps(data))
    return file


@pytest.mark.parametrize("table", ["table2", "table3"])
def test_the_papers_tables_by_command(bench: Path, tmp_path: Path, table: str) -> None:
    """Table 2 has the human set's questions, table 3 all, with those about two others at once."""
    paper = json.loads(gzip.decompress((bench / "paper_always_half.json.gz").read_bytes()))
    rows = [row for row in paper["resolutions"] if row["resolution_date"] in paper["horizons"]]
    header = {"forecast_due_date": "2024-07-21", "question_set": "2024-07-21-llm.json"}
    given = [
        "--resolutions", write(tmp_path, "r.json", header | {"resolutions": rows}),
        "--combinations" if table == "table3" else "--questions",
        *([bench / "supers/2024-07-21-human.json.gz"] if table == "table2" else []),
    ]  # fmt: skip
    said = [
        forecast(row["source"], row["id"], row["resolution_date"], direction=row["direction"])
        for row in rows
        if row["source"] not in ("infer", "manifold", "metaculus", "polymarket")
    ]
    filed = submission(**header, forecasts=said, model="Always 0.5")
    found = answer("board", "--mode", "paper", *given, write(tmp_path, "f.json", filed))
    (half,) = (row for row in found["rows"] if row["forecaster"] == "Always 0.5")
    wanted = paper["expected"][table]
    assert (half["n_dataset"], half["n_market"]) == (wanted["n_dataset"], wanted["n_market"])
    assert [round(half[key], 3) for key in ("dataset", "market", "overall")] == [
        wanted[key] for key in ("dataset", "market", "overall")
    ]


def round_files(folder: Path) -> list[object]:
    """Write a small round: data questions at two horizons, one open market among others, two forecasters."""
    data = [
        {"id": f"d{i}", "source": "fred", "direction": None, "resolution_date": day, "resolved": True,
         "resolved_to": float(i % 2)}
        for i in range(10)
        for day in ("2026-03-08", "2026-03-31")
    ]  # fmt: skip
    markets = [
        {"id": f"m{i}", "source": "manifold", "direction": None, "resolution_date": "2026-03-20",
         "resolved": i > 0, "resolved_to": 0.4 if i == 0 else float(i % 2)}
        for i in range(20)
    ]  # fmt: skip
    resolved = {"forecast_due_date": "2026-03-01", "question_set": "x", "resolutions": data + markets}
    sharp = submission(model="sharp")
    for row in sharp["forecasts"]:
        row["forecast"] = 0.8 if int(row["id"][1:]) % 2 else 0.2
    return [
        "--questions", write(folder, "q.json", QUESTIONS),
        "--resolutions", write(folder, "r.json", resolved),
        write(folder, "sharp.json", sharp), write(folder, "half.json", submission(model="Always 0.5")),
    ]  # fmt: skip


def test_a_round_by_each_mode(tmp_path: Path) -> None:
    given = round_files(tmp_path)
    first, second = answer("board", "--every-round", "--against", "Always 0.5", *given)["rows"]
    assert (first["forecaster"], first["n_dataset"], first["n_market"]) == ("sharp", 20, 19)
    assert first["brier_dataset"] == pytest.approx(0.04)
    assert (first["dataset"], second["overall"]) == (pytest.approx(80), pytest.approx(50))
    assert first["p"] == {"Always 0.5": 1.0}  # always at least as good
    shown = run("board", "--every-round", "--against", "Always 0.5", *given).stdout
    assert "at least Always 0.5" in shown.splitlines()[0]
    assert shown.splitlines()[1].split()[-1] == "100.0%"
    paper = answer("board", "--mode", "paper", *given)["rows"]
    assert [row["n_market"] for row in paper] == [20, 20]
    assert paper[0]["market"] == pytest.approx((19 * 0.04 + 0.2**2) / 20)
    missing = run("board", "--mode", "baseline", "--every-round", *given)
    assert missing.exit_code == 1
    assert "not of ForecastBench's own" in missing.stderr
    few = run("board", "--mode", "preliminary", "--every-round", *given)
    assert "fewer than 225 data questions resolved" in few.stderr
    parts = run("board", "--every-round", "--by", "source", "--csv", *given).stdout.splitlines()
    assert parts[:2] == ["Group,Model,N,Brier,Low,High", "fred,sharp,20,0.04,0.04,0.04"]
    assert run("board", "--csv", "--html", *given).exit_code == 64
    page = run("board", "--every-round", "--html", *given).stdout
    assert page.count("<tr>") == 3


@pytest.mark.parametrize(
    ("mode", "today", "kept"),
    [
        ("tournament", date(2026, 8, 17), ["05-24", "06-07", "06-21"]),
        ("tournament", date(2026, 7, 27), ["05-24", "06-07"]),
        ("baseline", date(2026, 7, 26), ["05-24"]),
        ("preliminary", date(2026, 7, 26), ["05-24", "06-07", "06-21"]),
    ],
)
def test_rounds_are_scored_from_the_day_on_which_the_site_scores_them(
    bench: Path, tmp_path: Path, mode: str, today: date, kept: list[str]
) -> None:
    clock = tmp_path / "clock"
    clock.write_text(f"{today}T12:00Z\n")
    found = answer(
        "board", "--mode", mode, "--clock", clock, "--by", "round", bench / "golden_forecasts.csv.gz"
    )
    assert sorted({row["group"] for row in found["groups"]}) == [f"2026-{day}" for day in kept]
    named = [note for note in found["notes"] if note.startswith("left out: the round due")]
    assert len(named) == 3 - len(kept)


@pytest.mark.parametrize(
    ("mode", "markets", "data", "reason"),
    [
        ("tournament", 49, 300, "49 markets resolved, and the site wants 50"),
        ("baseline", 50, 224, "224 data rows resolved, and the site wants 225"),
        ("preliminary", 0, 224, "224 data rows resolved, and the site wants 225"),
        ("tournament", 50, 225, None),
        ("preliminary", 0, 225, None),
        ("paper", 1, 1, None),
    ],
)
def test_a_round_with_too_little_resolved_is_left_out(
    mode: str, markets: int, data: int, reason: str | None
) -> None:
    asked = [(f"m{number}", True) for number in range(markets)]
    asked += [(f"d{number}", False) for number in range(data)]
    rows = [
        ScoredForecast(who, "2026-03-01", ("source", question_id, None), 0.5, Outcome(1.0, is_market, None))
        for question_id, is_market in asked
        for who in ("ann", "bob")
    ]
    left_out = rounds_left_out(rows, mode, date(2026, 11, 28))
    assert left_out == ({} if reason is None else {"2026-03-01": reason})


def test_what_is_missing_is_imputed_by_the_era(tmp_path: Path) -> None:
    """One market of twenty left out: today it counts as 0.5, in the paper as the crowd when frozen, 0.25."""
    given = round_files(tmp_path)
    sharp = json.loads((tmp_path / "sharp.json").read_text())
    sharp["forecasts"] = [row for row in sharp["forecasts"] if row["id"] != "m2"]
    write(tmp_path, "sharp.json", sharp)
    today, _ = answer("board", "--every-round", *given)["rows"]
    assert today["brier_market"] == pytest.approx((18 * 0.04 + 0.25) / 19)
    paper, _ = answer("board", "--mode", "paper", *given)["rows"]
    assert paper["market"] == pytest.approx((19 * 0.04 + 0.25**2) / 20)


def test_processed_files_are_enough(tmp_path: Path) -> None:
    """They carry their resolutions: the same board as beside a resolution set, with what is open yet."""
    given = round_files(tmp_path)
    whole = answer("board", "--mode", "paper", *given[:5])["rows"]
    resolutions = json.loads(Path(str(given[3])).read_text())["resolutions"]
    noted = {
        (row["id"], row["resolution_date"] if row["source"] == "fred" else None): row for row in resolutions
    }
    processed = json.loads((tmp_path / "sharp.json").read_text())
    for row in processed["forecasts"]:
        row.update({"imputed": False} | noted[row["id"], row["resolution_date"]])
    file = write(tmp_path, "processed.json", processed)
    assert answer("board", "--mode", "paper", file)["rows"] == whole
    assert answer("board", "--every-round", file)["rows"][0]["n_market"] == 19

    for row in processed["forecasts"]:
        row["imputed"] = True
    silent = write(tmp_path, "silent.json", processed | {"model": "silent"})
    found = answer("board", "--mode", "paper", file, silent)
    assert found["rows"] == whole
    assert any(note.startswith("left out: silent") and "100% unanswered" in note for note in found["notes"])


def test_a_file_with_faults_is_checked_and_not_scored(tmp_path: Path) -> None:
    given = round_files(tmp_path)
    bad = submission(model="bad")
    bad["forecasts"][3] |= {"forecast": 3, "id": "m99"}
    bad["forecasts"][20]["resolution_date"] = "2026-03-09"
    bad["forecasts"][30]["reasoning"] = 5
    bad["question_set"] = "another"
    file = write(tmp_path, "bad.json", bad)
    done = run("file", "--check", "--questions", given[1], file, "--json")
    assert done.exit_code == 1
    assert [(one["row"], one["field"]) for one in json.loads(done.stdout)["faults"]] == [
        (None, "question_set"),
        (4, "forecast"),
        (4, "id"),
        (21, "resolution_date"),
        (31, "reasoning"),
    ]
    done = run("board", *given[:4], file)
    assert (done.exit_code, "row 4, forecast: 3 is not a number from 0 to 1" in done.stderr) == (1, True)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    done = run("file", "--check", "--questions", given[1], broken, file, "--json")
    assert [one["field"] for one in json.loads(done.stdout)["faults"]] == [
        "file",
        "question_set",
        "forecast",
        "id",
        "resolution_date",
        "reasoning",
    ]
    fine = run("file", "--check", "--questions", given[1], given[-1])
    assert (fine.exit_code, "no fault" in fine.stdout) == (0, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--resolutions", "r.json"], "two resolution sets"),
        (["sharp.json"], "sharp has two files for 2026-03-01"),
        (["--against", "nobody"], "no forecaster is called 'nobody'"),
        (["absent.json"], "can't be read"),
    ],
)
def test_what_a_board_cannot_be_made_of(tmp_path: Path, change: list[str], said: str) -> None:
    given = round_files(tmp_path)
    more = ["--every-round", *(tmp_path / each if each.endswith(".json") else each for each in change)]
    done = run("board", *given, *more)
    assert (done.exit_code, said in done.stderr) == (1, True)


def keep(folder: Path) -> list[object]:
    """Write a record, a config, and a folder of published files."""
    for name, part in (
        ("q.json", "question_sets/2026-03-01-llm.json"),
        ("r.json", "resolution_sets/2026-03-01_resolution_set.json"),
    ):
        target = folder / "published" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((folder / name).read_bytes())
    return [*record_of(folder), "--from", folder / "published"]


def record_of(folder: Path) -> list[object]:
    """Return the options that name a record, and a config with an agent that needs no key."""
    (folder / "config.yaml").write_text("markets: {venue: polymarket, show: 10}\nagents: [{kind: market}]\n")
    (folder / "clock").write_text("2026-03-01T12:00Z\n")
    return ["--config", folder / "config.yaml", "--database", folder / "arena.db"]


READ = ("run", "--dry")
"""What stores a question set, and asks nobody."""
FETCH = ("board", "--fetch", "--mode", "paper")


def test_a_round_is_kept_byte_for_byte_and_corrections_are_new_versions(tmp_path: Path) -> None:
    given = round_files(tmp_path)
    place = keep(tmp_path)
    kept = answer(*READ, *place)["set"]
    bytes_ = (tmp_path / "q.json").read_bytes()
    assert (kept["name"], kept["version"], kept["new"]) == ("2026-03-01-llm.json", 1, True)
    assert kept["sha256"] == hashlib.sha256(bytes_).hexdigest()
    assert kept["rows"] == {"market": 20, "dataset": 20}
    again = answer(*READ, "--due", "2026-03-01", *place)["set"]
    assert again == kept | {"new": False}
    (first,) = answer(*FETCH, *place, *given[4:])["fetched"]["rounds"]
    assert {key: first[key] for key in ("version", "dataset", "market", "open", "priced_at")} == {
        "version": 1, "dataset": 20, "market": 19, "open": 1, "priced_at": "2026-03-20",
    }  # fmt: skip
    assert answer(*FETCH, *place, *given[4:])["fetched"]["rounds"][0]["is_new"] is False

    resolved = json.loads((tmp_path / "r.json").read_text())
    rows = resolved["resolutions"]
    rows[0]["resolved_to"], rows[20]["resolved_to"] = 1.0, 0.45
    rows[20]["resolution_date"] = "2026-03-21"
    del rows[-1]
    write(tmp_path, "r.json", resolved)
    (second,) = answer(*FETCH, *keep(tmp_path), *given[4:])["fetched"]["rounds"]
    assert (second["version"], second["moved"], second["added"], second["gone"]) == (2, 1, 0, 1)
    assert second["corrected"] == ["fred d0 at 2026-03-08: 0 → 1"]

    made = answer("board", "--every-round", *place[:4], *given[4:])
    rows = made["rows"]
    assert (made["fetched"], rows[0]["n_dataset"], rows[0]["n_market"]) == (None, 20, 18)
    assert rows[0]["brier_dataset"] == pytest.approx((19 * 0.04 + 0.64) / 20, abs=0.02)
    with read_only(tmp_path / "arena.db") as connection:
        assert verify(connection) == []
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
        (text,) = database.execute("SELECT text FROM benchmark_file WHERE id = 1").fetchone()
        assert text.encode() == bytes_
        database.execute("DROP TRIGGER benchmark_file_no_update")
        database.execute("UPDATE benchmark_file SET text = text || ' ' WHERE id = 1")
        database.execute("UPDATE benchmark_file SET version = 3 WHERE version = 2")
        database.commit()
    with read_only(tmp_path / "arena.db") as connection:
        found = {(one.table, one.field) for one in verify(connection)}
    assert {("benchmark_file", "sha256"), ("benchmark_file", "hash"), ("benchmark_file", "version")} <= found


def test_changed_outcomes_are_said_even_where_no_board_can_be_made(tmp_path: Path) -> None:
    """They are stored, and named on standard error, so that CSV and JSON stay what they are."""
    given = round_files(tmp_path)
    place = keep(tmp_path)
    answer(*READ, *place)
    done = run(*FETCH, *place)
    assert (done.exit_code, "nothing to score" in done.stderr) == (1, True)
    assert "2026-03-01-llm.json: version 1, new" in done.stderr

    resolved = json.loads((tmp_path / "r.json").read_text())
    resolved["resolutions"][0]["resolved_to"] = 1.0
    write(tmp_path, "r.json", resolved)
    done = run(*FETCH, "--csv", *keep(tmp_path), *given[4:])
    assert (done.exit_code, done.stdout.partition(",")[0]) == (0, "Model")
    assert "2026-03-01-llm.json: version 2, new" in done.stderr
    assert "changed: fred d0 at 2026-03-08: 0 → 1" in done.stderr


def test_what_is_not_there_to_keep(tmp_path: Path) -> None:
    place = [*record_of(tmp_path), "--from", tmp_path]
    for given, said in (
        ([*READ, "--due", "March"], "'March' is not a day"),
        (READ, "has no question set"),
        ([*READ, "--due", "2026-03-01"], "has no question set due 2026-03-01"),
        (FETCH, "the record has no question set"),
        ([*READ, "--from", tmp_path / "absent"], "there is no folder"),
    ):
        done = run(*given, *place) if "--from" not in given else run(*given, *place[:4])
        assert done.exit_code in (1, 64)
        assert said in done.stderr
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:  # a record of schema 0006
        database.execute("DROP TABLE benchmark_file")
        database.execute("UPDATE alembic_version SET version_num = '0006'")
        database.commit()
    round_files(tmp_path)
    assert answer(*READ, *keep(tmp_path))["set"]["new"] is True


def test_answers_are_filed_in_the_published_form_or_not_at_all(tmp_path: Path) -> None:
    given = round_files(tmp_path)
    rows = submission()["forecasts"]
    lines = [f"{row['source']},{row['id']},{row['resolution_date'] or ''},0.25" for row in rows]
    answers = tmp_path / "answers.csv"

    def filed(kept: list[str], *more: str) -> Any:
        answers.write_text("\n".join(["source,id,resolution_date,forecast", *kept]))
        who = ["--as", "us", "--model", "ours", "--lab", "Lab", "-o", tmp_path / "filed"]
        return run("file", answers, *given[:2], *who, *more)

    for kept, said in (
        (lines[2:], "18 of 20 market rows are answered, 90.0%"),
        (lines[:38], "18 of 20 dataset rows are answered, 90.0%"),
        ([lines[0].replace("0.25", "25%"), *lines[1:]], 'row 1, forecast: "25%" is not a number'),
        ([f"{lines[0]},of a, b", *lines[1:]], "row 1, row: it has more cells than the first line"),
        ([*lines, lines[3]], "'m3' of manifold is answered in row 4 already"),
    ):
        done = filed(kept)
        assert (done.exit_code, said in done.stderr) == (1, True)
    assert not (tmp_path / "filed").exists()
    done = filed(lines[1:])
    assert done.exit_code == 0, done.output
    file = tmp_path / "filed" / "2026-03-01.us.1.json"
    data = json.loads(file.read_text())
    assert list(data) == [
        "organization", "model", "model_organization", "question_set", "forecast_due_date", "forecasts",
    ]  # fmt: skip
    assert data["forecasts"][0] == forecast("manifold", "m1", None, 0.25)
    assert run("file", "--check", *given[:2], file).exit_code == 0
    assert filed(lines[1:]).exit_code == 0
    again = filed(lines)
    assert (again.exit_code, "already exists with other content" in again.stderr) == (1, True)
    assert filed(lines, "--n", "2").exit_code == 0


class Published(Server):
    """Answers like the benchmark's repository: by a file's name, one reply after another, else 404."""

    def __init__(self, replies: dict[str, list[Reply]]) -> None:
        super().__init__()
        self.replies = replies
        self.asked: list[str] = []

    def respond(self, request: Request) -> Reply:
        self.asked.append(request.target)
        left = self.replies.get(request.target.rpartition("/")[2], [Reply(b"404: Not Found", 404)])
        return left.pop(0) if len(left) > 1 else left[0]


SET, LATEST, RESOLVED = "2026-03-01-llm.json", "latest-llm.json", "2026-03-01_resolution_set.json"


def over_http(folder: Path, replies: dict[str, list[Reply]], *given: object) -> tuple[Any, int]:
    """Return a command's output when it reads from a server, and how many files the record has then."""
    with serving(Published(replies)) as server:
        done = run(*given, "--from", f"{server.url}/datasets", *record_of(folder))
    return done, rows_in(folder / "arena.db", "SELECT count(*) FROM benchmark_file")[0][0]


def test_published_files_come_over_the_network(tmp_path: Path) -> None:
    files = round_files(tmp_path)[4:]
    asked = (tmp_path / "q.json").read_bytes()
    pointer = Reply(f"{SET}\n".encode())
    busy = Reply(b"", 429, {"Retry-After": "0"})
    packed = {"Content-Encoding": "gzip"}
    set_file = Reply(gzip.compress(asked), headers=packed)
    done, kept = over_http(tmp_path, {LATEST: [pointer], SET: [busy, set_file]}, *READ, "--json")
    assert (done.exit_code, kept, json.loads(done.stdout)["set"]["new"]) == (0, 1, True)
    assert rows_in(tmp_path / "arena.db", "SELECT text FROM benchmark_file")[0][0].encode() == asked
    for latest in (Reply(asked), pointer):  # the link comes as what it names, or as its name
        replies = {LATEST: [latest], SET: [Reply(gzip.compress(asked))]}
        done, kept = over_http(tmp_path, replies, *READ, "--json")
        assert (done.exit_code, kept, json.loads(done.stdout)["set"]["new"]) == (0, 1, False)
    resolved = Reply((tmp_path / "r.json").read_bytes())
    replies = {RESOLVED: [Reply(b"", 503, {"Retry-After": "0"}), resolved]}
    done, kept = over_http(tmp_path, replies, *FETCH, *files)
    assert (done.exit_code, kept) == (0, 2), done.output


def test_a_set_is_read_where_it_is_published_only_while_the_record_has_none_that_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_files(tmp_path)
    first = (tmp_path / "q.json").read_bytes()
    later = json.loads(first) | {"forecast_due_date": "2026-03-15", "question_set": "2026-03-15-llm.json"}
    replies = {SET: [Reply(first)], "2026-03-15-llm.json": [Reply(json.dumps(later).encode())]}
    given = [*READ, *record_of(tmp_path), "--clock", tmp_path / "clock"]

    def sets(*words: object, newest: str = SET, asked: int) -> str:
        """Return the set that is answered, when the server has to be asked this many times."""
        server = Published(replies | {LATEST: [Reply(newest.encode())]})
        with serving(server):
            monkeypatch.setattr("arena.rounds.benchmark_rounds.PUBLISHED", f"{server.url}/datasets")
            found = answer(*given, *words)
            assert len(server.asked) == asked
        return str(found["question_set"])

    assert sets(asked=2) == SET
    assert sets(asked=0) == SET, "it is still due"
    assert sets("--due", "2026-03-15", asked=1) == "2026-03-15-llm.json"
    assert sets("--due", "2026-03-15", asked=0) == "2026-03-15-llm.json"
    (tmp_path / "clock").write_text("2026-03-16T12:00Z\n")
    assert sets("--due", "2026-03-01", asked=0) == SET, "a round that is over can be named"
    assert sets(asked=2) == SET, "a newer one may be out"
    assert sets(newest="2026-03-15-llm.json", asked=2) == "2026-03-15-llm.json"
    (tmp_path / "clock").write_text("2026-04-01T12:00Z\n")
    with serving(Published({})) as server:
        monkeypatch.setattr("arena.rounds.benchmark_rounds.PUBLISHED", f"{server.url}/datasets")
        done = run(*given)
    assert (done.exit_code, "go on with the stored round: --due 2026-03-15" in done.stderr) == (1, True)


BADLY = [
    (SET, Reply(b"", 404), "has no question set"),
    (SET, Reply(b"", 429, {"Retry-After": "3600"}), "is rate-limiting requests"),
    (SET, Reply(b"", 502, {"Retry-After": "0"}), "answered 502"),
    (SET, Reply(b"", 302, {"Location": "/elsewhere"}), "answered 302"),
    (SET, Reply(b"<!DOCTYPE html><html>Sign in</html>"), f"{SET} is a web page and not JSON"),
    (SET, Reply(b'{"questions": [{"id": "a'), f"{SET}:1:23: this is not JSON"),
    (SET, Reply(gzip.compress(bytes(range(256)))[:90]), "can't be unpacked"),
    (SET, Reply(b"\xff\xfe"), "this is not UTF-8"),
    (SET, Reply(b"[]"), "it has no list 'questions'"),
    (SET, Reply(b""), "this is not JSON"),
    ("<html></html>", Reply(b""), f"{LATEST} does not name a question set but says 'html>'"),
    ("../../etc/passwd", Reply(b""), f"{LATEST} does not name a question set but says 'passwd'"),
    ("2026-03-08-llm.json", Reply(b""), "has no question set"),
]  # fmt: skip


def test_what_a_server_answers_badly_is_said_and_not_kept(tmp_path: Path) -> None:
    for latest, reply, said in BADLY:
        replies = {LATEST: [Reply(latest.encode())], SET: [reply]}
        done, kept = over_http(tmp_path, replies, *READ)
        assert (done.exit_code, kept, said in done.stderr, "→" in done.stderr) == (1, 0, True, True), (
            done.stderr
        )


def test_a_file_that_breaks_off_or_is_of_another_round_is_not_kept(tmp_path: Path) -> None:
    round_files(tmp_path)
    asked = (tmp_path / "q.json").read_bytes()
    done, kept = over_http(tmp_path, {SET: [Reply(asked, how="cut")]}, *READ, "--due", "2026-03-01")
    assert ("broke off before its answer was complete" in done.stderr, kept) == (True, 0)
    other = {"2026-03-08-llm.json": [Reply(asked)]}
    done, kept = over_http(tmp_path, other, *READ, "--due", "2026-03-08")
    assert ("is of the round due 2026-03-01, not 2026-03-08" in done.stderr, kept) == (True, 0)


def test_one_bad_file_keeps_no_other_round_from_being_resolved(tmp_path: Path) -> None:
    round_files(tmp_path)
    place = keep(tmp_path)
    answer(*READ, *place)
    later = json.loads((tmp_path / "q.json").read_text())
    later |= {"forecast_due_date": "2026-03-08", "question_set": "2026-03-08-llm.json"}
    write(tmp_path / "published/question_sets", "2026-03-08-llm.json", later)
    answer(*READ, *place)
    for bad, good in (("2026-03-01", "2026-03-08"), ("2026-03-08", "2026-03-01")):
        resolved = json.loads((tmp_path / "r.json").read_text()) | {"forecast_due_date": good}
        write(tmp_path / "published/resolution_sets", f"{good}_resolution_set.json", resolved)
        write(tmp_path / "published/resolution_sets", f"{bad}_resolution_set.json", [])
        done = run(*FETCH, *place)
        assert (done.exit_code, "other rounds resolved: 1" in done.stderr) == (1, True), done.output
        assert f"{bad}_resolution_set.json: it has no list" in done.stderr
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
        query = "SELECT due FROM benchmark_file WHERE kind = 'resolutions'"
        assert sorted(due for (due,) in database.execute(query)) == ["2026-03-01", "2026-03-08"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["file", "a.csv"], "a submission needs --as ORG, --model M and -o DIR"),
        (["file", "--check"], "--check is given no file"),
        (["file", "--check", "a.json", "--as", "us"], "--as can't be combined with --check"),
        (["file", "--check", "a.json", "--model", "m"], "--model can't be combined with --check"),
        (["file", "--check", "a.json", "-o", "filed"], "--output can't be combined with --check"),
        (["file", "--check", "a.json", "--agent", "a"], "--agent can't be combined with --check"),
        (["file", "--check", "a.json", "--cohort", "1"], "--cohort can't be combined with --check"),
        (["file", "--check", "a.json", "--lab", "a"], "--lab can't be combined with --check"),
        (["file", "--check", "a.json", "--n", "2"], "--n can't be combined with --check"),
        (["file", "--check", "a.json", "--due", "2026-03-01"], "--due can't be combined with --check"),
        (["file", "a.csv", "b.csv", "--as", "us", "--model", "m", "-o", "x"], "2 files are named"),
        (["board", "--from", "published"], "--from says where --fetch reads"),
        (["board", "--fetch", "--questions", "q.json"], "--questions can't be combined with --fetch"),
        (["board", "--fetch", "--resolutions", "r.json"], "--resolutions can't be combined with --fetch"),
    ],
)
def test_options_that_make_no_sense_together(tmp_path: Path, words: list[str], said: str) -> None:
    done = run(*words, *record_of(tmp_path))
    assert (done.exit_code, said in " ".join(done.stderr.split())) == (64, True), done.stderr
    assert not (tmp_path / "arena.db").exists()


def test_with_a_closed_standard_input_no_agent_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    used = Usage(calls=1)
    left = [LeftToAsk(Estimate("ann", None, used, used, used), 1.0)]
    with pytest.raises(ArenaError, match="nothing was asked: 1 agent, 30 forecasts each: 1 calls"):
        confirm(Options(), left, 30, yes=False)
