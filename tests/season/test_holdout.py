"""A part of the questions is played and not scored, until it is opened once and for good."""

from pathlib import Path
from typing import Any

from tests.program.running import AGREES, agents_of, arena, arena_json
from tests.season.answering import write_answering

CONFIG = """\
seed: 5
markets: {venue: questions, holdout: 0.3, show: 200, questions: {folder: questions}}
cohorts: {first: 2026-01-04, decide: weekly, rounds: 2, count: 1}
agents:
  - kind: answering
  - {kind: constant, p: 0.9}
"""
COUNT = 120
OPENS = "2026-01-01"
CLOSES = "2026-01-08"


def write_questions(folder: Path, ended: bool) -> None:
    """Write questions of yes or no and of options; every third comes to yes, or to the first option."""
    rows = ["id,question,kind,options,opens,closes"]
    ends = ["id,outcome,known_at"]
    for number in range(COUNT):
        form = "multiple_choice,a;b" if number % 2 else ","
        rows.append(f"q{number},What of {number}?,{form},{OPENS},{CLOSES}")
        outcome = ("a", "b", "b") if number % 2 else ("yes", "no", "no")
        ends.append(f"q{number},{outcome[number % 3]},2026-01-09")
    (folder / "questions.csv").write_text("\n".join(rows), "utf-8")
    (folder / "resolutions.csv").write_text("\n".join(ends[: None if ended else 60]), "utf-8")


def resolved_of(folder: Path) -> dict[str, Any]:
    """Return how many questions each agent is scored on, by the board."""
    rows = arena_json(folder, "board")["all_kinds"]["kinds"]
    counted: dict[str, int] = {}
    for row in rows:
        counted[row["agent"]] = counted.get(row["agent"], 0) + row["asked"]
    return counted


def test_what_is_held_out_is_scored_once_it_is_opened(tmp_path: Path) -> None:
    write_answering(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "questions").mkdir()
    write_questions(tmp_path / "questions", ended=False)
    assert arena(tmp_path, "run", "--round").returncode == 0
    assert arena(tmp_path, "run", "--round").returncode == 0

    early = arena_json(tmp_path, "board", "--holdout", status=1)["error"]
    assert early["code"] == "too_early"
    assert "have not ended" in early["message"]

    write_questions(tmp_path / "questions", ended=True)
    assert arena(tmp_path, "run", "--once").returncode == 0
    counted = resolved_of(tmp_path)
    assert set(counted.values()) < {*range(70, 100)}, "about three tenths are held out"

    opened = arena_json(tmp_path, "board", "--holdout")
    (drop, other) = opened["drops"]
    held_out = len(opened["held_out"])
    assert (
        drop["held_out_questions"] == other["held_out_questions"] == held_out == COUNT - counted["answering"]
    )
    assert drop["open_questions"] == counted["answering"]
    for row in (drop, other):
        assert row["drop"] == row["held_out_error"] - row["open_error"]
        assert row["drop_low"] < row["drop"] < row["drop_high"]

    assert set(resolved_of(tmp_path).values()) == {COUNT}, "from now on all are scored"
    again = arena_json(tmp_path, "board", "--holdout")
    assert again == opened, "what was opened stays so, since then"
    page = arena(tmp_path, "board", "--holdout").stdout
    assert "from now on all questions are scored" in page
    verified = arena_json(tmp_path, "admin", "verify", "--all")
    assert verified == verified | AGREES


def test_without_a_holdout_there_is_nothing_to_open(tmp_path: Path) -> None:
    write_answering(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG.replace(" holdout: 0.3,", ""), "utf-8")
    (tmp_path / "questions").mkdir()
    write_questions(tmp_path / "questions", ended=True)
    assert arena(tmp_path, "run", "--once").returncode == 0
    assert set(resolved_of(tmp_path).values()) == {COUNT}
    assert arena_json(tmp_path, "board", "--holdout", status=1)["error"]["code"] == "no_holdout"
    assert agents_of(arena_json(tmp_path, "board")["leaderboard"])
