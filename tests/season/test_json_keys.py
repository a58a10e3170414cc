"""The keys of what commands answer in JSON, which programs go by, are those of json_keys.json.

`python -m tests.season.test_json_keys` writes them anew, where one was added on purpose.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.program.running import arena, arena_json, demo_config

GOLDEN = Path(__file__).with_name("json_keys.json")
OPEN_ENDED = {
    "settings", "venue_settings", "evidence_settings", "prompts", "counts", "turns", "files", "tables",
}  # fmt: skip
"""What has names of agents, prompts and the like for keys."""
HERE = ("--database", "demo.db")
SCORES = "\n".join(
    ["question,forecaster,probability,outcome", *(f"q{k},ann,0.8,1\nq{k},bob,0.4,1" for k in range(20))]
)


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Yield each path of an answer once."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}".lstrip(".")
            if key not in OPEN_ENDED or isinstance(item, list):
                yield from keys(item, f"{path}.{key}")
    if isinstance(value, list):
        for item in value:
            yield from keys(item, f"{path}[]")


def answers(folder: Path) -> dict[str, list[str]]:
    """Return the keys of every command's output, in a folder with a config, a record and two files."""
    demo_config(folder, show=12, markets=60, events=25)
    arena_json(folder, "demo", "--headless", "--rounds", "3", "--config", "config.yaml", *HERE)
    (folder / "scores.csv").write_text(SCORES, "utf-8")
    (folder / "cup.yaml").write_text("form: peer\npool: 100\nforecasts: scores.csv\n", "utf-8")
    found = {}
    market = ""
    for line in json.loads(GOLDEN.read_text("utf-8")):
        words = [word.format(market=market) for word in line.split()]
        told = json.loads(arena(folder, *HERE, *words, "--json").stdout)
        if line.startswith("show markets --status"):
            market = told["markets"][0]["id"]
        found[line] = sorted(set(keys(told)))
    return found


def test_every_answer_has_the_keys_that_it_had(tmp_path: Path) -> None:
    assert answers(tmp_path) == json.loads(GOLDEN.read_text("utf-8"))


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        GOLDEN.write_text(json.dumps(answers(Path(place)), indent=1) + "\n", "utf-8")
