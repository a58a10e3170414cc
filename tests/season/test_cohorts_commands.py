"""`arena show cohort` and `arena admin cohort`: what was frozen, who decides, and what changed."""

import shutil
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from markets.hashes import digest
from tests.arena.record.older import old_record
from tests.opened_record import OpenedRecord
from tests.program.in_process import run, said
from tests.program.running import AGREES, arena_json, simulated_config
from tests.records.full_record import Season, play_on

MARKET, RANDOM, CONSTANT = "{kind: market}", "{kind: random, name: ann, bets: 2}", "{kind: constant, p: 0.4}"
BEFORE = (MARKET, RANDOM, CONSTANT)
AFTER = (MARKET, "{kind: random, name: ann, bets: 3}", "{kind: favourite}")
HEX = set("0123456789abcdef")


def write(folder: Path, *agents: str, **more: Any) -> str:
    """Write a config of these agents, and return its text."""
    world = "weeks: 8, markets: 60, events: 20"
    return simulated_config(folder, *(agents or BEFORE), world=world, **more)


def error(folder: Path, *words: str, status: int = 1) -> tuple[str, str]:
    """Return the code and the words of what was refused."""
    found = said(folder, *words, status=status)["error"]
    return found["code"], f"{found['message']} → {found['mend']}"


def states(folder: Path) -> list[str]:
    return [each["state"] for each in said(folder, "show", "cohorts")["cohorts"]]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two cohorts over three decision times, with a change of the config between their starts."""
    folder = tmp_path_factory.mktemp("season")
    for times, agents, show in ((1, BEFORE, 4), (2, AFTER, 5)):
        write(folder, *agents, show=show)
        for _ in range(times):
            assert run(folder, "run", "--round").exit_code == 0
    return folder


@pytest.fixture
def copy(season: Path, tmp_path: Path) -> Path:
    """Return the season, to be changed."""
    return Path(shutil.copytree(season, tmp_path / "copy"))


def test_the_list_says_what_each_cohort_is_doing(season: Path) -> None:
    first, second = said(season, "show", "cohorts")["cohorts"]
    assert (first["cohort"], first["starts_at"][:10], first["rounds_over"], first["rounds"]) == (
        1, "2026-01-04", 3, 3,
    )  # fmt: skip
    assert (first["state"], first["next_at"], first["agents"]) == ("tracked", None, 3)
    assert (second["state"], second["next_at"][:10]) == ("playing", "2026-01-25")
    assert first["pnl_low"] <= 0 <= first["pnl_high"] or first["pnl_low"] < first["pnl_high"]
    board = said(season, "board", "--cohort", "1")["leaderboard"]
    assert [first["pnl_low"], first["pnl_high"]] == [
        pick(row["pnl"] for row in board if row["pnl"] is not None) for pick in (min, max)
    ]
    held = said(season, "show", "positions", "--cohort", "1", "--open")["total"]["held"]
    assert first["open_positions"] == held > 0
    words = run(season, "show", "cohorts").stdout
    assert all(word in words for word in ("2026-01-25 00:00", "tracked", "3 of 3", "show cohort 2"))


def test_before_the_first_start_the_list_says_how_to_begin(tmp_path: Path) -> None:
    write(tmp_path)
    assert "arena admin cohort start --config " in run(tmp_path, "show", "cohorts").stdout
    assert not (tmp_path / "arena.db").exists()


def test_show_tells_all_that_was_frozen(season: Path) -> None:
    found = said(season, "show", "cohort", "2")
    frozen = found["frozen"]
    assert found["config_hash"] == sha256((season / "config.yaml").read_bytes()).hexdigest()
    assert [entrant["name"] for entrant in frozen["entrants"]] == ["market", "ann", "favourite"]
    assert (frozen["universe"]["show"], frozen["rules"]["name"], frozen["venue"]) == (
        5,
        "realistic",
        "simulator",
    )
    assert [(each["round"], each["over"], each["turns"]) for each in found["played"]] == [
        (1, True, {"played": 3}), (2, True, {"played": 3}),
    ]  # fmt: skip
    assert [each["from_round"] for each in found["code_versions"]] == [1]
    assert found["head"] == {"round": 2, "head": said(season, "show", "cohort", "2", "--head")["head"]}
    words = run(season, "show", "cohort", "2").stdout
    for part in (
        found["config_hash"],
        found["head"]["head"],
        "max bet 25%",
        "bets 3",
        "show 5",
        "2026-01-18",
    ):
        assert part in words


def test_a_cohort_that_is_not_there_is_named(season: Path) -> None:
    show = ("show", "cohort", "7")
    for words in (show, (*show, "--head"), ("admin", "cohort", "pause", "7"), (*show, "1")):
        assert error(season, *words) == ("no_cohort", "there is no cohort 7 here → cohorts: 1, 2")
    assert error(season, "show", "cohort", "one", "2")[0] == "bad_cohort"


def test_diff_names_who_came_and_went_and_what_was_changed(season: Path) -> None:
    found = said(season, "show", "cohort", "1", "2")
    assert found["agents"]["added"] == [{"name": "favourite", "kind": "favourite"}]
    assert found["agents"]["removed"] == [{"name": "constant", "kind": "constant"}]
    assert found["agents"]["changed"] == {"ann": {"bets": {"was": 2, "is": 3}}}
    assert found["frozen"] == {"universe": {"show": {"was": 4, "is": 5}}}
    assert run(season, "show", "cohort", "1", "2").stdout.splitlines()[1:] == [
        "  + favourite (favourite)",
        "  - constant (constant)",
        "  ann: bets: 3, was 2",
        "  universe: show 5, was 4",
    ]
    assert said(season, "show", "cohort", "2", "next")["same"]
    told = run(season, "show", "cohort", "2", "next").stdout
    assert told.startswith("From cohort 2 to the next cohort:\n  nothing has changed\n")


def test_check_says_what_the_next_cohort_changes(season: Path, copy: Path) -> None:
    assert (said(season, "check")["differs_from"], said(season, "check")["difference_lines"]) == (2, [])
    assert "changes   none since cohort 2" in run(season, "check").stdout
    write(copy, *AFTER, *(f"{{kind: constant, name: c{n}, p: 0.4}}" for n in range(7)), show=5)
    told = run(copy, "check").stdout
    assert "changes   since cohort 2: + c0 (constant)" in told
    assert "and 2 more: arena show cohort 2 next" in told


# Heads


def test_a_head_is_checked_however_much_came_later(season: Path, copy: Path) -> None:
    heads = [said(season, "show", "cohort", "2", "--head", "--round", str(n))["head"] for n in range(3)]
    assert len({*heads}) == 3
    assert all(len(head) == 64 and set(head) <= HEX for head in heads)
    for _ in range(2):
        assert run(copy, "run", "--round").exit_code == 0
    for number, head in enumerate(heads):
        found = said(copy, "show", "cohort", "2", "--head", "--check", head.upper())
        assert found == {"cohort": 2, "round": number, "head": head}
    words = run(copy, "show", "cohort", "2", "--head", "--check", heads[0]).stdout
    assert "what cohort 2 froze, before its first round" in words
    assert run(copy, "show", "cohort", "2", "--head").stdout.splitlines()[0] not in heads


def test_what_is_no_head_is_told_apart(season: Path) -> None:
    head = said(season, "show", "cohort", "1", "--head")["head"]
    assert error(season, "show", "cohort", "2", "--head", "--check", head) == (
        "no_such_head",
        "no round of cohort 2 has this head; rounds with a head: 0, 1, 2 → it is one of cohort 1",
    )
    assert (
        "or this one was changed: run arena admin verify"
        in error(season, "show", "cohort", "2", "--head", "--check", "0" * 64)[1]
    )
    assert error(season, "show", "cohort", "2", "--head", "--check", "xyz")[0] == "bad_hash"
    assert error(season, "show", "cohort", "2", "--head", "--round", "3")[0] == "not_over"
    assert (
        error(season, "show", "cohort", "2", "--head", "--round", "1", "--check", head, status=64)[0]
        == "not_together"
    )


# Started, paused, ended


def test_who_starts_a_cohort_is_told_that_its_record_is_new(copy: Path) -> None:
    """A mistyped name makes a record of its own."""
    file = copy / "copy.db"
    named = ("--database", str(file))
    first = run(copy, "admin", "cohort", "start", *named).stdout
    assert first.startswith(f"{file} is a new record\nCohort 1 starts on ")
    second = run(copy, "admin", "cohort", "start", "--at", "2026-02-01", *named).stdout
    assert second.startswith("Cohort 2 starts on ")


def test_a_cohort_is_started_by_hand_at_the_next_decision_or_at_a_time(copy: Path) -> None:
    first = said(copy, "admin", "cohort", "start")
    assert (first["cohort"], first["starts_at"][:10], first["by_hand"]) == (3, "2026-01-25", True)
    second = said(copy, "admin", "cohort", "start", "--at", "2026-01-21T06:30Z")
    assert (second["cohort"], second["starts_at"][:16]) == (4, "2026-01-21T06:30")
    assert error(copy, "admin", "cohort", "start", "--at", "2026-01-25")[0] == "same_start"
    assert error(copy, "admin", "cohort", "start", "--at", "2026-01-18")[0] == "too_late"
    assert error(copy, "admin", "cohort", "start", "--at", "soon")[0] == "bad_time"
    played = [said(copy, "run", "--round") for _ in range(2)]
    assert [(each["at"][:10], [x["cohort"] for x in each["rounds"]]) for each in played] == [
        ("2026-01-21", [4]), ("2026-01-25", [2, 3]),
    ]  # fmt: skip
    assert said(copy, "check")["cohorts_by_hand"] == 2
    assert said(copy, "admin", "verify")["ok"]


def test_a_config_that_check_refuses_starts_nothing(copy: Path) -> None:
    write(copy, MARKET, "{kind: recorded, name: bob, file: moves.csv}")
    answer = run(copy, "admin", "cohort", "start")
    assert answer.exit_code == 1
    assert "there is no file moves.csv next to the config" in answer.output
    assert len(states(copy)) == 2


def test_a_cohort_is_paused_and_resumed(copy: Path) -> None:
    assert said(copy, "admin", "cohort", "pause", "2") == {"cohort": 2, "paused": True, "changed": True}
    assert said(copy, "admin", "cohort", "pause", "2")["changed"] is False
    assert states(copy) == ["tracked", "paused"]
    assert error(copy, "admin", "cohort", "pause", "1")[0] == "tracked"
    assert said(copy, "run", "--round")["rounds"] == []
    assert "decides again" in run(copy, "admin", "cohort", "resume", "2").stdout
    assert "already; nothing was changed" in run(copy, "admin", "cohort", "resume", "2").stdout


def test_a_cohort_is_ended_once_it_was_asked_whether_that_is_meant(copy: Path) -> None:
    silence = run(copy, "admin", "cohort", "end", "2", keys="")
    assert (silence.exit_code, silence.stderr.endswith("no answer was given\n→ see --help\n")) == (1, True)
    answer = run(copy, "admin", "cohort", "end", "2", keys="n\n")
    assert (answer.exit_code, states(copy)) == (1, ["tracked", "playing"])
    assert error(copy, "admin", "cohort", "end", "2")[0] == "not_asked"
    assert "makes no more decisions" in run(copy, "admin", "cohort", "end", "2", keys="y\n").stdout
    assert said(copy, "admin", "cohort", "end", "2", "--yes") == {
        "cohort": 2,
        "stopped": True,
        "changed": False,
    }
    for action in ("resume", "pause"):
        assert error(copy, "admin", "cohort", action, "2")[0] == "stopped"
    while None in [each["ended_at"] for each in said(copy, "show", "cohorts")["cohorts"]]:
        assert said(copy, "run", "--round")["rounds"] == []
    assert states(copy) == ["ended", "ended"]
    assert error(copy, "admin", "cohort", "end", "2", "--yes")[0] == "ended"
    assert said(copy, "admin", "verify")["ok"]


@pytest.mark.parametrize(
    "words",
    [
        ("admin", "cohort", "pause", "1"),
        ("admin", "cohort", "end", "1", "--yes"),
        ("show", "cohort", "1", "--head"),
    ],
)
def test_no_record_is_made_where_there_is_none(words: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path)
    assert error(tmp_path, *words)[0] == "no_record"
    assert not (tmp_path / "arena.db").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("show", "cohort", "--head"), ("--head", "N")),
        (("show", "cohort", "1", "--round", "0"), ("--round", "--head")),
        (("show", "cohort", "1", "--texts"), ("--texts", "OTHER")),
        (("show", "cohort", "1", "2", "--head"), ("OTHER", "--head")),
        (("admin", "cohort", "start", "1"), ("N", "start")),
        (("admin", "cohort", "end", "1", "--at", "2026-01-25"), ("--at", "end")),
        (("admin", "cohort", "resume", "1", "--yes"), ("--yes", "resume")),
        (("admin", "cohort", "pause"), ("pause", "N")),
    ],
)
def test_what_makes_no_sense_together_is_refused_by_both_names(
    words: tuple[str, ...], named: tuple[str, str], season: Path
) -> None:
    _, message = error(season, *words, status=64)
    assert all(name in message.split(" → ")[0].replace(",", "").split() for name in named), message
    assert states(season) == ["tracked", "playing"]


# What changes beside the record


def test_a_changed_prompt_counts_for_later_cohorts_only(tmp_path: Path) -> None:
    """Nobody is asked: the budget lets no call through."""
    prompt = tmp_path / "mine.md"
    prompt.write_text("It is {{ now }}.\nWhich will happen?\n", "utf-8")
    text = write(
        tmp_path, MARKET, "{model: demo/sharp, name: bob, prompt: mine.md, price: {input: 1, output: 1}}"
    )
    (tmp_path / "config.yaml").write_text(text + "budget: {call: 0}\n", "utf-8")
    assert run(tmp_path, "admin", "cohort", "start").exit_code == 0
    prompt.write_text("It is {{ now }}.\nWhich will not?\n", "utf-8")
    found = said(tmp_path, "show", "cohort", "1", "next", "--texts")
    assert list(found["prompts"]) == ["mine.md"]
    assert list(found["agents"]["changed"]["bob"]) == ["text of mine.md"]
    assert found["texts"]["mine.md"][3:] == [" It is {{ now }}.", "-Which will happen?", "+Which will not?"]
    words = run(tmp_path, "show", "cohort", "1", "next", "--texts").stdout
    assert "  prompt mine.md: edited\n" in words
    assert "\n+Which will not?\n" in words
    assert [run(tmp_path, "run", "--round").exit_code for _ in range(2)] == [2, 2]
    first, second = (said(tmp_path, "show", "cohort", number)["frozen"]["prompts"] for number in "12")
    assert first != second == {"mine.md": digest("It is {{ now }}.\nWhich will not?\n")}
    prompt.unlink()
    answer = run(tmp_path, "run", "--round")
    assert (answer.exit_code, "the file mine.md does not exist" in answer.output) == (1, True)
    assert said_without_config(tmp_path, "show", "cohort", "1")["frozen"]["prompts"] == first


def said_without_config(folder: Path, *words: str) -> Any:
    """Return the output where there is a record and no config."""
    (folder / "config.yaml").rename(folder / "other.yaml")
    return arena_json(folder, *words, "--database", "arena.db")


def test_an_agent_whose_file_is_gone_fails_and_the_others_play_on(tmp_path: Path) -> None:
    file = tmp_path / "extensions" / "kinds" / "lucky.py"
    file.parent.mkdir(parents=True)
    file.write_text("from agents.kinds.constant import Settings, agent\n", "utf-8")
    write(tmp_path, MARKET, "{kind: lucky}")
    assert run(tmp_path, "run", "--round").exit_code == 0
    file.unlink()
    refused = run(tmp_path, "run", "--round")
    assert (refused.exit_code, "there is no kind" in refused.output) == (1, True)
    write(tmp_path, MARKET)
    answer = said(tmp_path, "run", "--round", status=2)
    first, second = answer["rounds"]
    assert [turn["status"] for turn in first["turns"]] == ["played", "failed"]
    assert first["turns"][1]["note"].endswith(
        "put lucky.py back into extensions/kinds/ or extensions/ beside the config"
    )
    assert [turn["agent"] for turn in second["turns"]] == ["market"]
    removed = said(tmp_path, "show", "cohort", "1", "2")["agents"]["removed"]
    assert removed == [{"name": "lucky", "kind": "lucky"}]
    assert said(tmp_path, "show", "agent", "lucky")["cohorts"][0]["statuses"] == {"failed": 1, "played": 1}


def test_a_cohort_whose_venue_is_gone_waits_and_the_others_play_on(tmp_path: Path) -> None:
    file = tmp_path / "extensions" / "venues" / "mine.py"
    file.parent.mkdir(parents=True)
    file.write_text("from markets.venues.simulator import Settings, stamp, venue\n", "utf-8")
    write(tmp_path, venue="mine")
    assert run(tmp_path, "run", "--round").exit_code == 0
    file.unlink()
    write(tmp_path)
    answer = run(tmp_path, "run", "--round")
    assert answer.exit_code == 2
    assert "cohort 1 was not played or settled: its venue mine is missing" in answer.output
    assert "put mine.py back into extensions/venues/ or extensions/ beside the config" in answer.output
    assert run(tmp_path, "run", "--round", "--at", "2026-01-18").exit_code == 2
    assert [each["rounds_over"] for each in said(tmp_path, "show", "cohorts")["cohorts"]] == [1, 2]
    file.write_text("from markets.venues.simulator import Settings, stamp, venue\n", "utf-8")
    assert run(tmp_path, "run", "--round", "--at", "2026-01-18").exit_code == 0
    assert [each["rounds_over"] for each in said(tmp_path, "show", "cohorts")["cohorts"]] == [2, 2]
    assert said(tmp_path, "admin", "verify")["ok"]


def test_the_code_is_told_where_it_changes_after_an_upgrade_in_mid_cohort(
    tmp_path: Path,
) -> None:
    """Two weeks were played by version 1 of a former arena; then the record was carried over."""
    path = old_record(tmp_path / "record.db")
    write(tmp_path)
    here = partial(said, tmp_path, "--database", str(path))
    record = OpenedRecord.at(path)
    play_on(Season(record, version="2"), range(2, 5))
    record.close()
    assert here("show", "cohort", "1")["code_versions"] == [
        {"from_round": 1, "versions": ["1"]},
        {"from_round": 2, "versions": ["1", "2"]},
        {"from_round": 3, "versions": ["2"]},
    ]
    assert here("show", "cohort", "1")["config_hash"] is None
    stays = here("show", "agent", "ann")["cohorts"]
    assert [each["code_versions"] for each in stays[:2]] == [
        [{"from_round": 1, "versions": ["1"]}, {"from_round": 3, "versions": ["2"]}],
        [{"from_round": 1, "versions": ["1"]}, {"from_round": 2, "versions": ["2"]}],
    ]
    words = run(tmp_path, "show", "cohort", "1", "--database", str(path)).stdout
    assert "version 1 from round 1, then 1 and 2 from round 2, then 2 from round 3" in words
    assert "config    unknown: started by an earlier version" in words
    assert here("admin", "verify").items() >= AGREES.items()
