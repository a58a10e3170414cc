"""The hashes of fills and entries are those of their canonical JSON."""

from dataclasses import fields
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from markets.hashes import digest
from portfolio.ledger import entry_hash, fill_hash
from portfolio.model import Entry, Fill, FillLevel

TEXTS = st.text()
WHOLES = st.integers(-(2**63), 2**63)
TIMES = st.datetimes(timezones=st.just(UTC))
LEVELS = st.lists(st.builds(FillLevel, *[WHOLES] * 4), max_size=3).map(tuple)


@given(st.builds(Entry, WHOLES, TIMES, *[TEXTS] * 3, *[WHOLES] * 6, *[TEXTS] * 3))
def test_an_entry_is_hashed_as_the_canonical_json_of_all_but_its_hash(entry: Entry) -> None:
    said = {field.name: getattr(entry, field.name) for field in fields(Entry) if field.name != "hash"}
    assert entry_hash(entry) == digest(said)


@given(st.builds(Fill, *[TEXTS] * 3, *[WHOLES] * 5, TIMES, TEXTS, WHOLES, LEVELS, TEXTS, TEXTS))
def test_a_fill_is_hashed_as_its_canonical_json(fill: Fill) -> None:
    assert fill_hash(fill) == digest(fill)
