"""ForecastBench's files as the columns of a file of forecasts: answers and what their questions came to."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from arena.errors import ArenaError, count_text
from arena.scores.files.forecastbench import (
    MARKET_SOURCES,
    ForecastFile,
    QuestionSet,
    ResolutionSet,
    forecaster_names,
)

Columns = dict[str, list[object]]
HALVES = ("dataset", "market")
Key = tuple[str, str, str, str | None]
"""Of a question: when its round was due, source, id, and the resolution date of a data question."""


def bench_columns(
    files: Sequence[ForecastFile],
    sets: Sequence[QuestionSet],
    resolutions: Sequence[ResolutionSet],
    *,
    provisional: bool,
) -> tuple[Columns, list[str]]:
    """The columns, and what was left out.

    A question is an event across rounds and dates, its category the half that it belongs to. The crowd's
    freeze value is the price. A market that is open yet has no outcome, or provisionally the crowd's latest
    value.
    """
    _refuse_twice(files)
    names = forecaster_names(files)
    asked = {(one.due, q.source, q.id): q for one in sets for q in one.questions}
    markets = MARKET_SOURCES | {q.source for q in asked.values() if q.is_market}
    ends = _ends(files, resolutions, markets)
    known = {one.due for one in sets}
    found: Columns = defaultdict(list)
    left: Counter[str] = Counter()
    for filed in files:
        left["of combinations"] += filed.combinations
        left["without a probability"] += filed.unanswered
        for row in filed.rows:
            is_market = row.source in markets
            question = asked.get((filed.due, row.source, row.id))
            end = ends.get((filed.due, row.source, row.id, None if is_market else row.date))
            if filed.due in known and question is None:
                left["on questions that are not in the set"] += 1
                continue
            if end is None:
                left["on questions that came to nothing yet"] += 1
                continue
            value, resolved = end
            crowd = None if question is None or not is_market else question.freeze_probability
            label = " ".join(filter(None, [filed.due, row.source, row.id, None if is_market else row.date]))
            found["question"].append(label)
            found["forecaster"].append(row.user or names[filed.model, filed.organization])
            found["probability"].append(row.forecast)
            found["outcome"].append(value if resolved or provisional else None)
            found["market_probability"].append(row.crowd if crowd is None and is_market else crowd)
            found["event"].append(f"{row.source} {row.id}")
            found["category"].append(HALVES[is_market])
    if not found:
        hint = "name the resolution set of the round with --resolutions, or processed files, which carry it"
        raise ArenaError("no_resolutions", "no forecast is of a question that came to anything", hint)
    if all(price is None for price in found["market_probability"]):
        del found["market_probability"]
    return dict(found), [
        f"left out: {count_text(count, 'forecast')} {why}" for why, count in left.items() if count
    ]


def _refuse_twice(files: Sequence[ForecastFile]) -> None:
    """A forecaster files once for a round."""
    met: dict[tuple[str, str, str], str] = {}
    for filed in files:
        key = filed.model, filed.organization, filed.due
        if key in met:
            what = f"{filed.file}: {filed.model} has filed for {filed.due} in {met[key]} too"
            raise ArenaError("bad_file", what, "leave one of the files out")
        met[key] = filed.file


def _ends(
    files: Sequence[ForecastFile], resolutions: Sequence[ResolutionSet], markets: frozenset[str]
) -> dict[Key, tuple[float, bool]]:
    """What each question came to, and whether for good: the newest date's of a market."""
    again = [due for due, count in Counter(one.due for one in resolutions).items() if count > 1]
    if again:
        what = f"there are two resolution sets of {again[0]}"
        raise ArenaError("two_resolutions", what, "name the newest only")

    def key(due: str, source: str, name: str, day: str | None) -> Key:
        return due, source, name, None if source in markets else day

    ends = {
        key(filed.due, row.source, row.id, row.date): (row.value, row.resolved)
        for filed in files
        for row in filed.rows
        if row.resolved is not None and row.value is not None
    }
    for resolved in resolutions:
        for one in sorted(resolved.rows, key=lambda one: one.date):
            if one.source in markets or one.resolved:
                ends[key(resolved.due, one.source, one.id, one.date)] = one.value, one.resolved
    return ends
