"""What `arena dashboard` starts: Streamlit, and the first page is loaded while the browser is on its way."""

import sys
import threading
import time
from importlib import import_module
from pathlib import Path

from streamlit import runtime
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.web.cli import main as streamlit

from markets.garbage_collection import gc_seldom

WEB = Path(__file__).parent / "web.py"
"""The file that has the web application."""
THEME = WEB.parent / "assets" / "theme.toml"
"""How Streamlit's own parts look."""
SOON = 0.01
"""Seconds between two looks at whether Streamlit is ready."""


def load_first_page() -> None:
    """Load what the first page would have to load, as soon as Streamlit can take it."""
    while not runtime.exists():
        time.sleep(SOON)
    import_module("dashboard.app")
    from dashboard.pages import FIRST, pages

    pages()[FIRST].view()


def know_components() -> None:
    """Tell Streamlit of our one component, whose files it then serves, in place of those of packages."""
    ours = ComponentManifest("dashboard", "1", [ComponentConfig("html", "assets")])
    manifest_scanner.scan_component_manifests = lambda *_: [(ours, Path(__file__).parent)]


def main() -> None:
    """Run the pages until told to end; where to listen and the like are the program's arguments."""
    know_components()
    threading.Thread(target=load_first_page, daemon=True).start()
    with gc_seldom():
        streamlit(["run", str(WEB), f"--theme.base={THEME}", *sys.argv[1:]], prog_name="streamlit")
