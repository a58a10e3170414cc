"""`arena score` by others' rules: figures of the seeds, Metaculus's own cases, Autocast, ForecastBench."""

import csv
import json
import math
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.score_files import as_file, differences, outside_of
from tests.oracles.scoring_figures import LATER, STRATEGIES, WEEKS, figure
from tests.program.in_process import invoke

Found = dict[str, Any]


def rows_of(folder: Path, text: str, *options: str, form: str = "f.csv") -> dict[str, Found]:
    """Return what the command says of each forecaster of a file."""
    (folder / form).write_text(text)
    done = invoke("score", str(folder / form), "--json", *options)
    found = json.loads(done.stdout)
    assert "rows" in found, found
    return {row["forecaster"]: row for row in found["rows"]}


def as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    every = list(rows)
    out = StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in every for key in row)), restval="")
    writer.writeheader()
    writer.writerows(every)
    return out.getvalue()


LIFE = {"time": 0, "open": 0, "close": 1, "scheduled_close": 1}


def binary(name: str, p: float, yes: bool, question: str = "", **times: Any) -> list[Found]:
    row = {"question": question or name, "forecaster": name, "probability": p, "outcome": int(yes)}
    return [row | LIFE | times]


def choice(name: str, p: float, of: int) -> list[Found]:
    """Return probabilities in which the option that happens gets p, and the others share the rest."""
    shares = {"a": p} | {f"b{k}": (1 - p) / (of - 1) for k in range(1, of)}
    own = {"question": name, "forecaster": name, "outcome": "a"} | LIFE
    return [own | {"option": option, "probability": share} for option, share in shares.items()]


def number(name: str, density: float, question: str = "", **more: object) -> list[Found]:
    own = {"question": question or name, "forecaster": name, "outcome": 1, "density": density}
    return [own | LIFE | more]


def dice() -> Iterable[Found]:
    for p in ("0.05", "0.17", "0.3"):
        yield from binary(f"die log p={p} outcome=6", float(p), True)
        yield from binary(f"die log p={p} outcome!=6", float(p), False)
        for face in range(1, 7):
            yield from binary(f"die log p={p} average", float(p), face == 6, f"{p} {face}")


def limits() -> Iterable[Found]:
    yield from binary("baseline best binary", 1, True)
    yield from binary("baseline worst binary", 0, True)
    yield from choice("baseline best MC-8 (p=.999)", 0.999, 8)
    yield from choice("baseline worst MC-8", 0.001, 8)
    yield from number("baseline best continuous", 35, open_low="yes", open_high="yes")
    yield from number("baseline worst continuous", 0.01)
    for name, p, density in (("best", 1.0, 35.0), ("worst", 0.0, 0.01)):
        yield from binary(f"peer {name} binary", p, True, "peer binary")
        yield from number(f"peer {name} continuous", density, "peer continuous")


def days() -> Iterable[Found]:
    for day in ("average", "day2", "day3", "day4", "day5"):
        at = {
            "open": 0,
            "close": 5,
            "scheduled_close": 5,
            "spot": 5 if day == "average" else int(day[3:]) - 0.5,
        }
        for time, p in ((1, 0.4), (2, 0.7), (4, 0.8)):
            yield from binary(f"days table {day}", p, True, "", **(at | {"time": time}))


def expectations() -> Iterable[Found]:
    for p in ("0.7", "0.8", "0.9", "0.99"):
        yield from binary(f"expected table p={p} yes", float(p), True)
        yield from binary(f"expected table p={p} no", float(p), False)


FILES = 10
"""Files that the cases of Metaculus's own code are dealt to."""
FIRED = (
    "fired now, no trunc", "fired now, trunc", "fired end", "not fired",
)  # fmt: skip


def firing() -> Iterable[Found]:
    for strategy, first in STRATEGIES.items():
        for case in FIRED:
            closes = 1 if case.startswith("fired now") else WEEKS
            life = {"close": closes, "scheduled_close": closes if "no trunc" in case else WEEKS}
            name = f"{strategy} {case}"
            yes = case != "not fired"
            yield from binary(name, first, yes, "", **life)
            if closes > 1:
                yield from binary(name, LATER, yes, "", **(life | {"time": 1}))


def test_every_figure_of_the_faq_by_command(tmp_path: Path) -> None:
    lines = [*dice(), *limits(), *days(), *expectations(), *firing()]
    rows = rows_of(tmp_path, as_csv(lines))
    for name, row in rows.items():
        spot = name.startswith("days table day")
        rule = "log" if name.startswith("die") else "peer" if name.startswith("peer") else "baseline"
        value = row["spot_baseline" if spot else rule]
        assert value == pytest.approx(figure(name), abs=1e-9), name
    assert len(rows) == 40
    assert rows["peer best binary"]["peer"] == -rows["peer worst binary"]["peer"]


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> list[Found]:
    found: list[Found] = json.loads((shared_data / "scoring" / "cases.json").read_text())["cases"]
    return found


def test_the_scores_of_metaculus_are_those_of_its_own_code(cases: list[Found], tmp_path: Path) -> None:
    """Yes/no, options and numbers with updates, withdrawals, early closes and spots, mixed in each file.

    All forecasters of a file are compared by pairs, so that ten small files cost a tenth of a big one.
    """
    own = [case for case in cases if case["rule"] in ("metaculus_question", "metaculus_edge")]
    assert len(own) == 205
    assert {case["inputs"]["question_type"] for case in own} == {"binary", "multiple_choice", "numeric"}
    for start in range(FILES):
        mixed = own[start::FILES]
        outside = [word for name in outside_of(mixed) for word in ("--outside", name)]
        rows = rows_of(tmp_path, as_file(mixed), "--mode", "metaculus", *outside)
        assert differences(mixed, rows) == []


def test_legacy_relative_scores_and_the_community_by_command(cases: list[Found], tmp_path: Path) -> None:
    own = [case for case in cases if case["rule"] == "metaculus_legacy_relative"]
    assert differences(own, rows_of(tmp_path, as_file(own), "--mode", "metaculus")) == []
    medians = [case for case in cases if case["rule"] == "recency_weighted_median"]
    lines = [
        binary(f"{age:02d}", p, True, "q", time=age / 1000, close=2, scheduled_close=2, spot=1.5)[0]
        | {"question": case["id"], "category": case["id"]}
        for case in medians
        for age, p in enumerate(case["inputs"]["values_oldest_first"])
    ]
    (tmp_path / "medians.csv").write_text(as_csv(lines))
    asking = ("score", str(tmp_path / "medians.csv"), "--community", "--by", "category", "--json")
    found = json.loads(invoke(*asking).stdout)["rows"]
    spots = {row["category"]: row["spot_baseline"] for row in found if row["forecaster"] == "community"}
    for case in medians:
        told = min(max(case["expected"]["median"], 0.001), 0.999)
        assert 2 ** (spots[case["id"]] / 100 - 1) == pytest.approx(told, abs=1e-9), case["id"]


def test_scores_at_an_instant_by_command(cases: list[Found], tmp_path: Path) -> None:
    """Baseline scores of yes/no, options and numbers, and Brier scores: each a question of its own."""
    column = dict.fromkeys(INSTANT, "baseline") | {"brier_binary": "brier"}
    own = [case for case in cases if case["rule"] in column]
    rows = rows_of(tmp_path, as_csv(line for case in own for line in instant(case)))
    for case in own:
        told = case["expected"].get("score", case["expected"].get("brier"))
        assert rows[case["id"]][column[case["rule"]]] == pytest.approx(told, abs=1e-9), case["id"]


INSTANT = ("baseline_binary_instant", "baseline_mc_instant", "baseline_continuous_instant")


def instant(case: Found) -> list[Found]:
    """Return the forecasts of a case, as lines."""
    name = case["id"]
    given = case["inputs"]
    if "p_yes" in given:
        return binary(name, given["p_yes"], bool(given["outcome"]))
    if "pdf_outcome" in given:
        bounds = given["open_bounds"]
        return number(name, given["pdf_outcome"], open_low=int(bounds > 0), open_high=int(bounds > 1))
    if "n_options" in given:
        return choice(name, given["p_outcome"], given["n_options"])
    return binary(name, given["p_outcome"], True)


def test_prizes_by_command(cases: list[Found], tmp_path: Path) -> None:
    """Sums of peer scores, each against one forecaster with even odds, who wins nothing."""
    for case in (case for case in cases if case["rule"] == "peer_tournament_prize"):
        given = case["inputs"]
        told = case["expected"]
        scores = given["total_peer_scores_ranked"]
        chances = {f"f{k}": 0.5 * math.exp(score / 100) for k, score in enumerate(scores)}
        lines = [f"q,{name},{chance!r}" for name, chance in chances.items()]
        (tmp_path / "cup.csv").write_text("\n".join(["question,forecaster,chance", "q,even,0.5", *lines]))
        rules = {
            "forecasts": "cup.csv", "pool": 1000, "minimum_prize": 1000 * given["minimum_percent"],
            "outside": [*chances], "exclude": ["even", *(f"f{k}" for k in given["excluded_indices"])],
        }  # fmt: skip
        (tmp_path / "cup.yaml").write_text(json.dumps(rules))
        found = json.loads(invoke("score", str(tmp_path / "cup.yaml"), "--json").stdout)
        rows = {row["forecaster"]: row for row in found["rows"]}
        for name, take, share in zip(chances, told["take"], told["percent"], strict=True):
            assert rows[name]["take"] == pytest.approx(take, abs=1e-6), case["id"]
            assert rows[name]["share"] == pytest.approx(share, abs=1e-9), case["id"]


def test_decompositions_by_command(cases: list[Found], tmp_path: Path) -> None:
    own = [case for case in cases if case["rule"] == "murphy_and_corp"]
    lines = [
        {"question": f"{case['id']} {k}", "forecaster": case["id"], "probability": p, "outcome": o}
        for case in own
        for k, (p, o) in enumerate(zip(case["inputs"]["p"], case["inputs"]["o"], strict=True))
    ]
    rows = rows_of(tmp_path, as_csv(lines), "--parts")
    for case in own:
        row = rows[case["id"]]
        told = case["expected"]
        for name in ("brier", "reliability", "resolution", "uncertainty"):
            assert row[name] == pytest.approx(told[name], abs=1e-10)
        for name in ("miscalibration", "discrimination"):
            assert row[name] == pytest.approx(told[f"corp_{name}"], abs=1e-10)


def test_autocast_by_command(cases: list[Found], tmp_path: Path) -> None:
    """Choices and numbers of the cases, each by a forecaster of its own, who leaves out all others."""
    rules = ("autocast_brier_half", "autocast_numeric")
    choices, numbers = ([case for case in cases if case["rule"] == rule] for rule in rules)
    lines: list[Found] = []
    for case in choices:
        own = {
            "question": case["id"],
            "forecaster": case["id"],
            "outcome": f"o{case['inputs']['answer_index']}",
        }
        lines += [own | {"option": f"o{k}", "probability": p} for k, p in enumerate(case["inputs"]["p"])]
    for case in numbers:
        own = {"question": case["id"], "forecaster": case["id"], "outcome": case["inputs"]["answer"]}
        lines.append(own | {"value": case["inputs"]["p"], "low": 0, "high": 1})
    rows = rows_of(tmp_path, as_csv(lines), "--rule", "autocast")
    blanks = [(1 - 1 / len(case["inputs"]["p"])) / 2 for case in choices]
    check_scores(rows, choices, blanks, "multiple_choice")
    check_scores(rows, numbers, [abs(0.5 - case["inputs"]["answer"]) for case in numbers], "numeric")


def check_scores(rows: dict[str, Found], cases: list[Found], blanks: list[float], column: str) -> None:
    """Check that each forecaster has the score of its own case, and knows nothing of the others."""
    for case, blank in zip(cases, blanks, strict=True):
        told = (case["expected"]["score"] + sum(blanks) - blank) / len(cases)
        assert rows[case["id"]][column] == pytest.approx(told, abs=1e-12)


def test_superforecasters_by_the_files_of_their_round(shared_data: Path) -> None:
    """The community of 40 is the median of the paper's table 2 on data questions."""
    folder = shared_data / "forecastbench" / "supers"
    files = [
        str(folder / "forecasts.json.gz"), "--questions", str(folder / "2024-07-21-human.json.gz"),
        "--resolutions", str(folder / "resolution_set_as_of_2024-11-20.json.gz"),
    ]  # fmt: skip
    told = json.loads((folder / "expected.json").read_text())["as_of_2024-11-20"]
    asked = [*files, "--community", "--rule", "forecastbench", "--provisional", "--json"]
    found = json.loads(invoke("score", *asked).stdout)
    assert found["form"]["why"] == "question or resolution sets are given"
    (row,) = (row for row in found["rows"] if row["forecaster"] == "community")
    assert row["dataset"] == pytest.approx(told["superforecaster median"]["dataset"], abs=1e-4)
    assert row["overall"] == pytest.approx((row["dataset"] + row["market"]) / 2)
    assert row["index"] == pytest.approx(100 * (1 - row["overall"] ** 0.5))
    whole = max(row["questions"] for row in found["rows"])
    assert whole == sum(told["rows"].values())
    assert any(note.startswith("provisional: 58 questions") for note in found["notes"])
