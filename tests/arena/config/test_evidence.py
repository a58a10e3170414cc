"""The block `evidence`: what it says, what a cohort freezes of it, and what is wrong with it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.guard import Guard
from agents.research import folder
from arena.cohorts.freeze import freeze_cohort, plan_of
from arena.rounds.season import begin_due_cohort
from tests.arena.config_files import SMALL, told, write
from tests.opened_record import OpenedRecord
from tests.trusted import load_trusted

ROOT = Path(__file__).parents[3]
SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)
FROZEN = {"days": 3, "words": 4, "records": 50, "language": "english"}
MINE = "from agents.research.gdelt import Settings, research\n"


def config(evidence: str) -> str:
    return f"{SMALL}evidence: {evidence}\n"


def test_the_block_says_where_articles_come_from_and_which_are_shown(tmp_path: Path) -> None:
    (tmp_path / "press").mkdir()
    rule = "per_market: 2, characters: 80, restricted: [x.example]"
    read = load_trusted(write(tmp_path, config(f"{{from: folder, {rule}, folder: {{path: press}}}}")))
    assert read.evidence_settings == folder.Settings(path=Path("press"))
    assert read.evidence.guard == Guard(per_market=2, characters=80, restricted=("x.example",))


def test_what_is_frozen_is_what_is_searched_for_and_not_where(tmp_path: Path) -> None:
    read = load_trusted(write(tmp_path, config("{from: gdelt, per_market: 2, gdelt: {days: 3}}")))
    cohort, _ = freeze_cohort(read, 1, SUNDAY)
    assert (cohort.evidence, cohort.evidence_settings) == ("gdelt", FROZEN)
    record = OpenedRecord.at(tmp_path / "arena.db")
    begin_due_cohort(SUNDAY, plan_of(read, SUNDAY), record)
    assert [stored.cohort for stored in record.cohorts()] == [cohort]
    record.close()


TEXT = "text of 1 to 200 characters"
MEND = "next to the config. Create it, or name another"
WRONG = {
    "{from: foldr}": 'evidence.from: there is no source "foldr". Did you mean "folder"?',
    "{from: 5}": f"evidence.from: found 5, expected {TEXT}",
    "{from: folder}": f"evidence.folder.path: there is no news {MEND}",
    "{from: folder, folder: {path: pres}}": f"evidence.folder.path: there is no pres {MEND}",
    "folder": 'evidence: found "folder", expected a block of keys and values',
}


@pytest.mark.parametrize("block", WRONG)
def test_a_mistake_is_told_with_its_line_and_key(tmp_path: Path, block: str) -> None:
    assert told(tmp_path, config(block)) == [f"config.yaml:7: {WRONG[block]}"]


@pytest.mark.parametrize("place", ["extensions", "extensions/research"])
def test_a_file_beside_the_config_is_a_source(tmp_path: Path, place: str) -> None:
    write(tmp_path, MINE, f"{place}/mine.py")
    read = load_trusted(write(tmp_path, config("{from: mine, mine: {days: 3}}")))
    cohort, _ = freeze_cohort(read, 1, SUNDAY)
    assert (cohort.evidence, cohort.evidence_settings) == ("mine", FROZEN)
