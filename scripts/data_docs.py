"""Writes docs/data.md from the tables of an export; with --check it only says whether that has drifted."""

import sys
from pathlib import Path

from arena.exports.dictionary import data_page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "data.md"

if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(data_page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != data_page():
        sys.exit("docs/data.md is not what the code says: 'make docs' writes it anew.")
