"""What `arena dashboard` starts: Streamlit, and the first page is loaded while the browser is on its way."""

import threading
import time
from importlib import import_module

from streamlit import runtime
from streamlit.components.v2 import manifest_scanner
from streamlit.web.cli import main

from markets.garbage_collection import gc_paused, gc_seldom

SOON = 0.01
"""Seconds between two looks at whether Streamlit is ready."""


def load_first_page() -> None:
    """Load what the first page would have to load, as soon as Streamlit can take it."""
    while not runtime.exists():
        time.sleep(SOON)
    with gc_paused():
        import_module("dashboard.app")
        from dashboard.links import FIRST
        from dashboard.pages import pages

        pages()[FIRST].view()


def seek_no_components() -> None:
    """Spare Streamlit its search for components.

    It reads what each installed package says of itself, a quarter of a second of the start; no page has any.
    """
    manifest_scanner.scan_component_manifests = lambda *_: []


if __name__ == "__main__":
    seek_no_components()
    threading.Thread(target=load_first_page, daemon=True).start()
    with gc_seldom():
        main(prog_name="streamlit")
