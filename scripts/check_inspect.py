"""Check a record's export for Inspect with Inspect itself, and play its turns again there.

python -m scripts.check_inspect RECORD    # such as .demo/demo.db

The arena and its extra `inspect` are installed into an environment that is thrown away. Inspect reads every
log of `arena share export --format inspect`; it plays the turns of each model again with the stored answers;
and `arena score` reads all of these logs. Every Brier score has to be the leaderboard's to six digits.
"""

import sys
from pathlib import Path

from scripts.throwaway import run_apart

ROOT = Path(__file__).resolve().parent.parent
CHECK = """
import json
import subprocess
import sys
from pathlib import Path

from inspect_ai import eval as run_task
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

import arena
from arena.exports.fact_tables import FACT
from arena.templates.inspect_task import turns

ARENA = [str(Path(sys.executable).parent / "arena")]
record = sys.argv[1]
wrong = []


def compare(what, found, expected):
    if found is None or f"{found:.6f}" != f"{expected:.6f}":
        wrong.append(f"{what}: {found} is not {expected}")


def scored(*files):
    told = subprocess.run([*ARENA, "score", *files, "--json"], capture_output=True, check=True).stdout
    return {row["forecaster"]: row["brier"] for row in json.loads(told)["rows"]}


def rows_of(season, name):
    return season.frame(name).to_pylist()


def place(row):
    return tuple(row[name] for name in ("cohort", "round", "agent", "stage", "sample", "attempt"))


with arena.open_record(record) as season:
    boards = {}
    for cohort in {row["cohort"] for row in rows_of(season, "cohorts")} | {None}:
        for row in season.score(cohort).rows:
            boards[row.agent, cohort] = row.brier_stated
    models = {row["agent"] for row in rows_of(season, "entrants") if row["kind"] == "llm"}
    calls = {place(row): row for row in rows_of(season, "calls")}
    stored = rows_of(season, "call_texts")

export = [*ARENA, "share", "export", "logs", "--database", record, "--format", "inspect"]
subprocess.run(export, capture_output=True, check=True)
logs = [read_eval_log(info) for info in list_eval_logs("logs")]
for log in logs:
    agent = log.eval.metadata["forecaster"]
    cohort = log.samples[0].metadata["cohort"]
    metrics = {score.name: score.metrics["by_market"].value for score in log.results.scores}
    compare(f"log of {agent}, cohort {cohort}", metrics["brier"], boards[agent, cohort])
exported = scored(*map(str, sorted(Path("logs").glob("*_cohort-*.json"))))
for agent, brier in exported.items():
    compare(f"arena score of the logs of {agent}", brier, boards[agent, None])
print(f"Inspect read {len(logs)} logs of {len(exported)} agents")

for agent in sorted(models):
    replies = {}
    for row in stored:
        if row["agent"] == agent and row["reply"] is not None:
            asked = [(message["role"], message["content"]) for message in json.loads(row["messages"])]
            call = calls[place(row)]
            replies.setdefault((call["seed"], *asked), []).append((row["reply"], call["finish"]))

    def answer(messages, _tools, _choice, config):
        asked = [(message.role, message.text) for message in messages]
        text, finish = replies[config.seed, *asked].pop(0)
        stop = "max_tokens" if finish == "length" else "stop"
        output = ModelOutput.from_content("mockllm/model", text, stop)
        output.usage = ModelUsage()  # else a tokenizer is fetched to count tokens
        return output

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = run_task(turns(record, agent), model=model, log_dir="again")
    if log.status != "success":
        wrong.append(f"{agent}: {log.error and log.error.message}")
        continue

    [score] = log.results.scores
    compare(f"{agent} played again", score.metrics["brier"].value, boards[agent, None])
    [again] = scored(log.location.removeprefix("file://")).values()
    compare(f"arena score of {agent} played again", again, boards[agent, None])
    print(f"{agent}: {len(log.samples)} turns played again, Brier {again:.6f}")

print("\\n".join(wrong) or "every Brier score is the leaderboard's to six digits")
raise SystemExit(bool(wrong))
"""


def main() -> None:
    """Install the arena with Inspect, and compare there."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m scripts.check_inspect RECORD")

    record = str(Path(sys.argv[1]).resolve())
    raise SystemExit(run_apart([f"{ROOT}[inspect]"], CHECK, [record], {"INSPECT_DISPLAY": "none"}))


if __name__ == "__main__":
    main()
