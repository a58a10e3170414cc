"""The stored answers: what a model said, word for word, and what must come of it.

They lie in `stored/`, one file a subject, written by hand. A case is a whole answer with its
outcome; a table is a frame with a `?` in it and what may be written there.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "stored"
CASE = {"name", "answer", "forecasts", "bets", "sales", "rejected", "reasons", "unusable", "stage", "finish"}
TABLE = {"subject", "writes", "forecasts", "bets", "sales", "code", "means", "refused", "broken"}
LISTS = ("forecasts", "bets", "sales")


@dataclass(frozen=True)
class Stored:
    """An answer, and either why it is unusable or what is taken from it, each item as a line of words.

    A rejection is given as its code and a piece of its words. `reasons` are those of all items in turn.
    """

    name: str
    answer: str
    forecasts: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()
    sales: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    reasons: tuple[str, ...] | None = None
    unusable: str = ""
    stage: str = "final"
    finish: str = "stop"


def stored() -> list[Stored]:
    """Every stored answer."""
    found: list[Stored] = []
    for path in sorted(FOLDER.glob("*.toml")):
        page = tomllib.loads(path.read_text("utf-8"))
        found += [_case(path.stem, **raw) for raw in page.get("case", [])]
        for table in page.get("table", []):
            found += _rows(path.stem, table)
    return found


def _case(file: str, **raw: Any) -> Stored:
    assert set(raw) <= CASE, f"{file}: {raw['name']} has keys that mean nothing: {set(raw) - CASE}"
    lists = {key: tuple(value) for key, value in raw.items() if isinstance(value, list)}
    return Stored(**{**raw, **lists, "name": f"{file}: {raw['name']}", "answer": _spelled_out(raw["answer"])})


def _rows(file: str, table: Mapping[str, Any]) -> Iterator[Stored]:
    """A case for every line of a table."""
    assert set(table) <= TABLE, f"{file}: {table['subject']} has keys that mean nothing: {set(table) - TABLE}"
    for outcome in ("means", "refused", "broken"):
        for written, value in table.get(outcome, {}).items():
            case = {
                "name": f"{table['subject']}, {written}",
                "answer": table["writes"].replace("?", written, 1),
            }
            if outcome == "means":
                items = {name: [line.replace("?", value) for line in table.get(name, [])] for name in LISTS}
                yield _case(file, **case, **items)
            elif outcome == "refused":
                yield _case(file, **case, rejected=[f"{table['code']}: {value}"])
            else:
                yield _case(file, **case, unusable=value)


def _spelled_out(answer: str) -> str:
    """«0.4» is short for an answer that says 0.4 for m1 and nothing else."""
    front = '{"forecasts": [{"market": "m1", "probability": '
    return answer.replace("«", front).replace("»", "}]}")
