"""Owners: a key of an agent's block, or a column of a file, that shares the error of duels by operator."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from arena.cohorts.replacements import entrants_of
from arena.record.queries.forecasts import LineUpEntry, read_line_ups
from arena.scores.comparisons import agent_owners, twin_families
from arena.scores.files.forecasts import read_forecasts
from arena.scores.files.scores import score_file
from arena.scores.rules.comparisons.duel_evidence import error_shares
from markets.hashes import canonical
from portfolio.rules import REALISTIC
from tests.arena.config_files import told, with_agents, write
from tests.builders import NOW
from tests.opened_record import opened_record
from tests.records.full_record import a_cohort
from tests.trusted import load_trusted


def line_up(folder: Path, *blocks: str) -> list[LineUpEntry]:
    """Return the line-up of a cohort of these agents, as a record keeps it."""
    config = load_trusted(write(folder, with_agents(*blocks)))
    with opened_record(folder / "arena.db") as record:
        cohort = replace(a_cohort(1, NOW, REALISTIC, "ann"), prompts={}, entrants=entrants_of(config.agents))
        record.start(cohort)
        return record.read(read_line_ups)


def test_an_owner_is_frozen_only_where_it_is_set_and_is_no_setting(tmp_path: Path) -> None:
    blocks = ["{kind: constant, name: ann, owner: x}", "{kind: constant, name: bob}"]
    config = load_trusted(write(tmp_path, with_agents(*blocks)))
    with_owner, without = (entrant.settings for entrant in entrants_of(config.agents))
    assert with_owner == {**without, "owner": "x"}
    assert "owner" not in without

    ann, bob = line_up(tmp_path, *blocks)
    assert (ann.owner, bob.owner) == ("x", "")
    assert ann.settings == bob.settings == f"constant {canonical(without)}"
    assert twin_families([ann, bob]) == [("ann", "bob")]


def test_an_owner_is_not_set_for_all_at_once(tmp_path: Path) -> None:
    text = "ask: {owner: x}\n" + with_agents("{model: openai/a}")
    assert told(tmp_path, text) == [
        "config.yaml:1: ask.owner: this key belongs to an agent: move it to a block under agents"
    ]


def test_forty_variants_of_one_owner_raise_a_rivals_bar_at_most_twofold(tmp_path: Path) -> None:
    rivals = [
        "{kind: constant, name: ann, p: 0.4, owner: x}",
        "{kind: constant, name: bob, p: 0.6, owner: y}",
    ]
    variants = [f"{{kind: constant, name: v{number}, p: 0.3, owner: x}}" for number in range(40)]

    def shares(*blocks: str) -> dict[tuple[str, str], float]:
        entries = line_up(tmp_path, *blocks)
        (tmp_path / "arena.db").unlink()
        return error_shares({entry.name: 0.0 for entry in entries}, agent_owners(entries))

    alone = shares(*rivals)
    crowded = shares(*rivals, *variants)
    assert crowded["bob", "ann"] >= alone["bob", "ann"] / 2
    unowned = shares(*(block.replace(", owner: x", "") for block in [*rivals, *variants]))
    assert unowned["bob", "ann"] >= alone["bob", "ann"] / 2, "those without the key are of one owner too"


def test_a_file_says_whose_a_forecaster_is() -> None:
    """The second owner's pairs have a share of their own, so the first one's forty variants take nothing."""
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.05, 0.95, 300)
    happens = (rng.random(300) < truth).astype(int)
    head = "question,forecaster,probability,outcome,time,resolved"
    lines: list[str] = []
    for place, (chance, outcome) in enumerate(zip(truth, happens, strict=True)):
        said = {"ann": chance, "bob": np.clip(chance + rng.choice([-0.18, 0.18]), 0.01, 0.99)}
        said |= {f"v{number}": rng.uniform(0.2, 0.8) for number in range(12)}
        lines += [f"q{place},{name},{p:.3f},{outcome},{place},{place + 1}" for name, p in said.items()]

    def since(more: str, end: str) -> str | float | None:
        rows = [line + (end if ",v" in line else "," * bool(more)) for line in lines]
        table = read_forecasts("f.csv", "\n".join([head + more, *rows]))
        verdict = score_file(table).verdict
        assert verdict is not None
        pair = verdict.pair("ann", "bob")
        assert pair is not None
        return pair.since

    alone = since("", "")
    owned = since(",owner", ",x")
    assert owned is not None
    assert alone is None or float(owned) < float(alone)
