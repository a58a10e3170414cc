"""`arena score`: files of forecasts and of tournaments in, boards out."""

import json
import math
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.seed_001 import FORECASTERS, TABLES, question_of
from tests.program.in_process import invoke

HEAD = "question,forecaster,probability,outcome"
FIELDS = {
    "forecaster", "forecasts", "questions", "events", "brier", "log", "baseline", "peer", "relative", "skill",
    "skill_low", "skill_high",
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_scored(here: Path) -> None:
    (here / "f.csv").write_bytes(f"\ufeff{HEAD}\r\na,ann,0.8,1\r\na,bob,0.4,1\r\n".encode())
    answer = invoke("score", "f.csv", "--json")
    found = json.loads(answer.stdout)
    assert (answer.exit_code, found["mode"]) == (0, "exact")
    assert all(row.keys() >= FIELDS for row in found["rows"])
    assert [(row["forecaster"], round(row["peer"], 1), row["skill"]) for row in found["rows"]] == [
        ("ann", 69.3, None),
        ("bob", -69.3, None),
    ]
    shown = invoke("score", "f.csv", "--mode", "metaculus").stdout
    assert "Mode metaculus" in shown
    assert "+69.31" in shown


def test_who_is_better_is_told_of_a_file_and_not_of_its_categories(here: Path) -> None:
    """Over 120 weeks one of two says what happens and the other the opposite."""
    start = date(2024, 1, 1)
    lines = [f"{HEAD},market_probability,time,resolved,category"]
    for week in range(120):
        made = start + timedelta(weeks=week)
        known = start + timedelta(weeks=week, days=6)
        rest = f"{week % 2},0.5,{made},{known},{'ab'[week % 3 == 0]}"
        lines += [f"q{week},ann,{(0.1, 0.9)[week % 2]},{rest}", f"q{week},bob,{(0.7, 0.3)[week % 2]},{rest}"]
    (here / "f.csv").write_text("\n".join(lines), "utf-8")

    found = json.loads(invoke("score", "f.csv", "--json").stdout)
    assert found["sentence"].startswith("ann forecasts better than bob")
    assert (found["leader"], [(pair["better"], pair["worse"]) for pair in found["pairs"]]) == (
        "ann",
        [("ann", "bob")],
    )
    rows = {row["forecaster"]: row for row in found["rows"]}
    assert [(row["rank_low"], row["rank_high"], row["price"]) for row in rows.values()] == [
        (1, 1, "better"),
        (2, 2, "worse"),
    ]
    assert (rows["ann"]["better_than"], rows["bob"]["worse_than"]) == (["bob"], ["ann"])

    words = invoke("score", "f.csv").stdout
    assert words.startswith(f"{found['sentence']}\n{found['guarantee']}\n")
    head, first, second = (line.split() for line in words.splitlines()[3:6])
    assert head[:6] == ["ranks", "forecaster", "better", "than", "skill", "95%"]
    assert (first[:5], second[:5]) == (["1", "ann", "1", "of", "1"], ["2", "bob", "0", "of", "1"])

    by = json.loads(invoke("score", "f.csv", "--by", "category", "--json").stdout)
    assert (by["sentence"], {row["rank_low"] for row in by["rows"]}) == (None, {None})
    assert "ranks" not in invoke("score", "f.csv", "--by", "category").stdout


SEASON = [f"{HEAD},market_probability,title,reason"]
for number in range(40):
    rest = f"{number % 2},{0.3 + number / 100:.2f},Will it {'rain ' * 20}on day {number}?,because"
    SEASON.append(f"q{number:02},ann,{0.9 if number % 2 or number % 8 == 0 else 0.1},{rest}")
    SEASON.append(f"q{number:02},bob,{0.5 - (number == 4) / 4},{rest}")


def test_the_answer_says_what_explains_the_scores_in_eighty_columns(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "f.csv").write_text("\n".join(SEASON), "utf-8")
    monkeypatch.setenv("COLUMNS", "80")
    lines = invoke("score", "f.csv").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    at = {line.partition(":")[0]: place for place, line in enumerate(lines)}
    assert at["Calibration"] < at["Worst forecasts"]
    shares, counts = (lines[at["Calibration"] + place].split() for place in (3, 4))
    assert (shares[0], shares[1:], counts) == ("ann", ["0%", "80%"], ["forecasts", "15", "25"])
    assert "Read: ann says 90–100%: 25 forecasts, 80% came true." in lines
    worst = " ".join(lines[at["Worst forecasts"] + 2 :])
    assert "Will it rain" in worst
    assert "because" in worst


def test_of_options_it_says_how_they_count_and_which_came_true(here: Path) -> None:
    lines = ["question,forecaster,option,probability,outcome"]
    for number in range(10):
        happened = "draw" if number else "away side"
        shares = {"home": 0.65, "draw": 0.23, "away side": 0.12}
        lines += [f"m{number},ann,{option},{said},{happened}" for option, said in shares.items()]
    (here / "f.csv").write_text("\n".join(lines), "utf-8")
    shown = invoke("score", "f.csv", "--html", "f.html").stdout
    note = "Each option counts as a forecast of yes or no; all of a question weigh as one."
    assert shown.count(note) == 1
    page = (here / "f.html").read_text("utf-8")
    assert page.count(note) == 1
    assert ">away side</td>" in page
    worst = next(line for line in shown.splitlines() if "away side" in line)
    assert worst.split()[:4] == ["ann", "m0", "12%", "–"]


def test_a_page_and_a_badge_are_written(here: Path) -> None:
    (here / "f.csv").write_text("\n".join(SEASON), "utf-8")
    words = ("score", "f.csv", "--json", "--html", "f.html", "--badge", "bob=bob.json")
    found = json.loads(invoke(*words).stdout)
    assert (found["html"], found["badge"]) == ("f.html", "bob.json")
    assert found["sentence"] in (here / "f.html").read_text("utf-8")
    assert json.loads((here / "bob.json").read_text("utf-8"))["label"] == "bob"
    assert "f.html already exists" in json.loads(invoke(*words).stdout)["error"]["message"]
    again = invoke("score", "f.csv", "--badge", "bob.json", "--force")
    assert again.stdout.endswith("Written: bob.json\n")
    assert json.loads((here / "bob.json").read_text("utf-8"))["label"] == "ann"
    unknown = json.loads(invoke("score", "f.csv", "--badge", "zoe=z.json", "--json").stdout)["error"]
    assert (unknown["code"], list(here.glob("z*"))) == ("unknown_name", [])

    for option in ("--html", "--badge"):
        refused = invoke("score", "f.csv", option, "../" + here.name + "/f.csv", "--force")
        assert (refused.exit_code, "is read for the scores" in refused.stderr) == (1, True)
    assert (here / "f.csv").read_text("utf-8") == "\n".join(SEASON)


def test_a_file_comes_in_on_the_standard_input(here: Path) -> None:
    answer = invoke("score", "-", "--json", given=f"{HEAD}\na,ann,0,1\n")
    assert json.loads(answer.stdout)["rows"][0]["log"] is None
    assert "Mode exact.\n\n- no peer" in invoke("score", "-", given=f"{HEAD}\na,ann,1,1\n").stdout


GOOD = {
    "question": "q", "forecaster": "ann", "probability": "0.5", "outcome": "1", "time": "2026-01-02",
    "open": "2026-01-01", "close": "2026-02-01", "event": "e",
}  # fmt: skip
TWENTY: list[tuple[dict[str, str], str, str]] = [
    ({"probability": "1.7"}, "probability", "'1.7' is not from 0 to 1"),
    ({"probability": "often"}, "probability", "'often' is not a number"),
    ({"probability": "1e999"}, "probability", "'1e999' is not a number"),
    ({"probability": "145%"}, "probability", "'145%' is not from 0 to 1"),
    ({"probability": "-0.2"}, "probability", "'-0.2' is not from 0 to 1"),
    ({"probability": "nan"}, "probability", "'nan' is not a number"),
    ({"outcome": "perhaps"}, "outcome", "'perhaps' is not a number"),
    ({"outcome": "2"}, "outcome", "'2' is not from 0 to 1"),
    ({"outcome": "0"}, "outcome", "'0', but the same question has '1' in line 2"),
    ({"outcome": ""}, "outcome", "'', but the same question has '1' in line 2"),
    ({"question": ""}, "question", "it is empty"),
    ({"forecaster": ""}, "forecaster", "it is empty"),
    ({"forecaster": "ann"}, "forecaster", "'ann' has forecast the same question at the same time in line 2"),
    ({"time": "soon"}, "time", "'soon' is not a time"),
    ({"time": "45000"}, "time", "'45000' mixes numbers and dates"),
    ({"time": "2026-03-02"}, "time", "'2026-03-02' is after its close, '2026-02-01'"),
    ({"time": "2025-12-02"}, "time", "'2025-12-02' is before its open, '2026-01-01'"),
    ({"close": ""}, "close", "'', but the same question has '2026-02-01' in line 2"),
    ({"event": "other"}, "event", "'other', but the same question has 'e' in line 2"),
    ({"question": "late", "close": "2025-12-31"}, "close", "'2025-12-31' is before its open, '2026-01-01'"),
]


def test_twenty_faults_are_named_by_line_and_column(here: Path) -> None:
    """Beside them a line with too few cells, and a column whose name has a slip in it."""
    rows = [GOOD, *(GOOD | {"forecaster": f"f{place}"} | row for place, (row, *_) in enumerate(TWENTY))]
    lines = [
        ",".join([*GOOD, "market_probabilty"]),
        *(",".join([*row.values(), ""]) for row in rows),
        "q,zoe",
    ]
    (here / "f.csv").write_text("\n".join(lines))
    objects = [json.dumps(row | {"market_probabilty": None}) for row in rows]
    (here / "f.jsonl").write_text("\n".join(["", *objects, '{"question": ']))
    for name, torn in (("f.csv", "it has 2 cells, the first line 9"), ("f.jsonl", "invalid JSON")):
        answer = invoke("score", name, "--json")
        error = json.loads(answer.stdout)["error"]
        found = {(one["line"], one["field"]): one for one in error["faults"]}
        assert (answer.exit_code, error["code"], error["more_faults"]) == (1, "bad_file", 0)
        for line, (_, column, said) in enumerate(TWENTY, 3):
            assert found.pop((line, column))["message"] == said
        slip = found.pop((1, "market_probabilty"))["message"]
        assert slip == "it is unknown; did you mean market_probability?"
        assert torn in found.pop((23, ""))["message"]
        assert set(found) <= {(22, "time")}  # which is after the wrong close
        assert all(one["mend"] for one in error["faults"])
        assert f"{name}:3: column probability: '1.7' is not from 0 to 1 →" in invoke("score", name).stderr


def test_of_many_lines_with_one_fault_one_is_told_with_their_count_and_the_first(here: Path) -> None:
    lines = [HEAD, *(f"q{row},ann,2,1" for row in range(1_000)), "q,,0.5,1"]
    (here / "f.csv").write_text("\n".join(lines))
    error = json.loads(invoke("score", "f.csv", "--json").stdout)["error"]
    (cause, last), more = error["faults"], error["more_faults"]
    assert (cause["line"], cause["count"], cause["lines"], more) == (2, 1_000, [2, 3, 4, 5, 6], 0)
    assert last["line"] == 1_002
    assert "'2' is not from 0 to 1 (1,000 such lines: 2, 3, 4, 5, 6 …)" in error["message"]
    assert error["mend"].startswith("correct all 1,001;")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "f.csv: the file is empty"),
        (f"{HEAD}\na,ann,1.2,1\n".encode(), "f.csv:2: column probability: '1.2' is not from 0 to 1"),
        (f"{HEAD}\nb\xfc,ann,1,1\n".encode("latin-1"), "f.csv:2: this is not UTF-8"),
    ],
)
def test_a_bad_file_scores_nothing(here: Path, data: bytes, said: str) -> None:
    (here / "f.csv").write_bytes(data)
    answer = invoke("score", "f.csv", "--json")
    error = json.loads(answer.stdout)["error"]
    assert (answer.exit_code, error["code"], error["message"]) == (1, "bad_file", said)
    assert error["mend"]
    assert invoke("score", "f.csv").stdout == ""


@pytest.mark.parametrize("file", ["none.csv", "none.yaml"])
def test_a_file_that_is_not_there(here: Path, file: str) -> None:
    error = json.loads(invoke("score", file, "--json").stdout)["error"]
    assert error["code"] == "no_file"
    assert file in error["message"]


def test_categories_need_a_column(here: Path) -> None:
    (here / "f.csv").write_text(f"{HEAD}\na,ann,0.5,1\n")
    assert (
        json.loads(invoke("score", "f.csv", "--by", "category", "--json").stdout)["error"]["code"]
        == "no_category"
    )
    (here / "f.csv").write_text(f"{HEAD},category\na,ann,0.5,1,weather\n")
    assert "weather" in invoke("score", "f.csv", "--by", "category").stdout


@pytest.mark.parametrize(
    ("weight", "prizes"), [("", [108, 779, 45, 68]), ("hidden_weight: 1", [149, 799, 52, 0])]
)
def test_both_leaderboards_of_2022(here: Path, weight: str, prizes: list[int]) -> None:
    lines = ["question,forecaster,chance,time,end,open,close,scheduled_close,hidden_until"]
    for number, table in TABLES.items():
        question = question_of(table)
        life = f"{question.opens:g},{question.closes:g},{question.scheduled:g},2"
        for name, days in table.items():
            lines += [f"{number},{name},{x},{d},{d + 1},{life}" for d, x in enumerate(days) if x is not None]
    (here / "days.csv").write_text("\n".join(lines))
    (here / "cup.yaml").write_text(f"form: 2022\nforecasts: days.csv\npool: 1000\n{weight}\n")
    found = json.loads(invoke("score", "cup.yaml", "--json").stdout)
    won = {row["forecaster"]: round(row["prize"]) for row in found["rows"]}
    assert (found["form"], found["mode"], [won[name] for name in FORECASTERS]) == ("2022", "exact", prizes)
    shown = invoke("score", "cup.yaml").stdout
    assert "Form 2022, mode exact" in shown


PEERS = f"{HEAD}\na,ann,0.8,1\na,bob,0.4,1\na,bot,0.4,1\nb,ann,0.5,0\nb,bob,0.5,0\nc,ann,0.5,\n"


def cup(here: Path, text: str, forecasts: str = PEERS) -> Any:
    (here / "cup.csv").write_text(forecasts)
    (here / "cup.yaml").write_text(f"forecasts: cup.csv\n{text}\n")
    return json.loads(invoke("score", "cup.yaml", "--json").stdout)


def test_a_tournament_by_peer_scores(here: Path) -> None:
    found = cup(here, "pool: 100")
    rows = {row["forecaster"]: row for row in found["rows"]}
    assert (found["form"], found["notes"]) == (
        "peer",
        ["not scored: 1 question without an outcome of 0 or 1"],
    )
    assert rows["ann"]["score"] == pytest.approx(69.3147, abs=1e-4)
    assert rows["bob"]["score"] == pytest.approx(-69.3147 / 2, abs=1e-4)
    assert (rows["ann"]["prize"], rows["bob"]["prize"]) == (100, 0)


def test_who_is_excluded_wins_nothing_and_who_is_outside_changes_nothing(here: Path) -> None:
    rows = {row["forecaster"]: row for row in cup(here, "pool: 100\nexclude: [ann]\noutside: [bot]")["rows"]}
    assert (rows["ann"]["excluded"], rows["ann"]["prize"]) == (True, 0)
    assert rows["bob"]["score"] == pytest.approx(-69.3147, abs=1e-4)


def test_a_minimum_prize_and_weights(here: Path) -> None:
    said = f"{HEAD}\na,ann,0.8,1\na,bob,0.4,1\nb,bob,0.8,1\nb,cho,0.6,1\nc,cho,0.9,1\nc,dan,0.6,1\n"
    full = {row["forecaster"]: row["prize"] for row in cup(here, "pool: 100", said)["rows"]}
    assert 0 < full["cho"] < 10
    cut = {row["forecaster"]: row["prize"] for row in cup(here, "pool: 100\nminimum_prize: 10", said)["rows"]}
    assert (cut["ann"], cut["cho"]) == (100, 0)
    weighed = {
        row["forecaster"]: row["prize"] for row in cup(here, "pool: 100\nweights: {a: 0}", said)["rows"]
    }
    assert weighed["ann"] == 0


HIDDEN_UNTIL_2 = """question,forecaster,probability,outcome,time,open,close,scheduled_close,hidden_until
a,ann,0.8,1,0,0,8,8,2
a,bob,0.4,1,0,0,8,8,2
a,bob,0.9,1,2,0,8,8,2
a,cho,0.9,1,3,0,8,8,2
b,ann,0.5,0,0,0,1,4,2
b,bob,0.8,0,0,0,1,4,2
"""


@pytest.mark.parametrize("weight", [0, 0.25, 0.5, 1])
def test_a_peer_tournament_with_a_hidden_period(here: Path, weight: float) -> None:
    """By hand: question a is hidden for a quarter of its life, b closes within its hidden half."""
    first = math.log(0.8 / 0.4), 0.0
    early = math.log(0.5 / 0.2) / 2
    rest = [math.log(0.8 / 0.9) / 6 + 5 / 6 * math.log(0.8 / 0.9), 5 / 6 * math.log(0.9 / math.sqrt(0.72))]
    found = cup(here, f"pool: 100\nhidden_weight: {weight}", HIDDEN_UNTIL_2)
    rows = {row["forecaster"]: row for row in found["rows"]}
    for name, hidden, shown in (("ann", first[0] + early, rest[0]), ("cho", first[1], rest[1])):
        assert rows[name]["score"] == pytest.approx(100 * (weight * hidden + (1 - weight) * shown))
    covered = {"ann": 1.5 * weight + 1 - weight, "cho": (1 - weight) * 5 / 6}
    for name, share in covered.items():
        assert rows[name]["coverage"] == pytest.approx(share / 2)
    assert f"counts {weight:.0%} of scores and coverage" in invoke("score", "cup.yaml").stdout
    swept = json.loads(invoke("score", "cup.yaml", "--sweep", "--json").stdout)["sweep"]
    prizes = {row["forecaster"]: row["prizes"][f"{weight:g}"] for row in swept}
    assert prizes == {name: row["prize"] for name, row in rows.items()}
    by_site = json.loads(invoke("score", "cup.yaml", "--mode", "metaculus", "--json").stdout)
    assert [row["forecaster"] for row in by_site["rows"]] == [row["forecaster"] for row in found["rows"]]


def test_without_a_weight_a_hidden_period_counts_by_its_length(here: Path) -> None:
    one = HIDDEN_UNTIL_2.split("b,ann", maxsplit=1)[0]
    whole, weighed = (
        {row["forecaster"]: row["score"] for row in cup(here, f"pool: 1\n{weight}", one)["rows"]}
        for weight in ("", "hidden_weight: 0.25")
    )
    assert weighed == pytest.approx(whole)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("form: other", "config", "form"),
        ("pool: -1", "config", "pool"),
        ("prize: 1", "config", "prize"),
        ("hidden_weight: 1", "no_hidden", "hidden"),
        ("hidden_weight: 1.1", "config", "hidden_weight"),
        ("hidden_weight: .nan", "config", "hidden_weight"),
        ("pool: 5\nminimum_prize: 6", "config", "pool"),
        ("weights: {a: -1}", "config", "weights"),
        ("weights: {nothing: 1}", "unknown_name", "nothing"),
        ("exclude: [nobody]", "unknown_name", "nobody"),
        ("form: 2022\nhidden_weight: 0.5", "no_hidden", "hidden"),
        ("hidden: 2", "config", "hidden counts the rounds of a cohort"),
        ("cohort: 1", "config", "from a file or from a cohort"),
        ("cohort: 0", "config", "cohort"),
    ],
)
def test_rules_that_make_no_sense(here: Path, text: str, code: str, said: str) -> None:
    error = cup(here, text)["error"]
    assert code in error["code"]
    assert said in error["message"]


def test_a_tournament_needs_forecasts(here: Path) -> None:
    (here / "cup.yaml").write_text("pool: 100\n")
    error = json.loads(invoke("score", "cup.yaml", "--json").stdout)["error"]
    assert "a CSV beside this file, or cohort: the number of one" in error["message"]


FOR_FORECASTS = (
    ("--questions", "q.json"), ("--resolutions", "r.json"), ("--by", "category"), ("--rule", "metaculus"),
    ("--against", "ann"), ("--adjusted",), ("--outside", "bob"), ("--provisional",), ("--community",),
    ("--parts",),
)  # fmt: skip


@pytest.mark.parametrize("words", FOR_FORECASTS, ids=lambda words: words[0])
def test_a_tournament_refuses_options_for_forecasts(here: Path, words: tuple[str, ...]) -> None:
    cup(here, "pool: 100")
    done = invoke("score", "cup.yaml", *words)
    assert (done.exit_code, done.stdout) == (64, "")
    assert f"{words[0]} can't be combined with a tournament (cup.yaml)" in " ".join(done.stderr.split())


def test_a_tournament_is_scored_alone_and_forecasts_have_no_sweep(here: Path) -> None:
    cup(here, "pool: 100")
    done = invoke("score", "cup.yaml", "cup.csv")
    assert (done.exit_code, "another file can't be combined with a tournament" in done.stderr) == (64, True)
    done = invoke("score", "cup.csv", "--sweep")
    assert (done.exit_code, "--sweep can't be combined with files of forecasts" in done.stderr) == (64, True)


def test_the_form_of_2022_has_one_mode(here: Path) -> None:
    cup(here, "form: 2022")
    answer = invoke("score", "cup.yaml", "--mode", "metaculus", "--json")
    assert (answer.exit_code, json.loads(answer.stdout)["error"]["code"]) == (1, "no_mode")
