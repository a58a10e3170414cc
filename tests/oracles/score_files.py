"""Cases of Metaculus's own code as a file that `arena score` reads, and what it must say of them.

Every forecaster is named for the case, so that one file holds all questions. What stood before a question
opened counts from its opening, and what came after its close not at all: a file says so.
"""

import csv
import json
from io import StringIO
from typing import Any

Found = dict[str, Any]
COLUMNS = (
    "question", "forecaster", "probability", "option", "cdf", "outcome", "time", "end", "open", "close",
    "scheduled_close", "spot", "low", "high", "open_low", "open_high",
)  # fmt: skip


def as_file(cases: list[Found]) -> str:
    """Write the questions of these cases, a forecast a line, or a line for each of several options."""
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="")
    writer.writeheader()
    for case in cases:
        for row in lived(case["inputs"]):
            writer.writerows(_lines(case["id"], case["inputs"], row))
    return out.getvalue()


def lived(given: Found) -> list[Found]:
    """Return the forecasts of a case that stood while its question was open."""
    opens = given["open_time"]
    closes = given["actual_close_time"]
    ends = [closes + 1 if row["end"] is None else row["end"] for row in given["forecasts"]]
    rows = zip(given["forecasts"], ends, strict=True)
    return [row for row, end in rows if row["start"] <= closes and end > opens]


def _lines(case: str, given: Found, row: Found) -> list[Found]:
    known = {
        "question": case,
        "forecaster": f"{case}/{row['forecaster']}",
        "time": max(row["start"], given["open_time"]),
        "end": row["end"],
        "open": given["open_time"],
        "close": given["actual_close_time"],
        "scheduled_close": given["scheduled_close_time"],
        "spot": given.get("spot_time", ""),
    }
    outcome = given["resolution_bucket"]
    if given["question_type"] == "binary":
        return [known | {"probability": row["pmf"][1], "outcome": outcome}]
    if given["question_type"] == "multiple_choice":
        last = len(row["pmf"]) - 1
        names = ["other" if k == last else f"option {k}" for k in range(last + 1)]
        pairs = [(name, p) for name, p in zip(names, row["pmf"], strict=True) if p is not None]
        return [known | {"option": name, "probability": p, "outcome": names[outcome]} for name, p in pairs]
    bounds = given["open_bounds_count"]
    ends = [row["cdf"][0] > 1e-9, row["cdf"][-1] < 1 - 1e-9]
    if sum(ends) < bounds:
        ends = [ends[0] or bounds == 2 or not ends[1], ends[1] or bounds == 2]
    count = len(row["cdf"]) - 1
    number = {"cdf": json.dumps(row["cdf"]), "low": 0, "high": count, "outcome": outcome - 0.5}
    return [known | number | dict(zip(("open_low", "open_high"), map(int, ends), strict=True))]


def outside_of(cases: list[Found]) -> list[str]:
    """Return the forecasters that the cases leave out of comparisons."""
    return [
        f"{case['id']}/{name}"
        for case in cases
        for name in sorted({row["forecaster"] for row in lived(case["inputs"])})
        if name not in case["inputs"].get("base_forecasters", [name])
    ]


def differences(cases: list[Found], rows: dict[str, Found]) -> list[str]:
    """Return every score that differs in the rows of `arena score`; a missing one is 0 on the site."""
    wrong = []
    for case in cases:
        every = case["expected"]["per_forecaster"]
        by_rule = {"relative": every} if any("score" in told for told in every.values()) else every
        for rule, expected in by_rule.items():
            for name, told in expected.items():
                row = rows.get(f"{case['id']}/{name}")
                score = 0.0 if row is None or row[rule] is None else row[rule]
                if abs(score - told["score"]) > case["tolerance"] * max(1, abs(told["score"])):
                    wrong.append(f"{case['id']} {rule} of {name}: {score}, not {told['score']}")
    return wrong
