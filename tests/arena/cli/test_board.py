"""`arena board` in words and in JSON: the verdict, the board and references, and two agents compared."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from math import inf
from typing import Any

import pytest

from arena.cli.board import leaderboard_page
from arena.cli.page import print_page
from arena.cli.table import TableChoice
from arena.scores.leaderboard import Leaderboard, LeaderboardRow, leaderboard_data
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.duel_evidence import PairEvidence
from arena.scores.verdict import Candidate, SeasonState, Verdict, duel_data, make_verdict

UNKNOWN: dict[str, Any] = dict.fromkeys(f.name for f in fields(LeaderboardRow) if f.default is MISSING)
COUNTS = dict.fromkeys(
    ("cohorts", "turns", "malformed", "failed", "late", "retried", "bets", "sold", "shown", "answered"), 0
)
ROW = LeaderboardRow(
    **UNKNOWN
    | COUNTS
    | {
        "kind": "llm",
        "turns": 5,
        "answered": 90,
        "shown": 90,
        "resolved": 80,
        "events": 40,
        "coverage": 1.0,
        "brier_stated": 0.18,
        "brier_market": 0.2,
        "brier_implied": 0.4321,
        "skill": 0.02,
        "skill_low": -0.01,
        "skill_high": 0.05,
        "pnl": 1234.4,
        "invested": 321.0,
        "distance": 0.07,
        "cost_usd": 1.25,
        "win_rate": 0.5,
        "evidence": 7.0,
    }
)
FITTING = TableChoice()
ORDER = "Sorted by rank, then by the lower end of the interval."


def board_of(*rows: LeaderboardRow, told: tuple[tuple[str, str], ...] = (), events: int = 40) -> Leaderboard:
    """Return a board with its verdict, in which the first of each pair is better."""
    pairs = [PairEvidence(better, worse, 0.02, 0.0, 1.0, None, events, None) for better, worse in told]
    candidates = [
        Candidate(x.agent, x.is_reference, None if x.ranked else x.why_not, x.copies, x.skill, x.skill_low)
        for x in rows
    ]
    verdict = make_verdict(candidates, pairs, [], SeasonState(resolved_events=events))
    by_name = {row.agent: row for row in rows}
    ordered = [
        replace(
            by_name[one.agent],
            rank_low=one.rank_low,
            rank_high=one.rank_high,
            better_than=one.better_than,
            worse_than=one.worse_than,
        )
        for one in verdict.agents
    ]
    return Leaderboard(verdict, None, tuple(ordered))


def found_of(board: Leaderboard, calibration: Mapping[str, str] = {}, **more: Any) -> dict[str, Any]:
    """Return the command's JSON data."""
    texts = [{"agent": name, "text": text} for name, text in calibration.items()]
    about = {"simulated": False, "thinking": [], "later_models": {}, "calibration": texts}
    return leaderboard_data(board) | about | more


BOARD = board_of(
    replace(ROW, agent="sharp"),
    replace(ROW, agent="hasty", skill=-0.01, skill_low=-0.03, skill_high=0.01, pnl=-50.0),
    replace(ROW, agent="a-model-with-a-long-name-of-its-own", skill_low=-0.02),
    replace(ROW, agent="market", kind="market", is_reference=True, skill=0.0, cost_usd=0.0),
    replace(ROW, agent="idle", ranked=False, why_not="covers 10% of what has resolved"),
    replace(ROW, agent="echo", copies="sharp"),
    told=(("sharp", "hasty"),),
)


def shown(
    found: Mapping[str, Any],
    width: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    choice: TableChoice = FITTING,
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    print_page(leaderboard_page(found, choice))
    return capsys.readouterr().out


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_at_eighty_characters_it_has_eight_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(found_of(BOARD, {"sharp": "says 81%, happens 78%"}), 80, capsys, monkeypatch)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line for line in lines if line.lstrip().startswith("ranks "))
    assert head.split() == ["ranks", "agent", "price", "interval", "than", "Brier", "P/L", "cost"]
    rows = [one_line(line) for line in lines]
    assert "1–2 sharp +10.0 -5.0 to +25.0 1 of 2 0.1800 +$1,234 $1.25" in rows
    assert "2–3 hasty -5.0 -15.0 to +5.0 0 of 2 0.1800 -$50 $1.25" in rows
    assert "*Implied" not in text, "a footnote only for what is shown"
    assert "Calibration" not in text
    assert f"{ORDER} Ranks: " in one_line(text)
    assert "columns are hidden; widen the terminal or use --wide." in text


def test_a_row_of_the_community_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Brier score weighs markets otherwise than those of the rows beside it."""
    assert "Community:" not in shown(found_of(BOARD), 80, capsys, monkeypatch)
    metaculus = [{"agent": "community", "brier": 0.15}]
    text = one_line(shown(found_of(BOARD, metaculus=metaculus), 80, capsys, monkeypatch))
    assert "community – – 0.1500" in text
    assert "Community: the recency-weighted median of all agents." in text
    weights = "Its Brier score counts a market once in each cohort, the others' scores count it once."
    assert weights in text
    cohort = found_of(BOARD, metaculus=metaculus, over_all_cohorts="As before.")
    text = one_line(shown(cohort, 80, capsys, monkeypatch))
    assert "Community:" in text
    assert weights not in text


def test_the_verdict_and_what_it_guarantees_come_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(found_of(BOARD), 300, capsys, monkeypatch)
    assert BOARD.verdict is not None
    assert BOARD.verdict.guarantee
    assert one_line(text).startswith(f"{BOARD.verdict.sentence} {BOARD.verdict.guarantee} ")
    untold = board_of(replace(ROW, agent="sharp"), replace(ROW, agent="hasty"))
    assert "at most 5%" not in shown(found_of(untold), 80, capsys, monkeypatch)


def test_calibration_and_the_implied_score_are_there_from_a_hundred_characters_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = found_of(BOARD, {"sharp": "says 81%, happens 78%"})
    text = shown(found, 110, capsys, monkeypatch)
    assert max(map(len, text.splitlines())) <= 110
    own = next(line for line in text.splitlines() if " sharp " in line)
    assert own.endswith("says 81%, happens 78%    0.4321")
    assert {"Calibration:", "*Implied:"} <= set(text.split())
    assert "evidence" not in text
    assert "evidence" in shown(found, 99, capsys, monkeypatch, TableChoice(columns="agent,evidence"))


def test_references_and_those_who_are_not_ranked_stand_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(found_of(BOARD), 100, capsys, monkeypatch)
    agents, _, rest = text.partition("References, not ranked\n")
    references, _, unranked = rest.partition("Not ranked\n")
    assert [name for name in ("market", "idle", "echo") if name in agents.partition(" cost")[2].split()] == []
    assert "market" in references.split()
    assert "ranks" not in references
    assert "better" not in references
    assert "covers 10% of what has resolved" in unranked
    assert "copies sharp" in unranked


def test_before_twenty_events_nobody_is_ranked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    early: dict[str, Any] = {"events": 0, "resolved": 0, "skill": None, "skill_low": None, "skill_high": None}
    early |= {"ranked": False, "why_not": "nothing resolved", "brier_stated": None, "brier_market": None}
    names = ("hasty", "sharp", "market")
    rows = [replace(ROW, agent=name, is_reference=name == "market", **early) for name in names]
    found = found_of(board_of(*rows, events=0))
    text = shown(found, 80, capsys, monkeypatch)
    assert text.startswith("Nothing has resolved yet, so there is nothing to compare.")
    assert "open positions" in text
    assert "Not ranked" not in text, "nobody is left out of what has not begun"
    agents, _, references = text.partition("References, not ranked")
    assert ["hasty", "+$1,234", "$321", "0.070", "$1.25", "90", "0", "0"] in [
        line.split() for line in agents.splitlines()
    ]
    assert "market" in references
    assert "Provisional, sorted by profit: nothing is ranked before 20 events have resolved." in one_line(
        text
    )
    assert max(map(len, text.splitlines())) <= 80
    assert "+$1,234" in shown(found, 80, capsys, monkeypatch, TableChoice(columns="agent,pnl,skill"))


def test_a_cohort_has_figures_and_no_ranks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [replace(row, rank_low=None, rank_high=None, better_than=()) for row in BOARD.rows]
    board = Leaderboard(None, None, tuple(rows))
    found = found_of(board, {"sharp": "says 81%, happens 78%"}, over_all_cohorts="sharp forecasts better.")
    text = shown(found, 80, capsys, monkeypatch)
    assert text.startswith("Over all cohorts: sharp forecasts better.\n")
    assert max(map(len, text.splitlines())) <= 80
    assert not {"ranks", "Ranks:", "than 95%"} & {*text.split()}
    own = next(line for line in text.splitlines() if line.startswith("sharp "))
    assert own.endswith("says 81%, happens 78%    0.4321")
    assert "Sorted by the lower end of the interval." in one_line(text)
    assert "+$1,234" in own


def test_names_can_not_command_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "\x1b[31mred\nsharp \u202e"
    board = board_of(replace(ROW, agent=hostile), replace(ROW, agent="bob"), told=((hostile, "bob"),))
    text = shown(found_of(board), 80, capsys, monkeypatch)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert [line for line in text.splitlines() if line.startswith("sharp")] == []
    assert max(map(len, text.splitlines())) <= 80


def test_programs_read_the_same_verdict() -> None:
    found = json.loads(json.dumps(found_of(BOARD), allow_nan=False))
    assert BOARD.verdict is not None
    assert (found["sentence"], found["guarantee"]) == (BOARD.verdict.sentence, BOARD.verdict.guarantee)
    assert found["leader"] is None
    told = {"better": "sharp", "worse": "hasty", "by": 0.02, "since": "1970-01-01T00:00:00+00:00"}
    assert found["pairs"] == [told | {"coverage": 1.0, "note": None}]
    rows = {row["agent"]: row for row in found["leaderboard"]}
    assert [rows["sharp"][key] for key in ("rank_low", "rank_high", "better_than")] == [1, 2, ["hasty"]]
    assert (rows["hasty"]["worse_than"], rows["hasty"]["price"]) == (["sharp"], "none")
    assert {"verdict", "price_verdict", "invested", "distance"} <= rows["market"].keys()
    whole = board_of(replace(ROW, agent="sharp"), replace(ROW, agent="hasty"), told=(("sharp", "hasty"),))
    assert found_of(whole)["leader"] == "sharp"


DUEL = Duel("sharp", "hasty", 20, 20, 20, 20.0, 0.02, 0.01, 0.04, None, low=0.001, high=0.039)


@pytest.mark.parametrize(
    ("since", "weeks", "told", "never", "sentence"),
    [
        (0.0, None, True, False, "sharp forecasts better than hasty since 1 January 1970."),
        (
            None,
            9.0,
            False,
            False,
            "sharp and hasty cannot be told apart yet (would take about 9 more weeks).",
        ),
        (
            None,
            inf,
            False,
            True,
            "sharp and hasty cannot be told apart yet (likely never: the gap is too small).",
        ),
        (None, None, False, False, "sharp and hasty cannot be told apart yet (too early to say when)."),
    ],
)
def test_a_duel_for_programs_says_what_is_told_of_the_pair(
    since: float | None, weeks: float | None, told: bool, never: bool, sentence: str
) -> None:
    pair = PairEvidence("sharp", "hasty", 0.02, since, 0.9, None, 20, weeks)
    candidates = [Candidate("sharp"), Candidate("hasty")]
    verdict = make_verdict(candidates, [pair], [], SeasonState(resolved_events=20))
    found = json.loads(json.dumps(duel_data(DUEL, verdict), allow_nan=False))
    assert (found["pair"]["told"], found["pair"]["never"], found["sentence"]) == (told, never, sentence)
    assert found["pair"]["weeks_more"] == (None if never else weeks)
    assert (found["gap"], found["low"], found["high"]) == (0.02, 0.001, 0.039)
    assert not {"p", "adjusted", "winner"} & found.keys()
    assert duel_data(DUEL, Verdict())["pair"] is None
