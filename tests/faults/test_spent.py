"""Two processes ask a real client over HTTP, and what the provider charges passes no budget by a cent."""

from contextlib import closing
from pathlib import Path
from typing import Any

from agents.model import ModelSettings
from arena.record.queries.cohorts import read_calls
from arena.record.record import Record
from arena.record.write.turns import claim_turns
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.faults.forking import forking
from tests.faults.hammer import spend
from tests.provider.replies import Asked, says
from tests.provider.server import faulty
from tests.records.full_record import LEASE, SUN, Season, a_cohort, the_book
from tests.serving import Reply

LIMIT = 600_000


# at priority, a token costs $8 and $40 a million, and $10 where it is put in a cache
USAGES: list[tuple[dict[str, Any], int]] = [
    ({"completion_tokens": 1_000, "total_tokens": 3_000}, 2_000 * 8 + 1_000 * 40),
    ({"completion_tokens": 100, "total_tokens": 3_000}, 2_000 * 8 + 1_000 * 40),  # thought, told apart
    (
        {"completion_tokens": 900, "prompt_tokens_details": {"cache_write_tokens": 2_000}},
        2_000 * 10 + 900 * 40,
    ),
]


def test_what_a_dearer_tier_charges_two_processes_stays_within_the_budget(tmp_path: Path) -> None:
    address, charges = f"sqlite:///{tmp_path}/arena.db", list[int]()
    with closing(Record.open(address)) as record:
        season = Season(record)
        season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
        season.look(1, NOW, the_book(SUN, NOW))
        record.write(claim_turns, 1, [1, 2], "one of them", LEASE, lambda _: False)

    def charging(_asked: Asked) -> Reply:
        usage, charge = USAGES[len(charges) % len(USAGES)]
        charges.append(charge)
        return says("{}", usage={"prompt_tokens": 2_000, **usage}, service_tier="priority")

    with faulty() as provider:
        provider.script("gpt-5.6", charging)
        settings = ModelSettings(
            model="openai/gpt-5.6",
            base_url=provider.url,
            max_tokens=1_000,
            extra={"service_tier": "priority"},
        )
        workers = [
            forking().Process(target=spend, args=(address, n, settings, {"day": LIMIT})) for n in (0, 1)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    with closing(Record.open(address)) as record:
        calls = [call for each in record.read(read_calls, 1, [1, 2]).values() for call in each]
    assert sum(call.cost or 0 for call in calls) == sum(charges)
    assert LIMIT - 150_000 < sum(charges) <= LIMIT
