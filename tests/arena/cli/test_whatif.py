"""`arena study whatif`: what it prints and answers, and that the record stays as it was."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena.cli.page import page_lines
from arena.cli.table import TableChoice
from arena.cli.whatif import whatif_data, whatif_page
from arena.rounds.what_if import WhatIfEntry, WhatIfReport, WhatIfTotals
from tests.program.in_process import invoke
from tests.records.full_record import build


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record of five weeks with everything in it."""
    path = tmp_path_factory.mktemp("whatif") / "record.db"
    build(path).close()
    return path


def run(record: Path, *arguments: str) -> Any:
    """Return what the command line answers, after checking that the record stays the same."""
    before = sha256(record.read_bytes()).hexdigest()
    answer = invoke("study", "whatif", "--database", record, *arguments)
    assert sha256(record.read_bytes()).hexdigest() == before
    return answer


def found(record: Path, *arguments: str) -> Any:
    answer = run(record, *arguments, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_a_record_with_everything_in_it_is_played_again_to_the_last_hash(record: Path) -> None:
    answer = found(record)
    assert [(row["agent"], row["exact"], len(row["cohorts"])) for row in answer["agents"]] == [
        ("ann", True, 2),
        ("bob", True, 1),
        ("eve", True, 1),
        ("zoe", True, 1),
    ]
    for row in answer["agents"]:
        for key in ("pnl", "filled", "refused"):
            assert row[key] == row[f"{key}_then"]
    assert answer["changed"] == "Nothing changed."
    assert {row["code"]: row["refused"] for row in answer["refusals"]} == {
        row["code"]: row["refused_then"] for row in answer["refusals"]
    }


def test_an_agents_figures_are_the_sums_of_its_cohorts(record: Path) -> None:
    (ann,) = found(record, "--agent", "ann", "--fill", "mid", "--fee", "none")["agents"]
    for key in ("pnl", "pnl_then", "difference"):
        assert ann[key] == pytest.approx(sum(row[key] for row in ann["cohorts"]), abs=1e-6)
    assert ann["difference"] == pytest.approx(ann["pnl_then"] - ann["pnl"], abs=1e-6)
    assert [row["difference"] != 0 for row in ann["cohorts"]] == [True, False]  # the second plays so already


def test_the_tables_say_what_was_changed_and_why_wishes_were_refused(record: Path) -> None:
    text = run(record, "--min-bet", "250").stdout
    assert text.startswith("Changed: min bet $250.00 instead of $50.00.\n")
    assert "under_min" in text
    assert "bet $200.00 is under the minimum of $250.00" in text


def test_of_one_agent_every_cohort_has_a_line_and_all_together_one(record: Path) -> None:
    words = [line.split() for line in run(record, "--agent", "ann").stdout.splitlines()]
    assert [line[0] for line in words if line and line[0] in ("1", "2", "all")] == ["1", "2", "all"]


def test_a_dash_and_a_doubt_are_explained() -> None:
    tally = WhatIfTotals(5_000_000, 1, ())
    rows = WhatIfEntry("mum", 1, True, tally, None), WhatIfEntry("old", 1, False, tally, tally)
    data = whatif_data(WhatIfReport("Changed: all.", rows), None)
    assert [(row["agent"], row["pnl"], row["pnl_then"]) for row in data["agents"]] == [
        ("mum", 5.0, None),
        ("old", 5.0, 5.0),
    ]
    text = "\n".join(page_lines(whatif_page(data, False, TableChoice()), None))
    assert "no forecasts were stated to bet on: mum." in text
    assert "replaying the decisions of old by their own rules gives another ledger" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--agent", "nobody"], "no_agent", "there is no agent 'nobody' here"),
        (["--cohort", "9"], "no_cohort", "there is no cohort 9 here"),
        (["--rules", "mine"], "usage", "Invalid value for '--rules'"),
        (["--fill", "best"], "bad_value", "--fill best: expected one of book, mid"),
        (["--min-bet", "-3"], "bad_value", "--min-bet -3: expected dollars, above 0"),
        (["--max-bet", "2"], "bad_value", "--max-bet 2: expected a part of the cash"),
        (["--max-bet", "nan"], "bad_value", "--max-bet nan: expected a part of the cash"),
        (["--sizing", "flat", "--stake", "0"], "bad_value", "--stake 0: expected dollars, above 0"),
        (["--stake", "60"], "bad_value", "--stake needs --sizing flat, not as-bet"),
    ],
)
def test_mistakes_are_told_with_a_code(record: Path, arguments: list[str], code: str, words: str) -> None:
    answer = run(record, *arguments, "--json")
    error = json.loads(answer.stdout)["error"]
    assert (answer.exit_code, error["code"]) == (64 if code in ("bad_value", "usage") else 1, code)
    assert error["message"].startswith(words)
