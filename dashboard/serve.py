"""What `arena dashboard` starts: Streamlit, and its pages are loaded while the browser is on its way."""

import threading
import time

from streamlit import runtime
from streamlit.web.cli import main

from markets.collector import searched_seldom, undisturbed

SOON = 0.01
"""Seconds between two looks at whether Streamlit is ready."""


def load_pages() -> None:
    """Load what the first page would have to load, as soon as Streamlit can take it."""
    while not runtime.exists():
        time.sleep(SOON)
    from dashboard.app import views

    with undisturbed():
        views()


if __name__ == "__main__":
    threading.Thread(target=load_pages, daemon=True).start()
    with searched_seldom():
        main(prog_name="streamlit")
