"""The scores of a file of forecasts as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from arena.scores.files.by_question import Gap
from arena.scores.files.scores import FileScores, ForecasterScores
from arena.scores.verdict import verdict_data


def scores_data(scores: FileScores) -> dict[str, Any]:
    """Return everyone's scores, the verdict and the notes as JSON."""
    data: dict[str, Any] = {"mode": scores.mode}
    if scores.skipped:
        faults = [fault.as_data() for fault in scores.faults]
        data["skipped"] = {"rows": scores.skipped, "faults": faults}
    form = scores.form
    data["form"] = None
    if form is not None:
        data["form"] = {"name": form.name, "why": form.why}
    data["notes"] = scores.notes
    data["rows"] = [row_data(row) for row in scores.rows]
    return data | verdict_data(scores.verdict)


def row_data(row: ForecasterScores) -> dict[str, Any]:
    """Return a row as JSON, which has no infinity; nested values get names of their own."""
    data: dict[str, Any] = {}
    for name in ForecasterScores.__dataclass_fields__:
        value = getattr(row, name)
        if name == "intervals":
            data |= _interval_data(value)
        elif name == "filled":
            for mean, score in value.items():
                data[f"{mean}_filled"] = score
        elif name == "gap":
            data |= _gap_data(value)
        elif name not in ("autocast", "halves", "parts"):
            is_infinite = isinstance(value, float) and not isfinite(value)
            data[name] = None if is_infinite else value
        elif value is not None:
            data |= asdict(value)
    return data


def _interval_data(intervals: Mapping[str, tuple[float, float] | None]) -> dict[str, float | None]:
    """Return the ends of each mean's interval, by names of their own."""
    data: dict[str, float | None] = {}
    for mean, span in intervals.items():
        low, high = span or (None, None)
        data[f"{mean}_low"] = low
        data[f"{mean}_high"] = high
    return data


def _gap_data(gap: Gap | None) -> dict[str, float | None]:
    """Return the parts of a gap, by names of their own."""
    if gap is None:
        return dict.fromkeys(("gap", "gap_low", "gap_high", "gap_p", "gap_questions"))
    return {
        "gap": gap.gap,
        "gap_low": gap.low,
        "gap_high": gap.high,
        "gap_p": gap.p,
        "gap_questions": gap.questions,
    }
