"""Ways in which servers refuse the form of an answer: none of them loses a turn."""

import asyncio
from pathlib import Path

from tests.oracles.refusals import cases, failures


def test_every_known_refusal_of_a_form_goes_down_one_rung(shared_data: Path) -> None:
    found = cases(shared_data / "answers" / "format_refusals.json")
    assert len(found) >= 20
    assert asyncio.run(failures(found)) == []
