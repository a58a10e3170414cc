"""An export as a data set: three cards that say what the files hold, and a record all the same."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from arena.exports import FORMS, ExportRequest, with_license
from arena.exports.data_set_cards import CARD, CROISSANT, DATA_PACKAGE
from arena.exports.manifest import NAME, read_manifest
from arena.exports.restore import restore
from tests.arena.exports.bent_exports import exported
from tests.rows import state_of


@pytest.fixture(scope="module")
def folder(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the small record as a data set."""
    place = tmp_path_factory.mktemp("data set") / "season"
    exported(built, place, "dataset", license="cc-by-4.0")
    return place


@pytest.fixture(scope="module")
def columns(folder: Path) -> dict[str, list[str]]:
    """Return the columns of each table, as its file has them."""
    from pyarrow.parquet import read_schema

    return {path.stem: list(read_schema(path).names) for path in sorted(folder.glob("*.parquet"))}


def header(folder: Path) -> dict[str, Any]:
    """Return what stands before the text of the card."""
    _, lines, _ = (folder / CARD).read_text("utf-8").split("---\n", 2)
    found: dict[str, Any] = YAML(typ="safe").load(lines)
    return found


def test_the_card_loads_every_table_that_has_rows(folder: Path, columns: dict[str, list[str]]) -> None:
    about = header(folder)
    manifest = read_manifest((folder / NAME).read_bytes())
    filled = {name.partition(".")[0] for name, file in manifest.files.items() if file.rows}

    paths = {each["config_name"]: each["data_files"][0]["path"] for each in about["configs"]}
    assert paths == {name: f"{name}.parquet" for name in filled}
    assert [each["config_name"] for each in about["configs"] if each.get("default")] == ["forecasts"]
    assert about["license"] == "cc-by-4.0"

    for each in about["dataset_info"]:
        name = each["config_name"]
        assert [feature["name"] for feature in each["features"]] == columns[name]
        assert each["splits"][0]["num_examples"] == manifest.files[f"{name}.parquet"].rows


def test_croissant_names_every_file_by_its_hash_and_every_column(
    folder: Path, columns: dict[str, list[str]]
) -> None:
    about = json.loads((folder / CROISSANT).read_text("utf-8"))
    for file in about["distribution"]:
        assert file["sha256"] == hashlib.sha256((folder / file["contentUrl"]).read_bytes()).hexdigest()

    sets = {each["name"]: each for each in about["recordSet"]}
    assert {name: [field["name"] for field in each["field"]] for name, each in sets.items()} == columns
    for each in sets.values():
        ids = {field["@id"] for field in each["field"]}
        assert {key["@id"] for key in each["key"]} <= ids
        assert all(field["description"] for field in each["field"])


def test_the_data_package_has_every_table(folder: Path, columns: dict[str, list[str]]) -> None:
    about = json.loads((folder / DATA_PACKAGE).read_text("utf-8"))
    assert about["licenses"] == [{"name": "cc-by-4.0"}]
    found = {}
    for resource in about["resources"]:
        found[resource["title"]] = [field["name"] for field in resource["schema"]["fields"]]
    assert found == columns


def test_a_data_set_can_be_made_a_record_again(folder: Path, built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    restore(folder, str(copy))
    assert state_of(copy) == state_of(built)


def test_without_prompts_and_license_nothing_is_claimed(built: Path, tmp_path: Path) -> None:
    place = tmp_path / "part"
    exported(built, place, "dataset", prompts=False)
    about = json.loads((place / DATA_PACKAGE).read_text("utf-8"))
    assert header(place)["license"] == "other"
    assert "licenses" not in about
    assert "prompts" not in {resource["title"] for resource in about["resources"]}


@pytest.mark.parametrize(("form", "name"), [("csv", "mit"), ("dataset", "my own: terms\n---")])
def test_a_license_is_a_name_and_goes_with_a_data_set(form: str, name: str) -> None:
    with pytest.raises(Exception, match="license") as caught:
        with_license(ExportRequest(FORMS[form]), name)
    assert getattr(caught.value, "status", None) == 64
