"""For MkDocs: the README, CONTRIBUTING.md and CHANGELOG.md as pages of the site, and its one script."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add what stands beside docs/ to the files of the site."""
    file = import_module("mkdocs.structure.files").File  # in an environment of its own
    for name, page in PAGES.items():
        text = LINK.sub(linked, (ROOT / name).read_text(encoding="utf-8"))
        files.append(file.generated(config, page, content=text))
    shim = str(ROOT / "scripts" / "iframe-worker.js")
    files.append(file.generated(config, "assets/iframe-worker.js", abs_src_path=shim))
    return files


def linked(match: re.Match[str]) -> str:
    """Return a link as docs/ needs it, or only its words if its target is on no page."""
    image, words, target = match.groups()
    file, mark, anchor = target.partition("#")
    page = PAGES.get(file, file.removeprefix("docs/") if file.startswith("docs/") else None)
    return f"{image}[{words}]({page}{mark}{anchor})" if page else words
