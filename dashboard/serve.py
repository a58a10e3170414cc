"""What `arena dashboard` starts: Streamlit, with the first page loaded while the browser is on its way."""

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
"""The file of the web application."""
THEME = WEB.parent / "assets" / "theme.toml"
"""The look of Streamlit's own parts."""
SOON = 0.01
"""Seconds between two checks whether Streamlit is ready."""


def load_first_page() -> None:
    """Load what the first page needs, as soon as Streamlit is ready."""
    while not runtime.exists():
        time.sleep(SOON)
    import_module("dashboard.app")
    from dashboard.pages import FIRST, pages

    pages()[FIRST].view()


def know_components() -> None:
    """Register our one component with Streamlit, which serves its files, instead of those of packages."""
    ours = ComponentManifest("dashboard", "1", [ComponentConfig("html", "assets")])
    manifest_scanner.scan_component_manifests = lambda *_: [(ours, Path(__file__).parent)]


def main() -> None:
    """Serve the pages until told to end; the program's arguments say where to listen."""
    know_components()
    threading.Thread(target=load_first_page, daemon=True).start()
    with gc_seldom():
        streamlit(["run", str(WEB), f"--theme.base={THEME}", *sys.argv[1:]], prog_name="streamlit")
