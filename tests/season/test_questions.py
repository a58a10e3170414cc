"""Seasons on a folder of questions: nothing is played short in silence, and a rerun is the same."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.operations.progress import RunEvent
from arena.operations.run import Run
from arena.record.write.evidence import read_gathered
from markets.model import MarketId
from tests.arena.forms.test_autocast import ALL
from tests.opened_record import opened_record
from tests.program.command_line import ROOT
from tests.program.rehearsal import clock_at, rehearse
from tests.program.running import AGREES, arena, arena_json
from tests.rows import hash_seen
from tests.season.answering import write_answering

CONFIG = """\
markets: {{venue: questions, questions: {{folder: questions{more}}}}}
cohorts: {{first: {first}, decide: weekly, rounds: {rounds}, count: 1}}
run: {{catalogue: 1d, quotes: 1d, resolutions: 12h, scores: off, backup: off}}
agents:
  - kind: answering
"""
HEAD = "id,question,opens,closes\n"
RAIN = "rain,Will it rain?,2026-01-01,2026-01-20\n"
SNOW = "snow,Will it snow?,2026-01-01,2026-01-20\n"
LATEST = datetime(2026, 6, 1, tzinfo=UTC)


def a_season(
    folder: Path, first: str = "2026-01-04", day: str = "sun", rounds: int = 5, more: str = ""
) -> Path:
    """Write a config on an empty folder of questions, which is returned."""
    write_answering(folder)
    text = CONFIG.format(first=first, rounds=rounds, more=more)
    (folder / "config.yaml").write_text(text, "utf-8")
    (folder / "questions").mkdir()
    return folder / "questions"


def hash_of(folder: Path) -> str:
    """Return the hash of what the record of a folder holds."""
    with opened_record(folder / "arena.db") as record, record.reading() as connection:
        return hash_seen(connection)


def ends_of(folder: Path, *own_ids: str) -> list[tuple[int, int | None, str]]:
    """Return the versions of what questions came to, as the record has them."""
    markets = [MarketId(f"questions:{own_id}") for own_id in own_ids]
    with opened_record(folder / "arena.db") as record:
        ends = record.resolutions(markets, LATEST)
    return [(end.version, end.payout, end.answer) for end in ends]


def test_the_examples_questions_are_played_to_the_same_bytes_again(tmp_path: Path) -> None:
    hashes: list[str] = []
    folder = tmp_path
    for name in ("first", "again"):
        folder = tmp_path / name
        folder.mkdir()
        questions = a_season(folder)
        shutil.copytree(ROOT / "examples" / "questions", questions, dirs_exist_ok=True)
        played = arena(folder, "run", "--once")
        assert played.returncode == 0, played.stdout + played.stderr
        assert "cohort 1 has ended" in played.stdout
        assert "set aside" not in played.stdout
        hashes.append(hash_of(folder))

    assert hashes[0] == hashes[1]
    verified = arena_json(folder, "admin", "verify", "--all")
    assert verified == verified | AGREES
    assert ends_of(folder, "regatta", "eclipse-ship", "snow-day") == [
        *((1, None, ""), (1, None, "Halcyon"), (2, None, "Petrel"), (1, None, "2026-01-21")),
    ]


def test_a_file_of_autocast_is_played_with_all_three_kinds(tmp_path: Path) -> None:
    questions = a_season(tmp_path, "2021-01-03", rounds=3)
    (questions / "autocast.json").write_text(json.dumps(ALL[:6]), "utf-8")
    checked = arena_json(tmp_path, "check", "questions")
    assert checked["form"] == "Autocast"
    assert checked["kinds"] == {"date": 1, "multiple_choice": 1, "numeric": 2, "yes_no": 2}

    played = arena(tmp_path, "run", "--once")
    assert played.returncode == 0, played.stdout + played.stderr
    assert ends_of(tmp_path, "G1", "G2", "M4") == [(1, 0, ""), (1, None, "many"), (1, None, "31.6227766")]
    assert arena_json(tmp_path, "show", "cohort", "1")["ended_at"] == "2021-03-07T00:00:00+00:00"
    verified = arena_json(tmp_path, "admin", "verify", "--all")
    assert verified == verified | AGREES


def test_a_faulty_row_is_told_by_the_check_and_by_the_round(tmp_path: Path) -> None:
    questions = a_season(tmp_path)
    (questions / "questions.csv").write_text(HEAD + RAIN + SNOW.replace("2026-01-20", "soon"), "utf-8")
    fault = "questions.csv:3: closes: 'soon' is not a time"

    checked = arena(tmp_path, "check", "questions")
    assert checked.returncode == 1
    assert "1 fault in questions" in checked.stdout
    checked = arena(tmp_path, "check")
    assert checked.returncode == 1
    assert fault in " ".join(checked.stdout.split())

    played = arena_json(tmp_path, "run", "--round", status=0)
    assert fault in json.dumps(played, ensure_ascii=False)
    assert "1 record set aside" in json.dumps(played)


def test_nothing_is_played_until_a_broken_file_is_mended(tmp_path: Path) -> None:
    questions = a_season(tmp_path)
    (questions / "questions.csv").write_text(HEAD + RAIN, "utf-8")
    (questions / "resolution.csv").write_text("id,outcome,known_at\n", "utf-8")

    for words in (("run", "--round"), ("run", "--once")):
        stopped = arena(tmp_path, *words)
        assert stopped.returncode != 0
        said = stopped.stdout + stopped.stderr
        assert "resolution.csv: it is neither questions nor resolutions" in " ".join(said.split())

    (questions / "resolution.csv").rename(questions / "resolutions.csv")
    played = arena(tmp_path, "run", "--round")
    assert played.returncode == 0, played.stdout + played.stderr
    assert arena_json(tmp_path, "show", "cohort", "1")["played"][0]["turns"] == {"played": 1}


def test_outcomes_come_later_and_a_question_that_is_gone_is_told(tmp_path: Path) -> None:
    """An outcome that is added late, dated before rounds that did not know it, is no fault of the record."""
    questions = a_season(tmp_path, rounds=3)
    (questions / "questions.csv").write_text(HEAD + RAIN + SNOW, "utf-8")
    for _ in range(2):
        assert arena(tmp_path, "run", "--round").returncode == 0
    assert ends_of(tmp_path, "rain") == []

    (questions / "questions.csv").write_text(HEAD + RAIN.replace("rain?", "rain again?"), "utf-8")
    (questions / "resolutions.csv").write_text("id,outcome,known_at\nrain,yes,2026-01-05\n", "utf-8")
    told = json.dumps(arena_json(tmp_path, "run", "--round"))
    assert "snow was asked, and is not in questions any more" in told
    assert ends_of(tmp_path, "rain") == [(1, 1_000_000, "")]
    verified = arena_json(tmp_path, "admin", "verify", "--all")
    assert verified == verified | AGREES
    assert arena_json(tmp_path, "show", "cohort", "1")["ended_at"] is None, "nobody knows of the snow"


def test_live_questions_are_played_as_time_passes(tmp_path: Path) -> None:
    questions = a_season(tmp_path, rounds=2, more=", live: true")
    (questions / "questions.csv").write_text(HEAD + RAIN + SNOW, "utf-8")
    (questions / "resolutions.csv").write_text("id,outcome,known_at\nsnow,no,2026-01-16\n", "utf-8")
    clock_at(tmp_path)

    def tell(_running: Run, event: RunEvent) -> None:
        added = "id,outcome,known_at\nsnow,no,2026-01-16\nrain,yes,2026-01-14\n"
        if "round 2" in event.words:
            (questions / "resolutions.csv").write_text(added, "utf-8")

    rehearse(tmp_path, tell=tell)
    assert ends_of(tmp_path, "rain", "snow") == [(1, 1_000_000, ""), (1, 0, "")]
    cohort = arena_json(tmp_path, "show", "cohort", "1")
    assert (cohort["stamp"], bool(cohort["ended_at"])) == ("live", True)


def test_the_config_that_plays_a_folder_is_checked_next(tmp_path: Path) -> None:
    questions = a_season(tmp_path)
    (questions / "questions.csv").write_text(HEAD + RAIN, "utf-8")
    (tmp_path / "config.yaml").rename(tmp_path / "mine.yaml")
    assert arena(tmp_path, "check", "questions", "--config", "mine.yaml").stdout.endswith(
        "arena check --config mine.yaml\n"
    )
    assert arena(tmp_path, "check", "questions").stdout.endswith("arena check --config FILE\n")
    (tmp_path / "mine.yaml").rename(tmp_path / "config.yaml")
    assert arena(tmp_path, "check", "questions").stdout.endswith("arena check\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "questions.csv").write_text(HEAD + RAIN, "utf-8")
    assert arena(tmp_path, "check", "other").stdout.endswith("arena check --config FILE\n")


@pytest.mark.parametrize("words", [("check", "--live"), ("run", "--sync")])
def test_other_commands_read_the_folder(words: tuple[str, ...], tmp_path: Path) -> None:
    questions = a_season(tmp_path)
    (questions / "questions.csv").write_text(HEAD + RAIN, "utf-8")
    done = arena(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr


COMPETITION = """\
markets: {venue: questions, questions: {folder: questions}}
evidence: {from: folder, per_market: 1, folder: {path: news}}
cohorts: {first: 2021-03-01, start: mon 06:00, rounds: 1, count: 1}
agents:
  - {kind: random, name: one}
  - {kind: random, name: two}
"""
ARTICLES = {
    "old": ("2021-02-20", "Paper", "What of G2, and who asks?"),
    "better": ("2021-02-27", "Paper", "What of G2? What of G2 and many more of G2"),
    "cutoff": ("2021-03-01T02:00Z", "Paper", "What of G2 on the last day"),
    "that day": ("2021-02-28", "Paper", "What of G2 on a day that may end after the cutoff"),
    "forbidden": ("2021-02-01", "metaculus.com", "What of G2, by forecasters"),
}


def test_the_rules_of_autocasts_competition(tmp_path: Path) -> None:
    """Of what was out at six on the closing day, only what was a day old counts, and no forecasting site."""
    (tmp_path / "config.yaml").write_text(COMPETITION, "utf-8")
    (tmp_path / "questions").mkdir()
    crowd = [{"timestamp": "2021-02-01", "forecast": 0.123456}]
    told = [question | {"crowd": crowd, "source_links": ["https://secret.example"]} for question in ALL[:6]]
    (tmp_path / "questions" / "autocast.json").write_text(json.dumps(told), "utf-8")
    (tmp_path / "news").mkdir()
    for name, (published, source, text) in ARTICLES.items():
        head = f"title: {name} {text}\npublished: {published}\nsource: {source}\nmarkets: questions:G2\n"
        (tmp_path / "news" / f"{name}.md").write_text(f"{head}\n{text}\n", "utf-8")

    played = arena(tmp_path, "run", "--once")
    assert played.returncode == 0, played.stdout + played.stderr
    with opened_record(tmp_path / "arena.db") as record:
        at = datetime(2021, 3, 1, 6, tzinfo=UTC)
        gathered = record.read(read_gathered, 1, at)
        taken = record.snapshot(1, at)
    assert gathered is not None
    assert taken is not None
    ((market, articles),) = gathered.articles.items()
    assert (market, [article.title.partition(" ")[0] for article in articles]) == ("questions:G2", ["better"])
    dropped = {reason: count for reason, count in gathered.dropped.items() if reason != "audit"}
    assert dropped == {"cutoff": 1, "later": 1, "restricted": 1, "too_many": 1}

    shown = repr(taken[1])
    assert "0.123456" not in shown
    assert "secret.example" not in shown

    errors = arena_json(tmp_path, "board")["all_kinds"]["autocast"]["one"]
    assert None not in errors.values()
    assert errors["combined"] == pytest.approx(
        errors["true_false"] + errors["multiple_choice"] + errors["numeric"]
    )


def test_a_faulty_file_is_told_with_its_fix_and_why_a_second_start_leaves_the_round(tmp_path: Path) -> None:
    """The venue isn't down: its file has to be corrected, and `run --round` plays at once then."""
    file = a_season(tmp_path) / "questions.csv"
    file.write_text(HEAD.replace("closes", "close") + RAIN, "utf-8")
    fault = "questions/questions.csv:1: close: nothing has this name → call it closes"

    first = arena(tmp_path, "run", "--once", "--trust-extensions")
    assert (first.returncode, fault in first.stdout) == (2, True)
    file.write_text(HEAD + RAIN, "utf-8")
    second = arena(tmp_path, "run", "--once")
    left = second.stdout.partition("left: cohort 1 (next try ")[2]
    assert fault in left
    assert "arena run --round tries at once" in left

    [reason] = [row for row in arena_json(tmp_path, "status")["reasons"] if row["code"] == "venue_down"]
    assert reason["text"] == "questions has a faulty file"
    assert reason["cause"].startswith(fault)
    assert reason["command"] == "arena run --round"
    assert arena(tmp_path, "run", "--round").returncode == 0
