"""The notebooks of examples/ do what they show.

`python -m tests.test_notebooks` plays them and writes their outputs anew.
"""

import ast
import json
import os
from base64 import b64encode
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tests.program.running import arena_json
from tests.records.demo import SIX_ROUNDS, six_rounds

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
DEMO = Path(".demo") / "demo.db"
DPI = 72
"""Pictures are small: a notebook is a text that is kept."""
MOST_BYTES = 60_000


def shown(value: object) -> dict[str, str]:
    """Return what a notebook keeps of the value of a cell."""
    if plt.get_fignums():
        picture = BytesIO()
        plt.savefig(picture, dpi=DPI, bbox_inches="tight", metadata={"Software": None})
        plt.close("all")
        return {"image/png": b64encode(picture.getvalue()).decode(), "text/plain": "<Axes>"}
    kept = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        kept["text/html"] = value._repr_html_()
    return kept


def played(notebook: Path) -> list[list[dict[str, Any]]]:
    """Return the outputs of each code cell, run one after the other in the working folder."""
    mpl.use("Agg")
    plt.close("all")  # what another test has drawn
    names: dict[str, Any] = {}
    outputs: list[list[dict[str, Any]]] = []
    for number, cell in enumerate(code_cells(json.loads(notebook.read_text("utf-8"))), 1):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(tree, notebook.name, "exec"), names)
            value = None
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)

        outputs.append([])
        if printed.getvalue():
            text = printed.getvalue().splitlines(keepends=True)
            outputs[-1].append({"name": "stdout", "output_type": "stream", "text": text})
        if value is not None:
            kept = {"data": shown(value), "execution_count": number, "metadata": {}}
            outputs[-1].append(kept | {"output_type": "execute_result"})
    return outputs


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that can be run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def words_of(outputs: list[dict[str, Any]]) -> list[str]:
    """Return the words of outputs, in any layout."""
    words: list[str] = []
    for output in outputs:
        text = output["data"]["text/plain"] if "data" in output else "".join(output["text"])
        words += text.split()
    return words


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["my-forecasts", "season-in-pandas"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_does(
    notebook: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if str(DEMO) in notebook.read_text("utf-8"):
        (tmp_path / DEMO.parent).symlink_to(six_rounds(tmp_path_factory))
    monkeypatch.chdir(tmp_path)
    cells = code_cells(json.loads(notebook.read_text("utf-8")))
    for cell, outputs in zip(cells, played(notebook), strict=True):
        assert words_of(cell["outputs"]) == words_of(outputs), "".join(cell["source"])
    assert len(notebook.read_bytes()) < MOST_BYTES


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        folder = Path(place) / DEMO.parent
        folder.mkdir()
        arena_json(folder, *SIX_ROUNDS, "--database", DEMO.name)
        os.chdir(place)
        for path in NOTEBOOKS:
            text = json.loads(path.read_text("utf-8"))
            for number, (cell, told) in enumerate(zip(code_cells(text), played(path), strict=True), 1):
                cell.update(execution_count=number, outputs=told)
            path.write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n", "utf-8")
