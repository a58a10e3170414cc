"""Choose the questions that `arena try` asks, from ForecastBench's data on Polymarket's markets.

python -m scripts.past_questions FOLDER    # FOLDER has markets.jsonl.gz and prices.csv.gz

A question is asked at the newest price that is at least seven days and at most thirteen older than the day on
which it was decided. Questions are chosen by price and wording, never by how they ended, so the price's own
score stays what it is: all that are priced at 1% or more, and as many cheaper ones as are missing, no more
than two of one wording. Any first part of the file has about the same prices as the whole.
"""

import csv
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

WRITTEN = Path(__file__).resolve().parent.parent / "arena" / "past_questions" / "questions.json"
SEED = "past questions"
COUNT = 200
SOONEST = timedelta(days=7)
LATEST = timedelta(days=13)
"""How long before its end a question may be asked."""
STALE = timedelta(days=7)
"""With no price in so many days before it, the day of a resolution is not believed."""
CHEAP = 0.01
OF_ONE_WORDING = 2
LONGEST = 400
ABOUT = {
    "title": "200 resolved questions of Polymarket with their prices a week before the end",
    "source": "https://github.com/forecastingresearch/forecastbench-datasets",
    "copyright": "(c) Forecasting Research Institute",
    "licence": "CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/",
    "changes": f"a choice; descriptions are cut to {LONGEST} characters; made by scripts/past_questions.py",
}

Question = dict[str, Any]


def read_prices(path: Path) -> Mapping[str, Mapping[date, float]]:
    """Return the prices of each market by day; a price is that of the end of its day."""
    prices: dict[str, dict[date, float]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            prices[row["id"]][date.fromisoformat(row["date"])] = float(row["prob_yes"])
    return prices


def question_of(market: Mapping[str, Any], prices: Mapping[date, float]) -> Question | None:
    """Return a market as a question; None if it didn't end YES or NO, or has no price of that time."""
    if not market["resolved"] or market["resolution"] not in (0, 1):
        return None
    closed = date.fromisoformat(market["resolution_date"])
    if closed - max(prices) > STALE:
        return None

    # The price at the end of a day is known when the next one begins.
    asked = [day + timedelta(days=1) for day in prices]
    asked = [day for day in asked if SOONEST <= closed - day <= LATEST]
    if not asked:
        return None

    asked_at = max(asked)
    return {
        "id": market["id"],
        "question": " ".join(market["question"].split()),
        "description": cut(market["background"]),
        "asked_at": asked_at.isoformat(),
        "price": prices[asked_at - timedelta(days=1)],
        "closed": closed.isoformat(),
        "outcome": int(market["resolution"]),
        "url": market["url"],
    }


def cut(text: str) -> str:
    """Return the beginning of a text, up to the end of a word."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[:LONGEST].rpartition(" ")[0] + " …"


def wording(question: Question) -> str:
    """Return the end of a question, which those about one event share."""
    return " ".join(re.findall(r"\w+", question["question"].lower())[-4:])


def choose(questions: Sequence[Question], chance: Random) -> list[Question]:
    """Return the questions to ask, in an order in which every part has prices of all sizes."""
    shuffled = sorted(questions, key=lambda question: question["id"])
    chance.shuffle(shuffled)
    chosen = [question for question in shuffled if question["price"] >= CHEAP]

    wordings = Counter(map(wording, chosen))
    for question in shuffled:
        words = wording(question)
        if len(chosen) < COUNT and question["price"] < CHEAP and wordings[words] < OF_ONE_WORDING:
            wordings[words] += 1
            chosen.append(question)
    return spread(chosen)


def spread(questions: Sequence[Question]) -> list[Question]:
    """Return questions so ordered that those of each tenth of the prices come in even steps."""
    bands: dict[int, list[Question]] = defaultdict(list)
    for question in questions:
        bands[int(question["price"] * 10)].append(question)

    placed = []
    for number, band in bands.items():
        steps = ((place + 0.5) / len(band) for place in range(len(band)))
        placed += [(step, number, question) for step, question in zip(steps, band, strict=True)]
    return [question for *_, question in sorted(placed, key=lambda one: one[:2])]


def read_questions(folder: Path) -> list[Question]:
    """Return every market of a folder that makes a question."""
    prices = read_prices(folder / "prices.csv.gz")
    with gzip.open(folder / "markets.jsonl.gz", "rt", encoding="utf-8") as file:
        markets = [json.loads(line) for line in file]
    found = (question_of(market, prices[market["id"]]) for market in markets if market["id"] in prices)
    return [question for question in found if question is not None]


def main(folder: Path) -> None:
    """Write the file anew."""
    chosen = choose(read_questions(folder), Random(SEED))

    head = ",\n".join(f" {json.dumps(name)}: {json.dumps(text)}" for name, text in ABOUT.items())
    rows = ",\n".join(f"  {json.dumps(question, ensure_ascii=False)}" for question in chosen)
    WRITTEN.write_text(f'{{\n{head},\n "questions": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    print(f"{len(chosen)} questions in {WRITTEN.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
