"""No page breaks, whatever its address says: what it knows, what others know and nonsense, in any mixture."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dashboard.addresses import VIEWS, Address, addresses
from tests.dashboard.opening import opened
from tests.dashboard.records import shared

NONSENSE = ("", "0", "-1", "99", "any", "None", "nobody", "1e9", "%00", "'; --", "<b>", "../..", "x" * 300)
MORE = {
    "search": "will",
    "event": "",
    "status": "unpriced",
    "sort": "volume",
    "category": "politics",
    "call": "1",
}


def values(record: Path) -> dict[str, list[str]]:
    """Return what addresses may say, by key: every value that any page knows under it."""
    found: dict[str, list[str]] = {}
    for _, shown in [*addresses(record), ("market", MORE)]:
        for key, value in shown.items():
            found.setdefault(key, []).append(value)
    return found


def asked(record: Path) -> st.SearchStrategy[Address]:
    known = values(record)
    one = {key: st.sampled_from((*dict.fromkeys(these), *NONSENSE)) for key, these in known.items()}
    return st.tuples(st.sampled_from(VIEWS), st.fixed_dictionaries({}, optional=one))


@pytest.mark.parametrize("name", ["demo", "one_round"])
def test_no_page_breaks_whatever_its_address_says(
    name: str, thorough: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = shared(name, tmp_path_factory)

    @settings(
        max_examples=1_000 if thorough else 10,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(address=asked(record))
    def check_page(address: Address) -> None:
        view, shown = address
        with pytest.MonkeyPatch.context() as patch:
            opened(view, record, patch, **shown)

    check_page()
