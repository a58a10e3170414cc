"""Makes a question set in the published form, balanced like the paper's and drawn at random.

- Size: with combinations, half of each source's questions are single ones, half are combinations of two of
  them. A source with too few single questions leaves its places to the others.
- Balance: every source has the same number of questions, and within a source every category.
- Lots: SHA-256 of the seed and the candidate, so that neither the order of candidates nor candidates that are
  not drawn change the draw.
- Source: seed 004 sections 3.2 and B.1; `combination_of` and the order of fields as in the sets of 2024.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

from arena.errors import ArenaError
from arena.forms.bench.model import NOTHING
from arena.forms.bench.reading import QUESTION_FIELDS

TASK = (
    "We are presenting you with two probability questions. Please predict the probability that both will "
    "happen, that one will happen but not the other, and that neither will happen. In other words, for each "
    "resolution date please provide 4 predictions."
)
"""The text of a combination in the sets of 2024."""
MADE = "made"
"""The header field that says how a set was made; the benchmark's own sets lack it."""

Item = Mapping[str, Any]
"""A question by the names of its fields."""


@dataclass(frozen=True, slots=True)
class SetPlan:
    """The set to make: its due date, its number of questions, and the seed of the draw."""

    due: str
    size: int
    seed: int = 0
    combinations: bool = False

    @property
    def name(self) -> str:
        """Return the name of the set's file, as the benchmark names it."""
        return f"{self.due}-llm.json"


PLAN_FIELDS = ("due", "size", "seed", "combinations")


@dataclass(frozen=True, slots=True)
class SetCandidate:
    """A question that may be drawn, in the published form, and its category."""

    item: Item = field(hash=False)
    category: str = ""

    @property
    def source(self) -> str:
        """Return its source."""
        return str(self.item["source"])

    @property
    def id(self) -> str:
        """Return its id at its source."""
        return str(self.item["id"])

    @property
    def is_market(self) -> bool:
        """Tell whether it resolves once rather than at given dates."""
        return not isinstance(self.item["resolution_dates"], list)


def make_set(plan: SetPlan, candidates: Sequence[SetCandidate], origin: Mapping[str, str]) -> str:
    """Return the text of a set; `origin` maps the files that candidates come from to their hashes.

    Raise `ArenaError` if there are too few candidates.
    """
    by_source: dict[str, list[SetCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_source[candidate.source].append(candidate)

    most_of_source = {}
    for source, own_candidates in by_source.items():
        most_of_source[source] = _most_questions(len(own_candidates), plan.combinations)
    count_of_source = share_evenly(most_of_source, plan.size, plan.seed)
    possible = sum(count_of_source.values())
    if possible < plan.size or possible == 0:
        parts = ", ".join(f"{source} {count}" for source, count in sorted(most_of_source.items()))
        message = f"{possible} of {plan.size} questions can be made: {parts or 'there are no candidates'}"
        hint = "ask for fewer, sync more markets, or name a folder with published sets with --from"
        raise ArenaError("few_questions", message, hint)

    questions: list[Item] = []
    markets_first = sorted(by_source, key=lambda source: (not by_source[source][0].is_market, source))
    for source in markets_first:
        questions.extend(_questions_of_source(by_source[source], count_of_source[source], plan))

    data = {
        "forecast_due_date": plan.due,
        "question_set": plan.name,
        MADE: asdict(plan) | {"from": dict(origin)},
        "questions": questions,
    }
    return f"{json.dumps(data, indent=4, ensure_ascii=False)}\n"


def plan_in(text: str) -> SetPlan | None:
    """Return the plan that a set was made by; None if it comes from elsewhere."""
    made = json.loads(text.removeprefix("\ufeff")).get(MADE)
    if not isinstance(made, dict) or not made.keys() >= set(PLAN_FIELDS):
        return None
    return SetPlan(**{name: made[name] for name in PLAN_FIELDS})


def share_evenly(most_of: Mapping[str, int], wanted: int, seed: int) -> dict[str, int]:
    """Return the even shares of `wanted` among names with limited room; the remainder goes by lot.

    >>> sorted(share_evenly({"a": 1, "b": 9, "c": 9}, 9, seed=0).items())
    [('a', 1), ('b', 4), ('c', 4)]
    """
    shares = dict.fromkeys(most_of, 0)
    names_by_lot = sorted(most_of, key=lambda name: (_lot(seed, "share", name), name))
    still_to_share = wanted
    while still_to_share:
        open_names = [name for name in names_by_lot if shares[name] < most_of[name]]
        if not open_names:
            break
        for name in open_names[:still_to_share]:
            shares[name] += 1
        still_to_share -= min(still_to_share, len(open_names))
    return shares


def _most_questions(singles: int, with_combinations: bool) -> int:
    """Return the number of questions that this many single ones allow."""
    if not with_combinations:
        return singles
    return singles + min(singles, _pair_count(singles))


def _pair_count(singles: int) -> int:
    """Return the number of pairs of this many questions."""
    return singles * (singles - 1) // 2


def _questions_of_source(candidates: Sequence[SetCandidate], count: int, plan: SetPlan) -> Iterator[Item]:
    """Yield the questions of one source: single ones, then combinations of them."""
    # Half of the questions are combinations, as far as the single ones make enough pairs.
    combination_count = 0
    if plan.combinations:
        combination_count = min(count // 2, _pair_count(count - count // 2))

    singles = _draw_balanced(candidates, count - combination_count, plan.seed)
    for candidate in singles:
        yield _single_question(candidate.item, plan)

    def pair_lot(pair: tuple[SetCandidate, SetCandidate]) -> bytes:
        first, second = pair
        return _lot(plan.seed, first.source, first.id, second.id)

    pairs_by_lot = sorted(combinations(singles, 2), key=pair_lot)
    for first, second in pairs_by_lot[:combination_count]:
        yield _combined_question(first.item, second.item)


def _draw_balanced(candidates: Sequence[SetCandidate], count: int, seed: int) -> list[SetCandidate]:
    """Return questions of a source, balanced over categories and sorted by id."""
    by_category: dict[str, list[SetCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_category[candidate.category].append(candidate)

    size_of_category = {category: len(members) for category, members in by_category.items()}

    def candidate_lot(candidate: SetCandidate) -> tuple[bytes, str]:
        return _lot(seed, candidate.source, candidate.id), candidate.id

    drawn: list[SetCandidate] = []
    for category, share in share_evenly(size_of_category, count, seed).items():
        by_lot = sorted(by_category[category], key=candidate_lot)
        drawn.extend(by_lot[:share])
    return sorted(drawn, key=lambda candidate: candidate.id)


def _single_question(item: Item, plan: SetPlan) -> Item:
    """Return a single question with a set's fields, in their order."""
    fields = {name: item[name] for name in QUESTION_FIELDS}
    if plan.combinations:
        fields["combination_of"] = NOTHING
    fields["resolution_dates"] = item["resolution_dates"]
    return fields


def _combined_question(first: Item, second: Item) -> Item:
    """Return a combination of two questions; one of data questions has the dates of both."""
    parts = []
    for item in (first, second):
        part = {name: item[name] for name in QUESTION_FIELDS}
        parts.append(part | {"combination_of": NOTHING, "resolution_dates": NOTHING})

    dates: str | list[str] = NOTHING
    if isinstance(first["resolution_dates"], list):
        dates = sorted({*first["resolution_dates"], *second["resolution_dates"]})

    combination: dict[str, Any] = dict.fromkeys(QUESTION_FIELDS, NOTHING)
    combination["id"] = [first["id"], second["id"]]
    combination["source"] = first["source"]
    combination["question"] = TASK
    combination["source_intro"] = TASK
    combination["freeze_datetime"] = max(first["freeze_datetime"], second["freeze_datetime"])
    combination["combination_of"] = parts
    combination["resolution_dates"] = dates
    return combination


def _lot(seed: int, *names: str) -> bytes:
    """Return the lot of the candidate with these names."""
    return hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
