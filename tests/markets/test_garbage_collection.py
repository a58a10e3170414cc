"""The garbage collector waits for as long as it is asked to, and no longer."""

import gc

import pytest

from markets.garbage_collection import gc_paused


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(LookupError), gc_paused():
        raise LookupError
    assert gc.isenabled()


def test_it_goes_on_however_two_waits_overlap() -> None:
    for first_to_end in (0, 1):
        waits = [gc_paused(), gc_paused()]
        for wait in waits:
            wait.__enter__()
        assert not gc.isenabled()
        for number in (first_to_end, 1 - first_to_end):
            waits[number].__exit__(None, None, None)
        assert gc.isenabled()


def test_where_it_was_off_it_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
